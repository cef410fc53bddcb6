"""A topic that judgments name without one counts as ir_measures counts it: at every door, alone and in company."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
import pytest
from ir_measures import nDCG

import command_line
from example_measures import PLAIN_EXAMPLES
from ir_measures_relative import (
    MED,
    NRG,
    RelativeWarning,
    RunContext,
    bounds,
    compare,
    decide,
    drop,
    explain,
    fuse,
    select_complementary,
    similarity,
    verdicts,
    worth,
)
from scored import in_order

TOPICS = [str(i) for i in range(1, 9)]
RUNS = {
    name: {t: in_order("abcdefgh"[(step * i + j) % 8] for j in range(6)) for i, t in enumerate(TOPICS)}
    for name, step in {"A": 1, "B": 3, "C": 5}.items()
}
NEW = {topic: in_order("hgfedcba"[i % 3 :]) for i, topic in enumerate(TOPICS)}
JUDGED = {t: {doc: (i + j) % 3 for j, doc in enumerate("acegh")} for i, t in enumerate(TOPICS) if t != "3"}
#: The third topic has no judgment; or one that changes nothing, of a document that no run retrieves.
WITHOUT = {t: JUDGED.get(t, {}) for t in TOPICS}
WITH_ONE = {t: JUDGED.get(t, {"nowhere": 0}) for t in TOPICS}
CONTEXT = RunContext(RUNS, reference="A", num_docs=100, grades=(0, 2))


def by_host(function: str) -> Callable[[Any], Any]:
    def scored(qrels: Any) -> Any:
        with CONTEXT:
            return getattr(ir_measures, function)([NRG @ 3], qrels, NEW)

    return scored


def evaluator(qrels: Any) -> Any:
    with CONTEXT:
        return ir_measures.evaluator([NRG @ 3], qrels).calc_aggregate(NEW)


def run_file(qrels: Any, folder: Path) -> list[Path]:
    (folder / "qrels.json").write_text(json.dumps(qrels))
    (folder / "runs").mkdir(exist_ok=True)
    return [command_line.write_run(folder / "runs" / f"{name}.run", name, run) for name, run in RUNS.items()]


#: From judgments, and a folder, to what is made of them.
DOORS: dict[str, Callable[[Any, Path], Any]] = {
    **{f: lambda q, _, f=f: by_host(f)(q) for f in ("calc_aggregate", "calc")},  # type: ignore[misc]
    "iter_calc": lambda q, _: sorted(by_host("iter_calc")(q)),
    "evaluator": lambda q, _: evaluator(q),
    "evaluate": lambda q, _: CONTEXT.evaluate(q, [NRG @ 3, nDCG @ 3], perquery=True),
    "a file": lambda q, at: run_file(q, at) and CONTEXT.evaluate(at / "qrels.json", [NRG @ 3], perquery=True),
    "judgments=": lambda q, at: RunContext.from_files(run_file(q, at), judgments=at / "qrels.json").evaluate(
        None, [NRG @ 3]
    ),
    "score": lambda q, at: (
        run_file(q, at) and command_line.output("score", at / "qrels.json", at / "runs", "NRG@3", "Judged@3")
    ),
    "bounds": lambda q, _: bounds(CONTEXT, q, [NRG(norm="ideal") @ 3]),
    "verdicts": lambda q, _: verdicts(CONTEXT, q, [NRG(norm="ideal") @ 3]),
    "compare": lambda q, _: compare(CONTEXT, q, [NRG @ 3]),
    "decide": lambda q, _: decide(CONTEXT, q, {"keep": ["A"], "other": ["A", "B"]}),
    "worth": lambda q, _: worth(CONTEXT, q, NEW, ["A", "B"]),
    "drop": lambda q, _: drop(CONTEXT, q),
    "fuse": lambda q, _: fuse(CONTEXT, q, 2),
    "explain": lambda q, _: explain(CONTEXT, "A", q, NRG @ 3),
    "select": lambda q, _: select_complementary(CONTEXT, q, 2),
    "similarity": lambda q, _: similarity(CONTEXT, q, [MED @ 3]),
}


@pytest.mark.filterwarnings("ignore::ir_measures_relative.RelativeWarning")
@pytest.mark.parametrize("door", DOORS)
def test_it_counts_at_every_door(door: str, tmp_path: Path) -> None:
    found = [DOORS[door](qrels, tmp_path) for qrels in (WITHOUT, WITH_ONE, JUDGED)]
    if isinstance(found[0], pd.DataFrame):
        pd.testing.assert_frame_equal(found[0], found[1])
    else:
        assert str(found[0]) == str(found[1])
    if door != "explain":  # which lists documents
        assert str(found[0]) != str(found[2])


@pytest.mark.filterwarnings("ignore::ir_measures_relative.RelativeWarning")
def test_every_measure_counts_it_alone_and_in_company() -> None:
    for measure in PLAIN_EXAMPLES:
        tables = [CONTEXT.evaluate(qrels, [measure], perquery=True) for qrels in (WITHOUT, WITH_ONE)]
        pd.testing.assert_frame_equal(*tables)
        with CONTEXT:
            alone = ir_measures.calc_aggregate([measure], WITHOUT, NEW)
            assert ir_measures.calc_aggregate([measure, nDCG @ 3], WITHOUT, NEW)[measure] == alone[measure]


def test_the_mean_is_that_of_the_host() -> None:
    qrels = {"1": {"a": 1, "b": 2}, "2": {"e": 1}, "3": {}}
    run = {"1": {"a": 2.0, "b": 1.0}, "2": {"e": 1.0}}
    with RunContext({}):  # in which NRG is nDCG
        assert (NRG @ 3).calc_aggregate(qrels, run) == pytest.approx((nDCG @ 3).calc_aggregate(qrels, run))


def test_judgments_without_any_are_told_of() -> None:
    with (
        RunContext({}),
        pytest.warns(RelativeWarning, match="hold no judgment: they name 1 topic without any, such as '3'"),
    ):
        assert (NRG @ 3).calc_aggregate({"3": {}}, {"3": {"a": 1.0}}) == 0
    with RunContext({}), pytest.raises(ValueError, match="query id 3 is an int"):
        (NRG @ 3).calc_aggregate({"1": {"a": 1}, 3: {}}, {"1": {"a": 1.0}})


def test_a_topic_of_a_table_without_a_label_is_told_of(tmp_path: Path) -> None:
    """A key of a dict is a topic, and so is one whose labels are all null; a table has a topic by its labels."""
    table, nested = tmp_path / "qrels.csv", tmp_path / "qrels.json"
    table.write_text("query_id,doc_id,relevance\n1,a,1\n1,b,\n2,c,\n3,d,\n")
    nested.write_text(json.dumps({"1": {"a": 1, "b": None}, "2": {"c": None}, "3": {}}))
    with pytest.warns(RelativeWarning, match=r"no document of \['2', '3'\] has a label"):
        assert len(CONTEXT.evaluate(table, [NRG @ 3], perquery=True)) == len(RUNS)
    assert len(CONTEXT.evaluate(nested, [NRG @ 3], perquery=True)) == 3 * len(RUNS)


def test_two_judgments_that_differ_by_it_have_two_fingerprints() -> None:
    hashes = [CONTEXT.fingerprint(q)["qrels"]["sha256"] for q in (JUDGED, WITHOUT, JUDGED | {"9": {}})]
    assert len(set(hashes)) == 3


def test_it_counts_in_parts_of_a_dask_frame() -> None:
    dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    from ir_measures_relative.distributed import evaluate

    rows = [(n, t, d, s) for n, run in RUNS.items() for t, docs in run.items() for d, s in docs.items()]
    frame = pd.DataFrame(rows, columns=["name", "query_id", "doc_id", "score"])
    qrels = {**WITHOUT, "9": {}}  # which no run has, either
    table = evaluate(
        dd.from_pandas(frame, npartitions=3), qrels, [NRG @ 3, MED @ 3], perquery=True, reference="A"
    )
    pd.testing.assert_frame_equal(
        table, RunContext(RUNS, reference="A").evaluate(qrels, [NRG @ 3, MED @ 3], perquery=True)
    )


def test_it_is_left_out_where_pyterrier_cannot_hold_it() -> None:
    pt = pytest.importorskip("pyterrier", reason="pyterrier is not installed")
    rows = [(t, d, s) for t in ("1", "3") for d, s in NEW[t].items()]
    run = pd.DataFrame(rows, columns=["qid", "docno", "score"])
    topics = pd.DataFrame({"qid": ["1", "3"], "query": ["x", "y"]})
    with pytest.warns(RelativeWarning, match=r"the qrels name \['3'\] without a judgment"):
        table = pt.relative.Experiment(
            {"run": run, "other": run.assign(score=-run["score"])},
            topics,
            {"1": JUDGED["1"], "3": {}},
            ["NRG@3"],
        )
    assert (
        table["NRG@3"][0]
        == RunContext({"run": NEW, "other": {"1": in_order("abcdefgh")}}).evaluate(
            {"1": JUDGED["1"]}, ["NRG@3"]
        )["NRG@3"][0]
    )
