"""RBO, written slowly and plainly from its definition, in exact rationals where these are rational."""

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

Ranking = list[str]


def overlap(x: Ranking, y: Ranking, depth: int) -> int:
    return len(set(x[:depth]) & set(y[:depth]))


def rbo_oracle(x: Ranking, y: Ranking, p: Fraction, kind: str) -> float:
    """RBO by the sums of Webber, Moffat and Zobel."""
    short, long = sorted((x, y), key=len)
    s, n = len(short), len(long)
    if not n:
        return 0.0 if kind == "min" else 1.0
    shared, at_s = overlap(x, y, n), Fraction(0)
    total = Fraction(0)
    for depth in range(1, n + 1):
        common = Fraction(overlap(x, y, depth))
        if depth > s:
            # The shorter one goes on, a document at a depth: with others than the longer one's, with those in their
            # order, or with any of them as often as the agreement at s says.
            alone = set(long[:depth]) - set(short)
            common += {"min": 0, "max": min(depth - s, len(alone)), "ext": (depth - s) * at_s}[kind]
        at_s = common / depth if depth == s else at_s
        total += (1 - p) * p ** (depth - 1) * common / depth
    if kind == "ext":
        return float(total + (shared + (n - s) * at_s) / n * p**n)
    if kind == "max":
        complete = n + s - shared
        for depth in range(n + 1, complete + 1):
            total += (1 - p) * p ** (depth - 1) * Fraction(2 * depth - n - s + shared, depth)
        return float(total + p**complete)
    rest = -math.log1p(-float(p)) - float(sum(p**d / Fraction(d) for d in range(1, n + 1)))
    return float(total) + shared * float((1 - p) / p) * rest


def continuations(x: Ranking, y: Ranking) -> Iterator[tuple[Ranking, Ranking]]:
    """Two rankings that go on to the depth at which both could hold all: by the documents of the other one and by new
    ones, in every order."""
    depth = len({*x, *y})

    def longer(ranking: Ranking, other: Ranking, new: str) -> Iterator[Ranking]:
        left = depth - len(ranking)
        fresh = [f"{new}{i}" for i in range(left)]
        for more in itertools.permutations([*sorted(set(other) - set(ranking)), *fresh], left):
            if [d for d in more if d in fresh] == fresh[: sum(d in fresh for d in more)]:
                yield [*ranking, *more]

    yield from itertools.product(longer(x, y, "x"), longer(y, x, "y"))


def infinite_rbo(x: Ranking, y: Ranking, p: float, alike: bool) -> float:
    """RBO of two rankings of one length that go on for ever, with the same documents or with others: summed to where
    p^d is below what a float tells."""
    n = len(x)
    return sum(
        (1 - p) * p ** (d - 1) * (overlap(x, y, d) + max(d - n, 0) * alike) / d
        for d in range(1, n + math.ceil(60 / -math.log2(p)))
    )
