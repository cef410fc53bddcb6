"""Intervals, and the values that bounds and odds compute themselves, against the values of every labeling."""

import math
import os
import random
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from ir_measures import parse_measure

from all_labelings import Campaign, all_values, check, labelings, random_campaign, rounding_of
from drawn import times
from ir_measures_relative import NRG, RunContext, bounds, verdicts
from ir_measures_relative.bounding import judge_next
from ir_measures_relative.bounding.bounds import make_labelings
from ir_measures_relative.context.collection import judged_collection
from ir_measures_relative.context.evaluated import Evaluated
from oracles.gains import dcg, gain_oracle
from oracles.nrg import nrg_err_oracle
from oracles.rankings import trec_order

# How many random campaigns, of four queries, since most of the time goes to calls; and every pair of their runs.
CAMPAIGNS = int(os.environ.get("LABELING_CAMPAIGNS", times(4)))


def measures_at(cutoff: int | None, graded: bool, judged_only: bool) -> list[str]:
    """Every measure that can be bounded, at a depth."""
    at = "" if cutoff is None else f"@{cutoff}"
    rel = 2 if graded else 1
    flag = "judged_only=True" if judged_only else ""
    of_rel = f"rel={rel},{flag}){at}"
    found = [f"{name}{flag}){at}" for name in (
        "nDCG(", "NRG(norm='ideal',", "NRG(norm=None,", "NRG(base='ERR',max_grade=3,", "NRG(base='RBP',norm=None,",
        "Shapley(base='nDCG',", "nDCG_UE(version=1,", "nDCG_UE(version=2,", "Rareness(")]  # fmt: skip
    found += [name + of_rel for name in (
        "NRG(base='RR',", "NRG(base='RBP',p=0.6,", "Shapley(base='RBP',", "AP(", "AP_Rareness(", "AP_UE(version=1,",
        "AP_UE(version=2,", "AP_UE(expected='exact',", "Rareness(base='RBP',")]  # fmt: skip
    if cutoff is None:
        found += [f"RR({of_rel}"]
    else:
        found += [name + of_rel for name in (
            "P(", "R(", "Success(", "UniqueRel(", "NRG(base='P',", "Shapley(", "P_Rareness(",
            "P_Rareness(bounded=True,alpha=0.5,")]  # fmt: skip
        found += [f"NRG(base='P',norm=None,{flag}){at}"]
        found += [] if judged_only else [f"ERR{at}", f"RR(rel={rel}){at}", f"nDCG(dcg='exp-log2'){at}"]
    if graded:
        found += [f"{name}(gains={{1:3,2:1}},{flag}){at}" for name in ("nDCG", "Rareness")]
        found += [f"{name}gains={{0:1,2:3}},{flag}){at}" for name in (
            "Shapley(base='nDCG',", "NRG(norm='ideal',", "NRG(norm=None,")]  # fmt: skip
    return [m.replace(",)", ")").replace("()", "") for m in found]


@pytest.mark.parametrize("seed", range(CAMPAIGNS))
@pytest.mark.parametrize("graded", [False, True])
def test_every_labeling(graded: bool, seed: int) -> None:
    rng = random.Random(1000 * graded + seed)
    highest, most_open = (rng.choice([2, 3]), 4) if graded else (1, 6)
    campaign = random_campaign(rng, highest, most_open, 4)
    found = check(campaign, measures_at(campaign.cutoff, graded, rng.random() < 0.3))
    for measure, tally in found.items():
        if measure.startswith(("NRG", "Shapley")) and "gains={0:" not in measure:
            count, exact, excess = tally["one"]
            assert exact == count and excess < 1e-6, measure


