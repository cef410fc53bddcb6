"""Rareness-based P, AP and other measures, and Shapley values: oracles, reductions, axioms, bounds."""

import random
import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, P, nDCG

from all_labelings import check, random_campaign
from drawn import examples
from ir_measures_relative import (
    NRG,
    AP_Rareness,
    P_Rareness,
    Rareness,
    RunContext,
    Shapley,
    bounds,
    compare,
    explain,
)
from ir_measures_relative.context.collection import judged_collection
from ir_measures_relative.context.priors import BestOfOtherGroups
from ir_measures_relative.context.tops import Look
from oracles.rareness import rareness_oracle
from oracles.shapley import set_value_oracle, shapley_oracle
from random_campaigns import Labels, Run, contexts, cutoffs, pytrec_eval_qrels, qrels, runs
from scored import assume_common, in_order, per_query, ranking


def test_one_system_has_no_rareness() -> None:
    for measure in ("P_Rareness@1", "P_Rareness(bounded=True,alpha=0.5)@1"):
        value = per_query(measure, {"q": {"A": 1}}, {"q": {"A": 1.0}}, RunContext({}))
        assert value == {"q": 1.0 if "bounded" not in measure else 0.5}


BASES = ["nDCG", "P", "AP", "RBP", "ERR"]


@examples(40)
@given(
    context=contexts,
    run=runs,
    labels=qrels,
    k=cutoffs,
    rel=st.sampled_from([1, 2]),
    alpha=st.sampled_from([0, 0.25, 1]),
    rarity=st.sampled_from(["linear", "log"]),
    bounded=st.booleans(),
    systems=st.sampled_from([None, "groups", "r1,r3*"]),
)
def test_every_base_against_the_oracle(
    context: dict[str, Run],
    run: Run,
    labels: Labels,
    k: int,
    rel: int,
    alpha: float,
    rarity: str,
    bounded: bool,
    systems: str | None,
) -> None:
    assume_common(run, labels)
    context = {"r1": {}, "r3": {}, **context}
    group_of = {"r1": "g", "r2": "g", "r3": "h"}  # r4 has none
    members = RunContext(context, groups={n: g for n, g in group_of.items() if n in context})
    of_base: dict[str, Any] = {"alpha": alpha, "rarity": rarity, "bounded": bounded}
    for base in BASES:
        options = of_base | ({} if base in ("nDCG", "ERR") else {"rel": rel})
        asked = options | ({"systems": systems} if systems else {})
        got = per_query(Rareness(base=base, **asked) @ k, labels, run, members)
        if base in ("P", "AP"):
            same = {"P": P_Rareness, "AP": AP_Rareness}[base](**asked) @ k
            assert per_query(same, labels, run, members) == got
        deep = per_query(Rareness(base=base, **asked), labels, run, members) if base != "P" else {}
        for query in labels:
            own = ranking(run, query)
            of_run = {n: ranking(other, query) for n, other in context.items()}
            if systems == "groups":
                by_group: dict[str, list[list[str]]] = {}
                for name, docs in of_run.items():
                    by_group.setdefault(group_of.get(name, name), []).append(docs)
                all_systems = [[own], *by_group.values()]
            else:
                all_systems = [
                    [own],
                    *([docs] for n, docs in of_run.items() if not systems or n in ("r1", "r3")),
                ]
            want = rareness_oracle(own, all_systems, labels[query], k, base=base, **options)
            assert got[query] == pytest.approx(want, abs=1e-12)
            if deep:
                want = rareness_oracle(own, all_systems, labels[query], None, base=base, **options)
                assert deep[query] == pytest.approx(want, abs=1e-12)
            assert 0 <= got[query] <= (1 if bounded else 1 + alpha) + 1e-12


@examples(20)
@given(context=contexts, run=runs, labels=pytrec_eval_qrels, k=cutoffs)
def test_alpha_0_is_each_base(context: dict[str, Run], run: Run, labels: Labels, k: int) -> None:
    assume_common(run, labels)
    members, nothing = RunContext(context), RunContext({})
    for options in ({}, {"bounded": True}, {"rarity": "log"}):
        plain = Rareness(alpha=0, **options)
        for relative, absolute in [
            (plain @ k, nDCG @ k),
            (plain(dcg="exp-log2") @ k, NRG(dcg="exp-log2") @ k),
            (plain(gains={1: 3, 2: 0}) @ k, NRG(gains={1: 3, 2: 0}) @ k),
            (plain(base="P", rel=2) @ k, P(rel=2) @ k),
            (plain(base="AP"), AP),
            (plain(base="AP", rel=2, judged_only=True) @ k, AP(rel=2, judged_only=True) @ k),
            (plain(base="RBP", p=0.5) @ k, NRG(base="RBP", p=0.5) @ k),
            (plain(base="ERR", max_grade=3) @ k, NRG(base="ERR", max_grade=3) @ k),
        ]:
            context_of_base = nothing if isinstance(absolute, type(NRG)) else None
            expected = per_query(absolute, labels, run, context_of_base)
            assert per_query(relative, labels, run, members) == pytest.approx(expected, abs=1e-12)


