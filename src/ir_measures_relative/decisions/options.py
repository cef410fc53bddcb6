"""Options, the runs that they stand for, and how these become lists of the same length."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import ir_measures
import numpy as np

from ..arguments import check_choice, check_count
from ..context.collection import Collection
from ..context.duplicates import rank_alike
from ..context.evaluated import Evaluated
from ..context.measure_strings import absolute_measure, is_relative, parse_measure
from ..context.priors import fitting
from ..context.run_context import RunContext
from ..data.arrays import BoolArray, FloatArray, IntArray, query_slices, rank_within
from ..data.cut_rankings import check_whole_to
from ..data.documents import Documents
from ..data.rankings import Rankings, known_depth
from ..io.run_paths import name_runs
from ..io.runs import Run, read_run
from ..messages import few, few_quoted, kind_of
from .fused_values import depths, votes_to
from .fusion import METHODS, Fusion, union_of

#: How the runs of an option become one list.
INTERLEAVE = "interleave"
ALL_METHODS = (*METHODS, INTERLEAVE)

#: What an option may be: a run, or several runs.
OptionLike: TypeAlias = "str | Sequence[str]"

#: Of each topic the documents of a list in its order, as rows of the documents of all runs.
TopicRows = list[IntArray]

# Measures of which more is not better, or which do not look at relevance.
_NO_QUALITY = ("Judged", "NumQ", "NumRel", "NumRet")
#: How many documents of each run are fused, where the runs are here whole.
DEFAULT_DEPTH = 1000
# What a candidate without a name is called.
_UNNAMED = "candidate"


class Option(NamedTuple):
    """One of the set-ups that are compared: some runs."""

    name: str
    runs: tuple[str, ...]  #: in the order in which they take turns


@dataclass(frozen=True, eq=False)
class Combination:
    """How the runs of an option become one list. A single run is its own list.

    Args:
        method: ``"rrf"``, ``"isr"``, ``"combsum"`` and ``"combmnz"`` fuse. ``"interleave"`` takes one document of each
            run in turn, and skips those already taken.
        k: of ``"rrf"``: the larger, the less the first positions stand out.
        depth: the number of documents of each run that are fused: by default 1,000, or as many as the track of a run
            has. Without a cutoff of the measure, lists end there.
        rerank: a run with a reranker's scores, or its name. They order the first ``pool`` interleaved documents.
        pool: the number of documents for the reranker. All pools shrink to the smallest on a topic.
    """

    method: str = "rrf"
    k: int = 60
    depth: int | None = None
    rerank: Run | str | None = None
    pool: int = 100

    def __post_init__(self) -> None:
        check_choice("method", self.method, ALL_METHODS)
        for name, value, least in (("k", self.k, 0), ("depth", self.depth, 1), ("pool", self.pool, 1)):
            if value is not None or name != "depth":
                check_count(name, value, least)
        if self.rerank is None and self.pool != 100:
            raise ValueError(
                f"pool={self.pool!r} is how many documents a reranker gets; set rerank=, or leave it out"
            )
        if self.k != 60 and (self.rerank is not None or self.method != "rrf"):
            raise ValueError(f"k={self.k!r} goes with method='rrf', and not with rerank=; leave it out")
        if self.method != "rrf" and self.rerank is not None:
            raise ValueError(f"method={self.method!r} does not go with rerank=; leave it out")

    def read_reranker(self, context: RunContext) -> Rankings | None:
        """Return the scores of the reranker, of a run of the context or of another one; None without one."""
        if self.rerank is None:
            return None
        named = isinstance(self.rerank, str) and self.rerank in context.runs
        if isinstance(self.rerank, str) and not named and not Path(self.rerank).exists():
            raise ValueError(
                f"rerank={self.rerank!r} is neither a run of the context nor a file; its runs are "
                f"{few_quoted(context.names)}"
            )
        reranker = context.runs[str(self.rerank)] if named else read_run(self.rerank, "the reranker")
        if reranker.cut is not None:
            raise ValueError(
                f"rerank={self.rerank!r} is a run of a track, which has no scores; give the run itself"
            )
        return reranker

    def fused_depth(self, runs: Iterable[Rankings]) -> int:
        """Return how many documents of each run are fused."""
        return int(known_depth(runs, DEFAULT_DEPTH) or 1) if self.depth is None else self.depth


def deciding_measure(by: ir_measures.Measure | str) -> ir_measures.Measure:
    """Return the measure that decides; raise ValueError for one that does not say how good a list is."""
    if not isinstance(by, (str, ir_measures.Measure)):
        raise ValueError(f"by={by!r} is not a measure; set one such as 'nDCG@10'")
    if is_relative(parse_measure(by)):
        raise ValueError(f"by={str(by)!r} depends on other runs; set an absolute measure such as 'nDCG@10'")
    measure = absolute_measure(by, "by")
    if measure.NAME in _NO_QUALITY and measure.params.get("rel") is None:
        raise ValueError(f"by={str(by)!r} does not say how good a list is; set another, such as 'nDCG@10'")
    return measure


# ---- which options, of which runs


def read_options(options: Any, names: Sequence[str], combine: Combination) -> list[Option]:
    """Return the options that a caller gives by name, checked; ``names`` are the runs that there are."""
    as_key = (
        tuple if combine.method == INTERLEAVE else frozenset
    )  # whether runs in another order are another option
    if not isinstance(options, Mapping) or len(options) < 2:
        raise ValueError("options= must hold at least two options by name, the one in use first")
    result: list[Option] = []
    for name, given in options.items():
        if not isinstance(name, str) or not name or name == "open":
            raise ValueError(f"options: {name!r} cannot be the name of an option; use other text")
        if not isinstance(given, Iterable) or isinstance(given, Mapping):
            raise ValueError(
                f"options[{name!r}] is {kind_of(given)}; give the name of a run, or a list of names"
            )
        runs = (given,) if isinstance(given, str) else tuple(given)
        unknown = [run for run in runs if not isinstance(run, str) or run not in names]
        if unknown:
            raise ValueError(
                f"options[{name!r}] names {unknown[0]!r}; the context's runs are {few_quoted(names)}"
            )
        if len(set(runs)) < max(len(runs), 1):
            raise ValueError(f"options[{name!r}]={given!r} must hold one run or more, each once")
        same = next((option.name for option in result if as_key(option.runs) == as_key(runs)), None)
        if same is not None:
            raise ValueError(f"options {same!r} and {name!r} hold the same runs; leave one of them out")
        result.append(Option(name, runs))
    return result


def options_with_candidate(deployed: Sequence[str], candidate: str, replaced: Sequence[str]) -> list[Option]:
    """Return the options *keep*, *add*, *replace X* for each of ``replaced``, and of several *replace all*."""
    options = [Option("keep", tuple(deployed)), Option("add", (*deployed, candidate))]
    options += [Option(f"replace {name}", (*without(deployed, name), candidate)) for name in replaced]
    if len(deployed) > 1:
        options.append(Option("replace all", (candidate,)))
    return options


def without(names: Sequence[str], name: str) -> tuple[str, ...]:
    """Return the names but one."""
    return tuple(other for other in names if other != name)


def find_candidate(context: RunContext, candidate: str | Run) -> tuple[str, Rankings, str | None]:
    """Return the candidate's name and rankings, and its name in the context, if it has one."""
    text = candidate if isinstance(candidate, str) else None
    same = next((n for n, run in context.runs.items() if run is candidate or n == text), None)
    if same is not None:
        return same, context.runs[same], same
    if text is not None and not Path(text).exists():
        raise ValueError(
            f"candidate={text!r} is neither a run of the context nor a file; its runs are {few_quoted(context.names)}"
        )
    run = context.read_run(candidate, "the candidate")
    name = run.tag or _UNNAMED
    if isinstance(candidate, (str, os.PathLike)):
        name = name_runs([Path(candidate)], [run])[0]
    return name, run, None


