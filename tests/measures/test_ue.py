"""Upper and expected value normalization: against the plain oracle, and all permutations of small pools."""

from __future__ import annotations

import itertools
import math
import re
import warnings
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import random_campaigns
from ir_measures_relative import AP_UE, UE, RelativeWarning, RunContext, bounds, nDCG_UE
from ir_measures_relative.measures.bases.ap import expected_sum_of_precisions
from ir_measures_relative.measures.bases.base import expected_sum
from ir_measures_relative.measures.bases.browsing import LogDiscount
from oracles.gains import gain_oracle
from oracles.rankings import trec_order
from oracles.ue import ue_dcg, ue_expected_dcg, ue_expected_sp, ue_oracle, ue_sp
from random_campaigns import Labels, Run
from scored import assume_common, per_query


def ranked(docs: Any) -> dict[str, float]:
    """A ranking as scores."""
    return {d: -float(i) for i, d in enumerate(docs)}


def all_rankings(labels: dict[str, int], extra: str = "") -> tuple[dict[str, Any], dict[str, Any]]:
    """Every ranking of the judged documents (and of the extra ones) as a query of its own: (qrels, run)."""
    orders = list(itertools.permutations([*labels, *extra]))
    return {str(i): labels for i in range(len(orders))}, {str(i): ranked(o) for i, o in enumerate(orders)}


# ---- against the oracle -------------------------------------------------------------------------------


@given(
    random_campaigns.runs,
    random_campaigns.qrels,
    st.none() | random_campaigns.cutoffs,
    st.sampled_from([1, 2]),
    st.sampled_from(["log2", "exp-log2"]),
    st.none() | st.dictionaries(st.integers(-1, 3), st.integers(0, 4), max_size=2),
    st.booleans(),
)
def test_ndcg_ue_is_the_oracle(
    run: Run, qrels: Labels, k: int | None, version: int, dcg: str, gains: Any, judged_only: bool
) -> None:
    assume_common(run, qrels)
    params = {"version": version, "dcg": dcg, "judged_only": judged_only}
    if gains is not None:
        params["gains"] = gains
    if k is not None:
        params["cutoff"] = k
    got = per_query(nDCG_UE(**params), qrels, run)
    assert set(got) == set(qrels)
    for q, labels in qrels.items():
        want = ue_oracle(
            trec_order(run.get(q, {})),
            labels,
            k,
            version=version,
            dcg=dcg,
            gains=gains,
            judged_only=judged_only,
        )
        assert got[q] == pytest.approx(want, abs=1e-12)


@given(
    random_campaigns.runs,
    random_campaigns.qrels,
    st.none() | random_campaigns.cutoffs,
    st.sampled_from([1, 2]),
    st.booleans(),
    st.integers(1, 3),
    st.booleans(),
)
def test_ap_ue_is_the_oracle(
    run: Run, qrels: Labels, k: int | None, version: int, exact: bool, rel: int, judged_only: bool
) -> None:
    assume_common(run, qrels)
    measure = AP_UE(
        version=version, expected="exact" if exact else "independent", rel=rel, judged_only=judged_only
    )
    got = per_query(measure if k is None else measure @ k, qrels, run)
    assert set(got) == set(qrels)
    for q, labels in qrels.items():
        want = ue_oracle(
            trec_order(run.get(q, {})),
            labels,
            k,
            base="AP",
            version=version,
            rel=rel,
            exact=exact,
            judged_only=judged_only,
        )
        assert got[q] == pytest.approx(want, abs=1e-12)


@given(
    random_campaigns.runs,
    random_campaigns.qrels,
    random_campaigns.cutoffs,
    st.integers(10, 60),
    st.sampled_from([1, 2]),
    st.booleans(),
)
def test_the_corpus_pool_is_the_oracle(
    run: Run, qrels: Labels, k: int | None, num_docs: int, version: int, exact: bool
) -> None:
    assume_common(run, qrels)
    with RunContext({}, num_docs=num_docs):
        ndcg = per_query(nDCG_UE(pool="corpus", version=version) @ k, qrels, run)
        expected = "exact" if exact else "independent"
        ap = per_query(AP_UE(pool="corpus", version=version, expected=expected) @ k, qrels, run)
    for q, labels in qrels.items():
        ranking = trec_order(run.get(q, {}))
        want = ue_oracle(ranking, labels, k, version=version, num_docs=num_docs)
        assert ndcg[q] == pytest.approx(want, abs=1e-12)
        want = ue_oracle(ranking, labels, k, base="AP", version=version, num_docs=num_docs, exact=exact)
        assert ap[q] == pytest.approx(want, abs=1e-12)


