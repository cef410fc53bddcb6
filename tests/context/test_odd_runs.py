"""Runs that retrieve the query itself, and runs whose scores do not order: told of, and not where that is chance."""

import copy
import pickle
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import nDCG

import command_line
from ir_measures_relative import (
    MED,
    NRG,
    RelativeWarning,
    RunContext,
    UniqueRel,
    compare,
    explain,
    verdicts,
    worth,
)
from ir_measures_relative.context.collection import judged_collection
from ir_measures_relative.context.priors import BestOfOtherGroups
from scored import in_order

Run = dict[str, dict[str, float]]

#: As BEIR's ArguAna: the ids of the topics are ids of documents, and most runs retrieve the topic first.
TOPICS = [f"a{i}" for i in range(8)]
QRELS = {topic: {f"b{i}": 1, f"c{i}": 0} for i, topic in enumerate(TOPICS)}
FIRST = {topic: in_order([topic, f"b{i}", f"c{i}", f"d{i}"]) for i, topic in enumerate(TOPICS)}
SECOND = {topic: in_order([f"c{i}", topic, f"b{i}", f"e{i}"]) for i, topic in enumerate(TOPICS)}
LATER = {topic: in_order([f"{x}{i}" for x in "cdefb"] + [topic]) for i, topic in enumerate(TOPICS)}


def without(run: Run) -> Run:
    return {topic: {doc: s for doc, s in docs.items() if doc != topic} for topic, docs in run.items()}


def told(action: Callable[[], Any]) -> list[str]:
    """What is said of odd runs."""
    with warnings.catch_warnings(record=True, action="always") as caught:
        action()
    said = [str(w.message) for w in caught if w.category is RelativeWarning]
    return [message for message in said if "query itself" in message or "so their ids decide" in message]


def in_context(runs: dict[str, Run], qrels: Any = QRELS, **options: Any) -> list[str]:
    return told(lambda: RunContext(runs, **options).evaluate(qrels, [nDCG @ 3, NRG @ 3]))


def test_a_run_that_retrieves_the_query_itself_is_told_of_once_with_the_remedy() -> None:
    (message,) = in_context({"first": FIRST, "second": SECOND, "later": LATER})
    assert message == (
        "run 'first' (also run 'second') retrieves the query itself in its top 3 on 8 of 8 topics, such as 'a0', where "
        "it is not judged relevant; set drop_self=True to remove it, as BEIR does"
    )


def by_host(context: RunContext, run: Run) -> Any:
    with context:
        return ir_measures.calc_aggregate([UniqueRel @ 3, nDCG @ 3], QRELS, run)


CALLS: dict[str, Callable[[RunContext], Any]] = {
    "ir_measures": lambda context: by_host(context, FIRST),
    "evaluate": lambda context: context.evaluate(QRELS, [nDCG @ 3, NRG @ 3]),
    "compare": lambda context: compare(context, QRELS, [NRG @ 3]),
    "verdicts": lambda context: verdicts(context, QRELS, [UniqueRel @ 3]),
    "worth": lambda context: worth(context, QRELS, FIRST, "later"),
    "explain": lambda context: explain(context, "second", QRELS, NRG @ 3),
}


@pytest.mark.parametrize("call", CALLS)
def test_every_call_tells_of_it_once(call: str) -> None:
    runs = {"second": SECOND, "later": LATER}
    assert len(told(lambda: CALLS[call](RunContext(runs)))) == 1
    assert not told(lambda: CALLS[call](RunContext(runs, drop_self=True)))


@pytest.mark.parametrize(
    ("run", "qrels"),
    [
        (LATER, QRELS),  # below the first three
        ({**without(FIRST), **dict(list(FIRST.items())[:2])}, QRELS),  # on two topics
        (FIRST, {topic: {topic: 1, "x": 0} for topic in TOPICS}),  # it is the answer
        (
            FIRST | {f"z{i}": in_order("xyz") for i in range(40)},
            QRELS | {f"z{i}": {"x": 1} for i in range(40)},
        ),
    ],
)
def test_where_it_is_no_mistake_nothing_is_said(run: Run, qrels: Any) -> None:
    assert not in_context({"run": run, "other": without(SECOND)}, qrels)


