"""worth(): a strong newcomer adds, a copy adds nothing, and what nobody judged is open; no labeling contradicts it."""

from __future__ import annotations

import itertools
import json
import warnings
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import Qrel

from drawn import examples
from ir_measures_relative import NewAspects, RelativeWarning, RunContext, bounds, worth
from ir_measures_relative.decisions import Worth
from ir_measures_relative.stats.paired_tests import cautious_interval
from ir_measures_relative.stats.pairs_and_ties import topic_counts

TOPICS = [f"q{i:02}" for i in range(40)]
UNIQUE = ["UniqueRel@4"]
COLUMNS = [
    "name", "other", "measure", "mean", "copy", "other_mean", "difference", "ci_lower", "ci_upper", "worst", "best",
    "lower", "upper", "verdict", "probability", "unjudged", "topics",
]  # fmt: skip


def ranking(docs: Sequence[str]) -> dict[str, float]:
    return {d: -float(i) for i, d in enumerate(docs)}


def same(docs: str, topics: Sequence[str] = TOPICS) -> dict[str, dict[str, float]]:
    """A run that ranks every topic alike; documents are letters."""
    return {q: ranking(docs) for q in topics}


def labels(relevant: str, judged: str, topics: Sequence[str] = TOPICS) -> dict[str, dict[str, int]]:
    return {q: {d: int(d in relevant) for d in judged} for q in topics}


OLD = same("ABCDEFGH")
QRELS = labels("ABIJK", "ABCDEFGHIJKL")


def some_topics(
    good: str, bad: str, count: int, topics: Sequence[str] = TOPICS
) -> dict[str, dict[str, float]]:
    """A run that is good on some topics, spread evenly, and bad on the others."""
    chosen = set(np.linspace(0, len(topics) - 1, count).round().astype(int).tolist()) if count else set()
    return {q: ranking(good if i in chosen else bad) for i, q in enumerate(topics)}


STRONG = {q: ranking("IJKA" if i % 3 else "IABC") for i, q in enumerate(TOPICS)}


def ask(candidate, qrels=QRELS, runs=None, **options) -> Worth:
    context = RunContext(runs or {"BM25": OLD}, grades=(0, 1))
    return worth(context, qrels, candidate, **{"by": UNIQUE, **options})


class TestTheThreeVerdicts:
    def test_a_strong_newcomer_adds(self):
        found = ask(STRONG)
        assert (found.verdict, found.adds, found.missing) == ("adds", True, None)
        assert found.table["lower"].iloc[0] > 0
        assert found.judge.empty and list(found.judge.columns) == ["query_id", "doc_id"]
        assert found.text.startswith(
            "The candidate adds to BM25: on average 2.30 relevant documents a topic that BM25 does not show in its top 4"
        )

    @pytest.mark.parametrize(
        "by", [UNIQUE, ["FusionGain(base='nDCG@4')"], ["NRG@4"], ["TaSC(base='nDCG@4')"]], ids=str
    )
    @pytest.mark.parametrize("margin", [0.0, 0.1])
    def test_an_exact_copy_adds_nothing(self, by, margin):
        rng = np.random.default_rng(0)
        runs = {
            name: {q: ranking(rng.permutation(list("ABCDEFGHIJKL"))[:8]) for q in TOPICS}
            for name in ("a", "b", "c")
        }
        for copied in runs:
            found = ask(runs[copied], runs=runs, by=by, margin=margin)
            assert (found.verdict, found.missing) == ("adds nothing", None), copied
            assert f"it ranks exactly as {copied} does" in found.text

    def test_a_copy_of_the_only_deployed_run_is_from_0_to_0(self):
        found = ask(OLD)
        row = found.table.iloc[0]
        assert found.verdict == "adds nothing"
        assert (row["lower"], row["upper"]) == (0, 0)

    @pytest.mark.parametrize("measure", ["NRG@4", "NRG(base='RR')@4"])
    def test_a_copy_to_the_cutoff_adds_nothing(self, measure):
        assert ask(same("ABCDLKJI"), by=[measure, "nDCG@4"]).verdict == "adds nothing"
        assert ask(same("ABCDLKJI"), by=[measure, "nDCG@4"]).table["upper"].tolist() == [0, 0]
        assert ask(same("ABDCEFGH"), by=[measure]).verdict == "open"

    def test_what_nobody_judged_is_open_and_labels_are_missing(self):
        found = ask(same("VWXY"))
        assert (found.verdict, found.missing) == ("open", "labels")
        assert len(found.judge) == 20 and set(found.judge["doc_id"]) == {"V"}  # first ranks first
        row = found.table.iloc[0]
        assert (row["worst"], row["best"], row["unjudged"]) == (0, 4, 1)
        assert "100 % of its top 4 is not judged" in found.text
        assert "Labels are missing: 160 documents matter, and these 20 are the first to judge." in found.text

    def test_judging_them_settles_it(self):
        relevant = {q: QRELS[q] | dict.fromkeys("VWXY", int(i % 5 > 0)) for i, q in enumerate(TOPICS)}
        assert ask(same("VWXY"), relevant).verdict == "adds"
        not_relevant = {q: QRELS[q] | dict.fromkeys("VWXY", 0) for q in TOPICS}
        assert ask(same("VWXY"), not_relevant, margin=0.5).verdict == "adds nothing"

    def test_labels_that_only_move_its_own_gain_are_asked_for(self):
        """The lead over a copy does not depend on them, as the document is fused with both; and the copy may lose."""
        runs = {"BM25": same("WDEF"), "second": same("CDEF")}
        found = ask(same("VABC"), runs=runs, by=["FusionGain(base='P@4')"])
        assert found.missing == "labels" and "Labels are missing: 40 documents matter" in found.text
        assert set(found.judge["doc_id"]) == {"W"}

    def test_all_documents_to_judge_are_named_where_they_are_few(self):
        candidate = some_topics("VABC", "ABCD", 12)
        found = ask(candidate)
        assert found.missing == "labels"
        assert len(found.judge) == 12 and "judge these 12 documents" in found.text


