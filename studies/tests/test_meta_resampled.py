"""Fewer systems, labels, topics, pool depth, and ties by level: against contexts and qrels that are made anew."""

from __future__ import annotations

import itertools
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, RR, P, Qrel, nDCG
from studies import meta
from studies.meta.degrading import _samples
from studies.meta.judged import Judged, part_of
from studies.tests import meta_oracle as oracle

from drawn import examples
from ir_measures_relative import (
    MED,
    NRG,
    AP_Rareness,
    P_Rareness,
    RunContext,
    Shapley,
    TaSC,
    UniqueRel,
    nDCG_UE,
    rrLP,
    sgnLP,
    sgnLR,
)
from ir_measures_relative.context.priors import BestOfOtherGroups
from random_campaigns import Labels, graded_campaign

seeds = st.integers(0, 2**32 - 1)
few = examples(5)
RELATIVE = [
    P_Rareness @ 3,
    AP_Rareness @ 4,
    UniqueRel @ 3,
    Shapley @ 3,
    rrLP,
    sgnLP,
    nDCG_UE @ 3,
    nDCG @ 3,
]
TO_PRIORS = [NRG @ 3, TaSC(base="nDCG@3")]


def policies(names: list[str]) -> list[Any]:
    return [
        "others",
        "earlier",
        names[:2],
        {n: [m for m in names[::2] if m != n] for n in names},
        BestOfOtherGroups(),
    ]


# --- systems


@pytest.mark.parametrize("which", range(5))
def test_subsets_are_contexts_of_their_own(which: int) -> None:
    measures = [*TO_PRIORS, *RELATIVE[which::4]]
    runs, labels = graded_campaign(100 + which, runs=4)
    names = list(runs)
    groups = dict(zip(names, "aabc", strict=True))
    policy = policies(names)[which]
    context = RunContext(runs, priors=policy, groups=groups)
    found = meta.system_subsets(context, labels, measures, sizes=[2, 3, 4])
    whole = {str(m): oracle.tables(context, labels, m) for m in measures}
    for size in (2, 3, 4):
        taus: dict[str, list[float]] = {str(m): [] for m in measures}
        for subset in itertools.combinations(names, size):
            left: Any = policy
            if isinstance(policy, list):
                left = [n for n in policy if n in subset]
            elif isinstance(policy, dict):
                left = {n: [m for m in policy[n] if m in subset] for n in subset}
            some = RunContext(
                {n: runs[n] for n in subset}, priors=left, groups={n: groups[n] for n in subset}
            )
            for m in measures:
                order = oracle.places(whole[str(m)], names)
                true = [order[names.index(n)] for n in subset]
                taus[str(m)].append(oracle.tau(oracle.places(oracle.tables(some, labels, m), subset), true))
        for m, values in taus.items():
            row = found[(found["measure"] == m) & (found["systems"] == size)].iloc[0]
            known = [v for v in values if not np.isnan(v)]
            assert row["samples"] == len(known)
            assert row["mean"] == pytest.approx(np.mean(known) if known else np.nan, nan_ok=True)
            if len(known) > 1:
                assert row["deviation"] == pytest.approx(np.std(known, ddof=1), abs=1e-12)


def test_subsets_are_drawn_by_the_seed_and_never_twice() -> None:
    runs, labels = graded_campaign(5, runs=8)
    context = RunContext(runs)
    draw = partial(meta.system_subsets, context, labels, [P_Rareness @ 3], [3], samples=20)
    assert draw(seed=1).equals(draw(seed=1)) and not draw(seed=1).equals(draw(seed=2))
    assert draw()["samples"][0] <= 20
    default = meta.system_subsets(context, labels, [P @ 3], statistics=["tau", "tau_ap"])
    assert set(default["systems"]) == {2, 4}
    taus = default[default["statistic"] == "tau"]["mean"]
    assert list(taus) == [1.0, 1.0]


# --- labels, topics, pools, groups


