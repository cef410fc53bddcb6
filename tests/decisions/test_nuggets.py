"""Aspects through every door and in every question: tables, batches, Dask, the command, tokens, explain, compare …"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import Qrel

from aspect_campaigns import as_qrels, random_aspects, random_run
from command_line import process, write_run
from ir_measures_relative import (
    NewAspects,
    RunContext,
    alpha_NRG,
    demo,
    explain,
    select_complementary,
)
from ir_measures_relative.context.view import view_of
from ir_measures_relative.decisions import new_aspects

MEASURES = ["alpha_NRG(rel=1)@3", "NewAspects(rel=1)@3", "NewAspects(gains={})@3"]
BUDGET = "NewAspects(rel=1,budget=20)"


def campaign(n_queries: int = 12, n_runs: int = 4) -> tuple[dict[str, Any], list[Qrel]]:
    rng = random.Random("nuggets")
    labels = {
        f"q{i:02d}": of
        for i in range(n_queries)
        for of in random_aspects(rng, highest=2, n_queries=1).values()
    }
    runs = {f"run{i}": random_run(rng, labels) for i in range(n_runs)}
    # PyTerrier wants results in every batch.
    return {n: {q: run.get(q, {"d10": 1.0}) for q in labels} for n, run in runs.items()}, as_qrels(
        labels, rng
    )


def lengths() -> dict[str, int]:
    return {f"d{i}": 3 + 2 * i for i in range(11)}


def frame(qrels: list[Qrel]) -> pd.DataFrame:
    return pd.DataFrame(qrels).rename(columns={"query_id": "qid", "doc_id": "docno", "relevance": "label"})


def frames(runs: dict[str, Any]) -> dict[str, pd.DataFrame]:
    return {
        name: pd.DataFrame(
            [(q, d, score, name) for q, docs in run.items() for d, score in docs.items()],
            columns=["qid", "docno", "score", "name"],
        )
        for name, run in runs.items()
    }


# ---- the doors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_size", [None, 1, 5])
def test_experiments_of_pyterrier(batch_size: int | None) -> None:
    pt = pytest.importorskip("pyterrier")
    runs, qrels = campaign()
    measures = [ir_measures.parse_measure(m) for m in (*MEASURES, BUDGET)]
    expected = RunContext(runs, tokens=lengths()).evaluate(qrels, measures, perquery=True)
    topics = pd.DataFrame({"qid": sorted({q.query_id for q in qrels})}).assign(query="x")
    systems = frames(runs)
    options: dict[str, Any] = {"names": list(runs), "perquery": True}
    if batch_size is not None:
        systems = {name: pt.Transformer.from_df(f, uniform=False) for name, f in systems.items()}
        options["batch_size"] = batch_size
    ours = pt.relative.Experiment(
        list(systems.values()), topics, frame(qrels), measures, tokens=lengths(), **options
    )
    key = ["name", "query_id", "measure"]
    value = expected.set_index(key)["value"].to_dict()
    assert {tuple(row[:3]): row[3] for row in ours[["name", "qid", "measure", "value"]].to_numpy()} == value


def test_experiments_read_the_aspects_of_a_file(tmp_path: Path) -> None:
    """pt.io.read_qrels would drop them."""
    pt = pytest.importorskip("pyterrier")
    runs, qrels = campaign()
    rows = (f"{q.query_id} {q.iteration} {q.doc_id} {q.relevance}\n" for q in qrels)
    (tmp_path / "qrels.txt").write_text("".join(rows), encoding="utf-8")
    topics = pd.DataFrame({"qid": sorted({q.query_id for q in qrels})}).assign(query="x")
    measures = [ir_measures.parse_measure(m) for m in MEASURES]
    options: dict[str, Any] = {"names": list(runs), "perquery": True}
    of_file, of_frame = (
        pt.relative.Experiment(list(frames(runs).values()), topics, given, measures, **options)
        for given in (str(tmp_path / "qrels.txt"), frame(qrels))
    )
    pd.testing.assert_frame_equal(of_file, of_frame, check_exact=True)


def test_dask(tmp_path: Path) -> None:
    pytest.importorskip("dask.dataframe")
    import dask.dataframe as dd

    from ir_measures_relative.distributed import evaluate, evaluate_part

    runs, qrels = campaign()
    expected = RunContext(runs, tokens=lengths()).evaluate(qrels, [*MEASURES, BUDGET], perquery=True)
    rows = pd.concat(frames(runs).values())
    options: dict[str, Any] = {"names": list(runs), "tokens": lengths()}
    key = ["name", "query_id", "measure"]
    for judged in (pd.DataFrame(qrels), dd.from_pandas(pd.DataFrame(qrels), npartitions=3)):
        found = evaluate(
            dd.from_pandas(rows, npartitions=3), judged, [*MEASURES, BUDGET], perquery=True, **options
        )
        assert found.set_index(key)["value"].to_dict() == expected.set_index(key)["value"].to_dict()
    named_late = [q._replace(iteration="0", relevance=0) for q in qrels[:5]] + qrels
    parts = [dd.from_pandas(pd.DataFrame(part), npartitions=1) for part in (named_late[:5], qrels)]
    judged = dd.concat(parts)  # the first names none
    found = evaluate(dd.from_pandas(rows, npartitions=3), judged, MEASURES, perquery=True, **options)
    expected_late = RunContext(runs).evaluate(named_late, MEASURES, perquery=True)
    assert found.set_index(key)["value"].to_dict() == expected_late.set_index(key)["value"].to_dict()
    part = evaluate_part(rows, pd.DataFrame(qrels), [*MEASURES, BUDGET], grades=(0, 2), **options)
    assert part.set_index(key)["value"].to_dict() == expected.set_index(key)["value"].to_dict()


def test_the_command_line(tmp_path: Path) -> None:
    runs, qrels = campaign()
    (tmp_path / "runs").mkdir()
    for name, run in runs.items():
        write_run(tmp_path / "runs" / f"{name}.txt", name, run)
    rows = (f"{q.query_id} {q.iteration} {q.doc_id} {q.relevance}\n" for q in qrels)
    (tmp_path / "qrels.txt").write_text("".join(rows), encoding="utf-8")
    printed = process(tmp_path / "qrels.txt", tmp_path / "runs", *MEASURES).stdout.splitlines()
    expected = RunContext(runs).evaluate(qrels, MEASURES).set_index("name")
    assert len(printed) == 1 + len(runs)
    for line in printed[1:]:
        name, *values = line.split("\t")
        assert [float(v) for v in values] == pytest.approx(expected.loc[name].tolist(), abs=6e-5)


def test_a_plain_iterator_and_a_member_that_is_named() -> None:
    runs, qrels = campaign()
    context = RunContext(runs)
    expected = context.evaluate(qrels, MEASURES).set_index("name")
    parsed = [ir_measures.parse_measure(m) for m in MEASURES]
    with context.evaluating("run1"):
        values = ir_measures.calc_aggregate(parsed, iter(qrels), runs["run1"])
    assert {str(m): v for m, v in values.items()} == pytest.approx(expected.loc["run1"].to_dict(), abs=1e-12)


# ---- questions -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", MEASURES)
def test_what_explain_says_sums_to_the_score(measure: str) -> None:
    runs, qrels = campaign()
    context = RunContext(runs)
    values = context.evaluate(qrels, [measure], perquery=True)
    for name in runs:
        table = explain(context, name, qrels, measure)
        sums = table.groupby("query_id")["contribution"].sum().to_dict()
        of_run = values[values["name"] == name]
        for query, value in zip(of_run["query_id"], of_run["value"], strict=True):
            assert sums.get(query, 0.0) == pytest.approx(value, abs=1e-12)
            alone = explain(context, name, qrels, measure, query_id=query)
            assert alone["contribution"].sum() == pytest.approx(value, abs=1e-12)


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


@pytest.mark.parametrize("method", ["greedy", "exact"])
@pytest.mark.parametrize("measure", MEASURES[1:])
def test_selecting_by_new_aspects(measure: str, method: str) -> None:
    runs, qrels = campaign()
    table = select_complementary(RunContext(runs), qrels, 3, measure, method)
    assert table["cumulative"].tolist() == pytest.approx(np.cumsum(table["marginal"]).tolist())
    assert (table["bound"] >= table["cumulative"] - 1e-12).all()
    without_priors = [
        RunContext({n: runs[n], "none": {}}).evaluate(qrels, [measure]).iloc[0, 1] for n in runs
    ]
    if method == "greedy":
        assert table["marginal"][0] == pytest.approx(max(without_priors))


def test_selecting_by_alpha_nrg() -> None:
    runs, qrels = campaign()
    table = select_complementary(RunContext(runs), qrels, 3, MEASURES[0])
    assert len(set(table["name"])) == 3
    with pytest.raises(ValueError, match="exact"):
        select_complementary(RunContext(runs), qrels, 3, MEASURES[0], "exact")


def test_whether_qrels_have_aspects() -> None:
    runs, qrels = campaign()
    context = RunContext(runs)
    assert view_of(context, qrels).judgments.has_aspects
    assert view_of(context, qrels).of_query("q01").judgments.has_aspects
    one_each = [Qrel("q01", "d1", 1, "round 1"), Qrel("q01", "d2", 1, "round 2")]
    for plain in ({"q01": {"d1": 1}}, one_each):
        assert not view_of(context, plain).judgments.has_aspects


# ---- tokens ----------------------------------------------------------------------------------------------


def by_hand(ranking: dict[str, float], budget: int, tokens: dict[str, int]) -> list[str]:
    read: list[str] = []
    for doc in sorted(ranking, key=lambda d: -ranking[d]):
        budget -= tokens[doc]
        if budget < 0:
            break
        read.append(doc)
    return read


def test_a_budget_reads_what_fits() -> None:
    from oracles.aspects import new_aspects_oracle

    runs, qrels = campaign()
    tokens = lengths()
    labels: dict[str, dict[str, dict[str, int]]] = {}
    for q in qrels:
        labels.setdefault(q.query_id, {}).setdefault(q.doc_id, {})[q.iteration] = q.relevance
    for budget in (1, 3, 20, 60, 10_000):
        measure = NewAspects(rel=1, budget=budget)
        values = RunContext(runs, tokens=tokens).evaluate(qrels, [measure], perquery=True)
        for name, query, value in zip(values["name"], values["query_id"], values["value"], strict=True):
            read = {n: by_hand(run.get(query, {}), budget, tokens) for n, run in runs.items()}
            priors = [docs for n, docs in read.items() if n != name]
            assert value == new_aspects_oracle(read[name], priors, labels[query], k=99)


def test_long_rankings_are_read_as_deep_as_the_budget_goes() -> None:
    docs = [f"d{i:03d}" for i in range(300)]
    run = {"q": {doc: -float(i) for i, doc in enumerate(docs)}}
    qrels = [Qrel("q", doc, 1, f"of {doc}") for doc in docs]
    context = RunContext({"one": run, "none": {"q": {"x": 1.0}}}, tokens=lambda doc: 2)
    for budget, expected in ((1, 0.0), (400, 200.0), (401, 200.0), (600, 300.0), (10**6, 300.0)):
        measure = NewAspects(budget=budget)
        assert context.evaluate(qrels, [measure])[str(measure)].tolist() == [expected, 0.0]


def test_only_what_is_read_needs_a_length() -> None:
    run = {"q": {"A": 3.0, "B": 2.0, "C": 1.0}}
    context = RunContext({"one": run, "none": {"q": {"A": 1.0}}}, tokens={"A": 5, "B": 6})
    qrels = [Qrel("q", doc, 1, f"of {doc}") for doc in "ABC"]
    assert context.evaluate(qrels, [NewAspects(budget=10)]).iloc[:, 1].tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="tokens has no document 'C'"):
        context.evaluate(qrels, [NewAspects(budget=11)])


@pytest.mark.parametrize("form", ["dict", "series", "frame", "pyterrier", "function"])
def test_every_form_of_tokens(form: str) -> None:
    runs, qrels = campaign()
    given: Any = lengths()
    if form == "series":
        given = pd.Series(given)
    elif form in ("frame", "pyterrier"):
        named = "doc_id" if form == "frame" else "docno"
        given = pd.DataFrame({named: list(given), "tokens": list(given.values())})
    elif form == "function":
        given = given.__getitem__
    expected = RunContext(runs, tokens=lengths()).evaluate(qrels, [BUDGET])
    pd.testing.assert_frame_equal(RunContext(runs, tokens=given).evaluate(qrels, [BUDGET]), expected)


def test_the_tokens_of_a_dataset() -> None:
    asked: list[str] = []

    def tokenize(text: str) -> list[str]:
        asked.append(text)
        return text.split()

    collection = demo.generate()
    text = {doc.doc_id: doc.text for doc in collection.docs}
    qrels = [Qrel(q.query_id, q.doc_id, q.relevance, f"ends in {q.doc_id[-1]}") for q in collection.qrels]
    measure = NewAspects(rel=1, budget=300)
    by_function = RunContext(demo.runs(), tokens=lambda doc: len(tokenize(text[doc])))
    by_dict = RunContext(demo.runs(), tokens={doc: len(words.split()) for doc, words in text.items()})
    pd.testing.assert_frame_equal(by_function.evaluate(qrels, [measure]), by_dict.evaluate(qrels, [measure]))
    assert len(asked) == len(set(asked)) < len(text)


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (None, r"budget=20 needs the lengths of the documents"),
        ({"d0": 5}, "tokens has no document 'd"),
        ({f"d{i}": -1 for i in range(11)}, "has the length -1; it must be a whole number from 0 up"),
        ({f"d{i}": "5" for i in range(11)}, "has the length '5'"),
        ({f"d{i}": 2.5 for i in range(11)}, "has the length 2.5"),
        ({f"d{i}": float("nan") for i in range(11)}, "has the length nan"),
        (7, "tokens is an int; give a dict from document id"),
        (pd.DataFrame({"doc_id": ["d0"]}), "the DataFrame has no column 'tokens'"),
        (pd.DataFrame({"tokens": [1]}), "tokens: the DataFrame has no column 'doc_id'"),
    ],
)
def test_bad_tokens(tokens: Any, message: str) -> None:
    runs, qrels = campaign()
    with pytest.raises(ValueError, match=message):
        RunContext(runs, tokens=tokens).evaluate(qrels, [BUDGET])


def test_new_aspects_by_hand() -> None:
    rows = [("A", "causes"), ("B", "causes"), ("B", "remedy"), ("C", "remedy")]
    qrels = [Qrel(query, doc, 1, aspect) for doc, aspect in rows for query in ("q", "p")]
    runs: dict[str, Any] = {
        "old": {"q": {"A": 2.0, "X": 1.0}, "p": {"A": 1.0}},
        "new": {"q": {"A": 3.0, "B": 2.0, "C": 1.0}, "p": {"X": 1.0}},
    }
    tokens = {"A": 90, "B": 120, "C": 80, "X": 50}
    table = new_aspects(RunContext(runs, tokens=tokens), qrels, "NewAspects@2").set_index("name")
    # q: A, B, of which B is new, and the remedy; p: X is new, and shows nothing.
    assert table.loc["new"].tolist() == [0.5, 1.0, 1.0, (120 + 50) / 2, 1000 * 0.5 / 85]
    # q: X is new; p: A is new, and shows the causes that new does not show there.
    assert table.loc["old"].tolist() == [0.5, 1.0, 1.0, (50 + 90) / 2, 1000 * 0.5 / 70]
    assert table.index.tolist() == ["old", "new"]
    by_budget = new_aspects(RunContext(runs, tokens=tokens), qrels, NewAspects(budget=100)).set_index("name")
    assert by_budget.loc["new"].tolist() == [0.0, 0.5, 0.5, 25.0, 0.0]  # A alone, and X alone
    without = new_aspects(RunContext(runs), qrels, "NewAspects@2")
    assert list(without.columns) == ["name", "NewAspects@2", "shown", "new documents"]
    one = new_aspects(RunContext(runs, tokens=tokens), qrels, "NewAspects(prior='old')@2").set_index("name")
    assert one.loc["old", "shown"] == one.loc["old", "NewAspects(prior='old')@2"] == 1.0


def test_new_aspects_wants_a_measure_that_counts_aspects() -> None:
    runs, qrels = campaign()
    for measure in ("alpha_NRG@10", "UniqueRel@10"):
        with pytest.raises(ValueError, match="does not count aspects; give NewAspects@10"):
            new_aspects(RunContext(runs), qrels, measure)


def test_the_fingerprint_tells_aspects_apart() -> None:
    runs, qrels = campaign()
    context = RunContext(runs)
    mark = context.fingerprint(qrels)["qrels"]
    renamed = [q._replace(iteration=f"other {q.iteration}") for q in qrels]
    assert context.fingerprint(renamed)["qrels"]["sha256"] != mark["sha256"]
    assert context.fingerprint(list(qrels))["qrels"] == mark


def test_with_fewer_labels_documents_lose_all_of_theirs() -> None:
    runs, qrels = campaign()
    measure = NewAspects(rel=1) @ 3
    whole = view_of(RunContext(runs), qrels)
    keep = np.arange(len(whole.judgments)) % 2 == 0
    documents = whole.judgments.query_ids[whole.judgments.query], whole.judgments.doc_ids
    lost = {(q, d) for q, d, kept in zip(*documents, keep, strict=True) if not kept}
    fewer = whole.with_judgments(keep)
    left = view_of(RunContext(runs), [q for q in qrels if (q.query_id, q.doc_id) not in lost])
    for name in whole.names:
        theirs, ours = (measure.score(view.of(name)) for view in (left, fewer))
        by_name = dict(zip(left.judgments.query_ids, theirs, strict=True))
        assert [by_name.get(q, 0.0) for q in fewer.judgments.query_ids] == ours.tolist()
