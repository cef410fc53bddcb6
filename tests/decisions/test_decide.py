"""decide, worth and drop: verdicts, labels, refusals, evidence and output, on small collections with a known answer."""

import itertools
import json
import random
import warnings
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from aspect_campaigns import with_aspects
from ir_measures_relative import RelativeWarning, RunContext, decide, drop, worth
from ir_measures_relative.context.collection import judged_collection
from ir_measures_relative.decisions import Combination, RegretTest
from ir_measures_relative.decisions.answer import junit_report
from ir_measures_relative.decisions.options import Option, OptionLists, check_deciding_measure
from ir_measures_relative.decisions.values import OptionValues
from oracles.option_lists import combined

Run = dict[str, dict[str, float]]
QUERIES = [f"q{i}" for i in range(30)]
QRELS = {q: {d: int(d in "ABC") for d in "ABCDEFXYZ"} for q in QUERIES}
TURNS = Combination("interleave")


def run_of(*rankings: str) -> Run:
    """A run that ranks the topics in turn by one of these."""
    return {
        q: {d: -float(i) for i, d in enumerate(rankings[t % len(rankings)])} for t, q in enumerate(QUERIES)
    }


GOOD, BAD = run_of("ABCXY", "BACYX"), run_of("XYZDA", "YXDZB", "XYDCZ")
NOISY = [run_of("ABXYC", "XYABC", "AXYBC"), run_of("XYABC", "ABXYC", "XAYBC")]
CONTEXT = RunContext({"good": GOOD, "bad": BAD, "one": NOISY[0], "two": NOISY[1]}, grades=(0, 1))


def larger(
    n_topics: int = 40, judged: float = 0.9, seed: int = 3
) -> tuple[dict[str, Run], dict[str, dict[str, int]]]:
    """Five runs of unlike quality on topics with fifty documents, of which some are judged."""
    rng = random.Random(seed)
    docs = [f"d{i}" for i in range(50)]
    truth = {f"q{t}": {d: int(rng.random() < 0.25) for d in docs} for t in range(n_topics)}
    noise = {"weak": 3.0, "fair": 1.5, "other": 1.5, "strong": 0.6, "best": 0.4}
    runs = {
        name: {q: {d: truth[q][d] + rng.gauss(0, sd) for d in docs} for q in truth}
        for name, sd in noise.items()
    }
    return runs, {q: {d: g for d, g in of.items() if rng.random() < judged} for q, of in truth.items()}


def test_a_much_better_candidate_replaces_and_a_worse_one_does_not() -> None:
    better, worse = (worth(CONTEXT, QRELS, *two, by="P@3") for two in (("good", "bad"), ("bad", "good")))
    assert {better.verdict, better.as_judged, better.choice, better.strict} == {"replace bad"}
    assert {worse.verdict, worse.as_judged, worse.choice, worse.strict} == {"keep"}
    assert better != worse and len({better, worse}) == 2  # as objects, whose tables are not compared
    new = worth(RunContext({"candidate": BAD}, grades=(0, 1)), QRELS, GOOD, "candidate", by="P@3")
    assert new.options["replace candidate"] == ("candidate (candidate)",)
    assert (better.labels, better.as_well, better.topics_needed) == ("judged", None, None)
    assert better.text.startswith("**Replace bad with good.** It gains at least 0.")
    assert worse.text.startswith(
        "**Keep good.** Neither adding bad nor replacing good with it gains more than your"
    )
    assert "njudged documents" not in better.answer  # all is judged
    assert better.options == {"keep": ("bad",), "add": ("bad", "good"), "replace bad": ("good",)}


def test_beside_several_the_candidate_may_replace_all_and_removing_a_run_is_looked_at() -> None:
    answer = worth(CONTEXT, QRELS, "good", ["bad", "one"], by="P@3")
    assert (answer.verdict, answer.options["replace all"]) == ("replace all", ("good",))
    assert answer.as_well == () and "Removing one run alone would not do as well." in answer.reason
    kept = worth(CONTEXT, QRELS, "bad", ["good", "one"], by="P@3")
    assert kept.choice == "keep" and kept.as_well == ("one",)
    assert "Removing one alone" in kept.plain_text
    values = worth(CONTEXT, QRELS, "two", ["good", "bad"], by="P@3", combine=TURNS)
    alone = decide(
        CONTEXT,
        QRELS,
        {"choice": values.options[values.choice], "without": ["good"]},
        by="P@3",
        combine=TURNS,
    )
    assert ("bad" in values.as_well) == (alone.table["regret"][1] <= 0.02)


