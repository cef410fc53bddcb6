"""decide, worth and drop: verdicts, refusals, evidence and output, on small collections with a known answer."""

from __future__ import annotations

import json
import random
import warnings
from typing import Any
from xml.etree import ElementTree

import pytest

from aspect_campaigns import with_aspects
from ir_measures_relative import RelativeWarning, RunContext
from ir_measures_relative.decisions.decide import _all_rivals, decide
from ir_measures_relative.decisions.drop import drop
from ir_measures_relative.decisions.worth import worth

Run = dict[str, dict[str, float]]
QUERIES = [f"q{i}" for i in range(30)]
QRELS = {q: {d: int(d in "ABC") for d in "ABCDEFXYZ"} for q in QUERIES}


def run_of(*rankings: str) -> Run:
    """A run that ranks the topics in turn by one of these."""
    return {
        q: {d: -float(i) for i, d in enumerate(rankings[t % len(rankings)])} for t, q in enumerate(QUERIES)
    }


GOOD, BAD = run_of("ABCXY", "BACYX"), run_of("XYZDA", "YXDZB", "XYDCZ")
NOISY = [run_of("ABXYC", "XYABC", "AXYBC"), run_of("XYABC", "ABXYC", "XAYBC")]
CONTEXT = RunContext({"good": GOOD, "bad": BAD, "one": NOISY[0], "two": NOISY[1]}, grades=(0, 1))


def test_a_much_better_candidate_replaces_and_a_worse_one_does_not() -> None:
    better, worse = (worth(CONTEXT, QRELS, *two, by="P@3") for two in (("good", "bad"), ("bad", "good")))
    assert (better.verdict, better.as_judged, *better.may_be_best) == ("replace bad",) * 3
    assert (worse.verdict, worse.missing, worse.topics_needed) == ("keep", None, None)
    assert better.text.startswith("**Replace bad with good.** In the top 3, replacing bad with good (P@3 +")
    assert worse.text.startswith("**Keep good.** In the top 3, neither adding bad (P@3 −")
    assert "allowing for" not in better.text  # all is judged


def test_an_option_has_the_values_of_its_list() -> None:
    answer = decide(CONTEXT, QRELS, {"keep": ["bad"], "both": ["bad", "good"], "good": ["good"]}, by="P@3")
    table = answer.table.set_index("option")
    assert list(table["mean"][["keep", "good"]]) == pytest.approx([0.0, 1.0])
    assert table.loc["good", "won"] == 30 and table.loc["good", "lost"] == 0
    assert answer.verdict == "good"


def test_options_that_tie_are_joined() -> None:
    options = {"now": ["bad"], "one": ["one"], "two": ["two"]}
    answer = decide(CONTEXT, QRELS, options, by="P@2")
    assert answer.verdict == "one or two" and answer.may_be_best == ("one", "two")
    assert answer.missing == "topics"
    settled = decide(CONTEXT, QRELS, options | {"good": "good"}, by="P@2")
    assert settled.verdict == "good"


def test_a_copy_is_never_worth_it() -> None:
    copy = {q: {d: 7.0 * s for d, s in docs.items()} for q, docs in NOISY[0].items()}
    for deployed in ("one", ["one", "two"], ["one", "bad", "good"]):
        answer = worth(CONTEXT, QRELS, copy, deployed, by="nDCG@3")
        assert answer.verdict == answer.as_judged == "keep"
        assert not answer.table[["difference", "lower", "upper", "worst", "best"]].to_numpy().any()
        assert "ranks every topic exactly as one does" in answer.text


def test_near_duplicates_of_the_deployed_run_are_not_worth_it() -> None:
    rng = random.Random(7)
    docs = [f"d{i}" for i in range(60)]
    qrels = {q: {d: int(rng.random() < 0.25) for d in docs} for q in QUERIES}
    for _ in range(3):
        ranked = {q: sorted(docs, key=lambda d, q=q: -qrels[q][d] - 2 * rng.random()) for q in QUERIES}

        def run(change: Any, ranked: dict[str, list[str]] = ranked) -> Run:
            return {q: {d: -float(i) for i, d in enumerate(change(order))} for q, order in ranked.items()}

        changed = {
            "swapped": lambda order: [*order[:9], order[10], order[9], *order[11:]],
            "jittered": lambda order: sorted(order, key=lambda d: order.index(d) + rng.uniform(-2, 2)),
            "next page": lambda order: order[10:20],
            "last page": lambda order: order[50:],
            "shuffled": lambda order: rng.sample(order, len(order)),
        }
        context = RunContext({"old": run(list)}, grades=(0, 1))
        for name, change in changed.items():
            assert worth(context, qrels, run(change), "old", resamples=499).as_judged in ("keep", "open"), (
                name
            )


