"""NRG and UniqueRel: the paper's numbers, the oracle, the reductions to absolute measures, the properties."""

from __future__ import annotations

import math
import random
import re
import warnings
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, P, nDCG

from all_labelings import check, random_campaign
from drawn import examples
from ir_measures_relative import NRG, RelativeWarning, RunContext, Shapley, UniqueRel
from ir_measures_relative.context.measure_strings import parse_measure
from oracles.nrg import nrg_oracle, unique_rel_oracle
from oracles.rankings import only_judged
from oracles.shapley import set_value_oracle
from random_campaigns import Labels, Run, contexts, cutoffs, pytrec_eval_qrels, qrels, runs
from scored import assume_common, per_query, per_query_of_each, ranking

TABLE1 = {"R1": "ABCDEFGHIJ", "R2": "EDCBAFGHIJ", "R3": "JIHGFEDCBA"}
GOLDEN = {
    ("R1", "R2"): 0.7361,
    ("R1", "R3"): 0.8277,
    ("R1", "R2,R3"): 0.8417,
    ("R2", "R1"): 0.7361,
    ("R2", "R3"): 0.7988,
    ("R2", "R1,R3"): 0.8316,
    ("R3", "R1"): 0.8277,
    ("R3", "R2"): 0.7988,
    ("R3", "R1,R2"): 0.8681,
}


def as_run(letters: str) -> dict[str, dict[str, float]]:
    return {"q": {d: -float(i) for i, d in enumerate(letters)}}


@pytest.mark.parametrize(("name", "prior"), GOLDEN)
@pytest.mark.parametrize("grade", [1, 4])
def test_table_1(name: str, prior: str, grade: int) -> None:
    graded = {"q": {d: grade for d in "AEFJ"}}
    context = RunContext({n: as_run(r) for n, r in TABLE1.items()})
    measure = ir_measures.parse_measure(f"NRG(prior='{prior}')@10")
    with context.evaluating(name):
        values = ir_measures.calc_aggregate([measure, nDCG @ 10], graded, as_run(TABLE1[name]))
    assert round(values[measure], 4) == GOLDEN[name, prior]
    assert round(values[nDCG @ 10], 4) == 0.7933


BASES = [
    ("NRG", {}),
    ("NRG(dcg='exp-log2')", {"dcg": "exp-log2"}),
    ("NRG(gains={0:1,1:5,3:2})", {"gains": {0: 1, 1: 5, 3: 2}}),
    ("NRG(norm='ideal')", {"norm": "ideal"}),
    ("NRG(norm='ideal',gains={0:1,1:5,3:2})", {"norm": "ideal", "gains": {0: 1, 1: 5, 3: 2}}),
    ("NRG(norm='whole')", {"norm": "whole"}),
    ("NRG(norm=None)", {"norm": None}),
    ("NRG(norm=None,base='RBP')", {"norm": None, "base": "RBP"}),
    ("NRG(base='P',norm='ideal')", {"base": "P", "norm": "ideal"}),
    ("NRG(base='P')", {"base": "P"}),
    ("NRG(base='P',rel=2)", {"base": "P", "rel": 2}),
    ("NRG(base='RR')", {"base": "RR"}),
    ("NRG(base='RBP')", {"base": "RBP"}),
    ("NRG(base='SDCG')", {"base": "SDCG"}),
    ("NRG(base='SDCG',rel=2,norm=None)", {"base": "SDCG", "rel": 2, "norm": None}),
    ("NRG(base='RBP',p=0.5,rel=2)", {"base": "RBP", "p": 0.5, "rel": 2}),
]


@pytest.mark.parametrize("seed", range(4))
def test_sdcg_is_bounded_and_its_range_without_n_has_no_end(seed: int) -> None:
    rng = random.Random(seed)
    while (campaign := random_campaign(rng, 2, 4)).cutoff is None:
        pass
    measures = [f"{name}(base='SDCG')@{campaign.cutoff}" for name in ("NRG", "Shapley")]
    counts = check(campaign, measures)
    assert all(count["one"][0] == count["one"][1] for count in counts.values())
    assert NRG(base="SDCG").value_range == (0.0, 1.0)
    assert NRG(base="SDCG", norm=None).value_range == NRG(base="P", norm=None).value_range == (0.0, math.inf)


