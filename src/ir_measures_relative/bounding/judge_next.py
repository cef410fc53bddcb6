"""Which unjudged documents to judge next: to settle the most orders of two runs, or as pooling methods choose them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd

from ..arguments import check_count
from ..context.priors import Members
from ..context.run_context import RunContext
from ..context.view import check_is_context, view_of
from ..data.arrays import BoolArray, FloatArray, IntArray
from ..io.qrels import Qrels
from ..measures.bases.gains import discount
from ..messages import escaped, few_quoted
from ..stats.pairs_and_ties import tie_limit, with_ties
from ..tolerances import LABELED_ALIKE, ROUNDED
from ..work import Work, check_writable, write_whole
from .bounds import campaign_of, model_of
from .verdicts import differences, pairs_of, settled_of


def judge_next(
    context: RunContext,
    qrels: Qrels | None,
    measure: ir_measures.Measure | str,
    n: int,
    between: tuple[str, str] | None = None,
    *,
    path: str | os.PathLike[str] | None = None,
    unretrieved_relevant: int | None = None,
    residual: bool = False,
    jobs: int = 1,
    time_limit: float | None = None,
) -> pd.DataFrame:
    """The unjudged documents whose labels would settle most of the undecided orders.

    For every undecided pair a document counts by how far its label can move the difference of the two runs, over what
    the nearer end of the interval has to move to settle it. Judge the documents, add their labels to the qrels, and
    ask again: what is left depends on what was found.

    Args:
        context: the runs; with a ``reference``, only the pairs with it.
        measure: as for :func:`bounds`.
        n: how many documents; fewer are given where no more take part in an undecided pair.
        between: two runs, where only their order counts.
        path: a file to write the documents to, one ``query_id doc_id`` a line, as a pool for those who judge.
        qrels, unretrieved_relevant, residual, jobs, time_limit: as for :func:`verdicts`.

    Returns:
        a DataFrame in the order in which to judge: ``query_id``, ``doc_id``, the ``weight`` by which they are ordered,
        and ``pairs``, the number of undecided pairs in which the document takes part.

    Raises:
        ValueError: what :func:`verdicts` raises; with ``path``, an id with a blank, which no pool file can hold.

    Example:
        >>> from ir_measures_relative import RunContext
        >>> from ir_measures_relative.bounding import judge_next
        >>> runs = {"a": {"q": {"A": 2, "B": 1}}, "b": {"q": {"B": 2, "X": 1}}}
        >>> judge_next(RunContext(runs), {"q": {"A": 0}}, "P@2", 5)
          query_id doc_id  weight  pairs
        0        q      X    10.0      1
    """
    work = Work(jobs, time_limit)
    (parsed,), views = campaign_of(context, qrels, [measure], residual)
    check_count("n", n, 1)
    if path is not None:
        check_pool(path)
    a, b = pairs_of(context) if between is None else _pair(context, between)
    model = model_of(parsed, views, unretrieved_relevant, residual)
    _, interval = differences(views, parsed, model, a, b, work)
    lower, upper = interval.lower.mean(axis=1), interval.upper.mean(axis=1)
    docs, rows = model.docs, np.flatnonzero(model.open & model.docs.exists)
    weight, pairs = np.zeros(len(rows)), np.zeros(len(rows), dtype=np.int64)
    reach = np.maximum(np.abs(interval.lower), np.abs(interval.upper))
    for i in np.flatnonzero(settled_of(lower, upper) == "undecided").tolist():
        moved = model.influence(int(a[i]), int(b[i]), reach[i])[rows]
        missing = max(min(-lower[i], upper[i]), (upper[i] - lower[i]) / 10)
        weight += moved / docs.n_queries / missing
        pairs += moved > LABELED_ALIKE
    some = pairs > 0
    rows, weight, pairs = rows[some], weight[some], pairs[some]
    query_ids, doc_ids = docs.query_ids[docs.query[rows]], docs.ids.take(rows).strings()
    by_id = (np.unique(ids, return_inverse=True)[1] for ids in (doc_ids, query_ids))
    order = np.lexsort((*by_id, -with_ties(weight, tie_limit(weight))))[:n]
    columns: dict[str, Any] = {
        "query_id": pd.Series(query_ids[order], dtype=str),
        "doc_id": pd.Series(doc_ids[order], dtype=str),
        "weight": weight[order],
        "pairs": pairs[order],
    }
    asked = pd.DataFrame(columns)
    if path is not None:
        text = "".join(line + "\n" for line in pool_lines(asked))
        write_whole(path, lambda beside: Path(beside).write_text(text, encoding="utf-8"))
    return asked


def check_pool(path: str | os.PathLike[str]) -> None:
    """Raises ValueError where a pool file would overwrite labels, OSError where it cannot be written."""
    check_writable(path)
    if os.path.exists(path):
        lines = Path(path).read_bytes().splitlines()
        number = next((i for i, line in enumerate(lines, start=1) if len(line.split()) not in (0, 2)), None)
        if number is not None:
            raise ValueError(
                f"{path}, line {number}: it holds more than 'query_id doc_id', such as labels, which a new pool would "
                "overwrite; give another path, or remove the file"
            )


def pool_lines(asked: pd.DataFrame) -> list[str]:
    """The documents to judge as the lines of a pool file; ValueError for an id that would be no column of it."""
    lines = []
    for query, doc in zip(asked["query_id"], asked["doc_id"], strict=True):
        line = f"{query} {doc}"
        if line.split() != [query, doc] or escaped(line) != line:
            raise ValueError(
                f"document {doc!r} of query {query!r}: a pool file has ids without blanks and control characters, a "
                "query and a document a line; take the table that judge_next gives instead, or other ids"
            )
        lines.append(line)
    return lines


def _pair(context: Members, between: object) -> tuple[IntArray, IntArray]:
    """The one pair of two runs, as indices; ValueError for what is not the names of two runs of the context."""
    names = context.names
    if not isinstance(between, (tuple, list)) or len(between) != 2 or between[0] == between[1]:
        raise ValueError(f"between={between!r} must be the names of two runs, such as ('BM25', 'ANCE')")
    unknown = [name for name in between if name not in names]
    if unknown:
        raise ValueError(
            f"between names {unknown}, which the context does not hold; its runs are {few_quoted(names)}"
        )
    a, b = (np.array([names.index(name)], dtype=np.int64) for name in between)
    return a, b


class TopicPool:
    """The rankings of one topic, and what was judged of them so far.

    Each run is read from its top. What it has found is counted down to its first document that is not judged, its head;
    these heads are the documents that may be judged next.

    Args:
        rankings: the document ids of each run, best first, as deep as the pool; some may be empty.
        judged: from document to whether it is relevant.
    """

    def __init__(self, rankings: Sequence[Sequence[str]], judged: Mapping[str, bool]) -> None:
        self.docs = list(dict.fromkeys(doc for ranking in rankings for doc in ranking))
        number = {doc: i for i, doc in enumerate(self.docs)}
        self._rankings = [[number[doc] for doc in ranking] for ranking in rankings]
        self.position: IntArray = np.zeros((len(rankings), len(self.docs)), dtype=np.int64)
        for row, ranking in zip(self.position, self._rankings, strict=True):
            row[ranking] = np.arange(1, len(ranking) + 1)
        self._relevant: list[bool | None] = [judged.get(doc) for doc in self.docs]
        self._asked = [label is not None for label in self._relevant]
        self._at = [0] * len(rankings)  # how far each run was read
        self.relevant: IntArray = np.zeros(len(rankings), dtype=np.int64)  #: found by each run above its head
        self.others: IntArray = np.zeros(len(rankings), dtype=np.int64)  #: judged there, and not relevant
        self._read()

    def _read(self) -> None:
        """Takes each run down to its head, past documents that were asked for. Without a label they do not count."""
        for run, ranking in enumerate(self._rankings):
            while self._at[run] < len(ranking) and self._asked[doc := ranking[self._at[run]]]:
                self.relevant[run] += self._relevant[doc] is True
                self.others[run] += self._relevant[doc] is False
                self._at[run] += 1

    @property
    def open(self) -> BoolArray:
        """Which runs have a document left."""
        return self.heads >= 0

    @property
    def heads(self) -> IntArray:
        """The first document of each run that is not judged, as a column of ``position``; -1 where none is left."""
        pairs = zip(self._at, self._rankings, strict=True)
        return np.array([ranking[at] if at < len(ranking) else -1 for at, ranking in pairs], dtype=np.int64)

    def ask(self, run: int, relevant: bool | None) -> None:
        """Judges the head of a run; None for a label that is to come."""
        doc = self._rankings[run][self._at[run]]
        self._asked[doc], self._relevant[doc] = True, relevant
        self._read()


def _depth(pool: TopicPool) -> FloatArray:
    """The head that stands highest."""
    return -np.array(pool._at, dtype=np.float64)


def _move_to_front(pool: TopicPool) -> FloatArray:
    """The run with the fewest non-relevant documents; of several, the one that found most."""
    few: FloatArray = -pool.others + pool.relevant / (1.0 + len(pool.docs))
    return few


def _bandit(pool: TopicPool) -> FloatArray:
    """The mean of Beta(1 + relevant, 1 + others)."""
    mean: FloatArray = (1.0 + pool.relevant) / (2.0 + pool.relevant + pool.others)
    return mean


def _unique(pool: TopicPool) -> FloatArray:
    """The same mean, times what the head is worth to who has read the other runs: its residual seen(i)."""
    heads = pool.heads
    position = np.where(heads >= 0, pool.position[:, heads], 0)
    seen = discount(position)  # of each run, at the head of each
    worth = 1.0 - seen
    np.fill_diagonal(worth, seen.diagonal())
    expected: FloatArray = _bandit(pool) * worth.prod(axis=0)
    return expected


#: From a topic to a number for each run; the head of the run with the highest is judged next, the first of equals.
METHODS: dict[str, Callable[[TopicPool], FloatArray]] = {
    "depth": _depth,
    "move-to-front": _move_to_front,
    "bandit": _bandit,
    "unique": _unique,
}


def next_run(pool: TopicPool, method: str) -> int | None:
    """The run whose head is to be judged next by one of :data:`METHODS`; None where nothing is left."""
    left = pool.open
    if not left.any():
        return None
    value = np.where(left, METHODS[method](pool), -np.inf)
    best = value.max()
    return int((value >= best - ROUNDED * abs(best)).argmax())


def pool_next(
    context: RunContext,
    qrels: Qrels | None,
    n: int,
    method: str = "depth",
    *,
    depth: int = 100,
    rel: int = 1,
) -> pd.DataFrame:
    """The next documents to judge when a pool is built, topic by topic in turn.

    Each run is read from its top down to its head, the first document that is not judged. A method chooses among these:

    - ``"depth"``: the head that stands highest, as a pool to a fixed depth;
    - ``"move-to-front"``: that of the run with the fewest non-relevant documents so far;
    - ``"bandit"``: that of the run with the highest mean of Beta(1 + relevant, 1 + non-relevant), max-mean;
    - ``"unique"``: by the same mean times ``seen(i) · Π_j (1 - seen(pos_j(d)))`` over the other runs j, with nDCG's
      ``seen(i) = 1/log2(i + 1)``. That is the gain expected of the document for somebody who has read the other runs.

    The judged documents above its head count for a run, whichever run they came from. Of several runs with equally few
    non-relevant documents, move-to-front takes the one with the most relevant. Other ties go to the run given first.

    The first three look for relevant documents, the last for those that one run alone finds. Judge the documents, add
    their labels to the qrels, and ask again. The smaller ``n`` is, the more is learned from each label: within one call
    the heads move past a document that was asked for, and it counts neither way. Give about one document a topic.

    Topics come in the order of the qrels, else as they first appear in the runs. To settle which of two runs is better
    use :func:`judge_next`, which looks at a measure.

    Args:
        context: the runs. Without qrels their queries are the topics.
        qrels: what was judged so far; None for nothing. Only its topics are pooled.
        n: how many documents in all; fewer are given where no more are left.
        depth: how deep runs are read, the judged documents included. ``pos_j(d)`` of ``"unique"`` ends there too.
        rel: from which label on a document is relevant.

    Returns:
        a DataFrame in the order in which to judge: ``query_id``, ``doc_id``, and ``name``, the run that was chosen.

    Sources: Cormack, Palmer and Clarke, SIGIR 1998 (move-to-front); Losada, Parapar and Barreiro, IPM 2017 (bandit);
    ``"unique"`` is this package's, for a question of App. B of Bigdeli et al., SIGIR-AP 2024.

    Example:
        >>> from ir_measures_relative import RunContext
        >>> from ir_measures_relative.bounding import pool_next
        >>> runs = {"a": {"q": {"A": 3, "B": 2, "C": 1}}, "b": {"q": {"X": 2, "B": 1}}}
        >>> pool_next(RunContext(runs), {"q": {"A": 1, "X": 0}}, 2, "bandit")
          query_id doc_id name
        0        q      B    a
        1        q      C    a
    """
    check_is_context(context)
    for name, number in (("n", n), ("depth", depth), ("rel", rel)):
        check_count(name, number, 1)
    if method not in METHODS:
        raise ValueError(f"method={method!r} must be one of {', '.join(map(repr, METHODS))}")
    pools = topic_pools(context, judged_labels(context, qrels, rel), depth)
    rows: list[dict[str, Any]] = []
    left = dict(pools)
    while left and len(rows) < n:
        for query, pool in list(left.items()):
            run = next_run(pool, method)
            if run is None:
                del left[query]
            elif len(rows) < n:
                rows.append(
                    {"query_id": query, "doc_id": pool.docs[pool.heads[run]], "name": context.names[run]}
                )
                pool.ask(run, None)
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "name"])


def judged_labels(context: RunContext, qrels: Qrels | None, rel: int) -> dict[str, dict[str, bool]]:
    """Whether each judged document of each topic is relevant; without qrels, no document of the runs' queries."""
    if qrels is None:
        return {query: {} for run in context.runs.values() for query in run.query_ids}
    judgments = view_of(context, qrels).judgments
    labels: dict[str, dict[str, bool]] = {query: {} for query in judgments.query_ids}
    for query, doc, grade in zip(
        judgments.query_ids[judgments.query], judgments.ids.strings(), judgments.grade.tolist(), strict=True
    ):
        labels[query][doc] = grade >= rel
    return labels


def topic_pools(
    context: RunContext, labels: Mapping[str, Mapping[str, bool]], depth: int
) -> dict[str, TopicPool]:
    """The rankings of each topic, read as deep as ``depth``."""
    rankings: dict[str, list[list[str]]] = {query: [[] for _ in context.names] for query in labels}
    for i, run in enumerate(context.runs.values()):
        for query, docs in run.to_dict(depth).items():
            if query in rankings:
                rankings[query][i] = list(docs)
    return {query: TopicPool(of_runs, labels[query]) for query, of_runs in rankings.items()}