class TestTopicsAreMissing:
    @pytest.mark.parametrize("count", [1, 2, 3, 4])
    def test_few_topics_do_not_decide(self, count):
        found = ask(some_topics("IJKA", "ABCD", count))
        assert (found.verdict, found.missing) == ("open", "topics")
        assert found.table["lower"].iloc[0] == 0

    def test_it_says_how_many(self):
        found = ask(some_topics("IABC", "ABCD", 4))
        assert (
            "Topics are missing: at this spread about 50 for the lower end to pass 0, and there are 40."
            in found.text
        )

    def test_five_topics_that_differ_have_an_end_to_go_by(self):
        """Of four, how many it takes goes by their spread alone; of five, by the end of the wider interval."""
        found = ask(some_topics("IABC", "ABCD", 5), margin=0.2)
        assert "about 320 for the upper end to come down to 0.20" in found.text

    def test_it_says_how_many_for_the_part_that_is_settled_first(self):
        """By its own value it takes more than a thousand to show that it adds nothing; by its lead over a copy, 55."""
        runs = {"BM25": OLD, "second": same("CDEFABGH")}
        found = ask(some_topics("IJKA", "ABCD", 8), runs=runs, by=["NRG@4"], margin=0.3)
        assert "about 55 for the upper end to come down to 0.30" in found.text

    def test_nothing_on_any_topic_is_nothing_and_more_topics_could_have_something(self):
        found = ask(same("LABC"))
        assert (found.verdict, found.missing) == ("adds nothing", None)
        assert (
            "on none of the 40 topics does its top 4 hold a relevant document that BM25 does not"
            in found.text
        )
        highest = found.table["upper"].iloc[0]
        assert highest > 0.3 and f"New topics may have up to {highest:.2f} on average." in found.text
        found = ask(same("LABC"), margin=0.1)
        assert found.missing == "topics" and "about 150 for the upper end to come down to 0.10" in found.text

    @pytest.mark.parametrize("n", [1, 2, 4])
    def test_fewer_than_five_topics_have_no_interval(self, n):
        found = ask(STRONG, {q: QRELS[q] for q in TOPICS[:n]})
        assert (found.verdict, found.missing) == ("open", "topics")
        assert "too few for an interval" in found.text
        assert found.text.endswith("there is 1." if n == 1 else f"there are {n}.")

    def test_both_are_missing(self):
        candidate = some_topics("IABC", "ABCD", 2) | {q: ranking("VABC") for q in TOPICS[3:5]}
        found = ask(candidate, margin=0.07)
        assert (found.verdict, found.missing) == ("open", "topics and labels")
        assert "Labels are missing: judge these 2 documents." in found.text
        assert "Topics are missing" in found.text


