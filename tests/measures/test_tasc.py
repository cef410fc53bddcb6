"""MAX TaSC: against the product of ir_measures' own values."""

from __future__ import annotations

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

import random_campaigns
from ir_measures_relative import RunContext, TaSC
from random_campaigns import Labels, Run
from scored import assume_common, per_query

BASES = ["nDCG@10", "P@2", "RR", "AP(rel=2)@3", "nDCG(gains={1:3})@5", "Success@1"]


@given(random_campaigns.runs, random_campaigns.contexts, random_campaigns.qrels, st.sampled_from(BASES))
def test_it_is_the_product_of_the_base_s_values(
    run: Run, priors: dict[str, Run], qrels: Labels, base: str
) -> None:
    assume_common(run, qrels)
    absolute = ir_measures.parse_measure(base)
    got = per_query(TaSC(base=base), qrels, run, RunContext(priors))
    own = per_query(absolute, qrels, run)
    theirs = [per_query(absolute, qrels, prior) for prior in priors.values()]
    for q in qrels:
        want = (1 - max((p[q] for p in theirs), default=0.0)) * own[q]
        assert got[q] == pytest.approx(want, abs=1e-6)


def test_a_worked_example_and_the_policies() -> None:
    qrels = {"q1": {"A": 1}, "q2": {"A": 1}}
    runs = {
        "r1": {"q1": {"A": 1.0}, "q2": {"X": 2.0, "A": 1.0}},
        "r2": {"q1": {"X": 2.0, "A": 1.0}},
        "r3": {"q1": {"X": 3.0, "Y": 2.0, "A": 1.0}, "q2": {"A": 2.0}},
    }
    measures = [TaSC(base="RR"), TaSC(base="RR", prior="r2"), TaSC(base="RR@2", prior="r[12]")]
    values = RunContext(runs).evaluate(qrels, measures, perquery=True)
    by = {(r.name, r.query_id, r.measure): r.value for r in values.itertuples(index=False)}
    first = {(n, q): v for (n, q, m), v in by.items() if m == "TaSC(base='RR')"}
    assert first == {
        ("r1", "q1"): 0.5,
        ("r1", "q2"): 0.0,
        ("r2", "q1"): 0.0,
        ("r2", "q2"): 0.0,
        ("r3", "q1"): 0.0,
        ("r3", "q2"): 0.5,
    }
    assert by["r1", "q1", "TaSC(base='RR',prior='r2')"] == 0.5
    assert by["r1", "q2", "TaSC(base='RR',prior='r2')"] == 0.5  # r2 lacks the query
    assert by["r2", "q1", "TaSC(base='RR',prior='r2')"] == 0.5  # no prior: S(run)
    assert by["r3", "q2", "TaSC(base='RR@2',prior='r[12]')"] == 0.5
    earlier = RunContext(runs, priors="earlier").evaluate(qrels, [TaSC(base="RR")])
    assert earlier["TaSC(base='RR')"].tolist() == [0.75, 0.0, 0.25]


def test_missing_queries_and_queries_without_relevant_documents() -> None:
    qrels = {"both": {"A": 1}, "run lacks": {"A": 1}, "prior lacks": {"A": 1}, "irrelevant": {"A": 0}}
    run = {"both": {"X": 2.0, "A": 1.0}, "prior lacks": {"A": 1.0}, "irrelevant": {"A": 1.0}}
    with RunContext({"old": {"both": {"X": 2.0, "A": 1.0}, "run lacks": {"A": 1.0}}}):
        values = per_query(TaSC(base="RR"), qrels, {**run, "both": {"Y": 2.0, "A": 1.0}})
    assert values == {"both": 0.25, "run lacks": 0, "prior lacks": 1, "irrelevant": 0}


def test_without_priors_it_is_the_base() -> None:
    qrels, run = {"q": {"A": 2, "B": 1}}, {"q": {"B": 2.0, "A": 1.0}}
    with RunContext({}):
        value = TaSC.calc_aggregate(qrels, run)
    assert value == pytest.approx((ir_measures.nDCG @ 10).calc_aggregate(qrels, run), abs=1e-9)


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ("NRG@10", r"base='NRG@10' is itself relative"),
        ("nDGC@10", "is not a measure: .*no measure is called 'nDGC'; the nearest is 'nDCG'"),
        ("nDCG(", "is not a measure"),
        ("P", "is not a measure"),
        ("nDCG(p=3)@10", "is not a measure: .*unsupported params"),
        ("alpha_nDCG", "needs a cutoff from 1 to 20"),
        ("nDCG@10; AP", "is not a measure"),
        ("nDCG(dcg='exp-log2',gains={1:3})@5", "no provider of ir_measures computes"),
    ],
)
def test_a_base_that_is_none(base: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TaSC(base=base).validate_params()
    with RunContext({"a": {"q": {"A": 1.0}}}), pytest.raises(ValueError, match=message):
        TaSC(base=base).calc_aggregate({"q": {"A": 1}}, {"q": {"A": 1.0, "B": 2.0}})


def test_a_cutoff_goes_to_the_base() -> None:
    with pytest.raises(ValueError, match=r"TaSC\(base='nDCG@5'\)"):
        TaSC @ 5
    with pytest.raises(ValueError, match=r"has no parameter 'priors'; did you mean 'prior'"):
        TaSC(priors="a")
    with pytest.raises(ValueError, match=r"base=10 is not allowed"):
        TaSC(base=10)


def test_a_base_beyond_1_is_an_error() -> None:
    qrels, run = {"q": {"A": 1}}, {"q": {"A": 1.0, "B": 2.0}}
    with (
        RunContext({"a": {"q": {"A": 1.0}}}),
        pytest.raises(ValueError, match=r"from 0 to 1, and NumRet gave 2"),
    ):
        TaSC(base="NumRet").calc_aggregate(qrels, run)
