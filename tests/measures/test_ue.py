"""UE normalization: against plain oracles, all rankings of small pools, closed forms for large ones."""

import itertools
import math
import random
import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given

import random_campaigns
from drawn import examples
from ir_measures_relative import AP_UE, UE, RelativeWarning, RunContext, bounds, explain, nDCG_UE, verdicts
from ir_measures_relative.context.collection import judged_collection
from ir_measures_relative.context.evaluated import Evaluated
from ir_measures_relative.io.runs import read_run
from ir_measures_relative.measures.bases import err
from ir_measures_relative.measures.bases.ap import expected_precision_sum
from ir_measures_relative.measures.bases.base import RandomRanking
from ir_measures_relative.measures.bases.rr import first_relevant
from oracles import ue_bases
from oracles.rankings import trec_order
from random_campaigns import Labels, Run
from scored import assume_common, in_order, per_query

BASES = {name: base.chance for name, base in UE.BASES.items() if base.chance}
WITH_DEVIATION = ["nDCG", "P", "R", "RR", "RBP"]
GRADED = {"nDCG", "ERR"}


def test_the_published_expectation_and_the_true_one() -> None:
    arguments = np.array([5]), np.array([20]), np.array([10])
    assert expected_precision_sum(*arguments, exact=False)[0] == 0.625
    assert round(expected_precision_sum(*arguments, exact=True)[0], 4) == 1.1044


def pool_of(gains: Any, k: int | None, size: int | None = None) -> RandomRanking:
    """One query's pool as the bases take it: some gains, and what is left of ``size`` without any."""
    n = len(gains) if size is None else size
    depth, get = n if k is None else min(k, n), {"cutoff": k, "p": 0.8, "expected": "exact"}.get
    gain, query = np.array([float(g) for g in gains]), np.zeros(len(gains), dtype=np.int64)
    return RandomRanking(gain, query, np.array([n]), np.array([depth]), get)


def deviation(base: str, pool: RandomRanking) -> float:
    function = BASES[base].deviation
    assert function is not None
    return float(function(pool)[0])


GRADES = [(0,), (3,), (0, 4), (1, 1), (0, 0, 2), (0, 1, 2, 4)]
GRADES += [(1, 1, 3, 3), (0, 0, 1, 1, 3), (0, 0, 0, 1, 1, 4, 4)]
BINARY = [(0,) * (n - m) + (1,) * m for n in range(1, 8) for m in range(n + 1)]


@pytest.mark.parametrize("base", BASES)
def test_they_are_those_of_all_rankings(base: str) -> None:
    for labels in GRADES if base in GRADED else BINARY:
        gains = [ue_bases.gain_of(base, label) for label in labels]
        relevant = sum(label > 0 for label in labels)
        options = {"relevant": relevant or 1} if base == "R" else {}
        for k in range(1, len(labels) + 3):
            want, pool = ue_bases.chance(base, gains, k, **options), pool_of(gains, k)
            actual = pool.perfect.value(UE.BASES[base].chance_rule(pool.get))
            assert actual[0] == pytest.approx(float(want.upper), rel=1e-13)
            assert BASES[base].expected(pool)[0] == pytest.approx(float(want.mean), rel=1e-13)
            if base in WITH_DEVIATION:
                assert deviation(base, pool) == pytest.approx(math.sqrt(want.variance), rel=1e-12, abs=1e-15)
            room = BASES[base].room
            if room is not None:
                assert room(pool)[0] == pytest.approx(float(want.upper - want.mean), rel=1e-13)
    assert (base in WITH_DEVIATION) == (BASES[base].deviation is not None)


MILLION = 10**6


@pytest.mark.parametrize(
    ("n", "m", "k"), [(MILLION, 3, 1000), (MILLION, 400_000, 50), (1000, 300, 100), (1000, 998, 7)]
)
def test_the_first_relevant_document_in_large_pools(n: int, m: int, k: int) -> None:
    """Against running products in rationals; the chances of success and of none are right however small."""
    none, chances = Fraction(1), []
    for i in range(1, k + 1):
        chances.append(float(none * Fraction(m, n - i + 1)))
        none *= Fraction(max(n - m - i + 1, 0), n - i + 1)
        if m > 1000:  # the rationals grow
            none = none.limit_denominator(10**60) if none > Fraction(1, 10**20) else none
    mean = math.fsum(c / i for i, c in enumerate(chances, start=1))
    squares = [c * (1 / i - mean) ** 2 for i, c in enumerate(chances, start=1)]
    pool = pool_of([1.0] * m, k, size=n)
    assert BASES["RR"].expected(pool)[0] == pytest.approx(mean, rel=1e-12)
    square = math.fsum(squares) + float(none) * mean**2
    assert deviation("RR", pool) == pytest.approx(math.sqrt(square), rel=1e-12)
    assert BASES["Success"].expected(pool)[0] == pytest.approx(math.fsum(chances), rel=1e-12)
    room = BASES["Success"].room
    assert room is not None and room(pool)[0] == pytest.approx(float(none), rel=1e-12)


