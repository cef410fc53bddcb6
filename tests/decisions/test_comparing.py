"""compare(): its numbers are scipy's and statsmodels', and no test is made of two different quantities."""

import itertools
import warnings
from functools import lru_cache

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import NumRet, nDCG

from drawn import examples
from ir_measures_relative import (
    MED,
    NRG,
    RPP,
    P_Rareness,
    RelativeWarning,
    RunContext,
    Shapley,
    TaSC,
    UniqueRel,
    compare,
    nDCG_UE,
    rrLP,
    sgnLP,
    sgnLR,
)
from ir_measures_relative.context.collection import judged_collection
from ir_measures_relative.decisions import mean_intervals
from ir_measures_relative.decisions.similarity import score_nearest_copies
from ir_measures_relative.stats import paired_tests
from random_campaigns import full_campaign, graded_campaign

TESTS = list(paired_tests.TESTS)

multipletests = pytest.importorskip(
    "statsmodels.stats.multitest", reason="statsmodels is not installed"
).multipletests

COLUMNS = [
    *("name", "other", "measure", "mean", "other_mean", "difference", "ci_lower", "ci_upper", "test", "p"),
    *("p_corrected", "effect", "effect_ci_lower", "effect_ci_upper", "wins", "ties", "losses", "topics"),
    *("topics_needed", "topics_fewest", "topics_most"),
]

RUNS, LABELS = full_campaign(0, 4, 25, n_docs=15, depth=6, grades=3)
CONTEXT = RunContext(RUNS)


def values(measure, name, priors) -> np.ndarray:
    """Of a run, by the evaluation of a context with these priors."""
    table = evaluated(str(measure), priors if isinstance(priors, str) else tuple(priors))
    return table[table["name"] == name]["value"].to_numpy()


@lru_cache
def evaluated(measure: str, priors: str | tuple[str, ...]) -> pd.DataFrame:
    chosen = priors if isinstance(priors, str) else list(priors)
    return RunContext(CONTEXT.runs, priors=chosen).evaluate(LABELS, [measure], perquery=True)


def of_scipy(test: str, a: np.ndarray, b: np.ndarray) -> tuple[float, float, float]:
    d = a - b
    t = scipy.stats.ttest_rel(a, b)
    low, high = t.confidence_interval(0.95)
    rng = np.random.default_rng(0)
    if test == "t":
        return t.pvalue, low, high
    if test == "wilcoxon":
        return scipy.stats.wilcoxon(np.round(d, 12)).pvalue, low, high
    if test == "sign":
        wins, losses = (d > 0).sum(), (d < 0).sum()
        return scipy.stats.binomtest(wins, wins + losses).pvalue, low, high
    if test == "randomization":
        found = scipy.stats.permutation_test((d,), np.mean, permutation_type="samples", rng=rng)
        return found.pvalue, low, high
    t, error = scipy.stats.ttest_1samp(d, 0).statistic, scipy.stats.sem(d)
    found = scipy.stats.bootstrap(
        (d - d.mean(),),
        lambda x, axis: x.mean(axis) / scipy.stats.sem(x, axis=axis),
        method="percentile",
        rng=rng,
    ).bootstrap_distribution
    reach = np.sort(abs(found))[-499] * error  # p is below 0.05 where fewer than 499 are as large
    return (1 + (abs(found) >= abs(t) - 1e-9).sum()) / 10000, d.mean() - reach, d.mean() + reach


