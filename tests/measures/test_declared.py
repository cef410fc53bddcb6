"""What a parameter takes, and what a group of runs would gain by one run more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_measures import REGISTERED
from ir_measures_relative import MED, NRG, UE, RunContext, Shapley, TaSC
from ir_measures_relative.context.measure_strings import MISSING
from ir_measures_relative.data.documents import Judgments
from ir_measures_relative.data.ids import Ids
from ir_measures_relative.decisions.select import CoverageFunction
from ir_measures_relative.measures.nrg import BASES, ResidualRanking
from scored import per_query


@pytest.mark.parametrize("name", REGISTERED)
def test_ir_measures_own_check_knows_what_is_required(name: str) -> None:
    for spec in REGISTERED[name].SUPPORTED_PARAMS.values():
        assert spec.validate(MISSING) is not spec.required


@pytest.mark.parametrize("name", REGISTERED)
def test_a_formula_has_no_character_that_an_escape_made(name: str) -> None:
    """``\\frac`` in a string that is not raw starts with a form feed."""
    assert REGISTERED[name].FORMULA.isprintable()


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (Shapley(base="nDCG", rel=2) @ 3, "rel goes with base 'P', 'RBP', 'SDCG', not 'nDCG'"),
        (UE(base="Success"), "needs a cutoff"),
    ],
)
def test_refused(measure: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        measure.validate_params()


def test_a_number_beyond_its_range_is_refused() -> None:
    with pytest.raises(ValueError, match="cutoff=2147483648 is not allowed"):
        (NRG @ 2**31).validate_params()
    with pytest.raises(ValueError, match="beta=-1.0 is not allowed; it must be a number from 0 to 1e100"):
        (MED(base="Q", beta=-1.0) @ 3).validate_params()


@given(data=st.data(), best=st.booleans(), by_query=st.booleans())
def test_a_gain_is_the_difference_of_two_values(data: Any, best: bool, by_query: bool) -> None:
    n_runs, n_items = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 5))
    numbers = st.floats(0, 1)
    seen = np.array(
        data.draw(
            st.lists(st.lists(numbers, min_size=n_items, max_size=n_items), min_size=n_runs, max_size=n_runs)
        )
    )
    weight = np.array(data.draw(st.lists(numbers, min_size=n_items, max_size=n_items)))
    query = (
        np.sort(data.draw(st.lists(st.integers(0, 2), min_size=n_items, max_size=n_items)))
        if by_query
        else None
    )
    coverage = CoverageFunction(seen, weight, best=best, query=query)
    covered = coverage.covered(data.draw(st.lists(st.integers(0, n_runs - 1), max_size=3)))
    expected = [
        coverage.value(coverage.joined(covered, run)) - coverage.value(covered) for run in range(n_runs)
    ]
    assert coverage.gains(covered) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("base", BASES)
@given(data=st.data())
def test_shares_add_up_to_the_value(base: str, data: Any) -> None:
    """Also where the value is the largest term, which one document has."""
    sizes = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
    query = np.repeat(np.arange(len(sizes)), sizes)
    gain = np.array(
        data.draw(st.lists(st.sampled_from([0.0, 0.5, 0.9]), min_size=len(query), max_size=len(query)))
    )
    position = np.concatenate(
        [np.zeros(0, int), *(data.draw(st.permutations(range(n))) for n in sizes)]
    ).astype(int)
    docs = Judgments(np.arange(len(sizes)), query, Ids.of(list(map(str, query))), np.ones(len(query), int))
    browsing = BASES[base].browsing({"cutoff": 3, "p": 0.8}.get)
    ranking = ResidualRanking(docs, gain, position, BASES[base], browsing, 3)
    shares, value = ranking.shares(), ranking.value()
    assert [shares[query == q].sum() for q in range(len(sizes))] == pytest.approx(value.tolist(), abs=1e-12)


def test_whole_rankings_are_compared_of_every_query() -> None:
    """Two rankings that start alike and go on differently, beside a query where they do not even start alike."""
    run = {"p": {"a": 2.0, "b": 1.0}, "q": {"a": 2.0, "b": 1.0}}
    reference = {"p": {"a": 2.0, "c": 1.0}, "q": {"z": 2.0}}
    labels = {"p": {"a": 1}, "q": {"a": 1}}

    def values(*queries: str) -> dict[str, float]:
        part = [{q: given[q] for q in queries} for given in (run, reference, labels)]
        return per_query(MED(base="RBP", ref="r") @ 1, part[2], part[0], RunContext({"r": part[1]}))

    assert values("p", "q") == values("p") | values("q")
    assert values("p")["p"] > 0


def test_a_cutoff_beside_a_base_is_told_where_to_go() -> None:
    with pytest.raises(ValueError, match=r"TaSC has no cutoff; give it to the base: TaSC\(base='nDCG@7'\)"):
        TaSC @ 7


def test_unique_documents_need_a_cutoff() -> None:
    with pytest.raises(ValueError, match="UniqueRel.* cutoff"):
        RunContext({"a": {"q": {"d": 1.0}}}).evaluate({"q": {"d": 1}}, ["UniqueRel"])
