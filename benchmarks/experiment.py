"""``python -m benchmarks.experiment``: what an experiment costs in PyTerrier with this package, beside one without it.

Ratios of CPU times in one process, medians of rounds in which both sides take their turn. The runs are those of the
folder that $ROBUST03 names, as frames, with ids as Arrow strings and as Python objects; without it, made ones.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import statistics
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from ir_measures import AP, RR, P, R, nDCG

from benchmarks.campaign import make
from benchmarks.data import Frames, real_campaigns
from benchmarks.timing import Side, cost
from ir_measures_relative import NRG, RunContext, UniqueRel

FIVE = [nDCG @ 10, AP, P @ 10, RR, R @ 1000]
_THEIRS = {"query_id": "qid", "doc_id": "docno", "relevance": "label"}


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a row a ratio: the work, the ids, what it may cost, and what it cost in seconds and as a ratio."""
    import pyterrier as pt

    parser = argparse.ArgumentParser(prog="python -m benchmarks.experiment", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each measurement (default 5)")
    parser.add_argument("--ids", nargs="*", default=["str", "object"], choices=["str", "object"])
    args = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    for ids in args.ids:
        campaign = next(iter(real_campaigns().values()), None)
        runs, qrels = make(17, 50) if campaign is None else campaign.frames(ids)
        if campaign is None:
            texts = dict.fromkeys(("query_id", "doc_id"), ids)
            runs, qrels = {name: run.astype(texts) for name, run in runs.items()}, qrels.astype(texts)
        for work, side, peer, limits in _pairs(pt, runs, qrels):
            side()  # what is imported when it is first needed
            costs = [(cost(side).cpu, cost(peer).cpu) for _ in range(args.rounds)]
            ours, theirs = (statistics.median(column) for column in zip(*costs, strict=True))
            limit = limits[ids == "object"]
            print(
                f"{ids:6} {work:60} {ours:7.3f} s {theirs:7.3f} s {ours / theirs:6.3f} (at most {limit})",
                flush=True,
            )


def _pairs(pt: Any, runs: Frames, qrels: pd.DataFrame) -> list[tuple[str, Side, Side, tuple[float, float]]]:
    systems = {name: run.rename(columns=_THEIRS) for name, run in runs.items()}
    labels = qrels.rename(columns=_THEIRS)
    topics = pd.DataFrame({"qid": labels["qid"].unique(), "query": "x"})
    holm = {"baseline": 0, "correction": "holm"}

    def plain(measures: Sequence[ir_measures.Measure], options: Mapping[str, Any] = {}) -> Side:
        return lambda: pt.Experiment(systems, topics, labels, measures, **options)

    def ours(measures: Sequence[ir_measures.Measure], options: Mapping[str, Any] = {}) -> Side:
        return lambda: pt.relative.Experiment(systems, topics, labels, measures, **options)

    def setting(measure: ir_measures.Measure | str) -> Side:
        """A search through five settings, in a context that is there already."""
        context, frame = RunContext(systems), _shuffled(next(iter(systems.values())))

        class Tuned(pt.Transformer):  # type: ignore[misc]
            """Something to tune: its results are there."""

            depth = 0

            def transform(self, _: pd.DataFrame) -> pd.DataFrame:
                return frame

        def side() -> None:
            tuned = Tuned()
            with context, contextlib.redirect_stdout(io.StringIO()):
                pt.GridSearch(tuned, {tuned: {"depth": [1, 2, 3, 4, 5]}}, topics, labels, measure)

        side()
        return side

    five = [*FIVE, NRG @ 10, UniqueRel @ 10]
    return [
        ("nDCG@10, NRG@10; nDCG@10", ours([nDCG @ 10, NRG @ 10]), plain([nDCG @ 10]), (0.02, 0.045)),
        ("five, NRG@10, UniqueRel@10; five", ours(five), plain(FIVE), (0.05, 0.13)),
        ("the same, baseline and holm", ours(five, holm), plain(FIVE, holm), (0.06, 0.17)),
        ("a setting of a search, NRG@10; nDCG@10", setting(NRG @ 10), setting("ndcg_cut_10"), (0.02, 0.02)),
    ]


def _shuffled(run: pd.DataFrame) -> pd.DataFrame:
    """A run that nobody has: with other scores, sorted."""
    noise = np.random.default_rng(0).normal(size=len(run)) * run["score"].std()
    by = ["qid", "score"]
    return (
        run.assign(score=run["score"] + noise).sort_values(by, ascending=[True, False]).reset_index(drop=True)
    )


if __name__ == "__main__":
    main()