@few
@given(seed=seeds, of=st.sampled_from(["relevant", "all"]), truth=st.booleans())
def test_fewer_labels_are_other_qrels(seed: int, of: str, truth: bool) -> None:
    runs, labels = graded_campaign(seed, runs=3)
    context, names = RunContext(runs, grades=(-1, 2)), list(runs)
    measures = [
        P_Rareness @ 3,
        NRG @ 3,
        NRG(judged_only=True) @ 3,
        rrLP,
        sgnLR,
        nDCG_UE @ 3,
        AP(judged_only=True) @ 5,
    ]
    kinds = ["tau", "agreement", "ranking_agreement", "ties"]
    best = RR if truth else None
    found = meta.degrade(
        context, labels, measures, "labels", [0.5, 1], kinds, 2, truth=best, of=of, seed=seed
    )
    judged = Judged.read(labels)
    of_true = {str(m): oracle.tables(context, labels, best or m) for m in measures}
    expected: dict[Any, list[float]] = {}
    for level, keep in _samples(judged, "labels", [0.5, 1], 2, of == "all", seed):
        left = fewer(labels, keep)
        for m in measures:
            values, true = oracle.tables(context, left, m), of_true[str(m)]
            alike = oracle.agreements(oracle.preferences(values, names), oracle.preferences(true, names))
            numbers = oracle.tau(oracle.places(values, names), oracle.places(true, names)), *alike
            for kind, number in zip(kinds, numbers, strict=True):
                expected.setdefault((str(m), kind, level), []).append(number)
    for (m, kind, level), numbers in expected.items():
        row = found[(found["measure"] == m) & (found["statistic"] == kind) & (found["level"] == level)].iloc[
            0
        ]
        known = [x for x in numbers if not np.isnan(x)]
        assert row["mean"] == pytest.approx(np.mean(known) if known else np.nan, nan_ok=True), (m, kind)


def fewer(labels: Labels, keep: Any) -> Labels:
    """The labels that are kept; a topic that would have none keeps its first, as not relevant."""
    kept, left = iter(keep), {}
    for q, judged in labels.items():
        own = {d: grade for d, grade in judged.items() if next(kept)}
        first, grade = next(iter(judged.items()))
        left[q] = own or {first: min(grade, 0)}
    return left


@examples(30)
@given(seed=seeds, share=st.sampled_from([0.1, 0.25, 0.5, 0.9]), every=st.booleans())
def test_which_labels_are_left(seed: int, share: float, every: bool) -> None:
    """So many of each topic, rounded up; those of a smaller share are among them."""
    _, labels = graded_campaign(seed)
    judged = Judged.read(labels)
    grade, query = judged.grade, judged.query
    small, large = (keep for _, keep in _samples(judged, "labels", [share / 2, share], 1, every, seed))
    assert small is not None and large is not None
    assert not (small & ~large).any()
    for i in range(3):
        drawn = (query == i) & (every | (grade > 0))
        assert large[(query == i) & ~drawn].all()
        assert large[drawn].sum() == int(np.ceil(round(share * drawn.sum(), 9)))


@few
@given(seed=seeds)
def test_fewer_topics(seed: int) -> None:
    runs, labels = graded_campaign(seed, runs=3, topics=6)
    context, names = RunContext(runs), list(runs)
    kinds = ["tau", "agreement", "ranking_agreement", "ties"]
    for measure in (NRG @ 3, rrLP):
        found = meta.degrade(context, labels, [measure], "topics", [0.4], kinds, 3, truth=RR, seed=seed)
        values, true = (oracle.tables(context, labels, m) for m in (measure, RR))
        expected = []
        for _, keep in _samples(Judged.read(labels), "topics", [0.4], 3, False, seed):
            assert keep.sum() == 3
            some, of_same = ({k: list(np.array(v)[keep]) for k, v in x.items()} for x in (values, true))
            left = oracle.preferences(some, names)
            system, _, ties = oracle.agreements(
                left, {p: [np.mean(x)] * 3 for p, x in oracle.preferences(true, names).items()}
            )
            ranking = oracle.agreements(left, oracle.preferences(of_same, names))[1]
            tau = oracle.tau(oracle.places(some, names), oracle.places(true, names))
            expected.append((tau, system, ranking, ties))
        for kind, numbers in zip(kinds, zip(*expected, strict=True), strict=True):
            known = [x for x in numbers if not np.isnan(x)]
            mean = found.loc[found["statistic"] == kind, "mean"].iloc[0]
            assert mean == pytest.approx(np.mean(known) if known else np.nan, nan_ok=True)