@pytest.mark.parametrize(
    ("test", "priors"),
    [*((test, ["r3"]) for test in TESTS), *((test, "others") for test in ("t", "wilcoxon", "sign"))],
    ids=str,
)
def test_numbers_are_those_of_scipy_and_statsmodels(test, priors) -> None:
    measures = [NRG @ 5, UniqueRel @ 5, nDCG_UE @ 5, "nDCG@5"]
    if test == "t":
        measures += [TaSC(base="nDCG@5"), Shapley @ 5]
    table = compare(CONTEXT, LABELS, measures, priors=priors, test=test, correction=None)
    assert list(table.columns) == COLUMNS
    names = list(RUNS)[: 4 if priors == "others" else 3]
    assert len(table) == len(measures) * len(list(itertools.combinations(names, 2)))
    for row in table.itertuples():
        a, b = (values(row.measure, name, priors) for name in (row.name, row.other))
        d = a - b
        assert (row.p, row.ci_lower, row.ci_upper) == pytest.approx(of_scipy(test, a, b), rel=1e-7, abs=1e-12)
        assert (row.mean, row.other_mean) == pytest.approx((a.mean(), b.mean()))
        assert row.difference == pytest.approx(d.mean())
        assert row.effect == pytest.approx(d.mean() / d.std(ddof=1))
        counts = (d > 1e-12).sum(), (abs(d) <= 1e-12).sum(), (d < -1e-12).sum(), 25
        assert (row.wins, row.ties, row.losses, row.topics) == counts


def excludes_0(table: pd.DataFrame) -> np.ndarray:
    return ((table["ci_lower"] > 0) | (table["ci_upper"] < 0)).to_numpy()


@pytest.mark.parametrize("family", ["call", "measure"])
@pytest.mark.parametrize("correction", ["holm", "bonferroni", "fdr_bh", "b", None])
def test_corrections(correction, family) -> None:
    """The p-values are those of statsmodels; and no interval says another thing than the corrected p beside it."""
    priors = {"priors": ["r3"], "confidence": 0.8, "test": "t"}
    table = compare(CONTEXT, LABELS, [NRG @ 5, "P@5"], correction=correction, family=family, **priors)
    for _, rows in table.groupby("measure") if family == "measure" else [("all", table)]:
        expected = rows["p"] if correction is None else multipletests(rows["p"], method=correction)[1]
        assert rows["p_corrected"].to_numpy() == pytest.approx(np.asarray(expected))
    for row in table.itertuples():
        a, b = (values(row.measure, name, ["r3"]) for name in (row.name, row.other))
        level = 1 - 0.2 * row.p / row.p_corrected
        assert (row.ci_lower, row.ci_upper) == pytest.approx(
            tuple(scipy.stats.ttest_rel(a, b).confidence_interval(level))
        )


@pytest.mark.parametrize(
    ("test", "correction", "confidence"),
    [("t", "max-t", 0.6), ("bootstrap", "max-t", 0.95), ("t", "holm", 0.95), ("bootstrap", None, 0.6)],
)
def test_the_interval_says_what_the_corrected_p_says(test, correction, confidence) -> None:
    """It does not hold 0 just where p is below 1 - confidence; and no more does the interval of the effect."""
    runs, labels = full_campaign(4, 6, 25, n_docs=15, depth=6, grades=3)
    runs["best"] = {q: {d: float(g) for d, g in of_query.items()} for q, of_query in labels.items()}
    measures = [NRG @ 5, TaSC, "nDCG@5"]
    for family in ("call", "measure"):
        how = {"test": test, "correction": correction, "confidence": confidence, "family": family}
        table = compare(RunContext(runs), labels, measures, **how, resamples=1999)
        told = table["p_corrected"].to_numpy() < 1 - confidence - 1e-12
        assert 0 < told.sum() < len(table)
        assert (told == excludes_0(table)).all()
        effects = table[["effect_ci_lower", "effect_ci_upper"]].set_axis(["ci_lower", "ci_upper"], axis=1)
        assert (told == excludes_0(effects)).all()
        assert (table["p_corrected"] >= table["p"] - 1e-15).all()
        known = table["ci_lower"].notna()  # two runs that never differ have no interval
        assert known.sum() > 0.7 * len(known) and (table["p"][~known] == 1).all()
        assert ((effects["ci_lower"] <= table["effect"]) & (table["effect"] <= effects["ci_upper"]))[
            known
        ].all()