def test_an_option_has_the_values_of_its_list() -> None:
    answer = decide(CONTEXT, QRELS, {"keep": ["bad"], "both": ["bad", "good"], "good": ["good"]}, by="P@3")
    table = answer.table.set_index("option")
    assert list(table["mean"][["keep", "good"]]) == pytest.approx([0.0, 1.0])
    assert table.loc["good", "won"] == 30 and table.loc["good", "lost"] == 0
    assert answer.verdict == "good" and answer.headline == "Choose good."
    rows = answer.topics[answer.topics["option"] == "good"]
    assert rows["query_id"].tolist() == QUERIES and set(rows["difference"]) == {1.0}


@pytest.mark.parametrize(("name", "headline"), [("keep", "Keep."), ("now", "Keep now.")])
def test_the_option_in_use_is_kept_by_its_name(name: str, headline: str) -> None:
    assert decide(CONTEXT, QRELS, {name: "good", "bad": "bad"}, by="P@3").headline == headline


def test_there_is_always_a_choice() -> None:
    options = {"now": ["bad"], "one": ["one"], "two": ["two"]}
    answer = decide(CONTEXT, QRELS, options, by="P@2")
    regret = answer.table.set_index("option")["regret"]
    assert answer.verdict == "open" and answer.choice == regret.idxmin() == "one"
    assert answer.headline == "Open. If you must choose now, choose one:"
    settled = decide(CONTEXT, QRELS, options | {"good": "good"}, by="P@2")
    assert settled.verdict == settled.choice == "good"
    few = {q: QRELS[q] for q in QUERIES[:4]}
    early = decide(CONTEXT, few, options, by="P@2")
    assert (early.verdict, early.choice) == (
        "open",
        "now",
    ) and "with 4 topics, nothing can be bounded" in early.reason
    assert early.table["regret"].isna().all()


def test_equal_options_have_equal_tables_whichever_verb_asks() -> None:
    runs, qrels = larger()
    context = RunContext(runs, grades=(0, 1))
    of_worth = worth(context, qrels, "strong", ["fair", "other"])
    of_decide = decide(context, qrels, of_worth.options)
    columns = ["option", "runs", "mean", "difference", "lower", "regret", "judged", "won", "lost", "unjudged"]
    assert of_worth.labels == "imputed" and of_decide.verdict == of_worth.verdict
    # The lists without a run are scored beside those of worth, and their documents are imputed with the others.
    assert of_decide.table[columns[:2]].equals(of_worth.table[columns[:2]])
    for labels in ("judged", "strict"):
        pair = [worth(context, qrels, "strong", "fair", labels=labels)]
        pair.append(decide(context, qrels, pair[0].options, labels=labels))
        assert pair[0].table[columns].equals(pair[1].table[columns])
    dropped = drop(context, qrels, ["fair", "other", "strong"], labels="judged").table.set_index("option")
    options = {"keep": ["fair", "other", "strong"], "drop fair": ["other", "strong"]}
    same = decide(context, qrels, options, labels="judged").table.set_index("option")
    assert dropped.loc["drop fair", "difference"] == pytest.approx(same.loc["drop fair", "difference"])


def test_a_copy_is_never_worth_it_beside_its_twin_and_a_second_vote_beside_several() -> None:
    copy = {q: {d: 7.0 * s for d, s in docs.items()} for q, docs in NOISY[0].items()}
    answer = worth(CONTEXT, QRELS, copy, "one", by="nDCG@3")
    assert answer.verdict == answer.as_judged == answer.strict == "keep"
    assert not answer.table[["difference", "lower", "regret"]].to_numpy().any()
    assert answer.reason.startswith("candidate ranks every topic exactly as one does.")
    for deployed in (["one", "two"], ["one", "bad", "good"]):
        answer = worth(CONTEXT, QRELS, copy, deployed, by="nDCG@3")
        assert "it is a second vote for one" in answer.plain_text
        lost = answer.table.set_index("option")["regret"][answer.choice]
        assert answer.verdict == "open" or lost <= 0.02


def test_a_margin_decides_between_keep_and_open() -> None:
    open_, kept = (worth(CONTEXT, QRELS, "one", "two", by="P@2", margin=m) for m in (0.0, 0.5))
    assert (open_.verdict, kept.verdict) == ("open", "keep")
    assert "margin of 0.5" in kept.text and "margin" not in open_.text
    default = worth(CONTEXT, QRELS, "one", "two", by="P@2")
    assert default.settings["margin"] == 0.02
    assert default.table.equals(open_.table)


