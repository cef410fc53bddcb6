"""What is found out of a candidate beside deployed runs: one finding a measure, over topics and over labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd

from ..bounding.bounds import model_of, snapped, values_of
from ..bounding.model import DifferenceModel, Model
from ..bounding.relevance_model import (
    chances_of,
    check_relevance_model,
    default_log_odds_sd,
    sampled_values,
)
from ..bounding.verdicts import differences, unjudged_shares
from ..context.checks import check_runs, warn_if_empty
from ..context.evaluate import shares_of_topics
from ..context.measure_strings import is_relative, value_of, value_range
from ..context.priors import Members, replaced
from ..context.tops import same_rankings
from ..context.view import View, view_of
from ..data.arrays import FloatArray, IntArray
from ..data.documents import Documents
from ..data.rankings import Rankings
from ..further_measures.fusion_gain import FusionGain
from ..further_measures.rbo import RBO
from ..io.qrels import Qrels
from ..measures.measure import OfAbsoluteBase
from ..stats.bootstrap import FEWEST_DIFFERING
from ..stats.paired_tests import cautious_interval
from ..tolerances import LABELED_ALIKE
from ..work import Work
from .new_aspects import new_documents
from .similarity import judged_or_not, score_pairs

# How deep rankings are held side by side by RBO: the positions beyond have 0.003 % of the weight.
_DEPTH_OF_RBO = 100
# How many labelings are drawn, and the resamples of topics for each.
_LABELINGS, _RESAMPLES_OF_LABELS = 200, 499

#: By topic, the documents that the candidate alone shows, in its order.
TopicDocuments = list[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class Candidacy:
    """A candidate, the last of the runs, whose priors are the others: the runs that are deployed."""

    view: View

    @classmethod
    def of(
        cls, context: Members, qrels: Qrels | None, name: str, deployed: Sequence[str], run: Rankings
    ) -> Candidacy:
        """The campaign; ValueError where a run shares no query with the judgments."""
        if qrels is not None or context.dataset is not None:
            view = view_of(context, qrels).of_runs(deployed).with_runs({name: run})
            check_runs(view)
        else:
            runs = {n: context.runs[n] for n in deployed} | {name: run}
            view = judged_or_not(replaced(context, runs=runs), None, [])
            for one in runs.values():
                warn_if_empty(one, context)
        return cls(view.of(name, deployed))

    @property
    def name(self) -> str:
        """The candidate."""
        return self.view.names[-1]

    @property
    def deployed(self) -> list[str]:
        """The deployed runs."""
        return self.view.names[:-1]

    @property
    def topics(self) -> int:
        """How many topics there are."""
        return self.view.n_queries

    @cached_property
    def likeness(self) -> FloatArray:
        """How much each deployed run ranks as the candidate does: the mean RBO."""
        last = len(self.deployed)
        pairs = [(last, i) for i in range(last)]
        values: FloatArray = score_pairs(self.view, RBO @ _DEPTH_OF_RBO, pairs, Work()).mean(axis=1)
        return values

    @cached_property
    def nearest(self) -> int:
        """The deployed run that ranks most as the candidate does; the first of several."""
        return int(self.likeness.argmax())

    @cached_property
    def is_copy(self) -> bool:
        """Whether the nearest deployed run ranks every topic exactly as the candidate does."""
        return self.ranks_alike(None)

    def is_copy_by(self, measure: ir_measures.Measure) -> bool:
        """Whether the nearest is a copy as far as a measure looks.

        That is to its cutoff, unless it passes over what is not judged.
        """
        return self.ranks_alike(
            None if value_of(measure, "judged_only", False) else value_of(measure, "cutoff")
        )

    def ranks_alike(self, depth: int | None) -> bool:
        """Whether the first documents are the same in the candidate and the nearest deployed run, on every topic."""
        view, nearest = self.view.at(depth), self.view.members.rankings[self.nearest]
        every = np.ones(self.topics, dtype=bool)
        return bool(same_rankings(view.top(), view.top(nearest), every).all())

    @cached_property
    def with_copy(self) -> list[View]:
        """All runs, of which the deployed ones have no priors, and a copy of the nearest beside the same priors."""
        alone = [self.view.of(name, ()) for name in self.deployed]  # which saves fusing them
        nearest = self.view.members.rankings[self.nearest]
        return [*alone, self.view, self.view.with_run(nearest, self.deployed)]

    def lacking(self, name: str) -> int:
        """On how many topics a run has no ranking."""
        return self.topics - int((self.view.documents.queries_of(self.view.runs[name]) >= 0).sum())

    def largest_difference(self, measure: ir_measures.Measure) -> float:
        """How far labels could put the candidate and its nearest deployed run apart: the mean of a MED."""
        pairs = [(len(self.deployed), self.nearest)]
        return float(score_pairs(self.view, measure, pairs, Work()).mean())

    def unseen(self, cutoff: int) -> TopicDocuments:
        """The documents in the candidate's top that are in no deployed run's, as query and id; first ranks first."""
        top, new = new_documents(self.view.at(cutoff))
        return _pairs(top.docs, np.flatnonzero(new)[np.lexsort((top.docs.query[new], top.position[new]))])


class Resamples(NamedTuple):
    """Resamples of topics, and the confidence of the intervals that are made of them."""

    confidence: float
    counts: FloatArray  #: how often each resample holds each topic: resamples × topics


def verdict_of_ends(lower: float, upper: float, margin: float) -> str:
    """Whether a candidate adds, by the ends of an interval."""
    return "adds" if lower > margin else "adds nothing" if upper <= margin else "open"


class Quantity(NamedTuple):
    """One quantity by topic: the candidate's value, or by how much it is above another run's."""

    value: FloatArray  #: by the judgments as they are
    worst: FloatArray  #: in the worst case of the unjudged documents, topic by topic
    best: FloatArray  #: in their best case
    ends: tuple[float, float]  #: between which it lies
    always_0: bool = False  #: whether the rankings make it 0 on any topic

    def under(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The values in the worst case, as judged, and in the best case."""
        return self.worst, self.value, self.best