def test_max_t_is_that_of_its_definition() -> None:
    """The largest t of a resample, in units of each row's own, over resamples of the same topics for all rows."""
    measures, resamples = [NRG @ 5, "nDCG@5"], 499
    table = compare(CONTEXT, LABELS, measures, test="t", resamples=resamples, seed=3)
    d = np.array(
        [
            values(r.measure, r.name, "others") - values(r.measure, r.other, "others")
            for r in table.itertuples()
        ]
    )
    drawn = np.random.default_rng(3).integers(25, size=(resamples, 25))
    found = (d[:, drawn].mean(axis=2) - d.mean(axis=1)[:, None]) / scipy.stats.sem(d[:, drawn], axis=2)
    own = np.sort(abs(found), axis=1)[:, -24]  # of 499, 5 % are 24 or less
    largest = (abs(found) / own[:, None]).max(axis=0)
    t = abs(d.mean(axis=1)) / scipy.stats.sem(d, axis=1)
    p = (1 + (largest >= (t / own)[:, None] - 1e-9).sum(axis=1)) / (1 + resamples)
    assert table["p_corrected"].to_numpy() == pytest.approx(np.maximum(p, table["p"]))
    reach = np.maximum(np.sort(largest)[-24] * own, scipy.stats.t.ppf(0.975, 24)) * scipy.stats.sem(d, axis=1)
    assert table["ci_lower"].to_numpy() == pytest.approx(d.mean(axis=1) - reach)
    assert table["ci_upper"].to_numpy() == pytest.approx(d.mean(axis=1) + reach)


def test_a_measure_has_a_test_of_its_own() -> None:
    """The bootstrap where differences are sparse and skewed; measures of others, and absolute ones, have Student's."""
    measures = [NRG @ 5, NRG(base="ERR", max_grade=2) @ 5, TaSC, "nDCG@5", rrLP, nDCG_UE @ 5]
    table = compare(CONTEXT, LABELS, measures, priors=["r3"], correction=None)
    of_measure = table.drop_duplicates("measure").set_index("measure")["test"]
    assert of_measure.tolist() == ["bootstrap"] * 3 + ["t"] * 3
    for test, rows in table.groupby("test"):
        same = compare(CONTEXT, LABELS, measures, priors=["r3"], correction=None, test=test)
        same = same[same["measure"].isin(rows["measure"])]
        assert rows.reset_index(drop=True).equals(same.reset_index(drop=True))
    assert UniqueRel.TEST == "bootstrap"


def test_one_pair_is_not_corrected() -> None:
    for correction in ("max-t", "holm"):
        table = compare(CONTEXT, LABELS, [NRG @ 5], names=["r0", "r1"], correction=correction)
        assert table.equals(compare(CONTEXT, LABELS, [NRG @ 5], names=["r0", "r1"], correction=None))
    apart = compare(CONTEXT, LABELS, [NRG @ 5, "P@5"], names=["r0", "r1"], family="measure")
    assert apart.equals(compare(CONTEXT, LABELS, [NRG @ 5, "P@5"], names=["r0", "r1"], correction=None))


def test_rows_that_cannot_be_resampled_are_corrected_by_bonferroni() -> None:
    """Where fewer than five topics differ; and tests that do not go by t are corrected by Holm's method."""
    runs, labels = full_campaign(1, 3, 25, n_docs=15, depth=6, grades=3)
    near = {**runs["r0"], **{q: runs["r1"][q] for q in list(labels)[:4]}}
    context = RunContext(runs | {"near": near})
    found, alone = (compare(context, labels, ["nDCG@5"], correction=c) for c in ("max-t", None))
    few = (found["name"] == "r0") & (found["other"] == "near")
    assert found["p_corrected"][few].item() == pytest.approx(min(1, 6 * alone["p"][few].item()))
    level = compare(context, labels, ["nDCG@5"], correction=None, confidence=1 - 0.05 / 6)
    assert found["ci_lower"][few].item() == pytest.approx(level["ci_lower"][few].item())
    others = found["p_corrected"][~few]
    assert (others < 6 * alone["p"][~few]).any() and others.min() < 1 and others.max() <= 1
    signs, holm = (compare(context, labels, ["nDCG@5"], test="sign", correction=c) for c in ("max-t", "holm"))
    assert signs.equals(holm)