@few
@given(seed=seeds)
def test_pools_and_groups(seed: int) -> None:
    runs, labels = graded_campaign(seed, runs=4)
    names, groups = list(runs), {"r0": "g", "r1": "g", "r2": "h"}
    context = RunContext(runs, groups=groups)
    measures = [P_Rareness @ 3, nDCG @ 5]

    def top(name: str, q: str, depth: int) -> list[str]:
        ranking = runs[name].get(q, {})
        return sorted(ranking, key=lambda d: (ranking[d], d), reverse=True)[:depth]

    rows = [(q, d) for q, judged in labels.items() for d in judged]
    expected: dict[tuple[str, Any], Any] = {}
    for depth in (1, 3):
        expected["pool", depth] = np.array([any(d in top(n, q, depth) for n in names) for q, d in rows])
    of = {**groups, "r3": "r3"}
    for group in ("g", "h", "r3"):
        who = [{of[n] for n in names if d in top(n, q, 3)} for q, d in rows]
        expected["groups", group] = np.array([w != {group} for w in who])
    for (what, level), keep in expected.items():
        found = meta.degrade(context, labels, measures, what, [level], pool_depth=3)
        assert list(found["kept"]) == pytest.approx([keep.mean()] * 2)
        for m, mean in zip(measures, found["mean"], strict=True):
            values, true = (oracle.tables(context, x, m) for x in (fewer(labels, keep), labels))
            tau = oracle.tau(oracle.places(values, names), oracle.places(true, names))
            assert mean == pytest.approx(tau, nan_ok=True)
    assert set(meta.degrade(context, labels, measures, "groups")["level"]) == {"g", "h", "r3"}


def test_nothing_taken_away() -> None:
    runs, labels = graded_campaign(3)
    measures = [P_Rareness @ 3, rrLP, RR]
    kinds = ["tau", "weighted", "agreement", "ranking_agreement"]
    for what in ("labels", "topics"):
        found = meta.degrade(RunContext(runs), labels, measures, what, [1], kinds)
        assert list(found["mean"]) == pytest.approx([1] * len(found)) and (found["samples"] == 1).all()
        assert (found["kept"] == 1).all()


# --- groups that had not been pooled


THREE = {
    "a": {"q1": {"A": 3.0, "B": 2.0, "C": 1.0}, "q2": {"A": 1.0}},
    "b": {"q1": {"B": 3.0, "X": 2.0, "Y": 1.0}, "q2": {"Z": 1.0}},
    "c": {"q1": {"X": 3.0, "Y": 2.0, "B": 1.0}, "q2": {"A": 1.0}},
}


def test_places_that_rounding_tells_apart_are_shared() -> None:
    """Means of 0.3, 0.2 and 0.1, of the same topics in another order, differ in the last bit."""
    found = {"a": [3, 2, 1], "b": [1, 2, 3], "c": [0, 0, 0]}
    runs = {
        n: {f"q{q}": {f"{'R' if i < k else n}{i}": -float(i) for i in range(10)} for q, k in enumerate(ks)}
        for n, ks in found.items()
    }
    qrels = {f"q{q}": {f"R{i}": 1 for i in range(10)} for q in range(3)}
    table = meta.reusability(RunContext(runs), qrels, ["P@10"]).set_index("name")
    assert table.loc["a", "value"] != table.loc["b", "value"]
    assert table["place"].tolist() == [1, 1, 3]


