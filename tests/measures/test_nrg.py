"""NRG, UniqueRel and TaSC: the paper's numbers, the oracles, the reductions to absolute measures, the properties."""

import math
import random
import re
import shutil
import warnings
from functools import reduce
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import ERR, RR, P, nDCG

from all_labelings import check, random_campaign
from drawn import examples
from ir_measures_relative import (
    NRG,
    RelativeWarning,
    RunContext,
    TaSC,
    UniqueRel,
    bounds,
    explain,
    select_complementary,
)
from ir_measures_relative.context.measure_strings import parse_measure
from ir_measures_relative.data.documents import Judgments
from ir_measures_relative.data.ids import Ids
from ir_measures_relative.decisions.select import CoverageFunction
from ir_measures_relative.measures.form import Form
from ir_measures_relative.measures.nrg import BASES
from oracles.nrg import nrg_err_oracle, nrg_oracle, residual_theta, unique_rel_oracle
from random_campaigns import Labels, Run, contexts, cutoffs, pytrec_eval_qrels, qrels, runs
from scored import POLICIES, agree_with_oracle, assume_common, in_order, per_query, per_query_of_each, ranking

TABLE1 = {"R1": "ABCDEFGHIJ", "R2": "EDCBAFGHIJ", "R3": "JIHGFEDCBA"}
GOLDEN = {
    "R1": {"R2": 0.7361, "R3": 0.8277, "R2,R3": 0.8417},
    "R2": {"R1": 0.7361, "R3": 0.7988, "R1,R3": 0.8316},
    "R3": {"R1": 0.8277, "R2": 0.7988, "R1,R2": 0.8681},
}


def value_of(docs: Any, priors: list[Any], labels: dict[str, int], measure: Any) -> float:
    context = RunContext({f"prior{i}": {"q": in_order(prior)} for i, prior in enumerate(priors)})
    return per_query(measure, {"q": labels}, {"q": in_order(docs)}, context)["q"]


@pytest.mark.parametrize("name", GOLDEN)
@pytest.mark.parametrize("grade", [1, 4])
def test_table_1(name: str, grade: int) -> None:
    labels, run = {"q": dict.fromkeys("AEFJ", grade)}, {"q": in_order(TABLE1[name])}
    context = RunContext({n: {"q": in_order(r)} for n, r in TABLE1.items()})
    with context.evaluating(name):
        for prior, value in GOLDEN[name].items():
            assert round((NRG(prior=prior) @ 10).calc_aggregate(labels, run), 4) == value
    assert round((nDCG @ 10).calc_aggregate(labels, run), 4) == 0.7933


OPTIONS: list[dict[str, Any]] = [
    *({}, {"dcg": "exp-log2"}, {"gains": {0: 1, 1: 5, 3: 2}}, {"norm": "whole"}, {"norm": None}),
    *({"norm": "ideal"}, {"norm": "ideal", "gains": {0: 1, 1: 5, 3: 2}}, {"base": "RR"}, {"base": "RBP"}),
    *({"base": "P"}, {"base": "P", "norm": "ideal"}, {"base": "P", "rel": 2}, {"base": "SDCG"}),
    *({"base": "RBP", "norm": None}, {"base": "SDCG", "rel": 2, "norm": None}),
    {"base": "RBP", "p": 0.5, "rel": 2},
]


@examples(40)
@given(context=contexts, run=runs, labels=qrels, k=cutoffs)
def test_oracle(context: dict[str, Run], run: Run, labels: Labels, k: int) -> None:
    assume_common(run, labels)
    options_of = {NRG(**options) @ k: options for options in OPTIONS}
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
@given(
    context=contexts,
    labels=qrels,
    k=st.none() | cutoffs,
    max_grade=st.sampled_from([None, 3, 4, 9]),
    judged_only=st.booleans(),
    policy=st.sampled_from(POLICIES),
)
def test_oracle_of_members_and_policies(
    context: dict[str, Run],
    labels: Labels,
    k: int | None,
    max_grade: int | None,
    judged_only: bool,
    policy: str,
) -> None:
    """Of nDCG, and of ERR where there is a ``max_grade``."""
    err: dict[str, Any] = {} if max_grade is None else {"base": "ERR", "max_grade": max_grade}
    measure = NRG(judged_only=judged_only, **err)

    def oracle(docs: list[str], priors: list[list[str]], labels: dict[str, int]) -> float:
        if max_grade is None:
            return nrg_oracle(docs, priors, labels, k=k)
        return nrg_err_oracle(docs, priors, labels, k, max_grade)

    values = agree_with_oracle(context, labels, measure if k is None else measure @ k, policy, oracle, 1e-12)
    assert all(0 <= value < 1 for value in values) or not err


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
        (NRG(base="P", rel=2) @ k, P(rel=2) @ k),
        (NRG(base="RR"), RR),
        (NRG(base="RR", rel=2), RR(rel=2)),
        (NRG(judged_only=True) @ k, nDCG(judged_only=True) @ k),
        (NRG(base="P", judged_only=True) @ k, P(judged_only=True) @ k),
    ]


