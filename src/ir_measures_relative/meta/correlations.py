"""Do measures order the runs alike? Rank correlations, and other ways to compare values of the same runs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from scipy.stats import kendalltau, weightedtau

from ..arguments import check_choice
from ..context.evaluate import score_runs
from ..context.view import View
from ..data.arrays import FloatArray
from ..decisions.compare import is_of_pairs
from ..decisions.similarity import score_pairs
from ..stats.pairs_and_ties import Pairs
from ..work import Work
from .table import ScoreTable, of_runs, read_table


def correlation(table: Any, statistic: str = "tau") -> pd.DataFrame:
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
        statistic: ``"tau"``, ``"tau_ap"`` or ``"weighted"``.

    Returns:
        a DataFrame with a row for each two measures, both ways:

        - ``measure``, ``other``;
        - ``correlation``: from -1 to 1; NaN by τ and weighted τ where a measure ties all runs.

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
    check_choice("statistic", statistic, tuple(CORRELATIONS))
    scores = read_table(table)
    for of_measure in scores:
        of_measure.runs()  # for its check
    rows = [
        (a.measure, b.measure, CORRELATIONS[statistic](a.standing(), b.standing()))
        for a, b in itertools.permutations(scores, 2)
    ]
    return pd.DataFrame(rows, columns=["measure", "other", "correlation"])


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


#: Of two rankings by their values, the second being the truth.
CORRELATIONS: dict[str, Callable[[FloatArray, FloatArray], float]] = {
    "tau": lambda x, y: float(kendalltau(x, y).statistic),
    "tau_ap": tau_ap,
    "weighted": lambda x, y: float(weightedtau(x, y).statistic) if np.ptp(x) and np.ptp(y) else np.nan,
}


def _agreement(scores: ScoreTable, truth: ScoreTable) -> float:
    """The share of the pairs of runs that the truth's means tell apart that these tell apart alike; NaN of no pair.

    Of measures of pairs, the means of the pairs: so it also says what a mean over opponents cannot.
    """
    return _alike(
        *(np.where(np.abs(means := s.means()) <= s.pairs.limit, 0.0, means) for s in (scores, truth))
    )


def _by_standing(of: Callable[[FloatArray, FloatArray], float]) -> Callable[[ScoreTable, ScoreTable], float]:
    return lambda scores, truth: of(scores.standing(), truth.standing())


def _alike(found: FloatArray, expected: FloatArray) -> float:
    told = expected != 0
    return float((np.sign(found) == np.sign(expected))[told].mean()) if told.any() else np.nan


#: How alike two sets of values of the same runs are, the second being the truth.
ALIKE: dict[str, Callable[[ScoreTable, ScoreTable], float]] = {
    **{name: _by_standing(of) for name, of in CORRELATIONS.items()},
    "agreement": _agreement,
    "ranking_agreement": lambda scores, truth: _alike(scores.pairs.differences, truth.pairs.differences),
    "ties": lambda scores, truth: float((scores.pairs.differences == 0).mean()),
}


def score(view: View, measures: Sequence[ir_measures.Measure]) -> list[ScoreTable]:
    """The values of each measure; of pairs by a measure that says which of two runs is better, without ``ref=``."""
    names, queries = view.names, view.query_ids.tolist()
    single = [m for m in measures if not is_of_pairs(m)]
    scored = score_runs(view, names, single, part=True).values if single else np.empty((len(names), 0, 0))
    values = dict(zip(single, scored.swapaxes(0, 1), strict=True))
    pairs = list(itertools.combinations(range(len(names)), 2))

    def measured(measure: ir_measures.Measure) -> ScoreTable:
        if not is_of_pairs(measure):
            return of_runs(str(measure), values[measure], names, queries)
        differences = score_pairs(view, measure, pairs, Work())
        return ScoreTable(str(measure), names, queries, Pairs.of_differences(differences))

    return [measured(m) for m in measures]


def check_statistics(statistics: str | Sequence[str], allowed: Sequence[str]) -> list[str]:
    """The statistics, each once; ValueError for none, or one that is not allowed."""
    chosen = [statistics] if isinstance(statistics, str) else list(dict.fromkeys(statistics))
    if not chosen:
        raise ValueError(f"statistics is empty; give some of {', '.join(map(repr, allowed))}")
    for statistic in chosen:
        check_choice("statistics", statistic, allowed)
    return chosen