def test_unjudged_documents_are_imputed_where_there_is_a_model() -> None:
    runs, qrels = larger(judged=0.7)
    context = RunContext(runs, grades=(0, 1))
    asked = context, qrels, "strong", "fair"
    answer = worth(*asked)
    assert answer.labels == "imputed" and worth(*asked, labels="imputed").table.equals(answer.table)
    assert not worth(*asked, test=RegretTest(seed=1)).table.equals(answer.table)
    judged, strict = (worth(*asked, labels=labels) for labels in ("judged", "strict"))
    assert (judged.labels, strict.labels) == ("judged", "strict")
    assert judged.verdict == answer.as_judged and strict.verdict == answer.strict == judged.strict
    assert judged.headline.startswith("If unjudged documents count as not relevant, ")
    # Unjudged documents may be relevant: the mean is above that as judged, and nothing is surer than it.
    table = answer.table
    assert (table["mean"] > table["judged"]).all() and (table["judged"] == judged.table["mean"]).all()
    assert (strict.table["regret"] >= table["regret"] - 1e-9).all()
    assert (strict.table["lower"] <= table["lower"] + 1e-9).all()
    # Equal options have equal numbers, whatever their order is and that of their runs.
    options = {"a": ["weak", "fair"], "b": ["other", "strong"], "c": ["best", "weak"]}
    turned = {name: runs[::-1] for name, runs in reversed(options.items())}
    first, other = (decide(RunContext(runs), qrels, of).table.set_index("option") for of in (options, turned))
    same = ["mean", "regret", "judged", "unjudged"]
    assert first[same].equals(other.loc[first.index, same])
    truth = larger(judged=1.0)[1]
    whole = worth(context, truth, "strong", "fair").table
    assert np.abs(whole["difference"] - table["difference"]).max() < 0.05


def test_unjudged_documents_of_other_runs_are_told_from_those_of_the_lists() -> None:
    """They could raise the ideal rankings."""
    rankings = {"now": "ABC", "new": "BAC", "third": "XYZ"}
    runs: dict[str, Run] = {
        name: {f"q{i}": {doc: -rank for rank, doc in enumerate(docs)} for i in range(6)}
        for name, docs in rankings.items()
    }
    qrels = {f"q{i}": {"A": 1, "B": i % 2, "C": 0} for i in range(6)}
    options = {"now": "now", "new": "new"}
    answer = decide(RunContext(runs, grades=(0, 1)), qrels, options, "nDCG@3")
    assert answer.notes[0].endswith("all lists are fully judged, but not the top of every run.")
    del runs["third"]
    answer = decide(RunContext(runs, grades=(0, 1)), qrels, options, "nDCG@3")
    assert answer.notes[0].endswith("all lists are fully judged.")


def test_without_a_model_the_verdict_is_strict_or_none() -> None:
    runs, qrels = larger(judged=0.6)
    two = RunContext({name: runs[name] for name in ("fair", "other")}, grades=(0, 1))
    answer = worth(two, qrels, "other", "fair")
    assert answer.verdict is None and answer.strict == "open" and answer.outcome == "open"
    assert answer.choice in answer.options and answer.labels == "judged"
    assert answer.headline.startswith("If unjudged documents count as not relevant, ")
    assert "A relevance model needs 2 further runs of the collection, so what" in answer.reason
    assert worth(two, qrels, "other", "fair", labels="judged").verdict == answer.as_judged
    with pytest.raises(
        ValueError, match="labels='imputed': A relevance model needs 2 further runs of the collection; "
    ):
        worth(two, qrels, "other", "fair", labels="imputed")
    far = RunContext({name: runs[name] for name in ("weak", "best")}, grades=(0, 1))
    settled = worth(far, larger(judged=0.97)[1], "best", "weak", test=RegretTest(unretrieved_relevant=0))
    assert (settled.verdict, settled.labels) == ("replace weak", "strict")
    assert "allowing for unjudged documents" in settled.reason or "gains at least" in settled.reason
    positive = {q: {d: g for d, g in of.items() if g} for q, of in qrels.items()}
    listed = worth(RunContext(runs, grades=(0, 1)), positive, "strong", "fair")
    assert "The judgments list relevant documents only, so what unjudged documents" in listed.reason
    some = {q: {d: g for i, (d, g) in enumerate(of.items()) if g or i == 0} for q, of in qrels.items()}
    listed = worth(RunContext(runs, grades=(0, 1)), some, "strong", "fair")
    assert "The judgments list hardly any documents that are not relevant, so what" in listed.reason
    gains = worth(
        RunContext(runs, grades=(0, 1)), qrels, "strong", "fair", "nDCG(gains={0:1,1:2})@9", margin=0.1
    )
    assert "No relevance model imputes judgments for the gains of nDCG(" in gains.reason
    tops = {
        q: {d for run in runs.values() for d in sorted(run[q], key=run[q].__getitem__)[-10:]} for q in qrels
    }
    below = {q: {d: g for d, g in of.items() if g or d not in tops[q]} for q, of in qrels.items()}
    listed = worth(RunContext(runs, grades=(0, 1)), below, "strong", "fair")
    assert "The judgments list relevant documents only, so what" in listed.reason