@pytest.mark.parametrize("n", [7, 1000, 10**5])
def test_reciprocal_rank_of_one_document_to_the_end_of_the_pool(n: int) -> None:
    """It is anywhere with the same chance: the mean is H_n/n."""
    pool = pool_of([1.0], None, size=n)
    harmonic = math.fsum(1 / i for i in range(1, n + 1))
    assert BASES["RR"].expected(pool)[0] == pytest.approx(harmonic / n, rel=1e-10)
    squares = math.fsum(1 / i**2 for i in range(1, n + 1))
    assert deviation("RR", pool) == pytest.approx(math.sqrt(squares / n - (harmonic / n) ** 2), rel=1e-10)


def expected_err_oracle(theta: list[Fraction], n: int, k: int) -> float:
    """By h_i, the chance to go on beyond i: the elementary symmetric polynomials of all 1 - θ, in rationals."""
    e = [Fraction(1)] + [Fraction(0)] * len(theta)
    for t in theta:
        for i in range(len(theta), 0, -1):
            e[i] += e[i - 1] * (1 - t)
    others = n - len(theta)
    h = [
        sum(e[j] * math.comb(others, i - j) for j in range(min(i, len(theta)) + 1)) / math.comb(n, i)
        for i in range(k + 1)
    ]
    return float(sum((h[i - 1] - h[i]) / i for i in range(1, k + 1)))


LABELS_OF_MANY = random.Random(5).choices([0, 0, 1, 2, 3, 4], k=120)


@pytest.mark.parametrize(
    ("grades", "n", "k"),
    [*(((g), MILLION, 30) for g in [(1,), (1, 2, 4), (1, 1, 1, 3)]), (LABELS_OF_MANY, 120, 15)],
    ids=["1", "3", "4", "many"],
)
def test_err_expected_in_a_large_pool(grades: Any, n: int, k: int) -> None:
    theta = [ue_bases.gain_of("ERR", g) for g in grades]
    found = BASES["ERR"].expected(pool_of(theta, k, size=n))[0]
    assert found == pytest.approx(expected_err_oracle(theta, n, k), rel=1e-13)