class TestMeasuresThatAreNot0ForACopy:
    def test_nrg_is_held_against_a_copy(self):
        runs = {"BM25": OLD, "other": same("CDEFGHAB")}
        found = ask(STRONG, runs=runs, by=["NRG@4"])
        row = found.table.iloc[0]
        assert row["copy"] > 0
        assert row["difference"] == pytest.approx(row["mean"] - row["copy"])
        assert found.verdict == "adds"
        assert "and a copy of BM25" in found.text

    def test_a_gain_that_a_copy_has_as_well_is_no_gain(self):
        """A second copy of the better run outvotes the worse one: so does a run that ranks almost as it does."""
        runs = {"good": same("ABCDEFGH"), "bad": same("CDEFGHAB")}
        near = {q: ranking("ABCDEFGH" if i else "ABCDEFHG") for i, q in enumerate(TOPICS)}
        found = ask(near, runs=runs, by=["FusionGain(base='nDCG@4')"])
        row = found.table.iloc[0]
        assert row["mean"] > 0.05 and row["copy"] == pytest.approx(row["mean"])
        assert found.verdict != "adds"

    def test_how_deep_it_looks_is_said_by_the_base(self):
        found = ask(same("ABCDVWXY"), by=["FusionGain(base='nDCG@4')"])
        assert found.table["unjudged"].iloc[0] == 0 and "of its top 4 is judged" in found.text

    def test_with_one_deployed_run_a_fusion_gain_is_itself(self):
        found = ask(STRONG, by=["FusionGain(base='nDCG@4')"])
        row = found.table.iloc[0]
        assert (row["copy"], row["difference"]) == (0, row["mean"])
        assert f"(95 % interval {row['lower']:.2f} to {row['upper']:.2f})." in found.text


class TestThresholds:
    @pytest.mark.parametrize(("margin", "verdict"), [(1.9, "adds"), (2.3, "open"), (2.7, "adds nothing")])
    def test_the_verdict_is_about_at_least(self, margin, verdict):
        found = ask(STRONG, margin=margin)
        assert found.verdict == verdict
        assert f"more than {margin:g} to BM25" in found.text

    @pytest.mark.parametrize("margin", [4, -0.1, np.nan, np.inf, "1", True, None])
    def test_what_is_no_threshold_is_refused(self, margin):
        with pytest.raises(
            ValueError, match="margin=.* is the least mean of UniqueRel@4 that is worth having, from 0"
        ):
            ask(STRONG, margin=margin)