@pytest.mark.parametrize(("topics", "documents"), [(93, 11429), (50, 1000), (225, 1400), (30, 100)])
def test_ids_that_are_the_same_by_chance(topics: int, documents: int) -> None:
    """As those of Vaswani and Cranfield, whose topics and documents are both numbered from 1."""
    for seed in range(8):
        rng = random.Random(seed)
        ids = [str(i) for i in range(1, documents + 1)]
        run = {str(t): in_order(rng.sample(ids, 20)) for t in range(1, topics + 1)}
        assert not in_context({"run": run}, {t: dict.fromkeys(list(docs)[:3], 1) for t, docs in run.items()})


@pytest.mark.filterwarnings("ignore::ir_measures_relative.RelativeWarning")
def test_drop_self_is_to_leave_the_query_out_of_every_run_and_not_out_of_the_judgments() -> None:
    runs = {
        "first": FIRST,
        "second": SECOND,
        "later": LATER,
        "only itself": {t: {t: 1.0} for t in TOPICS[:2]},
    }
    qrels = QRELS | {"a0": {"a0": 2, "b0": 1}}
    measures = [nDCG @ 2, NRG @ 2, MED @ 2, "nDCG_UE(pool='run')@2", "P_Rareness@2", "RBO(p=0.9)"]
    dropped = RunContext(runs, reference="later", drop_self=True)
    by_hand = RunContext({n: without(run) for n, run in runs.items()}, reference="later")
    pd.testing.assert_frame_equal(
        dropped.evaluate(qrels, measures, perquery=True), by_hand.evaluate(qrels, measures, perquery=True)
    )
    asked = dropped.runs["only itself"].asked
    assert set(asked) == set(TOPICS[:2]) == set(by_hand.runs["only itself"].asked)  # empty, not missing
    of_a0 = dropped.evaluate(qrels, [nDCG @ 2], perquery=True).query("query_id == 'a0'")
    assert len(of_a0) == 4 and of_a0["value"].max() < 1  # the query is judged relevant to itself
    for context, run in ((dropped, FIRST), (by_hand, without(FIRST))):  # as the candidate, too
        answer = worth(context, qrels, run, "later")
        assert all(
            doc != topic for topic, doc in answer.judge[["query_id", "doc_id"]].itertuples(index=False)
        )
    assert str(worth(dropped, qrels, FIRST, "later")) == str(worth(by_hand, qrels, without(FIRST), "later"))


def test_it_is_kept_by_all_that_makes_a_context_of_another(tmp_path: Path) -> None:
    context = RunContext({"first": FIRST, "second": SECOND}, drop_self=True)
    again = pickle.loads(pickle.dumps(context))
    for other in (again, copy.copy(context), judged_collection(context, QRELS).context):
        assert other.drop_self and not (set(TOPICS) & set(other.runs["first"].to_dict()["a0"]))
    command_line.write_runs(tmp_path, {"first": FIRST, "second": SECOND})
    from_files = RunContext.from_files(tmp_path, drop_self=True)
    pd.testing.assert_frame_equal(from_files.evaluate(QRELS, [NRG @ 3]), context.evaluate(QRELS, [NRG @ 3]))
    assert context.fingerprint(QRELS)["drop_self"] and "drop_self" not in RunContext({}).fingerprint(QRELS)
    with pytest.raises(ValueError, match="drop_self='yes' is not allowed"):
        RunContext({}, drop_self="yes")  # type: ignore[arg-type]


def test_ir_measures_own_measures_still_have_it_and_that_is_said() -> None:
    with pytest.warns(RelativeWarning, match="for relative measures alone"):
        values = by_host(RunContext({"later": LATER}, drop_self=True), FIRST)
    with RunContext({"later": LATER}):
        assert values[UniqueRel @ 3] == (UniqueRel @ 3).calc_aggregate(QRELS, without(FIRST))
        assert values[nDCG @ 3] == (nDCG @ 3).calc_aggregate(QRELS, FIRST)