# ---- against all permutations ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "grades", [(1,), (0, 1), (0, 0, 2), (0, 1, 2, 3), (0, 0, 1, 1, 3), (0, 0, 0, 1, 2, 4)]
)
def test_expected_dcg_is_the_mean_over_all_permutations(grades: Any) -> None:
    gains = [2.0**g - 1 for g in grades]
    for k in range(1, len(grades) + 3):
        mean = np.mean([ue_dcg(order, k) for order in itertools.permutations(gains)])
        got = expected_sum(np.array([np.mean(gains)]), np.array([min(k, len(grades))]), LogDiscount())
        assert got[0] == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize("n", range(1, 8))
def test_exact_expected_sp_is_the_mean_over_all_permutations(n: int) -> None:
    for n_relevant, k in itertools.product(range(n + 1), range(1, n + 3)):
        pool = [True] * n_relevant + [False] * (n - n_relevant)
        mean = np.mean([ue_sp(order, k) for order in itertools.permutations(pool)])
        arguments = np.array([n_relevant]), np.array([n]), np.array([min(k, n)])
        assert expected_sum_of_precisions(*arguments, exact=True)[0] == pytest.approx(mean, rel=1e-12)
        published = expected_sum_of_precisions(*arguments, exact=False)[0]
        assert published == pytest.approx(min(k, n) * (n_relevant / n) ** 2, rel=1e-12)


def test_the_published_expectation_and_the_true_one() -> None:
    arguments = np.array([5]), np.array([20]), np.array([10])
    assert expected_sum_of_precisions(*arguments, exact=False)[0] == 0.625
    every = []
    for chosen in itertools.combinations(range(1, 21), 5):  # where the five relevant documents stand
        top = [i for i in chosen if i <= 10]
        every.append(sum(j / i for j, i in enumerate(top, start=1)))
    exact = expected_sum_of_precisions(*arguments, exact=True)[0]
    assert exact == pytest.approx(np.mean(every), rel=1e-12)
    assert round(exact, 4) == 1.1044


@pytest.mark.parametrize("k", [1, 2, 3, 5, 9, None])
@pytest.mark.parametrize(
    "labels",
    [{"A": 1, "B": 0, "C": 0, "D": 0}, {"A": 3, "B": 1, "C": 0, "D": 0, "E": 2}, {"A": 1, "B": 1, "C": -1}],
)
def test_version_2_averages_to_a_numerator_of_zero(labels: Any, k: int | None) -> None:
    """A - REB has mean 0 over all rankings of the pool; the published E[SP@k] has not."""
    qrels, run = all_rankings(labels)
    gain = [gain_oracle(g, "exp-log2") for g in sorted(labels.values(), reverse=True)]
    relevant = sum(g >= 1 for g in labels.values())
    bounds = {
        nDCG_UE(): (ue_dcg(gain, k), ue_expected_dcg(gain, k)),
        AP_UE(expected="exact"): (
            ue_sp([True] * relevant, k),
            ue_expected_sp(relevant, len(labels), k, True),
        ),
        AP_UE(): (
            ue_sp([True] * relevant, k),
            ue_expected_sp(relevant, len(labels), k, False),
        ),
    }
    for measure, (upper, expected) in bounds.items():
        values = per_query(measure if k is None else measure @ k, qrels, run).values()
        numerators = [v * (upper - expected) if v >= 0 else v * expected for v in values]
        if measure == AP_UE():
            assert np.mean(numerators) > 0.01
        else:
            assert np.mean(numerators) == pytest.approx(0, abs=1e-12)


# ---- range and corner cases -----------------------------------------------------------------------------


