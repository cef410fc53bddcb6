"""The values behind Figures 2-5 of the NRG paper, by the paper and as its released code has them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from ir_measures import nDCG

from ir_measures_relative import NRG, P_Rareness, RunContext, TaSC, UniqueRel
from ir_measures_relative.context.priors import BestOfOtherGroups

from .data import Campaign

#: Released with ``-doc_gain_version 2``: grades 2 and 3 gain 1, and nothing else does.
RELEASED_GAINS = NRG(gains={1: 0, 2: 1, 3: 1})
#: What the released figure leaves out; the paper does not say so.
LEFT_OUT = "ICTNET"
TRADITIONAL = "BASELINE"
#: In 2021 the baselines are of all kinds. NIST's descriptions of the runs call these BM25, Model 1 or DPH.
TRADITIONAL_2021 = (
    "bl_bcai_p_trad",
    "p_bm25",
    "p_bm25rm3",
    "paug_bm25",
    "paug_bm25rm3",
    "uogTrBasePD",
    "uogTrBasePDQ",
)
MEASURES = {
    "nDCG@10": nDCG @ 10,
    "NRG@10": NRG @ 10,
    "UniqueRel@10": UniqueRel(rel=1) @ 10,
    "UniqueRel(rel=2)@10": UniqueRel(rel=2) @ 10,
    "P_Rareness@10": P_Rareness @ 10,
    "TaSC": TaSC(base="nDCG@10"),
}


def printed() -> pd.DataFrame:
    """Figure 2's points as read off the released picture, by run: ndcg10, nrg, marker."""
    return pd.read_csv(Path(__file__).parent / "nrg_figure2.csv", index_col="run")


@dataclass(frozen=True)
class Values:
    """Values a run and query.

    Attributes:
        names: of the runs.
        by: from a measure's name to its values, runs × queries.
    """

    names: list[str]
    by: dict[str, np.ndarray]

    def means(self) -> pd.DataFrame:
        """A row a run, a column a measure."""
        return pd.DataFrame({m: v.mean(axis=1) for m, v in self.by.items()}, index=self.names)

    def rows(self, names: list[str]) -> list[int]:
        """Where these runs are."""
        return [self.names.index(name) for name in names]


def points_read() -> Values:
    """Figure 2's points as values of one query."""
    read = printed()
    return Values(
        list(read.index), {m: read[[c]].to_numpy() for m, c in (("nDCG@10", "ndcg10"), ("NRG", "nrg"))}
    )


@dataclass(frozen=True)
class Figures:
    """What Figures 2-5 show of a campaign."""

    campaign: Campaign

    @property
    def groups(self) -> dict[str, str]:
        """The group of each run; where that is not known each run is one of its own."""
        return self.campaign.groups or {name: name for name in self.campaign.context.names}

    @property
    def is_printed(self) -> bool:
        """Whether these are the runs of the paper's figure."""
        return set(printed().index) <= set(self.campaign.context.names)

    def where(self, part: str) -> str:
        """A figure or section of the paper, with the campaign."""
        return f"{part}, {self.campaign.name}"

    def picture(self, number: int) -> str:
        """The name of the file of a figure."""
        return f"nrg-figure-{number}-{self.campaign.file_name}.png"

    @property
    def traditional(self) -> list[str]:
        """The runs that are known to be traditional."""
        names = self.campaign.context.names
        if set(TRADITIONAL_2021) <= set(names):
            return list(TRADITIONAL_2021)
        return [name for name in names if self.groups[name] == TRADITIONAL]

    @property
    def drawn(self) -> list[str]:
        """The runs that the released figure was computed with, where these are its runs; else all."""
        names = self.campaign.context.names
        return [n for n in names if self.groups[n] != LEFT_OUT] if self.is_printed else list(names)

    @cached_property
    def paper(self) -> Values:
        """By the paper: all runs, NRG@10 of the graded gain, the best run of every other group for the priors."""
        context = RunContext(self.campaign.context.runs, priors=BestOfOtherGroups(), groups=self.groups)
        return self._values(context, MEASURES)

    @cached_property
    def released(self) -> Values:
        """As released: the files' own order, whole rankings, gain 1 from grade 2 on, and the runs that were drawn."""
        names = self.drawn
        priors = BestOfOtherGroups.choose({n: self._ndcg[n] for n in names}, self.groups)
        context = RunContext(self.campaign.in_file_order(names), priors=priors)
        values = self._values(context, {"NRG": RELEASED_GAINS, "UniqueRel@10": UniqueRel(rel=1) @ 10})
        own = self._best_of_own_group()
        tasc = RunContext({n: self.campaign.context.runs[n] for n in names}, priors=own)
        values.by.update(self._values(tasc, {"nDCG@10": nDCG @ 10, "TaSC": MEASURES["TaSC"]}).by)
        values.by["P_Rareness@10"] = self._rareness_across_topics(names)
        return values

    @cached_property
    def in_order_of_scores(self) -> Values:
        """As released, but for the order, which is trec_eval's."""
        names = self.drawn
        runs = {n: self.campaign.context.runs[n] for n in names}
        groups = {n: self.groups[n] for n in names}
        return self._values(
            RunContext(runs, priors=BestOfOtherGroups(), groups=groups), {"NRG": RELEASED_GAINS}
        )

    @cached_property
    def _ndcg(self) -> dict[str, float]:
        return dict(self.paper.means()["nDCG@10"])

    def _best_of_own_group(self) -> dict[str, list[str]]:
        """The competitors of the released TaSC: the best run of the run's own group, unless it is that itself."""
        best: dict[str, str] = {}
        for name in self.drawn:
            group = self.groups[name]
            if group not in best or self._ndcg[name] > self._ndcg[best[group]]:
                best[group] = name
        return {n: [best[self.groups[n]]] if best[self.groups[n]] != n else [] for n in self.drawn}

    def _rareness_across_topics(self, names: list[str], k: int = 10) -> np.ndarray:
        """P_Rareness@k as the NRG paper's code has it: S_d counts a document once for each topic that finds it.

        So R = 1 - S_d/S is below that of the topic alone for a document that is retrieved for several, and may be
        negative. The ranking is by the rank column. Values runs × queries.
        """
        rows = self.campaign.rows[self.campaign.rows["name"].isin(names)]
        top = rows.sort_values("rank", kind="stable").groupby(["name", "query_id"], sort=False).head(k)
        rareness = 1 - top.groupby("doc_id").size() / len(names)
        relevant = self.campaign.qrels.query("relevance >= 1")[["query_id", "doc_id"]]
        found = top.merge(relevant, on=["query_id", "doc_id"])
        found = found.assign(value=(1 + found["doc_id"].map(rareness)) / k)
        table = found.pivot_table(index="name", columns="query_id", values="value", aggfunc="sum")
        return table.reindex(index=names, columns=self.campaign.queries).fillna(0.0).to_numpy()

    def _values(self, context: RunContext, measures: dict[str, object]) -> Values:
        table = context.evaluate(self.campaign.qrels, list(measures.values()), perquery=True)
        table = table.assign(measure=table["measure"].astype(str))
        by = {}
        for name, measure in measures.items():
            of_measure = table[table["measure"] == str(measure)]
            wide = of_measure.pivot(index="name", columns="query_id", values="value")
            by[name] = wide.reindex(index=context.names, columns=self.campaign.queries).to_numpy(dtype=float)
        return Values(list(context.names), by)