def test_by_strict_labels_removals_are_at_their_extremes_too() -> None:
    runs, qrels = larger(judged=0.9)
    context = RunContext(runs, grades=(0, 1))
    given = context, qrels, "weak", ["strong", "best", "fair"]
    judged, strict = (worth(*given, labels=labels) for labels in ("judged", "strict"))
    assert judged.choice == strict.choice == "keep"
    assert (judged.as_well, strict.as_well) == (("fair",), ())


def test_the_model_learns_from_runs_that_are_not_deployed() -> None:
    runs, qrels = larger(judged=0.8)
    two = {name: runs[name] for name in ("fair", "strong")}
    assert worth(RunContext(two, grades=(0, 1)), qrels, "strong", "fair").labels != "imputed"
    assert worth(RunContext(runs, grades=(0, 1)), qrels, "strong", ["fair"]).labels == "imputed"


@pytest.mark.parametrize("by", ["nDCG@3", "P@3", "RR@3", "AP@3"])
def test_the_extremes_are_those_of_all_judgments(by: str) -> None:
    rng, docs = random.Random(4), "abcdefg"
    for _ in range(2):
        queries = [f"q{i}" for i in range(4)]
        runs = {
            name: {q: {d: -float(i) for i, d in enumerate(rng.sample(docs, 5))} for q in queries}
            for name in ("old", "new")
        }
        qrels = {q: {d: rng.choice([0, 1]) for d in rng.sample(docs, 5)} for q in queries}
        options = {"keep": ["old"], "add": ["old", "new"], "replace": ["new"]}
        collection = judged_collection(RunContext(runs, grades=(0, 1)), qrels)
        measure = check_deciding_measure(by)
        lists = OptionLists(collection, [Option(n, tuple(of)) for n, of in options.items()], TURNS, 3)
        most = OptionValues(collection, lists.rankings(), measure, 0).largest_differences(3)
        shown = {
            name: {
                q: {d: -float(i) for i, d in enumerate(combined(of, runs, q, "interleave", 60, 1000, 3))}
                for q in queries
            }
            for name, of in options.items()
        }
        for t, q in enumerate(queries):
            free = sorted({d for one in shown.values() for d in one[q]} - set(qrels[q]))
            differences = []
            for labels in itertools.product([0, 1], repeat=len(free)):
                labeled = {q: qrels[q] | dict(zip(free, labels, strict=True))}
                only = RunContext({n: {q: one[q]} for n, one in shown.items()}, grades=(0, 1))
                values = only.evaluate(labeled, [by], perquery=True)["value"].to_numpy()
                differences.append(values[:, None] - values)
            assert most[:, :, t] == pytest.approx(np.max(differences, axis=0), abs=1e-9)


def test_documents_that_could_change_the_verdict_are_named() -> None:
    hidden = {q: {d: g for d, g in docs.items() if d not in "XYZ"} for q, docs in QRELS.items()}
    two = RunContext({"good": GOOD, "bad": BAD}, grades=(0, 1))
    answer = worth(two, hidden, "good", "bad", by="P@2")
    assert answer.strict == "open" and not answer.judge.duplicated().any()
    asked = {pair for q, docs in QRELS.items() for pair in ((q, d) for d in docs if d in "XYZ")}
    in_tops = {
        (q, d) for run in (GOOD, BAD) for q, docs in run.items() for d in sorted(docs, key=docs.get)[-2:]
    }
    assert set(answer.judge.itertuples(index=False, name=None)) == asked & in_tops
    assert worth(two, QRELS, "good", "bad", by="P@2").judge.empty


@pytest.mark.parametrize(
    "by", ["R@20", "alpha_nDCG@10", "StRecall@10", "nDCG@5", "AP", "RBP(rel=1)", "Rprec"]
)
def test_any_absolute_measure_can_decide_about_sets(by: str) -> None:
    if by.startswith(("alpha", "StR")):
        pytest.importorskip("pyndeval")
    qrels: Any = with_aspects(QRELS) if by.startswith(("alpha", "StR")) else QRELS
    with warnings.catch_warnings(action="ignore"):
        context = RunContext({"good": GOOD, "bad": BAD})
        answer = worth(context, qrels, "good", "bad", by=by, combine=TURNS)
    assert answer.verdict in answer.options or answer.verdict == "open"
    assert (answer.strict is None) == (by in ("alpha_nDCG@10", "StRecall@10", "Rprec"))