def test_copies_in_one_group_do_not_make_each_other_common() -> None:
    labels: Labels = {"q": {"A": 1}}
    runs_: dict[str, Run] = {f"copy{i}": {"q": {"A": 1.0}} for i in range(12)} | {"other": {"q": {"B": 1.0}}}
    groups = {name: name[:4] for name in runs_}
    context = RunContext(runs_, groups=groups)
    table = context.evaluate(labels, [P_Rareness @ 1, P_Rareness(systems="groups") @ 1])
    assert table.iloc[0, 1:].tolist() == pytest.approx([1 + 1 / 13, 1 + 1 / 2])
    with pytest.raises(ValueError, match="systems='groups' needs groups"):
        RunContext(runs_).evaluate(labels, [P_Rareness(systems="groups") @ 1])
    with pytest.raises(ValueError, match="systems='none': 'none' fits no run of the context"):
        context.evaluate(labels, [P_Rareness(systems="none") @ 1])


def test_a_new_run_counts_with_its_group_where_that_is_said() -> None:
    runs_: dict[str, Run] = {"a": {"q": {"A": 1.0}}, "b": {"q": {"B": 1.0}}}
    context = RunContext(runs_, groups={"a": "one", "b": "two"}, priors=BestOfOtherGroups())
    measure = P_Rareness(systems="groups") @ 1
    labels, run = {"q": {"A": 1}}, {"q": {"A": 1.0}}
    assert per_query(measure, labels, run, context)["q"] == pytest.approx(1 + 1 / 3)
    for group, value in (("one", 1 + 1 / 2), ("two", 1.0), ("three", 1 + 1 / 3)):
        with context.evaluating(group=group):
            assert per_query(measure, labels, run)["q"] == pytest.approx(value)
        # Its column says so whatever the priors are: they do not matter to rareness.
        frame = pd.DataFrame({"query_id": "q", "doc_id": ["A", "C"], "score": [2.0, 1.0], "group": group})
        for priors in ("others", ["b"], BestOfOtherGroups()):
            of_runs = RunContext(runs_, groups=context.groups, priors=priors)
            assert per_query(measure, labels, frame, of_runs)["q"] == pytest.approx(value)
            assert explain(of_runs, frame, labels, measure)["contribution"].sum() == pytest.approx(value)
    of_runs = RunContext(runs_, groups=context.groups)
    with pytest.warns(UserWarning, match="does not hold one name .* a system of its own"):
        found = explain(of_runs, frame.assign(group=["one", "two"]), labels, measure)
    assert found["contribution"].sum() == pytest.approx(1 + 1 / 3)


def test_a_run_among_the_systems_does_not_compare_with_one_beside_them() -> None:
    labels: Labels = {str(i): {"A": 1} for i in range(6)}
    runs_: dict[str, Run] = {
        n: {q: {d: 1.0} for q in labels} for n, d in (("a", "A"), ("b", "B"), ("c", "A"))
    }
    context = RunContext(runs_)
    with pytest.warns(UserWarning, match="'a' is one of systems='a', and the other run is not"):
        table = compare(context, labels, [P_Rareness(systems="a") @ 1], names=["a", "b"])
    assert table["p"].isna().all()
    options = {"names": ["a", "b"], "test": "sign"}
    assert compare(context, labels, [P_Rareness(systems="c") @ 1], **options)["p"].notna().all()


@pytest.mark.parametrize("seed", range(4))
def test_bounds_against_every_labeling(seed: int) -> None:
    rng = random.Random(seed)
    while (campaign := random_campaign(rng, 2, 4)).cutoff is None:
        pass
    names = list(campaign.runs)
    campaign.options["groups"] = {names[0]: "g", names[1]: "g"}
    choices = ("", "systems='groups',", f"systems='{names[1]}',rarity='log',", "bounded=True,alpha=0.5,")
    measures = [
        f"Rareness({choice}base='{base}')@{campaign.cutoff}"
        for choice in choices
        for base in ("nDCG", "P", "AP", "RBP")
        if base != "AP" or "r1" not in choice
    ]
    counts = check(campaign, measures)
    assert all(count["one"][0] == count["one"][1] for count in counts.values())  # exact for one run


def test_what_cannot_be_bounded_says_so() -> None:
    context = RunContext({"a": {"q": {"A": 1.0}}, "b": {"q": {"B": 1.0}}}, grades=(0, 1))
    for measure, bounded in (
        (Rareness(base="ERR") @ 3, "the bases"),
        (AP_Rareness(systems="a") @ 3, "AP of all runs"),
    ):
        with pytest.raises(ValueError, match=f"has no strict bounds; {bounded}"):
            bounds(context, {"q": {"A": 1}}, [measure], unretrieved_relevant=0)


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
