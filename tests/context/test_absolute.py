"""Absolute measures from positions are those of pytrec_eval, to the last bit."""

import ir_measures
import numpy as np
import pytest
from ir_measures import AP, RR, P, R, Rprec, Success, nDCG

from ir_measures_relative import RunContext

PLAIN = [nDCG, nDCG @ 10, AP, AP @ 5, P @ 1, P @ 20, R @ 10, R @ 1000, RR, Rprec, Success @ 3]
OF_REL = [AP(rel=2), AP(rel=2) @ 7, P(rel=2) @ 5, R(rel=2) @ 3, RR(rel=2), Rprec(rel=2), Success(rel=3) @ 5]
OTHERS = [nDCG(gains={0: 1, 1: 3, 2: 0}) @ 10, nDCG(gains={2: 7}), nDCG(gains={0: 2}, judged_only=True)]
JUDGED = [m(judged_only=True) for m in (nDCG @ 5, nDCG, AP, P @ 5, R @ 2, RR, Rprec, Success @ 1)]
EVERY = [*PLAIN, *OF_REL, *OTHERS, *JUDGED]


def check(runs, qrels, measures) -> None:
    table = RunContext(runs).evaluate(qrels, measures, perquery=True)
    ours = table.set_index(["name", "measure", "query_id"])["value"].to_dict()
    for name, run in runs.items():
        for measure in measures:  # one alone: of several, ir_measures mixes up some
            for metric in ir_measures.pytrec_eval.iter_calc([measure], qrels, run):
                assert ours.pop((name, str(measure), metric.query_id)) == metric.value, (name, metric)
    assert not ours


@pytest.mark.parametrize("seed", range(6))
def test_random_campaigns(seed) -> None:
    """With ties, queries that a run lacks or that are unjudged, judged queries of no run, and labels below 0."""
    rng = np.random.default_rng(seed)
    docs = [f"d{i}" for i in range(rng.integers(3, 60))]

    def some() -> list[str]:
        return rng.choice(docs, rng.integers(1, len(docs) + 1), replace=False).tolist()

    qrels = {f"q{i}": {d: int(rng.integers(-1, 4)) for d in some()} for i in range(1, 8)}
    for labels in qrels.values():  # pytrec_eval writes outside its arrays where all are below 0
        labels[next(iter(labels))] = 0
    queries = [[f"q{i}" for i in range(7) if i == 1 or rng.random() < 0.8] for _ in range(2)]
    runs = {
        name: {q: {d: float(np.round(rng.normal(), 1)) for d in some()} for q in of_run}
        for name, of_run in zip(("one", "two"), queries, strict=True)
    }
    check(runs, qrels, EVERY)


def test_labels_below_0_alone() -> None:
    """Where pytrec_eval has no value, or ends the process."""
    table = RunContext({"r": {"1": {"a": 1.0}}}).evaluate({"1": {"a": -1}, "2": {"b": 1}}, EVERY)
    assert (table.drop(columns="name") == 0).all(axis=None)


def test_a_part_of_the_measures() -> None:
    runs, qrels = (
        {"one": {"1": {"a": 2.0, "b": 1.0}}, "two": {"1": {"c": 2.0, "b": 1.0}}},
        {"1": {"b": 2, "c": 1}},
    )
    for measures in ([R @ 1], [nDCG @ 2, ir_measures.SetP, ir_measures.NumRet]):
        check(runs, qrels, measures)
