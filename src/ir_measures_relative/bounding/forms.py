"""Strict bounds of a measure with a form: they derive from it, without another line in the measure."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from ir_measures import Measure

from ..context.evaluated import Evaluated
from ..context.measure_strings import is_relative, param_value
from ..data.arrays import FloatArray, IntArray, max_by_query, ratio, sum_by_query
from ..measures.bases.base import BASES
from ..measures.bases.browsing import LogDiscount
from ..measures.bases.gains import Clipped, Gain
from ..measures.form import Form, Ideal, Rule
from ..work import Work
from .intervals import Interval
from .labelings import Labelings, NotBoundedError
from .level_sums import LevelSums, greatest_lead, sort_and_sum, swings

# So many numbers of sums over the gain levels are held at once.
_AT_ONCE = 1 << 16


def measure_rule(measure: Measure) -> Rule:
    """Return how a measure follows from grades: one with a form, or one of ir_measures that is a base."""
    if is_relative(measure):
        rule: Rule = measure.rule
        return rule
    get = partial(param_value, measure)
    if measure.NAME == "SDCG":
        low, high = get("min_rel"), get("max_rel")
        seen = LogDiscount(get("cutoff"))
        return Rule(Clipped(low, high), seen, over=seen.total * (high - low))
    if measure.NAME == "RBP" and get("rel") is None:
        raise ValueError(
            f"{measure} does not say which documents are relevant; give rel, as in RBP(rel=1)@10"
        )
    negative = any(min(pair) < 0 for pair in (get("gains") or {}).items())
    if get("judged_only") and negative:
        raise ValueError(
            f"{measure}: judged_only and gains disagree on which labels are negative; give only one of the two"
        )
    return BASES[measure.NAME].rule(get)


class FormLabelings(Labelings):
    """Those of a measure with a form: bounds are exact for one run, and for two of a sum or of the largest of binary
    gains.
    """

    def __init__(
        self, measure: Measure, runs: Sequence[Evaluated], unretrieved_relevant: int | None, closed: bool
    ) -> None:
        super().__init__(measure, runs, unretrieved_relevant, closed)
        self.by_ideal = isinstance(self.rule.over, Ideal)
        if self.why_not_bounded is None:
            if self.by_ideal:
                self.warn_about_unretrieved()
            self._check_levels()

    @cached_property
    def levels(self) -> FloatArray:
        """The gains that an open document may have, ascending."""
        return np.unique(self.rule.gain(self.open_grades()))

    def _check_levels(self) -> None:
        if self.levels[0] > 0 and self.unretrieved_relevant:
            raise ValueError(
                f"{self.measure}: every judged document has a gain, so judging further documents would always change "
                "the ideal ranking; give unretrieved_relevant=0"
            )

    @cached_property
    def rule(self) -> Rule:
        """How the measure follows from grades."""
        return measure_rule(self.measure)

    @property
    def gain(self) -> Gain:
        return self.rule.gain

    @cached_property
    def forms(self) -> list[Form]:
        """The form of every run; all have the same items."""
        if is_relative(self.measure) and self.measure.has_form:
            return [self.measure.form(run) for run in self.runs]
        docs = self.runs[0].documents_for(self.gain)
        ones = np.ones(len(docs))
        return [Form(docs, run.positions(docs, self.look), self.rule, ones) for run in self.runs]

    @property
    def why_not_bounded(self) -> str | None:
        form = self.forms[0]
        if form.residual and self.by_ideal:
            if "norm" not in getattr(self.measure, "SUPPORTED_PARAMS", {}):
                return super().why_not_bounded
            return f"{self.measure} has no strict bounds; {self.measure(norm='ideal')} has"
        by_grades_alone = type(form) is Form and (form.residual or bool((form.left == 1.0).all()))
        if self.rule.combine == "cascade" and not (by_grades_alone or form.residual):
            return f"{self.measure} has no strict bounds; the bases P, AP, RBP and nDCG have"
        if self.rule.combine != "cascade" and type(form) is not Form:
            return super().why_not_bounded
        return None

    def check_bounded(self) -> None:
        """Raise NotBoundedError where there are no strict bounds."""
        if self.why_not_bounded:
            raise NotBoundedError(self.why_not_bounded)

    @cached_property
    def items(self) -> Any:
        """What can gain, or may turn out to: some of :attr:`docs`."""
        return self.forms[0].items

    @cached_property
    def open_items(self) -> IntArray:
        """The rows of the items that are open, in the order of the open documents."""
        return np.flatnonzero(~self.items.judged)

    @cached_property
    def _open_query(self) -> IntArray:
        query: IntArray = self.items.query[self.open_items]
        return query

    @cached_property
    def judged_gain(self) -> FloatArray:
        """The gain of each item, 0 where it is open."""
        gain = self.forms[0].gain.copy()
        gain[self.open_items] = 0.0
        return gain

    def _gains(self, of_open: FloatArray) -> FloatArray:
        """Return the gains of all items, where the open ones have these, shape (…, open items)."""
        gain = np.broadcast_to(self.judged_gain, (*of_open.shape[:-1], len(self.judged_gain))).copy()
        gain[..., self.open_items] = of_open
        return gain

    def value(self) -> FloatArray:
        gain = self.judged_gain
        return np.array([ratio(form.joined(gain), form.over(gain)) for form in self.forms])

    def values(self, grade: IntArray) -> FloatArray:
        return self._values(self.rule.gain(grade))

    def _values(self, of_open: FloatArray) -> FloatArray:
        gain = self._gains(of_open)
        if self.by_ideal and not self.forms[0].residual:  # one ideal ranking for all runs
            over = self._ideals(of_open)
            return np.array([ratio(form.joined(gain), over) for form in self.forms])
        return np.array([ratio(form.joined(gain), form.over(gain)) for form in self.forms])

    def bound_runs(self, work: Work) -> Interval:
        self.check_bounded()
        if self.by_ideal:
            return self._ratios(zip(self._known, self._weights, strict=True))
        # A higher gain never lowers these values: they are extreme where all open documents gain least, or most.
        ends = np.repeat(self.levels[[0, -1], None], len(self.open_items), axis=1)
        worst, best = self._values(ends).swapaxes(0, 1)
        return Interval.attained(worst, best)

    def bound_differences(self, a: IntArray, b: IntArray, work: Work) -> Interval:
        self.check_bounded()
        combine = self.rule.combine
        if combine == "sum":
            known, weight, pairs = self._known, self._weights, list(zip(a, b, strict=True))
            apart = ((known[x] - known[y], weight[x] - weight[y]) for x, y in pairs)
            return self._ratios(apart) if self.by_ideal else self._sums(apart)
        if combine == "largest" and len(self.levels) <= 2:
            ends = [(-self._lead(y, x), self._lead(x, y)) for x, y in zip(a, b, strict=True)]
            worst, best = np.array(ends).reshape(len(a), 2, self.docs.n_queries).swapaxes(0, 1)
            return Interval.attained(worst, best)
        return super().bound_differences(a, b, work)

    @cached_property
    def _weights(self) -> FloatArray:
        """What a gain of 1 of each open item counts in every run before the division, shape (runs, open items)."""
        return np.array([(form.left * form.seen)[self.open_items] for form in self.forms])

    @cached_property
    def _weighted_of_two(self) -> int:
        """The number of open items of a query that have a weight in one of two runs, at most."""
        n = self.docs.n_queries
        counts = [np.bincount(self._open_query[of_run != 0], minlength=n).max() for of_run in self._weights]
        return min(2 * max(counts, default=0), int(self.sizes.max(initial=0))) + 2

    @cached_property
    def _terms(self) -> FloatArray:
        """What each judged item adds in every run before the division, shape (runs, items)."""
        return np.array([form.left * form.seen * self.judged_gain for form in self.forms])

    @cached_property
    def _known(self) -> FloatArray:
        """What the judged items add up to in every run, shape (runs, queries)."""
        return sum_by_query(self._terms, self.items.query, self.docs.n_queries)

    def _sums(self, sums: Iterable[tuple[FloatArray, FloatArray]]) -> Interval:
        """Return the extremes of sums over a constant, each from its judged part and the weights of the open items."""
        least, most, n = self.levels[0], self.levels[-1], self.docs.n_queries
        ends = []
        for known, weight in sums:
            up, down = swings(weight, self._open_query, n)
            ends.append((known + least * up + most * down, known + most * up + least * down))
        worst, best = np.array(ends).reshape(-1, 2, n).swapaxes(0, 1) / self.rule.over
        return Interval.attained(worst, best)

    def _lead(self, winner: int, loser: int) -> FloatArray:
        known = max_by_query(self._terms[[winner, loser]], self.items.query, self.docs.n_queries)
        weight = self._weights * self.levels[-1]
        return greatest_lead(weight[winner], weight[loser], (known[0], known[1]), self._open_query)[0]

    # ---- sums over an ideal of grades alone: of given numbers of gains, the larger go to the larger weights

    @cached_property
    def sizes(self) -> IntArray:
        """The number of open items of each query."""
        return np.bincount(self._open_query, minlength=self.docs.n_queries)

    @cached_property
    def ideal(self) -> tuple[FloatArray, FloatArray]:
        """The ideal where open items gain least, (queries), and what n at each level add, (queries, levels, n)."""
        over, n, gain, query = self.rule.over, self.docs.n_queries, self.judged_gain, self.items.query
        assert isinstance(over, Ideal)
        is_judged = np.ones(len(gain), dtype=bool)
        is_judged[self.open_items] = False
        width = int(self.sizes.max(initial=0)) + 1
        deepest = int(np.bincount(query, minlength=n).max(initial=0)) + 1
        deepest = deepest if over.depth is None else min(over.depth, deepest)
        so_far = np.append(0.0, np.cumsum(over.seen.seen(np.arange(1, deepest + 1))))
        least, added = np.zeros(n), np.zeros((n, len(self.levels) - 1, width))

        def first(count: IntArray) -> FloatArray:
            return so_far[np.minimum(count, deepest)]

        # Judged items may have gains between the levels, where the grades known are a part of those that there are.
        for low, high in itertools.pairwise(np.unique(np.concatenate([[0.0], self.levels, gain]))):
            count = np.bincount(query[is_judged & (gain >= high)], minlength=n)
            if high <= self.levels[0]:
                least += (high - low) * first(count + self.sizes)
            elif high > self.levels[-1]:
                least += (high - low) * first(count)
            else:
                level = int(np.searchsorted(self.levels, high)) - 1
                added[:, level] += (high - low) * first(count[:, None] + np.arange(width))
        return least, added

    @cached_property
    def _growth(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return by how much open items can raise the ideal, the largest ideal times their number, and, of each open
        item, what the range of gains is over the largest ideal."""
        least, added = self.ideal
        n = self.docs.n_queries
        largest = least + added[np.arange(n), :, self.sizes].sum(axis=1)
        growth = largest - (least + added[..., 0].sum(axis=1))
        of_gains = ratio(np.full(n, self.levels[-1] - self.levels[0]), largest)
        return growth, largest * np.maximum(self.sizes, 1), of_gains[self._open_query]

    def _ideals(self, of_open: FloatArray) -> FloatArray:
        """Return the ideals where the open items have these gains, shape (labelings, queries)."""
        least, added = self.ideal
        n = self.docs.n_queries
        result = np.repeat(least[None], len(of_open), axis=0)
        for level, middle in enumerate((self.levels[1:] + self.levels[:-1]) / 2):
            count = sum_by_query((of_open > middle).astype(np.float64), self._open_query, n).astype(np.int64)
            result += added[np.arange(n), level, count]
        return result

    def _ratios(self, sums: Iterable[tuple[FloatArray, FloatArray]]) -> Interval:
        """Return the extremes of sums over the ideal, each from its judged part and the weights of the open items."""
        least, added = self.ideal
        signed = ((sign * known, sign * weight) for known, weight in sums for sign in (-1.0, 1.0))
        size, greatest = max(1, _AT_ONCE // (added[:, :, 0].size * self._weighted_of_two + 1)), [np.empty(0)]
        while block := list(itertools.islice(signed, size)):
            known, weight = map(np.concatenate, zip(*block, strict=True))
            greatest.append(self._sums_over_ideals(known, weight).greatest())
        worst, best = np.concatenate(greatest).reshape(-1, 2, len(least)).swapaxes(0, 1)
        return Interval.attained(-worst, best)

    def _sums_over_ideals(self, known: FloatArray, weight: FloatArray) -> LevelSums:
        """Return sums over the ideal, of several runs or pairs, one after the other.

        Items without a weight change the ideal alone, which their number makes larger and never smaller: all of them
        get a level, or none. So the numbers tried are those of the items with a weight, before and after all others.

        Args:
            known: what judged items add up to, shape (sums · queries).
            weight: of the open items, shape (sums · open items).
        """
        least, added = self.ideal
        n, n_sums = len(least), len(known) // len(least)
        rows = np.flatnonzero(weight)
        query = (self._open_query + n * np.arange(n_sums)[:, None]).ravel()[rows]
        weight = weight[rows]
        weighted, positive = (np.bincount(q, minlength=len(known)) for q in (query, query[weight > 0]))
        width = int(weighted.max(initial=0)) + 2
        _, won = sort_and_sum(weight, query, len(known), width - 1)
        place, size = np.arange(width), np.tile(self.sizes, n_sums)
        after = place > positive[:, None]
        number = np.minimum(place + after * (size - weighted - 1)[:, None], size[:, None])
        won = np.take_along_axis(won, np.minimum(place - after, width - 2), axis=1)
        above = known + self.levels[0] * won[np.arange(len(known)), weighted + 1]
        of_query, level = np.tile(np.arange(n), n_sums)[:, None, None], np.arange(added.shape[1])[:, None]
        below = added[of_query, level, number[:, None, :]]
        by_level = np.diff(self.levels)[:, None] * won[:, None, :]
        return LevelSums((above, by_level), (np.tile(least, n_sums), below), weighted + 1)

    def above(self, known: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the numerator where all open items gain least, and what each level adds to it.

        Of one sum, or of several one after the other: shape (sums · queries) and (sums · open items).
        """
        n, _, width = self.ideal[1].shape
        sums = len(known) // n
        query = (self._open_query + n * np.arange(sums)[:, None]).ravel()
        _, won = sort_and_sum(weight, query, len(known), width)
        least: FloatArray = known + self.levels[0] * won[np.arange(len(known)), np.tile(self.sizes, sums)]
        return least, np.diff(self.levels)[:, None] * won[:, None, :]

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        apart, query, n = np.abs(self._weights[a] - self._weights[b]), self._open_query, self.docs.n_queries
        range_of_gains = self.levels[-1] - self.levels[0]
        if self.by_ideal:
            growth, of_items, of_an_item = self._growth
            # An item that neither run holds counts by what it adds to the ideal.
            moved = apart * of_an_item + ratio(reach * growth, of_items)[query]
        elif self.rule.combine == "largest":
            known = max_by_query(self._terms[[a, b]], self.items.query, n)
            x, y = (
                np.maximum(self._weights[i] - of_run[query], 0.0)
                for i, of_run in zip((a, b), known, strict=True)
            )
            moved = np.maximum(x, y)
        elif self.rule.combine == "cascade":
            moved = self._influence_in_cascade(a, b, reach) * range_of_gains
        else:
            moved = apart * range_of_gains / self.rule.over
        result = np.zeros(len(self.docs))
        result[self.open] = moved
        return result

    def _influence_in_cascade(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        first, second = self.forms[a], self.forms[b]
        own, other = first.seen[self.open_items], second.seen[self.open_items]
        moved = np.abs(own - other) + own * other
        in_priors = [getattr(form, "priors", None) for form in (first, second)]
        shown = [
            self.rule.seen.seen(rows[:, self.open_items])
            for rows in in_priors
            if rows is not None and len(rows)
        ]
        if shown:  # a document also moves what is below it in a prior
            moved = moved + np.concatenate(shown).max(axis=0) * reach[self._open_query]
        return moved
