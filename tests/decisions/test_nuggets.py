"""Aspects through every door and in every question: tables, batches, Dask, the command, explain, compare …"""

import random
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import Qrel

from aspect_campaigns import as_qrels, random_aspects, random_run
from command_line import here, write_runs
from ir_measures_relative import (
    NewAspects,
    RunContext,
    alpha_NRG,
    explain,
    select_complementary,
)
from ir_measures_relative.context.collection import judged_collection
from ir_measures_relative.decisions import new_aspects

MEASURES = ["alpha_NRG(rel=1)@3", "NewAspects(rel=1)@3", "NewAspects(gains={})@3"]


def campaign(n_queries: int = 12, n_runs: int = 4) -> tuple[dict[str, Any], list[Qrel]]:
    rng = random.Random("nuggets")
    each = [random_aspects(rng, highest=2, n_queries=1) for _ in range(n_queries)]
    labels = {f"q{i:02d}": of for i, one in enumerate(each) for of in one.values()}
    runs = {f"run{i}": random_run(rng, labels) for i in range(n_runs)}
    # PyTerrier wants results in every batch.
    return {n: {q: run.get(q, {"d10": 1.0}) for q in labels} for n, run in runs.items()}, as_qrels(
        labels, rng
    )


RUNS, QRELS = campaign()
CONTEXT = RunContext(RUNS)
FRAME = pd.DataFrame(QRELS).rename(columns={"query_id": "qid", "doc_id": "docno", "relevance": "label"})


def frames() -> dict[str, pd.DataFrame]:
    columns = ["qid", "docno", "score", "name"]
    return {
        name: pd.DataFrame(
            [(q, d, s, name) for q, docs in run.items() for d, s in docs.items()], columns=columns
        )
        for name, run in RUNS.items()
    }


def by_row(table: pd.DataFrame, query: str = "query_id") -> dict[Any, float]:
    return table.set_index(["name", query, "measure"])["value"].to_dict()