class TestTheTable:
    def test_its_rows_and_columns(self):
        found = ask(STRONG, by=["UniqueRel@4", "FusionGain(base='nDCG@4')"])
        assert list(found.table.columns) == COLUMNS
        assert list(found.table["measure"]) == [
            "UniqueRel@4", "FusionGain(base='nDCG@4')", "NRG(norm='ideal')@4", "nDCG@4",
        ]  # fmt: skip

    def test_it_agrees_with_the_functions_it_is_made_of(self):
        runs = {"BM25": OLD, "other": same("CDEFGHAB")}
        found = ask(STRONG | {"q00": ranking("VIJA")}, runs=runs, by=["UniqueRel@4", "NRG@4"]).table
        context = RunContext({**runs, "new": STRONG | {"q00": ranking("VIJA")}})
        table = bounds(context, QRELS, ["UniqueRel@4"], unretrieved_relevant=0).set_index("name").loc["new"]
        assert (found.loc[0, ["worst", "mean", "best"]] == table[["worst", "value", "best"]].to_numpy()).all()
        scores = context.evaluate(QRELS, ["nDCG@10", "NRG@4"]).set_index("name").loc["new"]
        assert found.loc[1, "mean"] == pytest.approx(scores["NRG@4"])
        assert found.loc[2, "mean"] == pytest.approx(scores["nDCG@10"])

    def test_the_best_deployed_run_is_the_one_beside(self):
        runs = {"worse": same("CDEFGHAB"), "best": OLD}
        row = ask(STRONG, runs=runs).table.iloc[-1]
        assert (row["other"], row["measure"], row["verdict"]) == ("best", "nDCG@10", "better")

    def test_the_odds_are_there_from_four_runs_on(self):
        rng = np.random.default_rng(1)
        runs = {
            f"r{i}": {q: ranking(rng.permutation(list("ABCDEFGHIJKL"))[:8]) for q in TOPICS} for i in range(4)
        }
        found = ask(same("VWXY"), runs=runs)
        assert found.missing == "labels"
        assert 0 < found.table["probability"].iloc[0] < 1 and "The probability" in found.text
        assert ask(same("VWXY")).table["probability"].isna().all()

    def test_it_is_the_same_again(self):
        first, second = (ask(STRONG, by=["UniqueRel@4", "FusionGain"]) for _ in range(2))
        pd.testing.assert_frame_equal(first.table, second.table)

    def test_an_absolute_measure_is_open_where_labels_decide(self):
        found = ask(same("XABC"), runs={"BM25": same("YABC")}, by=["UniqueRel@4", "P@4"])
        row = found.table.set_index("measure").loc["P@4"]
        assert row[["worst", "difference", "best", "verdict"]].tolist() == [-0.25, 0.0, 0.25, "open"]

    def test_of_documents_that_move_as_much_those_of_the_candidate_come_first(self):
        qrels = labels("AB", "ABC", TOPICS[:6])
        found = ask(same("XABC"), qrels, {"BM25": same("YABC")}, by=["TaSC(base='P@4')"], resamples=99)
        assert "".join(found.judge["doc_id"]) == "XXXXXXYYYYYY"


class TestHowItIsShown:
    def test_text_first(self):
        found = ask(STRONG)
        assert str(found).startswith(found.text + "\n\n") and "UniqueRel@4" in str(found)

    def test_a_notebook_shows_names_as_they_are(self):
        found = ask(STRONG, runs={"<b>": OLD})
        assert "<b>" not in found._repr_html_().replace("<b>adds", "") and "&lt;b&gt;" in found._repr_html_()

    @pytest.mark.parametrize("qrels", [QRELS, None])
    def test_as_json(self, qrels):
        found = ask(same("VWXY"), qrels)
        plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert plain["verdict"] == "open" and plain["deployed"] == ["BM25"] and plain["by"] == UNIQUE
        assert plain["judge"][0] == {"query_id": "q00", "doc_id": "V"}
        if qrels:
            assert plain["table"][0]["probability"] is None and plain["table"][0]["topics"] == 40

    def test_sentences_are_three_to_six(self):
        candidates = [STRONG, OLD, same("VWXY"), some_topics("IABC", "ABCD", 4), same("LABC")]
        for candidate in candidates:
            text = ask(candidate, by=["UniqueRel@4", "FusionGain(base='nDCG@4')"]).text
            assert 2 <= text.count(". ") + 1 <= 7, text
            assert text.endswith(".") and "  " not in text and "nan" not in text


class TestWithoutJudgments:
    def test_what_the_rankings_say(self):
        found = ask(some_topics("IJKA", "ABCD", 10), None)
        assert (found.verdict, found.missing, len(found.table)) == ("open", "judgments", 0)
        assert "holds 30 documents that BM25 does not show in its top 4, on 10 topics of 40" in found.text
        assert "RBO" in found.text and "at most" in found.text and str(found) == found.text
        assert len(found.judge) == 20

    def test_a_copy(self):
        found = ask(OLD, None)
        assert found.verdict == "open" and "no judgments can show that it adds" in found.text
        assert found.judge.empty