@pytest.mark.slow
@examples(40)
@given(run=runs, labels=pytrec_eval_qrels, k=cutoffs)
def test_empty_context_is_the_base_measure(run: Run, labels: Labels, k: int) -> None:
    assume_common(run, labels)
    empty = RunContext({})
    for relative, absolute in reductions(k):
        expected = per_query(absolute, labels, run)
        assert per_query(relative, labels, run, empty) == pytest.approx(expected, abs=1e-12)
    top = {q: in_order(ranking(run, q)[:k]) for q in run}
    expected = per_query(RR, labels, top)
    assert per_query(NRG(base="RR") @ k, labels, run, empty) == pytest.approx(expected, abs=1e-12)
    for query, value in per_query(NRG(base="RBP", p=0.8), labels, run, empty).items():
        seen = (0.8**i for i, d in enumerate(ranking(run, query)) if labels[query].get(d, 0) >= 1)
        assert value == pytest.approx(0.2 * sum(seen), abs=1e-12)


@pytest.mark.skipif(not shutil.which("perl"), reason="ir_measures computes ERR by a script of Perl's")
def test_without_priors_err_is_as_gdeval_prints_it() -> None:
    """Which is five digits; gdeval has no line for a query without a relevant document, or without a ranking."""
    rng, docs = random.Random(3), [f"d{i}" for i in range(30)]
    labels = {str(q): {d: rng.choice([-1, 0, 0, 1, 2, 3, 4]) for d in docs[:20]} for q in range(60)}
    run = {q: {d: rng.randint(0, 9) / 1.0 for d in rng.sample(docs, rng.randint(1, 30))} for q in labels}
    for k in (1, 5, 20):
        found = per_query(NRG(base="ERR") @ k, labels, run, RunContext({}))
        assert max(found.values()) > 0.5
        assert found == pytest.approx(per_query(ERR @ k, labels, run), abs=5.1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_sdcg_is_bounded_and_its_range_without_n_has_no_end(seed: int) -> None:
    rng = random.Random(seed)
    while (campaign := random_campaign(rng, 2, 4)).cutoff is None:
        pass
    measures = [f"{name}(base='SDCG')@{campaign.cutoff}" for name in ("NRG", "Shapley")]
    counts = check(campaign, measures)
    assert all(count["one"][0] == count["one"][1] for count in counts.values())
    assert NRG(base="SDCG").value_range == (0.0, 1.0)
    assert NRG(base="SDCG", norm=None).value_range == NRG(base="P", norm=None).value_range == (0.0, math.inf)


def test_unique_documents_of_grade_1_are_told_of_once() -> None:
    qrels = {"q": {"A": 1, "B": 2, "C": 0}}
    runs = {"run": {"q": in_order("ABC")}, "old": {"q": {"C": 1.0}}}
    with pytest.warns(RelativeWarning) as caught:
        RunContext(runs).evaluate(qrels, [UniqueRel @ 3, UniqueRel @ 2])
    assert len(caught) == 1
    assert re.search(
        r"UniqueRel@3 counts each label from rel=1 on alike.* labels up to 2 \(50% of those from 1 on are 1\)",
        str(caught[0].message),
    )
    with warnings.catch_warnings(action="error"):
        for rel in (1, 2):
            RunContext(runs).evaluate(qrels, [UniqueRel(rel=rel) @ 3])
        RunContext(runs).evaluate({"q": {"A": 1, "B": 1, "C": 0}}, [UniqueRel @ 3])


@pytest.mark.parametrize("norm", ["residual", "ideal", "whole"])
def test_values_lie_in_their_range_whatever_gains_say(norm: str) -> None:
    rng = np.random.default_rng(4)
    for _ in range(40):
        gains = {int(label): int(gain) for label, gain in rng.integers(-3, 4, (3, 2))}
        measure = NRG(norm=norm, gains=gains) @ 3
        labels = {d: int(rng.integers(-1, 3)) for d in "ABCDE"}
        run, prior = (rng.choice(list("ABCDEX"), 4, replace=False).tolist() for _ in range(2))
        assert 0 <= value_of(run, [prior], labels, measure) <= 1 + 1e-12


@pytest.mark.host_strings
def test_labels_below_0_are_in_no_string() -> None:
    """Of ir_measures' own parser; this package's doors read them."""
    measure = NRG(gains={-1: 0, 1: 2}) @ 5
    with pytest.raises(ValueError, match="must be in format"):
        ir_measures.parse_measure(str(measure))
    assert parse_measure(str(measure)) == measure
    assert "below 0" in NRG.SUPPORTED_PARAMS["gains"].desc


@pytest.mark.parametrize("base", BASES)
def test_shares_add_up_to_the_value(base: str) -> None:
    """Also where the value is the largest term, which one document has."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        sizes = rng.integers(0, 5, 3)
        query = np.repeat(np.arange(3), sizes)
        position = np.concatenate([np.zeros(0, int), *map(rng.permutation, sizes)]).astype(int)
        docs = Judgments(np.arange(3), query, Ids.of(list(map(str, query))), rng.integers(0, 3, len(query)))
        rule = BASES[base].rule({"cutoff": 3, "p": 0.8, "rel": 1, "dcg": "log2", "max_grade": 4}.get)
        form = Form(docs, position, rule, rng.choice([0.0, 0.5, 0.9], len(query)))
        _, shares = form.contributions()
        assert np.bincount(query, weights=shares, minlength=3) == pytest.approx(form.values(), abs=1e-12)


@pytest.mark.parametrize("best", [False, True])
def test_a_gain_is_the_difference_of_two_values(best: bool) -> None:
    """Of what a group of runs would gain by one run more."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        n_runs, n_items = rng.integers(1, 5), rng.integers(1, 6)
        coverage = CoverageFunction(rng.random((n_runs, n_items)), rng.random(n_items), best=best)
        group = rng.integers(0, n_runs, rng.integers(0, 4)).tolist()
        covered = reduce(coverage.extend, group, np.zeros(n_items))
        values = [coverage.value(coverage.extend(covered, run)) for run in range(n_runs)]
        expected = np.array(values) - coverage.value(covered)
        assert coverage.gains(covered) == pytest.approx(expected, abs=1e-12)


@examples(20)
@given(context=contexts, run=runs, labels=qrels, k=cutoffs)
def test_explain_shows_the_residual_chance_of_each_document(
    context: dict[str, Run], run: Run, labels: Labels, k: int
) -> None:
    for other in (run, *context.values()):
        assume_common(other, labels)
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        table = explain(RunContext(context), run, labels, NRG(base="ERR") @ k)
    for row in table.itertuples():
        priors = [ranking(prior, row.query_id) for prior in context.values()]
        expected = residual_theta(row.doc_id, priors, labels[row.query_id], k, 4)
        assert row.gain == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("NRG(base='ERR',norm='ideal')@3", "norm goes with base 'nDCG', 'P', 'RBP', 'SDCG', not 'ERR'"),
        ("NRG(base='ERR',rel=2)@3", "rel goes with base 'P', 'RBP', 'RR', 'SDCG', not 'ERR'"),
        ("NRG(base='ERR',dcg='log2')@3", "dcg goes with base 'nDCG', not 'ERR'"),
        ("NRG(base='ERR',p=0.5)@3", "p goes with base 'RBP', not 'ERR'"),
        ("NRG(max_grade=3)@3", "max_grade goes with base 'ERR', not 'nDCG'"),
        ("NRG(base='ERR',max_grade=0)@3", "it must be a whole number from 1 to 1000"),
        ("NRG(base='P',norm='whole')@3", "norm='whole' goes with base 'nDCG', not 'P'"),
    ],
)
def test_refused(measure: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RunContext({"a": {"q": {"A": 1.0}}}).evaluate({"q": {"A": 1}}, [measure])


@pytest.mark.parametrize(
    "measure", ["NRG(base='ERR')@3", "UE(base='ERR')@3", "MED(base='ERR',max_grade=4,ref='b')@3"]
)
def test_grades_beyond_the_highest(measure: str) -> None:
    context = RunContext({"a": {"q": in_order("AB")}, "b": {"q": {"C": 1.0}}})
    message = "the qrels hold the grade 5, of query 'q'; max_grade, 4 here,.* write max_grade=5"
    with pytest.raises(ValueError, match=message):
        context.evaluate({"p": {"B": 4}, "q": {"A": 4, "C": 5, "B": 1}}, [measure])
    with pytest.raises(ValueError, match=r"the grade 5; max_grade must be at least that"):
        bounds(RunContext(dict(context.runs), grades=(0, 5)), {"q": {"A": 1}}, ["NRG(base='ERR')@3"])
    assert context.evaluate({"q": {"A": 5}}, ["NRG(base='ERR',max_grade=5)@3"]).iloc[0, 1] == 31 / 32


def test_a_group_of_runs_has_no_value_by_err() -> None:
    """What a group is worth together is not a sum."""
    context = RunContext({n: {"q": in_order(docs)} for n, docs in {"a": "AB", "b": "BA", "c": "CX"}.items()})
    labels = {"q": {"A": 2, "B": 1, "C": 1}}
    chosen = select_complementary(context, labels, 3, NRG(base="ERR", max_grade=2) @ 2)
    assert chosen["name"].tolist()[0] == "a"
    assert np.isnan(chosen["cumulative"]).all() and np.isnan(chosen["bound"]).all()


@given(
    runs,
    contexts,
    qrels,
    st.sampled_from(["nDCG@10", "P@2", "RR", "AP(rel=2)@3", "nDCG(gains={1:3})@5", "Success@1"]),
)
def test_tasc_is_the_product_of_the_base_s_values(
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


def test_tasc_of_each_policy() -> None:
    """r2 lacks q2; without a prior it is S(run)."""
    qrels = {"q1": {"A": 1}, "q2": {"A": 1}}
    runs = {
        "r1": {"q1": in_order("A"), "q2": in_order("XA")},
        "r2": {"q1": in_order("XA")},
        "r3": {"q1": in_order("XYA"), "q2": in_order("A")},
    }
    measures = [TaSC(base="RR"), TaSC(base="RR", prior="r2"), TaSC(base="RR@2", prior="r[12]")]
    values = RunContext(runs).evaluate(qrels, measures, perquery=True)
    found = values.pivot(index=["name", "query_id"], columns="measure", values="value")[map(str, measures)]
    assert found.to_numpy().tolist() == [
        [0.5, 0.5, 0.5],
        [0.0, 0.5, 0.5],
        [0.0, 0.5, 0.0],
        [0.0, 0.0, 0.0],
        [0.0, 1 / 6, 0.0],
        [0.5, 1.0, 0.5],
    ]
    earlier = RunContext(runs, priors="earlier").evaluate(qrels, [TaSC(base="RR")])
    assert earlier["TaSC(base='RR')"].tolist() == [0.75, 0.0, 0.25]


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ("NRG@10", r"base='NRG@10' is itself relative"),
        ("nDGC@10", "is not a measure: .*no measure is called 'nDGC'; the nearest is 'nDCG'"),
        ("nDCG(", "is not a measure"),
        ("nDCG(p=3)@10", "is not a measure: .*unsupported params"),
        ("alpha_nDCG", "needs a cutoff from 1 to 20"),
        ("nDCG@10; AP", "is not a measure"),
        ("nDCG(dcg='exp-log2',gains={1:3})@5", "no provider of ir_measures computes"),
        ("NumRet", r"from 0 to 1, and NumRet gave 2"),
    ],
)
def test_a_base_of_tasc_that_is_none(base: str, message: str) -> None:
    with RunContext({"a": {"q": {"A": 1.0}}}), pytest.raises(ValueError, match=message):
        TaSC(base=base).calc_aggregate({"q": {"A": 1}}, {"q": {"A": 1.0, "B": 2.0}})
