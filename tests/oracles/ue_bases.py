"""UE normalization from its definition: every ranking of the pool is scored, in rationals where the measure is one."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

from oracles.gains import gain_oracle
from oracles.rankings import only_judged

Number = Any  # Fraction, or float where there are logarithms
PERSISTENCE = Fraction(4, 5)


def total(gains: Sequence[Number], k: int, persistence: Number = PERSISTENCE, relevant: int = 1) -> Number:
    """Of P and R: the sum of the gains; P's is divided by k below."""
    return sum(gains[:k], Fraction(0)) / relevant


def success(gains: Sequence[Number], k: int, persistence: Number = PERSISTENCE) -> Number:
    return Fraction(int(any(gains[:k])))


def rr(gains: Sequence[Number], k: int, persistence: Number = PERSISTENCE) -> Number:
    return next((Fraction(1, i) for i, g in enumerate(gains[:k], start=1) if g), Fraction(0))


def rbp(gains: Sequence[Number], k: int, persistence: Number = PERSISTENCE) -> Number:
    return (1 - persistence) * sum((persistence**i * g for i, g in enumerate(gains[:k])), Fraction(0))


def dcg(gains: Sequence[Number], k: int, persistence: Number = PERSISTENCE) -> Number:
    return math.fsum(g / math.log2(i + 1) for i, g in enumerate(gains[:k], start=1))


def sp(gains: Sequence[Number], k: int, persistence: Number = PERSISTENCE) -> Number:
    return sum(
        (Fraction(int(sum(gains[:i])), i) for i in range(1, min(k, len(gains)) + 1) if gains[i - 1]),
        Fraction(0),
    )


def err(gains: Sequence[Number], k: int, persistence: Number = PERSISTENCE) -> Number:
    total, left = Fraction(0), Fraction(1)
    for i, theta in enumerate(gains[:k], start=1):
        total += left * theta / i
        left *= 1 - theta
    return total


#: From the gains of a ranking from the top, the depth and the persistence to the value.
MEASURES: dict[str, Callable[..., Number]] = {
    "nDCG": dcg,
    "P": lambda gains, k, **options: total(gains, k) / k,
    "R": total,
    "Success": success,
    "RR": rr,
    "RBP": rbp,
    "AP": sp,
    "ERR": err,
}


class Chance(NamedTuple):
    """Over all rankings of a pool."""

    upper: Number
    mean: Number
    variance: Number


def arrangements(pool: Sequence[Number]) -> Iterator[tuple[Number, ...]]:
    """The rankings of a pool, those with the same gains once: each stands for as many."""
    left = Counter(pool)

    def rest(prefix: tuple[Number, ...]) -> Iterator[tuple[Number, ...]]:
        if len(prefix) == len(pool):
            yield prefix
        for gain in [g for g, n in left.items() if n]:
            left[gain] -= 1
            yield from rest((*prefix, gain))
            left[gain] += 1

    return rest(())


def chance(base: str, pool: Sequence[Number], k: int, **options: Any) -> Chance:
    """The largest value, the mean and the variance over all rankings."""
    return _chance(base, tuple(sorted(pool)), min(k, len(pool) or 1) if base != "P" else k, **options)


@cache
def _chance(base: str, pool: tuple[Number, ...], k: int, **options: Any) -> Chance:
    values = [MEASURES[base](gains, k, **options) for gains in arrangements(pool)]
    mean = sum(values) / Fraction(len(values)) if base != "nDCG" else math.fsum(values) / len(values)
    squares = [(value - mean) ** 2 for value in values]
    return Chance(max(values), mean, (math.fsum if base == "nDCG" else sum)(squares) / len(values))


def gain_of(
    base: str, label: int, rel: int = 1, max_grade: int = 4, dcg: str = "exp-log2", gains: Any = None
) -> Number:
    """The gain of a label."""
    if base == "nDCG":
        return gain_oracle(label, dcg, gains)
    if base == "ERR":
        return Fraction(2 ** max(label, 0) - 1, 2**max_grade)
    return Fraction(int(label >= rel))


def ue(
    base: str,
    ranking: list[str],
    labels: dict[str, int],
    k: int | None,
    *,
    version: int | str = 2,
    judged_only: bool = False,
    pool_of_run: bool = False,
    num_docs: int | None = None,
    exact: bool = True,
    persistence: float = 0.8,
    **of_labels: Any,
) -> float:
    """UE of one ranking; ``num_docs`` makes the pool the collection; ``exact=False`` takes the published E[SP@k].

    ``pool_of_run`` makes the pool the judged documents of the ranking: the others may as well not be judged.
    """
    if judged_only:
        ranking = only_judged(ranking, labels)
        labels = {d: label for d, label in labels.items() if label >= 0}
    if pool_of_run:
        labels = {d: label for d, label in labels.items() if d in ranking}
    gain = {d: gain_of(base, label, **of_labels) for d, label in labels.items()}
    pool = list(gain.values()) + [Fraction(0)] * (0 if num_docs is None else num_docs - len(labels))
    n, relevant = len(pool), sum(g > 0 for g in pool)
    depth = max(n, len(ranking), 1) if k is None else k
    options = {"persistence": Fraction(persistence)} | ({"relevant": relevant or 1} if base == "R" else {})
    actual = MEASURES[base]([gain.get(d, Fraction(0)) for d in ranking], depth, **options)
    upper, mean, variance = chance(base, pool, depth, **options)
    if base == "AP" and not exact:
        mean = Fraction(min(depth, n) * relevant**2, n**2) if n else Fraction(0)
        mean = upper if relevant == n else mean
    deviation = math.sqrt(variance)
    if base == "nDCG" and math.isclose(upper, mean, rel_tol=1e-12):
        mean, deviation = upper, 0.0

    def divide(a: Number, b: Number) -> float:
        return float(a / b) if b else 0.0

    if version == 1:
        return divide(actual, upper) * divide(actual, actual + mean)
    if version == "z":
        return divide(float(actual - mean), deviation)
    if base == "nDCG" and math.isclose(actual, mean, rel_tol=1e-12):
        return 0.0
    return divide(actual - mean, upper - mean if actual >= mean else mean)