@pytest.mark.parametrize("measure", [rrLP, sgnLP, sgnLR, RPP], ids=str)
def test_signed_measures_are_tested_pair_by_pair(measure) -> None:
    """Against 0, whatever the context's reference is; and mirrored where the two change places."""
    context = RunContext(CONTEXT.runs, reference="r3")
    table = compare(context, LABELS, [measure], names=["r0", "r1"], test="wilcoxon").iloc[0]
    mirrored = compare(context, LABELS, [measure], names=["r1", "r0"], test="wilcoxon").iloc[0]
    of_pair = context.evaluate(LABELS, [measure(ref="r1")], perquery=True)
    of_pair = of_pair[of_pair["name"] == "r0"]["value"].to_numpy()
    assert table["difference"] == table["mean"] == pytest.approx(of_pair.mean())
    assert table["other_mean"] == 0
    assert table["p"] == pytest.approx(scipy.stats.wilcoxon(np.round(of_pair, 12)).pvalue)
    assert table["p"] == pytest.approx(mirrored["p"])
    assert table["difference"] == pytest.approx(-mirrored["difference"])
    assert (table["wins"], table["losses"]) == (mirrored["losses"], mirrored["wins"])


def test_a_reference_of_its_own() -> None:
    table = compare(CONTEXT, LABELS, [rrLP(ref="r3"), MED(ref="r3") @ 5], names=["r0", "r1"])
    for row in table.itertuples():
        a, b = (values(row.measure, name, "others") for name in ("r0", "r1"))
        assert row.p == pytest.approx(scipy.stats.ttest_rel(a, b).pvalue)
    with pytest.warns(RelativeWarning, match="'r3' is the reference, which is at no distance from itself"):
        table = compare(CONTEXT, LABELS, [MED(ref="r3") @ 5], names=["r0", "r3"])
    assert table[["difference", "ci_lower", "ci_upper", "p", "wins"]].isna().all(axis=None)


POLICIES = st.one_of(
    st.sampled_from(["others", "earlier"]),
    st.dictionaries(
        st.sampled_from(list(RUNS)), st.lists(st.sampled_from(list(RUNS)), unique=True), min_size=4
    ).filter(lambda d: len(d) == 4),
)


@examples(20)
@given(policy=POLICIES, measure=st.sampled_from(["NRG@5", "UniqueRel@5", "NRG(prior='r0,r1')@5", "TaSC"]))
def test_what_is_valid(policy, measure) -> None:
    """Where both stand against the same runs but for each other, and each counts the other or neither does."""

    def priors_of(name: str) -> set[str]:
        if "prior" in measure:
            chosen = {"r0", "r1"}
        elif policy == "others":
            chosen = set(RUNS)
        elif policy == "earlier":
            chosen = set(list(RUNS)[: list(RUNS).index(name)])
        else:
            chosen = set(policy[name])
        return chosen - {name}

    with warnings.catch_warnings(action="ignore", category=RelativeWarning):
        table = compare(CONTEXT, LABELS, [measure], priors=policy, correction="holm")
    for row in table.itertuples():
        a, b = priors_of(row.name), priors_of(row.other)
        valid = a - {row.other} == b - {row.name} and (row.other in a) == (row.name in b)
        known = [not pd.isna(value) for value in (row.p, row.p_corrected, row.difference, row.wins)]
        assert known == [valid] * 4


