"""Pools built by four methods on campaigns whose labels are known: what each finds and loses.

Sources: Cormack, Palmer and Clarke, SIGIR 1998 (move-to-front); Losada, Parapar and Barreiro, IPM 2017 (bandit);
``"unique"`` is for a question of App. B of Bigdeli et al., SIGIR-AP 2024.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from ir_measures import nDCG

from ir_measures_relative import NRG, RunContext
from ir_measures_relative.data.arrays import BoolArray, FloatArray, IntArray
from ir_measures_relative.measures.bases.gains import discount
from ir_measures_relative.tolerances import ROUNDED

from .data import Campaign

#: How much of the full pool is judged.
BUDGETS = (0.05, 0.1, 0.2, 0.4)
#: How deep runs are read, and how deep a document is looked for in other runs before it is called unique.
DEPTH, TOP = 100, 10


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


@dataclass(frozen=True)
class Pools:
    """The judged documents of a campaign's runs, which are the full pool; the runs are read without the others."""

    campaign: Campaign
    rel: int

    def of_topics(self, names: Collection[str]) -> dict[str, tuple[list[list[str]], dict[str, int]]]:
        """The rankings of these runs, and the labels, by topic."""
        labels: dict[str, dict[str, int]] = {}
        for query, doc, label in self.campaign.qrels[["query_id", "doc_id", "relevance"]].itertuples(
            index=False
        ):
            labels.setdefault(query, {})[doc] = label
        found = {}
        tops = [self.campaign.context.runs[name].to_dict(DEPTH) for name in names]
        for query, of_docs in labels.items():
            found[query] = [[d for d in top.get(query, {}) if d in of_docs] for top in tops], of_docs
        return found

    def judged(self, names: Collection[str], method: str, share: float) -> pd.DataFrame:
        """The qrels when this share of each topic's pool of these runs was judged by a method."""
        rows = []
        for query, (rankings, labels) in self.of_topics(names).items():
            pool = TopicPool(rankings, {})
            for _ in range(round(share * len(pool.docs))):
                run = next_run(pool, method)
                assert run is not None
                doc = pool.docs[pool.heads[run]]
                pool.ask(run, labels[doc] >= self.rel)
                rows.append((query, doc, labels[doc]))
        return pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])

    def unique(self) -> set[tuple[str, str]]:
        """The relevant documents that the top of one group alone holds; of one run, where no groups are known."""
        names = self.campaign.context.names
        groups = self.campaign.groups or {name: name for name in names}
        holders: Counter[tuple[str, str]] = Counter()
        for query, (rankings, labels) in self.of_topics(names).items():
            of_group: dict[str, set[str]] = {}
            for name, ranking in zip(names, rankings, strict=True):
                of_group.setdefault(groups[name], set()).update(ranking[:TOP])
            holders.update((query, d) for docs in of_group.values() for d in docs if labels[d] >= self.rel)
        return {key for key, count in holders.items() if count == 1}


def table(campaign: Campaign, rel: int, budgets: Iterable[float] = BUDGETS) -> pd.DataFrame:
    """A row a method and budget: shares of the relevant and the unique ones found, τ to the full pool."""
    pools, names = Pools(campaign, rel), campaign.context.names
    context = RunContext({n: campaign.context.runs[n] for n in names})
    measures = [nDCG @ 10, NRG(norm="ideal") @ 10]
    full = pools.judged(names, "depth", 1.0)
    relevant = set(
        full.loc[full["relevance"] >= rel, ["query_id", "doc_id"]].itertuples(index=False, name=None)
    )
    unique = pools.unique()
    of_full = context.evaluate(full, measures)
    rows = []
    for share in budgets:
        for method in METHODS:
            judged = pools.judged(names, method, share)
            found = set(judged[["query_id", "doc_id"]].itertuples(index=False, name=None))
            values = context.evaluate(judged, measures)
            row = {"judged": share, "method": method}
            for what, of in (("relevant", relevant), ("unique", unique)):
                row[what] = len(found & of) / len(of) if of else np.nan
            for measure in measures:
                row[f"τ of {measure}"] = _tau(of_full[str(measure)], values[str(measure)])
            rows.append(row)
    return pd.DataFrame(rows)


def left_out(campaign: Campaign, rel: int, share: float = 0.1) -> pd.DataFrame:
    """What a group's runs lose of nDCG@10 when the pool is built without them: the mean over groups, and the worst."""
    pools, names = Pools(campaign, rel), campaign.context.names
    groups = campaign.groups or {name: name for name in names}
    context = RunContext({n: campaign.context.runs[n] for n in names})
    rows = []
    for method in METHODS:
        whole = context.evaluate(pools.judged(names, method, share), [nDCG @ 10]).set_index("name")["nDCG@10"]
        lost = []
        for group in dict.fromkeys(groups[n] for n in names):
            others = [n for n in names if groups[n] != group]
            without = context.evaluate(pools.judged(others, method, share), [nDCG @ 10]).set_index("name")[
                "nDCG@10"
            ]
            own = [n for n in names if groups[n] == group]
            # against the other runs, whose values change as well
            change = (without - whole)[own].mean() - (without - whole)[others].mean()
            lost.append(-change)
        error = np.std(lost, ddof=1) / np.sqrt(len(lost))
        rows.append({"method": method, "lost": np.mean(lost), "± (1 s.e.)": error, "most": max(lost)})
    return pd.DataFrame(rows)


def _tau(x: pd.Series, y: pd.Series) -> float:
    from scipy.stats import kendalltau

    return float(kendalltau(x, y).statistic)
