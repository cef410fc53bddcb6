"""One part of a campaign: every run, on some of the queries. What an engine maps over the parts.

Every measure is computed query by query, and a query's value does not depend, not in its last bit, on which others
it is computed with. So a campaign that is too large for one machine is split by query, and each part is scored as a
campaign of its own by :func:`evaluate_part`, a pure function from pandas frames to a pandas frame.
:func:`ir_measures_relative.campaigns.evaluate` maps it over Dask DataFrames; Spark's ``applyInPandas`` takes it as it
is.

What a part alone cannot know must be told: which runs there are, since one may hold none of its queries; which
grades there are; and which runs are whose priors where that follows from means over all queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ir_measures
import numpy as np
import pandas as pd

from ..comparison import JudgedContext
from ..context import RunContext
from ..ids import Ids
from ..io.frames import columns_of, text_of
from ..io.qrels import judge, qrels_columns
from ..io.runs import scores_of
from ..measures.strings import parse_measures
from ..priors import Policy
from ..rankings import Rankings
from ..scoring import Scores, score_runs


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
        reference, groups, num_docs: as for :class:`RunContext`.

    Returns:
        the columns ``name``, ``query_id``, ``measure``, ``value``, one row a run, measure and judged query; the values
        are those of ``RunContext.evaluate(…, perquery=True)`` on the whole campaign, to the last bit.

    Raises:
        ValueError: as for :class:`RunContext` and its ``evaluate``, and a run that ``names`` lacks.

    Example:
        >>> import pandas as pd
        >>> from ir_measures_relative.campaigns import evaluate_part
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
    judged = JudgedContext(context, judgments, whole=False)
    if not judgments.n_queries:
        return Scores(
            list(names), list(measures), judgments.query_ids, np.empty((len(names), len(measures), 0))
        )
    return score_runs(judged, names, measures, part=True)


def _split(runs: pd.DataFrame, names: Sequence[str], judged: set[str]) -> dict[str, Rankings]:
    """The rankings of every run for the judged queries."""
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