@examples(40)
@given(context=contexts, run=runs, labels=qrels, k=cutoffs)
def test_oracle(context: dict[str, Run], run: Run, labels: Labels, k: int | None) -> None:
    assume_common(run, labels)
    options_of = {ir_measures.parse_measure(f"{measure}@{k}"): options for measure, options in BASES}
    found = per_query_of_each(list(options_of), labels, run, RunContext(context))
    for query, docs in labels.items():
        priors = [ranking(prior, query) for prior in context.values()]
        for measure, options in options_of.items():
            value = found[measure].pop(query)
            expected = nrg_oracle(ranking(run, query), priors, docs, k=k, **options)
            assert value == pytest.approx(expected, abs=1e-12), measure
            assert -1e-15 <= value <= 1 + 1e-12 or {"gains", "norm"} & set(options), measure
    assert not any(found.values())


@examples(40)
@given(context=contexts, labels=qrels, k=st.one_of(st.none(), cutoffs), data=st.data())
def test_oracle_of_members_and_judged_only(
    context: dict[str, Run], labels: Labels, k: int | None, data: st.DataObject
) -> None:
    """Every policy of priors, through evaluate(), with judged_only on and off."""
    for run in context.values():
        assume_common(run, labels)
    policy = data.draw(
        st.sampled_from(["others", "earlier", list(context)[:2], {n: list(context)[:1] for n in context}])
    )
    judged_only = data.draw(st.booleans())
    measure = NRG(judged_only=judged_only) if k is None else NRG(judged_only=judged_only) @ k
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        rows = RunContext(context, priors=policy).evaluate(labels, [measure], perquery=True)
    assert len(rows) == len(context) * len(labels)
    names = list(context)
    for row in rows.itertuples():
        if policy == "others":
            chosen = [n for n in names if n != row.name]
        elif policy == "earlier":
            chosen = names[: names.index(row.name)]
        else:
            chosen = [n for n in (policy[row.name] if isinstance(policy, dict) else policy) if n != row.name]

        def top(name: str, query: str = row.query_id) -> list[str]:
            docs = ranking(context[name], query)
            return only_judged(docs, labels[query]) if judged_only else docs

        expected = nrg_oracle(top(row.name), [top(n) for n in chosen], labels[row.query_id], k=k)
        assert row.value == pytest.approx(expected, abs=1e-12)


@examples(40)
@given(context=contexts, run=runs, labels=qrels, k=cutoffs, rel=st.sampled_from([1, 2]))
def test_unique_rel(context: dict[str, Run], run: Run, labels: Labels, k: int, rel: int) -> None:
    assume_common(run, labels)
    members = RunContext(context)
    unique = per_query(UniqueRel(rel=rel) @ k, labels, run, members)
    as_nrg = per_query(NRG(base="P", rel=rel) @ k, labels, run, members)
    for query, value in unique.items():
        priors = [ranking(prior, query) for prior in context.values()]
        assert value == unique_rel_oracle(ranking(run, query), priors, labels[query], k, rel)
        assert as_nrg[query] == value / k


def reductions(k: int) -> list[tuple[Any, Any]]:
    return [
        (NRG @ k, nDCG @ k),
        (NRG, nDCG),
        (NRG(gains={1: 3, 2: 1}) @ k, nDCG(gains={1: 3, 2: 1}) @ k),
        (NRG(base="P") @ k, P @ k),
        (NRG(base="P", rel=2) @ k, P(rel=2) @ k),
        (NRG(base="RR"), RR),
        (NRG(base="RR", rel=2), RR(rel=2)),
        (NRG(judged_only=True) @ k, nDCG(judged_only=True) @ k),
        (NRG(base="P", judged_only=True) @ k, P(judged_only=True) @ k),
    ]


def rr_at(run: Run, labels: Labels, k: int) -> dict[str, float]:
    """RR of the top k: pytrec_eval's on the rankings cut off at k."""
    cut = {q: {d: -float(i) for i, d in enumerate(ranking(run, q)[:k])} for q in run}
    return per_query(RR, labels, cut)


@pytest.mark.slow
@examples(40)
@given(run=runs, labels=pytrec_eval_qrels, k=cutoffs)
def test_empty_context_is_the_base_measure(run: Run, labels: Labels, k: int) -> None:
    assume_common(run, labels)
    empty = RunContext({})
    for relative, absolute in reductions(k):
        expected = per_query(absolute, labels, run)
        assert per_query(relative, labels, run, empty) == pytest.approx(expected, abs=1e-12)
    assert per_query(NRG(base="RR") @ k, labels, run, empty) == pytest.approx(
        rr_at(run, labels, k), abs=1e-12
    )
    rbp = per_query(NRG(base="RBP", p=0.8), labels, run, empty)
    for query, value in rbp.items():
        assert value == pytest.approx(rbp_oracle(ranking(run, query), labels[query]), abs=1e-12)


