"""How a ranking of runs holds up where there are fewer labels or topics: lexiprecision §5, Figures 8 and 9."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import ir_measures
import numpy as np

from ..arrays import BoolArray, IntArray, rank_within
from ..comparison import JudgedContext, check_is_context, judged_context
from ..io.qrels import Qrels
from ..measures.strings import parse_measure, parse_measures
from ..options import check_choice, check_count
from ..scoring import check_campaign
from ..unjudged.parts import FewerLabels
from ..unjudged.reusability import contributions, groups_of
from .scoring import ALIKE, score
from .summary import check_kinds, summary
from .table import Scores, frame

if TYPE_CHECKING:
    import pandas as pd

    from ..context import RunContext

_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_DEPTHS = (1, 2, 5, 10, 20, 50, 100)


class _Part(NamedTuple):
    """A sample: which labels, or which topics, are left."""

    level: Any
    labels: BoolArray | None
    topics: BoolArray | None

    @property
    def kept(self) -> float:
        left = self.topics if self.labels is None else self.labels
        return 1.0 if left is None else float(left.mean())


def degrade(
    context: RunContext,
    qrels: Qrels | None,
    measures: Sequence[ir_measures.Measure | str],
    what: str = "labels",
    levels: Sequence[float] | None = None,
    kinds: str | Sequence[str] = "tau",
    samples: int = 10,
    *,
    truth: ir_measures.Measure | str | None = None,
    of: str = "relevant",
    groups: Mapping[str, str] | None = None,
    pool_depth: int = 100,
    seed: int = 0,
) -> pd.DataFrame:
    """Takes labels, topics, pool depth or a group's contribution away, and says whether the ranking of runs holds.

    ``what`` is left, and the ``levels``:

    - ``"labels"``: a share of each topic's labels, drawn at random and rounded up; documents without one are unjudged.
      ``of="relevant"`` draws among those above 0 and leaves the others, ``of="all"`` among all. A smaller share is
      part of the larger ones of the same sample.
    - ``"topics"``: a share of the topics, rounded up. The values of those that are left stay as they are: priors that a
      policy chooses by means are those of all topics.
    - ``"pool"``: the labels of documents that some run of the context has in its first so many.
    - ``"groups"``: for each group, all labels but of the documents that its runs alone have in their first
      ``pool_depth``. Run by run where there are no groups. For what that does to the group's own runs, see
      :func:`~ir_measures_relative.reusability`.

    ``kinds``, with the values on all labels and topics for the truth:

    - ``"tau"``, ``"tau_ap"``, ``"weighted"``: the correlation of the rankings of runs, as in :func:`correlation`;
    - ``"agreement"``: the share of pairs of runs whose means differ by the truth that differ alike (lexiprecision's
      system preference), ``"ranking_agreement"``: the same of each topic's rankings; a tie does not agree;
    - ``"ties"``: the share of pairs and topics that are tied (which no truth is asked of).

    A measure of pairs (rrLP, sgnLP, sgnLR, RPP without ``ref=``) has no value of one run: for the correlations runs are
    ranked by their means over topics and opponents. The other kinds take the pairs as they are.

    Invariant under: positive factors and added constants of the measures.

    Args:
        context: the runs.
        qrels: the judgments, as for :meth:`RunContext.evaluate`.
        measures: measures of this package and of ir_measures, or their strings.
        what: ``"labels"``, ``"topics"``, ``"pool"`` or ``"groups"``.
        levels: shares above 0 and up to 1, in tenths if not given; depths for ``"pool"``, from 1 to 100 if not given;
            names of groups, all if not given.
        kinds: one of those above, or a list of them.
        samples: how many are drawn of a share.
        truth: a measure whose values on all labels and topics are the truth for all, such as RR for lexiprecision; each
            measure's own if not given.
        of: ``"relevant"`` or ``"all"``, for labels.
        groups: from run name to group; the context's if not given.
        pool_depth: how deep runs are taken to have been pooled, for groups.
        seed: of the samples, which are the same for all measures.

    Returns:
        a DataFrame with one row a measure, kind and level: ``measure``, ``kind``, ``level``, ``kept`` (the share of
        labels, or topics, that are left), ``samples``, ``mean`` and ``deviation`` (of the samples, n - 1; NaN of one).
        Samples in which a kind has no value, such as τ where a measure ties all runs, do not count.

    Raises:
        ValueError: fewer than two runs, an argument that is not allowed; what :meth:`RunContext.evaluate` raises.

    Example:
        >>> from ir_measures import P
        >>> from ir_measures_relative import RunContext, meta
        >>> runs = {"a": {"q": {"A": 2, "B": 1}}, "b": {"q": {"A": 2, "X": 1}}, "c": {"q": {"X": 2, "Y": 1}}}
        >>> qrels = {"q": {"A": 1, "B": 1, "X": 0, "Y": 0}}
        >>> meta.degrade(RunContext(runs), qrels, [P @ 2], "pool", levels=[1, 2]).round(3)
          measure kind  level  kept  samples   mean  deviation
        0     P@2  tau      1   0.5        1  0.816        NaN
        1     P@2  tau      2   1.0        1  1.000        NaN
    """
    from tqdm import tqdm

    check_is_context(context)
    parsed = parse_measures(measures)
    of_truth = None if truth is None else parse_measure(truth)
    check_choice("what", what, ("labels", "topics", "pool", "groups"))
    check_choice("of", of, ("relevant", "all"))
    chosen = check_kinds(kinds, tuple(ALIKE))
    check_count("samples", samples, 1)
    check_count("seed", seed, 0)
    check_count("pool_depth", pool_depth, 1)
    if len(context.names) < 2:
        count = len(context.names)
        raise ValueError(f"the context holds {count} run{'s' * (count != 1)}; give two or more to rank")
    if levels is not None and not len(levels):
        raise ValueError("levels is empty; give some, or leave it out")
    judged = judged_context(context, qrels)
    check_campaign(judged)
    if what == "pool":
        parts = list(_pools(judged, levels))
    elif what == "groups":
        parts = list(_groups(judged, levels, groups, pool_depth))
    else:
        parts = list(_samples(judged, what, levels, samples, of == "all", seed))
    full = score(judged, parsed)
    expected = full if of_truth is None else score(judged, [of_truth]) * len(full)
    kept: dict[Any, list[float]] = {part.level: [] for part in parts}
    found: dict[tuple[str, str, Any], list[float]] = {
        (scores.measure, kind, level): [] for scores in full for kind in chosen for level in kept
    }
    for part in tqdm(parts, desc=f"leaving out {what}", unit="sample", disable=None, leave=False):
        kept[part.level].append(part.kept)
        left = full if part.labels is None else score(FewerLabels(judged, part.labels), parsed)
        for scores, best in zip(left, expected, strict=True):
            of_same = best
            if part.topics is not None:
                scores, of_same = _of_topics(scores, part.topics), _of_topics(best, part.topics)
            for kind in chosen:
                other = of_same if kind == "ranking_agreement" else best
                found[scores.measure, kind, part.level].append(ALIKE[kind](scores, other))
    return frame(
        [
            {"measure": measure, "kind": kind, "level": level, "kept": float(np.mean(kept[level]))}
            | summary(values)
            for (measure, kind, level), values in found.items()
        ]
    )


def _of_topics(scores: Scores, topics: BoolArray) -> Scores:
    values = None if scores.values is None else scores.values[:, topics]
    return scores._replace(values=values, differences=scores.differences[:, topics])


def _samples(
    judged: JudgedContext, what: str, levels: Sequence[float] | None, samples: int, every: bool, seed: int
) -> Iterator[_Part]:
    """Shares of the labels or topics, drawn at random; one sample where nothing is left out."""
    judgments = judged.judgments
    n = judgments.n_queries
    topic = judgments.query if what == "labels" else np.zeros(n, dtype=np.int64)
    drawn = np.ones(len(topic), dtype=bool) if every or what == "topics" else judgments.grade > 0
    size = np.bincount(topic[drawn], minlength=max(n, 1))
    orders = [_places(topic, drawn, np.random.default_rng([seed, i])) for i in range(samples)]
    for share in _shares(levels):
        most = np.ceil(np.round(share * size, 9))
        for place in orders[: 1 if share == 1 else samples]:
            keep = ~drawn | (place < most[topic])
            yield _Part(share, keep, None) if what == "labels" else _Part(share, None, keep)


def _places(topic: IntArray, drawn: BoolArray, rng: np.random.Generator) -> IntArray:
    """At which place of a random order of its topic each one that takes part stands, from 0."""
    rows = np.flatnonzero(drawn)
    order = rows[np.lexsort((rng.random(len(rows)), topic[rows]))]
    place = np.zeros(len(topic), dtype=np.int64)
    place[order] = rank_within(topic[order]) - 1
    return place


def _shares(levels: Sequence[float] | None) -> list[float]:
    shares = list(_SHARES if levels is None else levels)
    for share in shares:
        number = isinstance(share, (int, float, np.integer, np.floating)) and not isinstance(share, bool)
        if not number or not 0 < share <= 1:
            raise ValueError(
                f"levels holds {share!r}; give shares above 0 and up to 1, such as levels=[0.5, 1]"
            )
    return [float(share) for share in shares]


def _pools(judged: JudgedContext, levels: Sequence[float] | None) -> Iterator[_Part]:
    depths = list(_DEPTHS if levels is None else levels)
    for depth in depths:
        check_count("levels", depth, 1)
    best = np.full(len(judged.judgments), np.iinfo(np.int64).max)
    for run in judged.context.runs.values():  # one at a time: the whole of them may be large
        place = judged.judgments.positions_in(run, int(max(depths, default=1)))
        best = np.minimum(best, np.where(place > 0, place, best))
    for depth in depths:
        yield _Part(int(depth), best <= depth, None)


def _groups(
    judged: JudgedContext, levels: Sequence[Any] | None, groups: Mapping[str, str] | None, pool_depth: int
) -> Iterator[_Part]:
    lost = contributions(judged, groups_of(judged.context, groups), pool_depth)
    for group in lost if levels is None else levels:
        if group not in lost:
            raise ValueError(f"levels holds {group!r}, which is no group; the groups are {list(lost)}")
        yield _Part(group, ~lost[group], None)
