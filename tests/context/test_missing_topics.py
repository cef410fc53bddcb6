"""Topics without a ranking, or without a judgment: refused, told of, counted or left out; the same at every door."""

import json
import random
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
import pytest
from hypothesis import given
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
from ir_measures_relative.context.collection import judged_collection
from ir_measures_relative.context.missing_topics import find_missing_topics
from random_campaigns import Labels, Run, contexts, qrels
from scored import in_order

TOPICS = [str(q) for q in range(1, 41)]
DOCS = [f"d{i}" for i in range(12)]
_RANDOM = random.Random(1)
QRELS = {q: {d: int(_RANDOM.random() < 0.4) for d in DOCS} for q in TOPICS}
A, B, C = ({q: {d: _RANDOM.random() + QRELS[q][d] * 0.3 for d in DOCS} for q in TOPICS} for _ in range(3))

#: The verbs that decide, test or choose, of the runs "a", "b" and "c" alike.
VERBS: dict[str, Callable[..., Any]] = {
    "worth": lambda context, labels, **how: worth(context, labels, "c", **how),
    "decide": lambda context, labels, **how: decide(context, labels, {"x": "a", "y": ["b", "c"]}, **how),
    "drop": lambda context, labels, **how: drop(context, labels, margin=0.1, **how),
    "compare": lambda context, labels, **how: compare(context, labels, ["P@5", NRG @ 5], **how),
    "fuse": lambda context, labels, **how: fuse(context, labels, 2, "P@5", **how),
    "select": lambda context, labels, **how: select_complementary(context, labels, 2, **how),
    "verdicts": lambda context, labels, **how: verdicts(context, labels, ["P@5"], **how),
}
of_verbs = pytest.mark.parametrize("verb", VERBS)


def without(run: Run, topics: int) -> Run:
    """A run without its last topics."""
    return {q: run[q] for q in TOPICS[: len(TOPICS) - topics]}


def told(answer: Any) -> str:
    """What an answer says of missing topics, where it is said first."""
    if isinstance(answer, pd.DataFrame):
        return str(answer.attrs.get("missing_topics", ""))
    assert answer.missing_topics in answer.text.split("\n\n")[0]
    return str(answer.missing_topics)


def same(one: Any, other: Any) -> None:
    tables = (getattr(answer, "table", answer) for answer in (one, other))
    pd.testing.assert_frame_equal(*tables)


@given(runs=contexts, labels=qrels)
def test_which_topics_are_missing(runs: dict[str, Run], labels: Labels) -> None:
    ranked = {name: {q for q, docs in run.items() if docs} for name, run in runs.items()}
    found = find_missing_topics(judged_collection(RunContext(runs), labels).judgments, RunContext(runs).runs)
    judged = [q for q, docs in labels.items() if docs]
    expected = {}
    for name, run in runs.items():
        others = [q for q in judged if any(q in ranked[other] for other in runs if other != name)]
        if lacking := [q for q in others if q not in run]:  # an empty ranking is an answer
            expected[name] = lacking, len(others)
    assert {one.name: ([judged[t] for t in one.topics], one.expected) for one in found} == expected


@of_verbs
def test_a_run_that_misses_many_topics_is_refused(verb: str) -> None:
    runs = {"a": A, "b": without(B, 3), "c": C}
    with pytest.raises(ValueError) as error:
        VERBS[verb](RunContext(runs), QRELS)
    for words in (
        "'b' has no ranking for 3 of the 40 judged",
        "('38', '39', '40'; ",
        "missing='zero'",
        "'drop'",
    ):
        assert words in str(error.value)
    with pytest.raises(ValueError, match="missing='mean'"):
        VERBS[verb](RunContext(runs), QRELS, missing="mean")
    answered = RunContext(runs | {"b": without(B, 3) | {q: {} for q in TOPICS[-3:]}})
    zero = VERBS[verb](RunContext(runs), QRELS, missing="zero")
    same(zero, VERBS[verb](answered, QRELS))
    assert told(zero).endswith("A missing topic counts as an empty ranking.") and not told(
        VERBS[verb](answered, QRELS)
    )
    left = VERBS[verb](RunContext(runs), QRELS, missing="drop")
    same(left, VERBS[verb](RunContext(runs), {q: QRELS[q] for q in TOPICS[:-3]}))
    assert told(left).endswith("These 3 topics are left out for all runs.")