def test_reusability_of_one_that_brought_nothing_alone() -> None:
    """A run without unique judgments keeps its score; a group loses what its members brought between them."""
    qrels = {"q1": {"A": 1, "B": 1, "C": 1, "X": 1, "Y": 1}, "q2": {"A": 1, "Z": 1}}
    measures = ["P@3", "UniqueRel@3"]
    alone = meta.reusability(RunContext(THREE), qrels, measures, pool_depth=3).set_index("name")
    of_c = alone.loc["c"]
    assert (of_c["lost"] == 0).all()
    assert (of_c["simulated"] == of_c["value"]).all() and (of_c["simulated_place"] == of_c["place"]).all()
    context = RunContext(THREE, groups={"b": "g", "c": "g"})
    together = meta.reusability(context, qrels, ["P@3"], pool_depth=3).set_index("name")
    # Without X and Y, which b and c hold, and Z of b: B is left of q1, and A of q2.
    assert together["lost"].tolist() == [2, 3, 3]
    assert together["simulated"].tolist() == pytest.approx([1 / 3, 1 / 6, 1 / 3])
    assert (alone["pool_depth"] == 3).all()


def test_reusability_stays_on_one_scale() -> None:
    """B, of grade 2, is b's alone: without it, ERR's grades are those of a context that says there is a 2."""
    runs = {"a": {"q": {"A": 3.0, "X": 2.0, "Y": 1.0}}, "b": {"q": {"B": 3.0, "A": 2.0, "Z": 1.0}}}
    qrels, left = {"q": {"A": 1, "B": 2, "C": 0}}, {"q": {"A": 1, "C": 0}}
    measure = MED(base="ERR") @ 2
    context = RunContext(runs, reference="a")
    found = meta.reusability(context, qrels, [measure], pool_depth=1).set_index("name")
    whole, own = (
        RunContext(runs, reference="a", grades=grades).evaluate(left, [measure]).iloc[1, 1]
        for grades in ((0, 2), None)
    )
    assert found.loc["b", "simulated"] == whole != own


def test_a_topic_that_loses_its_judgments_keeps_one_as_not_relevant() -> None:
    rows = [Qrel(q, d, 2, aspect) for q, d, aspect in ("pa0", "qb0", "qb1", "qc0", "qc1", "rd0", "re0")]
    judged = Judged.read(rows)
    assert judged.query_ids == ["p", "q", "r"] and judged.query.tolist() == [0, 1, 1, 2, 2]
    left = judged.kept(np.array([False, False, True, False, False]))
    # A document that is judged by aspect loses all of its judgments.
    assert list(left["doc_id"]) == ["a", "c", "c", "d"] and list(left["relevance"]) == [0, 2, 2, 0]


@pytest.mark.parametrize(
    ("policy", "left"),
    [
        ("earlier", "earlier"),
        (["r1", "r2"], ["r2"]),
        ({"r0": ["r1", "r2"], "r1": [], "r2": ["r0"]}, {"r0": ["r2"], "r2": ["r0"]}),
    ],
)
def test_a_part_is_a_context_of_its_own(policy: Any, left: Any) -> None:
    runs, _ = graded_campaign(2, runs=3)
    groups = {"r0": "g", "r1": "h"}
    whole = RunContext(runs, priors=policy, groups=groups, reference="r1", num_docs=99)
    part = part_of(whole, ["r0", "r2"], (0, 5))
    assert part.names == ["r0", "r2"] and part.priors == left and part.groups == {"r0": "g"}
    assert (part.reference, part.num_docs, part.grades) == (None, 99, (0, 5))
    assert part_of(RunContext(runs, grades=(0, 3)), grades=(0, 5)).grades == (0, 3)


# --- recall levels