def test_warning_of_what_is_not_valid_says_why_and_what_instead() -> None:
    with pytest.warns(RelativeWarning) as said:
        table = compare(CONTEXT, LABELS, [NRG @ 5, nDCG @ 5], priors="earlier", names=["r0", "r1"])
    assert len(said) == 1
    assert "'r0' and 'r1' on NRG@5 are different quantities, since 'r0' is a prior" in str(said[0].message)
    assert said[0].filename == __file__
    relative, absolute = table.itertuples()
    assert np.isnan(relative.p) and not np.isnan(absolute.p)
    assert relative.mean == absolute.mean and relative.other_mean != absolute.other_mean
    two = {"r0": ["r2"], "r1": ["r3"], "r2": [], "r3": []}
    with pytest.warns(RelativeWarning, match=r"since \['r2', 'r3'\] are priors of one and not of the other"):
        compare(CONTEXT, LABELS, [NRG @ 5], priors=two, names=["r0", "r1"])


def test_fixed_priors_of_the_context() -> None:
    context = RunContext(CONTEXT.runs, priors=["r3"])
    assert compare(context, LABELS, [NRG @ 5]).equals(compare(CONTEXT, LABELS, [NRG @ 5], priors=["r3"]))
    table = compare(context, LABELS, [NRG @ 5], baseline="r1")
    assert list(zip(table["name"], table["other"], strict=True)) == [("r0", "r1"), ("r2", "r1")]


def test_a_measure_that_is_summed_is_compared_by_its_mean() -> None:
    row = compare(CONTEXT, LABELS, [NumRet(rel=1)], names=["r0", "r1"]).iloc[0]
    of_a, of_b = (values(NumRet(rel=1), name, "others") for name in ("r0", "r1"))
    assert (row["mean"], row["other_mean"]) == (of_a.mean(), of_b.mean())
    assert row["ci_lower"] <= row["difference"] <= row["ci_upper"]


def test_seeded() -> None:
    for test in ("randomization", "bootstrap"):
        first, again = (compare(CONTEXT, LABELS, [NRG @ 5], test=test) for _ in range(2))
        assert first.equals(again)
        one = compare(CONTEXT, LABELS, [NRG @ 5], names=["r1", "r2"], test=test)
        same = first[(first["name"] == "r1") & (first["other"] == "r2")]
        assert one["p"].tolist() == same["p"].tolist()
        other = compare(CONTEXT, LABELS, [NRG @ 5], test=test, seed=1)
        assert first["p"].tolist() != other["p"].tolist()


def test_one_topic_no_test() -> None:
    one = {"q0": LABELS["q0"]}
    with pytest.warns(RelativeWarning, match="there is 1 topic to compare on"):
        table = compare(CONTEXT, one, [NRG @ 5])
    assert table[["ci_lower", "ci_upper", "p", "p_corrected", "effect"]].isna().all(axis=None)
    assert (table["wins"] + table["ties"] + table["losses"]).tolist() == [1] * 6
    assert mean_intervals(CONTEXT, one, [UniqueRel @ 5])["ci_lower"].isna().all()


def test_a_constant_difference() -> None:
    labels = {f"q{i}": {"A": 1} for i in range(5)}
    good, bad = ({q: {d: 1.0} for q in labels} for d in "AB")
    context = RunContext({"good": good, "bad": bad, "bad too": bad})
    for test in ("t", "bootstrap"):
        with pytest.warns(
            RelativeWarning, match=r"P@1 is 1 on every topic.*'wilcoxon', 'sign', 'randomization'( |$)"
        ):
            table = compare(context, labels, ["P@1"], test=test)
        assert table["p"].isna().tolist() == [True, True, False]
        assert table["p"].tolist()[2] == 1 and table["effect"].tolist()[2] == 0
    for test in ("sign", "wilcoxon", "randomization"):
        assert compare(context, labels, ["P@1"], test=test)["p"].tolist() == pytest.approx(
            [1 / 16, 1 / 16, 1]
        )