class TestWhoIsAsked:
    def test_a_member_against_all_others(self):
        context = RunContext({"BM25": OLD, "new": STRONG, "bad": same("CDEF")})
        found = worth(context, QRELS, "new", by=UNIQUE)
        assert (found.candidate, found.deployed) == ("new", ("BM25", "bad"))
        found = worth(context, QRELS, "new", deployed="BM*", by=UNIQUE)
        assert found.deployed == ("BM25",)
        assert worth(context, QRELS, "new", deployed=["*"], by=UNIQUE).deployed == ("BM25", "bad")

    def test_any_run(self, tmp_path):
        path = tmp_path / "dense.run"
        path.write_text(
            "".join(f"{q} Q0 {d} 0 {s} tag\n" for q, docs in STRONG.items() for d, s in docs.items())
        )
        assert ask(path).candidate == ask(str(path)).candidate == "tag"
        rows = [(q, d, s, "SPLADE") for q, docs in STRONG.items() for d, s in docs.items()]
        frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score", "name"])
        assert ask(frame).candidate == "SPLADE"
        assert ask(frame.assign(name="BM25")).candidate == "BM25 (candidate)"

    @pytest.mark.parametrize(
        ("candidate", "options", "words"),
        [
            ("BM25", {"deployed": ["BM25"]}, "the candidate 'BM25' is among the deployed runs; leave it out"),
            ("BM25", {}, "there is no deployed run to compare 'BM25' with"),
            (STRONG, {"deployed": []}, r"deployed=\[\] names no run besides the candidate; name the runs"),
            (STRONG, {"by": "UniqueRel@4"}, "by='UniqueRel@4' must be a list of measures"),
            ("SPLADE", {}, "candidate='SPLADE' is neither a run of the context nor a file"),
            (STRONG, {"deployed": "x*"}, "'x\\*' fits no run of the context; its runs are \\['BM25'\\]"),
            ({"other": {"A": 1.0}}, {}, "no query in common with the qrels"),
            (
                STRONG,
                {"by": ["nDCG@10"]},
                "does not say what a run adds to others: give UniqueRel@10, or FusionGain",
            ),
            (STRONG, {"by": ["P_Rareness@10"]}, "does not say what a run adds to others"),
            (STRONG, {"by": ["UniqueRel@4", "RBO"]}, "RBO is not relative to prior runs"),
            (STRONG, {"by": ["UniqueRel(prior='BM25')@4"]}, "leave prior= out"),
            (
                STRONG,
                {"by": ["UniqueRel@4", "P(rel=2)@4"]},
                r"P\(rel=2\)@4: no label is 2 or higher.* highest is 1",
            ),
            (STRONG, {"confidence": 95}, "confidence=95 is not allowed"),
            (STRONG, {"n": 0}, "n=0 is not allowed"),
            (STRONG, {"seed": -1}, "seed=-1 is not allowed"),
        ],
    )
    def test_what_is_wrong_is_said(self, candidate, options, words):
        with pytest.raises(ValueError, match=words):
            ask(candidate, **options)

    def test_grades_of_the_context_say_how_high_labels_can_be(self):
        context = RunContext({"BM25": OLD}, grades=(0, 2))
        assert worth(context, QRELS, STRONG, by=["UniqueRel(rel=2)@4"]).verdict != "adds"

    def test_where_labels_have_grades_it_says_which_count(self):
        graded = {q: {d: 2 * label for d, label in docs.items()} for q, docs in QRELS.items()}
        context = RunContext({"BM25": OLD})
        for rel in (1, 2):
            text = worth(context, graded, STRONG, by=[f"UniqueRel(rel={rel})@4"]).text
            assert f" in its top 4 (label {rel} or higher; 95 % interval " in text
        assert "or higher" not in ask(STRONG).text

    def test_the_priors_of_the_context_do_not_count(self):
        context = RunContext({"a": OLD, "b": same("IJKL")}, priors=["a"])
        with pytest.warns(RelativeWarning, match="whatever its priors"):
            assert worth(context, QRELS, STRONG, by=UNIQUE).deployed == ("a", "b")

    def test_a_topic_that_the_candidate_lacks_counts_as_empty(self):
        found = ask({q: STRONG[q] for q in TOPICS[:30]})
        assert found.table["topics"].iloc[0] == 40 and found.table["mean"].iloc[0] < 2
        assert "Mind that it has no ranking on 10 topics of 40." in found.text

    def test_a_topic_that_a_deployed_run_lacks_is_told(self):
        """All that the candidate shows there counts as new."""
        found = ask(STRONG, runs={"BM25": {q: OLD[q] for q in TOPICS[:39]}, "full": OLD})
        assert "Mind that BM25 has no ranking on 1 topic of 40." in found.text

    def test_one_topic_that_makes_most_of_it_is_told(self):
        found = ask(some_topics("IABC", "ABCD", 5) | {"q07": ranking("IJKA")})
        assert "Topic q07 alone makes 38 % of that mean." in found.text

    def test_the_rankings_of_a_member_are_that_member(self):
        context = RunContext({"BM25": OLD, "new": STRONG}, grades=(0, 1))
        found = worth(context, QRELS, context.runs["new"], by=UNIQUE)
        assert (found.candidate, found.deployed) == ("new", ("BM25",))

    def test_where_unjudged_documents_are_left_out_what_is_deeper_counts(self):
        """The top ten are the same documents, and the top ten that are judged are not."""
        runs = {"BM25": same("VWABCD"), "other": same("VWABEF")}
        found = ask(same("VWABIJ"), runs=runs, by=["UniqueRel(judged_only=True)@4"])
        assert found.table["mean"].iloc[0] == 2 and found.verdict != "adds nothing"


