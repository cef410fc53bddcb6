"""UE of every base: means and deviations against all rankings of small pools, samples of large ones, and closed forms."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import random_campaigns
from drawn import examples
from ir_measures_relative import AP_UE, UE, RunContext, bounds, explain, nDCG_UE, verdicts
from ir_measures_relative.context.view import view_of
from ir_measures_relative.io.runs import read_run
from ir_measures_relative.measures.bases import err
from ir_measures_relative.measures.bases.base import RandomRanking
from ir_measures_relative.measures.bases.rr import first_relevant
from oracles import ue_bases
from oracles.rankings import trec_order
from random_campaigns import Labels, Run
from scored import assume_common, per_query

BASES = {name: base.chance for name, base in UE.BASES.items() if base.chance}
WITH_DEVIATION = ["nDCG", "P", "R", "RR", "RBP"]
GRADED = {"nDCG", "ERR"}


def settings(k: int | None, p: float) -> Any:
    """As ``get`` of a measure."""
    return {"cutoff": k, "p": p, "expected": "exact"}.get


def pool_of(base: str, gains: Any, k: int | None, size: int | None = None, p: float = 0.8) -> RandomRanking:
    """One query's pool as the bases take it: some gains, and what is left of ``size`` without any."""
    n = len(gains) if size is None else size
    gain = np.array([float(g) for g in gains])
    depth = n if k is None else min(k, n)
    query = np.zeros(len(gain), dtype=np.int64)
    return RandomRanking(gain, query, np.array([n]), np.array([depth]), settings(k, p))


def ranked(docs: Any) -> dict[str, float]:
    return {d: -float(i) for i, d in enumerate(docs)}


# ---- means and deviations ------------------------------------------------------------------------------


@pytest.mark.parametrize("base", BASES)
def test_they_are_those_of_all_rankings(base: str) -> None:
    if base in GRADED:
        labels = [
            (0,),
            (3,),
            (0, 4),
            (1, 1),
            (0, 0, 2),
            (0, 1, 2, 4),
            (1, 1, 3, 3),
            (0, 0, 1, 1, 3),
            (0, 0, 0, 1, 1, 4, 4),
        ]
    else:
        labels = [(0,) * (n - m) + (1,) * m for n in range(1, 8) for m in range(n + 1)]
    for pool in labels:
        gains = [ue_bases.gain_of(base, label) for label in pool]
        relevant = sum(label > 0 for label in pool)
        options = {"relevant": relevant or 1} if base == "R" else {}
        for k in range(1, len(pool) + 3):
            want = ue_bases.chance(base, gains, k, **options)
            found = pool_of(base, gains, k)
            actual = BASES[base].value(found.perfect, found.get)
            assert actual[0] == pytest.approx(float(want.upper), rel=1e-13)
            assert BASES[base].expected(found)[0] == pytest.approx(float(want.mean), rel=1e-13)
            deviation = BASES[base].deviation
            if deviation is not None:
                assert deviation(found)[0] == pytest.approx(math.sqrt(want.variance), rel=1e-12, abs=1e-15)
            room = BASES[base].room
            if room is not None:
                assert room(found)[0] == pytest.approx(float(want.upper - want.mean), rel=1e-13)
    assert (base in WITH_DEVIATION) == (BASES[base].deviation is not None)


