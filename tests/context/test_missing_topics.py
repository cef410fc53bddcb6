"""Topics that a run has no ranking for: refused, told of, counted or left out, by what shows that they are missing."""

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

from ir_measures_relative import (
    MED,
    NRG,
    RelativeWarning,
    RunContext,
    bounds,
    compare,
    decide,
    drop,
    fuse,
    select_complementary,
    verdicts,
    worth,
)
from ir_measures_relative.context.collection import judged_collection
from ir_measures_relative.context.missing_topics import find_missing_topics
from random_campaigns import Labels, Run, contexts, qrels

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
