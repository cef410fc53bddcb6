"""The values that bounds and odds compute themselves: against formulas, and against every labeling evaluated."""

import math
import random
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from ir_measures import parse_measure

from all_labelings import Campaign, all_values, labelings, random_campaign, rounding_of
from ir_measures_relative import RunContext, bounds, verdicts
from ir_measures_relative.bounding.bounds import make_labelings
from ir_measures_relative.context.collection import judged_collection
from ir_measures_relative.context.evaluated import Evaluated
from oracles.gains import dcg, gain_oracle
from oracles.nrg import nrg_err_oracle
from oracles.rankings import trec_order


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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
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