# ---- an oracle that knows nothing of bounds


def labelings(documents: Sequence[tuple[str, str]]) -> Iterator[dict[tuple[str, str], int]]:
    for values in itertools.product((0, 1), repeat=len(documents)):
        yield dict(zip(documents, values, strict=True))


def unique_of(run, old, qrels, extra, k: int) -> np.ndarray:
    """UniqueRel by the definition, topic by topic."""
    return np.array(
        [
            sum(
                (qrels[q] | {d: x for (of, d), x in extra.items() if of == q}).get(d, 0)
                for d in list(run[q])[:k]
                if d not in list(old[q])[:k]
            )
            for q in qrels
        ],
        dtype=float,
    )


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3, 0.8, 1.5]))
@examples(60)
def test_no_labeling_contradicts_the_verdict(seed, margin):
    """By Student's interval of every labeling of the open documents, enumerated."""
    rng = np.random.default_rng(seed)
    topics = TOPICS[: int(rng.integers(5, 9))]
    old, new = ({q: ranking(rng.permutation(list("ABCDEFGH"))[:4]) for q in topics} for _ in range(2))
    qrels = {q: {d: int(rng.random() < 0.7) for d in "ABCDEFGH"} for q in topics}
    shown = [(q, d) for q in topics for d in list(new[q])[:3] if d not in list(old[q])[:3]]
    hidden = [shown[i] for i in rng.permutation(len(shown))[:6]]
    for q, d in hidden:
        del qrels[q][d]
    found = worth(
        RunContext({"old": old}, grades=(0, 1)),
        qrels,
        new,
        by=["UniqueRel@3"],
        margin=margin,
        resamples=199,
    )
    row = found.table.iloc[0]
    x = np.array([unique_of(new, old, qrels, extra, 3) for extra in labelings(hidden)])
    means, varied = x.mean(axis=1).tolist(), x[np.ptp(x, axis=1) > 0]  # of each labeling
    spread = scipy.stats.sem(varied, axis=1)
    lower, upper = scipy.stats.t.interval(0.95, len(topics) - 1, varied.mean(axis=1), spread)
    above, below = (lower > margin).any(), ((lower <= margin) & (upper <= margin)).any()
    assert (row["worst"], row["best"]) == pytest.approx((min(means), max(means)))
    assert row["lower"] <= min(means) and max(means) <= row["upper"]
    if found.verdict == "adds":
        assert not below and min(means) > margin
    if found.verdict == "adds nothing":
        assert not above and max(means) <= margin
    if not margin and not max(means):
        assert found.verdict == "adds nothing"


