"""The mean of each run by each measure, with its interval over topics."""

from __future__ import annotations

from collections.abc import Sequence

import ir_measures
import numpy as np
import pandas as pd

from ..context.evaluate import is_summed
from ..context.measure_strings import parse_measures
from ..context.run_context import RunContext
from ..io.qrels import Qrels
from ..stats.intervals import means_and_margins


def mean_intervals(
    context: RunContext,
    qrels: Qrels | None,
    measures: Sequence[ir_measures.Measure | str],
    confidence: float = 0.95,
) -> pd.DataFrame:
    """The mean of each run by each measure, with its interval over topics.

    A mean of UniqueRel or NRG can only be 0 or more, and one topic on which it is more refutes that it is 0. So do not
    test it against 0: look at ``ci_lower``. By UniqueRel and NRG(base='P') a duplicate of a prior run has 0; by other
    measures it has more.

    Args:
        context: the runs.
        qrels: the judgments, as for :meth:`RunContext.evaluate`.
        measures: measures of this package and of ir_measures, or their strings.
        confidence: of each interval on its own.

    Returns:
        a DataFrame with one row a run and measure: ``name``, ``measure``, ``mean``, ``ci_lower``, ``ci_upper``. The
        ends are NaN where there are fewer than two topics. The interval is Student's, on the scale of the logarithm of
        the mean for values that cannot be negative.

    Raises:
        ValueError: a measure that ir_measures sums, such as NumRet; what :meth:`RunContext.evaluate` raises.

    Example:
        >>> from ir_measures_relative import RunContext
        >>> from ir_measures_relative.decisions import mean_intervals
        >>> qrels = {f"q{i}": {"A": 1, "B": 1} for i in range(8)}
        >>> old, new = ({q: {d: 1.0} for q, d in zip(qrels, docs)} for docs in ("AAAAAAAA", "BBBBBBBA"))
        >>> context = RunContext({"old": old, "new": new}, priors=["old"])
        >>> mean_intervals(context, qrels, ["UniqueRel@1"])[1:].round(3)
          name      measure   mean  ci_lower  ci_upper
        1  new  UniqueRel@1  0.875     0.624       1.0
    """
    parsed = parse_measures(measures)
    check_means(parsed)
    return intervals_of_means(context.evaluate(qrels, parsed, perquery=True), parsed, confidence)


def check_means(measures: Sequence[ir_measures.Measure]) -> None:
    """Raises ValueError for a measure without a mean."""
    summed = [str(m) for m in measures if is_summed(m)]
    if summed:
        raise ValueError(f"{summed[0]} is a sum over topics, and no mean that has an interval; leave it out")


def intervals_of_means(
    table: pd.DataFrame, measures: Sequence[ir_measures.Measure], confidence: float = 0.95
) -> pd.DataFrame:
    """As :func:`mean_intervals`, from the long table of the values by topic."""
    means, margins = means_and_margins(table, *measures, confidence=confidence)
    names = list(map(str, measures))
    mean = means[names].to_numpy().reshape(-1)
    below, above = (np.transpose([margins[name][side] for name in names]).reshape(-1) for side in (0, 1))
    return pd.DataFrame(
        {
            "name": means["name"].repeat(len(names)).tolist(),
            "measure": names * len(means),
            "mean": mean,
            "ci_lower": mean - below,
            "ci_upper": mean + above,
        }
    )
