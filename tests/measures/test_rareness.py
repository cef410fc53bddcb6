"""Rareness-based P and AP: the oracle, the reductions, the bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, P

from drawn import examples
from ir_measures_relative import AP_Rareness, P_Rareness, RunContext
from oracles.rareness import ap_rareness_oracle, p_rareness_oracle
from random_campaigns import Labels, Run, contexts, cutoffs, pytrec_eval_qrels, qrels, runs
from scored import assume_common, per_query, ranking


@pytest.mark.slow
@examples(40)
@given(
    context=contexts,
    run=runs,
    labels=qrels,
    k=cutoffs,
    alpha=st.sampled_from([0, 0.25, 1, 1.0]),
    rel=st.sampled_from([1, 2]),
    bounded=st.booleans(),
)
def test_newcomer_oracle(
    context: dict[str, Run], run: Run, labels: Labels, k: int, alpha: float, rel: int, bounded: bool
) -> None:
    assume_common(run, labels)
    members = RunContext(context, priors="earlier")
    options: dict[str, Any] = {"alpha": alpha, "rel": rel, "bounded": bounded}
    precision = per_query(P_Rareness(**options) @ k, labels, run, members)
    average = per_query(AP_Rareness(**options) @ k, labels, run, members)
    deep = per_query(AP_Rareness(**options), labels, run, members)
    for query in labels:
        docs = ranking(run, query)
        systems = [docs, *(ranking(other, query) for other in context.values())]
        case = (docs, systems, labels[query])
        assert precision[query] == pytest.approx(p_rareness_oracle(*case, k, **options), abs=1e-12)
        assert average[query] == pytest.approx(ap_rareness_oracle(*case, k, **options), abs=1e-12)
        assert deep[query] == pytest.approx(ap_rareness_oracle(*case, None, **options), abs=1e-12)
        for value in (precision[query], average[query], deep[query]):
            assert 0 <= value < 2
            assert value <= 1 + 1e-12 or not bounded


@examples(40)
@given(context=contexts, labels=qrels, k=cutoffs, bounded=st.booleans())
def test_members_oracle(context: dict[str, Run], labels: Labels, k: int, bounded: bool) -> None:
    for run in context.values():
        assume_common(run, labels)
    rows = RunContext(context).evaluate(labels, [AP_Rareness(bounded=bounded) @ k], perquery=True)
    for row in rows.itertuples():
        systems = [ranking(other, row.query_id) for other in context.values()]
        expected = ap_rareness_oracle(
            ranking(context[row.name], row.query_id), systems, labels[row.query_id], k, bounded=bounded
        )
        assert row.value == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@examples(40)
@given(context=contexts, run=runs, labels=pytrec_eval_qrels, k=cutoffs)
def test_alpha_0_is_the_plain_measure(context: dict[str, Run], run: Run, labels: Labels, k: int) -> None:
    assume_common(run, labels)
    members = RunContext(context)
    for relative, absolute in [
        (P_Rareness(alpha=0) @ k, P @ k),
        (AP_Rareness(alpha=0) @ k, AP @ k),
        (AP_Rareness(alpha=0), AP),
        (P_Rareness(alpha=0, rel=2) @ k, P(rel=2) @ k),
        (AP_Rareness(alpha=0, rel=2, judged_only=True) @ k, AP(rel=2, judged_only=True) @ k),
        (P_Rareness(alpha=0, bounded=True) @ k, P @ k),
    ]:
        expected = per_query(absolute, labels, run)
        assert per_query(relative, labels, run, members) == pytest.approx(expected, abs=1e-12)


def test_alpha_0_on_robust03(robust03: Any) -> None:
    runs_, labels = robust03
    pairs = [(P_Rareness(alpha=0) @ 100, P @ 100), (AP_Rareness(alpha=0) @ 1000, AP @ 1000)]
    rows = RunContext(runs_).evaluate(labels, [m for pair in pairs for m in pair], perquery=True)
    values = rows.set_index(["measure", "name", "query_id"])["value"]
    for relative, absolute in pairs:
        found, expected = (values[str(m)].sort_index() for m in (relative, absolute))
        assert found.index.equals(expected.index) and len(found) == 17 * 100
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_bounds_on_robust03(robust03: Any) -> None:
    runs_, labels = robust03
    context = RunContext(runs_)
    rows = context.evaluate(labels, [AP_Rareness(bounded=True) @ 100, P_Rareness @ 100], perquery=True)
    bounded = rows[rows.measure.str.contains("bounded")].value
    assert 0 <= bounded.min() <= bounded.max() <= 1
    assert 0 <= rows.value.min() <= rows.value.max() < 2


def test_all_systems_count_whatever_the_priors_are() -> None:
    members = {"a": {"q": {"A": 1.0}}, "b": {"q": {"A": 1.0}}, "c": {"q": {"B": 1.0}}}
    tables = [
        RunContext(members, priors=p).evaluate({"q": {"A": 1, "B": 1}}, [P_Rareness @ 1]).to_numpy().tolist()
        for p in ("others", "earlier", [])
    ]
    assert tables[0] == tables[1] == tables[2]
    assert [row[1] for row in tables[0]] == pytest.approx([1 + 1 / 3, 1 + 1 / 3, 1 + 2 / 3])


def test_one_system_has_no_rareness() -> None:
    for measure in ("P_Rareness@1", "P_Rareness(bounded=True,alpha=0.5)@1"):
        value = per_query(measure, {"q": {"A": 1}}, {"q": {"A": 1.0}}, RunContext({}))
        assert value == {"q": 1.0 if "bounded" not in measure else 0.5}