def test_drop_self_of_the_command_line(tmp_path: Path) -> None:
    three = {"first": FIRST, "second": SECOND, "later": LATER}
    qrels = command_line.write_qrels(tmp_path / "qrels.txt", QRELS)
    runs = command_line.write_runs(tmp_path / "runs", three)
    command_line.write_runs(tmp_path / "without", {name: without(run) for name, run in three.items()})
    for command, *more in (
        ["score", qrels, runs, "nDCG@3", "NRG@3"],
        ["compare", qrels, runs, "NRG@3"],
        ["similar", qrels, runs, "MED@3"],
        ["worth", qrels, runs / "first.run", "--to", runs / "later.run"],
    ):
        assert "(on the command line: --drop-self)" in command_line.run(command, *more).stderr
        by_hand = [Path(str(part).replace("/runs", "/without")) if part != "--to" else part for part in more]
        dropped = command_line.run(command, *more, "--drop-self")
        expected = command_line.run(command, *by_hand)
        assert dropped.stdout == expected.stdout and dropped.stdout
        assert "query itself" not in dropped.stderr


@pytest.mark.parametrize("measures", [["nDCG@3", "NRG@3"], ["nDCG@3", "Judged@3"], ["nDCG_UE(pool='run')@3"]])
def test_drop_self_of_an_experiment(measures: list[str]) -> None:
    pt = pytest.importorskip("pyterrier", reason="pyterrier is not installed")

    def frame(run: Run) -> pd.DataFrame:
        rows = [(t, d, s) for t, docs in run.items() for d, s in docs.items()]
        return pd.DataFrame(rows, columns=["qid", "docno", "score"])

    topics = pd.DataFrame({"qid": TOPICS, "query": TOPICS})
    qrels = pd.DataFrame(
        [(t, d, g) for t, docs in QRELS.items() for d, g in docs.items()], columns=["qid", "docno", "label"]
    )
    tables = []
    for make, options in ((lambda run: run, {"drop_self": True}), (without, {})):
        systems = [frame(make(FIRST)), pt.Transformer.from_df(frame(make(LATER)))]
        tables.append(pt.relative.Experiment(systems, topics, qrels, measures, ["first", "later"], **options))
    pd.testing.assert_frame_equal(*tables)


def test_drop_self_of_dask() -> None:
    """Also where means choose the priors."""
    dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    from ir_measures_relative.distributed import evaluate

    runs = {"second": SECOND, "first": FIRST, "third": LATER}
    rows = [(n, t, d, s) for n, run in runs.items() for t, docs in run.items() for d, s in docs.items()]
    frame = pd.DataFrame(rows, columns=["name", "query_id", "doc_id", "score"])
    options: dict[str, Any] = {"priors": BestOfOtherGroups(by="P@1"), "drop_self": True}
    options["groups"] = {"first": "a", "second": "a", "third": "b"}  # with the query itself, both have P@1 0
    parts = dd.from_pandas(frame, npartitions=2)
    table = evaluate(parts, QRELS, [NRG @ 3], names=list(runs), perquery=True, **options)
    expected = RunContext(runs, **options).evaluate(QRELS, [NRG @ 3], perquery=True)
    pd.testing.assert_frame_equal(table, expected)
    assert expected["value"].nunique() > 1


def test_ties_that_32_bit_floats_make_are_told_of() -> None:
    """With the share of adjacent documents, the order that counts, and the one that the run means."""
    rising = {"1": {"a": 0.900000003, "b": 0.900000002, "c": 0.900000001, "d": 0.1}}
    tiny = {"1": {"a": 3e-50, "b": 2e-50, "c": 1e-50}}
    qrels = {"1": {"a": 1}}
    (message,) = in_context({"rising": rising, "tiny": tiny}, qrels)
    assert message == (
        "run 'rising' (also run 'tiny' (100%)): 67% of adjacent documents in the top 10 tie as 32-bit floats, which "
        "trec_eval compares, so their ids decide: query '1' is read as ['c', 'b', 'a'], and its scores in 64 bits give "
        "['a', 'b', 'c']; write scores as -rank"
    )
    with RunContext({}):
        assert len(told(lambda: ir_measures.calc_aggregate([NRG @ 3], qrels, tiny))) == 1
    assert not in_context({"the same order": {"1": {"c": 3e-50, "b": 2e-50, "a": 1e-50}}}, qrels)
    near = {f"d{i:02}": 30.0 - i for i in range(10)} | {"x": 40.0, "a": 40.0 + 1e-7}
    assert not in_context({"one in nine": {"1": near}}, qrels)  # as of duplicates that differ by rounding
    assert not in_context({"the run's own": {"1": dict.fromkeys("abcdef", 1.0)}}, qrels)


