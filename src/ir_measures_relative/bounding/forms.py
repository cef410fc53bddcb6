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
from ..context.tops import Look
from ..data.arrays import FloatArray, IntArray, max_by_query, ratio, sum_by_query
from ..measures.bases.base import BASES
from ..measures.bases.browsing import LogDiscount
from ..measures.bases.gains import Gain
from ..measures.form import Form, Ideal, Rule
from .intervals import Interval, TimeLimit
from .labelings import Clipped, Labelings
from .level_sums import LevelSums, OpenIdeals, greatest_lead, sum_largest, swings

# The number of sums over the gain levels that are in memory at once.
_AT_ONCE = 1 << 16


def measure_rule(measure: Measure) -> Rule:
    """Return the rule of a measure that has a form, or of one of ir_measures that is a base."""
    if is_relative(measure):
        return measure.rule
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


def make_forms(measure: Measure, rule: Rule, look: Look, runs: Sequence[Evaluated]) -> list[Form]:
    """Return the form of a measure for each run."""
    if is_relative(measure) and measure.has_form:
        return [measure.form(run) for run in runs]
    docs = runs[0].documents_for(rule.gain)
    return [Form(docs, run.positions(docs, look), rule, np.ones(len(docs))) for run in runs]


class FormLabelings(Labelings):
    """Labelings of a measure with a form: bounds of one run are exact; subclasses bound the difference of two runs."""

    def __init__(self, measure: Measure, runs: Sequence[Evaluated], unretrieved_relevant: int | None) -> None:
        super().__init__(measure, runs, unretrieved_relevant)
        self.by_ideal = isinstance(self.rule.over, Ideal)
        if self.why_not_bounded is not None:
            return
        if self.by_ideal:
            self.warn_about_unretrieved()
        if self.levels[0] > 0 and self.unretrieved_relevant:
            raise ValueError(
                f"{self.measure}: every judged document has a gain, so judging further documents would always change "
                "the ideal ranking; give unretrieved_relevant=0"
            )

    @cached_property
    def rule(self) -> Rule:
        """The rule by which the measure follows from grades."""
        return measure_rule(self.measure)

    @property
    def gain(self) -> Gain:
        return self.rule.gain

    @cached_property
    def levels(self) -> FloatArray:
        """The gains that an open document may have, ascending."""
        return np.unique(self.rule.gain(self.open_grades()))

    @cached_property
    def forms(self) -> list[Form]:
        """The form of every run; all have the same items."""
        return make_forms(self.measure, self.rule, self.look, self.runs)

    @property
    def why_not_bounded(self) -> str | None:
        form = self.forms[0]
        if form.residual and self.by_ideal and "norm" in getattr(self.measure, "SUPPORTED_PARAMS", {}):
            return f"{self.measure} has no strict bounds; {self.measure(norm='ideal')} has"
        if (form.residual and self.by_ideal) or type(form) is not Form:
            return super().why_not_bounded
        return None

    # ---- the items: all that can gain, judged or open

    @cached_property
    def items(self) -> Any:
        """The items of the forms: some of :attr:`docs`."""
        return self.forms[0].items

    @cached_property
    def open_items(self) -> IntArray:
        """The rows of the items that are open, in the order of the open documents."""
        return np.flatnonzero(~self.items.judged)

    @cached_property
    def open_query(self) -> IntArray:
        """The query of each open item."""
        return self.items.query[self.open_items]

    @cached_property
    def n_open(self) -> IntArray:
        """The number of open items of each query."""
        return np.bincount(self.open_query, minlength=self.docs.n_queries)

    @cached_property
    def judged_gain(self) -> FloatArray:
        """The gain of each item, 0 where it is open."""
        gain = self.forms[0].gain.copy()
        gain[self.open_items] = 0.0
        return gain

    def add_open_gains(self, open_gain: FloatArray) -> FloatArray:
        """Return the gains of all items, from those of the open ones, of shape (…, open items)."""
        gain = np.broadcast_to(self.judged_gain, (*open_gain.shape[:-1], len(self.judged_gain))).copy()
        gain[..., self.open_items] = open_gain
        return gain

    @cached_property
    def judged_terms(self) -> FloatArray:
        """The term of each judged item in every run before the division, shape (runs, items)."""
        return np.array([form.left * form.seen * self.judged_gain for form in self.forms])

    @cached_property
    def weights(self) -> FloatArray:
        """The term of each open item with a gain of 1 in every run before the division, shape (runs, open items)."""
        return np.array([(form.left * form.seen)[self.open_items] for form in self.forms])

    @cached_property
    def ideals(self) -> OpenIdeals:
        """The ideal sums over all gains of the open items."""
        assert isinstance(self.rule.over, Ideal)
        is_open, query = np.zeros(len(self.judged_gain), dtype=bool), self.items.query
        is_open[self.open_items] = True
        return OpenIdeals(self.rule.over, self.judged_gain, is_open, query, self.docs.n_queries, self.levels)

    # ---- values and bounds

    def judged_values(self) -> FloatArray:
        forms = make_forms(self.measure, self.rule, self.look, self.as_judged)
        return np.array([ratio(form.joined(form.gain), form.over(form.gain)) for form in forms])

    def values(self, grade: IntArray) -> FloatArray:
        return self._values_by_gain(self.rule.gain(grade))

    def _values_by_gain(self, open_gain: FloatArray) -> FloatArray:
        gain = self.add_open_gains(open_gain)
        if self.by_ideal and not self.forms[0].residual:  # one ideal ranking for all runs
            over = self.ideals.values(open_gain)
            return np.array([ratio(form.joined(gain), over) for form in self.forms])
        return np.array([ratio(form.joined(gain), form.over(gain)) for form in self.forms])

    def bound_runs(self, limit: TimeLimit) -> Interval:
        # A higher gain never lowers these values: they are extreme where all open documents gain least, or most.
        ends = np.repeat(self.levels[[0, -1], None], len(self.open_items), axis=1)
        worst, best = self._values_by_gain(ends).swapaxes(0, 1)
        return Interval.attained(worst, best)

    def _pad(self, moved: FloatArray) -> FloatArray:
        """Return the values of the open items as those of all documents, 0 of the others."""
        result = np.zeros(len(self.docs))
        result[self.open] = moved
        return result


