"""Rank correlations of measures: do they order the runs alike?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import FloatArray
from ..options import check_choice
from .table import Scores, frame, read_table

if TYPE_CHECKING:
    import pandas as pd


def correlation(table: Any, kind: str = "tau") -> pd.DataFrame:
    r"""How alike two measures order the runs, by their means over topics.

    With n runs, C concordant and D discordant pairs:

    - ``"tau"``: Kendall's τ_b, :math:`(C - D) / \sqrt{(C + D + T_x)(C + D + T_y)}`, T the pairs tied by one measure
      alone; by scipy. Symmetric.
    - ``"tau_ap"``: :math:`\frac{2}{n-1} \sum_{i=2}^{n} \frac{C(i)}{i-1} - 1`, C(i) how many of the runs above rank i by
      ``measure`` stand above that run by ``other`` as well (Yilmaz, Aslam and Robertson, SIGIR 2008). A swap at the top
      weighs more. Not symmetric: ``other`` is the truth. With ties it is the mean over all ways to break them.
    - ``"weighted"``: Vigna's weighted τ (WWW 2015), a pair weighing 1/(1 + r) + 1/(1 + s) at ranks r and s from 0; by
      scipy. Symmetric.

    Invariant under: positive factors and added constants, of any measure on its own.

    Args:
        table: ``name``, ``query_id`` (or ``qid``), ``measure``, ``value``: what ``evaluate(…, perquery=True)`` returns.
        kind: ``"tau"``, ``"tau_ap"`` or ``"weighted"``.

    Returns:
        a DataFrame with a row for each two measures, both ways: ``measure``, ``other`` and ``correlation``, from -1 to
        1; NaN by τ and weighted τ where a measure ties all runs.

    Raises:
        ValueError: a table that is not complete, fewer than two runs, another kind.

    Example:
        >>> import pandas as pd
        >>> from ir_measures_relative import meta
        >>> values = {"P@10": [0.3, 0.2, 0.1], "RR": [0.2, 0.5, 0.1]}
        >>> rows = [(n, "q", m, v) for m, vs in values.items() for n, v in zip("abc", vs)]
        >>> table = pd.DataFrame(rows, columns=["name", "query_id", "measure", "value"])
        >>> meta.correlation(table).round(3)
          measure other  correlation
        0    P@10    RR        0.333
        1      RR  P@10        0.333
    """
    check_choice("kind", kind, tuple(KINDS))
    scores = read_table(table)
    for of_measure in scores:
        of_measure.runs()
    means = [standing(s) for s in scores]
    return frame(
        [
            {"measure": a.measure, "other": b.measure, "correlation": KINDS[kind](means[i], means[j])}
            for i, a in enumerate(scores)
            for j, b in enumerate(scores)
            if i != j
        ],
        ["measure", "other", "correlation"],
    )


def standing(scores: Scores) -> FloatArray:
    """The means over topics in units of the measure's spread; what rounding alone keeps apart is tied.

    Of a measure of pairs, the means over topics and opponents.
    """
    if scores.values is not None:
        means = scores.values.mean(axis=1)
    else:
        square = np.zeros((len(scores.names), len(scores.names)))
        square[scores.first, scores.second] = scores.differences.mean(axis=1)
        means = (square - square.T).sum(axis=1) / max(len(square) - 1, 1)
    result: FloatArray = np.round((means - means.min()) / (scores.spread or 1.0), 9)
    return result


def tau_ap(x: FloatArray, y: FloatArray) -> float:
    """τ_AP of the ranking by ``x`` with that by ``y`` for the truth, the mean over all ways to break ties."""
    above = x[:, None] > x[None, :]
    agrees = (1 + np.sign(y[:, None] - y[None, :])) / 2
    better = above.sum(axis=0)
    right = (above * agrees).sum(axis=0)
    total = 0.0
    for rank in np.unique(better):  # of the best of those tied, from 0
        tied = better == rank
        # Of the j tied runs that chance puts above, half are above by the truth as well, on the mean.
        for j in range(max(0, 1 - rank), int(tied.sum())):
            total += (right[tied].mean() + j / 2) / (rank + j)
    return float(2 * total / (len(x) - 1) - 1)


def _tau(x: FloatArray, y: FloatArray) -> float:
    from scipy.stats import kendalltau

    return float(kendalltau(x, y).statistic)


def _weighted(x: FloatArray, y: FloatArray) -> float:
    from scipy.stats import weightedtau

    if not np.ptp(x) or not np.ptp(y):
        return np.nan
    return float(weightedtau(x, y).statistic)


#: Of two rankings by their values, the second being the truth.
KINDS = {"tau": _tau, "tau_ap": tau_ap, "weighted": _weighted}
