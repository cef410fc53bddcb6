"""Options, compared: any; a candidate beside deployed runs or in place of one; deployed runs without each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ..bounding.verdicts import rounded_to_zero, settled_of
from ..context.evaluate import warn_of_last_labels
from ..context.measure_strings import value_of
from ..context.view import View
from ..data.arrays import FloatArray
from ..messages import escaped, few, warn
from ..stats.intervals import FEWEST_DIFFERING, mean_and_error
from ..stats.power import TopicsNeeded, topics_if_some_are_unlike, topics_to_settle
from ..tolerances import LABELED_ALIKE
from .decision import Decision, after_verdict
from .decision_rule import OPEN, UNSETTLED, Decided, Ends, Intervals, Rivals, intervals
from .options import Differences, Option, OptionLists, OptionValues, Settings

# How many judgments are drawn for the probability that a verdict stands.
_SAMPLES = 200


class Compared(Decided):
    """Some options of the runs of a view, compared; unjudged documents of the ``whole`` context may be relevant."""

    def __init__(
        self, view: View, options: Sequence[Option], rivals: Sequence[Rivals], settings: Settings, whole: View
    ) -> None:
        self.view, self.options, self.rivals, self.settings = view, list(options), rivals, settings
        self.margin, self.by, self.confidence = settings.margin, str(settings.by), settings.test.confidence
        how = settings.how
        self.where = f"In the top {how.ends}"
        self.names = [option.name for option in options]
        warn_of_last_labels(view, [settings.by])
        rel = value_of(settings.by, "rel", 1)
        labels = view.judgments.labels or view.judgments  # a document may be judged for several aspects
        if not (labels.grade >= rel).any():
            lower = ", or a lower rel=" if rel > 1 else ""
            raise ValueError(f"no judgment has the grade {rel} or a higher one; give other qrels{lower}")
        self.lists = OptionLists(view, options, settings.how)
        if self.unlike_lengths:
            warn(self.unlike_lengths, view.members)
        self.values = OptionValues(
            whole, self.lists.rankings(), settings.by, settings.unretrieved_relevant, settings.work
        )
        self.topics = view.n_queries
        others = np.arange(1, len(options))
        self.gains = self.values.differences(others, np.zeros_like(others))
        self.gain = intervals(self.gains, settings.ends, settings.test)
        self._pairs = np.array([(pair.more, pair.less) for pair in rivals], dtype=np.int64).reshape(-1, 2).T
        self.rival_differences = self.values.differences(*self._pairs)
        self.between = intervals(self.rival_differences, settings.ends, settings.test)

    @cached_property
    def unlike_lengths(self) -> str:
        """What to say where most topics have an option with fewer documents than another; else nothing."""
        how = self.settings.how
        if how.rerank is not None:
            return ""
        sizes = np.array([list(map(len, of)) for of in self.lists.lists])
        longest = sizes.max(axis=0)
        runs = self.lists.run_sizes()
        short = [i for i, size in enumerate(runs) if (size < longest).mean() > 0.5]
        if not short or (sizes < longest).mean(axis=1).max() <= 0.5:
            return ""
        least = int(np.median(runs, axis=1).min())
        to_do = f"set a cutoff of {least}, to which all runs have documents, or give" if least else "give"
        named = few(escaped(self.view.names[i]) for i in short)
        have = "has" if len(short) == 1 else "have"
        return (
            f"the options are not at the same cost: {named} {have} fewer documents than the longest list on most "
            f"topics, so not all lists have the same length; {to_do} deeper runs"
        )

    # ---- what an open verdict lacks

    @cached_property
    def missing(self) -> str | None:
        """Topics, judgments, or both; None where the verdict is not open."""
        if self.overall not in (OPEN, UNSETTLED):
            return None
        if self.overall != self.as_judged:
            return "judgments"
        row, _, found = self._decisive
        if found.worst[row] <= self.margin < found.best[row] and found.worst[row] < found.best[row]:
            return "topics and judgments"
        return "topics"

    @property
    def _decisive(self) -> tuple[int, Differences, Intervals]:
        """The difference that an open verdict depends on most: a row of those, and these with their intervals."""
        best = int(self.gain.difference.argmax())
        if self.overall != UNSETTLED:
            return best, self.gains, self.gain
        margin, (lower, upper) = self.margin, self.between.ends()
        open_rows = [
            i
            for i, pair in enumerate(self.rivals)
            if 1 + best in (pair.more, pair.less) and lower[i] <= margin < upper[i]
        ]
        row = open_rows[0] if open_rows else int(np.argmax(upper - lower))
        return row, self.rival_differences, self.between

    @cached_property
    def topics_needed(self) -> TopicsNeeded | None:
        """How many topics would settle an open verdict; None where it is not open, or no number is known to."""
        if self.missing not in ("topics", "topics and judgments") or self.topics < FEWEST_DIFFERING:
            return None
        row, of, found = self._decisive
        if found.worst[row] > self.margin:
            return self.choose_needed(max, [(of.worst[row], found.worst[row] - found.lower[row])], of)
        rows = [row] if self.overall == UNSETTLED else np.flatnonzero(found.upper > self.margin).tolist()
        if not all(found.best[i] < self.margin for i in rows):
            return None
        asked = [(of.best[i], found.upper[i] - found.best[i]) for i in rows]
        return self.choose_needed(max, asked, of)

    def choose_needed(
        self, choose: Any, asked: Sequence[tuple[FloatArray, float]], among: Differences
    ) -> TopicsNeeded | None:
        """The smallest or the largest of what some differences need, with their reaches; None where none is known."""
        needed = [self.needed_of(*one, among) for one in asked]
        known = [(one, i) for i, one in enumerate(needed) if one is not None]
        if not known or (choose is max and len(known) < len(needed)):
            return None
        one, i = choose(known)
        values, reach = asked[int(i)]
        return topics_if_some_are_unlike(one, values, reach, self.margin, self.confidence)

    def needed_of(self, values: FloatArray, reach: float, among: Differences) -> TopicsNeeded | None:
        """How many topics would settle on which side of the margin the mean of these differences is."""
        margin, confidence = self.margin, self.confidence
        if np.ptp(values) > LABELED_ALIKE:
            return topics_to_settle(values, reach, margin, confidence)
        # All are the same: so many have a cautious interval (stats.paired_tests) that ends at the margin.
        usual, (least, greatest) = float(values[0]), self.settings.ends
        gap = abs(usual - margin)
        if gap <= LABELED_ALIKE:
            return None
        rows = max(int((np.abs(among.judged) > LABELED_ALIKE).any(axis=1).sum()), 1)
        share = gap / (gap + (margin - least if usual > margin else greatest - margin))
        n = max(math.floor(math.log((1 - confidence) / rows / 2) / math.log1p(-share)) + 1, FEWEST_DIFFERING)
        return TopicsNeeded(n, n, n)

    @cached_property
    def judge(self) -> pd.DataFrame:
        """The documents whose judgments an open verdict depends on."""
        if not self.missing or "judgments" not in self.missing:
            return pd.DataFrame({name: pd.Series([], dtype=str) for name in ("query_id", "doc_id")})
        gain, between = (
            np.flatnonzero((one.lower <= self.margin) & (self.margin < one.upper))
            for one in (self.gain, self.between)
        )
        a = np.concatenate([1 + gain, self._pairs[0][between]])
        b = np.concatenate([np.zeros_like(gain), self._pairs[1][between]])
        both = zip(self.gains, self.rival_differences, strict=True)
        moved = [np.concatenate([one[gain], other[between]]) for one, other in both]
        return self.values.to_judge(a, b, Differences(*moved))

    @cached_property
    def stands(self) -> float | None:
        """The probability that the verdict as judged stays once all documents are judged, by drawn judgments."""
        if self.overall == self.as_judged or not self.values.bounded:
            return None
        drawn = self.values.sampled(_SAMPLES, self.settings.test.seed)
        if drawn is None:
            return None
        both = (self.gains, self.gain), (self.rival_differences, self.between)
        reaches = [_reach(of.judged, found) for of, found in both]
        stays = 0
        for values in drawn:  # options × judgments × topics
            gains, between = values[1:] - values[:1], values[self._pairs[0]] - values[self._pairs[1]]
            ends = [_moved_ends(d, *reach) for d, reach in zip((gains, between), reaches, strict=True)]
            means = gains.mean(axis=2)
            for i in range(values.shape[1]):
                gain, other = (Ends(lower[:, i], upper[:, i]) for lower, upper in ends)
                stays += self.verdict_by(gain, other, means[:, i]) == self.as_judged
        return (stays + 0.5) / (_SAMPLES + 1)

    # ---- the answer

    def shown(self) -> dict[str, Any]:
        """By what, and how, the options are compared."""
        return self.settings.shown()

    @cached_property
    def table(self) -> pd.DataFrame:
        """The row of each option."""
        judged = self.gains.judged
        settled = settled_of(rounded_to_zero(self.gain.worst), rounded_to_zero(self.gain.best))
        runs = [", ".join(option.runs) for option in self.options]
        columns: dict[str, Any] = {
            "option": self.names,
            "runs": runs,
            "mean": self.values.values.mean(axis=1),
        }
        columns |= {name: np.append(0.0, values) for name, values in self.gain._asdict().items()}
        columns |= {"settled": ["equal", *map(str, settled)]}
        columns |= {"won": np.append(0, (judged > LABELED_ALIKE).sum(axis=1))}
        columns |= {"lost": np.append(0, (judged < -LABELED_ALIKE).sum(axis=1))}
        table = pd.DataFrame(columns | {"unjudged": self.values.unjudged()})
        if not self.values.bounded:
            table[["worst", "best", "lower", "upper"]] = np.nan
            table["settled"] = None
        return table

    def decision(self, text: Any, tables: Mapping[str, pd.DataFrame], missing_topics: str = "") -> Decision:
        """The answer; ``text`` makes the sentences of this and the tables of evidence.

        ``missing_topics`` are the sentences on topics that runs miss, which follow the verdict.
        """
        return Decision(
            tuple(self.names),
            self.word() if self.values.bounded else None,
            self.word(as_judged=True),
            tuple(self.names[i] for i in self.may_be_best()),
            self.missing,
            after_verdict(text(self, tables), escaped(missing_topics)),
            self.table,
            self.judge[: self.settings.n],
            tables,
            self.shown(),
            self.topics_needed,
            self.stands,
            missing_topics,
        )


def _reach(values: FloatArray, found: Intervals) -> tuple[FloatArray, FloatArray]:
    """How many standard errors the intervals as judged reach to each side."""
    mean, error, _ = mean_and_error(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        sides = (mean - found.ci_lower) / error, (found.ci_upper - mean) / error
    return np.nan_to_num(sides[0], nan=2.0), np.nan_to_num(sides[1], nan=2.0)


def _moved_ends(values: FloatArray, down: FloatArray, up: FloatArray) -> Ends:
    """The ends of intervals that reach so many standard errors, of values of shape (rows, judgments, topics)."""
    mean, error, _ = mean_and_error(values)
    error = np.nan_to_num(error)
    return Ends(mean - down[:, None] * error, mean + up[:, None] * error)


#: The verdicts on a run.
SAFE, NEEDED, NOT_SETTLED, NOT_GRADED = "safe", "needed", "open", "not graded"


def candidate_options(deployed: Sequence[str], candidate: str) -> tuple[list[Option], list[Rivals]]:
    """Keep, add, and replace each deployed run; and adding against each replacement."""
    replaced_by = {
        f"replace {name}": (*(other for other in deployed if other != name), candidate) for name in deployed
    }
    sets = {"keep": tuple(deployed), "add": (*deployed, candidate), **replaced_by}
    options = [Option(name, runs) for name, runs in sets.items()]
    return options, [Rivals(1, i) for i in range(2, len(options))]


class CandidateCompared(Compared):
    """The options with a candidate, compared."""

    def __init__(
        self, view: View, deployed: Sequence[str], candidate: str, settings: Settings, whole: View
    ) -> None:
        self.deployed, self.candidate = tuple(deployed), candidate
        self.copy_of = copy_of(view, self.deployed, candidate)
        options, rivals = candidate_options(deployed, candidate)
        if self.copy_of is not None:
            options = [Option(one.name, self.deployed) for one in options]
        super().__init__(view, options, rivals, settings, whole)

    def unsettled(self, as_judged: bool) -> str:
        return "add or replace"

    def best(self) -> int:
        """The option that the answer is about: the one that the verdict names, else the best one with the candidate."""
        return self.overall if self.overall > 0 else 1 + int(self.gain.difference.argmax())

    def shown(self) -> dict[str, Any]:
        return {"candidate": self.candidate, "deployed": list(self.deployed), **super().shown()}


def copy_of(view: View, deployed: Iterable[str], candidate: str) -> str | None:
    """The first deployed run that ranks every judged topic as the candidate does."""

    def same(name: str, other: str) -> bool:
        return view.with_run(view.runs[name]).ranks_as(other)

    return next((name for name in deployed if same(candidate, name) and same(name, candidate)), None)


class RunsDropped(Compared):
    """The options without each run, compared with all of them."""

    def __init__(
        self, view: View, options: Sequence[Option], settings: Settings, whole: View, graded: bool
    ) -> None:
        super().__init__(view, options, [], settings, whole)
        self.graded = graded
        self.stands = None
        self.dropped = [name.removeprefix("drop ") for name in self.names[1:]]

    def _grades(self, lower: FloatArray, upper: FloatArray) -> list[str]:
        """The verdict on each run, by the ends of its loss."""
        if not self.graded or self.topics < 2:
            return [NOT_SETTLED if self.graded else NOT_GRADED] * len(lower)
        ends = zip(lower, upper, strict=True)
        return [
            SAFE if up <= self.margin else NEEDED if low > self.margin else NOT_SETTLED for low, up in ends
        ]

    @cached_property
    def grades(self) -> list[str]:
        """The verdict on each run, allowing for unjudged documents."""
        return self._grades(-self.gain.upper, -self.gain.lower)

    @cached_property
    def grades_as_judged(self) -> list[str]:
        """The verdict on each run by the judgments as they are."""
        return self._grades(-self.gain.ci_upper, -self.gain.ci_lower)

    def word(self, as_judged: bool = False) -> str:
        grades = self.grades_as_judged if as_judged else self.grades
        return next(word for word in (SAFE, NOT_SETTLED, NEEDED, NOT_GRADED) if word in grades)

    def may_be_best(self, as_judged: bool = False) -> list[int]:
        grades = self.grades if self.values.bounded and not as_judged else self.grades_as_judged
        return [0, *(1 + i for i, grade in enumerate(grades) if grade != NEEDED)]

    def shown(self) -> dict[str, Any]:
        return super().shown() | ({} if self.graded else {"margin": None})

    @cached_property
    def missing(self) -> str | None:
        open_rows = [i for i, grade in enumerate(self.grades) if grade == NOT_SETTLED]
        if not open_rows:
            return None
        lacks = {"judgments" if self.grades_as_judged[i] != NOT_SETTLED else "topics" for i in open_rows}
        return "topics and judgments" if len(lacks) > 1 else lacks.pop()

    @cached_property
    def topics_needed(self) -> TopicsNeeded | None:
        """How many topics would settle the first open verdict to be settled."""
        margin, asked, gain = self.margin, list[tuple[FloatArray, float]](), self.gain
        for i, grade in enumerate(self.grades):
            if grade != NOT_SETTLED or self.grades_as_judged[i] != NOT_SETTLED:
                continue
            if -gain.best[i] > margin:  # it is needed, whatever the judgments
                asked.append((-self.gains.best[i], gain.upper[i] - gain.best[i]))
            elif -gain.worst[i] < margin:
                asked.append((-self.gains.worst[i], gain.worst[i] - gain.lower[i]))
        return self.choose_needed(min, asked, self.gains)

    @cached_property
    def table(self) -> pd.DataFrame:
        table = super().table.rename(columns={"difference": "loss", "runs": "run"})
        table["run"] = ["", *self.dropped]
        table["loss"] = 0.0 - table["loss"]
        for low, high in (("ci_lower", "ci_upper"), ("worst", "best"), ("lower", "upper")):
            # The loss is the other way round; its worst end is the largest loss, so the ends keep their order.
            table[low], table[high] = 0.0 - table[high], 0.0 - table[low]
        table["settled"] = table["settled"].replace({"above": "below", "below": "above"})
        table["verdict"] = ["", *(self.grades if self.values.bounded else [None] * len(self.grades))]
        table["as_judged"] = ["", *self.grades_as_judged]
        return table
