"""Judgments as a table, where the runs of a context rank the judged documents, and parts of a context."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from ir_measures.util import QrelsConverter

from ir_measures_relative import RunContext

from .table import BoolArray, IntArray

_KEY = ["query_id", "doc_id"]
_PYTERRIER = {"qid": "query_id", "docno": "doc_id", "label": "relevance"}


@dataclass(frozen=True)
class Judged:
    """The judged documents, in the order of their topics.

    Attributes:
        rows: the judgments: ``query_id``, ``doc_id``, ``relevance``; several for a document that is judged by aspect.
        document: of each row, an index into the documents.
        query_ids: the topics.
        query: of each document, an index into the topics, ascending.
        grade: of each document; its highest, where it has several.
    """

    rows: pd.DataFrame
    document: IntArray
    query_ids: list[str]
    query: IntArray
    grade: IntArray

    @classmethod
    def read(cls, qrels: Any) -> Judged:
        """Take judgments as ir_measures and PyTerrier do, or the path of a qrels file."""
        if qrels is None:
            raise ValueError("qrels is None; give the judgments")
        if isinstance(qrels, str | PathLike):
            qrels = ir_measures.read_trec_qrels(str(qrels))
        if isinstance(qrels, pd.DataFrame):
            qrels = qrels.rename(columns=_PYTERRIER)
        rows = QrelsConverter(qrels).as_pd_dataframe()
        query, query_ids = pd.factorize(rows["query_id"])
        rows = rows.iloc[np.argsort(query, kind="stable")].reset_index(drop=True)
        document = pd.factorize(pd.MultiIndex.from_frame(rows[_KEY]))[0]
        grade = rows["relevance"].groupby(document).max().to_numpy(dtype=np.int64)
        first = np.unique(document, return_index=True)[1]
        return cls(rows, document, list(query_ids), np.sort(query)[first], grade)

    @property
    def grades(self) -> tuple[int, int]:
        """The lowest grade, at most 0, and the highest, at least 1."""
        return int(self.grade.min(initial=0)), int(self.grade.max(initial=1))

    def kept(self, keep: BoolArray) -> pd.DataFrame:
        """Return the judgments of some documents; a topic that would have none keeps its first, as not relevant."""
        counts = np.bincount(self.query[keep], minlength=len(self.query_ids))
        first = np.searchsorted(self.query, np.flatnonzero(counts == 0))
        kept = keep.copy()
        kept[first] = True
        lowered = np.isin(self.document, first)
        grade = self.rows["relevance"].to_numpy()
        rows = self.rows.assign(relevance=np.where(lowered, np.minimum(grade, 0), grade))
        return rows[kept[self.document]]

    def positions(self, context: RunContext, depth: int | None = None, judged_only: bool = False) -> IntArray:
        """Return where each run ranks each document: runs × documents, 0 where it is not in the first ``depth``.

        Args:
            judged_only: take the documents without a judgment of 0 or more out of the rankings first.
        """
        documents = self.rows[_KEY].iloc[np.unique(self.document, return_index=True)[1]]
        found = []
        for run in context.runs.values():
            top = run.top(None if judged_only else depth)
            columns = {"query_id": np.asarray(run.query_ids, dtype=object)[top.query], "doc_id": top.doc_ids}
            ranked = pd.DataFrame(columns | {"position": top.position})
            if judged_only:
                ranked = ranked.merge(documents[self.grade >= 0], on=_KEY)
                ranked["position"] = ranked.groupby("query_id").cumcount() + 1
                ranked = ranked if depth is None else ranked[ranked["position"] <= depth]
            position = documents.merge(ranked, how="left", on=_KEY)["position"]
            found.append(position.fillna(0).to_numpy(dtype=np.int64))
        return np.array(found, dtype=np.int64).reshape(len(found), len(documents))


def part_of(
    context: RunContext, names: Sequence[str] | None = None, grades: tuple[int, int] | None = None
) -> RunContext:
    """Return a context of some of the runs, as though the others had never taken part; of all without ``names``.

    Args:
        grades: the lowest and the highest grade, where the context says none.
    """
    left = context.names if names is None else list(names)
    return RunContext(
        {name: context.runs[name] for name in left},
        priors=_priors_among(context.priors, left),
        reference=context.reference if context.reference in left else None,
        groups={name: group for name, group in context.groups.items() if name in left},
        num_docs=context.num_docs,
        grades=context.grades or grades,
    )


def _priors_among(priors: Any, names: Collection[str]) -> Any:
    if isinstance(priors, Mapping):
        return {name: _priors_among(priors[name], names) for name in names if name in priors}
    if isinstance(priors, Sequence) and not isinstance(priors, str):
        return [name for name in priors if name in names]
    return priors


def groups_of(context: RunContext, groups: Mapping[str, str] | None) -> list[str]:
    """Return the group of each run, the context's if none are given; a run without one is a group of its name."""
    names = context.names
    if groups is not None and not isinstance(groups, Mapping):
        raise ValueError(f"groups={groups!r} must be a dict from run name to group name")
    group_of = dict(context.groups if groups is None else groups)
    unknown = [name for name in group_of if name not in names]
    if unknown:
        raise ValueError(f"groups names {unknown}, which the context does not hold; its runs are {names}")
    taken = set(group_of.values())
    return [group_of.get(name, f"{name} alone" if name in taken else name) for name in names]


def contributions(
    context: RunContext, judged: Judged, own: Sequence[str], pool_depth: int
) -> dict[str, BoolArray]:
    """Return which documents each group alone retrieves in its first ``pool_depth``."""
    retrieved = judged.positions(context, pool_depth) > 0
    by_group = {group: retrieved[[g == group for g in own]].any(axis=0) for group in dict.fromkeys(own)}
    count = np.sum(list(by_group.values()), axis=0)
    return {group: held & (count == 1) for group, held in by_group.items()}


def check_is_context(context: object) -> None:
    """Raises TypeError for anything but a RunContext."""
    if not isinstance(context, RunContext):
        raise TypeError(f"the context is a {type(context).__name__}; give a RunContext")


def check_two_runs(context: RunContext, to: str) -> None:
    """Raises ValueError for a context with fewer than two runs to compare, or to rank."""
    check_is_context(context)
    count = len(context.names)
    if count < 2:
        raise ValueError(f"the context holds {count} run{'s' * (count != 1)}; give two or more to {to}")
