"""Shapley values: enumeration of all subsets, the axioms, the closed form of base P."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn import examples
from ir_measures_relative import RunContext, Shapley
from ir_measures_relative.context.collection import judged_collection
from ir_measures_relative.context.tops import Look
from oracles.shapley import set_value_oracle, shapley_oracle
from random_campaigns import contexts, cutoffs, qrels, runs
from scored import assume_common, in_order, per_query, ranking

CASES: list[dict[str, Any]] = [
    *({}, {"rel": 2}, {"base": "nDCG"}, {"base": "nDCG", "dcg": "exp-log2"}),
    *({"base": "nDCG", "gains": {0: 1, 1: 5, 3: 2}}, {"base": "RBP"}),
    *({"base": "SDCG"}, {"base": "RBP", "p": 0.5, "rel": 2}),
]


@pytest.mark.parametrize("options", CASES, ids=str)
@examples(15)
@given(context=contexts, run=runs, labels=qrels, k=cutoffs)
def test_new_run_against_all_subsets(options, context, run, labels, k) -> None:
    assume_common(run, labels)
    values = per_query(Shapley(**options) @ k, labels, run, RunContext(context, priors="earlier"))
    assert set(values) == set(labels)
    for query, value in values.items():
        systems = [ranking(run, query), *(ranking(other, query) for other in context.values())]
        expected = shapley_oracle(0, systems, labels[query], k=k, **options)
        assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("options", CASES, ids=str)
@examples(15)
@given(context=contexts.filter(bool), labels=qrels, k=st.none() | cutoffs)
def test_members_against_all_subsets_and_efficiency(options, context, labels, k) -> None:
    for run in context.values():
        assume_common(run, labels)
    k = 3 if k is None and options.get("base", "P") in ("P", "SDCG") else k
    measure = Shapley(**options) if k is None else Shapley(**options) @ k
    rows = RunContext(context).evaluate(labels, [measure], perquery=True)
    names = list(context)
    for query, of_query in rows.groupby("query_id"):
        systems = [ranking(context[name], query) for name in names]
        for row in of_query.itertuples():
            expected = shapley_oracle(names.index(row.name), systems, labels[query], k=k, **options)
            assert row.value == pytest.approx(expected, abs=1e-12)
        whole = set_value_oracle(systems, labels[query], k=k, **options)
        assert of_query["value"].sum() == pytest.approx(whole, abs=1e-12)


@pytest.mark.parametrize("n", [3, 129])
def test_many_identical_systems_share_equally(n: int) -> None:
    """With 129 systems the integrand has degree 128: the rule is still exact."""
    run, labels = {"q": in_order("abc")}, {"q": {"a": 1, "b": 2, "c": 0}}
    context = RunContext({f"r{i}": run for i in range(n)})
    values = context.evaluate(labels, [Shapley @ 3, Shapley(base="nDCG") @ 3]).iloc[:, 1:]
    assert values["Shapley@3"].to_numpy() == pytest.approx(2 / 3 / n, rel=1e-12)
    second = 1 / np.log2(3)
    found = (1 + 2 * (1 - (1 - second) ** n)) / (2 + second)
    assert values["Shapley(base='nDCG')@3"].to_numpy() == pytest.approx(found / n, rel=1e-12)


def test_memory_is_bounded() -> None:
    """The table of nodes is half as large as that of the positions, which a context keeps as well."""
    rng = np.random.default_rng(0)
    n_runs, n_queries = 65, 40
    runs = {
        f"r{i}": {
            f"q{q}": {f"d{d}": float(-j) for j, d in enumerate(rng.choice(200, 30, replace=False))}
            for q in range(n_queries)
        }
        for i in range(n_runs)
    }
    labels = {f"q{q}": {f"d{d}": 1 for d in range(100)} for q in range(n_queries)}
    context = RunContext(runs)
    collection = judged_collection(context, labels)
    positions = collection.positions(collection.documents.relevant, Look(30))
    tracemalloc.start()
    try:
        context.evaluate(labels, [Shapley @ 30])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * positions.nbytes