def sampled(base: str, gains: np.ndarray[Any, Any], k: int, n: int, seed: int) -> np.ndarray[Any, Any]:
    """The values of ``n`` random rankings."""
    rng = np.random.default_rng(seed)
    tops = rng.permuted(np.broadcast_to(gains, (n, len(gains))), axis=1)[:, :k]
    i = np.arange(1, tops.shape[1] + 1)
    if base == "nDCG":
        return np.asarray((tops / np.log2(i + 1)).sum(axis=1))
    if base == "RBP":
        return np.asarray(0.2 * (tops * 0.8 ** (i - 1)).sum(axis=1))
    if base == "AP":
        return np.asarray((tops * tops.cumsum(axis=1) / i).sum(axis=1))
    if base == "ERR":
        before = np.cumprod(np.hstack([np.ones((n, 1)), 1 - tops[:, :-1]]), axis=1)
        return np.asarray((tops * before / i).sum(axis=1))
    if base == "RR":
        return np.asarray((tops / i).max(axis=1))
    found = tops.sum(axis=1)
    return np.asarray(
        {"P": found / k, "R": found / gains.sum(), "Success": found > 0}[base], dtype=np.float64
    )


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(
    ("n_samples", "seed"), [(4_000, 1), pytest.param(250_000, 2, marks=pytest.mark.slow)]
)
def test_they_are_those_of_random_rankings(base: str, n_samples: int, seed: int) -> None:
    labels = [0] * 20 + [1] * 6 + [2] * 2 + [4] * 2
    gains = [float(ue_bases.gain_of(base, label)) for label in labels]
    k = 5 if base == "Success" else 12
    values = sampled(base, np.array(gains), k, n_samples, seed)
    pool = pool_of(base, gains, k)
    mean, away = values.mean(), values.std()
    assert abs(mean - BASES[base].expected(pool)[0]) < 4.5 * away / math.sqrt(n_samples)
    deviation = BASES[base].deviation
    if deviation is not None:
        squares = (values - mean) ** 2
        of_variance = squares.std() / math.sqrt(n_samples)
        assert abs(squares.mean() - deviation(pool)[0] ** 2) < 4.5 * of_variance


# ---- large pools ------------------------------------------------------------------------------------------

MILLION = 10**6


@pytest.mark.parametrize(
    ("n", "m", "k"), [(MILLION, 3, 1000), (MILLION, 400_000, 50), (1000, 300, 100), (1000, 998, 7)]
)
def test_the_first_relevant_document_in_large_pools(n: int, m: int, k: int) -> None:
    """Against running products in rationals; the chances of success and of none are right however small."""
    none, mean, square, success = Fraction(1), 0.0, 0.0, 0.0
    chances = []
    for i in range(1, k + 1):
        here = none * Fraction(m, n - i + 1)
        chances.append(float(here))
        none *= Fraction(max(n - m - i + 1, 0), n - i + 1)
        if m > 1000:  # the rationals grow
            none = none.limit_denominator(10**60) if none > Fraction(1, 10**20) else none
    success = math.fsum(chances)
    mean = math.fsum(c / i for i, c in enumerate(chances, start=1))
    square = (
        math.fsum(c * (1 / i - mean) ** 2 for i, c in enumerate(chances, start=1)) + float(none) * mean**2
    )
    pool = pool_of("RR", [1.0] * m, k, size=n)
    assert BASES["RR"].expected(pool)[0] == pytest.approx(mean, rel=1e-12)
    assert _deviation("RR", pool) == pytest.approx(math.sqrt(square), rel=1e-12)
    assert BASES["Success"].expected(pool)[0] == pytest.approx(success, rel=1e-12)
    room = BASES["Success"].room
    assert room is not None and room(pool)[0] == pytest.approx(float(none), rel=1e-12)


def _deviation(base: str, pool: RandomRanking) -> float:
    deviation = BASES[base].deviation
    assert deviation is not None
    return float(deviation(pool)[0])


@pytest.mark.parametrize("n", [7, 1000, MILLION])
def test_reciprocal_rank_of_one_document_to_the_end_of_the_pool(n: int) -> None:
    """It is anywhere with the same chance: the mean is H_n/n."""
    pool = pool_of("RR", [1.0], None, size=n)
    harmonic = math.fsum(1 / i for i in range(1, n + 1))
    assert BASES["RR"].expected(pool)[0] == pytest.approx(harmonic / n, rel=1e-10)
    squares = math.fsum(1 / i**2 for i in range(1, n + 1))
    assert _deviation("RR", pool) == pytest.approx(math.sqrt(squares / n - (harmonic / n) ** 2), rel=1e-10)