def deployed_runs(context: RunContext, deployed: object, candidate: str | None) -> list[str]:
    """Return the runs that names or globs stand for, in order, but not the candidate; by default all others."""
    names = context.names
    if deployed is None:
        chosen = names
    elif not isinstance(deployed, Iterable):
        raise ValueError(f"deployed={deployed!r} must be a name or glob of deployed runs, or a list of these")
    else:
        patterns = [deployed] if isinstance(deployed, str) else list(map(str, deployed))
        if candidate in patterns:
            raise ValueError(f"the candidate {candidate!r} is deployed already; leave it out of deployed=")
        lacking = [pattern for pattern in patterns if not fitting(pattern, names)]
        if lacking:
            raise ValueError(
                f"deployed= names {few_quoted(lacking)}; the context's runs are {few_quoted(names)}"
            )
        chosen = [name for pattern in patterns for name in fitting(pattern, names)]
    runs = [name for name in dict.fromkeys(chosen) if name != candidate]
    if not runs:
        raise ValueError("there is no deployed run; add some to the RunContext, and name them in deployed=")
    return runs


def find_copy(collection: Collection, deployed: Iterable[str], candidate: str) -> str | None:
    """Return the first deployed run that ranks every judged topic as the candidate does; None where none does."""

    def same(name: str, other: str) -> bool:
        return rank_alike(Evaluated.of(collection, name), other, partly=True)

    return next((name for name in deployed if same(candidate, name) and same(name, candidate)), None)