@pytest.mark.parametrize(
    "measure", ["FusionGain(base='nDCG@3')", "NRG@3", "NRG(norm='ideal')@3", "TaSC(base='P@3')"]
)
@given(st.integers(0, 10**6))
@examples(8)
def test_no_labeling_is_outside_where_a_copy_counts(measure, seed):
    """The candidate's value, and that less a copy's, by evaluate() on every labeling."""
    rng = np.random.default_rng(seed)
    topics = TOPICS[:5]
    runs = {n: {q: ranking(rng.permutation(list("ABCDEFG"))[:5]) for q in topics} for n in ("a", "b", "new")}
    qrels = {q: {d: int(rng.random() < 0.5) for d in "ABCDEFG"} | {"Z": 1} for q in topics}
    hidden = [(topics[i], str(rng.choice(list(runs["new"][topics[i]])[:3]))) for i in range(4)]
    for q, d in hidden:
        del qrels[q][d]
    answer = worth(RunContext(runs, grades=(0, 1)), qrels, "new", by=[measure], resamples=99, time_limit=None)
    assert answer.judge.empty == (answer.missing not in ("labels", "topics and labels"))
    found = answer.table.iloc[0]
    similar = RunContext(runs).evaluate(qrels, ["RBO(ref='new')@100"]).set_index("name").iloc[:, 0]
    nearest = runs[similar.drop("new").idxmax()]
    smallest = []
    for extra in labelings(hidden):
        labeled = {q: qrels[q] | {d: x for (of, d), x in extra.items() if of == q} for q in topics}
        context = RunContext({**runs, "copy": nearest}, priors=["a", "b"], grades=(0, 1))
        of_new, of_copy = (
            context.evaluate(labeled, [measure]).set_index("name").loc[["new", "copy"]].iloc[:, 0]
        )
        smallest.append(min(of_new, of_new - of_copy))
    assert found["worst"] <= min(smallest) + 1e-9 and max(smallest) <= found["best"] + 1e-9
    assert found["lower"] <= min(smallest) + 1e-9 and max(smallest) <= found["upper"] + 1e-9


# ---- the interval


class TestCautiousInterval:
    @staticmethod
    def interval(values, ends, resamples=999):
        return cautious_interval(values, ends, 0.95, topic_counts(resamples, len(values), 0))

    def test_few_topics_say_nothing(self):
        assert self.interval(np.array([3.0, 4.0, 2.0, 3.0]), (0, 10)) == (
            0,
            10,
        )

    @pytest.mark.parametrize(("n", "others"), [(50, 0), (50, 1), (50, 4), (8, 0), (200, 3)])
    def test_values_that_are_nearly_all_the_same(self, n, others):
        """The binomial interval of scipy, and the range of the measure for the others."""
        share = scipy.stats.binomtest(others, n).proportion_ci(0.95).high
        values = np.r_[np.arange(others) + 2.0, np.ones(n - others)]
        found = self.interval(values, (-1, 10))
        assert found == pytest.approx((1 - share - share, 1 - share + 10 * share))

    def test_counts_of_few_topics(self):
        """Up to the exact interval of how many topics, times the greatest count; or further by the logarithm."""
        share = scipy.stats.binomtest(4, 50).proportion_ci(0.95).high
        lower, upper = self.interval(np.r_[3.0, 1, 1, 1, np.zeros(46)], (0, 10))
        assert (lower, upper) == (0, pytest.approx(3 * share))
        lower, upper = self.interval(np.r_[1.0, np.zeros(49)], (0, 10))
        assert (lower, upper) == (0, pytest.approx(0.02 * np.exp(scipy.stats.t.ppf(0.975, 49))))

    def test_else_it_is_the_widest_of_several(self):
        """Student's, also on the scale of the logarithm, and the studentized bootstrap by scipy's standard errors."""
        rng = np.random.default_rng(0)
        for values in (rng.poisson(0.5, 50).astype(float), rng.normal(0, 1, 30), -(rng.gamma(0.3, 1, 40))):
            n, mean, error = len(values), values.mean(), scipy.stats.sem(values)
            resamples = rng.choice(values, (4000, n))
            resamples = resamples[np.ptp(resamples, axis=1) > 0]
            t = (resamples.mean(axis=1) - mean) / scipy.stats.sem(resamples, axis=1)
            far = scipy.stats.t.ppf(0.975, n - 1)
            ends = [mean - far * error, mean + far * error]
            ends += [mean - error * np.quantile(t, 0.975), mean - error * np.quantile(t, 0.025)]
            low = 0 if values.min() >= 0 else -100
            if low == 0:
                ends += [mean * np.exp(-far * error / mean), mean * np.exp(far * error / mean)]
            found = self.interval(values, (low, 100), 9999)
            assert found == pytest.approx((max(min(ends), low), max(ends)), abs=0.05 * error)

    def test_it_stays_in_the_range(self):
        values = np.r_[np.zeros(5), np.full(6, 10.0)]
        lower, upper = self.interval(values, (0, 10))
        assert 0 <= lower < 3 and upper == 10

    @pytest.mark.parametrize("share", [0.02, 0.06, 0.15, 0.4])
    def test_it_is_seldom_above_the_mean(self, share):
        """Counts of which most are 0: false "adds" at a threshold of the true mean."""
        rng = np.random.default_rng(0)
        wrong = 0
        for _ in range(300):
            values = rng.integers(1, 4, 40) * (rng.random(40) < share)
            lower, upper = self.interval(values.astype(float), (0, 10), 199)
            assert lower <= values.mean() <= upper
            wrong += lower > 2 * share
        assert wrong <= 0.05 * 300


