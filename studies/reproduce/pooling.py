"""Pools built by each method of ``pool_next`` on campaigns whose labels are known: what each finds and loses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from ir_measures import nDCG

from ir_measures_relative import NRG, RunContext
from ir_measures_relative.bounding.judge_next import METHODS, TopicPool, next_run

from .data import Campaign

#: How much of the full pool is judged.
BUDGETS = (0.05, 0.1, 0.2, 0.4)
#: How deep runs are read, and how deep a document is looked for in other runs before it is called unique.
DEPTH, TOP = 100, 10


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