def test_a_margin_decides_between_keep_and_open() -> None:
    open_, kept = (worth(CONTEXT, QRELS, "one", "two", by="P@2", margin=m) for m in (0.0, 0.5))
    assert (open_.verdict, kept.verdict) == ("open", "keep")
    assert open_.missing == "topics"
    assert "of 0.5" in kept.text
    assert "Set margin=" in open_.text or "topics would settle" in open_.text


def test_unjudged_documents_make_it_open_and_are_named() -> None:
    hidden = {q: {d: g for d, g in docs.items() if d not in "XYZ"} for q, docs in QRELS.items()}
    answer = worth(CONTEXT, hidden, "good", "bad", by="P@2", n=5)
    assert answer.verdict == "open" and answer.as_judged != "open"
    assert answer.missing == "judgments" and len(answer.judge) == 5
    assert set(answer.judge["doc_id"]) <= {"X", "Y", "Z"}
    assert answer.stands is not None and 0 < answer.stands < 1  # four runs tell it
    assert "allowing for unjudged documents" in answer.text
    assert answer.text.count("allowing for") == 1


def test_the_documents_to_judge_are_those_of_each_open_option() -> None:
    """Not of the option that no judgment can save."""
    context = RunContext({"now": run_of("AX"), "worse": run_of("XY"), "new": run_of("AR")}, grades=(0, 1))
    labels = {q: {"A": 1, "X": 0, "Y": 0} for q in QUERIES}
    answer = decide(context, labels, {name: [name] for name in context.names}, by="P@2")
    assert (answer.verdict, answer.as_judged, answer.missing) == ("open", "now", "judgments")
    assert set(answer.judge["doc_id"]) == {"R"}


@pytest.mark.parametrize("deployed", [["bad", "one"], ["one", "bad"]])
def test_adding_is_compared_with_the_replacing_that_the_text_names(deployed: list[str]) -> None:
    answer = worth(CONTEXT, QRELS, "good", deployed, by="P@2")
    differences = answer.table.set_index("option")["difference"]
    assert answer.verdict == "replace bad"
    less = differences["add"] - differences["replace bad"]
    assert f"adding minus replacing: −{abs(less):.2f}," in answer.text


