"""A ranker of your own beside the runs of a track: is it new, or BM25 again?

The track is one of the package's catalogue: that of the generated collection, or with --dataset vaswani thirteen open
retrievers on a real collection, which ir_datasets downloads.
"""

from __future__ import annotations

import argparse
import textwrap

import pyterrier as pt
from ir_measures import nDCG

from _collection import load, show
from _retrievers import BM25
from ir_measures_relative import MED, NRG, P_Rareness, RunContext, place

# On its own; relative to all runs of the track twice; and relative to one of them.
MEASURES = [nDCG @ 10, NRG(norm="ideal") @ 10, P_Rareness @ 10]
TRACKS = {"relative-demo": "demo", "vaswani": "vaswani"}
CLOSEST = {"demo": "BM25", "vaswani": "bm25s"}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--dataset", choices=list(TRACKS), default="relative-demo", help="default: %(default)s"
    )
    track = TRACKS[parser.parse_args().dataset]
    corpus, topics, _ = load(parser, parser.parse_args().dataset)
    mine = BM25(corpus["docno"], corpus["text"], k1=0.9, b=0.4)  # put your own ranker here

    context = RunContext.from_track(track)
    print(f"beside {context.track}:\n")
    measures = [*MEASURES, MED(ref=CLOSEST[track]) @ 10]
    show(pt.relative.Experiment({"mine": mine}, topics, None, measures, beside=context))
    answer = place(context, None, mine(topics).assign(name="mine"))
    print(textwrap.fill(answer.text, 100))


if __name__ == "__main__":
    main()