def trec(path: Path, scores: dict[str, float], ranks: dict[str, Any]) -> Path:
    path.write_text("".join(f"1 Q0 {d} {ranks[d]} {s} tag\n" for d, s in scores.items()))
    return path


@pytest.mark.parametrize("form", ["file", "frame"])
def test_equal_scores_are_told_of_where_ranks_order_them_otherwise(form: str, tmp_path: Path) -> None:
    docs = [f"d{i}" for i in range(6)]

    def said(scores: list[float], ranks: list[Any]) -> list[str]:
        run: Any = trec(
            tmp_path / "run", dict(zip(docs, scores, strict=True)), dict(zip(docs, ranks, strict=True))
        )
        if form == "frame":
            run = pd.DataFrame({"query_id": "1", "doc_id": docs, "score": scores, "rank": ranks})
        return in_context({"run": run}, {"1": {"d0": 1}})

    for scores, share, tie in (
        ([0.0] * 6, "100%", "have equal scores"),
        ([0.9 + 1e-9 * i for i in range(6)], "100%", "tie as 32-bit floats, which trec_eval compares"),
        (
            [0.9 + 1e-9 * i for i in range(4)] + [0.5, 0.4],
            "60%",
            "tie as 32-bit floats, which trec_eval compares",
        ),
    ):
        (message,) = said(scores, [1, 2, 3, 4, 5, 6])
        assert f"run 'run': {share} of adjacent documents in the top 10 {tie}, so their ids decide" in message
    (message,) = said([0.0] * 6, [1, 2, 3, 4, 5, 6])
    assert "100% of adjacent documents in the top 10 have equal scores, so their ids decide" in message
    assert (
        "is read as ['d5', 'd4', 'd3'], and its ranks give ['d0', 'd1', 'd2']; write scores as -rank"
        in message
    )
    assert not said([0.0] * 6, [6, 5, 4, 3, 2, 1])  # the order that counts
    assert not said([9.0, 9.0, 9.0, 9.0, 9.0, 4.0], [1, 2, 3, 4, 5, 6])  # the run's own, as of counts
    assert not said([0.0] * 6, ["x"] * 6) and not said([0.0] * 6, [np.nan] * 6)  # no ranks


@pytest.mark.parametrize("score", [2e50, -2e50, 3.5e38, float("nan"), float("inf")])
def test_a_score_that_is_no_finite_32_bit_float_is_refused(score: float, tmp_path: Path) -> None:
    message = r"'1', document '?b'? has the score .*; give a finite number, of a size below 3.4e38"
    run = {"1": {"a": 1.0, "b": score}}
    for given in (run, pd.DataFrame({"query_id": "1", "doc_id": ["a", "b"], "score": [1.0, score]})):
        with pytest.raises(ValueError, match=f"run 'x': query {message}"):
            RunContext({"x": given})
    with pytest.raises(ValueError, match=f"line 2: query {message}"):
        RunContext.from_files(command_line.write_run(tmp_path / "run", "x", run))
    largest = float(np.finfo(np.float32).max)
    RunContext({"x": {"1": {"a": largest, "b": np.nextafter(2.0**128 - 2.0**103, 0)}}})


def test_an_id_of_another_type_in_one_run_does_not_hide_another_run_of_strange_ids() -> None:
    qrels = {str(q): {f"d{i}": 1 for i in range(3)} for q in range(3)}
    deep = {query: {f"d{i}": 100.0 - i for i in range(15)} for query in qrels}
    deep["0"][7] = -1.0  # type: ignore[index]  # deeper than any measure looks
    strange = {query: {f"x{i}": 9.0 - i for i in range(5)} for query in qrels}
    with pytest.warns(RelativeWarning, match="run 'strange' ranks no judged document"):
        RunContext({"deep": deep, "strange": strange}).evaluate(qrels, [NRG @ 3])
