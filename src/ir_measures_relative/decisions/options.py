"""Options as rankings of the same length; what each scores, and what its unjudged documents could change."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd

from ..arguments import check_amount, check_choice, check_count
from ..bounding.bounds import labelings_of, values_of
from ..bounding.probabilities import FEWEST_RUNS, default_log_odds_sd, pool_chances, sampled_values
from ..bounding.verdicts import differences, rounded_to_zero, unjudged_shares
from ..context.measure_strings import absolute_measure, is_relative, parse_measure, value_of, value_range
from ..context.run_context import RunContext
from ..context.tops import Top
from ..context.view import View
from ..data.arrays import BoolArray, FloatArray, IntArray, rank_within, rows_of_queries
from ..data.documents import Documents
from ..data.rankings import Rankings
from ..io.runs import Run, read_run
from ..messages import few, few_quoted
from ..stats.paired_tests import PairedTestOptions
from ..tolerances import LABELED_ALIKE
from ..work import Work
from .fused_values import depths, votes_to
from .fusion import METHODS, Fusion, cutoff_of, union_of

#: How the runs of an option become one list.
INTERLEAVE = "interleave"
ALL_METHODS = (*METHODS, INTERLEAVE)

#: Of each topic the documents of a list in its order, as rows of the documents of all runs.
TopicRows = list[IntArray]


class Option(NamedTuple):
    """One of the set-ups that are compared: some runs."""

    name: str
    runs: tuple[str, ...]  #: in the order in which they take turns


@dataclass(frozen=True, eq=False)
class Combination:
    """How the runs of an option become one list, and how long it is; :func:`decide` names the methods.

    A single run is its own list. Every list ends at ``length``.
    """

    method: str = "rrf"
    k: int = 60  #: of ``rrf``
    depth: int = 1000  #: how many documents of each run are combined
    length: int | None = 10  #: of the lists; None for ``depth``
    rerank: Rankings | None = None  #: the scores of a reranker
    pool: int = 100  #: how many documents the reranker gets

    @property
    def ends(self) -> int:
        """Where every list ends."""
        return self.depth if self.length is None else self.length

    @property
    def reads(self) -> int:
        """How many documents of each run are looked at."""
        if self.rerank is not None:
            return self.pool
        return self.ends if self.method == INTERLEAVE else max(self.depth, self.ends)


class OptionLists:
    """The list of each option on each topic (``lists``), and what a reranker gets (``pools``; else the lists)."""

    def __init__(self, view: View, options: Sequence[Option], how: Combination) -> None:
        self.view, self.options, self.how = view, options, how
        self.query_ids = view.query_ids
        fuses = how.rerank is None and how.method != INTERLEAVE
        for self._looked in depths(how.ends if fuses else how.reads, how.reads):
            self.docs, holdings = union_of(view, self._looked)
            self._rows_of_run = rows_of_runs(self.docs, holdings)
            combined = [] if how.rerank is not None else list(map(self._combined, options))
            if not any(one is None for one in combined):
                break
        if how.rerank is None:
            self.pools = self.lists = [self._cut(rows) for rows in combined if rows is not None]
        else:
            pools = [self._interleaved(option, how.pool) for option in options]
            sizes = [min(map(len, of_topic)) for of_topic in zip(*pools, strict=True)]
            self.pools = [[rows[:n] for rows, n in zip(pool, sizes, strict=True)] for pool in pools]
            self._scores = self._scores_of_reranker(how.rerank)
            self.lists = [self._reranked(pool) for pool in self.pools]

    def rankings(self) -> list[Rankings]:
        """The list of each option as a run."""
        return [
            self._as_run(rows, option.name) for option, rows in zip(self.options, self.lists, strict=True)
        ]

    def best_orders(self) -> list[Rankings]:
        """The pool of each option in its best order, by grade."""
        falling = -self.docs.grade
        best = [[rows[np.argsort(falling[rows], kind="stable")] for rows in pool] for pool in self.pools]
        return [self._as_run(rows, "the best order of a pool") for rows in map(self._cut, best)]

    def rows_to(self, depth: int) -> tuple[Documents, list[TopicRows]]:
        """The documents of the runs, and the ranking of each run, at least so deep, as rows of these."""
        if depth <= self._looked:
            return self.docs, self._rows_of_run
        docs, holdings = union_of(self.view, depth)
        return docs, rows_of_runs(docs, holdings)

    def run_sizes(self) -> IntArray:
        """How many documents each run of the context has on each topic, as far as they are looked at."""
        return np.array([list(map(len, lists)) for lists in self._rows_of_run], dtype=np.int64)

    # ---- where relevant documents end

    def fates(self, rel: int) -> IntArray:
        """How many relevant documents end where: never retrieved, outside the pool, not shown, shown; options × 4."""
        relevant = self.view.judgments.select(self.view.judgments.grade >= rel)
        result = np.zeros((len(self.options), 4), dtype=np.int64)
        for i, option in enumerate(self.options):
            held: BoolArray = np.zeros(len(relevant), dtype=bool)
            for run in option.runs:
                held |= relevant.positions_in(self.view.runs[run]) > 0
            pool, shown = (
                sum(int((self.docs.grade[rows] >= rel).sum()) for rows in of[i])
                for of in (self.pools, self.lists)
            )
            retrieved = int(held.sum())
            result[i] = len(relevant) - retrieved, retrieved - pool, pool - shown, shown
        return result

    # ---- the lists

    def _combined(self, option: Option) -> TopicRows | None:
        """The list of an option; None where the documents looked at are too few to tell."""
        if len(option.runs) == 1 or self.how.method == INTERLEAVE:
            return self._interleaved(option, self.how.ends)
        return self._fused(sorted(self.view.members.index[run] for run in option.runs))

    def _interleaved(self, option: Option, length: int) -> TopicRows:
        result = []
        for topic in range(self.docs.n_queries):
            rows = [self._rows_of_run[self.view.members.index[run]][topic] for run in option.runs]
            if len(rows) == 1:
                result.append(rows[0][:length])
            else:
                taken = list(itertools.islice(interleaved([one.tolist() for one in rows]), length))
                result.append(np.array(taken, dtype=np.int64))
        return result

    def _fused(self, runs: Sequence[int]) -> TopicRows | None:
        """The fusion of some runs in trec_eval's order: equal 32-bit scores by document id, descending."""
        fusion, ends = Fusion(self.how.method, self.how.k, self.how.depth), self.how.ends
        votes = votes_to(self.view, fusion, self._looked)
        total, holders = np.zeros(len(self.docs)), np.zeros(len(self.docs), dtype=np.int64)
        for row, vote in (votes.of_runs[run] for run in runs):
            total[row] += vote
            holders[row] += 1
        score = fusion.fused(total, holders).astype(np.float32)
        score[holders == 0] = -1.0
        result, last = [], np.full(self.docs.n_queries, -1.0)
        for topic, (start, end) in enumerate(itertools.pairwise(self.docs.starts.tolist())):
            of_topic = score[start:end]
            if len(of_topic) > ends:
                last[topic] = np.partition(of_topic, -ends)[-ends]
            rows = np.flatnonzero((of_topic >= last[topic]) & (of_topic >= 0))
            # The rows of a topic stand by document id, descending.
            result.append(start + rows[np.argsort(-of_topic[rows], kind="stable")][:ends])
        return result if votes.enough(slice(None), np.array(runs), last) else None

    def _reranked(self, pool: TopicRows) -> TopicRows:
        """What is shown of a pool: by falling 32-bit score; ties by document id, descending, as the rows stand."""
        ordered = map(np.sort, pool)
        score = self._scores.astype(np.float32)
        return self._cut([rows[np.argsort(-score[rows], kind="stable")] for rows in ordered])

    def _cut(self, lists: TopicRows) -> TopicRows:
        """The lists to where each ends."""
        return [rows[: self.how.ends] for rows in lists]

    def _scores_of_reranker(self, reranker: Rankings) -> FloatArray:
        """Its score of each document of the pools; ValueError where some have none."""
        query, ids, score = reranker.rows()
        of_query = self.view.judgments.queries_of(reranker)[query]
        asked = np.flatnonzero(of_query >= 0)
        row = self.docs.rows_of(of_query[asked], ids.take(asked))
        scores = np.full(len(self.docs), np.nan)
        scores[row[row >= 0]] = score[asked[row >= 0]]
        pooled = np.unique(np.concatenate([rows for pool in self.pools for rows in pool]))
        missing = pooled[np.isnan(scores[pooled])]
        if len(missing):
            named = few(
                f"{self.docs.ids.string(row)} (query {self.query_ids[self.docs.query[row]]})"
                for row in missing[:4].tolist()
            )
            raise ValueError(
                f"rerank= has no score for {len(missing)} of the {len(pooled)} pooled documents, such as {named}"
            )
        return scores

    def _as_run(self, lists: TopicRows, name: str) -> Rankings:
        sizes = np.array([len(rows) for rows in lists], dtype=np.int64)
        rows = np.concatenate([np.empty(0, dtype=np.int64), *lists])
        query = np.repeat(np.arange(len(lists)), sizes)
        score = -rank_within(query).astype(np.float64)
        return Rankings(self.query_ids[query], self.docs.ids.take(rows), score, name=name)


