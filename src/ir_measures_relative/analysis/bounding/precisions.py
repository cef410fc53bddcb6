"""Average precision: the precisions at the relevant documents of a run, over the number of all relevant documents."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ..labelings import OpenDocuments
from .model import TOLERANCE, Interval, Model

#: From sums of precisions and numbers of relevant documents to values, elementwise.
Norm: TypeAlias = Callable[[FloatArray, IntArray, int], FloatArray]

# So many open documents of a query may be tried in order with weights that differ.
_MOST_WEIGHED = 300
# Beyond so many in two runs their difference is that of two intervals.
_MOST_PAIRED = 600


class Query(NamedTuple):
    """The documents of one query."""

    rows: IntArray  #: into all documents, those that are open, or judged relevant
    open: BoolArray
    relevant: int  #: how many are judged relevant


class Quadratic(NamedTuple):
    """``constant + linear·label + ½·labelᵀ pairs label``."""

    constant: float
    linear: FloatArray
    pairs: FloatArray

    def negated(self) -> Quadratic:
        return Quadratic(-self.constant, -self.linear, -self.pairs)


class Precisions(Model):
    """AP and AP_Rareness: ``(1/R)·Σ over relevant d of (1/p_d)·Σ weight(e)`` over the relevant e no deeper than d.

    For a given number of relevant open documents a run does best with the first it holds, and worst with the last; so
    one run is exact where all weights are equal. With weights, the largest of them are thought first, and the smallest.
    The difference of two runs is a quadratic function of the labels, which is bounded by giving each of a pair of
    documents half of what they add together.

    Args:
        position: of every document in every run, shape (runs, documents).
        relevant: which judged documents are.
        weight: of every document; all 1 in AP.
    """

    def __init__(
        self, open_docs: OpenDocuments, position: IntArray, relevant: BoolArray, weight: FloatArray
    ) -> None:
        super().__init__(open_docs)
        self.position, self.relevant, self.weight = position, relevant, weight
        self.even = bool((weight == 1.0).all())
        docs = open_docs.docs
        rows = np.flatnonzero(self.open | relevant)
        ends = np.searchsorted(docs.query[rows], np.arange(docs.n_queries + 1)).tolist()
        self.queries = [
            Query(some := rows[i:j], self.open[some], int(relevant[some].sum()))
            for i, j in itertools.pairwise(ends)
        ]

    @property
    def known_gain(self) -> FloatArray:
        return self.relevant.astype(np.float64)

    def sampled(self, gains: FloatArray) -> FloatArray:
        result = np.zeros((len(self.position), len(gains), len(self.queries)))
        relevant = np.zeros((len(gains), len(self.open)), dtype=bool)
        relevant[:, self.open] = gains > 0
        relevant[:, self.relevant] = True
        for q, query in enumerate(self.queries):
            labels = relevant[:, query.rows]
            count = labels.sum(axis=1)
            for run, position in enumerate(self.position[:, query.rows]):
                held = np.flatnonzero(position > 0)
                order = held[np.argsort(position[held])]
                found = labels[:, order] * self.weight[query.rows[order]]
                precision = np.cumsum(found, axis=1) / position[order]
                total = (precision * labels[:, order]).sum(axis=1)
                result[run, :, q] = self.normalized(total, count, q)
        return result

    def _per_run(self, ends: Callable[[int, int], tuple[float, float, bool]]) -> Interval:
        found = [[ends(run, q) for q in range(len(self.queries))] for run in range(len(self.position))]
        table = np.array(found, dtype=np.float64).reshape(len(self.position), len(self.queries), 3)
        return Interval(table[..., 0], table[..., 1], table[..., 2] > 0)

    def normalized(self, total: FloatArray, n_relevant: IntArray, query: int) -> FloatArray:
        """AP, from the sum of precisions and R."""
        result: FloatArray = total / np.maximum(n_relevant, 1)
        return result

    def value(self) -> FloatArray:
        def none_open(run: int, q: int) -> tuple[float, float, bool]:
            query = self.queries[q]
            rows = query.rows[~query.open]
            total = sum_of_precisions(self.position[run, rows], self.weight[rows])
            value = float(self.normalized(np.array([total]), np.array([query.relevant]), q)[0])
            return value, value, True

        return self._per_run(none_open).lower

    def one(self) -> Interval:
        return self._per_run(self._extremes)

    def _extremes(self, run: int, q: int) -> tuple[float, float, bool]:
        query = self.queries[q]
        position, weight = self.position[run, query.rows], self.weight[query.rows]
        held = position > 0
        least, most = sums_by_count(position[held], weight[held], query.open[held], self.even)
        n = len(least)
        outside = int((query.open & ~held).sum())
        count = query.relevant + np.arange(n)[:, None] + np.arange(outside + 1)
        low = self.normalized(np.broadcast_to(least[:, None], count.shape), count, q)
        high = self.normalized(np.broadcast_to(most[:, None], count.shape), count, q)
        lower, upper = float(low.min()), float(high.max())
        if self.even or n > _MOST_PAIRED:
            return lower, upper, self.even
        # Weights: or as the difference from a run that holds nothing.
        nothing = np.zeros(int(held.sum()), dtype=np.int64)
        quadratic = difference_of_sums(position[held], nothing, weight[held], query.open[held])
        up, reached_up = _greatest(quadratic, query.relevant, outside)
        down, reached_down = _greatest(quadratic.negated(), query.relevant, outside)
        lower, upper = max(lower, -down), min(upper, up)
        return lower, upper, upper - reached_up <= TOLERANCE and -lower - reached_down <= TOLERANCE

    def difference(self, a: IntArray, b: IntArray) -> Interval:
        from tqdm import tqdm

        one = self.one()
        first, second = one.of(a), one.of(b)
        simple = first.minus(second)
        lower, upper = np.empty((2, *simple.lower.shape))
        exact = np.zeros(lower.shape, dtype=bool)
        pairs = tqdm(
            list(zip(a, b, strict=True)), desc="comparing runs", unit="pair", disable=None, leave=False
        )
        for i, (x, y) in enumerate(pairs):
            for q in range(len(self.queries)):
                lower[i, q], upper[i, q], exact[i, q] = self._apart(int(x), int(y), q)
        return Interval(lower, upper, exact).within(simple)

    def _apart(self, a: int, b: int, q: int) -> tuple[float, float, bool]:
        """The bounds of the difference for one query."""
        query = self.queries[q]
        if not query.open.any():
            rows = query.rows
            both = [sum_of_precisions(self.position[run, rows], self.weight[rows]) for run in (a, b)]
            value = (both[0] - both[1]) / max(query.relevant, 1)
            return value, value, True
        held = (self.position[a, query.rows] > 0) | (self.position[b, query.rows] > 0)
        if (query.open & held).sum() > _MOST_PAIRED:
            return -np.inf, np.inf, False
        rows = query.rows[held]
        outside = int((query.open & ~held).sum())
        x, y, weight = self.position[a, rows], self.position[b, rows], self.weight[rows]
        quadratic = difference_of_sums(x, y, weight, query.open[held])
        up, reached_up = _greatest(quadratic, query.relevant, outside)
        down, reached_down = _greatest(quadratic.negated(), query.relevant, outside)
        exact = up - reached_up <= TOLERANCE and down - reached_down <= TOLERANCE
        return -down, up, exact

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        docs, n = self.open_docs.docs, self.open_docs.n_queries
        inverse = np.divide(1.0, self.position, out=np.zeros(self.position.shape), where=self.position > 0)
        known = np.array([query.relevant for query in self.queries])
        free = np.bincount(docs.query[self.open], minlength=n)
        size = np.maximum(known + free / 2, 1.0)
        # A relevant document adds its precision, and one to the precision of those below it.
        moved = np.abs(inverse[a] - inverse[b]) * np.log1p(np.maximum(self.position[a], self.position[b]))
        grown = np.where(reach > 0, reach, 0.0) / size
        result: FloatArray = np.where(self.open, moved / size[docs.query] + grown[docs.query], 0.0)
        return result


def sum_of_precisions(position: IntArray, weight: FloatArray) -> float:
    """``Σ (1/p_d)·Σ weight(e)`` of relevant documents at these positions, 0 where not retrieved."""
    held = np.flatnonzero(position > 0)
    order = held[np.argsort(position[held])]
    return float((np.cumsum(weight[order]) / position[order]).sum())


def sums_by_count(
    position: IntArray, weight: FloatArray, is_open: BoolArray, even: bool
) -> tuple[FloatArray, FloatArray]:
    """No more, and no less, than the sum of precisions where 0, 1, … of the open documents are relevant.

    Args:
        position: of the documents that the run holds and that are open, or judged relevant.
        even: whether all weights are 1; the sums are then attained.
    """
    order = np.argsort(position)
    position, weight, is_open = position[order], weight[order], is_open[order]
    inverse = 1.0 / position
    known = ~is_open
    n = int(is_open.sum())
    if even:
        before = np.cumsum(known)[is_open]
        after = (inverse * known).sum() - np.cumsum(inverse * known)[is_open]
        at = inverse[is_open]
        start = sum_of_precisions(position[known], weight[known])
        first = (before + np.arange(1, n + 1)) * at + after  # those above it are relevant as well
        deeper = at.sum() - np.cumsum(at)
        last = ((before + 1) * at + after + deeper)[::-1]  # those below it are
        return start + np.append(0.0, np.cumsum(last)), start + np.append(0.0, np.cumsum(first))
    if n > _MOST_WEIGHED:
        least, most = sums_by_count(position, np.ones(len(position)), is_open, True)
        return least * weight.min(), most * weight.max()
    least, most = np.empty((2, n + 1))
    places = np.flatnonzero(is_open)
    ascending = np.sort(weight[is_open])
    for count in range(n + 1):
        for result, where, which in (
            (least, places[n - count :], ascending[:count]),
            (most, places[:count], ascending[n - count :]),
        ):
            relevant = known.copy()
            relevant[where] = True
            weights = np.sort(np.concatenate([weight[known], which]))
            if result is most:
                weights = weights[::-1]
            result[count] = (np.cumsum(weights) * inverse[relevant]).sum()
    return least, most


def difference_of_sums(x: IntArray, y: IntArray, weight: FloatArray, is_open: BoolArray) -> Quadratic:
    """The difference of two sums of precisions, as a function of the labels of the open documents.

    Args:
        x: the positions of open, and of relevant, documents in the one run, 0 where not retrieved.
        y: in the other.
    """
    total = np.zeros((len(x), len(x)))
    for position, sign in ((x, 1.0), (y, -1.0)):
        inverse = np.divide(1.0, position, out=np.zeros(len(position)), where=position > 0)
        # Two documents add the weight of the higher over the position of the deeper.
        upper = np.where(position[:, None] <= position, weight[:, None], weight)
        total += sign * upper * np.minimum(inverse[:, None], inverse)
    free, known = np.flatnonzero(is_open), np.flatnonzero(~is_open)
    own = np.diagonal(total)
    constant = float(total[np.ix_(known, known)].sum() + own[known].sum()) / 2
    linear = own[free] + total[np.ix_(free, known)].sum(axis=1)
    pairs = total[np.ix_(free, free)].copy()
    np.fill_diagonal(pairs, 0.0)
    return Quadratic(constant, linear, pairs)


def _greatest(quadratic: Quadratic, relevant: int, outside: int) -> tuple[float, float]:
    """A bound of the greatest value over R, and the greatest that was found."""
    constant, linear, pairs = quadratic
    n = len(linear)
    shared = np.cumsum(-np.sort(-np.maximum(pairs, 0.0), axis=1), axis=1)
    with_others = np.zeros((n, n + 1))
    with_others[:, 2:] = shared[:, : max(n - 1, 0)]
    worth = -np.sort(-(linear[:, None] + with_others / 2), axis=0)
    most = np.zeros(n + 1)
    for count in range(1, n + 1):
        most[count] = worth[:count, count].sum()
    sums = constant + most
    counts = relevant + np.arange(n + 1)
    # More relevant documents elsewhere bring a value closer to 0.
    divisors = np.where(sums >= 0, counts, counts + outside)
    bound = float((sums / np.maximum(divisors, 1)).max())
    labels = np.zeros(n)
    gain = linear.copy()
    total, reached, size = constant, -np.inf, relevant
    # Greedily more, from none; every step on the way is a labeling.
    for _ in range(n + 1):
        divisor = size if total >= 0 else size + outside
        reached = max(reached, total / max(divisor, 1))
        if not (labels == 0).any():
            break
        d = int(np.where(labels == 0, gain, -np.inf).argmax())
        total += float(gain[d])
        gain += pairs[d]
        labels[d] = 1.0
        size += 1
    return bound, reached
