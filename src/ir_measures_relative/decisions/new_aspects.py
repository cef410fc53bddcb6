"""What each run adds to the context window of a language model: aspects (nuggets) that are new, and what they cost."""

from __future__ import annotations

import ir_measures
import numpy as np
import pandas as pd

from ..context.evaluate import check_runs
from ..context.run_context import RunContext
from ..context.tops import Top
from ..context.view import View, check_is_context, view_of
from ..data.arrays import BoolArray, ratio
from ..further_measures.alpha_nrg import NewAspects, OfAspects
from ..io.qrels import Qrels
from .explain import relative_measure


def new_aspects(
    context: RunContext, qrels: Qrels | None, measure: ir_measures.Measure | str = NewAspects @ 10
) -> pd.DataFrame:
    """How many aspects each run adds to what its priors show, and how many tokens they cost.

    Args:
        context: the runs. Its ``tokens`` say how long the documents are.
        qrels: the judgments, which name aspects, as for :meth:`RunContext.evaluate`.
        measure: NewAspects, with a cutoff or a budget.

    Returns:
        a DataFrame with one row a run, those that add most for their tokens first, and the columns

        - ``name``
        - the measure: the mean number of new aspects a query
        - ``shown``: the mean number of aspects that the run shows, new or not
        - ``new documents``: the mean number of documents in its top that no prior has in its top
        - ``new tokens``: their mean length in all: what the window grows by
        - ``per 1,000 tokens``: new aspects, over all queries, for each 1,000 of these tokens; 0 for a run without

        The last two are there only where the context has ``tokens``.

    Raises:
        ValueError: another measure, qrels that name no aspect, or a document without a length.

    Example:
        >>> from ir_measures import Qrel
        >>> from ir_measures_relative import RunContext
        >>> from ir_measures_relative.decisions import new_aspects
        >>> rows = [("A", "causes"), ("B", "causes"), ("B", "remedy"), ("C", "remedy")]
        >>> qrels = [Qrel("q", doc, 1, aspect) for doc, aspect in rows]
        >>> runs = {"old": {"q": {"A": 2.0, "X": 1.0}}, "new": {"q": {"A": 2.0, "B": 1.0}}}
        >>> context = RunContext(runs, tokens={"A": 90, "B": 120, "C": 80, "X": 50})
        >>> new_aspects(context, qrels, "NewAspects@2").drop(columns="new documents")
          name  NewAspects@2  shown  new tokens  per 1,000 tokens
        0  new           1.0    2.0       120.0          8.333333
        1  old           0.0    1.0        50.0          0.000000
    """
    check_is_context(context)
    parsed = relative_measure(measure)
    if not isinstance(parsed, type(NewAspects)):
        raise ValueError(f"measure={parsed!r} does not count aspects; give NewAspects@10")
    view = view_of(context, qrels)
    check_runs(view)
    rows = [(name, *_means(view, parsed, name)) for name in view.names]
    table = pd.DataFrame(rows, columns=["name", str(parsed), "shown", "new documents", "new tokens"])
    tokens = table["new tokens"].to_numpy(dtype=np.float64)
    table["per 1,000 tokens"] = ratio(1000.0 * table[str(parsed)].to_numpy(dtype=np.float64), tokens)
    by = "per 1,000 tokens"
    if context.lengths is None:
        table, by = table.drop(columns=["new tokens", by]), str(parsed)
    return table.sort_values([by, str(parsed)], ascending=False, kind="stable").reset_index(drop=True)


def _means(view: View, measure: OfAspects, name: str) -> tuple[float, float, float, float]:
    """Of one run, over the queries: new aspects, aspects, new documents, and new tokens."""
    evaluated, alone = view.of(name), view.of(name, priors=())
    without_priors = type(measure)(**{k: v for k, v in measure.params.items() if k != "prior"})
    new_ones, shown = (
        float(m.score(one).mean()) for m, one in ((measure, evaluated), (without_priors, alone))
    )
    top, new = new_documents(evaluated.at(measure.depth), measure.get("prior"))
    lengths, n = view.members.lengths, view.n_queries
    tokens = 0 if lengths is None else int(lengths.of(top.docs.doc_ids[new].tolist()).sum())
    return new_ones, shown, int(new.sum()) / n, tokens / n


def new_documents(view: View, prior: str | None = None) -> tuple[Top, BoolArray]:
    """The documents at the top of the evaluated run, judged or not, and which of them stand in no prior's top.

    ``prior`` is the measure's parameter.
    """
    top = view.top()
    new = np.ones(len(top.position), dtype=bool)
    for i in view.priors(prior):
        row = view.rows_in_top(view.members.rankings[i])
        new[row[row >= 0]] = False
    return top, new