# ---- the corpus as the pool -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["nDCG_UE", "AP_UE", "AP_UE(expected='exact')"])
def test_the_corpus_is_a_pool_in_which_everything_is_judged(name: str) -> None:
    labels, run = {"A": 2, "B": 1, "C": 0}, {"q": ranked("XBA")}
    measure = ir_measures.parse_measure(f"{name}@5")
    everything = {**labels, **{f"u{i}": 0 for i in range(997)}}
    with RunContext({}, num_docs=1000):
        assert measure(pool="corpus").calc_aggregate({"q": labels}, run) == pytest.approx(
            measure.calc_aggregate({"q": everything}, run), rel=1e-12
        )


def test_what_the_corpus_needs() -> None:
    qrels, run = {"q": {"A": 1, "B": 0}}, {"q": ranked("A")}
    measure = nDCG_UE(pool="corpus") @ 5
    for context in (None, RunContext({})):
        with pytest.raises(ValueError, match=r"with RunContext\(\{\}, num_docs="):
            if context is None:
                measure.calc_aggregate(qrels, run)
            else:
                with context:
                    measure.calc_aggregate(qrels, run)
    with RunContext({}, num_docs=1), pytest.raises(ValueError, match="'q' has 2 judged documents"):
        measure.calc_aggregate(qrels, run)
    with pytest.raises(ValueError, match=r"write nDCG_UE\(pool='corpus'\)@10"):
        nDCG_UE(pool="corpus").validate_params()
    with pytest.raises(ValueError, match="judged_only"):
        (AP_UE(pool="corpus", judged_only=True) @ 5).validate_params()


def test_the_bounds_of_one_context_do_not_leak_into_another() -> None:
    qrels, run = {"q": {"A": 1, "B": 0}}, {"q": ranked("XA")}
    measure, values = AP_UE(pool="corpus", expected="exact") @ 2, []
    for num_docs in (2, 20):
        context = RunContext({}, num_docs=num_docs)
        with context:
            values += [measure.calc_aggregate(qrels, run), measure(version=1).calc_aggregate(qrels, run)]
            values += [(AP_UE @ 2).calc_aggregate(qrels, run)]
    want = []
    for num_docs in (2, 20):
        args = ["X", "A"], qrels["q"], 2
        want += [ue_oracle(*args, base="AP", version=v, exact=True, num_docs=num_docs) for v in (2, 1)]
        want += [ue_oracle(*args, base="AP")]
    assert values == pytest.approx(want)


# ---- through ir_measures ---------------------------------------------------------------------------------


# ---- a random ranking of what? ------------------------------------------------------------------------


def warned(qrels: Any, *measures: Any, **context: Any) -> list[str]:
    run = {q: ranked(docs) for q, docs in qrels.items()}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        RunContext({"one": run, "two": run}, **context).evaluate(qrels, list(measures))
    return [str(w.message) for w in caught if w.category is RelativeWarning]


def pool(relevant: int, others: int) -> dict[str, int]:
    return {f"d{i}": int(i < relevant) for i in range(relevant + others)}


def test_pools_of_relevant_documents_alone_are_told_of() -> None:
    """Once a call, for any number of measures, with the topics and the share; a perfect ranking has 0 there."""
    qrels = {"q0": {"A": 1}, "q1": {"A": 1, "B": 2}, "q2": pool(19, 2)}
    told = warned(qrels, nDCG_UE @ 10, AP_UE @ 10, UE(base="P") @ 5, nDCG_UE(version=1) @ 10)
    assert len(told) == 1 and "pool='corpus'" in told[0] and "num_docs=" in told[0]
    assert "on 2 of 3 topics nearly all of these are relevant (0.0% are not)" in told[0]
    assert per_query(nDCG_UE @ 10, {"q0": {"A": 1}}, {"q0": {"A": 1.0}}) == {"q0": 0}
    at_2 = per_query(nDCG_UE @ 10, {"q0": {"A": 1}}, {"q0": {"A": 1.0, "X": 2.0}})
    assert at_2["q0"] == pytest.approx(1 / math.log2(3) - 1)


@pytest.mark.parametrize(
    ("qrels", "said"),
    [
        ({"q": pool(20, 1)}, r"on 1 of 1 topics nearly all of these are relevant \(4.8% are not\)"),
        ({"q": pool(19, 1)}, None),  # 5 %
        ({"q": pool(0, 3)}, None),
    ],
    ids=str,
)
def test_how_few_are_hardly_any(qrels: Labels, said: str | None) -> None:
    told = warned(qrels, nDCG_UE @ 10)
    assert not told if said is None else re.search(said, told[0])


