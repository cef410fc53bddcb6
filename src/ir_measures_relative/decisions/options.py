"""Options: sets of runs, and how each becomes one list."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import ir_measures
import numpy as np

from ..arguments import check_choice, check_count, match_pattern
from ..context.checks import check_whole_to
from ..context.collection import Collection
from ..context.measure_strings import absolute_measure, is_relative, parse_measure
from ..context.run_context import RunContext
from ..data.arrays import FloatArray, IntArray, query_slices, rank_within
from ..data.documents import Documents
from ..data.rankings import Rankings, known_depth
from ..formats.run_paths import name_runs
from ..io.runs import Run, read_run
from ..messages import few, few_quoted, kind_of
from .fusion import METHODS, Fusion, depths, unite_rankings, votes_to

#: How the runs of an option become one list.
INTERLEAVE = "interleave"
ALL_METHODS = (*METHODS, INTERLEAVE)

#: What an option may be: a run, or several runs.
OptionLike: TypeAlias = "str | Sequence[str]"

#: The documents of a list on each topic, in their order, as rows of the documents of all runs.
TopicRows = list[IntArray]

# Measures of which a higher value is not better, or which do not depend on relevance.
_NO_QUALITY = ("Judged", "NumQ", "NumRel", "NumRet")
#: How many documents of each whole run are fused.
DEFAULT_DEPTH = 1000


class Option(NamedTuple):
    """A set-up: some runs that are shown as one list."""

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
        check_count("k", self.k, 0)
        check_count("pool", self.pool, 1)
        if self.depth is not None:
            check_count("depth", self.depth, 1)
        if self.rerank is None and self.pool != 100:
            raise ValueError(
                f"pool={self.pool!r} is how many documents a reranker gets; set rerank=, or leave it out"
            )
        if self.k != 60 and (self.rerank is not None or self.method != "rrf"):
            raise ValueError(f"k={self.k!r} goes with method='rrf', and not with rerank=; leave it out")
        if self.method != "rrf" and self.rerank is not None:
            raise ValueError(f"method={self.method!r} does not go with rerank=; leave it out")

    def read_reranker(self, context: RunContext) -> Rankings | None:
        """Return the scores of the reranker, from the context or from elsewhere; None without one."""
        if self.rerank is None:
            return None
        if isinstance(self.rerank, str) and self.rerank in context.runs:
            reranker = context.runs[self.rerank]
        else:
            _check_is_file("rerank", self.rerank, context)
            reranker = read_run(self.rerank, "the reranker")
        if reranker.cut is not None:
            raise ValueError(
                f"rerank={self.rerank!r} is a run of a track, which has no scores; give the run itself"
            )
        return reranker

    def fused_depth(self, runs: Iterable[Rankings]) -> int:
        """Return how many documents of each run are fused."""
        return int(known_depth(runs, DEFAULT_DEPTH) or 1) if self.depth is None else self.depth


def check_deciding_measure(by: ir_measures.Measure | str) -> ir_measures.Measure:
    """Return the measure that decides; raise ValueError for one that does not say how good a list is."""
    if not isinstance(by, (str, ir_measures.Measure)):
        raise ValueError(f"by={by!r} is not a measure; set one such as 'nDCG@10'")
    if is_relative(parse_measure(by)):
        raise ValueError(f"by={str(by)!r} depends on other runs; set an absolute measure such as 'nDCG@10'")
    measure = absolute_measure(by, "by")
    if measure.NAME in _NO_QUALITY and measure.params.get("rel") is None:
        raise ValueError(f"by={str(by)!r} does not say how good a list is; set another, such as 'nDCG@10'")
    return measure


def _check_is_file(argument: str, run: object, context: RunContext) -> None:
    """Raise ValueError for a text that names neither a run of the context nor a file."""
    if isinstance(run, str) and not Path(run).exists():
        raise ValueError(
            f"{argument}={run!r} is neither a run of the context nor a file; its runs are {few_quoted(context.names)}"
        )


# ---- the runs of options


def read_options(options: Any, names: Sequence[str], combine: Combination) -> list[Option]:
    """Return the options that a caller gives by name, checked; ``names`` are the runs of the context."""
    if not isinstance(options, Mapping) or len(options) < 2:
        raise ValueError("options= must hold at least two options by name, the one in use first")
    # Interleaved in another order, the same runs are another option.
    runs_key = tuple if combine.method == INTERLEAVE else frozenset
    option_by_runs: dict[Any, str] = {}
    result: list[Option] = []
    for name, given in options.items():
        if not isinstance(name, str) or not name or name == "open":
            raise ValueError(f"options: {name!r} cannot be the name of an option; use other text")
        if not isinstance(given, Iterable) or isinstance(given, Mapping):
            raise ValueError(
                f"options[{name!r}] is {kind_of(given)}; give the name of a run, or a list of names"
            )
        runs = (given,) if isinstance(given, str) else tuple(given)
        if unknown := [run for run in runs if not isinstance(run, str) or run not in names]:
            raise ValueError(
                f"options[{name!r}] names {unknown[0]!r}; the context's runs are {few_quoted(names)}"
            )
        if len(set(runs)) < max(len(runs), 1):
            raise ValueError(f"options[{name!r}]={given!r} must hold one run or more, each once")
        same = option_by_runs.setdefault(runs_key(runs), name)
        if same != name:
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


def removals(deployed: Sequence[str], names: Sequence[str]) -> list[Option]:
    """Return the options to remove each of some deployed runs; of one deployed run none."""
    return [Option(f"remove {name}", without(deployed, name)) for name in names if len(deployed) > 1]


def without(names: Sequence[str], name: str) -> tuple[str, ...]:
    """Return the names without one of them."""
    return tuple(other for other in names if other != name)


def find_candidate(context: RunContext, candidate: str | Run) -> tuple[str, Rankings, bool]:
    """Return the candidate's name and rankings, and whether it is a run of the context."""
    for name, run in context.runs.items():
        if run is candidate or (isinstance(candidate, str) and name == candidate):
            return name, run, True
    _check_is_file("candidate", candidate, context)
    run = context.read_run(candidate, "the candidate")
    if isinstance(candidate, (str, os.PathLike)):
        return name_runs([Path(candidate)], [run])[0], run, False
    return run.tag or "candidate", run, False


