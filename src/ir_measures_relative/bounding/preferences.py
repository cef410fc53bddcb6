"""Lexicographic and recall-paired preferences for a run over the reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ..context.view import View
from ..data.arrays import BoolArray, FloatArray, IntArray
from ..measures.bases.browsing import BrowsingModel
from ..measures.bases.gains import reciprocal
from ..work import Work
from .model import Interval, Model

#: From the positions of documents in a run and in its reference, and whether each is open or judged relevant, to the
#: least and the greatest preference, and whether labels attain both.
Extremes: TypeAlias = Callable[[IntArray, IntArray, BoolArray], tuple[float, float, bool]]


class Preferences(Model):
    """rrLP, sgnLP, sgnLR and RPP, one query at a time; ``score`` makes all values, (runs, queries), from open gains."""

    def __init__(
        self,
        views: Sequence[View],
        position: IntArray,
        relevant: BoolArray,
        reference: list[int],
        extremes: Extremes,
        score: Callable[[FloatArray], FloatArray],
    ) -> None:
        super().__init__(views, relevant)
        self.position, self.reference = position, reference
        self.extremes, self.score = extremes, score
        self.rows = self.rows_by_query(self.open | relevant)

    def sampled(self, gains: FloatArray) -> FloatArray:
        return np.stack([self.score(labels) for labels in gains], axis=1)

    def one(self, work: Work) -> Interval:
        shape = len(self.position), len(self.rows)
        lower, upper, exact = np.zeros(shape), np.zeros(shape), np.ones(shape, dtype=bool)
        for run, reference in enumerate(self.reference):
            if run == reference:
                continue
            for q, rows in enumerate(self.rows):
                x, y = self.position[run, rows], self.position[reference, rows]
                lower[run, q], upper[run, q], exact[run, q] = self.extremes(x, y, self.open[rows])
        return Interval(lower, upper, exact)

    def difference(self, a: IntArray, b: IntArray, work: Work) -> Interval:
        one = self.one(work)
        first, second = one.of(a), one.of(b)
        found = first.minus(second)
        # Against the reference itself, which is 0 from it, the interval is that of the run.
        to_reference = np.array([self.reference[x] == y for x, y in zip(a, b, strict=True)])[:, None]
        from_reference = np.array([self.reference[y] == x for x, y in zip(a, b, strict=True)])[:, None]
        settled = (to_reference & first.exact) | (from_reference & second.exact)
        return Interval(found.lower, found.upper, found.exact | settled)

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        places = self.position[[a, b, self.reference[a], self.reference[b]]]
        # In RPP what nobody retrieves still makes a level.
        some: FloatArray = np.maximum(reciprocal(places).max(axis=0), 1e-3)
        moves = self.open & (reach > 0)[self.docs.query]
        return np.where(moves, some, 0.0)


def _at_positions(position: IntArray, depth: int) -> IntArray:
    """From place (from 0) to the document there, -1 for one that is not open or relevant."""
    result = np.full(depth, -1)
    held = np.flatnonzero(position > 0)
    result[position[held] - 1] = held
    return result


class _Labels:
    """Labels of documents, some of which must be equal."""

    def __init__(self, is_open: BoolArray) -> None:
        n = len(is_open)
        self.parent = list(range(n + 1))  # the last is every document that is not relevant
        self.label: list[Any] = [None if free else True for free in is_open] + [False]

    def of(self, doc: int) -> int:
        doc = doc if doc >= 0 else len(self.parent) - 1
        while self.parent[doc] != doc:
            self.parent[doc] = self.parent[self.parent[doc]]
            doc = self.parent[doc]
        return doc

    def join(self, a: int, b: int) -> bool:
        """Makes two labels equal; whether that is possible."""
        a, b = self.of(a), self.of(b)
        if a == b:
            return True
        first, second = self.label[a], self.label[b]
        if first is not None and second is not None and first != second:
            return False
        self.parent[a] = b
        self.label[b] = first if second is None else second
        return True


def greatest_lexicographic(x: IntArray, y: IntArray, is_open: BoolArray) -> float:
    """The greatest rrLP of the ranking with positions ``x`` over that with ``y``, of open and of relevant documents.

    Each place is tried as the first where they differ: there, and at the loser's next relevant document, the value is
    made.
    """
    depth = int(max(x.max(initial=0), y.max(initial=0)))
    first, second = _at_positions(x, depth), _at_positions(y, depth)
    labels = _Labels(is_open)
    best, possible = -np.inf, True
    for p in range(depth):
        if best >= 1.0 / (p + 1):
            break
        a, b = labels.of(first[p]), labels.of(second[p])
        if a != b and labels.label[a] is not False and labels.label[b] is not True:
            rest = (labels.of(doc) for doc in second[p + 1 :])
            follows = next((i for i, doc in enumerate(rest) if doc == a or labels.label[doc] is True), None)
            best = max(best, 1.0 / (p + 1) - (0.0 if follows is None else 1.0 / (p + 2 + follows)))
        if best < 0 and a != b and labels.label[b] is not False and labels.label[a] is not True:
            rest = (labels.of(doc) for doc in first[p + 1 :])
            follows = next(
                (i for i, doc in enumerate(rest) if doc != a and labels.label[doc] is not False), None
            )
            best = max(best, (0.0 if follows is None else 1.0 / (p + 2 + follows)) - 1.0 / (p + 1))
        if not labels.join(first[p], second[p]):
            possible = False
            break
    return float(max(best, 0.0) if possible else best)


def may_win_worst_case(x: IntArray, y: IntArray, is_open: BoolArray) -> tuple[float, bool]:
    """No less than the greatest sgnLR, by how many relevant documents each may retrieve; and whether it is that."""
    in_x, in_y = x > 0, y > 0
    known = int((~is_open & in_x).sum()) - int((~is_open & in_y).sum())
    most = known + int((is_open & in_x & ~in_y).sum())
    if most > 0:
        return 1.0, True
    if most < 0:
        return -1.0, True
    alike = bool((np.where(in_x, x, 0) == np.where(in_y, y, 0)).all())
    return (0.0, True) if alike else (1.0, False)


def greatest_paired(x: IntArray, y: IntArray, is_open: BoolArray, weight: BrowsingModel) -> float:
    """No less than the greatest RPP: each level by itself, for any number of relevant documents."""
    known, levels = int((~is_open).sum()), len(is_open)
    if not levels:
        return 0.0

    def places(position: IntArray, of: BoolArray) -> FloatArray:
        """Where a ranking has the i-th of these documents, at each level; infinite where it has no more."""
        held = np.sort(position[(position > 0) & of])
        return np.concatenate([held, np.full(levels - len(held), np.inf)])

    all_of_them = np.ones(levels, dtype=bool)
    earliest, my_latest = places(x, all_of_them), places(x, ~is_open)
    their_earliest, latest = places(y, all_of_them), places(y, ~is_open)
    sign = np.where(earliest < latest, 1.0, np.where(my_latest > their_earliest, -1.0, 0.0))
    # A level is lost for sure only where even the earliest is no earlier than their latest.
    sign = np.where((sign < 0) & ~(earliest > latest), 0.0, sign)
    weights = weight.seen(np.arange(1, levels + 1))
    total = np.cumsum(weights)
    values = np.cumsum(sign * weights) / total
    return float(np.max(np.append(values[max(known, 1) - 1 :], 0.0 if not known else -np.inf)))
