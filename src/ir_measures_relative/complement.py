"""What a run adds, document by document; and which runs complement each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .comparison import Comparison, JudgedContext
from .judgments import Judgments, Qrels
from .measures.base import RelativeMeasure
from .measures.nrg import NRG

if TYPE_CHECKING:
    import ir_measures
    import pandas as pd

    from .context import RunContext


def explain(
    context: RunContext, name: str, qrels: Qrels, measure: ir_measures.Measure | str, query_id: str | None
) -> pd.DataFrame:
    """The documents behind a member's score; see :meth:`RunContext.explain`."""
    import pandas as pd

    if name not in context.runs:
        raise ValueError(f"explain({name!r}): the context holds no such run; its runs are {context.names}")
    parsed = _relative(measure)
    judged = context.judged(qrels)
    judgments = judged.judgments
    if query_id is not None and query_id not in judgments.query_ids:
        raise ValueError(f"query_id={query_id!r} is not in the qrels, which have {list(judgments.query_ids[:3])} …")
    _check_runs(judged)
    comparison = Comparison(judged, context.runs[name], name)
    docs, gain, contribution = parsed.contributions(comparison)
    cutoff, judged_only = parsed.get("cutoff"), parsed.get("judged_only")

    listed, position = _listed(comparison, cutoff, judged_only)
    row = docs.rows_of(listed.query, listed.doc_ids)
    judged_row = judgments.rows_of(listed.query, listed.doc_ids)
    known = judged_row >= 0
    columns: dict[str, Any] = {
        "query_id": judgments.query_ids[listed.query],
        "doc_id": listed.doc_ids,
        "grade": pd.array(np.where(known, judgments.grade[judged_row] if len(judgments) else 0, 0), dtype="Int64"),
        "position": position,
    }
    columns["grade"][~known] = pd.NA
    for prior in _priors(comparison, parsed):
        if judged_only:
            places = judgments.positions_among_judged(context.runs[prior], cutoff)[judged_row]
        else:
            places = listed.positions(context.runs[prior], cutoff)
        columns[f"position in {prior}"] = pd.array(places, dtype="Int64")
        columns[f"position in {prior}"][places == 0] = pd.NA
    columns["gain"] = np.where(row >= 0, gain[row] if len(gain) else 0.0, 0.0)
    columns["contribution"] = np.where(row >= 0, contribution[row] if len(gain) else 0.0, 0.0)
    table = pd.DataFrame(columns)
    if query_id is not None:
        table = table[table["query_id"] == query_id]
    return table.reset_index(drop=True)


def _listed(comparison: Comparison, cutoff: int | None, judged_only: bool) -> tuple[Judgments, Any]:
    """The top documents of the evaluated run as rows, in its order, and their positions."""
    judgments = comparison.judgments
    if judged_only:
        place = comparison.positions(judgments, cutoff, judged_only)
        found = np.flatnonzero(place > 0)
        order = found[np.lexsort((place[found], judgments.query[found]))]
        query, doc_ids, position = judgments.query[order], judgments.doc_ids[order], place[order]
    else:
        top = comparison.rankings.top(cutoff)
        index = judgments.queries_of(comparison.rankings)[top.query]
        rows = np.flatnonzero(index >= 0)
        rows = rows[np.argsort(index[rows], kind="stable")]
        query, doc_ids, position = index[rows], top.doc_ids[rows], top.position[rows]
    return Judgments(judgments.query_ids, query, doc_ids, np.zeros(len(query), dtype=np.int64)), position


def _priors(comparison: Comparison, measure: RelativeMeasure) -> list[str]:
    names = comparison.context.names
    if "prior" not in measure.SUPPORTED_PARAMS:  # rareness counts all systems
        return [n for n in names if n != comparison.member]
    return [names[i] for i in comparison.priors(measure.get("prior"))]


def _check_runs(judged: JudgedContext) -> None:
    """Raises ValueError for a run of the context that is for other queries than the judgments."""
    from .provider import check_queries

    for run in judged.context.runs.values():
        check_queries(judged, run, may_be_batch=False)


def _relative(measure: ir_measures.Measure | str) -> RelativeMeasure:
    from .context import parse_measures

    (parsed,) = parse_measures([measure])
    if not isinstance(parsed, RelativeMeasure):
        raise ValueError(f"{parsed!r} is not relative to other runs; give a measure of this package, such as NRG@10")
    return parsed


def select_complementary(
    context: RunContext, qrels: Qrels, n: int, measure: ir_measures.Measure | str = NRG @ 10
) -> pd.DataFrame:
    """Orders the runs of a context greedily: each next one adds most to those already chosen.

    Which runs to pool, which rankers to fuse. The first is the best without priors; every further one is the
    best with all chosen before as its priors. Equals go in the order of the context.

    Args:
        context: the runs; its own policy of priors does not count here.
        qrels: the judgments, as for :meth:`RunContext.evaluate`.
        n: how many runs to choose.
        measure: a measure with priors: NRG, UniqueRel or TaSC, without ``prior=``.

    Returns:
        a DataFrame with one row a chosen run, in their order: ``name``; ``marginal``, the mean over queries of
        the measure given those before; and ``cumulative``, the sum of the marginals so far. With UniqueRel@k
        that sum is the mean number of distinct relevant documents that the chosen runs have in their top k.

    Raises:
        ValueError: n out of range, or a measure without priors.

    Example:
        >>> from ir_measures_relative import RunContext, UniqueRel, select_complementary
        >>> runs = {"a": {"q": {"A": 2, "B": 1}}, "b": {"q": {"B": 2, "A": 1}}, "c": {"q": {"C": 2, "X": 1}}}
        >>> select_complementary(RunContext(runs), {"q": {"A": 1, "B": 1, "C": 1}}, 3, UniqueRel @ 2)
          name  marginal  cumulative
        0    a       2.0         2.0
        1    c       1.0         3.0
        2    b       0.0         3.0
    """
    import pandas as pd

    parsed = _relative(measure)
    if "prior" not in parsed.SUPPORTED_PARAMS or parsed.get("prior") is not None:
        raise ValueError(f"measure={parsed!r}: give a measure whose priors are free, such as NRG@10 or UniqueRel@10")
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= len(context.names):
        raise ValueError(f"n={n!r} is not allowed; it must be a whole number from 1 to {len(context.names)}, the runs")
    judged = context.judged(qrels)
    if not judged.judgments.n_queries:
        raise ValueError("the qrels hold no judgment, so there is no query to score")
    _check_runs(judged)
    chosen: list[str] = []
    marginal: list[float] = []
    for _ in range(n):
        means = {
            name: float(parsed.score(Comparison(judged, context.runs[name], name, chosen)).mean())
            for name in context.names
            if name not in chosen
        }
        best = max(means, key=means.__getitem__)
        chosen.append(best)
        marginal.append(means[best])
    return pd.DataFrame({"name": chosen, "marginal": marginal, "cumulative": np.cumsum(marginal)})