def rows_of_runs(docs: Documents, holdings: Sequence[tuple[IntArray, Top]]) -> list[TopicRows]:
    """The ranking of each run on each topic, as rows of the documents of all runs."""
    return [[row[some] for some in rows_of_queries(top.docs.query, docs.n_queries)] for row, top in holdings]


def interleaved(lists: Sequence[Sequence[int]]) -> Iterator[int]:
    """One document of each list in turn; a list gives its next where one was taken, and is left out once it ends."""
    taken: set[Any] = set()
    left = [iter(documents) for documents in lists]
    while left:
        for one in list(left):
            document = next((d for d in one if d not in taken), None)
            if document is None:
                left.remove(one)
            else:
                taken.add(document)
                yield document


class Differences(NamedTuple):
    """Differences of options on every topic, each of shape (differences, topics)."""

    judged: FloatArray  #: by the judgments as they are
    worst: FloatArray  #: the least under any judgments of the unjudged documents
    best: FloatArray  #: the greatest


class OptionValues:
    """The lists of some options, judged: ``values`` of shape (options, topics), and whether these are ``bounded``.

    Args:
        view: all runs, whose unjudged documents may be relevant too.
        unretrieved_relevant: how many further documents a topic, in no list, may turn out relevant.
    """

    def __init__(
        self,
        view: View,
        lists: Sequence[Rankings],
        by: ir_measures.Measure,
        unretrieved_relevant: int | None = None,
        work: Work | None = None,
    ) -> None:
        self.by, self._work, self._view = by, work or Work(), view
        self._lists = [view.with_run(one) for one in lists]
        self.bounded = True
        try:
            self._labelings = labelings_of(by, self._lists, unretrieved_relevant)
            self.bounded = self._labelings.why_not_bounded is None
            self.values: FloatArray = values_of(self._lists, by, self._labelings)
        except ValueError:
            self.bounded = False
            self.values = np.array([one.absolute_of_run(by) for one in self._lists])

    def differences(self, a: IntArray, b: IntArray) -> Differences:
        """Of option a[i] less option b[i]; as judged three times where there are no bounds."""
        if not self.bounded:
            value = rounded_to_zero(self.values[a] - self.values[b])
            return Differences(value, value, value)
        value, interval = differences(self._lists, self.by, self._labelings, a, b, self._work)
        return Differences(value, interval.lower, interval.upper)

    def unjudged(self) -> FloatArray:
        """The share of each list that is not judged, to the measure's cutoff."""
        shares: FloatArray = unjudged_shares(self._lists, value_of(self.by, "cutoff")).mean(axis=1)
        return shares

    def to_judge(self, a: IntArray, b: IntArray, found: Differences) -> pd.DataFrame:
        """The unjudged documents that can move the differences of a[i] and b[i], those that move them most first."""
        labelings, docs = self._labelings, self._labelings.docs
        moved = np.zeros(len(docs))
        reach = np.maximum(np.abs(found.worst), np.abs(found.best))
        for i in range(len(a)):
            moved = np.maximum(moved, labelings.influence(int(a[i]), int(b[i]), reach[i]))
        moved[~(labelings.open & docs.exists)] = 0.0
        rows = np.flatnonzero(moved > LABELED_ALIKE)
        position = np.array([view.positions(docs) for view in labelings.views])[:, rows]
        first = np.where(position > 0, position, np.iinfo(np.int64).max).min(axis=0)
        rows = rows[np.lexsort((docs.query[rows], first, -np.round(moved[rows], 9)))]
        columns = {
            "query_id": pd.Series(docs.query_ids[docs.query[rows]], dtype=str),
            "doc_id": pd.Series(docs.ids.take(rows).strings(), dtype=str),
        }
        return pd.DataFrame(columns)

    def sampled(self, samples: int, seed: int) -> Iterator[FloatArray] | None:
        """Values under judgments that are drawn, in batches (options, judgments, topics); None of too few runs."""
        runs = len(self._view.names)
        if not self.bounded or runs < FEWEST_RUNS:
            return None
        labelings, lists = self._labelings, [one.evaluated for one in self._lists]
        cutoff = labelings.views[0].depth
        every = self._view.with_open(cutoff, also=lists).at(cutoff)
        docs = labelings.docs
        row = every.documents.rows_of(docs.query, docs.ids)
        known = (row >= 0) & docs.exists
        relevant = np.zeros(len(every.documents), dtype=bool)
        relevant[row[known]] = labelings.relevant[known]
        views = [*every.of_each(), *map(every.with_run, lists)]
        chances = np.where(known, pool_chances(views, relevant)[row], 0.0)[labelings.open]
        return sampled_values(labelings, chances, samples, seed, default_log_odds_sd(runs))