def test_what_counts_as_relevant_and_the_whole_collection() -> None:
    qrels = {"q": {"A": 1, "B": 2}}
    assert warned(qrels, nDCG_UE @ 10) and warned(qrels, AP_UE @ 10) and not warned(qrels, AP_UE(rel=2) @ 10)
    assert not warned(qrels, nDCG_UE(pool="corpus") @ 10, AP_UE(pool="corpus") @ 10, num_docs=100)


def test_a_call_with_batches_says_it_once() -> None:
    pt = pytest.importorskip("pyterrier", reason="pyterrier is not installed")
    topics = pd.DataFrame({"qid": [f"q{i}" for i in range(6)], "query": "x"})
    qrels = pd.DataFrame([(f"q{i}", f"d{j}", 1) for i in range(6) for j in range(1 + i)])
    qrels.columns = ["qid", "docno", "label"]
    frame = pt.model.add_ranks(qrels.drop(columns="label").assign(score=1.0))
    systems = {"one": pt.Transformer.from_df(frame), "two": pt.Transformer.from_df(frame)}
    with pytest.warns(RelativeWarning) as caught:
        pt.relative.Experiment(
            systems, topics, qrels, [nDCG_UE @ 5, AP_UE @ 5], batch_size=2, validate="ignore"
        )
    assert len([w for w in caught if w.category is RelativeWarning]) == 1


VALUES: dict[str, Any] = {
    "nDCG_UE": lambda grades, k: ue_dcg([2**g - 1 for g in grades], k),
    "AP_UE(expected='exact')": lambda grades, k: ue_sp([g > 0 for g in grades], k),
    "UE(base='RR')": lambda grades, k: max([(g > 0) / i for i, g in enumerate(grades[:k], start=1)]),
    "UE(base='P')": lambda grades, k: sum(g > 0 for g in grades[:k]) / k,
}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("k", [1, 3, 10])
def test_the_pool_of_the_run_is_all_orders_of_its_judged_documents(name: str, version: int, k: int) -> None:
    labels = {"A": 2, "B": 0, "C": 1, "D": 0, "E": 2, "F": 1, "G": 0}
    ranking = "BAXCD"  # X is not judged; E, F and G are not ranked
    every = [VALUES[name](grades, k) for grades in itertools.permutations([2, 0, 1, 0])]
    actual, mean, best = VALUES[name]([labels.get(d, 0) for d in ranking], k), np.mean(every), max(every)
    if version == 1:
        expected = actual / best * actual / (actual + mean) if actual else 0.0
    else:
        expected = (actual - mean) / (best - mean if actual >= mean else mean)
    measure = ir_measures.parse_measure(name)(pool="run", version=version) @ k
    assert measure.calc_aggregate({"q": labels}, {"q": ranked(ranking)}) == pytest.approx(expected, abs=1e-12)


def test_a_run_that_ranks_few_of_the_judged_documents_is_told_of() -> None:
    labels = {"q": {f"d{i}": i % 2 for i in range(10)}, "r": {"x": 1, "y": 0, "z": 0}}
    few, half = ({"q": {f"d{i}": -float(i) for i in range(n)}} for n in (4, 5))
    with pytest.warns(RelativeWarning, match=r"ranks 40% of the judged documents.* pool='run'"):
        (nDCG_UE @ 3).calc_aggregate(labels, few)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (nDCG_UE @ 3).calc_aggregate(labels, half)
        (nDCG_UE(pool="run") @ 3).calc_aggregate(labels, few)
        (nDCG_UE @ 3).calc_aggregate(labels, {"q": {}, "r": {"x": 2.0, "y": 1.0}})
        with RunContext({}, num_docs=100):
            (nDCG_UE(pool="corpus") @ 3).calc_aggregate(labels, few)


def test_bounds_of_the_pool_of_a_run() -> None:
    with pytest.raises(ValueError, match=r"nDCG_UE\(pool='run'\)@2 cannot be bounded yet.* pool='judged'"):
        bounds(RunContext({"a": {"q": {"A": 1.0}}}), {"q": {"A": 1}}, [nDCG_UE(pool="run") @ 2])