@dataclass(frozen=True, eq=False)
class Finding:
    """What is found by one measure. Where there are several parts, it is the smallest of them that counts.

    Each is at least that much only where all parts are, so that a verdict "adds" needs no correction for their number.
    """

    measure: ir_measures.Measure
    model: Model
    parts: list[Quantity]
    margin: float
    resamples: Resamples
    other: int  #: with whom the candidate is compared, as an index into the runs: the copy, or the best deployed run
    row: dict[str, Any]  #: of the table

    @cached_property
    def _intervals(self) -> list[list[tuple[float, float]]]:
        """The interval of each part under each labeling."""

        def interval(part: Quantity, values: FloatArray) -> tuple[float, float]:
            return (0.0, 0.0) if part.always_0 else cautious_interval(values, part.ends, *self.resamples)

        found = []
        for part in self.parts:
            as_judged = interval(part, part.value)
            # Where labels move nothing, the values differ by rounding alone.
            worst, _, best = (
                as_judged if np.array_equal(v, part.value) else interval(part, v) for v in part.under()
            )
            # Other values may have a shorter interval, and labels may leave the values as they are judged.
            worst, best = (min(worst[0], as_judged[0]), worst[1]), (best[0], max(best[1], as_judged[1]))
            found.append([worst, as_judged, best])
        return found

    def interval(self, labels: int) -> tuple[float, float]:
        """The interval over topics in the worst case (0), as judged (1), or in the best case (2)."""
        lower, upper = (min(ends[labels][side] for ends in self._intervals) for side in (0, 1))
        return lower, upper

    def mean(self, labels: int) -> float:
        """The mean over these topics, of :meth:`interval`."""
        return min(float(part.under()[labels].mean()) for part in self.parts)

    @property
    def own_ends(self) -> tuple[float, float]:
        """The interval of the candidate's own value, in the worst case and the best."""
        return self._intervals[0][0][0], self._intervals[0][2][1]

    @property
    def lead(self) -> tuple[float, float] | None:
        """The interval of the lead over a copy, likewise; None where a copy has nothing."""
        return (self._intervals[1][0][0], self._intervals[1][2][1]) if len(self.parts) > 1 else None

    @property
    def lower(self) -> float:
        """The lower end of the interval in the worst case."""
        return self.interval(0)[0]

    @property
    def upper(self) -> float:
        """The upper end of the interval in the best case."""
        return self.interval(2)[1]

    @property
    def verdict(self) -> str:
        """Whether it adds; of an absolute measure, whether it is better."""
        if is_relative(self.measure):
            nothing = self.nothing_here
            return "adds nothing" if nothing else verdict_of_ends(self.lower, self.upper, self.margin)
        better, worse = self.lower > self.margin, self.upper < self.margin
        return "better" if better else "worse" if worse else "open"

    @property
    def nothing_here(self) -> bool:
        """Whether no topic of these has anything, whatever the labels are, where anything above 0 was asked for.

        New topics may have something: ``upper`` says how much. But no number of topics brings that down to 0, so an
        open verdict would never be settled.
        """
        if not is_relative(self.measure) or len(self.parts) > 1 or self.margin:
            return False
        values = np.abs(self.parts[0].under())
        return values.shape[1] >= FEWEST_DIFFERING and bool((values <= LABELED_ALIKE).all())

    def largest_topic(self) -> tuple[str, float]:
        """The topic with the largest share of the candidate's mean, and the share; NaN where a value is below 0."""
        shares = shares_of_topics(self.parts[0].value[None])[0]
        largest = int(np.nan_to_num(shares).argmax())
        return str(self.model.docs.query_ids[largest]), float(shares[largest])

    @property
    def labels_matter(self) -> bool:
        """Whether labels decide on which side of ``margin`` the mean over these topics is."""
        return self.mean(0) <= self.margin < self.mean(2)

    @property
    def labels_may_decide(self) -> bool:
        """Whether some labels would make the interval over these topics leave ``margin`` out."""
        return self.interval(2)[0] > self.margin or self.interval(0)[1] <= self.margin

    def missing(self) -> str | None:
        """What an open verdict lacks; None where it is not open."""
        if self.verdict != "open":
            return None
        if self.labels_may_decide:
            return "labels"
        return "topics and labels" if self.labels_matter else "topics"

    def topics_needed(self) -> int | None:
        """How many topics would settle an open verdict, were they like these; None where no number is known to."""
        parts = list(zip(self.parts, self._intervals, strict=True))
        if self.mean(0) > self.margin:
            return max(self._needed(part, part.worst, ends[0][0]) for part, ends in parts)
        below = [(part, ends) for part, ends in parts if part.best.mean() < self.margin]
        return min((self._needed(part, part.best, ends[2][1]) for part, ends in below), default=None)

    def _needed(self, part: Quantity, values: FloatArray, end: float) -> int:
        """How many topics would have an interval that ends before ``margin``; it shrinks with their square root."""
        from scipy.special import stdtrit

        n, mean = len(values), float(values.mean())
        gap, level = abs(mean - self.margin), (1 + self.resamples.confidence) / 2
        differing = int(np.count_nonzero(np.abs(values) > LABELED_ALIKE))
        if not differing and np.isfinite(part.ends[1]):  # by the share of topics that may differ
            return math.ceil(math.log(1 - level) / math.log1p(-self.margin / part.ends[1]))
        if differing >= FEWEST_DIFFERING and np.isfinite(end):
            return max(math.ceil(n * ((mean - end) / gap) ** 2), n + 1)
        needed = max(FEWEST_DIFFERING, math.ceil(FEWEST_DIFFERING * n / max(differing, 1)))
        for _ in range(20):  # t depends on the number, and less and less so
            needed = max(needed, math.ceil((stdtrit(needed - 1, level) * values.std(ddof=1) / gap) ** 2))
        return max(needed, n + 1)


