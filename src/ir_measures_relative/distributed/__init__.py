"""Runs larger than one machine: :func:`evaluate` on Dask, and :func:`evaluate_part` for any engine.

The value of a query does not depend, not in its last bit, on the queries it is computed with. So the rows are split by
query, and each part is scored on its own. What a part does not know is passed to it: the names of all runs, the range
of the grades, and priors that follow from means over all queries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd

from ..context.evaluate import Scores, score_runs
from ..context.measure_strings import parse_measures
from ..context.priors import NAMED, Policy
from ..context.run_context import RunContext
from ..context.view import View
from ..data.arrays import object_array
from ..data.documents import Judgments, Labels
from ..data.ids import Ids
from ..data.rankings import Rankings
from ..io.frames import column_names, columns_of, text_of
from ..io.qrels import Qrels, judge, qrels_columns
from ..io.runs import scores_of
from ..messages import kind_of, needs_extra

__all__ = ["evaluate", "evaluate_part"]

# The column that says which partition a row goes to.
_PART = "__partition"


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
    perquery: bool = False,
    compute: bool = True,
) -> Any:
    """``RunContext(runs, …).evaluate(qrels, measures)`` for runs that no machine can hold.

    If all rows of a query are in one partition, each partition is scored as it is. Else the rows are first shuffled by
    query, which takes longer. A worker needs some 150 bytes for a row of its partition. Without a Dask client, Dask's
    threads do the work.

    Args:
        runs: a Dask DataFrame of all runs: ``name``, ``query_id``, ``doc_id``, ``score``, or PyTerrier's ``qid`` and
            ``docno``; the query may be the index.
        qrels: what :meth:`RunContext.evaluate` takes, or a Dask DataFrame, which must fit into the client's memory.
        names: the order of the runs; sorted by name if not given.
        perquery: one row a run, measure and query, instead of one row a run.
        compute: with ``perquery``, False leaves the result on the workers, as a Dask DataFrame.

    Returns:
        what :meth:`RunContext.evaluate` returns, to the last bit.

    Raises:
        ImportError: Dask is not installed.
        TypeError: runs that are not a Dask DataFrame.
        ValueError: as for :class:`RunContext` and its ``evaluate``.
    """
    dask = _dask()
    if not _is_dask(runs):
        raise TypeError(
            f"runs is {kind_of(runs)}; give a Dask DataFrame, such as dask.dataframe.read_parquet(path)"
        )
    parsed = parse_measures(measures)
    if not (perquery or compute):
        raise ValueError("compute=False goes with perquery=True: a mean needs all partitions")
    policy = NAMED.get(priors) if isinstance(priors, str) else priors
    if names is None and getattr(policy, "needs_order", False):
        raise ValueError(f"priors={priors!r} needs the order of the runs: give names=[first, second, …]")

    campaign = _Campaign(_with_query_column(runs), qrels, names, groups or {})
    options: dict[str, Any] = {
        "reference": reference,
        "groups": groups,
        "num_docs": num_docs,
    }
    # Refuses what no worker could use.
    context = RunContext({name: {} for name in campaign.names}, priors=priors, **options)
    # A part cannot ask for means over all queries; here it is known what the policy makes of them.
    options["priors"] = {name: list(context.policy.priors_of(campaign, name)) for name in campaign.names}

    scored = campaign.scored(parsed, options)
    if compute:
        scores = campaign.together(dask.compute(*scored), parsed)
        return scores.long_table() if perquery else scores.table()
    import dask.dataframe as dd

    frames = [dask.delayed(Scores.long_table)(scores) for scores in scored]
    return dd.from_delayed(frames, meta=_no_scores(campaign.names, parsed).long_table())


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
) -> pd.DataFrame:
    """Scores of all runs on all measures, for some of the queries.

    Args:
        runs: all rows of these queries, of all runs: ``name``, ``query_id``, ``doc_id``, ``score``, or PyTerrier's.
        qrels: all judgments of these queries: ``query_id``, ``doc_id``, ``relevance``, or PyTerrier's names.
        names: the names of *all* runs, in the order of a :class:`RunContext`.
        grades: the lowest and the highest relevance in *all* the qrels.
        priors: as for :class:`RunContext`; instead of :class:`BestOfOtherGroups` the dict that its ``choose`` makes.

    Returns:
        ``name``, ``query_id``, ``measure``, ``value``, one row a run, measure and judged query.

    Raises:
        ValueError: as for :class:`RunContext` and its ``evaluate``, and a run that ``names`` lacks.
    """
    settings: dict[str, Any] = {"names": names, "grades": grades, "priors": priors}
    settings |= {"reference": reference, "groups": groups, "num_docs": num_docs}
    return score_part(runs, qrels, parse_measures(measures), settings).long_table()


def score_part(
    runs: pd.DataFrame,
    qrels: pd.DataFrame,
    measures: Sequence[ir_measures.Measure],
    settings: Mapping[str, Any],
) -> Scores:
    """:func:`evaluate_part`, as an array; ``settings`` are its keyword arguments."""
    judgments = judge(qrels_columns(qrels))
    options = dict(settings)
    names = options.pop("names")
    context = RunContext(_split(runs, names, set(judgments.query_ids)), **options)
    view = View.on(context, judgments, whole=False)
    if not judgments.n_queries:
        return _no_scores(names, measures)
    return score_runs(view, names, measures, part=True)


def _no_scores(names: Sequence[str], measures: Sequence[ir_measures.Measure]) -> Scores:
    values = np.empty((len(names), len(measures), 0))
    return Scores(list(names), list(measures), object_array([]), values)


def _split(runs: pd.DataFrame, names: Sequence[str], judged: set[str]) -> dict[str, Rankings]:
    name_of, query_of, doc_of, score_of = columns_of(
        runs, ("name", "query_id", "doc_id", "score"), "the runs"
    )
    keep = query_of.isin(judged).to_numpy()
    name_of, query_of, doc_of, score_of = (column[keep] for column in (name_of, query_of, doc_of, score_of))
    codes, found = pd.factorize(name_of)
    index = {name: i for i, name in enumerate(names)}
    unknown = [str(n) for n in found if n not in index] + ["missing"] * bool((codes < 0).any())
    if unknown:
        raise ValueError(f"the runs: the DataFrame holds run {unknown[0]!r}, which names={list(names)} lacks")
    run = np.array([index[n] for n in found], dtype=np.int64)[codes]
    order = np.argsort(run, kind="stable")
    bounds = np.searchsorted(run[order], np.arange(len(names) + 1))
    queries, docs = text_of(query_of), text_of(doc_of)
    rankings = {}
    for name, start, stop in zip(names, bounds[:-1], bounds[1:], strict=True):
        label, rows = f"run {name!r}", order[start:stop]
        own_queries, own_docs = (c.take(rows) if isinstance(c, Ids) else c[rows] for c in (queries, docs))
        scores = scores_of(score_of.iloc[rows], own_queries, own_docs, label)
        rankings[name] = Rankings(own_queries, own_docs, scores, name=label)
    return rankings


class _Campaign:
    """Where the rows of each judged query are, and which runs there are."""

    def __init__(
        self, runs: Any, qrels: Qrels, names: Sequence[str] | None, groups: Mapping[str, str]
    ) -> None:
        dask = _dask()
        self.groups = groups
        self._means: dict[ir_measures.Measure, dict[str, float]] = {}
        if _is_dask(qrels):
            qrels = _with_query_column(qrels).compute()
        judgments = judge(qrels_columns(qrels))
        self.query_ids: list[str] = judgments.query_ids.tolist()
        self.grades = int(judgments.grade.min(initial=0)), int(judgments.grade.max(initial=0))
        if not self.query_ids:
            raise ValueError("the qrels hold no judgment, so there is no query to score")
        columns = [
            found[0] for found in column_names(runs, ("name", "query_id", "doc_id", "score"), "the runs")
        ]
        known = dask.delayed(frozenset(self.query_ids))
        surveys = dask.compute(
            *(dask.delayed(_survey)(part, known) for part in _partitions(runs, columns[:2])), traverse=False
        )
        self.names = _check_names(names, surveys)
        _check_common(surveys, self.query_ids)
        place = {query: i for i, survey in enumerate(surveys) for query in survey.rows}
        if len(place) == sum(len(survey.rows) for survey in surveys):
            partitions = _partitions(runs, columns)
        else:  # a query stands in several
            place = _balanced(surveys)
            partitions = _shuffled(runs, columns, place, len(surveys))
        for i, query in enumerate(q for q in self.query_ids if q not in place):  # held by no run
            place[query] = i % len(surveys)
        #: For each partition its runs and its judgments, both still to be computed.
        frame = _frame_of(judgments)
        cut = dict(list(frame.groupby(frame["query_id"].map(place))))
        self.parts = [(rows, cut.get(i, frame.iloc[:0])) for i, rows in enumerate(partitions)]

    def scored(self, measures: Sequence[ir_measures.Measure], options: Mapping[str, Any]) -> list[Any]:
        """The :class:`Scores` of each part, still to be computed."""
        dask = _dask()
        # Sent to a worker once.
        settings = dask.delayed({"names": self.names, "grades": self.grades, **options})
        return [dask.delayed(score_part)(runs, qrels, measures, settings) for runs, qrels in self.parts]

    def means(self, measure: ir_measures.Measure) -> dict[str, float]:
        """The mean of an absolute measure over the queries, as a context computes it."""
        if measure not in self._means:
            scores = self.together(_dask().compute(*self.scored([measure], {})), [measure])
            values = scores.values[:, 0].mean(axis=1)
            self._means[measure] = dict(zip(self.names, values.tolist(), strict=True))
        return self._means[measure]

    def together(self, parts: Sequence[Scores], measures: list[ir_measures.Measure]) -> Scores:
        """The scores of all parts, with the queries in the order of the qrels."""
        index = {query: i for i, query in enumerate(self.query_ids)}
        values = np.empty((len(self.names), len(measures), len(index)))
        for part in parts:
            values[:, :, [index[q] for q in part.query_ids]] = part.values
        return Scores(self.names, measures, object_array(self.query_ids), values)


class _Survey(NamedTuple):
    rows: dict[str, int]  #: how many rows each judged query has
    names: list[str]
    judged: set[str]  #: the runs with a judged query
    example: dict[str, str]  #: a query of each other run


def _survey(part: pd.DataFrame, judged: frozenset[str]) -> _Survey:
    """Looks through the columns name and query_id."""
    for what, column in zip(("name", "query id"), part.columns, strict=True):
        wrong = [v for v in part[column].unique().tolist() if not isinstance(v, str)]
        if wrong:
            found = f"{wrong[0]!r} is of type {type(wrong[0]).__name__}"
            raise ValueError(f"the runs: the {what} {found}; convert it with .astype(str)")
    count = part.groupby(list(part.columns), sort=False, observed=True).size()
    names, queries = (count.index.get_level_values(i) for i in (0, 1))
    known = queries.isin(judged)
    with_judged = set(names[known])
    return _Survey(
        rows={q: int(n) for q, n in count[known].groupby(level=1, sort=False, observed=True).sum().items()},
        names=list(names.unique()),
        judged=with_judged,
        example={name: q for name, q in count.index if name not in with_judged},
    )


def _check_names(names: Sequence[str] | None, surveys: Sequence[_Survey]) -> list[str]:
    found = {name for survey in surveys for name in survey.names}
    if names is None:
        return sorted(found)
    unknown = sorted(found.difference(names))
    if unknown:
        raise ValueError(f"the runs: the DataFrame holds {unknown}, which names={list(names)} lacks")
    return list(dict.fromkeys(names))


def _check_common(surveys: Sequence[_Survey], query_ids: Sequence[str]) -> None:
    judged = {name for survey in surveys for name in survey.judged}
    for survey in surveys:
        for name, query in survey.example.items():
            if name not in judged:
                raise ValueError(
                    f"run {name!r} has no query in common with the qrels: the run has {query!r}, the qrels have "
                    f"{list(query_ids[:3])}; is one of them numbered differently, or for other topics?"
                )


def _balanced(surveys: Sequence[_Survey]) -> dict[str, int]:
    """A partition for every judged query, so that each gets about as many rows."""
    rows: Counter[str] = Counter()
    for survey in surveys:
        rows.update(survey.rows)
    ends = np.cumsum(list(rows.values()))
    part = (ends - 1) * len(surveys) // ends[-1]
    return dict(zip(rows, part.tolist(), strict=True))


def _frame_of(judgments: Judgments) -> pd.DataFrame:
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


def _shuffled(frame: Any, columns: list[str], place: Mapping[str, int], n: int) -> list[Any]:
    """The rows of the queries that have a place, each in the partition of that number."""
    placed = frame[columns].map_partitions(_assign_part, columns[1], place)
    parts: list[Any] = placed.set_index(_PART, divisions=list(range(n + 1)))[columns].to_delayed()
    assert len(parts) == n
    return parts


def _assign_part(part: pd.DataFrame, query: str, place: Mapping[str, int]) -> pd.DataFrame:
    part = part[part[query].isin(place)]
    return part.assign(**{_PART: part[query].map(place).astype(np.int64)})


def _partitions(frame: Any, columns: list[str]) -> list[Any]:
    """The partitions of a Dask DataFrame, cut to some columns."""
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
