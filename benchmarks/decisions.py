"""``python -m benchmarks.decisions [FOLDER …]``: what decisions cost beside scoring the same runs by nDCG@10.

Of the demo's collection, and of each FOLDER, which holds ``runs/``, perhaps ``later/`` with more runs, and
``qrels.txt.gz``. Where there are fewer runs than asked for, copies whose ranks are jittered are added. Every side gets
a new context of the runs, which are read before; the figures are CPU times of one process, and their ratios.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from ir_measures import nDCG

from benchmarks import report
from benchmarks.data import Frames, find_runs
from benchmarks.questions import MANY
from benchmarks.report import Row
from benchmarks.timing import Side, interleaved
from ir_measures_relative import RunContext, demo, drop, worth
from ir_measures_relative.bounding.bounds import make_labelings
from ir_measures_relative.bounding.imputation import Imputation
from ir_measures_relative.context.collection import judged_collection
from ir_measures_relative.context.evaluated import Evaluated


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a table a collection."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.decisions", description=__doc__)
    parser.add_argument(
        "folders", nargs="*", type=Path, metavar="FOLDER", help="folders with runs and judgments"
    )
    parser.add_argument("--rounds", type=int, default=2, help="rounds of each measurement (default 2)")
    args = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    qrels = pd.DataFrame(demo.generate().qrels)[["query_id", "doc_id", "relevance"]]
    print(
        f"\n### The demo's collection\n\n{report.ratios(costs(demo.runs(), qrels, args.rounds))}", flush=True
    )
    for folder in args.folders:
        campaign = find_runs(folder, folder.name)
        print(
            f"\n### {campaign.title}\n\n{report.ratios(costs(*campaign.frames('str'), args.rounds))}",
            flush=True,
        )


def costs(frames: Frames, qrels: pd.DataFrame, rounds: int) -> list[Row]:
    """Time worth of two runs and with ten, drop of many, and drawn labelings, against the values of the same runs."""
    runs = {name: RunContext({name: frame}).runs[name] for name, frame in _as_many(frames, MANY).items()}
    names, rows = list(runs), list[Row]()

    def new(n: int) -> RunContext:
        return RunContext({name: runs[name] for name in names[:n]})

    questions: dict[str, tuple[int, Side]] = {
        "worth of two runs": (2, lambda: worth(new(2), qrels, names[1])),
        "worth beside 10 deployed runs": (11, lambda: worth(new(11), qrels, names[10])),
        f"drop of {MANY} runs": (MANY, lambda: drop(new(MANY), qrels, margin=0.01)),
        "relevance model and 100 labelings, half judged": (10, lambda: draw_labelings(new(10), qrels[::2])),
    }
    for work, (n, side) in questions.items():
        peer: Side = lambda n=n: new(n).evaluate(qrels, ["nDCG@10"])  # noqa: E731
        taken = interleaved({"ours": side, "theirs": peer}, rounds)
        rows.append(Row(work, f"nDCG@10 of these {n}", taken["ours"], taken["theirs"]))
    return rows


def draw_labelings(context: RunContext, qrels: pd.DataFrame) -> None:
    """Fit the relevance model, and value nDCG@10 of all runs under 100 drawn labelings."""
    labelings = make_labelings(nDCG @ 10, Evaluated.each(judged_collection(context, qrels)), None)
    for _ in Imputation(labelings.runs, labelings.cutoff).draw(labelings, samples=100, seed=0):
        pass


def _as_many(frames: Frames, n: int) -> Frames:
    """So many runs: these, and copies of them whose ranks are jittered by a few places."""
    names, many = list(frames), dict(list(frames.items())[:n])
    rng = np.random.default_rng(0)
    for i in range(n - len(many)):
        frame = frames[names[i % len(names)]]
        rank = frame.groupby("query_id")["score"].rank(ascending=False)
        many[f"{names[i % len(names)]}, copy {i}"] = frame.assign(score=-rank - rng.normal(0, 5, len(frame)))
    return many


if __name__ == "__main__":
    main()