def test_topics_without_a_value(monkeypatch) -> None:
    """A measure of ir_measures may have no value on a topic: it is left out, and that is said."""
    collection = judged_collection(CONTEXT, LABELS)
    absolute = type(collection).compute_absolute

    def with_a_gap(self, measures, rankings):
        found = absolute(self, measures, rankings)
        found[:, 3] = np.nan
        return found

    monkeypatch.setattr(type(collection), "compute_absolute", with_a_gap)
    with pytest.warns(RelativeWarning, match="P@5 has no value on 1 topic; the comparison leaves them out"):
        table = compare(CONTEXT, LABELS, ["P@5"])
    assert set(table["topics"]) == {24}
    assert table["p"].notna().all()


BAD = [
    ({"names": ["r0"]}, "one run to compare, 'r0'"),
    ({"names": "r0"}, "names='r0'"),
    ({"names": ["r0", "x"]}, "names='x'"),
    ({"names": ["r0", 1]}, "1 is an int"),
    ({"names": ["r0", "r0"]}, "names holds 'r0' twice"),
    ({"names": []}, "no run to compare"),
    ({"names": ["r0", "r1"], "priors": ["r1"]}, "names='r1' is among the fixed priors"),
    ({"baseline": "x"}, "baseline='x'"),
    ({"baseline": "r1", "priors": ["r1"]}, "baseline='r1' is among the fixed priors"),
    ({"priors": list(RUNS)}, "all are among the fixed priors"),
    ({"priors": ["x"]}, "'x'"),
    ({"seed": -1}, "seed=-1"),
    ({"test": "z"}, "test='z'"),
    ({"correction": "z"}, "correction='z'"),
    ({"confidence": 95}, "confidence=95"),
    ({"family": "x"}, "family='x'"),
    ({"resamples": 10}, "resamples=10"),
]


@pytest.mark.parametrize(("options", "message"), BAD, ids=str)
def test_bad_input(options, message) -> None:
    with pytest.raises(ValueError, match=message):
        compare(CONTEXT, LABELS, [NRG @ 5], **options)


def test_an_open_comparison_says_how_many_topics_would_settle_it() -> None:
    table = compare(CONTEXT, LABELS, ["nDCG@5"], correction=None)
    open_ = (table["ci_lower"] <= 0) & (table["ci_upper"] >= 0)
    assert open_.any() and table["topics_needed"].notna().equals(open_)
    known = table[np.isfinite(table["topics_needed"])]
    assert (known["topics_fewest"] <= known["topics_needed"]).all()
    assert (known["topics_needed"] <= known["topics_most"]).all()