def value_beside(view: View, measure: Any, name: str, priors: Sequence[str]) -> FloatArray:
    """A relative measure of one run on every topic, as a new run beside these prior runs."""
    values: FloatArray = measure.score(view.with_run(view.runs[name], priors=priors))
    return values


# Measures of which more is not better, or which do not look at relevance.
_NO_QUALITY = ("Judged", "NumQ", "NumRel", "NumRet")


@dataclass(frozen=True, eq=False)
class Settings:
    """By what options are compared, and how; :func:`decide` says what each is."""

    by: ir_measures.Measure
    how: Combination
    test: PairedTestOptions = field(default_factory=PairedTestOptions)
    unretrieved_relevant: int | None = None
    margin: float = field(default=0.0, kw_only=True)
    groups: Mapping[str, str] | None = field(default=None, kw_only=True)
    n: int = field(default=20, kw_only=True)
    work: Work = field(default_factory=lambda: Work(time_limit=10.0), kw_only=True)

    def __post_init__(self) -> None:
        check_amount("margin", self.margin)
        low, high = value_range(self.by)
        if self.margin >= high - low:
            raise ValueError(
                f"margin={self.margin!r} is not allowed; {self.by} lies between {low:g} and {high:g}"
            )
        if self.groups is not None and not isinstance(self.groups, Mapping):
            raise ValueError(f"groups={self.groups!r} must be a dict from query id to group")
        check_count("n", self.n, 1)
        if self.unretrieved_relevant is not None:
            check_count("unretrieved_relevant", self.unretrieved_relevant, 0)

    @property
    def ends(self) -> tuple[float, float]:
        """Between which a difference lies."""
        low, high = value_range(self.by)
        return low - high, high - low

    def shown(self) -> dict[str, Any]:
        """What a decision says of it."""
        method = "rerank" if self.how.rerank is not None else self.how.method
        shown = {"by": str(self.by), "method": method, "margin": float(self.margin)}
        return shown | {"confidence": self.test.confidence}