def finding(
    campaign: Candidacy,
    measure: ir_measures.Measure,
    margin: float,
    resamples: Resamples,
    unretrieved_relevant: int | None,
    work: Work,
) -> Finding:
    """What is found by one measure.

    Args:
        margin: with what the verdict compares.
        resamples: of topics, for the intervals.
        unretrieved_relevant: as for :func:`.bounds`.
        work: the time that the bounds may take.
    """
    found = _added if is_relative(measure) else _alone
    model, parts, other, row = found(campaign, measure, unretrieved_relevant, work)
    return _told(campaign, Finding(measure, model, parts, margin, resamples, other, row))


#: What bounds a measure, the quantities that it finds, with whom it compares, and the start of the row.
Found = tuple[Model, list[Quantity], int, dict[str, Any]]


def _added(
    campaign: Candidacy, measure: ir_measures.Measure, unretrieved_relevant: int | None, work: Work
) -> Found:
    """What the candidate adds; where a copy of the nearest run has something, also its lead over that copy."""
    views, c, copy = campaign.with_copy, len(campaign.deployed), len(campaign.deployed) + 1
    model = model_of(measure, views, unretrieved_relevant)
    value = values_of(views, measure, model)
    low, high = value_range(measure)
    of_all = snapped(model.one(work), value, model)
    # One run fused with itself ranks as it does alone, so a copy of the only deployed run gains nothing.
    copy_has_0 = measure.zero_for_duplicate or (measure.NAME == FusionGain.NAME and c == 1)
    if measure.zero_for_duplicate:
        nothing = not value_of(measure, "judged_only", False) and not campaign.unseen(measure["cutoff"])
    else:
        nothing = copy_has_0 and campaign.is_copy_by(measure)
    parts = [Quantity(value[c], of_all.lower[c], of_all.upper[c], (low, high), nothing)]
    if not copy_has_0:
        between, ends = differences(views, measure, model, np.array([c]), np.array([copy]), work)
        apart = high - low
        alike = campaign.is_copy_by(measure)
        parts.append(Quantity(between[0], ends.lower[0], ends.upper[0], (-apart, apart), alike))
    row = _row(campaign, ", ".join(campaign.deployed), measure, float(value[c].mean()))
    return model, parts, copy, row | {"copy": float(value[copy].mean()), "other_mean": np.nan}