@examples(30)
@given(seed=seeds, rel=st.sampled_from([1, 2]), worst=st.booleans())
def test_levels_are_those_of_loops(seed: int, rel: int, worst: bool) -> None:
    runs, labels = graded_campaign(seed, runs=4)
    measure = (sgnLR if worst else rrLP)(rel=rel)
    ties = meta.ties_by_level(RunContext(runs), labels, measure, 50)
    separation = meta.separation(RunContext(runs), labels, measure)
    compared, tied, separated = oracle.level_counts(runs, labels, rel, worst)
    assert dict(zip(ties["level"], ties["comparisons"], strict=True)) == compared
    assert dict(zip(ties["level"], ties["tied"], strict=True)) == tied
    assert dict(zip(separation["level"], separation["separated"], strict=True)) == separated
    if len(separation):
        assert separation["cumulative"].iloc[-1] == 1 and (separation["comparisons"] == 18).all()


def test_locality_is_that_of_both_orders() -> None:
    """Against numpy's correlation and statsmodels' regression of differences that are listed one by one."""
    sm = pytest.importorskip("statsmodels.api", reason="statsmodels is not installed")

    runs, labels = graded_campaign(12, runs=5, topics=8)
    found = meta.locality(RunContext(runs), labels, levels=4, ahead=2).set_index(["level", "other"])
    rows = []
    for a, b in itertools.permutations(runs.values(), 2):
        for q, judged in labels.items():
            relevant = [d for d, label in judged.items() if label > 0]
            if len(relevant) >= 4:
                x, y = (oracle.reciprocal_ranks(run.get(q, {}), relevant) for run in (a, b))
                rows.append([s - t for s, t in zip(x[:4], y[:4], strict=True)])
    differences = np.array(rows)
    expected = np.corrcoef(differences.T)
    for (i, j), row in found.iterrows():
        assert row["correlation"] == pytest.approx(expected[i - 1, j - 1])
        assert 2 * row["comparisons"] == len(rows)
    for i in (1, 2):
        model = sm.OLS(differences[:, i - 1], sm.add_constant(differences[:, i : i + 2])).fit()
        assert [
            0,
            found.loc[(i, i + 1), "coefficient"],
            found.loc[(i, i + 2), "coefficient"],
        ] == pytest.approx(list(model.params), abs=1e-9)
    assert np.isnan(found.loc[(1, 4), "coefficient"]) and np.isnan(found.loc[(3, 4), "coefficient"])


# --- sets of topics


@examples(15)
@given(seed=seeds)
def test_query_sets(seed: int) -> None:
    runs, labels = graded_campaign(seed, runs=4, topics=7)
    found = meta.query_sets(RunContext(runs), labels, nDCG_UE @ 3, share=0.3)
    assert list(found["query_id"]) == list(labels)
    discounts = [1 / np.log2(i + 2) for i in range(3)]

    def dcg(gains: Any) -> float:
        return sum(g * d for g, d in zip(gains, discounts, strict=False))

    for row, (q, judged) in zip(found.itertuples(), labels.items(), strict=True):
        gain = {d: 2.0 ** max(g, 0) - 1 for d, g in judged.items()}
        ideal = dcg(sorted(gain.values(), reverse=True)) or np.inf
        expected = np.mean(list(gain.values())) * sum(discounts[: len(gain)]) / ideal
        each = []
        for run in runs.values():
            ranking = run.get(q, {})
            top = sorted(ranking, key=lambda d: (ranking[d], d), reverse=True)[:3]
            each.append(dcg([gain.get(d, 0.0) for d in top]) / ideal)
        assert (row.actual, row.expected) == pytest.approx((np.mean(each), expected))
        assert row.difference == pytest.approx(row.actual - row.expected)
        if np.ptp(each) > 1e-9:
            p = scipy.stats.ttest_1samp(each, expected, alternative="greater").pvalue
            assert row.informative == (p <= 0.05)
        high = sum(g >= 2 for g in judged.values())
        assert row.breadth == ("broad" if 2 * high >= len(judged) else "focused")
    low, high = (found.loc[found["set"] == s, "difference"] for s in ("uninformative", "ideal"))
    rest = found.loc[found["set"] == "", "difference"]
    assert len(low) == len(high) == 3
    assert low.max() <= rest.min() + 1e-9 and rest.max() <= high.min() + 1e-9