def test_it_warns_of_nothing_by_itself():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ask(STRONG, by=["UniqueRel@4", "FusionGain(base='nDCG@4')"])


@pytest.mark.filterwarnings("ignore:the qrels judge documents for several aspects")
class TestNuggets:
    """Judgments of two aspects: IJ answer the one, and K answers both; the deployed run shows the one."""

    ASPECTS = tuple(
        Qrel(q, doc, int(doc in relevant), aspect)
        for q in TOPICS
        for aspect, relevant in (("causes", "ABIJK"), ("remedy", "K"))
        for doc in "ABCDEFGHIJKL"
    )

    def test_the_text_and_the_table_say_what_only_the_candidate_brings(self):
        found = ask(STRONG, qrels=self.ASPECTS)
        row = found.table.iloc[-1]
        with RunContext({"BM25": OLD}, grades=(0, 1)):
            values = np.array([m.value for m in (NewAspects @ 4).iter_calc(self.ASPECTS, STRONG)])
        counts = topic_counts(9999, len(TOPICS), 0)
        assert (row["measure"], row["mean"]) == ("NewAspects@4", pytest.approx(values.mean()))
        assert (row["ci_lower"], row["ci_upper"]) == cautious_interval(values, (0, np.inf), 0.95, counts)
        assert row["verdict"] is None and np.isnan(row["worst"]) and np.isnan(row["upper"])
        assert (
            f"It brings {values.mean():.2f} nuggets a topic that BM25 does not show (by NewAspects@4, 95 % interval "
            in found.text
        )
        assert "for the labels as they are)." in found.text
        assert "nuggets" not in ask(STRONG).text

    def test_as_it_was_asked_for(self):
        found = ask(STRONG, qrels=self.ASPECTS, by=["UniqueRel@4", "NewAspects@2"])
        assert [m for m in found.table["measure"] if "Aspects" in m] == ["NewAspects@2"]
        with pytest.raises(ValueError, match="give UniqueRel@10 first, and NewAspects after it"):
            ask(STRONG, qrels=self.ASPECTS, by=["NewAspects@4"])

    def test_too_few_topics(self):
        few = [q for q in self.ASPECTS if q.query_id in TOPICS[:3]]
        assert "(by NewAspects@4, 3 topics, too few for an interval" in ask(STRONG, qrels=few).text

    def test_other_measures_warn_of_the_last_label(self):
        with pytest.warns(RelativeWarning, match="look at no aspects"):
            ask(STRONG, qrels=self.ASPECTS)


@pytest.mark.filterwarnings("ignore::ir_measures_relative.RelativeWarning")
def test_nuggets_of_dl19(dl19_path):
    paths = sorted((dl19_path / "runs").iterdir())[:3]
    context = RunContext.from_files(paths, grades=(0, 5))
    found = worth(context, dl19_path / "aspects.qrels.gz", context.names[0], by=["UniqueRel(rel=4)@10"])
    value = context.evaluate(dl19_path / "aspects.qrels.gz", ["NewAspects(rel=4)@10"])
    value = value.set_index("name")["NewAspects(rel=4)@10"][context.names[0]]
    assert found.table.iloc[-1]["mean"] == pytest.approx(value) and value > 0
    assert "that no deployed run shows (by NewAspects(rel=4)@10" in found.text