def test_a_copy_of_a_prior_is_no_candidate() -> None:
    """Whatever its name; and where each run is the other's prior it is told of."""
    qrels = {f"q{i}": {"A": 1, "B": 1} for i in range(8)}
    runs = {
        name: {f"q{i}": {doc: 1.0} for i in range(8)}
        for name, doc in {"BM25": "A", "one": "B", "two": "A", "three": "A"}.items()
    }
    with pytest.raises(
        ValueError, match=r"'two' ranks as 'BM25' does, which is among the fixed priors=\['BM25'\]"
    ):
        compare(RunContext(runs), qrels, [UniqueRel @ 1], ["one", "two"], priors=["BM25"])
    compare(
        RunContext(runs), qrels, ["P@1"], ["one", "two"], ["BM25"], test="sign"
    )  # which is relative to nothing
    for ask in (
        lambda c: compare(c, qrels, [UniqueRel @ 1], test="sign"),
        lambda c: c.evaluate(qrels, [UniqueRel @ 1]),
    ):
        with pytest.warns(
            RelativeWarning, match="'two' and 'BM25' rank alike in their first 1, and 'two' is a prior"
        ):
            ask(RunContext(runs))


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_intervals_of_means_are_those_of_scipy(confidence: float) -> None:
    """On the scale of the logarithm where values cannot be negative."""
    measures, context = [UniqueRel @ 5, rrLP], RunContext(RUNS, priors=["r3"], reference="r3")
    of_each = context.evaluate(LABELS, measures, perquery=True).groupby(["name", "measure"])["value"]
    table = mean_intervals(context, LABELS, measures, confidence)
    assert list(table.columns) == ["name", "measure", "mean", "ci_lower", "ci_upper"]
    rows = [(name, str(measure)) for name in RUNS for measure in measures]
    assert list(zip(table["name"], table["measure"], strict=True)) == rows
    for row in table.itertuples():
        of_run = of_each.get_group((row.name, row.measure)).to_numpy()
        mean, reach = of_run.mean(), scipy.stats.t(24).ppf((1 + confidence) / 2) * scipy.stats.sem(of_run)
        low, high = mean - reach, mean + reach
        if row.measure == "UniqueRel@5" and reach:
            low = mean * np.exp(-reach / mean)
            high = min(mean * np.exp(reach / mean), max(high, of_run.max()))
        assert (row.mean, row.ci_lower, row.ci_upper) == pytest.approx((mean, low, high))
    with pytest.raises(ValueError, match="NumRet is a sum over topics"):
        mean_intervals(context, LABELS, [NumRet])


def test_which_measures_are_0_for_a_duplicate() -> None:
    context = RunContext({"old": RUNS["r0"], "duplicate": RUNS["r0"]}, priors=["old"])
    for measure in (UniqueRel @ 5, NRG(base="P") @ 5):
        assert measure.zero_for_duplicate
        assert mean_intervals(context, LABELS, [measure]).iloc[1, 2:4].tolist() == [0.0, 0.0]
    for measure in (NRG @ 5, NRG(base="RBP"), NRG(base="RR"), Shapley @ 5, P_Rareness @ 5, TaSC):
        assert not measure.zero_for_duplicate
        assert mean_intervals(context, LABELS, [measure])["mean"][1] > 0


FEW, FEW_LABELS = graded_campaign(3, runs=4, topics=6)
NEAR = [NRG @ 5, UniqueRel @ 5, NRG(base="RBP"), TaSC, NRG(prior="r1,r2") @ 3]


@pytest.mark.parametrize("priors", [None, ["r3"], "earlier"], ids=str)
@pytest.mark.parametrize("measure", NEAR, ids=str)
def test_the_copy_of_the_nearest_prior(measure, priors) -> None:
    """Found by counting documents, and scored in a context in which it stands where the run did."""
    k, all_names = measure.params.get("cutoff"), list(FEW)

    def top(name: str) -> set[tuple[str, str]]:
        ranked = {q: sorted(docs, key=lambda d: (docs[d], d), reverse=True) for q, docs in FEW[name].items()}
        return {(q, d) for q, docs in ranked.items() if q in FEW_LABELS for d in docs[:k]}

    names = all_names[:3] if priors == ["r3"] else all_names
    collection = judged_collection(RunContext(FEW, priors=priors or "others"), FEW_LABELS)
    for name, copy in zip(names, score_nearest_copies(collection, names, measure), strict=True):
        near = [n for n in FEW if n != name]
        if "prior" in measure.params:
            near = [n for n in near if n in ("r1", "r2")]
        elif priors is not None:
            near = ["r3"] if priors == ["r3"] else all_names[: all_names.index(name)]
        if not near:
            assert copy is None
            continue
        nearest = max(near, key=lambda n: len(top(name) & top(n)))  # the first of equals
        policy = "others" if "prior" in measure.params else {n: [] for n in FEW} | {name: near}
        context = RunContext(FEW | {name: FEW[nearest]}, priors=policy)
        found = context.evaluate(FEW_LABELS, [measure], perquery=True).set_index("name")["value"]
        assert copy == (nearest, pytest.approx(found[name].mean(), rel=1e-12))
