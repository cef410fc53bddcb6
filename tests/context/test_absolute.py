"""Absolute measures from positions are those of pytrec_eval, to the last bit; in ``absolute=True`` for hosts, too."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import ir_datasets
import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import AP, RR, Judged, P, R, Rprec, Success, nDCG

from ir_measures_relative import RunContext, demo
from ir_measures_relative.context.view import View

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


_SHARED = Path(__file__).resolve().parents[3] / "shared"


@pytest.mark.slow
@pytest.mark.parametrize(("variable", "name"), [("ROBUST03", "robust03"), ("DL19", "dl19"), ("DL21", "dl21")])
def test_real_runs(variable, name) -> None:
    folder = Path(os.environ.get(variable) or _SHARED / name)
    if not (folder / "qrels.txt.gz").exists():
        pytest.skip(f"{variable} names no folder of runs")
    with gzip.open(folder / "qrels.txt.gz", "rt") as file:
        qrels = pd.DataFrame(ir_measures.read_trec_qrels(file))
    topics = sorted(qrels["query_id"].unique())[::8]
    context = RunContext.from_files(sorted((folder / "runs").iterdir())[:2])
    runs = {n: {q: r for q, r in run.as_given().items() if q in topics} for n, run in context.runs.items()}
    check(runs, qrels[qrels["query_id"].isin(topics)], [*PLAIN, AP(rel=2), P(rel=2) @ 10])


# ---- absolute=True ---------------------------------------------------------------------------------------

RUNS = {n: run.assign(score=run["score"].round(1)) for n, run in list(demo.runs().items())[:3]}
RUN = next(iter(RUNS.values()))
QRELS = pd.DataFrame(ir_datasets.load(demo.register()).qrels_iter())[["query_id", "doc_id", "relevance"]]


@pytest.fixture
def computed(monkeypatch) -> list[object]:
    """What the package computes."""
    seen: list[object] = []
    absolute = View.absolute

    def counting(view, measures, *rest, **options):
        seen.extend(measures)
        return absolute(view, measures, *rest, **options)

    monkeypatch.setattr(View, "absolute", counting)
    return seen


@pytest.mark.parametrize("ids", ["str", "object"])
def test_equal_to_the_host(computed, ids) -> None:
    text = {"query_id": ids, "doc_id": ids}
    qrels, run = QRELS.astype(text), RUN.astype(text)
    measures = [nDCG @ 10, AP(rel=2), P @ 5, RR, RR @ 10, Judged @ 10]
    expected = ir_measures.calc(measures, qrels, run)
    assert not computed
    with RunContext(RUNS, absolute=True):
        found = ir_measures.calc(measures, qrels, run)
        nested = ir_measures.util.QrelsConverter(qrels).as_dict_of_dict()
        dicts = ir_measures.calc_aggregate(measures, nested, run)
    assert {*computed} == {nDCG @ 10, AP(rel=2), P @ 5, RR}
    assert found.aggregated == dicts == expected.aggregated
    assert sorted(map(str, found.per_query)) == sorted(map(str, expected.per_query))


def test_only_where_it_is_asked_for(computed) -> None:
    with RunContext(RUNS, absolute=True):
        with RunContext(RUNS):
            (nDCG @ 10).calc_aggregate(QRELS, RUN)
        ir_measures.pytrec_eval.calc_aggregate([nDCG @ 10], QRELS, RUN)
    (nDCG @ 10).calc_aggregate(QRELS, RUN)
    assert not computed


@pytest.mark.parametrize("change", ["twice", "infinite"])
def test_runs_that_this_package_refuses_are_the_hosts(change) -> None:
    run = pd.concat([RUN, RUN.head(3).assign(score=-1.0)])
    if change == "infinite":
        run = RUN.assign(score=RUN["score"].mask(RUN.index == 5, np.inf))
    expected = ir_measures.calc_aggregate([nDCG @ 10, AP], QRELS, run)
    with RunContext(RUNS, absolute=True):
        assert ir_measures.calc_aggregate([nDCG @ 10, AP], QRELS, run) == expected


def test_judgments_that_this_package_refuses_are_the_hosts() -> None:
    wrong = QRELS.assign(query_id=QRELS["query_id"].astype(object).mask(QRELS.index == 0, 7))
    with RunContext(RUNS, absolute=True), pytest.raises(TypeError):  # pytrec_eval's
        (nDCG @ 10).calc_aggregate(wrong, RUN)