@of_verbs
def test_one_topic_in_twenty_is_told_of_first(verb: str) -> None:
    context = RunContext({"a": A, "b": B, "c": without(C, 2)})
    with warnings.catch_warnings(record=True, action="always") as said:
        answer = VERBS[verb](context, QRELS)
    assert told(answer).startswith("Run 'c' has no ranking for 2 of the 40 judged topics")
    of_missing = [str(one.message) for one in said if "no ranking for" in str(one.message)]
    assert of_missing == ([told(answer)] if isinstance(answer, pd.DataFrame) else [])
    with pytest.raises(ValueError, match="'c' has no ranking for 2 of the 40"):
        VERBS[verb](context, QRELS, missing="raise")
    same(VERBS[verb](context, QRELS, missing="zero"), answer)


def test_runs_that_are_not_compared_are_not_refused() -> None:
    """But they say which topics there are, and a prior without rankings is told of where a measure looks at it."""
    runs = {"a": A, "b": B, "c": without(C, 30)}
    named = {"names": ["a", "b"]}
    with pytest.warns(
        RelativeWarning, match="'c' has no ranking for 30 .* as priors or reference they have empty"
    ):
        compare(RunContext(runs), QRELS, [NRG @ 5], **named)
    with warnings.catch_warnings(action="error"):
        compare(RunContext(runs), QRELS, ["P@5"], **named)
        decide(RunContext(runs), QRELS, {"x": "a", "y": ["a", "b"]})
    with pytest.raises(ValueError, match="'a' .* 30 of the 40 .*'b' .* 30 of the 40"):
        compare(RunContext({"a": without(A, 30), "b": without(B, 30), "c": C}), QRELS, ["P@5"], **named)
    with pytest.raises(ValueError, match="leaves no topic"):
        compare(RunContext({"a": {"1": A["1"]}, "b": {"2": B["2"]}}), QRELS, ["P@5"], missing="drop")


def test_scores_warn_once_and_stay_what_they_are() -> None:
    context = RunContext({"a": A, "b": without(B, 30), "c": without(C, 1)})
    for use in (lambda: context.evaluate(QRELS, ["P@5", NRG @ 5]), lambda: bounds(context, QRELS, ["P@5"])):
        with pytest.warns(RelativeWarning, match="'b' .* 30 of the 40 .*'c' .* 1 of the 40") as said:
            use()
        assert len(said) == 1
    value = context.evaluate(QRELS, ["P@5"]).set_index("name").loc["b", "P@5"]
    assert value == pytest.approx(
        ir_measures.calc_aggregate([ir_measures.P @ 5], QRELS, without(B, 30))[ir_measures.P @ 5]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # judgments may be of more topics than anyone ran
        RunContext({"a": without(A, 9)}).evaluate(QRELS, ["P@5"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[:125], r"19 of the 40 .*ends within topic '21', 5 rows where its other topics have 6"),
        (lambda rows: rows[:120], r"20 of the 40 .*'21', '22', '23' and 17 more; the file ends with topic '20'"),
        (lambda rows: [r for r in rows if r.split()[0] not in ("7", "9", "40")], r"3 of the 40 .*\('7', '9', '40'\)"),
        (lambda rows: [f"0{r}" if r[:2] in ("3 ", "4 ", "5 ") else r for r in rows], "the run has '03', the qrels '3'"),
        (lambda rows: [r.replace(" ", ".0 ", 1) for r in rows[6:]] + rows[:6], "39 of these ids .* '2.0', the qrels '2'"),
    ],
)  # fmt: skip
def test_why_topics_are_missing(tmp_path: Path, change: Any, message: str) -> None:
    rows = [f"{q} Q0 {d} 0 {s} B\n" for q in TOPICS for d, s in list(B[q].items())[:6]]
    (tmp_path / "B.run").write_text("".join(change(rows)))
    with pytest.raises(ValueError, match=message):
        VERBS["fuse"](RunContext({"a": A, "B": tmp_path / "B.run"}), QRELS)


