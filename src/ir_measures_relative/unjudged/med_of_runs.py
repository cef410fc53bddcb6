"""Two runs side by side: how far apart the judgments allow them to be, and the labeling that shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import object_array
from ..comparison import Comparison, JudgedContext, check_queries, judged_context
from ..context import RunContext
from ..io.qrels import Qrels
from ..io.runs import Run, read_run
from ..judgments import Judgments
from ..measures.med import MED
from ..measures.med_bases import BASES

if TYPE_CHECKING:
    import pandas as pd


def med(
    run: Run,
    reference: Run,
    qrels: Qrels | None = None,
    base: str = "nDCG",
    cutoff: int | None = 10,
    **params: Any,
) -> pd.DataFrame:
    """The maximized effectiveness difference of two runs, query by query, with the labeling that attains it.

    Args:
        run: one run, as anything that a context takes.
        reference: the other.
        qrels: the judgments, whose queries are scored. None leaves every document open and scores the queries
            of both runs; grades are then 0 and 1 unless ``max_grade`` is given.
        base: P, RBP, SDCG, nDCG, RR, SSP, AP, Q or ERR.
        cutoff: the depth of both rankings; None for the whole rankings.
        params: the other parameters of :data:`MED`: judged, rel, dcg, gains, max_grade, p, residual, norm,
            beta, time_limit.

    Returns:
        a DataFrame of one row a query: ``query_id``; ``value``; ``lower`` and ``upper``, between which the
        largest difference lies; ``exact``, whether these are equal; ``winner``, which of the two scores
        higher under the labeling that attains the value: 'run', 'reference', or '' where the value is 0 (one
        of the two where either can win by as much); and ``labeling``, from the open documents that are
        relevant there to their labels, every other open document being not relevant.

    Raises:
        ValueError: parameters that do not go together, or a run that has no query in common with the qrels.

    Example, Table 2 of Moffat's paper:

        >>> from ir_measures_relative import med
        >>> run = lambda ranking: {"q": {d: -float(i) for i, d in enumerate(ranking)}}
        >>> found = med(run("ABCDEFGHJK"), run("ADBECGFJLH"), {"q": {"A": 1, "E": 0}}).iloc[0]
        >>> round(float(found.value), 4), found.winner, found.labeling
        (0.2352, 'reference', {'D': 1, 'L': 1})
    """
    import pandas as pd

    if "ref" in params:
        raise ValueError("med() takes the reference run itself, as its second argument; leave ref= out")
    measure = MED(base=base, **params) if cutoff is None else MED(base=base, cutoff=cutoff, **params)
    measure.validate_params()
    rankings = read_run(run)
    context = RunContext({"reference": reference})
    against = context.runs["reference"]
    if qrels is None:
        query_ids = object_array(dict.fromkeys([*rankings.query_ids, *against.query_ids]))
        judged = JudgedContext(context, Judgments.none_of(query_ids))
    else:
        judged = judged_context(context, qrels)
        check_queries(judged, rankings)
        check_queries(judged, against)
    task = measure.task(Comparison(judged, rankings, None))
    solutions = BASES[base].solve(task)
    return pd.DataFrame(
        {
            "query_id": judged.judgments.query_ids,
            "value": solutions.value,
            "lower": solutions.lower,
            "upper": solutions.upper,
            "exact": solutions.exact,
            "winner": np.array(["", "run", "reference"], dtype=object)[solutions.winner],
            "labeling": task.labelings(solutions),
        }
    )
