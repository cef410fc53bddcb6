"""Runs that are too large for one machine: :func:`evaluate` on Dask, and :func:`evaluate_part` for any engine.

The value of a query does not depend, even in its last bit, on the other queries. So the rows are split by query, and
each part is scored on its own, with what it cannot know: the names of all runs, the range of the grades, and the priors
that follow from means over all queries.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import ir_measures
import numpy as np
import pandas as pd

from .context.collection import new_collection
from .context.evaluate import Scores, score_runs
from .context.measure_strings import parse_measures
from .context.priors import POLICIES, Policy
from .context.run_context import RunContext
from .data.arrays import object_array
from .data.documents import Judgments, Labels
from .io.frames import column_names, find_columns
from .io.qrels import Qrels, QrelsColumns, make_judgments, qrels_columns
from .messages import kind_of, needs_extra

__all__ = ["evaluate", "evaluate_part"]


def evaluate(
    runs: Any,
    qrels: Qrels,
    measures: Sequence[ir_measures.Measure | str],
    *,
    names: Sequence[str] | None = None,
    priors: Policy = "others",
    reference: str | None = None,
    groups: Mapping[str, str] | None = None,
    num_docs: int | None = None,
    drop_self: bool = False,
    perquery: bool = False,
) -> pd.DataFrame:
    """Evaluate runs that no machine can hold, like ``RunContext(runs, …).evaluate(qrels, measures)``.

    If all rows of a query are in one partition, each partition is scored as it is. Else Dask first shuffles the rows by
    query, which takes longer. A worker needs some 150 bytes for a row of its partition. Without a Dask client, Dask's
    threads do the work.

    Args:
        runs: a Dask DataFrame of all runs: ``name``, ``query_id``, ``doc_id``, ``score``, or PyTerrier's ``qid`` and
            ``docno``; the query may be the index.
        qrels: what :meth:`RunContext.evaluate` takes, or a Dask DataFrame, which must fit into the memory of the
            client and of each worker.
        measures: measures or measure strings.
        names: the order of the runs; sorted by name if not given.
        priors: as for :class:`RunContext`.
        reference: as for :class:`RunContext`.
        groups: as for :class:`RunContext`.
        num_docs: the number of documents in the collection.
        drop_self: as for :class:`RunContext`.
        perquery: one row a run, measure and query, instead of one row a run.

    Returns:
        what :meth:`RunContext.evaluate` returns, to the last bit.

    Raises:
        ImportError: Dask is not installed.
        TypeError: runs that are not a Dask DataFrame.
        ValueError: as for :class:`RunContext` and its ``evaluate``.
    """
    if not _is_dask(runs):
        raise TypeError(
            f"runs is {kind_of(runs)}; give a Dask DataFrame, such as dask.dataframe.read_parquet(path)"
        )
    parsed = parse_measures(measures)
    policy = POLICIES.get(priors) if isinstance(priors, str) else priors
    if names is None and getattr(policy, "needs_order", False):
        raise ValueError(f"priors={priors!r} needs the order of the runs: give names=[first, second, …]")

    parts = _Parts(runs, qrels, names, groups or {}, drop_self)
    options: dict[str, Any] = {"reference": reference, "groups": groups, "num_docs": num_docs}
    # Rejects arguments that no worker could use.
    context = RunContext({name: {} for name in parts.names}, priors=priors, drop_self=drop_self, **options)
    # A part does not know means over all queries, so the policy chooses here.
    options["priors"] = {name: list(context.policy.priors_of(parts, name)) for name in parts.names}

    scores = parts.scores(parsed, options)
    return scores.long_table() if perquery else scores.table()


def evaluate_part(
    runs: pd.DataFrame,
    qrels: pd.DataFrame,
    measures: Sequence[ir_measures.Measure | str],
    *,
    names: Sequence[str],
    grades: tuple[int, int],
    priors: Policy = "others",
    reference: str | None = None,
    groups: Mapping[str, str] | None = None,
    num_docs: int | None = None,
    drop_self: bool = False,
) -> pd.DataFrame:
    """Score all runs on all measures, for some of the queries.

    Args:
        runs: all rows of these queries, of all runs: ``name``, ``query_id``, ``doc_id``, ``score``, or PyTerrier's.
        qrels: all judgments of these queries: ``query_id``, ``doc_id``, ``relevance``, or PyTerrier's names.
        measures: measures or measure strings.
        names: the names of *all* runs, in the order of a :class:`RunContext`.
        grades: the lowest and the highest relevance in *all* the qrels.
        priors: as for :class:`RunContext`; instead of :class:`BestOfOtherGroups` the dict that its ``choose`` makes.
        reference: as for :class:`RunContext`.
        groups: as for :class:`RunContext`.
        num_docs: the number of documents in the collection.
        drop_self: as for :class:`RunContext`.

    Returns:
        ``name``, ``query_id``, ``measure``, ``value``, one row a run, measure and judged query.

    Raises:
        ValueError: as for :class:`RunContext` and its ``evaluate``, and a run that ``names`` lacks.
    """
    settings: dict[str, Any] = {"names": names, "grades": grades, "priors": priors}
    settings |= {"reference": reference, "groups": groups, "num_docs": num_docs, "drop_self": drop_self}
    return score_part(runs, qrels, parse_measures(measures), settings).long_table()


def score_part(
    runs: pd.DataFrame,
    qrels: pd.DataFrame | QrelsColumns,
    measures: Sequence[ir_measures.Measure],
    settings: Mapping[str, Any],
) -> Scores:
    """Return the scores of :func:`evaluate_part`; ``settings`` are its keyword arguments."""
    judgments = make_judgments(qrels_columns(qrels))
    options = dict(settings)
    names = options.pop("names")
    context = RunContext(_split(runs, names, set(judgments.query_ids)), **options)
    collection = new_collection(context, judgments, whole=False)
    if not judgments.n_queries:
        nothing = np.empty((len(names), len(measures), 0))
        return Scores(list(names), list(measures), object_array([]), nothing)
    return score_runs(collection, names, measures, part=True)


def _split(runs: pd.DataFrame, names: Sequence[str], judged: set[str]) -> dict[str, Any]:
    """Return the rows of each run for the judged queries."""
    wanted = ("name", "query_id", "doc_id", "score")
    columns = find_columns(runs, wanted, "the runs")
    rows = pd.DataFrame(dict(zip(wanted, columns, strict=True)))[columns[1].isin(judged).to_numpy()]
    present = ["missing" if pd.isna(name) else name for name in rows["name"].unique()]
    unknown = [str(name) for name in present if name not in set(names)]
    if unknown:
        raise ValueError(f"the runs: the DataFrame holds run {unknown[0]!r}, which names={list(names)} lacks")
    by_name = dict(list(rows.groupby("name", sort=False, observed=True)[list(wanted[1:])]))
    return {name: by_name.get(name, {}) for name in names}


class _Parts:
    """The partitions, each with all rows of its queries, and the names of the runs."""

    def __init__(
        self,
        runs: Any,
        qrels: Qrels,
        names: Sequence[str] | None,
        groups: Mapping[str, str],
        drop_self: bool,
    ) -> None:
        dask = _dask()
        self.groups, self.drop_self = groups, drop_self
        self._means: dict[ir_measures.Measure, dict[str, float]] = {}
        if _is_dask(qrels):
            qrels = _with_query_column(qrels).compute()
        judgments = make_judgments(qrels_columns(qrels))
        self.query_ids: list[str] = judgments.query_ids.tolist()
        self.grades = int(judgments.grade.min(initial=0)), int(judgments.grade.max(initial=0))
        if not self.query_ids:
            raise ValueError("the qrels hold no judgment, so there is no query to score")
        runs = _with_query_column(runs)
        columns = [
            names[0] for names in column_names(runs, ("name", "query_id", "doc_id", "score"), "the runs")
        ]
        judged = dask.delayed(frozenset(self.query_ids))
        surveys = dask.compute(
            *(dask.delayed(_survey)(part, judged) for part in _partitions(runs, columns[:2]))
        )
        self.names = _check_runs(pd.concat([examples for _, examples in surveys]), names, self.query_ids)
        places = Counter(query for queries, _ in surveys for query in queries)
        if max(places.values(), default=0) > 1:
            rows = runs[columns]
            parts = rows[rows[columns[1]].isin(self.query_ids)].shuffle(columns[1]).to_delayed()
        else:
            parts = _partitions(runs, columns)
        no_run = [query for query in self.query_ids if query not in places]
        labels, query_ids = dask.delayed(_as_frame(judgments)), dask.delayed(self.query_ids)
        # Each partition and its judgments, still to be computed; the first has the queries of no run.
        self.parts = [
            (part, dask.delayed(_judgments_for)(labels, query_ids, part[columns[1]], [] if i else no_run))
            for i, part in enumerate(parts)
        ]

    def scores(self, measures: list[ir_measures.Measure], options: Mapping[str, Any]) -> Scores:
        """Compute the values of all parts, with the queries in the order of the qrels."""
        dask = _dask()
        common = {"names": self.names, "grades": self.grades, "drop_self": self.drop_self}
        settings = dask.delayed(common | dict(options))  # sent to each worker once
        parts = dask.compute(*(dask.delayed(score_part)(*part, measures, settings) for part in self.parts))
        index = {query: i for i, query in enumerate(self.query_ids)}
        places = [[index[query] for query in part.query_ids] for part in parts]
        assert sorted(itertools.chain(*places)) == list(index.values())  # each query once
        values = np.empty((len(self.names), len(measures), len(index)))
        for part, place in zip(parts, places, strict=True):
            values[:, :, place] = part.values
        return Scores(self.names, measures, object_array(self.query_ids), values)

    def means(self, measure: ir_measures.Measure) -> dict[str, float]:
        """Return the mean of an absolute measure over the queries, for each run."""
        if measure not in self._means:
            values = self.scores([measure], {}).values[:, 0].mean(axis=1)
            self._means[measure] = dict(zip(self.names, values.tolist(), strict=True))
        return self._means[measure]


def _survey(part: pd.DataFrame, judged: frozenset[str]) -> tuple[set[str], pd.DataFrame]:
    """Return the judged queries of a partition, and one query of each run, a judged one if possible."""
    for noun, column in zip(("name", "query id"), part.columns, strict=True):
        if wrong := [value for value in part[column].unique().tolist() if not isinstance(value, str)]:
            kind = type(wrong[0]).__name__
            raise ValueError(
                f"the runs: the {noun} {wrong[0]!r} is of type {kind}; convert it with .astype(str)"
            )
    pairs = part.drop_duplicates().set_axis(["name", "query_id"], axis=1).astype(object)
    pairs["judged"] = pairs["query_id"].isin(judged)
    return set(pairs["query_id"][pairs["judged"]]), _examples(pairs)


def _examples(pairs: pd.DataFrame) -> pd.DataFrame:
    """Keep one query of each run, a judged one if there is one."""
    return pairs.sort_values("judged", ascending=False, kind="stable").drop_duplicates("name")


def _check_runs(examples: pd.DataFrame, names: Sequence[str] | None, query_ids: Sequence[str]) -> list[str]:
    """Return the names of the runs in their order; ValueError for an unknown run, or one without a judged query."""
    present = sorted(set(examples["name"]))
    unknown = [] if names is None else [name for name in present if name not in set(names)]
    if unknown:
        raise ValueError(f"the runs: the DataFrame holds {unknown}, which names={list(names or ())} lacks")
    for name, query, is_judged in _examples(examples).itertuples(index=False):
        if not is_judged:
            raise ValueError(
                f"run {name!r} has no query in common with the qrels: the run has {query!r}, the qrels have "
                f"{list(query_ids[:3])}; is one of them numbered differently, or for other topics?"
            )
    return present if names is None else list(dict.fromkeys(names))


def _as_frame(judgments: Judgments) -> pd.DataFrame:
    labels = judgments.labels
    rows: Judgments | Labels = judgments if labels is None else labels
    columns: dict[str, Any] = {
        "query_id": pd.Series(judgments.query_ids[rows.query], dtype=object),
        "doc_id": pd.Series(rows.ids.strings(), dtype=object),
        "relevance": rows.grade,
    }
    if labels is not None:
        columns["iteration"] = pd.Series(labels.aspect_ids().strings(), dtype=object)
    return pd.DataFrame(columns)


def _judgments_for(
    labels: pd.DataFrame, query_ids: Sequence[str], queries: Any, also: Sequence[str]
) -> QrelsColumns:
    """Return the judgments of some queries, of which some may have none."""
    here = {*queries.unique(), *also}
    columns = qrels_columns(labels[labels["query_id"].isin(here)])
    return columns._replace(queries=object_array(query for query in query_ids if query in here))


def _partitions(frame: Any, columns: list[str]) -> list[Any]:
    """Return the partitions of a Dask DataFrame, cut to some columns."""
    # Only simplified: Dask would merge the partitions of a Parquet dataset of which it reads few columns.
    parts: list[Any] = frame[columns].simplify().to_delayed(optimize_graph=False)
    assert len(parts) == frame.npartitions
    return parts


def _with_query_column(frame: Any) -> Any:
    return frame.reset_index() if frame.index.name in ("query_id", "qid") else frame


def _is_dask(frame: Any) -> bool:
    return hasattr(frame, "npartitions") and hasattr(frame, "to_delayed")


def _dask() -> Any:
    try:
        import dask
        import dask.dataframe
    except ImportError as error:
        raise needs_extra(f"a campaign on Dask ({error})", "dask") from error
    return dask