def _alone(
    campaign: Candidacy, measure: ir_measures.Measure, unretrieved_relevant: int | None, work: Work
) -> Found:
    """How good the candidate is on its own, beside the best deployed run."""
    views, c = campaign.view.of_each(), len(campaign.deployed)
    model = model_of(measure, views, unretrieved_relevant)
    value = values_of(views, measure, model)
    best = int(value[:c].mean(axis=1).argmax())
    between, ends = differences(views, measure, model, np.array([c]), np.array([best]), work)
    low, high = value_range(measure)
    same = best == campaign.nearest and campaign.is_copy_by(measure)
    part = Quantity(between[0], ends.lower[0], ends.upper[0], (low - high, high - low), same)
    row = _row(campaign, campaign.deployed[best], measure, float(value[c].mean()))
    return model, [part], best, row | {"copy": np.nan, "other_mean": float(value[best].mean())}


def _row(campaign: Candidacy, other: str, measure: ir_measures.Measure, mean: float) -> dict[str, Any]:
    """How every row of the table starts."""
    return {"name": campaign.name, "other": other, "measure": str(measure), "mean": mean}


def aspects_row(campaign: Candidacy, measure: ir_measures.Measure, resamples: Resamples) -> dict[str, Any]:
    """The row of the aspects that only the candidate shows: by the labels as they are, so without bounds."""
    values = measure.score(campaign.view)
    lower, upper = cautious_interval(values, value_range(measure), *resamples)
    mean = float(values.mean())
    row = _row(campaign, ", ".join(campaign.deployed), measure, mean)
    row |= {"copy": 0.0, "difference": mean, "ci_lower": lower, "ci_upper": upper}
    return row | {"verdict": None, "topics": campaign.topics}