@pytest.mark.parametrize("grades", [(1,), (4,), (1, 2, 4), (1, 1, 1, 3)])
def test_reciprocal_rank_expected_in_a_large_pool(grades: tuple[int, ...]) -> None:
    """h_i from the chance that the top i holds just these of the few documents that satisfy, in rationals."""
    n, k, m = MILLION, 30, len(grades)
    theta = [ue_bases.gain_of("ERR", g) for g in grades]

    def holds(i: int, j: int) -> Fraction:
        """That the top i holds j given documents, and none of the others."""
        return Fraction(math.comb(n - m, i - j), math.comb(n, i)) if j <= i else Fraction(0)

    def go_on(i: int) -> Fraction:
        chosen = (c for j in range(m + 1) for c in itertools.combinations(theta, j))
        return sum(
            (math.prod((1 - t for t in c), start=Fraction(1)) * holds(i, len(c)) for c in chosen), Fraction(0)
        )

    h = [go_on(i) for i in range(k + 1)]
    want = sum((h[i - 1] - h[i]) / i for i in range(1, k + 1))
    assert BASES["ERR"].expected(pool_of("ERR", theta, k, size=n))[0] == pytest.approx(float(want), rel=1e-13)


def test_reciprocal_rank_expected_with_many_documents_that_satisfy() -> None:
    """h_i by elementary symmetric polynomials, in rationals."""
    random_labels = random.Random(5)
    theta = [ue_bases.gain_of("ERR", random_labels.choice([0, 0, 1, 2, 3, 4])) for _ in range(120)]
    k = 15
    e = [Fraction(1)] + [Fraction(0)] * k
    for t in theta:
        for i in range(k, 0, -1):
            e[i] += e[i - 1] * (1 - t)
    h = [e[i] / math.comb(len(theta), i) for i in range(k + 1)]
    want = sum((h[i - 1] - h[i]) / i for i in range(1, k + 1))
    assert BASES["ERR"].expected(pool_of("ERR", theta, k))[0] == pytest.approx(float(want), rel=1e-13)


