"""Do two measures give the same verdicts on pairs of runs?"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import FloatArray
from ..options import check_share
from ..stats.paired import corrected
from .pairs import SUM_TESTS
from .power import p_values
from .table import ROUNDING, Scores, frame

if TYPE_CHECKING:
    import pandas as pd


def conflicts(
    table: Any,
    test: str = "t",
    correction: str | None = None,
    level: float = 0.05,
    *,
    resamples: int = 9999,
    seed: int = 0,
) -> pd.DataFrame:
    """How often two measures agree, by a test, on which of two runs is better; contradict; or one tells and one not.

    Each pair of runs is told apart by both measures for the same run (an active agreement, in the words of Moffat,
    Scholer and Thomas, ADCS 2012), by both for different runs (an active disagreement), by one of the two, or by
    neither. UE's Table 8 counts "conflict cases", in which one measure tells two runs apart and the other does not, or
    they contradict.

    A disagreement does not say which of the two measures errs, and one that tells more apart is in conflict with others
    for that alone.

    Invariant under: positive factors and added constants, of any measure on its own (on one seed, to rounding).

    Args:
        table: ``name``, ``query_id`` (or ``qid``), ``measure``, ``value``: what ``evaluate(…, perquery=True)`` returns;
            with a column ``other``, of pairs, for the tests of differences.
        test, correction, resamples, seed: as for :func:`discriminative_power`.
        level: at which a pair is told apart: p ≤ level.

    Returns:
        a DataFrame with one row for each two measures: ``measure``, ``other``, ``pairs`` (of runs), ``agree``,
        ``contradict``, ``only_measure``, ``only_other``, ``neither``, which add up to ``pairs``; ``conflicts``
        (contradict + only_measure + only_other) and their ``share`` of the pairs, from 0 to 1.

    Raises:
        ValueError: as :func:`discriminative_power`.

    Example:
        >>> import pandas as pd
        >>> from ir_measures_relative import meta
        >>> values = {"A": {"a": 0.1, "b": 0.5, "c": 0.3}, "B": {"a": 0.1, "b": 0.5, "c": 0.5}}
        >>> rows = [(n, q, m, v + q * i % 3 / 50) for m, vs in values.items() for i, (n, v) in enumerate(vs.items())
        ...         for q in range(9)]
        >>> table = pd.DataFrame(rows, columns=["name", "query_id", "measure", "value"])
        >>> meta.conflicts(table)[["measure", "other", "agree", "contradict", "only_measure", "only_other", "neither"]]
          measure other  agree  contradict  only_measure  only_other  neither
        0       A     B      2           0             1           0        0
    """
    check_share("level", level)
    verdicts = [
        (s.measure, np.where(corrected(p, correction) <= level, _better(s, test), 0.0))
        for s, p, _ in p_values(table, test, correction, resamples, 0, seed)
    ]
    rows = []
    for (measure, one), (name, other) in itertools.combinations(verdicts, 2):
        counts = {
            "agree": (one * other > 0).sum(),
            "contradict": (one * other < 0).sum(),
            "only_measure": ((one != 0) & (other == 0)).sum(),
            "only_other": ((one == 0) & (other != 0)).sum(),
            "neither": ((one == 0) & (other == 0)).sum(),
        }
        row: dict[str, Any] = {"measure": measure, "other": name, "pairs": len(one)}
        row |= {key: int(count) for key, count in counts.items()}
        row["conflicts"] = row["contradict"] + row["only_measure"] + row["only_other"]
        rows.append(row | {"share": row["conflicts"] / len(one)})
    columns = ["agree", "contradict", "only_measure", "only_other", "neither", "conflicts", "share"]
    return frame(rows, ["measure", "other", "pairs", *columns])


def _better(scores: Scores, test: str) -> FloatArray:
    """Which run of each pair the test is for: 1 the first, -1 the second; by signs or ranks, where it is by these."""
    if test in SUM_TESTS:
        weights, _ = SUM_TESTS[test](scores)
        total = weights.sum(axis=1)
        size = np.abs(weights).sum(axis=1)
    else:
        total = scores.differences.sum(axis=1)
        size = np.abs(scores.differences).sum(axis=1)
    return np.where(np.abs(total) <= ROUNDING * size, 0.0, np.sign(total))