@pytest.mark.parametrize(
    "by", ["R@20", "alpha_nDCG@10", "StRecall@10", "nDCG@5", "AP", "RBP(rel=1)", "Rprec"]
)
def test_any_absolute_measure_can_decide_about_sets(by: str) -> None:
    if by.startswith("alpha"):
        pytest.importorskip("pyndeval")
    qrels: Any = with_aspects(QRELS) if by.startswith(("alpha", "StR")) else QRELS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        context = RunContext({"good": GOOD, "bad": BAD})
        answer = worth(context, qrels, "good", "bad", by=by, method="interleave", resamples=199)
    assert answer.as_judged in ("keep", "add", "replace bad", "add or replace", "open")
    assert (answer.verdict is None) == (by in ("alpha_nDCG@10", "StRecall@10", "Rprec"))
    assert (f"{by} has no bounds for unjudged documents" in answer.text) == (answer.verdict is None)
    ends = answer.table[["worst", "best", "lower", "upper", "settled"]].isna()
    assert ends.all(axis=None) == (answer.verdict is None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"by": "UniqueRel@10"}, "by='UniqueRel@10' depends on other runs"),
        ({"by": "nDCG_UE@10"}, "by='nDCG_UE@10' depends on other runs"),
        ({"by": "Judged@10"}, "Judged@10"),
        ({"by": "nonsense"}, "nonsense"),
        ({"method": "borda"}, "method='borda'"),
        ({"margin": -0.1}, "margin=-0.1"),
        ({"margin": "x"}, "margin='x' is not allowed"),
        ({"margin": 1.0}, "margin=1.0"),
        ({"k": 10, "method": "interleave"}, "k=10"),
        ({"candidate": "good", "deployed": ["good", "bad"]}, "deployed already"),
        ({"deployed": ["none"]}, "deployed="),
        ({"candidate": "none"}, "candidate='none'"),
        ({"groups": {"q0": "a"}, "by": "P@3"}, "groups="),
        ({"groups": 3}, "groups=3"),
        ({"rerank": "nowhere.run"}, "rerank='nowhere.run'.*its runs are .*'good'"),
        ({"rerank": "good", "method": "combsum"}, "method='combsum'.*rerank="),
        ({"rerank": "good", "k": 10}, "k=10.*rerank="),
        ({"pool": 5}, "pool=5.*rerank="),
        ({"qrels": {}}, "no judgment"),
        ({"qrels": {q: {"A": 0} for q in QUERIES}}, "no judgment has the grade 1"),
        ({"qrels": None}, "qrels"),
        ({"context": RunContext({"good": GOOD}), "deployed": None}, "no deployed run"),
        ({"context": GOOD}, "RunContext"),
    ],
)
def test_what_worth_rejects(arguments: dict[str, Any], message: str) -> None:
    given = {"context": CONTEXT, "qrels": QRELS, "candidate": "good", "deployed": "bad"} | arguments
    with pytest.raises((ValueError, OSError, TypeError), match=message):
        worth(**given)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": ["good"]}, "at least two options"),
        (["good", "bad"], "at least two options"),
        *(
            ({"keep": ["good"], "s": wrong}, r"options\['s'\]")
            for wrong in (
                *(None, 5, ["none"], [], ["good", "good"]),
                *({"good": 1}, dict.fromkeys(QUERIES, "good")),
            )
        ),
        ({"keep": ["good"], "x or y": ["bad"]}, "'x or y'"),
    ],
)
def test_options_that_are_rejected(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decide(CONTEXT, QRELS, options)
    with pytest.raises(ValueError, match="drop needs two deployed runs or more"):
        drop(CONTEXT, QRELS, "good", margin=0.1)


def test_markdown_shows_the_names_of_options_as_they_are() -> None:
    options = {"keep": ["good"], "**x** <b>|": ["bad"]}
    answer = decide(CONTEXT, QRELS, options, by="P@3", resamples=99)
    for text in (answer.to_markdown(), answer.to_markdown().split("\n\n")[0]):
        assert "<b>" not in text.replace(r"\<b\>", "") and "**x**" not in text
    better = decide(CONTEXT, QRELS, {"**b** <i>": ["bad"], "**x** <b>|": ["good"]}, by="P@3", resamples=99)
    assert better.to_markdown().startswith(r"**\*\*x\*\* \<b\>\|.**")
    assert "<b>**x** &lt;b&gt;|.</b>" in better._repr_html_()


def test_junit_of_drop_without_a_margin_is_skipped() -> None:
    for arguments in ({"by": "P@3"}, {"by": "Rprec", "depth": 5}):
        answer = drop(CONTEXT, QRELS, resamples=99, **arguments)  # type: ignore[arg-type]
        for as_judged in (False, True):
            case = ElementTree.fromstring(answer.to_junit(as_judged=as_judged))
            assert (case.attrib["skipped"], case.attrib["failures"]) == ("1", "0")


def test_a_decision_in_every_format() -> None:
    groups = {q: "even" if i % 2 else "odd" for i, q in enumerate(QUERIES)}
    answer = worth(CONTEXT, QRELS, "good", ["bad", "one"], by="P@3", groups=groups, resamples=199)
    read = json.loads(answer.to_json())
    assert read["verdict"] == answer.verdict and read["by"] == "P@3"
    assert read["candidate"] == "good" and read["deployed"] == ["bad", "one"]
    assert [row["option"] for row in read["table"]] == ["keep", "add", "replace bad", "replace one"]
    assert {"why", "groups"} <= set(read["evidence"])
    assert answer.to_markdown().startswith(answer.text) and "| option |" in answer.to_markdown()
    assert "<b>" in answer._repr_html_() and "<table" in answer._repr_html_()
    assert str(answer).startswith(answer.plain_text) and "**" not in answer.plain_text
    case = ElementTree.fromstring(answer.to_junit("good"))
    assert case.attrib["failures"] == "0"
    kept = worth(CONTEXT, QRELS, "bad", "good", by="P@3", resamples=199)
    assert ElementTree.fromstring(kept.to_junit()).attrib["failures"] == "1"
    with pytest.raises(TypeError, match="compare its verdict"):
        bool(kept)


def test_deployed_runs_take_turns_in_the_order_in_which_they_are_named() -> None:
    for deployed in (["two", "bad"], ["bad", "two"], ["t*", "bad"]):
        answer = worth(CONTEXT, QRELS, "good", deployed, by="P@2", method="interleave", resamples=99)
        expected = [name.replace("t*", "two") for name in deployed]
        assert answer.settings["deployed"] == expected
        assert answer.table["runs"][1] == ", ".join([*expected, "good"])


# ---- evidence


def test_groups_are_differences_on_their_topics() -> None:
    groups = {q: "even" if i % 2 else "odd" for i, q in enumerate(QUERIES)}
    options = {"keep": ["one"], "two": ["two"], "bad": ["bad"]}
    answer = decide(CONTEXT, QRELS, options, by="P@2", groups=groups)
    found = answer.evidence["groups"].set_index(["option", "group"])
    for group in ("even", "odd"):
        part = {q: docs for q, docs in QRELS.items() if groups[q] == group}
        alone = decide(CONTEXT, part, options, by="P@2").table.set_index("option")
        for option in ("two", "bad"):
            assert found.loc[(option, group), "difference"] == pytest.approx(alone.loc[option, "difference"])
            assert found.loc[(option, group), "ci_lower"] <= alone.loc[option, "difference"]
            assert found.loc[(option, group), "topics"] == 15
    assert not found.loc[("bad", "even"), "safe"]


def test_a_reranker_has_pools_and_ceilings() -> None:
    scores = {q: {d: float("ZYXFEDCBA".index(d)) for d in "ABCDEFXYZ"} for q in QUERIES}
    options = {"keep": ["bad"], "add": ["bad", "good"]}
    answer = decide(CONTEXT, QRELS, options, by="P@3", rerank=scores, pool=4)
    pools = answer.evidence["pools"].set_index("option")
    ends = ["never_retrieved", "outside_pool", "not_shown", "shown"]
    assert (pools[ends].sum(axis=1) == 90).all()
    assert (pools["mean"] <= pools["ceiling"] + 1e-12).all()
    assert answer.settings["method"] == "rerank"


def test_a_ceiling_is_cut_as_the_list_is() -> None:
    qrels = {q: {"A": 1, "B": 1, "C": 1, "D": 0} for q in QUERIES}
    runs = {name: run_of("ABCD", "BACD") for name in ("one", "two")}
    options, context = {"keep": ["one"], "two": ["two"]}, RunContext(runs, grades=(0, 1))
    answer = decide(context, qrels, options, by="AP", rerank=run_of("DCBA"), pool=4, resamples=99, depth=2)
    assert list(answer.evidence["pools"]["ceiling"]) == pytest.approx([2 / 3] * 2)


def test_the_new_words_of_the_evidence_for_a_candidate() -> None:
    answer = worth(CONTEXT, QRELS, "good", "bad", by="P@3")
    why = answer.evidence["why"].set_index("what")
    new, page = why.loc["new relevant@3", "mean"], why.loc["next page@3", "mean"]
    assert why.loc["new less next page@3", "mean"] == pytest.approx(new - page)
    assert new == 3.0
    own_page = {q: dict(list(docs.items())[3:]) for q, docs in BAD.items()}
    with pytest.warns(RelativeWarning, match="not at the same cost"):
        why = worth(CONTEXT, QRELS, own_page, "bad", by="P@3").evidence["why"].set_index("what")
    assert not why.loc["new less next page@3", ["mean", "lower", "upper"]].any()


def test_with_several_deployed_runs_others_stand_in_the_candidates_place() -> None:
    near = {
        q: {d: -float(i) for i, d in enumerate([*list(docs)[:3], *list(docs)[:2:-1]])}
        for q, docs in GOOD.items()
    }
    answer = worth(CONTEXT, QRELS, near, ["good", "bad"], by="P@3")
    none, copy = answer.evidence["instead"].to_dict("records")
    assert (none["instead"], copy["instead"]) == ("no run", "a second copy of good")
    assert none["option"] == copy["option"] == "replace bad"
    for row in (none, copy):  # to drop bad would do as much
        assert row["lead"] == row["ci_lower"] == row["ci_upper"] == 0.0
        assert row["gain"] == pytest.approx(answer.table["difference"].max())
    assert "All of the gain comes without candidate: with no run in its place" in answer.text.split("\n\n")[0]
    assert "instead" not in worth(CONTEXT, QRELS, near, "bad", by="P@3").evidence


# ---- drop


def test_drop_says_what_is_lost_without_each_run() -> None:
    answer = drop(CONTEXT, QRELS, ["good", "bad"], by="P@3", margin=0.1)
    table = answer.table.set_index("option")
    keep, without = table.loc["keep", "mean"], table.loc["drop good", "mean"]
    assert table.loc["drop good", "loss"] == pytest.approx(keep - without)
    assert list(table["verdict"]) == ["", "needed", "safe"]
    assert answer.verdict == "safe" and answer.may_be_best == ("keep", "drop bad")
    assert answer.text.startswith("**Safe to drop, one at a time: bad.**")
    both_open = drop(CONTEXT, QRELS, ["one", "two"], by="P@2", margin=0.1)
    assert "topics would settle one of these with" in both_open.text
    ends = table.loc["drop good"]
    assert ends["lower"] <= ends["ci_lower"] <= ends["loss"] <= ends["ci_upper"] <= ends["upper"]
    assert ends["worst"] <= ends["best"]


def test_what_drop_says_by_the_judgments_as_they_are() -> None:
    hidden = {q: {d: g for d, g in docs.items() if d not in "XYZ"} for q, docs in QRELS.items()}
    answer = drop(CONTEXT, hidden, ["one", "two"], by="P@2", margin=0.2, resamples=199)
    assert (answer.verdict, answer.as_judged, answer.missing) == ("open", "safe", "judgments")
    assert "By the judgments as they are the verdict is safe." in answer.text and answer.stands is None


def test_of_two_changes_that_may_help_the_headline_claims_neither() -> None:
    answer = worth(CONTEXT, QRELS, "two", ["bad", "one"], by="nDCG@3", resamples=199)
    assert answer.verdict == "add or replace" and answer.table["lower"][1] <= 0
    first = "**two helps: whether to add it or to replace bad with it is open.** In the top 3, one of these is a gain:"
    assert answer.text.startswith(first)


def test_a_loss_of_0_is_safe_at_a_margin_of_0() -> None:
    twice = RunContext({"a": GOOD, "b": GOOD}, grades=(0, 1))
    assert drop(twice, QRELS, by="P@3", margin=0.0, resamples=99).table["verdict"].tolist() == [
        "",
        "safe",
        "safe",
    ]


def test_drop_without_a_margin_grades_nothing() -> None:
    answer = drop(CONTEXT, QRELS, by="P@3")
    assert answer.verdict == "not graded" and "fewer" not in answer.evidence
    assert set(answer.table["verdict"][1:]) == {"not graded"}


@pytest.mark.parametrize("method", ["rrf", "interleave"])
def test_the_smallest_set_within_the_margin(method: str) -> None:
    answer = drop(CONTEXT, QRELS, by="P@3", margin=0.05, method=method, resamples=199)
    row = answer.evidence["fewer"].iloc[0]
    assert row["runs"] == "good" and row["number"] == 1
    assert row["ci_lower"] <= row["loss"] <= row["ci_upper"]
    half = RunContext({"a": run_of("AXYZ"), "b": run_of("BXYZ"), "bad": run_of("XYZA")}, grades=(0, 1))
    for margin, runs in ((0.1, "a, b"), (0.6, "a")):
        found = drop(half, QRELS, by="P@2", margin=margin, method="interleave", resamples=99).evidence[
            "fewer"
        ]
        assert found["runs"][0] == runs


def test_so_many_topics_are_said_where_they_help() -> None:
    rng = random.Random(1)
    docs = "ABCXYZ"
    runs = {
        name: {q: {d: -float(i) for i, d in enumerate(rng.sample(docs, 6))} for q in QUERIES}
        for name in ("a", "b")
    }
    better = {q: dict(ranking) for q, ranking in runs["a"].items()}
    for q in QUERIES[:4]:
        better[q] = {d: -float(i) for i, d in enumerate("ABCXYZ")}
    answer = worth(
        RunContext({"a": runs["a"], "better": better}, grades=(0, 1)), QRELS, "better", "a", by="P@3"
    )
    assert answer.verdict == "open" and answer.missing == "topics"
    needed = answer.topics_needed
    assert needed is not None and 30 < needed.fewest <= needed.needed <= needed.most
    assert "80 % power" in answer.text


@pytest.mark.parametrize("topics", [5, 7, 9, 20])
@pytest.mark.parametrize("gain", [0.5, 0.02])
def test_a_gain_that_is_the_same_on_every_topic_needs_so_many(topics: int, gain: float) -> None:
    docs = [f"d{i}" for i in range(50)]

    def answer(n: int) -> Any:
        queries = [f"q{i}" for i in range(n)]
        qrels = {q: {d: int(i < 50 * gain) for i, d in enumerate(docs)} for q in queries}
        qrels = {q: labels | {f"x{i}": 0 for i in range(50)} for q, labels in qrels.items()}
        old = {q: {f"x{i}": -float(i) for i in range(50)} for q in queries}
        new = {q: {d: -float(i) for i, d in enumerate(docs)} for q in queries}
        context = RunContext({"old": old, "new": new}, grades=(0, 1))
        return decide(context, qrels, {"keep": ["old"], "new": ["new"]}, by="P@50", resamples=99)

    found = answer(topics)
    if found.verdict != "open":
        assert (topics, gain) == (20, 0.5)
        return
    needed = found.topics_needed.needed
    assert f"{topics} topics are too few" in found.text and f"about {needed} would settle" in found.text
    assert answer(needed).verdict == "new" and answer(needed - 1).verdict == "open"


def test_options_of_one_size_are_rivals_once() -> None:
    assert [tuple(one) for one in _all_rivals([1, 2, 1])] == [(2, 1, False), (2, 3, False), (1, 3, True)]


def test_lists_of_unlike_length_are_no_same_cost() -> None:
    docs = [f"d{i:02d}" for i in range(20)]
    qrels = {q: {d: int(i % 3 == 0) for i, d in enumerate(docs)} for q in QUERIES}
    first, second = (
        {q: {d: -float(i) for i, d in enumerate(part)} for q in QUERIES} for part in (docs[:10], docs[10:])
    )
    context = RunContext({"first": first, "second": second}, grades=(0, 1))
    for by in ("R@20", "AP"):
        with pytest.warns(RelativeWarning, match="not at the same cost: first, second have.*cutoff of 10"):
            answer = worth(context, qrels, "second", "first", by=by, resamples=99)
        assert "The options are not at the same cost: first" in answer.text
    whole = {q: {d: -float(i) for i, d in enumerate(docs)} for q in QUERIES}
    beside = RunContext({"whole": whole, "second": second}, grades=(0, 1))
    with pytest.warns(RelativeWarning, match="not at the same cost: second has"):
        worth(beside, qrels, "second", "whole", by="R@20", resamples=99)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for arguments in ({"by": "R@10"}, {"by": "AP", "depth": 10}):
            text = worth(context, qrels, "second", "first", resamples=99, **arguments).text  # type: ignore[arg-type]
            assert "same cost" not in text


def test_a_difference_of_rounding_is_equal() -> None:
    qrels = {f"q{i}": {"A": 1, "B": 0, "C": 0} for i in range(3)}
    places = ((1, 3), (2, 1), (3, 2))

    def at(place: int) -> dict[str, float]:
        others = ["B", "C"]
        others.insert(place - 1, "A")
        return {d: -float(i) for i, d in enumerate(others)}

    old, new = ({q: at(two[side]) for q, two in zip(qrels, places, strict=True)} for side in (0, 1))
    context = RunContext({"old": old, "new": new}, grades=(0, 1))
    row = decide(context, qrels, {"old": ["old"], "new": ["new"]}, by="RR", resamples=99).table.iloc[1]
    assert row["settled"] == "equal" and abs(row["difference"]) < 1e-11


def test_the_words_for_two_options_and_one_topic() -> None:
    answer = decide(CONTEXT, QRELS, {"keep": ["bad"], "new": ["good"]}, by="P@3", resamples=99)
    assert "none of the others" not in answer.text and "over bad:" in answer.text
    kept = decide(CONTEXT, QRELS, {"keep": ["good"], "new": ["bad"]}, by="P@3", resamples=99)
    assert kept.text.startswith("**Keep good.**")
    unjudged = {q: {f"u{i}": -float(i) for i in range(5)} for q in QUERIES}
    context = RunContext({"good": GOOD, "new": unjudged}, grades=(0, 1))
    new = decide(context, {"q0": QRELS["q0"]}, {"keep": ["good"], "new": ["new"]}, by="P@3", resamples=99)
    assert "up to 100 % of a list" in new.text
    one = decide(CONTEXT, {"q0": QRELS["q0"]}, {"keep": ["bad"], "new": ["good"]}, by="P@3", resamples=99)
    assert "new wins 1 topic and loses 0" in one.text