def test_one_run_alone_makes_no_topic_informative() -> None:
    """A test over runs needs two; two that are alike leave no doubt."""
    qrels = {"q1": {"A": 1, "B": 0, "C": 0}, "q2": {"A": 1, "B": 0}}
    run = {"q1": {"A": 1.0}, "q2": {"B": 1.0}}
    one, two = (meta.query_sets(RunContext(dict.fromkeys(names, run)), qrels) for names in ("a", "ab"))
    assert one["informative"].tolist() == [False, False]
    assert two["informative"].tolist() == [True, False]


# --- what goes in


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c, q: meta.system_subsets(c, q, [rrLP(ref="r0")]), r"names 'r0', which not every subset"),
        (lambda c, q: meta.system_subsets(c, q, [NRG(prior="r0") @ 3]), r"names 'r0', which not every"),
        (lambda c, q: meta.system_subsets(c, q, ["P@3"], [9]), r"sizes holds 9, and the context 5 runs"),
        (lambda c, q: meta.system_subsets(c, q, ["P@3"], [1]), r"sizes=1 is not allowed"),
        (lambda c, q: meta.system_subsets(c, q, ["P@3"], statistics="rho"), r"statistics='rho' is not"),
        (lambda c, q: meta.system_subsets(c, q, ["P@3"], statistics=[]), r"statistics is empty"),
        (lambda c, q: meta.degrade(c, q, ["P@3"], "runs"), r"what='runs' is not allowed"),
        (lambda c, q: meta.degrade(c, q, ["P@3"], levels=[2]), r"levels holds 2; give shares"),
        (lambda c, q: meta.degrade(c, q, ["P@3"], "pool", [0.5]), r"levels=0.5 is not allowed"),
        (lambda c, q: meta.degrade(c, q, ["P@3"], "groups", ["x"]), r"levels holds 'x', which is no group"),
        (lambda c, q: meta.degrade(c, q, ["P@3"], groups={"x": "y"}, what="groups"), r"groups names \['x'\]"),
        (lambda c, q: meta.degrade(c, q, ["P@3"], levels=[]), r"levels is empty"),
        (lambda c, q: meta.system_subsets(c, q, ["P@3"], []), r"sizes is empty"),
        (lambda c, q: meta.degrade(c, q, ["P@3"], of="none"), r"of='none' is not allowed"),
        (lambda c, q: meta.degrade(RunContext({"r0": c.runs["r0"]}), q, ["P@3"]), r"holds 1 run; give two"),
        (lambda c, q: meta.separation(c, q, "P@3"), r"P@3 does not compare recall levels"),
        (lambda c, q: meta.separation(c, q, "MED@10"), r"MED@10 does not compare recall levels"),
        (lambda c, q: meta.locality(c, q, levels=30), r"levels=30 is more than any topic has"),
        (lambda c, q: meta.query_sets(c, q, "nDCG@3"), r"nDCG@3 has no expected value of each topic; give"),
        (lambda c, q: meta.query_sets(c, q, "NRG@3"), r"NRG@3 has no expected value of each topic; give"),
        (lambda c, q: meta.query_sets(c, q, nDCG_UE(pool="run") @ 3), r"has no expected value"),
        (lambda c, q: meta.query_sets(RunContext({}), q), r"the context holds no run; give it some"),
        (lambda c, q: meta.separation(c, q, rrLP(ref="r0")), r"compares with 'r0' alone; leave ref= out"),
        (lambda c, q: meta.reusability(c, q, ["P@3"], {"n": "g"}), r"groups names \['n'\]"),
        (lambda c, q: meta.reusability(c, q, ["P@3"], pool_depth=0), r"pool_depth=0 is not allowed"),
        (lambda c, q: meta.reusability(c, None, ["P@3"]), r"qrels is None; give the judgments"),
    ],
)
def test_bad_arguments(call: Any, message: str) -> None:
    runs, labels = graded_campaign(1)
    with pytest.raises(ValueError, match=message):
        call(RunContext(runs), labels)