class SumLabelings(FormLabelings):
    """Labelings of a sum, over a constant or an ideal: bounds are exact for two runs too."""

    @cached_property
    def judged_sums(self) -> FloatArray:
        """The sum over the judged items in every run, shape (runs, queries)."""
        return sum_by_query(self.judged_terms, self.items.query, self.docs.n_queries)

    def bound_runs(self, limit: TimeLimit) -> Interval:
        if not self.by_ideal:
            return super().bound_runs(limit)
        return self._bound_ratios(zip(self.judged_sums, self.weights, strict=True))

    def bound_differences(self, a: IntArray, b: IntArray, limit: TimeLimit) -> Interval:
        judged, weight, pairs = self.judged_sums, self.weights, list(zip(a, b, strict=True))
        differences = ((judged[x] - judged[y], weight[x] - weight[y]) for x, y in pairs)
        return self._bound_ratios(differences) if self.by_ideal else self._bound_sums(differences)

    def _bound_sums(self, sums: Iterable[tuple[FloatArray, FloatArray]]) -> Interval:
        """Return the extremes of sums over a constant, each by its judged part and the weights of the open items."""
        least, most, n = self.levels[0], self.levels[-1], self.docs.n_queries
        ends = []
        for judged, weight in sums:
            up, down = swings(weight, self.open_query, n)
            ends.append((judged + least * up + most * down, judged + most * up + least * down))
        worst, best = np.array(ends).reshape(-1, 2, n).swapaxes(0, 1) / self.rule.over
        return Interval.attained(worst, best)

    def _bound_ratios(self, sums: Iterable[tuple[FloatArray, FloatArray]]) -> Interval:
        """Return the extremes of sums over the ideal, each by its judged part and the weights of the open items.

        The ideal depends only on how many items have each gain. For given numbers, larger gains go to larger weights.
        """
        least, added = self.ideals.least, self.ideals.added
        signed = ((sign * judged, sign * weight) for judged, weight in sums for sign in (-1.0, 1.0))
        size, greatest = max(1, _AT_ONCE // (added[:, :, 0].size * self._pair_width + 1)), [np.empty(0)]
        while block := list(itertools.islice(signed, size)):
            judged, weight = map(np.concatenate, zip(*block, strict=True))
            greatest.append(self._sums_over_ideals(judged, weight).greatest())
        worst, best = np.concatenate(greatest).reshape(-1, 2, len(least)).swapaxes(0, 1)
        return Interval.attained(-worst, best)

    @cached_property
    def _pair_width(self) -> int:
        """The largest number of open items of a query that have a weight in one of two runs, and two more."""
        counts = [
            np.bincount(self.open_query[w != 0], minlength=self.docs.n_queries).max() for w in self.weights
        ]
        return min(2 * max(counts, default=0), int(self.n_open.max(initial=0))) + 2

    def _sums_over_ideals(self, judged: FloatArray, weight: FloatArray) -> LevelSums:
        """Return sums over the ideal, for several runs or pairs one after the other.

        Items without a weight change the ideal alone, which each of them raises: all of them get a level, or none. So
        the numbers tried are those of the items with a weight, before and after all the others.

        Args:
            judged: the sum over the judged items, shape (sums · queries).
            weight: of the open items, shape (sums · open items).
        """
        least, added = self.ideals.least, self.ideals.added
        n, n_sums = len(least), len(judged) // len(least)
        rows = np.flatnonzero(weight)
        query, weight = (self.open_query + n * np.arange(n_sums)[:, None]).ravel()[rows], weight[rows]
        weighted, positive = (np.bincount(q, minlength=len(judged)) for q in (query, query[weight > 0]))
        width = int(weighted.max(initial=0)) + 2
        won = sum_largest(weight, query, len(judged), width - 1)
        place, size = np.arange(width), np.tile(self.n_open, n_sums)
        after = place > positive[:, None]
        number = np.minimum(place + after * (size - weighted - 1)[:, None], size[:, None])
        won = np.take_along_axis(won, np.minimum(place - after, width - 2), axis=1)
        above = judged + self.levels[0] * won[np.arange(len(judged)), weighted + 1]
        row, level = np.tile(np.arange(n), n_sums)[:, None, None], np.arange(added.shape[1])[:, None]
        below = np.tile(least, n_sums), added[row, level, number[:, None, :]]
        return LevelSums((above, np.diff(self.levels)[:, None] * won[:, None, :]), below, weighted + 1)

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        moved, range_of_gains = np.abs(self.weights[a] - self.weights[b]), self.levels[-1] - self.levels[0]
        if not self.by_ideal:
            return self._pad(moved * range_of_gains / self.rule.over)
        growth, ideal_share, scale = self._growth
        # An item that neither run retrieves counts by what it adds to the ideal.
        return self._pad(moved * scale + ratio(reach * growth, ideal_share)[self.open_query])

    @cached_property
    def _growth(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The growth of the ideal by open items; the largest ideal times their number; the scale of gains per item."""
        least, added, n = self.ideals.least, self.ideals.added, self.docs.n_queries
        largest = least + added[np.arange(n), :, self.n_open].sum(axis=1)
        growth = largest - (least + added[..., 0].sum(axis=1))
        scale = ratio(np.full(n, self.levels[-1] - self.levels[0]), largest)
        return growth, largest * np.maximum(self.n_open, 1), scale[self.open_query]


class LargestLabelings(FormLabelings):
    """Labelings of a measure whose value is its largest term: with binary gains, bounds of two runs are exact."""

    def bound_differences(self, a: IntArray, b: IntArray, limit: TimeLimit) -> Interval:
        if len(self.levels) > 2:
            return super().bound_differences(a, b, limit)
        ends = [(-self._greatest_lead(y, x), self._greatest_lead(x, y)) for x, y in zip(a, b, strict=True)]
        worst, best = np.array(ends).reshape(len(a), 2, self.docs.n_queries).swapaxes(0, 1)
        return Interval.attained(worst, best)

    def _greatest_lead(self, winner: int, loser: int) -> FloatArray:
        weight = self.weights * self.levels[-1]
        judged = self._judged_largest(winner, loser)
        return greatest_lead(weight[winner], weight[loser], judged, self.open_query)

    def _judged_largest(self, a: int, b: int) -> FloatArray:
        """Return the largest term of the judged items in two runs, shape (2, queries)."""
        return max_by_query(self.judged_terms[[a, b]], self.items.query, self.docs.n_queries)

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        judged = self._judged_largest(a, b)[:, self.open_query]
        return self._pad(np.maximum(self.weights[[a, b]] - judged, 0.0).max(axis=0))


class CascadeLabelings(FormLabelings):
    """Labelings of a cascade: the difference of two runs is only bounded by the bounds of each run."""

    @property
    def why_not_bounded(self) -> str | None:
        form = self.forms[0]
        if form.residual or (type(form) is Form and bool((form.left == 1.0).all())):
            return None
        return f"{self.measure} has no strict bounds; the bases P, AP, RBP and nDCG have"

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        first, second = self.forms[a], self.forms[b]
        x, y = first.seen[self.open_items], second.seen[self.open_items]
        moved = np.abs(x - y) + x * y
        priors = [getattr(form, "priors", None) for form in (first, second)]
        seen = [
            self.rule.seen.seen(rows[:, self.open_items]) for rows in priors if rows is not None and len(rows)
        ]
        if seen:  # a document also moves what is below it in a prior run
            moved = moved + np.concatenate(seen).max(axis=0) * reach[self.open_query]
        return self._pad(moved * (self.levels[-1] - self.levels[0]))