def combination_of(
    context: RunContext,
    by: ir_measures.Measure,
    method: str = "rrf",
    *,
    k: int = 60,
    depth: int = 1000,
    rerank: Run | str | None = None,
    pool: int = 100,
) -> Combination:
    """How :func:`decide` combines runs, checked."""
    check_choice("method", method, ALL_METHODS)
    for name, value, least in (("k", k, 0), ("depth", depth, 1), ("pool", pool, 1)):
        check_count(name, value, least)
    if rerank is None and pool != 100:
        raise ValueError(f"pool={pool!r} is how many documents a reranker gets; set rerank=, or leave it out")
    if k != 60 and (rerank is not None or method != "rrf"):
        raise ValueError(f"k={k!r} goes with method='rrf', and not with rerank=; leave it out")
    if method != "rrf" and rerank is not None:
        raise ValueError(f"method={method!r} does not go with rerank=; leave it out")
    scores = None
    if rerank is not None:
        named = isinstance(rerank, str) and rerank in context.runs
        if isinstance(rerank, str) and not named and not Path(rerank).exists():
            raise ValueError(
                f"rerank={rerank!r} is neither a run of the context nor a file; its runs are "
                f"{few_quoted(context.names)}"
            )
        scores = context.runs[str(rerank)] if named else read_run(rerank, "the reranker")
    return Combination(method, k, depth, cutoff_of(by), scores, pool)


def deciding_measure(by: ir_measures.Measure | str) -> ir_measures.Measure:
    """The measure that decides; ValueError for one that does not say how good a list is."""
    if not isinstance(by, (str, ir_measures.Measure)):
        raise ValueError(f"by={by!r} is not a measure; set one such as 'nDCG@10'")
    asked = parse_measure(by)
    if is_relative(asked):
        raise ValueError(f"by={str(by)!r} depends on other runs; set an absolute measure such as 'nDCG@10'")
    measure = absolute_measure(by, "by")
    if measure.NAME in _NO_QUALITY and measure.params.get("rel") is None:
        raise ValueError(f"by={str(by)!r} does not say how good a list is; set another, such as 'nDCG@10'")
    return measure