@pytest.mark.parametrize("function", [meta.reusability, meta.degrade, meta.system_subsets])
def test_a_dict_is_not_a_context(function: Any) -> None:
    with pytest.raises(TypeError, match="the context is a dict; give a RunContext"):
        function(THREE, {"q1": {"A": 1}}, ["P@1"])


# --- invariance


def test_what_the_unit_of_a_measure_does_not_move() -> None:
    """Gains of 2 and 6 are twice those of 1 and 3; and gains of 1, 2 and 4 are not 0, 1 and 3 in another unit."""
    runs, labels = graded_campaign(8, runs=5, topics=6)
    context = RunContext(runs)
    kinds = ["tau", "tau_ap", "weighted", "agreement", "ranking_agreement", "ties"]
    gains = [NRG(norm=None, gains={1: f, 2: 3 * f}) @ 3 for f in (1, 2)]
    for what, level in (("labels", 0.4), ("topics", 0.4), ("pool", 2)):
        a, b = (meta.degrade(context, labels, [m], what, [level], kinds) for m in gains)
        pd.testing.assert_frame_equal(a.drop(columns="measure"), b.drop(columns="measure"))
    a, b = (
        meta.system_subsets(context, labels, [m], statistics=kinds[:3]).drop(columns="measure") for m in gains
    )
    pd.testing.assert_frame_equal(a, b)
    ue = [nDCG_UE(dcg="log2", gains={1: f, 2: 3 * f}) @ 3 for f in (1, 2)]
    a, b = (meta.query_sets(context, labels, m).drop(columns="measure") for m in ue)
    pd.testing.assert_frame_equal(a, b)
    added = meta.query_sets(context, labels, nDCG_UE(dcg="log2", gains={-1: 1, 0: 1, 1: 2, 2: 4}) @ 3)
    assert not np.allclose(added["difference"], a["difference"])


# --- what comes out


RUNS, QRELS = graded_campaign(7, runs=5, topics=8)
CONTEXT = RunContext(RUNS)
MEASURES = [P @ 3, P_Rareness @ 3, NRG @ 3, RR]
TABLE = CONTEXT.evaluate(QRELS, MEASURES, perquery=True)
OF_TABLES: dict[str, dict[str, Any]] = {
    "asl_curve": {"resamples": 99},
    "conflicts": {},
    "correlation": {},
    "discriminative_power": {"swaps": 9},
    "percentage_absolute_difference": {},
    "reliability": {"samples": 9},
    "rescaling_test": {"statistics": {"ties": meta.ties}},
    "stability": {"samples": 9},
    "swap_rate": {"samples": 9, "width": 0.1},
    "ties": {},
}
OF_RUNS: dict[str, dict[str, Any]] = {
    "degrade": {"measures": [*MEASURES, rrLP], "levels": [0.5, 1], "samples": 2},
    "locality": {"levels": 3, "ahead": 1},
    "query_sets": {"measure": nDCG_UE @ 3},
    "reusability": {"measures": MEASURES},
    "separation": {},
    "system_subsets": {"measures": [*MEASURES, rrLP], "samples": 9},
    "ties_by_level": {},
}


@pytest.mark.parametrize("name", meta.__all__)
def test_frames_are_plain_and_print(name: str) -> None:
    """Plain columns, and a measure in each row."""
    function = getattr(meta, name)
    found = (
        function(TABLE, **OF_TABLES[name]) if name in OF_TABLES else function(CONTEXT, QRELS, **OF_RUNS[name])
    )
    assert len(found) and list(found.index) == list(range(len(found)))
    for column in found.columns:
        values: list[Any] = found[column].tolist()
        assert len({type(v) for v in values}) == 1 and type(values[0]) in (str, int, float, bool), column
    assert found["measure"].map(type).eq(str).all()
    if find_spec("jinja2"):  # pandas needs it for that
        lines = found.round(3).to_latex(index=False).splitlines()
        assert lines[0].startswith(r"\begin{tabular}") and len(lines) == len(found) + 6
