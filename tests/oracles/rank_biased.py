"""RBO and RBA, written slowly and plainly from their definitions, in exact rationals where these are rational.

A ranking is a list of groups, a group a list of tied documents, best first; ``groups_of`` makes it of scores.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from oracles.rankings import trec_order

Groups = list[list[str]]
Shares = dict[str, Fraction]


def groups_of(scores: dict[str, float], cutoff: int | None = None, tied: bool = True) -> Groups:
    """The top of a ranking in trec_eval's order; documents of equal 32-bit scores together, if ``tied``."""
    top = trec_order(scores)[:cutoff]
    if not tied:
        return [[d] for d in top]
    with np.errstate(over="ignore"):
        return [list(g) for _, g in itertools.groupby(top, lambda d: float(np.float32(scores[d])))]


def size(ranking: Groups) -> int:
    return sum(map(len, ranking))


def seen(ranking: Groups, depth: int, ties: str) -> Shares:
    """How far each document is seen at a depth."""
    found, top = {}, 1
    for group in ranking:
        if top > depth:
            break
        whole = ties == "w" or top + len(group) - 1 <= depth
        share = Fraction(1) if whole else Fraction(depth - top + 1, len(group))
        found |= dict.fromkeys(group, share)
        top += len(group)
    return found


def overlap(x: Shares, y: Shares) -> Fraction:
    """How much of what is seen of two rankings is the same."""
    return sum((x[d] * y[d] for d in x.keys() & y.keys()), Fraction(0))


def agreement(common: Fraction | float, x: Shares, y: Shares, ties: str) -> Fraction | float:
    """The overlap, as a part of what is seen."""
    if ties == "b":
        return float(common) / math.prod(
            math.sqrt(sum(share**2 for share in side.values())) for side in (x, y)
        )
    return 2 * common / (sum(x.values()) + sum(y.values()))


def rbo_oracle(x: Groups, y: Groups, p: Fraction, kind: str, ties: str = "broken") -> float:
    """RBO by the sums of Webber, Moffat and Zobel, and of Corsi and Urbano; 'broken' wants groups of one."""
    short, long = sorted((x, y), key=size)
    s, n = size(short), size(long)
    if not n:
        return 0.0 if kind == "min" else 1.0
    at_s: Fraction | float = Fraction(0)
    in_short = {d for group in short for d in group}
    alone = [d for group in long for d in group if d not in in_short]
    total: Fraction | float = Fraction(0)
    for depth in range(1, n + 1):
        a, b = seen(short, depth, ties), seen(long, depth, ties)
        common: Fraction | float = overlap(a, b)
        if depth > s:
            # The shorter one goes on, a document at a depth: with others than the longer one's, with those in their
            # order, or with any of them as often as the agreement at s says.
            a |= {f"?{i}": Fraction(1) for i in range(s, depth)}
            shares = [b[d] for d in alone if d in b]
            if kind == "max":
                common += sum(shares[: depth - s])
            elif kind == "ext":
                common += (depth - s) * at_s * sum(shares) / len(shares)
        value = agreement(common, a, b, ties)
        at_s = value if depth == s else at_s
        total += (1 - p) * p ** (depth - 1) * value
    shared = n - len(alone)
    if kind == "ext":
        return float(total + (shared + (n - s) * at_s) / n * p**n)
    if kind == "max":
        complete = n + s - shared
        for depth in range(n + 1, complete + 1):
            total += (1 - p) * p ** (depth - 1) * Fraction(2 * depth - n - s + shared, depth)
        return float(total + p**complete)
    rest = -math.log1p(-float(p)) - float(sum(p**d / Fraction(d) for d in range(1, n + 1)))
    return float(total) + shared * float((1 - p) / p) * rest


def orders(ranking: Groups) -> Iterator[Groups]:
    """Every order that the ties of a ranking leave open."""
    for choice in itertools.product(*(itertools.permutations(group) for group in ranking)):
        yield [[d] for group in choice for d in group]


def continuations(x: Groups, y: Groups) -> Iterator[tuple[Groups, Groups]]:
    """Two rankings that go on without ties to the depth at which both could hold all: by the documents of the other
    one and by new ones, in every order."""
    documents = [{d for group in ranking for d in group} for ranking in (x, y)]
    depth = len(documents[0] | documents[1])

    def longer(ranking: Groups, own: set[str], other: set[str], new: str) -> Iterator[Groups]:
        left = depth - size(ranking)
        fresh = [f"{new}{i}" for i in range(left)]
        for more in itertools.permutations([*sorted(other - own), *fresh], left):
            if [d for d in more if d in fresh] == fresh[: sum(d in fresh for d in more)]:
                yield ranking + [[d] for d in more]

    for a in longer(x, documents[0], documents[1], "x"):
        for b in longer(y, documents[1], documents[0], "y"):
            yield a, b


def infinite_rbo(x: Groups, y: Groups, p: float, ties: str, alike: bool) -> float:
    """RBO of two rankings of one length that go on for ever, with the same documents or with others: summed to where
    p^d is below what a float tells."""
    n, total = size(x), 0.0
    common = len({d for g in x for d in g} & {d for g in y for d in g})
    for depth in range(1, n + math.ceil(60 / -math.log2(p))):
        if depth <= n:
            a, b = seen(x, depth, ties), seen(y, depth, ties)
            value = float(agreement(overlap(a, b), a, b, ties))
        else:
            value = (common + (depth - n) * alike) / depth
        total += (1 - p) * p ** (depth - 1) * value
    return total


def rba_weights(ranking: Groups, p: float) -> dict[str, float]:
    """The weight of each document's position; the mean over those that are tied."""
    weights, top = {}, 1
    for group in ranking:
        each = [(1 - p) * p ** (top + i - 1) for i in range(len(group))]
        weights |= dict.fromkeys(group, sum(each) / len(each))
        top += len(group)
    return weights


def rba_oracle(x: Groups, y: Groups, p: float, kind: str) -> float:
    """RBA: of what is seen, or where each ranking goes on with what it lacks of the other, tied as there."""
    if kind == "max":
        own_x, own_y = ({d for group in ranking for d in group} for ranking in (x, y))
        x, y = (
            a + [left for group in b if (left := [d for d in group if d not in own])]
            for a, b, own in ((x, y, own_x), (y, x, own_y))
        )
    a, b = rba_weights(x, p), rba_weights(y, p)
    total = sum(math.sqrt(a[d] * b[d]) for d in a.keys() & b.keys())
    return total + (p ** len(a) if kind == "max" else 0.0)


def groupings(docs: Groups, tied: bool) -> Iterator[Groups]:
    """Every way to tie neighbours in a ranking without ties; that alone, if not ``tied``."""
    for breaks in itertools.product([True, False] if tied else [True], repeat=max(len(docs) - 1, 0)):
        result = docs[:1]
        for [doc], apart in zip(docs[1:], breaks, strict=True):
            result = [*result, [doc]] if apart else [*result[:-1], [*result[-1], doc]]
        yield result