def choose_deployed(context: RunContext, deployed: object, candidate: str | None) -> list[str]:
    """Return the runs that names or globs stand for, in order, but not the candidate; by default all others."""
    chosen = names = context.names
    if deployed is not None:
        if not isinstance(deployed, Iterable):
            raise ValueError(
                f"deployed={deployed!r} must be a name or glob of deployed runs, or a list of these"
            )
        patterns = [deployed] if isinstance(deployed, str) else list(map(str, deployed))
        if candidate in patterns:
            raise ValueError(f"the candidate {candidate!r} is deployed already; leave it out of deployed=")
        if unmatched := [pattern for pattern in patterns if not match_pattern(pattern, names)]:
            raise ValueError(
                f"deployed= names {few_quoted(unmatched)}; the context's runs are {few_quoted(names)}"
            )
        chosen = [name for pattern in patterns for name in match_pattern(pattern, names)]
    runs = [name for name in dict.fromkeys(chosen) if name != candidate]
    if not runs:
        raise ValueError("there is no deployed run; add some to the RunContext, and name them in deployed=")
    return runs


# ---- the lists of options


class OptionLists:
    """The list of each option on each topic (``lists``), and of a reranker the documents that it gets (``pools``)."""

    def __init__(
        self,
        collection: Collection,
        options: Sequence[Option],
        combine: Combination,
        cutoff: int | None,
        reranker: Rankings | None = None,
    ) -> None:
        self.collection, self.options, self.combine, self.reranker = collection, options, combine, reranker
        self.fused_depth = combine.fused_depth(collection.rankings)
        #: The length at which every list ends.
        self.length = self.fused_depth if cutoff is None else cutoff
        fuses = reranker is None and combine.method != INTERLEAVE
        #: Whether fewer documents are fused than by default, as a track has no more.
        self.is_cut = fuses and combine.depth is None and self.fused_depth < DEFAULT_DEPTH
        if fuses:
            check_whole_to(collection.rankings, self.fused_depth)
            for depth in depths(self.length, max(self.fused_depth, self.length)):
                self._look(depth)
                lists = [self._fuse(option) for option in options]
                if not any(rows is None for rows in lists):
                    break
            self.lists = [rows for rows in lists if rows is not None]
        elif reranker is None:
            self._look(self.length)
            self.lists = [self._interleave(option, self.length) for option in options]
        else:
            self._look(combine.pool)
            pools = [self._interleave(option, combine.pool) for option in options]
            sizes = [min(map(len, rows)) for rows in zip(*pools, strict=True)]
            self.pools = [[rows[:n] for rows, n in zip(pool, sizes, strict=True)] for pool in pools]
            scores = self._read_reranker_scores(reranker)
            self.lists = [self._order_pool(pool, scores) for pool in self.pools]

    def _look(self, depth: int) -> None:
        self._depth, self.docs = depth, unite_rankings(self.collection, depth).docs
        self._rows_by_run = locate_rankings(self.collection, depth)

    def rankings(self) -> list[Rankings]:
        """Return the list of each option as a run."""
        return [
            self._to_run(rows, option.name) for option, rows in zip(self.options, self.lists, strict=True)
        ]

    def best_orders(self) -> list[Rankings]:
        """Return the pool of each option in its best order, by grade."""
        orders = [self._order_pool(pool, self.docs.grade, by_id=False) for pool in self.pools]
        return [self._to_run(rows, "the best order of a pool") for rows in orders]

    def rows_to(self, depth: int) -> tuple[Documents, list[TopicRows]]:
        """Return the documents of the runs to at least this depth, and the ranking of each run as rows of them."""
        if depth <= self._depth:
            return self.docs, self._rows_by_run
        return unite_rankings(self.collection, depth).docs, locate_rankings(self.collection, depth)

    def run_sizes(self) -> IntArray:
        """Return how many documents each run of the context has on each topic, as deep as lists need."""
        return np.array([list(map(len, lists)) for lists in self._rows_by_run], dtype=np.int64)

    def count_fates(self, rel: int) -> IntArray:
        """Count the relevant documents never retrieved, outside the pool, not shown, and shown; shape (options, 4)."""
        relevant = self.collection.judgments.select(self.collection.judgments.grade >= rel)
        result = np.zeros((len(self.options), 4), dtype=np.int64)
        for i, option in enumerate(self.options):
            positions = [relevant.positions_in(self.collection.runs[run]) for run in option.runs]
            retrieved = int((np.array(positions) > 0).any(axis=0).sum())
            pooled, shown = (
                sum(int((self.docs.grade[rows] >= rel).sum()) for rows in lists[i])
                for lists in (self.pools, self.lists)
            )
            result[i] = len(relevant) - retrieved, retrieved - pooled, pooled - shown, shown
        return result

    def _fuse(self, option: Option) -> TopicRows | None:
        """Return the list of an option; None where it depends on documents below the depth that was read."""
        if len(option.runs) == 1:
            return self._interleave(option, self.length)
        runs = sorted(self.collection.index[run] for run in option.runs)
        fusion = Fusion(self.combine.method, self.combine.k, self.fused_depth)
        key = "fused list", fusion, self.length, self._depth, tuple(runs)
        return self.collection.memoize(key, lambda: self._fuse_runs(runs, fusion))

    def _fuse_runs(self, runs: Sequence[int], fusion: Fusion) -> TopicRows | None:
        """Return the fusion of some runs in trec_eval's order: equal 32-bit scores by document id, descending."""
        length, votes = self.length, votes_to(self.collection, fusion, self._depth)
        fused, is_retrieved = votes.scores(runs)
        score = np.where(is_retrieved, fused.astype(np.float32), np.float32(-1.0))
        result, last = [], np.full(self.docs.n_queries, -1.0)
        for topic, (start, end) in enumerate(itertools.pairwise(self.docs.starts.tolist())):
            scores = score[start:end]
            if len(scores) > length:
                last[topic] = np.partition(scores, -length)[-length]
            rows = np.flatnonzero((scores >= last[topic]) & (scores >= 0))
            # The rows of a topic are sorted by document id, descending.
            result.append(start + rows[np.argsort(-scores[rows], kind="stable")][:length])
        return result if votes.suffice(slice(None), np.array(runs), last) else None

    def _interleave(self, option: Option, length: int) -> TopicRows:
        lists = [self._rows_by_run[self.collection.index[run]] for run in option.runs]
        if len(lists) == 1:
            return [rows[:length] for rows in lists[0]]
        topics = ([rows.tolist() for rows in topic] for topic in zip(*lists, strict=True))
        return [np.array([*itertools.islice(interleaved(topic), length)], dtype=np.int64) for topic in topics]

    def _order_pool(self, pool: TopicRows, score: Any, by_id: bool = True) -> TopicRows:
        """Return the shown part of a pool, by falling 32-bit score; ties by id, descending, or in given order."""
        score = score.astype(np.float32)
        ordered = map(np.sort, pool) if by_id else pool
        return [rows[np.argsort(-score[rows], kind="stable")][: self.length] for rows in ordered]

    def _read_reranker_scores(self, reranker: Rankings) -> FloatArray:
        """Return its score of each document of the pools; raise ValueError where some have none."""
        query, ids, score = reranker.rows()
        topic = self.collection.judgments.match_queries(reranker)[query]
        judged = np.flatnonzero(topic >= 0)
        row = self.docs.find_rows(topic[judged], ids.take(judged))
        scores = np.full(len(self.docs), np.nan)
        scores[row[row >= 0]] = score[judged[row >= 0]]
        pooled = np.unique(np.concatenate([rows for pool in self.pools for rows in pool]))
        missing = pooled[np.isnan(scores[pooled])]
        if len(missing):
            named = few(
                f"{self.docs.ids.string(row)} (query {self.docs.query_ids[self.docs.query[row]]})"
                for row in missing[:4].tolist()
            )
            raise ValueError(
                f"rerank= has no score for {len(missing)} of the {len(pooled)} pooled documents, such as {named}"
            )
        return scores

    def _to_run(self, lists: TopicRows, name: str) -> Rankings:
        rows = np.concatenate([np.empty(0, dtype=np.int64), *lists])
        query = np.repeat(np.arange(len(lists)), list(map(len, lists)))
        score = -rank_within(query).astype(np.float64)
        return Rankings(self.docs.query_ids[query], self.docs.ids.take(rows), score, name=name)


def locate_rankings(collection: Collection, depth: int) -> list[TopicRows]:
    """Return the ranking of each run on each topic to a depth, as rows of the documents of all runs."""

    def compute() -> list[TopicRows]:
        docs, runs = unite_rankings(collection, depth)
        return [[row[part] for part in query_slices(top.docs.query, docs.n_queries)] for row, top in runs]

    return collection.memoize(("rows of runs", depth), compute)


def interleaved(lists: Sequence[Sequence[int]]) -> Iterator[int]:
    """Yield one document of each list in turn, skipping documents already taken, until all lists end."""
    taken: set[int] = set()
    unfinished = [iter(documents) for documents in lists]
    while unfinished:
        for documents in list(unfinished):
            document = next((d for d in documents if d not in taken), None)
            if document is None:
                unfinished.remove(documents)
            else:
                taken.add(document)
                yield document