def test_a_measure_without_strict_bounds_says_so() -> None:
    runs, qrels = larger(n_topics=12, judged=0.8)
    answer = worth(
        RunContext(runs, grades=(0, 1)), qrels, "strong", "fair", by="Rprec", test=RegretTest(samples=20)
    )
    assert answer.strict is None and answer.labels == "imputed" and answer.judge.empty
    assert "The extremes over unjudged documents are not known: Rprec has no strict bounds." in answer.notes
    with pytest.raises(ValueError, match="labels='strict': Rprec has no strict bounds; set labels='judged'"):
        worth(RunContext(runs, grades=(0, 1)), qrels, "strong", "fair", by="Rprec", labels="strict")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"by": "UniqueRel@10"}, "by='UniqueRel@10' depends on other runs"),
        ({"by": "Judged@10"}, "Judged@10"),
        ({"by": "nonsense"}, "nonsense"),
        ({"by": "NumRet(rel=1)"}, "does not lie between 0 and 1; set margin="),
        ({"margin": -0.1}, "margin=-0.1"),
        ({"margin": float("nan")}, "margin=nan"),
        ({"margin": "x"}, "margin='x' is not allowed"),
        ({"margin": 1.0}, "margin=1.0"),
        ({"labels": "guessed"}, "labels='guessed'.*'imputed', 'judged', 'strict'"),
        ({"test": {"samples": 1}}, "samples=1 .*at least 20"),
        ({"test": {"seed": -1}}, "seed=-1"),
        ({"test": {"confidence": 1.0}}, "confidence=1.0"),
        ({"test": {"unretrieved_relevant": -1}}, "unretrieved_relevant=-1"),
        ({"test": "t"}, "test='t' is not a RegretTest"),
        ({"combine": "rrf"}, "combine='rrf' is not a Combination"),
        ({"combine": {"method": "borda"}}, "method='borda'"),
        ({"combine": {"k": 10, "method": "interleave"}}, "k=10"),
        ({"combine": {"rerank": "nowhere.run"}}, "rerank='nowhere.run'.*its runs are .*'good'"),
        ({"combine": {"rerank": "good", "method": "combsum"}}, "method='combsum'.*rerank="),
        ({"combine": {"pool": 5}}, "pool=5.*rerank="),
        ({"candidate": "good", "deployed": ["good", "bad"]}, "deployed already"),
        ({"deployed": ["none"]}, "deployed="),
        ({"candidate": "none"}, "candidate='none'"),
        ({"groups": {"q0": "a"}, "by": "P@3"}, "groups="),
        ({"groups": 3}, "groups=3"),
        ({"qrels": {}}, "no judgment"),
        ({"qrels": {q: {"A": 0} for q in QUERIES}}, "no judgment has the grade 1 .*; give other qrels$"),
        ({"by": 7}, "by=7 is not a measure; set one such as"),
        ({"deployed": 7}, "deployed=7 must be a name or glob"),
        ({"test": {"unretrieved_relevant": 10**9}, "labels": "imputed"}, "No relevance model imputes"),
        (
            {"test": {"unretrieved_relevant": 10**9}, "labels": "strict"},
            "is too many for 30 topics; give fewer",
        ),
        ({"by": "P(rel=2)@3"}, "no judgment has the grade 2 .*; give other qrels, or a lower rel="),
        ({"qrels": None}, "qrels"),
        ({"context": RunContext({"good": GOOD}), "deployed": None}, "no deployed run"),
        ({"context": GOOD}, "RunContext"),
    ],
)
def test_what_worth_rejects(arguments: dict[str, Any], message: str) -> None:
    given = {"context": CONTEXT, "qrels": QRELS, "candidate": "good", "deployed": "bad"} | arguments
    with pytest.raises((ValueError, OSError, TypeError), match=message):
        for name, kind in (("combine", Combination), ("test", RegretTest)):
            if isinstance(given.get(name), dict):
                given[name] = kind(**given[name])
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
        ({"keep": ["good"], "open": ["bad"]}, "'open'"),
        ({"a": ["good", "bad"], "b": ["bad", "good"]}, "options 'a' and 'b' hold the same runs"),
    ],
)
def test_options_that_are_rejected(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decide(CONTEXT, QRELS, options)
    with pytest.raises(ValueError, match="drop needs two deployed runs or more"):
        drop(CONTEXT, QRELS, "good", margin=0.1)


def test_the_order_of_turns_makes_another_option() -> None:
    answer = decide(CONTEXT, QRELS, {"a": ["good", "bad"], "b": ["bad", "good"]}, by="P@1", combine=TURNS)
    assert answer.verdict == "a"


def test_markdown_shows_the_names_of_options_as_they_are() -> None:
    options = {"keep": ["good"], "**x** <b>|": ["bad"]}
    answer = decide(CONTEXT, QRELS, options, by="P@3")
    for text in (answer.to_markdown(), answer.to_markdown().split("\n\n")[0]):
        assert "<b>" not in text.replace(r"\<b\>", "") and "**x**" not in text
    better = decide(CONTEXT, QRELS, {"**b** <i>": ["bad"], "**x** <b>|": ["good"]}, by="P@3")
    assert better.to_markdown().startswith(r"**Choose \*\*x\*\* \<b\>\|.**")
    assert "<b>Choose **x** &lt;b&gt;|.</b>" in better._repr_html_()


def test_a_decision_in_every_format() -> None:
    groups = {q: "even" if i % 2 else "odd" for i, q in enumerate(QUERIES)}
    answer = worth(CONTEXT, QRELS, "good", ["bad", "one"], by="P@3", groups=groups)
    read = json.loads(answer.to_json())
    assert read["verdict"] == answer.verdict and read["by"] == "P@3"
    assert read["candidate"] == "good" and read["deployed"] == ["bad", "one"]
    names = ["keep", "add", "replace bad", "replace one", "replace all"]
    assert [row["option"] for row in read["table"]] == names == list(read["options"])
    assert {"new", "groups"} <= set(read["evidence"])
    assert answer.to_markdown().startswith(answer.text.split("\n")[0])
    assert "| option |" in answer.to_markdown()
    assert "<b>" in answer._repr_html_() and "<table" in answer._repr_html_()
    assert str(answer).startswith(answer.answer) and "**" not in answer.plain_text
    assert str(answer).index("option ") < str(answer).index("New documents")
    case = ElementTree.fromstring(junit_report({"good": answer}))
    assert case.attrib["failures"] == "0"
    kept = worth(CONTEXT, QRELS, "bad", "good", by="P@3")
    assert ElementTree.fromstring(junit_report({"decision": kept})).attrib["failures"] == "1"
    with pytest.raises(TypeError, match="compare its verdict"):
        bool(kept)


def test_deployed_runs_take_turns_in_the_order_in_which_they_are_named() -> None:
    for deployed in (["two", "bad"], ["bad", "two"], ["t*", "bad"]):
        answer = worth(CONTEXT, QRELS, "good", deployed, by="P@2", combine=TURNS)
        expected = [name.replace("t*", "two") for name in deployed]
        assert answer.settings["deployed"] == expected
        assert answer.options["add"] == (*expected, "good")


def test_of_many_deployed_runs_those_are_replaced_that_share_most_with_the_candidate() -> None:
    runs, qrels = larger(n_topics=6)
    rng = random.Random(1)
    near = {
        f"near {i}": {q: {d: s + rng.gauss(0, 0.05) for d, s in of.items()} for q, of in runs["best"].items()}
        for i in range(19)
    }
    context = RunContext({**near, **runs}, grades=(0, 1))
    deployed = [*near, "weak", "fair", "strong"]
    answer = worth(context, qrels, "best", deployed, labels="judged")
    replaced = [name.removeprefix("replace ") for name in answer.options if name.startswith("replace ")][:-1]
    assert replaced == [*near, "strong"]
    assert set(answer.as_well or ()) <= set(replaced)


def test_groups_are_differences_on_their_topics() -> None:
    groups = {q: "even" if i % 2 else "odd" for i, q in enumerate(QUERIES)}
    options = {"keep": ["one"], "two": ["two"], "bad": ["bad"]}
    answer = decide(CONTEXT, QRELS, options, by="P@2", groups=groups)
    found = answer.evidence["groups"].set_index(["option", "group"])
    for group in ("even", "odd"):
        part = {q: docs for q, docs in QRELS.items() if groups[q] == group}
        alone = decide(CONTEXT, part, options, by="P@2").table.set_index("option")
        for option in ("two", "bad"):
            row = found.loc[(option, group)]
            assert row["difference"] == pytest.approx(alone.loc[option, "difference"])
            assert row["lower"] <= alone.loc[option, "lower"] + 1e-9 and row["topics"] == 15
            assert row["loses"] == (row["upper"] < 0) and row["safe"] == (row["lower"] >= -0.02)
    assert found.loc[("bad", "even"), "loses"]
    runs, some = larger(judged=0.7)
    halves = {q: "even" if i % 2 else "odd" for i, q in enumerate(some)}
    imputed = decide(RunContext(runs, grades=(0, 1)), some, {"now": "weak", "best": "best"}, groups=halves)
    assert imputed.labels == "imputed"
    assert (imputed.evidence["groups"]["lower"] < imputed.evidence["groups"]["difference"]).all()
    better = decide(CONTEXT, QRELS, {"keep": ["bad"], "good": ["good"]}, by="P@3", groups=groups)
    assert "Good loses no more than 0.02 in any group of topics." in better.notes
    thirds = {q: "b" if i % 3 else "a" for i, q in enumerate(QUERIES)}
    mixed = {q: GOOD[q] if thirds[q] == "b" else BAD[q] for q in QUERIES}
    turned = {q: BAD[q] if thirds[q] == "b" else GOOD[q] for q in QUERIES}
    context = RunContext({"mixed": mixed, "turned": turned}, grades=(0, 1))
    loses = decide(context, QRELS, {"keep": ["turned"], "mixed": ["mixed"]}, by="P@3", groups=thirds)
    assert "Mixed loses in these groups of topics: a." in loses.notes


def test_a_reranker_has_pools_and_ceilings() -> None:
    scores = {q: {d: float("ZYXFEDCBA".index(d)) for d in "ABCDEFXYZ"} for q in QUERIES}
    options = {"keep": ["bad"], "add": ["bad", "good"]}
    answer = decide(CONTEXT, QRELS, options, by="P@3", combine=Combination(rerank=scores, pool=4))
    pools = answer.evidence["pools"].set_index("option")
    ends = ["never_retrieved", "outside_pool", "not_shown", "shown"]
    assert (pools[ends].sum(axis=1) == 90).all()
    assert (pools["mean"] <= pools["ceiling"] + 1e-12).all()
    assert answer.settings["method"] == "rerank"


def test_a_ceiling_is_cut_as_the_list_is() -> None:
    qrels = {q: {"A": 1, "B": 1, "C": 1, "D": 0} for q in QUERIES}
    runs = {name: run_of("ABCD", "BACD") for name in ("one", "two")}
    options, context = {"keep": ["one"], "two": ["two"]}, RunContext(runs, grades=(0, 1))
    combine = Combination(rerank=run_of("DCBA"), pool=4, depth=2)
    answer = decide(context, qrels, options, by="AP", combine=combine)
    assert list(answer.evidence["pools"]["ceiling"]) == pytest.approx([2 / 3] * 2)
    better = Combination(rerank=run_of("ABCD"), pool=4, depth=2)  # whose lists are not those of the first
    means = [decide(context, qrels, options, by="AP", combine=c).table["mean"][0] for c in (combine, better)]
    assert means == pytest.approx([1 / 6, 2 / 3])


def test_new_documents_are_counted_and_decide_nothing() -> None:
    answer = worth(CONTEXT, QRELS, "good", "bad", by="P@3")
    new = answer.evidence["new"].set_index("what")["mean"]
    assert new["new relevant@3"] == 3.0
    assert "New documents: the top 3 of good has 3.00 relevant ones per topic" in answer.notes[0]
    own_page = {q: dict(list(docs.items())[3:]) for q, docs in BAD.items()}
    with pytest.warns(RelativeWarning, match="not at the same cost"):
        new = worth(CONTEXT, QRELS, own_page, "bad", by="P@3").evidence["new"]["mean"]
    assert new[0] == new[1]
    free = RunContext(CONTEXT.runs)
    with pytest.warns(RelativeWarning, match="look at no aspects"):
        aspects = worth(free, with_aspects(QRELS), "good", "bad", by="P@3").evidence["new"]
    assert aspects["what"].iloc[-1].startswith("NewAspects")


def test_lists_of_unlike_length_are_no_same_cost() -> None:
    docs = [f"d{i:02d}" for i in range(20)]
    qrels = {q: {d: int(i % 3 == 0) for i, d in enumerate(docs)} for q in QUERIES}
    first, second = (
        {q: {d: -float(i) for i, d in enumerate(part)} for q in QUERIES} for part in (docs[:10], docs[10:])
    )
    context = RunContext({"first": first, "second": second}, grades=(0, 1))
    for by in ("R@20", "AP"):
        with pytest.warns(RelativeWarning, match="not at the same cost: first, second have.*cutoff of 10"):
            answer = worth(context, qrels, "second", "first", by=by)
        assert "The options are not at the same cost: first" in answer.text
    whole = {q: {d: -float(i) for i, d in enumerate(docs)} for q in QUERIES}
    half = {q: (whole if i % 2 else first)[q] for i, q in enumerate(QUERIES)}
    beside = RunContext({"whole": whole, "half": half, "second": second}, grades=(0, 1))
    with pytest.warns(RelativeWarning, match="not at the same cost: second has"):
        worth(beside, qrels, "second", ["whole", "half"], by="R@20")
    with warnings.catch_warnings(action="error"):
        for arguments in ({"by": "R@10"}, {"by": "AP", "combine": Combination(depth=10)}):
            text = worth(context, qrels, "second", "first", **arguments).text  # type: ignore[arg-type]
            assert "same cost" not in text


def test_the_words_on_topics_and_unjudged_documents() -> None:
    unjudged = {q: {f"u{i}": -float(i) for i in range(5)} for q in QUERIES}
    context = RunContext({"good": GOOD, "new": unjudged}, grades=(0, 1))
    new = decide(context, {"q0": QRELS["q0"]}, {"keep": ["good"], "new": ["new"]}, by="P@3")
    assert "up to 100 % of a list" in new.text and "with 1 topic, nothing" in new.text
    one = decide(CONTEXT, {"q0": QRELS["q0"]}, {"keep": ["bad"], "new": ["good"]}, by="P@3")
    assert "new scores higher on 1 topic and lower on 0" in one.text


def test_drop_says_what_is_lost_without_each_run() -> None:
    answer = drop(CONTEXT, QRELS, ["good", "bad"], by="P@3", margin=0.1)
    table = answer.table.set_index("option")
    keep, without = table.loc["keep", "mean"], table.loc["drop good", "mean"]
    assert table.loc["drop good", "difference"] == pytest.approx(without - keep)
    assert list(table["verdict"]) == ["", "needed", "safe"]
    assert (answer.verdict, answer.choice) == ("safe", "drop bad")
    assert answer.text.startswith(
        "**Safe to drop, one at a time: bad.** Dropping it loses at most your margin of 0.1 P@3"
    )
    both_open = drop(CONTEXT, QRELS, ["one", "two"], by="P@2", margin=0.1)
    assert (both_open.verdict, both_open.choice) == ("open", "keep")
    ends = table.loc["drop good"]
    assert ends["lower"] <= ends["difference"] <= ends["upper"]
    needed = drop(
        RunContext({"a": run_of("AXYZ"), "b": run_of("BXYZ")}, grades=(0, 1)), QRELS, by="R@2", combine=TURNS
    )
    assert needed.verdict == "needed" and needed.outcome == "keep"
    assert needed.headline == "No run is safe to drop: each is needed."


def test_the_run_that_alone_is_better_comes_first() -> None:
    answer = drop(CONTEXT, QRELS, ["good", "bad", "one"], by="P@3")
    assert answer.headline.startswith("good alone gains at least 0.") and "only good" in answer.options
    assert answer.table.set_index("option").loc["only good", "verdict"] == ""


def test_a_loss_of_0_is_safe_at_a_margin_of_0() -> None:
    twice = RunContext({"a": GOOD, "b": GOOD}, grades=(0, 1))
    assert drop(twice, QRELS, by="P@3", margin=0.0).table["verdict"].tolist() == ["", "safe", "safe"]


def test_drop_by_each_label() -> None:
    runs, qrels = larger(judged=0.7)
    two = RunContext({name: runs[name] for name in ("fair", "other")}, grades=(0, 1))
    answer = drop(two, qrels)
    assert answer.verdict is None and answer.strict == "open"
    assert answer.headline.startswith("If unjudged documents")
    assert drop(two, qrels, labels="judged").verdict == answer.as_judged
    # The sentence names the runs whose verdict in the table is open, though they are safe or needed as judged.
    wide = drop(two, qrels, margin=0.2)
    moved = wide.table[(wide.table["verdict"] == "open") & (wide.table["as_judged"] != "open")]
    names = [option.removeprefix("drop ") for option in moved["option"]]
    assert names and wide.verdict is None
    verb = "is" if len(names) == 1 else "are"
    assert wide.reason.endswith(f"Allowing for unjudged documents, {' and '.join(names)} {verb} open.")
    imputed = drop(RunContext(runs, grades=(0, 1)), qrels, ["fair", "other"], margin=0.3)
    assert imputed.labels == "imputed" and imputed.verdict in ("safe", "open", "needed")
    assert {"verdict", "strict", "as_judged"} <= set(imputed.table.columns)
