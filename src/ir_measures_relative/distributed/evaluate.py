"""Campaigns larger than one machine: a part of one on any engine, and all of one on Dask.

Every measure is computed query by query, and a query's value does not depend, not in its last bit, on which others
it is computed with. So a campaign that is too large for one machine is split by query, and each part is scored as a
campaign of its own by :func:`evaluate_part`, a pure function from pandas frames to a pandas frame. :func:`evaluate`
maps it over Dask DataFrames (``pip install 'ir-measures-relative[dask]'``), and sees to it that all rows of a query, of
every run and of the judgments, meet in one partition; Spark's ``applyInPandas`` takes it as it is.

What a part alone cannot know must be told: which runs there are, since one may hold none of its queries; which
grades there are; and which runs are whose priors where that follows from means over all queries.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd

from ..context.evaluate import Scores, is_summed, score_runs
from ..context.measure_strings import parse_measures
from ..context.priors import NAMED, Policy
from ..context.run_context import RunContext
from ..context.tops import Tokens
from ..context.view import View
from ..data.arrays import FloatArray, object_array
from ..data.documents import NO_ASPECT, Judgments, Labels
from ..data.ids import Ids
from ..data.rankings import Rankings
from ..io.frames import column_names, columns_of, text_of
from ..io.qrels import Qrels, judge, qrels_columns
from ..io.runs import scores_of
from ..messages import kind_of, needs_extra

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
    tokens: Tokens | None = None,
    perquery: bool = False,
    compute: bool = True,
) -> Any:
    """``RunContext(runs, …).evaluate(qrels, measures)`` for runs that no machine can hold.

    A first pass over the columns ``name`` and ``query_id`` finds out which runs there are, and whether all rows of
    a query stand in one partition, as they do where the campaign was written query by query. If they do not, the
    rows are shuffled by query, which is the slow part then; :func:`by_query` writes run files so that they need not be.
    A partition must fit into the memory of a worker, with some 150 bytes a row.

    Nothing reaches the client but the result, and per query its id and where it is (per run and query one number
    with :class:`BestOfOtherGroups`). Where no Dask client is active, Dask's threads do the work on this machine.

    Args:
        runs: a Dask DataFrame of all runs: columns ``name`` (the run's), ``query_id``, ``doc_id``, ``score``, or
            PyTerrier's ``qid`` and ``docno``; the query may be the index.
        qrels: the judgments: a Dask DataFrame, or what :meth:`RunContext.evaluate` takes, which is cut up here
            and sent to the workers part by part.
        measures: measures of this package and of ir_measures, or measure strings.
        names: the runs in the order that they have for ``priors="earlier"``, for ties between groups, and in the
            result. Sorted by name if not given.
        priors, reference, groups, num_docs, tokens: as for :class:`RunContext`.
        perquery: one row a run, measure and query, instead of one row a run.
        compute: with ``perquery``, False leaves the result where it is, as a Dask DataFrame (for ``to_parquet``),
            in the order of the partitions.

    Returns:
        a DataFrame as of :meth:`RunContext.evaluate`. The values of the queries are the same to the last bit,
        provided that the context has its runs in the order of ``names``; a mean is one of the same numbers, added
        in the order of the partitions.

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
    if not perquery:
        if not compute:
            raise ValueError("compute=False goes with perquery=True: a mean needs all partitions")
        for measure in parsed:
            aggregator = measure.aggregator()
            if not isinstance(aggregator, ir_measures.MeanAgg | ir_measures.SumAgg):
                raise ValueError(f"{measure} is aggregated by {kind_of(aggregator)}; ask for perquery=True")
    policy = NAMED.get(priors) if isinstance(priors, str) else priors
    if names is None and getattr(policy, "needs_order", False):
        raise ValueError(f"priors={priors!r} needs the order of the runs: give names=[first, second, …]")

    campaign = _Campaign(_with_query_column(runs), qrels, names, groups or {})
    options: dict[str, Any] = {
        "reference": reference,
        "groups": groups,
        "num_docs": num_docs,
        "tokens": tokens,
    }
    # Refuses what no worker could use.
    context = RunContext({name: {} for name in campaign.names}, priors=priors, **options)
    # A part cannot ask for means over all queries; here it is known what the policy makes of them.
    options["priors"] = {name: list(context.policy.priors_of(campaign, name)) for name in campaign.names}

    scored = campaign.scored(parsed, options)
    if perquery and compute:
        return campaign.together(dask.compute(*scored), parsed).long_table()
    if perquery:
        import dask.dataframe as dd

        frames = [dask.delayed(Scores.long_table)(scores) for scores in scored]
        empty = Scores(
            campaign.names, parsed, object_array([]), np.empty((len(campaign.names), len(parsed), 0))
        )
        return dd.from_delayed(frames, meta=empty.long_table())
    totals = dask.delayed(np.sum)([dask.delayed(_total)(scores) for scores in scored], axis=0).compute()
    means: dict[str, Any] = {"name": campaign.names}
    for j, measure in enumerate(parsed):
        total, count = totals[:, :, j]
        with np.errstate(invalid="ignore"):  # NaN where no query has a value
            means[str(measure)] = total if is_summed(measure) else total / count
    return pd.DataFrame(means)


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
    tokens: Tokens | None = None,
) -> pd.DataFrame:
    """Scores every run of a campaign on every measure, for some of its queries.

    Args:
        runs: all rows of these queries, of all runs: columns ``name`` (the run's), ``query_id``, ``doc_id``,
            ``score``, or PyTerrier's ``qid`` and ``docno``. Rows of a query without judgments are not looked at.
        qrels: all judgments of these queries: ``query_id``, ``doc_id``, ``relevance``, or PyTerrier's names.
        measures: measures of this package and of ir_measures, or measure strings.
        names: the names of *all* runs of the campaign, in the order that a :class:`RunContext` would get them.
            One without a row here has empty rankings.
        grades: the lowest and the highest relevance in *all* the qrels; MED asks for it.
        priors: as for :class:`RunContext`, except a policy that follows from means over all queries, such as
            :class:`BestOfOtherGroups`: for that one give the dict that its ``choose`` makes of them.
        reference, groups, num_docs, tokens: as for :class:`RunContext`.

    Returns:
        the columns ``name``, ``query_id``, ``measure``, ``value``, one row a run, measure and judged query; the values
        are those of ``RunContext.evaluate(…, perquery=True)`` on the whole campaign, to the last bit.

    Raises:
        ValueError: as for :class:`RunContext` and its ``evaluate``, and a run that ``names`` lacks.

    Example:
        >>> import pandas as pd
        >>> from ir_measures_relative.distributed import evaluate_part
        >>> runs = pd.DataFrame(
        ...     [["old", "q1", "A", 2.0], ["old", "q1", "C", 1.0], ["new", "q1", "A", 2.0], ["new", "q1", "B", 1.0]],
        ...     columns=["name", "query_id", "doc_id", "score"],
        ... )
        >>> qrels = pd.DataFrame({"query_id": ["q1", "q1"], "doc_id": ["A", "B"], "relevance": [1, 1]})
        >>> evaluate_part(runs, qrels, ["UniqueRel@2"], names=["old", "new"], grades=(1, 1))
          name query_id      measure  value
        0  old       q1  UniqueRel@2    0.0
        1  new       q1  UniqueRel@2    1.0
    """
    settings: dict[str, Any] = {"names": names, "grades": grades, "priors": priors}
    settings |= {"reference": reference, "groups": groups, "num_docs": num_docs, "tokens": tokens}
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
        return Scores(
            list(names), list(measures), judgments.query_ids, np.empty((len(names), len(measures), 0))
        )
    return score_runs(view, names, measures, part=True)


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
        judged = _JudgedParts(qrels)
        self.query_ids, self.grades = judged.query_ids, judged.grades
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
        self.parts = list(zip(partitions, judged.parts(place, len(surveys)), strict=True))

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
    name_codes, names = pd.factorize(part.iloc[:, 0])
    query_codes, queries = pd.factorize(part.iloc[:, 1])
    for what, codes, values in (("name", name_codes, names), ("query id", query_codes, queries)):
        wrong = [v for v in values if not isinstance(v, str)] + [None] * bool((codes < 0).any())
        if wrong:
            raise ValueError(
                f"the runs: the {what} {wrong[0]!r} is of type {type(wrong[0]).__name__}; convert it with .astype(str)"
            )
    known = np.array([q in judged for q in queries], dtype=bool)
    rows = np.bincount(query_codes, minlength=len(queries))
    pairs = np.unique(name_codes.astype(np.int64) * max(len(queries), 1) + query_codes)
    run, query = np.divmod(pairs, max(len(queries), 1))
    holds_judged = np.bincount(run[known[query]], minlength=len(names)) > 0
    return _Survey(
        rows={q: int(n) for q, n, k in zip(queries, rows, known, strict=True) if k},
        names=list(names),
        judged={str(n) for n, holds in zip(names, holds_judged, strict=True) if holds},
        example={names[r]: queries[q] for r, q in zip(run, query, strict=True) if not holds_judged[r]},
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


class _JudgedParts:
    """Judgments in the memory of the client, or in a Dask DataFrame."""

    def __init__(self, qrels: Any) -> None:
        dask = _dask()
        self._remote = _is_dask(qrels)
        partitions = _with_query_column(qrels).to_delayed() if self._remote else [qrels]
        self._partitions = [self._do(_judgments_of)(part) for part in partitions]
        found = dask.compute(*(self._do(_survey_qrels)(part) for part in self._partitions), traverse=False)
        self._queries = [queries for queries, _, _ in found]
        self.query_ids: list[str] = list(dict.fromkeys(itertools.chain(*self._queries)))
        self.grades = min(low for _, low, _ in found), max(high for _, _, high in found)

    def _do(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return _dask().delayed(function) if self._remote else function

    def parts(self, place: Mapping[str, int], n: int) -> list[Any]:
        """The judgments of each of ``n`` partitions; those in Dask are still to be computed.

        Cut up and put together again in the order that they have, and not by Dask's shuffle, which changes it: a sum
        over the judged documents of a query adds them in this order.
        """
        pieces: list[list[Any]] = [[] for _ in range(n)]
        for partition, queries in zip(self._partitions, self._queries, strict=True):
            own = {query: place[query] for query in queries}
            cut = self._do(_cut)(partition, own)
            for i in sorted(set(own.values())):
                pieces[i].append(cut[i])
        return [self._do(_joined)(own) if own else _no_judgments() for own in pieces]


def _judgments_of(part: Qrels) -> pd.DataFrame:
    return _frame_of(judge(qrels_columns(part)))


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


def _joined(pieces: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Judgments one after another; some pieces may name aspects, and others none."""
    joined = pd.concat(pieces, ignore_index=True)
    return joined.fillna({"iteration": NO_ASPECT[0]}) if "iteration" in joined.columns else joined


def _no_judgments() -> pd.DataFrame:
    return _frame_of(Judgments.none_of(object_array([])))


def _survey_qrels(part: pd.DataFrame) -> tuple[list[str], int, int]:
    grade = part["relevance"].to_numpy()
    return list(dict.fromkeys(part["query_id"])), int(grade.min(initial=0)), int(grade.max(initial=0))


def _cut(qrels: pd.DataFrame, place: Mapping[str, int]) -> dict[int, pd.DataFrame]:
    return {int(i): rows for i, rows in qrels.groupby(qrels["query_id"].map(place))}


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
    """The partitions of a Dask DataFrame, cut to some columns.

    Dask's full optimization would merge the partitions of a Parquet dataset where few columns are read. So the graph is
    only simplified here, which is enough for Parquet to read these columns alone.
    """
    parts: list[Any] = frame[columns].simplify().to_delayed(optimize_graph=False)
    assert len(parts) == frame.npartitions
    return parts


def _total(scores: Scores) -> FloatArray:
    return np.stack([np.nansum(scores.values, axis=2), (~np.isnan(scores.values)).sum(axis=2)])


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