@pytest.mark.parametrize("seed", range(CAMPAIGNS // 2))
def test_unretrieved_relevant_documents(seed: int) -> None:
    campaign = random_campaign(random.Random(2000 + seed), 1, 4)
    check(campaign, measures_at(campaign.cutoff, False, False), unretrieved_relevant=2)


def test_measures_that_only_cwl_eval_computes() -> None:
    """RBP and SDCG by hand: judged A and the open X, in a ranking of A, X, N."""
    context = RunContext({"a": {"q": {"A": 3.0, "X": 2.0, "N": 1.0}}})
    found = bounds(context, {"q": {"A": 1, "N": 0}}, ["RBP(rel=1,p=0.5)", "SDCG(max_rel=2)@2"])
    full = 1.0 + math.log(2) / math.log(3)
    assert found["worst"].tolist() == pytest.approx([0.5, 0.5 / full])
    assert found["best"].tolist() == pytest.approx([0.75, (0.5 + math.log(2) / math.log(3)) / full])
    with pytest.raises(ValueError, match=r"give rel, as in RBP\(rel=1\)@10"):
        bounds(context, {"q": {"A": 1}}, ["RBP@10"])


@pytest.mark.parametrize("rel", [2, 4])
def test_no_label_makes_a_document_relevant_that_only_a_higher_grade_would(rel: int) -> None:
    """By every binary measure, with what is elsewhere, and with what follows the end of a ranking."""
    names = ["P(rel={})@1", "RR(rel={})", "Success(rel={})@2", "AP(rel={})", "RBP(rel={})", "UniqueRel(rel={})@2",
             "NRG(base='RR',rel={})", "Shapley(rel={})@2", "AP_Rareness(rel={})", "AP_UE(rel={})"]  # fmt: skip
    measures = [name.format(rel) for name in names]
    runs = {"a": {"q": {"A": 2.0, "X": 1.0}}, "b": {"q": {"Y": 2.0, "A": 1.0}}}
    never, ever = RunContext(runs, grades=(0, rel - 1)), RunContext(runs, grades=(0, rel))
    for context, least in ((never, 0), (ever, 1)):
        one = bounds(context, {"q": {"A": 1}}, measures, unretrieved_relevant=1)
        two = verdicts(context, {"q": {"A": 1}}, measures, unretrieved_relevant=1)
        assert one.groupby("measure")["best"].max().gt(0).eq(bool(least)).all()
        if not least:
            assert (one[["worst", "value", "best"]] == 0).all(axis=None) and one["exact"].all()
            assert (two["settled"] == "equal").all() and two["exact"].all() and not two["n_deciding"].any()
            assert judge_next(context, {"q": {"A": 1}}, measures[0], 5).empty
    # Where nobody says which grades there are, the measure knows of one.
    found = bounds(RunContext(runs), {"q": {"A": 1}}, measures, unretrieved_relevant=0)
    assert found.groupby("measure")["best"].max().gt(0).all()


# What is too large to be tried, or to be worked on at once; lowered to what small campaigns exceed.
GUARDS = {"ap._MOST_EVEN": 1, "ap._MOST_WEIGHED": 1, "ap._MOST_WEIGHTED": 1, "ap_relaxation._WORK": 4}


@pytest.mark.parametrize("lowered", [*([guard] for guard in GUARDS), list(GUARDS)], ids=" ".join)
def test_what_is_too_large_to_be_tried_is_bounded_all_the_same(
    lowered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No labeling is outside, and what is said to be exact is attained; where all are lowered, not everything is."""
    exact = []
    for guard in lowered:
        monkeypatch.setattr(f"ir_measures_relative.bounding.{guard}", GUARDS[guard])
    for seed in range(3):
        campaign = random_campaign(random.Random(3000 + seed), 1 + seed % 2, 4)
        at = "" if campaign.cutoff is None else f"@{campaign.cutoff}"
        found = check(campaign, [f"{name}{at}" for name in ("AP", "AP_Rareness")])
        exact += [attained / n for tally in found.values() for n, attained, _ in tally.values()]
    assert len(lowered) == 1 or np.mean(exact) < 0.9


def test_where_the_label_0_gains_the_upper_end_is_not_1() -> None:
    """X is known from b, so that a's value does not depend on its label."""
    context = RunContext({"a": {"q": {"A": 2.0, "X": 1.0}}, "b": {"q": {"X": 2.0, "B": 1.0}}}, grades=(0, 1))
    labels = {"q": {"A": 0, "B": 1, "C": 1}}
    found = bounds(context, labels, ["NRG(norm='ideal',gains={0:1,1:3})@1"], unretrieved_relevant=0).iloc[0]
    assert found[["worst", "value", "best"]].tolist() == [1 / 3] * 3 and found["exact"]


def test_a_negative_label_that_gains_more_than_any_that_is_still_to_come() -> None:
    """To judged_only such a document is unjudged: no open one can have its gain, and the ideal holds it."""
    for seed in range(12):
        campaign = random_campaign(random.Random(4000 + seed), 2, 3)
        if campaign.options["grades"][0] < 0:
            check(campaign, [NRG(norm="ideal", gains={-1: 5}, judged_only=True, cutoff=campaign.cutoff)])


@pytest.mark.parametrize("elsewhere", [0, 1])
def test_recall_is_exact_for_a_run_and_for_two(elsewhere: int) -> None:
    rng, intervals = random.Random(1), 0
    for _ in range(10):
        campaign = random_campaign(rng, rng.choice([1, 2]), 4)
        k = campaign.cutoff
        if k is None:
            continue
        found = check(campaign, [f"R@{k}", f"R(rel=2)@{k}"], elsewhere)
        for of_measure in found.values():
            for total, exact, beyond in of_measure.values():
                intervals += total
                assert exact == total and beyond < 1e-9
    assert intervals > 60


def campaign_with_a_cutoff(seed: int, highest: int, most_open: int) -> Campaign:
    rng = random.Random(seed)
    while (campaign := random_campaign(rng, highest, most_open)).cutoff is None:
        pass
    return campaign


def reciprocal_rank(ranking: list[str], labels: dict[str, int], k: int) -> float:
    return next((1 / i for i, doc in enumerate(ranking[:k], start=1) if labels.get(doc, 0) >= 1), 0.0)


def exponential_ndcg(ranking: list[str], labels: dict[str, int], k: int) -> float:
    found = [gain_oracle(labels.get(doc, 0), "exp-log2") for doc in ranking]
    ideal = dcg(sorted((gain_oracle(label, "exp-log2") for label in labels.values()), reverse=True), k)
    return dcg(found, k) / ideal if ideal else 0.0


def rank_biased_precision(ranking: list[str], labels: dict[str, int], k: int) -> float:
    return sum(0.4 * 0.6**i for i, doc in enumerate(ranking[:k]) if labels.get(doc, 0) >= 1)


def scaled_dcg(ranking: list[str], labels: dict[str, int], k: int) -> float:
    found = sum(max(labels.get(doc, 0), 0) / math.log2(i + 2) for i, doc in enumerate(ranking[:k]))
    return found / sum(3 / math.log2(i + 2) for i in range(k))


BY_HAND: dict[str, Callable[[list[str], dict[str, int], int], float]] = {
    "RR": reciprocal_rank,
    "nDCG(dcg='exp-log2')": exponential_ndcg,
    "ERR": lambda ranking, labels, k: nrg_err_oracle(ranking, [], labels, k, 4),
    "RBP(p=0.6,rel=1)": rank_biased_precision,
    "SDCG(max_rel=3)": scaled_dcg,
}


@pytest.mark.parametrize("condensed", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_values_that_trec_eval_does_not_compute(seed: int, condensed: bool) -> None:
    """The value beside the bounds, condensed or not, and its difference beside a verdict; gdeval's has five digits."""
    campaign = campaign_with_a_cutoff(seed, 3, 3)
    context, k = RunContext(campaign.runs, **campaign.options), campaign.cutoff or 0
    names = {name: f"{name}@{k}" for name in BY_HAND}
    if condensed:
        names = {"RR": f"RR(judged_only=True)@{k}"}
        names["nDCG(dcg='exp-log2')"] = f"nDCG(dcg='exp-log2',judged_only=True)@{k}"
    of_measure = {str(parse_measure(written)): BY_HAND[name] for name, written in names.items()}
    values = {}
    for row in bounds(context, campaign.qrels, list(of_measure), perquery=True).itertuples(index=False):
        labels = campaign.qrels[row.query_id]
        ranking = trec_order(campaign.runs[row[0]].get(row.query_id, {}))
        if condensed:
            ranking = [d for d in ranking if labels.get(d, -1) >= 0]
        values[row[0], row.query_id, row.measure] = row.value
        assert row.value == pytest.approx(of_measure[row.measure](ranking, labels, k), abs=1e-12), row
        assert condensed or row.worst - 1e-12 <= row.value <= row.best + 1e-12
    pairs = verdicts(context, campaign.qrels, list(of_measure), perquery=True, missing="zero")
    for row in pairs.itertuples(index=False):
        first, second = (values[name, row.query_id, row.measure] for name in row[:2])
        assert row.value == pytest.approx(first - second, abs=1e-12)
    computed = [m for m in of_measure if m.startswith(("RR", "nDCG", "ERR"))]
    if condensed:
        return
    for row in context.evaluate(campaign.qrels, computed, perquery=True).itertuples(index=False):
        assert row.value == pytest.approx(values[row[0], row.query_id, row.measure], abs=1e-5)


MEASURES = [
    "P@k", "RR@k", "Success@k", "AP@k", "AP_Rareness@k", "P_Rareness@k", "AP_UE@k", "UniqueRel@k", "NRG(base='P')@k",
    "NRG(base='RR')@k", "NRG(base='RBP')@k", "Shapley@k", "TaSC(base='AP@k')", "rrLP(ref='r0')@k", "sgnLR(ref='r0')@k",
    "RPP(ref='r0')@k", "nDCG@k", "NRG@k", "NRG(norm='ideal')@k", "NRG(norm='whole')@k", "NRG(norm=None)@k",
    "Shapley(base='nDCG')@k", "nDCG_UE(dcg='log2')@k", "TaSC(base='nDCG@k')", "nDCG(dcg='exp-log2')@k", "nDCG_UE@k",
    "nDCG_UE(version=1)@k", "NRG(gains={1:3,2:1})@k", "ERR@k", "TaSC(base='ERR@k')", "NRG(base='ERR',max_grade=3)@k",
]  # fmt: skip


# The last has a pool of one gain, 7, three times: 7 by rounding.
@pytest.mark.parametrize("seed", [0, 1, 128])
def test_drawn_labelings_have_the_values_of_evaluate(seed: int) -> None:
    """Every labeling of each query, as though it had been drawn: all runs, queries and measures."""
    campaign = campaign_with_a_cutoff(100 + seed, 1 + seed % 3, 3)
    context = RunContext(campaign.runs, **campaign.options)
    labels = list(range(campaign.options["grades"][0], campaign.options["grades"][1] + 1))
    names = [str(parse_measure(m.replace("@k", f"@{campaign.cutoff}"))) for m in MEASURES]
    expected = all_values(campaign, names, labels)
    of_query = {query: labelings(campaign, query, labels) for query in campaign.qrels}
    draws = max(map(len, of_query.values()))
    collection = judged_collection(context, campaign.qrels)
    for j, measure in enumerate(names):
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            model = make_labelings(parse_measure(measure), Evaluated.each(collection), unretrieved_relevant=0)
        docs = model.docs
        rows = np.flatnonzero(model.open)
        open_docs = list(zip(docs.query_ids[docs.query[rows]], docs.doc_ids[rows], strict=True))
        drawn = np.array(
            [[of_query[q][i % len(of_query[q])][d] for q, d in open_docs] for i in range(draws)],
            dtype=np.int64,
        )
        found = model.values(drawn.reshape(draws, len(rows)))
        for at, query in enumerate(docs.query_ids):
            n = len(of_query[query])
            np.testing.assert_allclose(
                found[:, :n, at], expected[query][:, j], rtol=0, atol=rounding_of(measure), err_msg=f"{measure} {campaign}"
            )  # fmt: skip