def test_err_expected_in_blocks_of_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each value is the same, to the last bit, whichever queries share a block."""
    rng = np.random.default_rng(8)
    size = rng.integers(0, 40, 30)
    query = np.repeat(np.arange(30), size)
    gain = rng.choice([0.0, 1 / 16, 15 / 16], len(query))
    pool = RandomRanking(gain, query, size + 3, np.minimum(size + 3, 20), {"cutoff": 20}.get)
    whole = err.expected_err(pool)
    for elements in (1, 100):
        monkeypatch.setattr(err, "_ELEMENTS", elements)
        assert (err.expected_err(pool) == whole).all()


@pytest.mark.parametrize("base", ["nDCG", "P", "R", "RBP"])
def test_the_deviation_of_sums_in_a_large_pool(base: str) -> None:
    """The variance of a sum without replacement, from the second moments of one and of two positions."""
    n, gains = MILLION, [1, 1, 3, 15] if base == "nDCG" else [1, 1, 1]
    k = 60 if base == "RBP" else 1000  # beyond 60, RBP's weights are below 1e-6 of the first
    of_rank = {
        "nDCG": lambda i: Fraction(1 / math.log2(i + 1)),
        "P": lambda i: Fraction(1, k),
        "R": lambda i: Fraction(1, 3),
        "RBP": lambda i: Fraction(0.2) * Fraction(0.8) ** (i - 1),
    }[base]
    weight = [of_rank(i) for i in range(1, k + 1)]
    one, two = Fraction(sum(gains), n), Fraction(sum(gains) ** 2 - sum(g * g for g in gains), n * (n - 1))
    squares, total = sum(w * w for w in weight), sum(weight)
    variance = squares * (Fraction(sum(g * g for g in gains), n) - two) + total**2 * (two - one**2)
    assert deviation(base, pool_of(gains, k, size=n)) == pytest.approx(math.sqrt(variance), rel=1e-12)


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


@pytest.mark.parametrize(
    ("base", "version"),
    [*itertools.product(BASES, [1, 2]), *((base, "z") for base in WITH_DEVIATION)],
)
def test_it_is_the_oracle(base: str, version: Any) -> None:
    rng = random.Random(f"{base} {version}")
    pools = [(1, None, False), (3, None, True), (3, 7, False), (None, None, False), (5, None, False)]
    for k, num_docs, judged_only in pools:
        if k is None and UE.BASES[base].needs_cutoff:
            continue
        run, labels = random_topics(rng, 30)
        params: dict[str, Any] = {} if base in GRADED else {"rel": rng.choice([1, 1, 2])}
        params |= {"RBP": {"p": 0.7}, "ERR": {"max_grade": 3}}.get(base, {})
        if base == "AP":
            params["expected"] = "exact" if num_docs else rng.choice(["exact", "independent"])
        if base == "nDCG":
            gains = rng.choice([{}, {"gains": {rng.randint(-1, 3): rng.randint(0, 4) for _ in range(2)}}])
            params |= {"dcg": rng.choice(["log2", "exp-log2"])} | gains
        of_labels = {name: value for name, value in params.items() if name not in ("p", "expected")}
        params |= {"pool": "corpus"} if num_docs else {"judged_only": judged_only}
        measure = UE(base=base, version=version, **params)
        with RunContext({}, num_docs=num_docs):
            got = per_query(measure if k is None else measure @ k, labels, run)
        assert set(got) == set(labels)
        options: dict[str, Any] = {"version": version, "judged_only": judged_only, "num_docs": num_docs}
        options["exact"] = params.get("expected") != "independent"
        for query, docs in labels.items():
            ranking = trec_order(run.get(query, {}))
            want = ue_bases.ue(base, ranking, docs, k, persistence=0.7, **options, **of_labels)
            assert got[query] == pytest.approx(want, rel=1e-9, abs=1e-9), (query, k)


SAME: list[tuple[Any, Any]] = [
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


def check_actual(base: str, k: int, labels: Any, run: Any) -> None:
    """The value of the base, before it is normalized, is that of ir_measures."""
    tops = {q: trec_order(docs)[:k] for q, docs in run.items()}
    if base == "RBP":
        gains = {q: [int(docs.get(d, 0) >= 1) for d in tops.get(q, [])] for q, docs in labels.items()}
        want = {q: float(ue_bases.rbp(found, k, Fraction(0.8))) for q, found in gains.items()}
    elif base == "RR":
        want = per_query("RR", labels, {q: {d: run[q][d] for d in top} for q, top in tops.items()})
    else:
        dcg = "(dcg='exp-log2')" if base == "nDCG" else ""
        want = per_query(f"{base}{dcg}@{k}", labels, run)
    collection = judged_collection(RunContext({}), labels)
    evaluated, measure = Evaluated.of(collection, read_run(run, "run")), UE(base=base) @ k
    found, ideal = measure.actual(evaluated), measure.normalizers(evaluated).upper
    if base == "AP":
        n_relevant = [sum(g > 0 for g in labels[q].values()) for q in collection.documents.query_ids]
        ideal = np.array(n_relevant, dtype=float)
    if base in ("nDCG", "AP"):  # whose numerators these are
        found = np.divide(found, ideal, out=np.zeros(len(found)), where=ideal > 0)
    tolerance = 6e-6 if base in GRADED else 1e-12  # gdeval prints five digits
    for query, value in zip(collection.documents.query_ids, found.tolist(), strict=True):
        assert value == pytest.approx(want.get(query, 0.0), abs=tolerance), query


@pytest.mark.parametrize("base", [b for b in BASES if b not in GRADED])
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
    run = {str(q): in_order(rng.sample(docs, rng.randint(1, 15))) for q in range(30)}
    check_actual(base, 6, labels, run)


@pytest.mark.parametrize("base", BASES)
def test_where_all_documents_of_the_pool_are_alike(base: str) -> None:
    """IUB = REB, which rounding must not turn into a division by 1e-16."""
    docs = [f"d{i}" for i in range(49)]
    qrels = {str(label): dict.fromkeys(docs, label) for label in (1, 2, 3)}
    run = {query: in_order(reversed(docs)) for query in qrels}
    extra = {"expected": "exact"} if base == "AP" else {}
    for k in (1, 7, 10, 49, 100):
        values = per_query(UE(base=base, **extra) @ k, qrels, run)
        assert values == pytest.approx(dict.fromkeys(qrels, 0), abs=1e-12)
        if base in WITH_DEVIATION:
            assert per_query(UE(base=base, version="z") @ k, qrels, run) == dict.fromkeys(qrels, 0)


def test_the_deviation_of_gains_whose_squares_are_no_numbers() -> None:
    qrels, run = {"q": {"A": 900, "B": 0}}, {"q": in_order("AB")}
    assert (UE(version="z") @ 1).calc_aggregate(qrels, run) == pytest.approx(1, rel=1e-12)


def test_success_is_1_or_minus_1_where_chance_leaves_room() -> None:
    """Also where the chances of the first relevant document sum, by rounding, to more than 1."""
    rng, k = np.random.default_rng(0), 25
    n = rng.integers(30, 200, 1000)
    m = (rng.random(1000) * (n - k)).astype(np.int64) + 1
    first = first_relevant(m, n, np.full(1000, k))
    beyond = np.flatnonzero((first.chance.sum(axis=1) > 1) & (first.none > 0))
    assert len(beyond)
    for size, relevant in zip(n[beyond].tolist(), m[beyond].tolist(), strict=True):
        labels = {f"d{i}": int(i < relevant) for i in range(size)}
        run = {"1": {"d0": 1.0}, "-1": {f"d{relevant}": 1.0}}
        values = per_query(UE(base="Success") @ k, dict.fromkeys(run, labels), run)
        assert values == {"1": 1, "-1": -1}


def warned(qrels: Any, *measures: Any, run: Any = None, **context: Any) -> list[str]:
    run = run or {q: in_order(docs) for q, docs in qrels.items()}
    with warnings.catch_warnings(record=True, action="always") as caught:
        RunContext({"one": run, "two": run}, **context).evaluate(qrels, list(measures))
    return [str(w.message) for w in caught if w.category is RelativeWarning]


def pool(relevant: int, others: int) -> dict[str, int]:
    return {f"d{i}": int(i < relevant) for i in range(relevant + others)}


def test_pools_of_relevant_documents_alone_are_told_of() -> None:
    """Once a call, for any number of measures, with the topics and the share."""
    qrels = {"q0": {"A": 1}, "q1": {"A": 1, "B": 2}, "q2": pool(19, 2)}
    told = warned(qrels, nDCG_UE @ 10, AP_UE @ 10, UE(base="P") @ 5, nDCG_UE(version=1) @ 10)
    assert len(told) == 1 and "pool='corpus'" in told[0] and "num_docs=" in told[0]
    assert "on 2 of 3 topics nearly all of these are relevant (0.0% are not)" in told[0]
    (told_of_20,) = warned({"q": pool(20, 1)}, nDCG_UE @ 10)
    assert "on 1 of 1 topics nearly all of these are relevant (4.8% are not)" in told_of_20
    assert not warned({"q": pool(19, 1), "p": pool(0, 3)}, nDCG_UE @ 10)
    assert warned({"q": {"A": 1, "B": 2}}, AP_UE @ 10) and not warned(
        {"q": {"A": 1, "B": 2}}, AP_UE(rel=2) @ 10
    )
    assert not warned(qrels, nDCG_UE(pool="corpus") @ 10, AP_UE(pool="corpus") @ 10, num_docs=100)


def test_a_run_that_ranks_few_of_the_judged_documents_is_told_of() -> None:
    labels = {"q": {f"d{i}": i % 2 for i in range(10)}, "r": {"x": 1, "y": 0, "z": 0}}
    few, half = ({"q": in_order(f"d{i}" for i in range(n))} for n in (4, 5))
    (told,) = warned(labels, nDCG_UE @ 3, run=few)
    assert "ranks 40% of the judged documents" in told and "pool='run'" in told
    assert not warned(labels, nDCG_UE @ 3, run=half)
    assert not warned(labels, nDCG_UE(pool="run") @ 3, nDCG_UE(pool="corpus") @ 3, run=few, num_docs=100)
    assert not warned(labels, nDCG_UE @ 3, run={"q": {}, "r": {"x": 2.0, "y": 1.0}})


def rankings_of(size: int, grades: tuple[int, ...]) -> Iterator[tuple[list[int | None], list[int]]]:
    """Every ranking of up to so many documents, judged or not (None); and the grades of those that it does not rank."""
    for ranked in range(size + 1):
        for ranking in itertools.product((None, *grades), repeat=ranked):
            for left in range(size - ranked + 1):
                for others in itertools.combinations_with_replacement(grades, left):
                    yield list(ranking), list(others)


POOLS = [("judged", False), ("judged", True), ("run", False), ("run", True), ("corpus", False)]


@pytest.mark.parametrize("base", BASES)
def test_every_ranking_of_three_documents_relative_to_every_pool(base: str) -> None:
    labels: Labels = {}
    run: Run = {}
    for i, (ranking, others) in enumerate(rankings_of(3, (-1, 0, 1))):
        grades = {f"d{j}": grade for j, grade in enumerate([*ranking, *others]) if grade is not None}
        if grades:
            labels[str(i)], run[str(i)] = grades, in_order(f"d{j}" for j in range(len(ranking)))
    collection = judged_collection(RunContext({}, num_docs=5), labels)
    evaluated = Evaluated.of(collection, read_run(run, "run"))
    of_base: list[dict[str, Any]] = [{}]
    if base == "AP":
        of_base = [{"expected": "independent"}, {"expected": "exact"}]
    versions = [1, 2, "z"] if base in WITH_DEVIATION else [1, 2]
    for version, (pool, judged_only), params, k in itertools.product(versions, POOLS, of_base, (1, 2, 3)):
        measure = UE(base=base, version=version, pool=pool, judged_only=judged_only, **params) @ k
        options: dict[str, Any] = {"version": version, "judged_only": judged_only}
        options |= {"pool_of_run": pool == "run", "num_docs": 5 if pool == "corpus" else None}
        options |= {"exact": params.get("expected") != "independent"}
        for query, value in zip(
            collection.documents.query_ids, measure.score(evaluated).tolist(), strict=True
        ):
            want = ue_bases.ue(base, list(run[query]), labels[query], k, **options)
            assert value == pytest.approx(want, abs=1e-12), (measure, run[query], labels[query])


def test_what_the_corpus_needs() -> None:
    qrels, run = {"q": {"A": 1, "B": 0}}, {"q": {"A": 1.0}}
    measure = nDCG_UE(pool="corpus") @ 5
    for context in (None, RunContext({})):
        with pytest.raises(ValueError, match=r"RunContext\(\{\}, num_docs="):
            per_query(measure, qrels, run, context)
    with pytest.raises(ValueError, match="'q' has 2 judged documents"):
        per_query(measure, qrels, run, RunContext({}, num_docs=1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("UE(base='P')", r"UE\(base='P'\) needs a cutoff: write UE\(base='P'\)@10"),
        ("UE(base='AP',version='z')@5", "version='z' needs the standard deviation.*not computed for AP"),
        ("AP_UE(version='z')@5", "not computed for AP"),
        ("UE(base='ERR',version='z')@5", "one of the bases 'nDCG', 'P', 'R', 'RBP', 'RR'"),
        ("UE(base='P',p=0.5)@5", "p goes with base 'RBP', not 'P'"),
        ("UE(rel=2)@5", "rel goes with base 'AP', 'P', 'R', 'RBP', 'RR', 'Success', not 'nDCG'"),
        ("UE(base='RR',max_grade=3)@5", "max_grade goes with base 'ERR'"),
        ("UE(base='RR',expected='exact')@5", "expected goes with base 'AP'"),
        ("UE(base='MRR')@5", "base='MRR' is not allowed"),
        ("UE(version=True)@5", "version=True is not allowed; it must be one of 1, 2, 'z'"),
        ("UE(base='RR',pool='corpus')", "needs a cutoff"),
        ("AP_UE(pool='corpus',judged_only=True)@5", "judged_only"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ir_measures.parse_measure(text).validate_params()


def test_bounds_take_what_the_measures_of_the_paper_are_and_refuse_the_rest() -> None:
    context = RunContext({"a": {"q": in_order("AXB")}, "b": {"q": in_order("BAY")}}, grades=(0, 1))
    labels = {"q": {"A": 1, "B": 0, "C": 1}}
    same = {"UE@3": "nDCG_UE@3", "UE(base='AP',expected='exact')@3": "AP_UE(expected='exact')@3"}
    bases = ("P", "R", "Success", "RR", "RBP", "ERR")
    refused = {f"UE(base='{base}')@3": "has no strict bounds" for base in bases}
    variants = ("UE(version='z')@3", "nDCG_UE(pool='run')@2")
    refused |= dict.fromkeys(variants, "version=1 or 2 of nDCG and AP has")
    for function in (bounds, verdicts):
        for ue, named in same.items():
            one, other = (function(context, labels, [m]).drop(columns="measure") for m in (ue, named))
            pd.testing.assert_frame_equal(one, other)
        for text, message in refused.items():
            with pytest.raises(ValueError, match=message):
                function(context, labels, [text])
    with pytest.raises(ValueError, match="is not a sum over documents"):
        explain(context, "a", labels, "UE(base='P')@3")