# ---- their lists


class OptionLists:
    """The list of each option on each topic (``lists``), and what a reranker gets (``pools``; else the lists)."""

    def __init__(
        self,
        collection: Collection,
        options: Sequence[Option],
        combine: Combination,
        cutoff: int | None,
        reranker: Rankings | None = None,
    ) -> None:
        self.collection, self.options, self.combine, self.reranker = collection, options, combine, reranker
        #: Where every list ends.
        self.fused_depth = combine.fused_depth(collection.rankings)
        if reranker is None and combine.method != INTERLEAVE:
            check_whole_to(collection.rankings, self.fused_depth)
        self.ends = self.fused_depth if cutoff is None else cutoff
        ends, fuses = self.ends, reranker is None and combine.method != INTERLEAVE
        reads = max(self.fused_depth, ends) if fuses else ends if reranker is None else combine.pool
        for self._looked in depths(ends if fuses else reads, reads):
            self.docs = union_of(collection, self._looked).docs
            self._rows_of_run = locate_rankings(collection, self._looked)
            combined = [] if reranker is not None else list(map(self._combined, options))
            if not any(rows is None for rows in combined):
                break
        if reranker is None:
            self.pools = self.lists = [self._cut(rows) for rows in combined if rows is not None]
        else:
            pools = [self._interleaved(option, combine.pool) for option in options]
            sizes = [min(map(len, of_topic)) for of_topic in zip(*pools, strict=True)]
            self.pools = [[rows[:n] for rows, n in zip(pool, sizes, strict=True)] for pool in pools]
            self._scores = self._read_reranker_scores(reranker)
            self.lists = [self._reranked(pool) for pool in self.pools]

    @property
    def is_cut(self) -> bool:
        """Whether fewer documents are fused than by default, as a track has no more."""
        fuses = self.reranker is None and self.combine.method != INTERLEAVE
        return fuses and self.combine.depth is None and self.fused_depth < DEFAULT_DEPTH

    def rankings(self) -> list[Rankings]:
        """Return the list of each option as a run."""
        return [
            self._as_run(rows, option.name) for option, rows in zip(self.options, self.lists, strict=True)
        ]

    def best_orders(self) -> list[Rankings]:
        """Return the pool of each option in its best order, by grade."""
        falling = -self.docs.grade
        best = [[rows[np.argsort(falling[rows], kind="stable")] for rows in pool] for pool in self.pools]
        return [self._as_run(rows, "the best order of a pool") for rows in map(self._cut, best)]

    def rows_to(self, depth: int) -> tuple[Documents, list[TopicRows]]:
        """Return the documents of the runs, and the ranking of each run, at least so deep, as rows of these."""
        if depth <= self._looked:
            return self.docs, self._rows_of_run
        return union_of(self.collection, depth).docs, locate_rankings(self.collection, depth)

    def run_sizes(self) -> IntArray:
        """Return how many documents each run of the context has on each topic, as deep as lists need."""
        return np.array([list(map(len, lists)) for lists in self._rows_of_run], dtype=np.int64)

    # ---- where relevant documents end

    def fates(self, rel: int) -> IntArray:
        """Count where relevant documents end: never retrieved, outside the pool, not shown, shown; options × 4."""
        relevant = self.collection.judgments.select(self.collection.judgments.grade >= rel)
        result = np.zeros((len(self.options), 4), dtype=np.int64)
        for i, option in enumerate(self.options):
            retrieved: BoolArray = np.zeros(len(relevant), dtype=bool)
            for run in option.runs:
                retrieved |= relevant.positions_in(self.collection.runs[run]) > 0
            pool, shown = (
                sum(int((self.docs.grade[rows] >= rel).sum()) for rows in of[i])
                for of in (self.pools, self.lists)
            )
            n = int(retrieved.sum())
            result[i] = len(relevant) - n, n - pool, pool - shown, shown
        return result

    # ---- the lists

    def _combined(self, option: Option) -> TopicRows | None:
        """Return the list of an option; None where it depends on documents below those looked at."""
        if len(option.runs) == 1 or self.combine.method == INTERLEAVE:
            return self._interleaved(option, self.ends)
        runs = sorted(self.collection.index[run] for run in option.runs)
        fusion = Fusion(self.combine.method, self.combine.k, self.fused_depth)
        key = "fused list", fusion, self.ends, self._looked, tuple(runs)
        return self.collection.memoize(key, lambda: self._fused(runs, fusion))

    def _interleaved(self, option: Option, length: int) -> TopicRows:
        result: TopicRows = []
        for topic in range(self.docs.n_queries):
            rows = [self._rows_of_run[self.collection.index[run]][topic] for run in option.runs]
            if len(rows) == 1:
                result.append(rows[0][:length])
            else:
                taken = list(
                    itertools.islice(interleaved([rows_of_run.tolist() for rows_of_run in rows]), length)
                )
                result.append(np.array(taken, dtype=np.int64))
        return result

    def _fused(self, runs: Sequence[int], fusion: Fusion) -> TopicRows | None:
        """Return the fusion of some runs in trec_eval's order: equal 32-bit scores by document id, descending."""
        ends, votes = self.ends, votes_to(self.collection, fusion, self._looked)
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
        """Return what is shown of a pool: by falling 32-bit score; ties by document id, descending, as the rows are."""
        ordered = map(np.sort, pool)
        score = self._scores.astype(np.float32)
        return self._cut([rows[np.argsort(-score[rows], kind="stable")] for rows in ordered])

    def _cut(self, lists: TopicRows) -> TopicRows:
        """Cut the lists where each ends."""
        return [rows[: self.ends] for rows in lists]

    def _read_reranker_scores(self, reranker: Rankings) -> FloatArray:
        """Return its score of each document of the pools; raise ValueError where some have none."""
        query, ids, score = reranker.rows()
        of_query = self.collection.judgments.match_queries(reranker)[query]
        in_topics = np.flatnonzero(of_query >= 0)
        row = self.docs.find_rows(of_query[in_topics], ids.take(in_topics))
        scores = np.full(len(self.docs), np.nan)
        scores[row[row >= 0]] = score[in_topics[row >= 0]]
        pooled = np.unique(np.concatenate([rows for pool in self.pools for rows in pool]))
        missing = pooled[np.isnan(scores[pooled])]
        if len(missing):
            named = few(
                f"{self.docs.ids.string(row)} (query {self.collection.documents.query_ids[self.docs.query[row]]})"
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
        return Rankings(
            self.collection.documents.query_ids[query], self.docs.ids.take(rows), score, name=name
        )


def locate_rankings(collection: Collection, depth: int) -> list[TopicRows]:
    """Return the ranking of each run on each topic to a depth, as rows of the documents of all runs; kept."""

    def compute() -> list[TopicRows]:
        docs, holdings = union_of(collection, depth)
        topics = docs.n_queries
        return [[row[some] for some in query_slices(top.docs.query, topics)] for row, top in holdings]

    return collection.memoize(("rows of runs", depth), compute)


def interleaved(lists: Sequence[Sequence[int]]) -> Iterator[int]:
    """Yield one document of each list in turn; a list gives its next where one was taken, until it ends."""
    taken: set[Any] = set()
    left = [iter(documents) for documents in lists]
    while left:
        for documents in list(left):
            document = next((d for d in documents if d not in taken), None)
            if document is None:
                left.remove(documents)
            else:
                taken.add(document)
                yield document
