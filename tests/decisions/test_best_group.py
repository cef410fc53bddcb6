"""select_complementary(): the value of a group, the exact search, its certificate, and the bounds of the greedy one."""

from __future__ import annotations

import itertools

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn import examples
from ir_measures_relative import NRG, RelativeWarning, RunContext, UniqueRel, select_complementary
from ir_measures_relative.context.view import view_of
from ir_measures_relative.decisions.select import coverage_function
from oracles.nrg import nrg_oracle, nrg_residual
from oracles.shapley import set_value_oracle
from random_campaigns import contexts, qrels
from scored import assume_common, ranking

SUMS = [
    "NRG(norm='ideal')@5",
    "NRG@5",
    "NRG(norm=None)@5",
    "NRG(base='P')@5",
    "NRG(base='RBP')",
    "UniqueRel@5",
    "TaSC(base='nDCG@5')",
]


def campaign(seed: int, n_runs: int = 12, n_queries: int = 4) -> tuple[RunContext, dict[str, dict[str, int]]]:
    """Runs over thirty documents that hold eight each."""
    rng = np.random.default_rng(seed)
    docs = [f"d{i}" for i in range(30)]
    queries = [f"q{i}" for i in range(n_queries)]
    runs = {
        f"r{i}": {
            q: {d: float(-j) for j, d in enumerate(rng.choice(docs, 8, replace=False).tolist())}
            for q in queries
        }
        for i in range(n_runs)
    }
    labels = {q: {d: int(g) for d, g in zip(docs, rng.integers(0, 4, 30), strict=True)} for q in queries}
    return RunContext(runs), labels


def value_of(measure: str, context: RunContext, labels, names) -> float:
    """The value of a group, by the oracle."""
    parsed = ir_measures.parse_measure(measure)
    runs = {name: context.runs[name].to_dict() for name in names}
    total = 0.0
    for query, docs in labels.items():
        rankings = [ranking(run, query) for run in runs.values()]
        if parsed.NAME == "TaSC":
            total += max(nrg_oracle(r, [], docs, k=5) for r in rankings)
            continue
        k = parsed.params.get("cutoff")
        if parsed.NAME == "UniqueRel":
            total += set_value_oracle(rankings, docs, "P", k, norm=False)
        else:
            total += set_value_oracle(rankings, docs, parsed["base"], k, norm=parsed["norm"] is not None)
    return total / len(labels)


@pytest.mark.parametrize("measure", SUMS)
@pytest.mark.parametrize("seed", [0, 1])
def test_exact_equals_enumeration(measure, seed) -> None:
    """All groups of up to 6 of 12; the coverage itself is compared with the oracle."""
    context, labels = campaign(seed)
    coverage = coverage_function(ir_measures.parse_measure(measure), view_of(context, labels))
    for n in range(1, 7):
        groups = {g: coverage.value(coverage.covered(g)) for g in itertools.combinations(range(12), n)}
        best = max(groups.values())
        found = select_complementary(context, labels, n, measure, method="exact")
        chosen = tuple(sorted(context.names.index(name) for name in found["name"]))
        assert groups[chosen] == pytest.approx(best, rel=1e-12)
        assert found["cumulative"].iloc[-1] == pytest.approx(best, rel=1e-12)
        assert found["bound"].iloc[-1] == pytest.approx(best, rel=1e-12)
        assert value_of(measure, context, labels, found["name"]) == pytest.approx(best, abs=1e-12)
        greedy = select_complementary(context, labels, n, measure)
        assert greedy["bound"].iloc[-1] >= best - 1e-12
        if measure not in ("NRG@5", "TaSC(base='nDCG@5')"):  # what a run adds is what the measure says
            assert greedy["cumulative"].iloc[-1] >= (1 - 1 / np.e) * best - 1e-12
            assert greedy["marginal"].cumsum().to_numpy() == pytest.approx(greedy["cumulative"].to_numpy())


@pytest.mark.parametrize("measure", [*SUMS, "NRG(base='RR')@5"])
@examples(20)
@given(context=contexts.filter(lambda runs: len(runs) > 1), labels=qrels)
def test_cumulative_is_the_value_of_the_group(measure, context, labels) -> None:
    for run in context.values():
        assume_common(run, labels)
    if measure.startswith("TaSC"):
        labels = {q: {d: max(label, 0) for d, label in docs.items()} for q, docs in labels.items()}
    members = RunContext(context)
    table = select_complementary(members, labels, len(context), measure)
    for i, row in enumerate(table.itertuples(), start=1):
        names = table["name"][:i]
        if "RR" in measure:
            tops = {q: [ranking(context[n], q) for n in names] for q in labels}
            expected = np.mean(
                [
                    max(
                        1 - nrg_residual(d, 1.0, tops[q], "RR", 5, 0.8) if label >= 1 else 0.0
                        for d, label in docs.items()
                    )
                    for q, docs in labels.items()
                ]
            )
            assert np.isnan(row.bound)
        else:
            expected = value_of(measure, members, labels, names)
            assert row.bound >= row.cumulative
        assert row.cumulative == pytest.approx(expected, abs=1e-12)


@examples(30)
@given(context=contexts.filter(lambda runs: len(runs) > 1), labels=qrels, data=st.data())
def test_exact_on_ties_and_empty_runs(context, labels, data) -> None:
    for run in context.values():
        assume_common(run, labels)
    n = data.draw(st.integers(1, len(context)))
    found = select_complementary(RunContext(context), labels, n, UniqueRel @ 2, method="exact")
    best = max(
        value_of("UniqueRel@2", RunContext(context), labels, group)
        for group in itertools.combinations(context, n)
    )
    assert found["cumulative"].iloc[-1] == pytest.approx(best, abs=1e-12)
    assert found["name"].is_unique and len(found) == n


def test_out_of_time_says_so() -> None:
    context, labels = campaign(3)
    with pytest.warns(RelativeWarning, match="stopped after time_limit=0: .*, at most"):
        found = select_complementary(context, labels, 5, "UniqueRel@5", method="exact", time_limit=0)
    best = select_complementary(context, labels, 5, "UniqueRel@5", method="exact")
    assert np.isfinite(found["bound"].iloc[-1])
    assert found["bound"].iloc[-1] >= best["cumulative"].iloc[-1] - 1e-12
    assert found["cumulative"].iloc[-1] <= best["cumulative"].iloc[-1] + 1e-12


def test_bad_input() -> None:
    context, labels = campaign(0, n_runs=3)
    with pytest.raises(ValueError, match="n=4 is not allowed; it must be a whole number from 1 to 3"):
        select_complementary(context, labels, 4, method="exact")
    with pytest.raises(ValueError, match="method='best' is not allowed; it must be one of 'greedy', 'exact'"):
        select_complementary(context, labels, 1, method="best")
    with pytest.raises(ValueError, match="method='exact' needs a measure"):
        select_complementary(context, labels, 1, NRG(base="RR") @ 5, method="exact")