def write_qrels(path: Path) -> Path:
    rows = (f"{q.query_id} {q.iteration} {q.doc_id} {q.relevance}\n" for q in QRELS)
    path.write_text("".join(rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("batch_size", [None, 5])
def test_experiments_of_pyterrier(batch_size: int | None, tmp_path: Path) -> None:
    """pt.io.read_qrels would drop the aspects of a file."""
    pt = pytest.importorskip("pyterrier")
    measures = [ir_measures.parse_measure(m) for m in MEASURES]
    expected = by_row(CONTEXT.evaluate(QRELS, measures, perquery=True))
    topics = pd.DataFrame({"qid": sorted({q.query_id for q in QRELS})}).assign(query="x")
    systems: list[Any] = list(frames().values())
    options: dict[str, Any] = {"names": list(RUNS), "perquery": True}
    if batch_size is not None:
        systems = [pt.Transformer.from_df(f, uniform=False) for f in systems]
        options["batch_size"] = batch_size
    for given in (FRAME, str(write_qrels(tmp_path / "qrels.txt"))):
        found = pt.relative.Experiment(systems, topics, given, measures, **options)
        assert by_row(found, "qid") == expected


def test_dask() -> None:
    pytest.importorskip("dask.dataframe")
    import dask.dataframe as dd

    from ir_measures_relative.distributed import evaluate, evaluate_part

    rows, options = pd.concat(frames().values()), {"names": list(RUNS)}
    ours = dd.from_pandas(rows, npartitions=3)
    expected = by_row(CONTEXT.evaluate(QRELS, MEASURES, perquery=True))
    judged = dd.from_pandas(pd.DataFrame(QRELS), npartitions=3)
    assert by_row(evaluate(ours, judged, MEASURES, perquery=True, **options)) == expected
    part = evaluate_part(rows, pd.DataFrame(QRELS), MEASURES, grades=(0, 2), **options)
    assert by_row(part) == expected
    named_late = [q._replace(iteration="0", relevance=0) for q in QRELS[:5]] + QRELS
    parts = [dd.from_pandas(pd.DataFrame(part), npartitions=1) for part in (named_late[:5], QRELS)]
    found = evaluate(ours, dd.concat(parts), MEASURES, perquery=True, **options)  # the first names none
    assert by_row(found) == by_row(CONTEXT.evaluate(named_late, MEASURES, perquery=True))


def test_the_command_line(tmp_path: Path) -> None:
    write_runs(tmp_path / "runs", RUNS)
    printed = here(write_qrels(tmp_path / "qrels.txt"), tmp_path / "runs", *MEASURES).stdout.splitlines()
    expected = CONTEXT.evaluate(QRELS, MEASURES).set_index("name")
    assert len(printed) == 1 + len(RUNS)
    for line in printed[1:]:
        name, *values = line.split("\t")
        assert [float(v) for v in values] == pytest.approx(expected.loc[name].tolist(), abs=6e-5)


def test_a_plain_iterator_and_a_member_that_is_named() -> None:
    expected = CONTEXT.evaluate(QRELS, MEASURES).set_index("name")
    parsed = [ir_measures.parse_measure(m) for m in MEASURES]
    with CONTEXT.evaluating("run1"):
        values = ir_measures.calc_aggregate(parsed, iter(QRELS), RUNS["run1"])
    assert {str(m): v for m, v in values.items()} == pytest.approx(expected.loc["run1"].to_dict(), abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_what_explain_says_sums_to_the_score(measure: str) -> None:
    scores = CONTEXT.evaluate(QRELS, [measure], perquery=True)
    values = scores.set_index(["name", "query_id"])["value"]
    for name in RUNS:
        table = explain(CONTEXT, name, QRELS, measure)
        sums = table.groupby("query_id")["contribution"].sum()
        for query in RUNS[name]:
            assert sums.get(query, 0.0) == pytest.approx(values[name, query], abs=1e-12)
        for query in list(RUNS[name])[:3]:
            alone = explain(CONTEXT, name, QRELS, measure, query_id=query)["contribution"]
            assert alone.tolist() == table[table["query_id"] == query]["contribution"].tolist()


def test_explain_names_the_aspects() -> None:
    rows = [("A", "causes"), ("B", "remedy"), ("B", "causes"), ("C", "remedy"), ("C", "costs")]
    qrels = [Qrel("q", doc, 1, aspect) for doc, aspect in rows]
    context = RunContext({"old": {"q": {"A": 2.0, "X": 1.0}}, "new": {"q": {"B": 4.0, "C": 3.0, "Y": 2.0}}})
    table = explain(context, "new", qrels, NewAspects @ 10)
    assert table["aspects"].tolist() == [("causes", "remedy"), ("costs", "remedy"), ()]
    assert table["new aspects"].tolist() == [("remedy",), ("costs",), ()]
    assert table["contribution"].tolist() == [1.0, 1.0, 0.0]
    by_alpha = explain(context, "new", qrels, alpha_NRG @ 10)
    assert by_alpha["new aspects"].tolist() == table["new aspects"].tolist()
    assert "aspects" not in explain(context, "new", {"q": {"A": 1, "B": 1}}, "UniqueRel@10").columns


@pytest.mark.parametrize("measure", MEASURES[1:])
def test_selecting_by_new_aspects(measure: str) -> None:
    table = select_complementary(CONTEXT, QRELS, 3, measure)
    assert table["cumulative"].tolist() == pytest.approx(np.cumsum(table["marginal"]).tolist())
    assert (table["bound"] >= table["cumulative"] - 1e-12).all()
    alone = RunContext(RUNS, priors=[]).evaluate(QRELS, [measure])
    assert table["marginal"][0] == pytest.approx(alone.iloc[:, 1].max())


def test_selecting_by_alpha_nrg() -> None:
    assert select_complementary(CONTEXT, QRELS, 3, MEASURES[0])["name"].is_unique


def test_whether_qrels_have_aspects() -> None:
    assert judged_collection(CONTEXT, QRELS).judgments.has_aspects
    one_each = [Qrel("q01", "d1", 1, "round 1"), Qrel("q01", "d2", 1, "round 2")]
    for plain in ({"q01": {"d1": 1}}, one_each):
        assert not judged_collection(CONTEXT, plain).judgments.has_aspects


def test_new_aspects_by_hand() -> None:
    rows = [("A", "causes"), ("B", "causes"), ("B", "remedy"), ("C", "remedy")]
    qrels = [Qrel(query, doc, 1, aspect) for doc, aspect in rows for query in ("q", "p")]
    runs: dict[str, Any] = {
        "old": {"q": {"A": 2.0, "X": 1.0}, "p": {"A": 1.0}},
        "new": {"q": {"A": 3.0, "B": 2.0, "C": 1.0}, "p": {"X": 1.0}},
    }
    table = new_aspects(RunContext(runs), qrels, "NewAspects@2").set_index("name")
    assert list(table.columns) == ["NewAspects@2", "shown", "new documents"]
    # q: A, B, of which B is new, and the remedy; p: X is new, and shows nothing.
    assert table.loc["new"].tolist() == [0.5, 1.0, 1.0]
    # q: X is new; p: A is new, and shows the causes that new does not show there.
    assert table.loc["old"].tolist() == [0.5, 1.0, 1.0]
    assert table.index.tolist() == ["old", "new"]
    first = new_aspects(RunContext(runs), qrels, "NewAspects@1").set_index("name")
    assert first.loc["new"].tolist() == [0.0, 0.5, 0.5]  # A alone, and X alone
    one = new_aspects(RunContext(runs), qrels, "NewAspects(prior='old')@2").set_index("name")
    assert one.loc["old", "shown"] == one.loc["old", "NewAspects(prior='old')@2"] == 1.0


def test_new_aspects_wants_a_measure_that_counts_aspects() -> None:
    for measure in ("alpha_NRG@10", "UniqueRel@10"):
        with pytest.raises(ValueError, match="does not count aspects; give NewAspects@10"):
            new_aspects(CONTEXT, QRELS, measure)


def test_the_fingerprint_tells_aspects_apart() -> None:
    mark = CONTEXT.fingerprint(QRELS)["qrels"]
    renamed = [q._replace(iteration=f"other {q.iteration}") for q in QRELS]
    assert CONTEXT.fingerprint(renamed)["qrels"]["sha256"] != mark["sha256"]
    assert CONTEXT.fingerprint(list(QRELS))["qrels"] == mark
