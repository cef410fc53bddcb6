"""One part of a campaign: every run, on some of the queries. What an engine maps over the parts.

Every measure is computed query by query, and a query's value does not depend, not in its last bit, on which others
it is computed with. So a campaign that is too large for one machine is split by query, and each part is scored as a
campaign of its own by :func:`evaluate_partition`, a pure function from pandas frames to a pandas frame.
:mod:`ir_measures_relative.dask` maps it over Dask DataFrames; Spark's ``applyInPandas`` takes it as it is.

What a part alone cannot know must be told: which runs there are, since one may hold none of its queries; which
grades there are; and which runs are whose priors where that follows from means over all queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import ir_measures
import numpy as np

from .comparison import Comparison, JudgedContext
from .context import RunContext, parse_measures
from .judgments import FloatArray, judge, qrels_columns
from .priors import BestOfOtherGroups, Policy
from .provider import is_relative
from .rankings import ObjectArray, Rankings, object_array, scores_of

if TYPE_CHECKING:
    import pandas as pd

# Our name for a column of a frame that holds many runs, then PyTerrier's.
_COLUMNS = {"name": "name", "query_id": "qid", "doc_id": "docno", "score": "score"}


def evaluate_partition(
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
    """Scores every run of a campaign on every measure, for some of its queries.

    Args:
        runs: all rows of these queries, of all runs: columns ``name`` (the run's), ``query_id``, ``doc_id``,
            ``score``, or PyTerrier's ``qid`` and ``docno``. Rows of a query without judgments are not looked at.
        qrels: all judgments of these queries: ``query_id``, ``doc_id``, ``relevance``, or PyTerrier's names.
        measures: measures of this package and of ir_measures, or measure strings.
        names: the names of *all* runs of the campaign, in the order that a :class:`RunContext` would get them.
            One without a row here has empty rankings.
        grades: the lowest and the highest relevance in *all* the qrels; MED asks for it.
        priors: as for :class:`RunContext`, except :class:`BestOfOtherGroups`, for which give the dict that its
            ``choose`` makes of the means over all queries.
        reference: as for :class:`RunContext`.
        groups: as for :class:`RunContext`.
        num_docs: as for :class:`RunContext`.

    Returns:
        the columns ``name``, ``qid``, ``measure``, ``value``, one row a run, measure and judged query; the values
        are those of ``RunContext.evaluate(…, perquery=True)`` on the whole campaign, to the last bit.

    Raises:
        ValueError: as for :class:`RunContext` and its ``evaluate``, and a run that ``names`` lacks.

    Example:
        >>> import pandas as pd
        >>> from ir_measures_relative.partition import evaluate_partition
        >>> runs = pd.DataFrame(
        ...     [["old", "q1", "A", 2.0], ["old", "q1", "C", 1.0], ["new", "q1", "A", 2.0], ["new", "q1", "B", 1.0]],
        ...     columns=["name", "query_id", "doc_id", "score"],
        ... )
        >>> qrels = pd.DataFrame({"query_id": ["q1", "q1"], "doc_id": ["A", "B"], "relevance": [1, 1]})
        >>> evaluate_partition(runs, qrels, ["UniqueRel@2"], names=["old", "new"], grades=(1, 1))
          name qid      measure  value
        0  old  q1  UniqueRel@2    0.0
        1  new  q1  UniqueRel@2    1.0
    """
    if isinstance(priors, BestOfOtherGroups):
        raise ValueError(
            "priors=BestOfOtherGroups() follows from means over all queries, which no part of them knows; give "
            "the dict that BestOfOtherGroups.choose(means, groups) makes"
        )
    options = {"priors": priors, "reference": reference, "groups": groups, "num_docs": num_docs}
    parsed = parse_measures(measures)
    return long_frame(
        score_partition(runs, qrels, parsed, names=names, grades=grades, **options), names, parsed
    )


class Scores(NamedTuple):
    """The scores of every run, on every measure, for some queries."""

    query_ids: ObjectArray
    values: FloatArray  #: shape (runs, measures, queries)


def score_partition(
    runs: pd.DataFrame,
    qrels: pd.DataFrame,
    measures: Sequence[ir_measures.Measure],
    *,
    names: Sequence[str],
    grades: tuple[int, int],
    **options: Any,
) -> Scores:
    """:func:`evaluate_partition`, as an array."""
    judgments = judge(*qrels_columns(qrels), grades=grades)
    context = RunContext(_split(runs, names, set(judgments.query_ids)), **options)
    values = np.empty((len(names), len(measures), judgments.n_queries))
    if judgments.n_queries:
        judged = JudgedContext(context, judgments)
        for i, (name, rankings) in enumerate(context.runs.items()):
            comparison = Comparison(judged, rankings, name)
            for j, measure in enumerate(measures):
                values[i, j] = (
                    measure.score(comparison) if is_relative(measure) else judged.per_query(measure, rankings)
                )
    return Scores(judgments.query_ids, values)


def long_frame(scores: Scores, names: Sequence[str], measures: Sequence[ir_measures.Measure]) -> pd.DataFrame:
    """Scores as rows, in the order and the columns of ``RunContext.evaluate(…, perquery=True)``."""
    import pandas as pd

    n_names, n_measures, n_queries = scores.values.shape
    labels = object_array(map(str, measures))
    return pd.DataFrame(
        {
            "name": pd.Series(np.repeat(object_array(names), n_measures * n_queries), dtype=str),
            "qid": pd.Series(np.tile(scores.query_ids, n_names * n_measures), dtype=str),
            "measure": pd.Series(np.tile(np.repeat(labels, n_queries), n_names), dtype=str),
            "value": scores.values.reshape(-1),
        }
    )


def campaign_columns(frame: Any) -> list[str]:
    """What a frame of many runs, of pandas or Dask, calls the run, the query, the document and the score.

    Raises:
        ValueError: a column that is not there.
    """
    found = []
    for ours, theirs in _COLUMNS.items():
        named = [c for c in (ours, theirs) if c in frame.columns]
        if not named:
            other = f" (or {theirs!r})" if theirs != ours else ""
            raise ValueError(
                f"the runs: the DataFrame has no column {ours!r}{other}; its columns are "
                f"{[str(c) for c in frame.columns]}, and a frame of runs needs name, query_id, doc_id and score"
            )
        found.append(named[0])
    return found


def _split(runs: pd.DataFrame, names: Sequence[str], judged: set[str]) -> dict[str, Rankings]:
    """The rankings of every run for the judged queries."""
    import pandas as pd

    name_column, query_column, doc_column, score_column = campaign_columns(runs)
    runs = runs[runs[query_column].isin(judged)]
    codes, found = pd.factorize(runs[name_column])
    index = {name: i for i, name in enumerate(names)}
    unknown = [str(n) for n in found if n not in index] + ["missing"] * bool((codes < 0).any())
    if unknown:
        raise ValueError(f"the runs: the DataFrame holds run {unknown[0]!r}, which names={list(names)} lacks")
    run = np.array([index[n] for n in found], dtype=np.int64)[codes]
    order = np.argsort(run, kind="stable")
    bounds = np.searchsorted(run[order], np.arange(len(names) + 1))
    # One string a query, not one a row, is less memory, and equal by identity.
    query_codes, query_ids = pd.factorize(runs[query_column])
    queries = object_array(query_ids)[query_codes][order]
    docs = runs[doc_column].to_numpy(dtype=object)[order]
    score = runs[score_column].take(order)
    rankings = {}
    for name, start, stop in zip(names, bounds[:-1], bounds[1:], strict=True):
        label, rows = f"run {name!r}", slice(start, stop)
        scores = scores_of(score.iloc[rows], queries[rows], docs[rows], label)
        rankings[name] = Rankings(queries[rows], docs[rows], scores, name=label)
    return rankings