def test_reciprocal_rank_expected_in_blocks_of_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each value is the same, to the last bit, whichever queries share a block."""
    rng = np.random.default_rng(8)
    size = rng.integers(0, 40, 30)
    query = np.repeat(np.arange(30), size)
    gain = rng.choice([0.0, 1 / 16, 15 / 16], len(query))
    pool = RandomRanking(gain, query, size + 3, np.minimum(size + 3, 20), settings(20, 0.8))
    whole = err.expected_err(pool)
    for elements in (1, 100):
        monkeypatch.setattr(err, "_ELEMENTS", elements)
        assert (err.expected_err(pool) == whole).all()


@pytest.mark.parametrize("base", WITH_DEVIATION)
def test_the_deviation_of_sums_in_a_large_pool(base: str) -> None:
    """The variance of a sum without replacement, from the second moments of one and of two positions."""
    if base in ("RR", "Success"):
        pytest.skip("not a sum")
    n, k, gains = MILLION, 1000, [1, 1, 3, 15] if base == "nDCG" else [1, 1, 1]
    weight = [
        {"nDCG": Fraction(1 / math.log2(i + 1)), "P": Fraction(1, k), "R": Fraction(1, 3)}.get(base)
        or Fraction(0.2) * Fraction(0.8) ** (i - 1)
        for i in range(
            1, (k if base != "RBP" else 60) + 1
        )  # beyond, RBP's weights are below 1e-6 of the first
    ]
    one, two = Fraction(sum(gains), n), Fraction(sum(gains) ** 2 - sum(g * g for g in gains), n * (n - 1))
    squares, total = sum(w * w for w in weight), sum(weight)
    variance = squares * (Fraction(sum(g * g for g in gains), n) - two) + total**2 * (two - one**2)
    found = _deviation(base, pool_of(base, gains, len(weight) if base == "RBP" else k, size=n))
    assert found == pytest.approx(math.sqrt(variance), rel=1e-12)


# ---- the measure -------------------------------------------------------------------------------------------

VERSIONS = [
    (base, version) for base in BASES for version in (1, 2, "z") if version != "z" or base in WITH_DEVIATION
]


def random_topics(rng: random.Random, n: int) -> tuple[Run, Labels]:
    """Topics with up to five judged documents, all of whose rankings can be scored: ties, missing, empty rankings."""
    run: Run = {}
    labels: Labels = {}
    for q in map(str, range(n)):
        judged = rng.sample("abcdefgh", rng.randint(1, 5))
        labels[q] = {d: rng.choice([-1, 0, 0, 1, 1, 2, 3]) for d in judged}
        if rng.random() < 0.9:
            run[q] = {d: float(rng.randint(0, 4)) for d in rng.sample("abcdefghij", rng.randint(0, 9))}
    return run, labels


@pytest.mark.parametrize(("base", "version"), VERSIONS)
def test_it_is_the_oracle(base: str, version: Any) -> None:
    rng = random.Random(f"{base} {version}")
    for k, num_docs, judged_only in [
        (1, None, False),
        (3, None, True),
        (5, None, False),
        (3, 7, False),
        (None, None, False),
    ]:
        if k is None and UE.BASES[base].needs_cutoff:
            continue
        run, labels = random_topics(rng, 50)
        rel = rng.choice([1, 1, 2])
        params: dict[str, Any] = {} if base in GRADED else {"rel": rel}
        params |= {"RBP": {"p": 0.7}, "AP": {"expected": "exact"}, "ERR": {"max_grade": 3}}.get(base, {})
        params |= {"pool": "corpus"} if num_docs else {"judged_only": judged_only}
        measure = UE(base=base, version=version, **params)
        with RunContext({}, num_docs=num_docs):
            got = per_query(measure if k is None else measure @ k, labels, run)
        assert set(got) == set(labels)
        of_labels = {"max_grade": 3} if base == "ERR" else {} if base in GRADED else {"rel": rel}
        options: dict[str, Any] = {"version": version, "judged_only": judged_only, "num_docs": num_docs}
        for query, docs in labels.items():
            ranking = trec_order(run.get(query, {}))
            want = ue_bases.ue(base, ranking, docs, k, persistence=0.7, **options, **of_labels)
            assert got[query] == pytest.approx(want, rel=1e-9, abs=1e-9), (query, k)


SAME = [
    (UE, nDCG_UE),
    (UE(dcg="log2"), nDCG_UE(dcg="log2")),
    (UE(gains={0: 1, 2: 5}), nDCG_UE(gains={0: 1, 2: 5})),
    (UE(version="z"), nDCG_UE(version="z")),
    (UE(version=1, judged_only=True), nDCG_UE(version=1, judged_only=True)),
    (UE(base="AP"), AP_UE),
    (UE(base="AP", version=1, expected="exact"), AP_UE(version=1, expected="exact")),
    (UE(base="AP", rel=2), AP_UE(rel=2)),
]


@examples(5)
@given(run=random_campaigns.runs, labels=random_campaigns.qrels, k=random_campaigns.cutoffs)
def test_the_measures_of_the_paper_are_two_of_them(run: Run, labels: Labels, k: int) -> None:
    assume_common(run, labels)
    for ue, named in SAME:
        assert per_query(ue @ k, labels, run) == per_query(named @ k, labels, run)
        assert per_query(ue, labels, run) == per_query(named, labels, run)


def actual(base: str, k: int, labels: Any, rankings: Any, upper: bool = False) -> Any:
    """The values of the base, or those of a perfect ranking, by query."""
    view = view_of(RunContext({}), labels)
    evaluated = view.with_run(read_run(rankings, "run"))
    measure = UE(base=base) @ k
    values = measure.normalizers(evaluated).upper if upper else measure.actual(evaluated)
    return dict(zip(view.query_ids, values.tolist(), strict=True))


OF_HOST = {
    "P": "P",
    "R": "R",
    "Success": "Success",
    "RR": "RR",
    "nDCG": "nDCG(dcg='exp-log2')",
    "AP": "AP",
    "ERR": "ERR",
}


def host_values(base: str, k: int, labels: Any, run: Any) -> dict[str, float]:
    """The base measure as ir_measures computes it: RR of rankings that are cut off here, and RBP by hand."""
    tops = {q: trec_order(docs)[:k] for q, docs in run.items()}
    if base == "RBP":
        gains = {q: [int(docs.get(d, 0) >= 1) for d in tops.get(q, [])] for q, docs in labels.items()}
        return {q: float(ue_bases.rbp(found, k, Fraction(0.8))) for q, found in gains.items()}
    if base == "RR":
        return per_query("RR", labels, {q: {d: run[q][d] for d in top} for q, top in tops.items()})
    return per_query(f"{OF_HOST[base]}@{k}", labels, run)


def check_actual(base: str, k: int, labels: Any, run: Any) -> None:
    found, want = actual(base, k, labels, run), host_values(base, k, labels, run)
    if base in ("nDCG", "AP"):  # their numerators, which are normalized anyway
        ideal = actual(base, k, labels, run, upper=True)
        relevant = {q: sum(label > 0 for label in docs.values()) for q, docs in labels.items()}
        below: dict[str, Any] = ideal if base == "nDCG" else relevant
        found = {q: value / below[q] if below[q] else 0.0 for q, value in found.items()}
    # gdeval prints five digits
    tolerance = 6e-6 if base in ("nDCG", "ERR") else 1e-12
    for query, value in found.items():
        assert value == pytest.approx(want.get(query, 0.0), abs=tolerance), query


@pytest.mark.parametrize("base", [b for b in BASES if b not in ("nDCG", "ERR")])
@examples(12)
@given(run=random_campaigns.runs, labels=random_campaigns.pytrec_eval_qrels, k=random_campaigns.cutoffs)
def test_the_value_is_that_of_ir_measures(base: str, run: Run, labels: Labels, k: int) -> None:
    assume_common(run, labels)
    assume(any(run.values()))
    check_actual(base, k, labels, run)


@pytest.mark.parametrize("base", ["nDCG", "ERR"])
def test_the_value_is_that_of_gdeval(base: str) -> None:
    rng = random.Random(3)
    docs = [f"d{i}" for i in range(15)]
    labels = {str(q): {d: rng.randint(-1, 4) for d in rng.sample(docs, 9)} | {"d0": 2} for q in range(30)}
    run = {str(q): ranked(rng.sample(docs, rng.randint(1, 15))) for q in range(30)}
    check_actual(base, 6, labels, run)


# ---- what it means -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", WITH_DEVIATION)
@pytest.mark.parametrize(
    "labels", [{"A": 1, "B": 0, "C": 0, "D": 0}, {"A": 3, "B": 1, "C": 0, "D": 0, "E": 2}]
)
def test_version_z_has_mean_0_and_variance_1_over_all_rankings(base: str, labels: dict[str, int]) -> None:
    orders = list(itertools.permutations(labels))
    qrels, run = (
        {str(i): labels for i in range(len(orders))},
        {str(i): ranked(o) for i, o in enumerate(orders)},
    )
    values = np.array(list(per_query(UE(base=base, version="z") @ 2, qrels, run).values()))
    assert values.mean() == pytest.approx(0, abs=1e-12)
    assert (values**2).mean() == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("base", BASES)
@examples(12)
@given(
    labels=st.dictionaries(st.sampled_from("ABCDEFGH"), st.integers(-1, 3), min_size=1),
    order=st.permutations("ABCDEFGH"),
    k=random_campaigns.cutoffs,
)
def test_ranges_and_perfect_rankings(base: str, labels: dict[str, int], order: Any, k: int) -> None:
    qrels, perfect = {"q": labels}, sorted(labels, key=lambda d: labels[d], reverse=True)
    extra = {"expected": "exact"} if base == "AP" else {}
    measure = UE(base=base, **extra) @ k
    values = [measure.calc_aggregate(qrels, {"q": ranked(docs)}) for docs in (order, perfect, "XYZ")]
    assert -1 <= values[0] <= 1
    gains = [ue_bases.gain_of(base, label) for label in labels.values()]
    chance = (
        ue_bases.chance(base, gains, k, **({"relevant": 1} if base == "R" else {}))
        if len(labels) < 6
        else None
    )
    if chance is not None:
        alike = math.isclose(chance.upper, chance.mean, rel_tol=1e-12)
        assert values[1] == pytest.approx(0 if alike else 1, abs=1e-12)
    assert values[2] == (-1 if any(gains) else 0)
    assert 0 <= measure(version=1).calc_aggregate(qrels, {"q": ranked(order)}) < 1


@pytest.mark.parametrize("base", BASES)
def test_missing_and_empty_rankings_and_queries_where_nothing_can_be_told(base: str) -> None:
    qrels = {
        "missing": {"A": 1, "B": 0, "C": 0},
        "unjudged": {"A": 1, "B": 0, "C": 0},
        "nothing to find": {"A": 0, "B": -1},
        "all the same": {"A": 2, "B": 2},
        "all the same, and not found": {"A": 2, "B": 2},
        "found": {"A": 1, "B": 0, "C": 0},
    }
    run = {
        "unjudged": ranked("XY"),
        "nothing to find": ranked("AB"),
        "all the same": ranked("BA"),
        "all the same, and not found": ranked("XY"),
        "found": ranked("AB"),
    }
    values = per_query(UE(base=base) @ 2, qrels, run)
    assert values.pop("all the same") == pytest.approx(0, abs=1e-15)
    assert values == {
        "missing": -1,
        "unjudged": -1,
        "nothing to find": 0,
        "all the same, and not found": -1,
        "found": 1,
    }
    if base in WITH_DEVIATION:
        z = per_query(UE(base=base, version="z") @ 2, qrels, run)
        assert z["nothing to find"] == z["all the same"] == z["all the same, and not found"] == 0  # σ = 0
        assert z["missing"] == z["unjudged"] < 0 < z["found"]


def test_where_all_rankings_have_one_value() -> None:
    """P and R of a pool no larger than the cutoff: σ = 0."""
    qrels, run = {"q": {"A": 1, "B": 0, "C": 1}}, {"q": ranked("BAC")}
    for version in (2, "z"):
        for base, k in (("P", 3), ("P", 5), ("R", 3), ("Success", 2)):
            if version == "z" and base == "Success":
                continue
            assert (UE(base=base, version=version) @ k).calc_aggregate(qrels, run) == 0
        assert (UE(base="RR", version=version) @ 3).calc_aggregate(qrels, run) < 0


@pytest.mark.parametrize("base", BASES)
def test_where_all_documents_of_the_pool_are_alike(base: str) -> None:
    """IUB = REB, which rounding must not turn into a division by 1e-16."""
    docs = [f"d{i}" for i in range(49)]
    qrels = {str(label): dict.fromkeys(docs, label) for label in (1, 2, 3)}
    run = {query: ranked(reversed(docs)) for query in qrels}
    extra = {"expected": "exact"} if base == "AP" else {}
    for k in (1, 7, 10, 49, 100):
        values = per_query(UE(base=base, **extra) @ k, qrels, run)
        assert values == pytest.approx(dict.fromkeys(qrels, 0), abs=1e-12)
        if base in WITH_DEVIATION:
            assert per_query(UE(base=base, version="z") @ k, qrels, run) == dict.fromkeys(qrels, 0)


def test_the_deviation_of_gains_whose_squares_are_no_numbers() -> None:
    qrels, run = {"q": {"A": 900, "B": 0}}, {"q": ranked("AB")}
    assert (UE(version="z") @ 1).calc_aggregate(qrels, run) == pytest.approx(1, rel=1e-12)


def test_success_is_1_or_minus_1_where_chance_leaves_room() -> None:
    """Also where the chances of the first relevant document sum, by rounding, to more than 1."""
    rng, k = np.random.default_rng(0), 25
    n = rng.integers(30, 200, 2000)
    m = (rng.random(2000) * (n - k)).astype(np.int64) + 1
    first = first_relevant(m, n, np.full(2000, k))
    beyond = (first.chance.sum(axis=1) > 1) & (first.none > 0)
    assert beyond.sum() > 10
    for size, relevant in zip(n[beyond].tolist(), m[beyond].tolist(), strict=True):
        labels = {f"d{i}": int(i < relevant) for i in range(size)}
        run = {"1": ranked(["d0"]), "-1": ranked([f"d{relevant}"])}
        values = per_query(UE(base="Success") @ k, dict.fromkeys(run, labels), run)
        assert values == {"1": 1, "-1": -1}


# ---- what is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("UE(base='R')", "needs a cutoff"),
        ("UE(base='Success')", "needs a cutoff"),
        ("UE(base='P')", r"UE\(base='P'\) needs a cutoff: write UE\(base='P'\)@10"),
        ("UE(base='AP',version='z')@5", "version='z' needs the standard deviation.*not computed for AP"),
        ("AP_UE(version='z')@5", "not computed for AP"),
        ("UE(base='ERR',version='z')@5", "one of the bases 'nDCG', 'P', 'R', 'RBP', 'RR'"),
        ("UE(base='P',p=0.5)@5", "p goes with base 'RBP', not 'P'"),
        ("UE(rel=2)@5", "rel goes with base 'AP', 'P', 'R', 'RBP', 'RR', 'Success', not 'nDCG'"),
        ("UE(base='RR',max_grade=3)@5", "max_grade goes with base 'ERR'"),
        ("UE(base='RR',expected='exact')@5", "expected goes with base 'AP'"),
        ("UE(base='ERR',max_grade=0)@5", "a whole number from 1 to 1000"),
        ("UE(base='MRR')@5", "base='MRR' is not allowed"),
        ("UE(version=True)@5", "version=True is not allowed; it must be one of 1, 2, 'z'"),
        ("UE(base='RR',pool='corpus')", "needs a cutoff"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ir_measures.parse_measure(text).validate_params()


def test_a_grade_above_the_highest() -> None:
    labels, run = {"1": {"A": 1}, "2": {"A": 5, "B": 0}}, {"1": ranked("A"), "2": ranked("AB")}
    with pytest.raises(ValueError, match="the grade 5, of query '2'; max_grade, 4 here.*write max_grade=5"):
        (UE(base="ERR") @ 2).calc_aggregate(labels, run)
    assert (UE(base="ERR", max_grade=5) @ 2).calc_aggregate({"2": labels["2"]}, run) == 1


def test_bounds_take_what_the_measures_of_the_paper_are_and_refuse_the_rest() -> None:
    runs = {"a": {"q": ranked("AXB")}, "b": {"q": ranked("BAY")}}
    labels = {"q": {"A": 1, "B": 0, "C": 1}}
    context = RunContext(runs, grades=(0, 1))
    for function in (bounds, verdicts):
        for ue, named in (
            ("UE@3", "nDCG_UE@3"),
            ("UE(base='AP',expected='exact')@3", "AP_UE(expected='exact')@3"),
        ):
            one, other = (function(context, labels, [m]).drop(columns="measure") for m in (ue, named))
            pd.testing.assert_frame_equal(one, other)
        for base in ("P", "R", "Success", "RR", "RBP", "ERR"):
            with pytest.raises(ValueError, match="cannot be bounded yet"):
                function(context, labels, [f"UE(base='{base}')@3"])
        for text in ("UE(version='z')@3", "nDCG_UE(version='z')@3"):
            with pytest.raises(ValueError, match="use version=1 or 2"):
                function(context, labels, [text])
    with pytest.raises(ValueError, match="is not a sum over documents"):
        explain(context, "a", labels, "UE(base='P')@3")