def depth_of(measure: ir_measures.Measure) -> int | None:
    """How deep a measure looks at a ranking: its cutoff, or that of its base; None for all of it."""
    of = measure.base_measure() if isinstance(measure, OfAbsoluteBase) else measure
    depth: int | None = value_of(of, "cutoff")
    return depth


def _told(campaign: Candidacy, found: Finding) -> Finding:
    """The finding with its row, but for the probability."""
    lower, upper = found.interval(1)
    unjudged = unjudged_shares([campaign.view], depth_of(found.measure)).mean()
    found.row.update(
        difference=found.mean(1),
        ci_lower=lower,
        ci_upper=upper,
        worst=found.mean(0),
        best=found.mean(2),
        lower=found.lower,
        upper=found.upper,
        verdict=found.verdict,
        probability=np.nan,
        unjudged=float(unjudged),
        topics=campaign.topics,
    )
    return found


def probability(campaign: Candidacy, found: Finding, seed: int) -> float:
    """The chance that the verdict is "adds" once all open documents are judged; NaN where too few runs tell it."""
    try:
        check_relevance_model("pool", len(campaign.view.names), [found.measure], perquery=False)
    except ValueError:
        return np.nan
    log_odds_sd, row = default_log_odds_sd(len(campaign.view.names)), len(campaign.deployed)
    chances, adds = chances_of(found.model, "pool"), 0
    confidence, counts = found.resamples.confidence, found.resamples.counts[:_RESAMPLES_OF_LABELS]
    for values in sampled_values(found.model, chances, _LABELINGS, seed, log_odds_sd):
        for labeled in values.swapaxes(0, 1):
            drawn = [labeled[row], labeled[row] - labeled[found.other]][: len(found.parts)]
            lower = min(
                cautious_interval(v, p.ends, confidence, counts)[0]
                for v, p in zip(drawn, found.parts, strict=True)
            )
            adds += lower > found.margin
    return (adds + 0.5) / (_LABELINGS + 1)


def documents(campaign: Candidacy, found: Finding) -> TopicDocuments:
    """The open documents whose labels move the finding: those that move it most first, and then by the first rank."""
    model, a = found.model, len(campaign.deployed)
    own, *_, last = (
        np.maximum(np.abs(part.worst), np.abs(part.best)) for part in [found.parts[0], *found.parts]
    )
    docs, moved = model.docs, model.influence(a, found.other, last)
    # A copy may lose by fusion, and then the lead over it is more than the candidate's gain.
    if isinstance(model, DifferenceModel):
        moved = np.maximum(moved, model.influence_alone(a, own))
    moved = np.where(docs.exists & model.open, moved, 0.0)
    rows = np.flatnonzero(moved > LABELED_ALIKE)
    position = docs.positions_in(campaign.view.evaluated)[rows]
    rank = np.where(position > 0, position, np.iinfo(np.int64).max)
    order = rows[np.lexsort((docs.query[rows], rank, -np.round(moved[rows], 9)))]
    return _pairs(docs, order)


def _pairs(docs: Documents, rows: IntArray) -> TopicDocuments:
    """The rows of documents, as query and id."""
    ids = docs.ids.take(rows).strings()
    return [(str(q), str(d)) for q, d in zip(docs.query_ids[docs.query[rows]], ids, strict=True)]


def rows_of(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Rows as a table. Words are objects: a name of a run need not be text that UTF-8 has."""
    words = {key for key, value in rows[0].items() if isinstance(value, str)}
    columns = {key: [row.get(key, np.nan) for row in rows] for key in rows[0]}
    return pd.DataFrame(
        {key: pd.Series(cells, dtype=object if key in words else None) for key, cells in columns.items()}
    )


def table_of(found: TopicDocuments) -> pd.DataFrame:
    """Documents as a table."""
    columns = {name: [pair[i] for pair in found] for i, name in enumerate(("query_id", "doc_id"))}
    return pd.DataFrame({name: pd.Series(values, dtype=str) for name, values in columns.items()})