def test_a_last_row_that_is_cut(tmp_path: Path) -> None:
    text = "".join(f"{q} Q0 {d} 0 {s} system\n" for q in TOPICS for d, s in B[q].items())
    end = text.index(" system\n", len(text) // 2)
    (tmp_path / "B.run").write_text(text[: end + 5])
    with pytest.warns(RelativeWarning, match="ends within topic '21', in the middle of a row, . row"):
        RunContext.from_files(tmp_path / "B.run").evaluate(QRELS, ["P@5"])
    less = ", 11 rows where its other topics have 12"
    for last, words in ((-3, ", in the middle of a row"), (text.rindex("40 Q0"), less)):
        (tmp_path / "B.run").write_text(text[:last])
        context = RunContext.from_files(tmp_path / "B.run")
        words = f"run 'system': the file ends within topic '40'{words}; if rows are missing"
        with pytest.warns(RelativeWarning, match=words):
            context.evaluate(QRELS, ["P@5"])
        with pytest.warns(RelativeWarning, match=words):
            worth(context, QRELS, C, by="P@5")
    for cut, name, read in (
        (end - 1, "B.run", RunContext.from_files),
        (9, "q", lambda path: judged_collection(RunContext({}), path)),
    ):
        (tmp_path / name).write_text(text[:cut] if name == "B.run" else "1 0 d1 1\n1 0 d")
        with pytest.raises(
            ValueError, match=f"line {242 if name == 'B.run' else 2}.*the file ends within this line"
        ):
            read(tmp_path / name)


@pytest.mark.parametrize(("own", "judged"), [("07", "7"), ("B", "b"), ("10.0", "10"), (" y", "y")])
def test_ids_that_agree_in_part(own: str, judged: str) -> None:
    """No other run is needed to see it, and a host is told as well."""
    labels, run = {"x": {"d": 1}, judged: {"d": 1}}, {"x": {"d": 1.0}, own: {"d": 1.0}}
    words = f"has '{re.escape(own)}', the qrels '{re.escape(judged)}'"
    with pytest.warns(RelativeWarning, match=words):
        RunContext({"a": run}).evaluate(labels, ["P@1"])
    with RunContext({}), pytest.warns(RelativeWarning, match=f"1 of the 2 judged topics; .*{words}: write"):
        (NRG @ 3).calc_aggregate(labels, run)
    with pytest.raises(ValueError, match=f"no query in common .*{words}: write the ids alike"):
        RunContext({"a": {own: {"d": 1.0}}}).evaluate({judged: {"d": 1}}, ["P@1"])
    decided = compare(RunContext({"a": run, "b": run}), labels, ["P@1"], test="t", missing="zero")
    assert "'a' has no ranking for 1 of the 2 judged topics" in decided.attrs["missing_topics"]


def test_a_run_that_misses_topics_ranks_as_no_other() -> None:
    labels = {"1": {"a": 1, "b": 0}, "2": {"c": 1}}
    both = {"1": {"b": 2.0, "a": 1.0}, "2": {"c": 1.0}}
    with (
        RunContext({"B": both}),
        pytest.warns(RelativeWarning, match="ranks the judged topics that it has as does"),
    ):
        (NRG @ 3).calc_aggregate(labels, {"1": both["1"]})
    with RunContext({"B": both}), pytest.warns(RelativeWarning, match="ranks exactly as"):
        (NRG @ 3).calc_aggregate(labels, both)
    with RunContext({"B": both}):
        assert (MED @ 3).calc_aggregate(labels, {"1": both["1"]}) > 0


EIGHT = [str(i) for i in range(1, 9)]
RUNS = {
    name: {t: in_order("abcdefgh"[(step * i + j) % 8] for j in range(6)) for i, t in enumerate(EIGHT)}
    for name, step in {"A": 1, "B": 3, "C": 5}.items()
}
NEW = {topic: in_order("hgfedcba"[i % 3 :]) for i, topic in enumerate(EIGHT)}
JUDGED = {t: {doc: (i + j) % 3 for j, doc in enumerate("acegh")} for i, t in enumerate(EIGHT) if t != "3"}
#: The third topic has no judgment; or one that changes nothing, of a document that no run retrieves.
WITHOUT = {t: JUDGED.get(t, {}) for t in EIGHT}
WITH_ONE = {t: JUDGED.get(t, {"nowhere": 0}) for t in EIGHT}
CONTEXT = RunContext(RUNS, reference="A", num_docs=100, grades=(0, 2))


def by_host(function: str) -> Callable[[Any], Any]:
    def scored(qrels: Any) -> Any:
        with CONTEXT:
            return getattr(ir_measures, function)([NRG @ 3], qrels, NEW)

    return scored


def evaluator(qrels: Any) -> Any:
    with CONTEXT:
        return ir_measures.evaluator([NRG @ 3], qrels).calc_aggregate(NEW)


def run_file(qrels: Any, folder: Path) -> Path:
    (folder / "qrels.json").write_text(json.dumps(qrels))
    return command_line.write_runs(folder / "runs", RUNS)


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
    context = RunContext({"run": NEW, "other": {"1": in_order("abcdefgh")}})
    expected = context.evaluate({"1": JUDGED["1"]}, ["NRG@3"])
    assert table["NRG@3"][0] == expected["NRG@3"][0]