def rbp_oracle(docs: list[str], labels: dict[str, int], p: float = 0.8) -> float:
    return (1 - p) * sum(p**i for i, d in enumerate(docs) if labels.get(d, 0) >= 1)


@examples(40)
@given(labels=qrels, context=contexts, k=cutoffs, base=st.sampled_from(["nDCG", "P", "RR", "RBP"]))
def test_relevant_documents_first_in_a_prior_give_nothing(
    labels: Labels, context: dict[str, Run], k: int | None, base: str
) -> None:
    """One prior per relevant document, with it at rank 1: nothing is left to gain."""
    for query, docs in labels.items():
        relevant = [d for d, label in docs.items() if label > 0]
        priors = {f"first {d}": {query: {d: 1.0}} for d in relevant}
        run = {query: {d: float(i) for i, d in enumerate(docs)}}
        assert per_query(NRG(base=base) @ k, {query: docs}, run, RunContext(priors)) == {query: 0.0}


@pytest.mark.parametrize("base", ["nDCG", "P", "RBP"])
@examples(40)
@given(context=contexts.filter(lambda runs: len(runs) > 1), labels=qrels, k=cutoffs)
def test_ideal_norm_is_the_marginal_contribution(base, context, labels, k) -> None:
    """v(all) - v(all without it) of the game that Shapley shares out; in the order of a history they sum to v(all)."""
    for run in context.values():
        assume_common(run, labels)
    measure = NRG(base=base, norm="ideal") @ k
    others = RunContext(context).evaluate(labels, [measure], perquery=True)
    earlier = RunContext(context, priors="earlier").evaluate(
        labels, [measure, Shapley(base=base) @ k], perquery=True
    )
    for query in labels:
        value = {
            without: set_value_oracle(
                [ranking(r, query) for n, r in context.items() if n != without], labels[query], base, k
            )
            for without in [None, *context]
        }
        for row in others[others["query_id"] == query].itertuples():
            assert row.value == pytest.approx(value[None] - value[row.name], abs=1e-12)
        for _, rows in earlier[earlier["query_id"] == query].groupby("measure"):
            assert rows["value"].sum() == pytest.approx(value[None], abs=1e-12)


def test_unique_documents_of_grade_1_are_told_of_once() -> None:
    qrels = {"q": {"A": 1, "B": 2, "C": 0}}
    run, old = {"q": {"A": 3.0, "B": 2.0, "C": 1.0}}, {"q": {"C": 1.0}}
    with pytest.warns(RelativeWarning) as caught:
        RunContext({"run": run, "old": old}).evaluate(qrels, [UniqueRel @ 3, UniqueRel @ 2])
    assert len(caught) == 1
    assert re.search(r"UniqueRel@3 .*grade 1.* is 2\.00, and 1\.00 with rel=2", str(caught[0].message))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rel in (1, 2):
            RunContext({"run": run, "old": old}).evaluate(qrels, [UniqueRel(rel=rel) @ 3])
        RunContext({"run": run, "old": old}).evaluate({"q": {"A": 1, "B": 1}}, [UniqueRel @ 3])


@pytest.mark.parametrize("base", ["nDCG"])
@pytest.mark.parametrize("norm", ["residual", "ideal", "whole"])
def test_values_lie_in_their_range_whatever_gains_say(base: str, norm: str) -> None:
    rng = np.random.default_rng(4)
    for _ in range(40):
        gains = {int(label): int(gain) for label, gain in rng.integers(-3, 4, (3, 2))}
        measure = NRG(base=base, norm=norm, gains=gains) @ 3
        assert measure.value_range == (0.0, 1.0)
        qrels = {"q": {d: int(rng.integers(-1, 3)) for d in "ABCDE"}}
        runs = [
            {"q": {d: float(rng.random()) for d in rng.choice(list("ABCDEX"), 4, replace=False)}}
            for _ in range(2)
        ]
        with RunContext({"old": runs[0]}):
            assert 0 <= measure.calc_aggregate(qrels, runs[1]) <= 1 + 1e-12


def test_labels_below_0_are_in_no_string() -> None:
    """Of ir_measures' own parser; this package's doors read them."""
    measure = NRG(gains={-1: 0, 1: 2}) @ 5
    with pytest.raises(ValueError, match="must be in format"):
        ir_measures.parse_measure(str(measure))
    assert parse_measure(str(measure)) == measure
    assert "below 0" in NRG.SUPPORTED_PARAMS["gains"].desc
