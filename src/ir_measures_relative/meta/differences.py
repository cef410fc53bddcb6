"""By how many per cent runs differ: the UE paper's other way to say how well a measure distinguishes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..messages import kind_of
from .table import ROUNDING, Scores, frame, of_runs, read_table

if TYPE_CHECKING:
    import pandas as pd


def percentage_absolute_difference(
    table: Any, families: Mapping[str, Sequence[str]] | None = None
) -> pd.DataFrame:
    r"""PAD: by how many per cent the means of two runs differ, the mean over pairs (UE, Eq. 8 and Tables 10 and 22).

    Of two runs with means :math:`M_1` and :math:`M_2` it is :math:`100 \cdot |M_1 - M_2| / \max(M_1, M_2)`. The paper
    takes means over cutoffs as well as topics, which ``families`` does, and reads a higher PAD as a measure that
    distinguishes better.

    **Warning.** Invariant under: positive factors. **Not under added constants**: what is taken off all values alike
    makes every percentage larger and tells no two runs further apart. 0.50 and 0.55 differ by 9 %; less 0.40, the same
    two differ by 33 %. nDCG_UE takes an expected value off nDCG, so that its PAD must be higher, whatever it
    distinguishes: do not compare measures of different origins by PAD, but by :func:`discriminative_power` with its
    false positive rate.

    Args:
        table: ``name``, ``query_id`` (or ``qid``), ``measure``, ``value``: what ``evaluate(…, perquery=True)`` returns.
        families: from a label to measures of the table whose values are averaged first, such as
            ``{"nDCG": ["nDCG@5", "nDCG@10"]}``; each measure on its own if not given.

    Returns:
        a DataFrame with one row a measure (or family): ``measure``, ``pairs`` (that have a PAD) and ``difference``, in
        per cent; above 100 where one of two means is below 0. Equal means differ by 0; a pair of means that differ, the
        larger of which is not above 0, has no PAD and is left out, NaN where there is no other.

    Raises:
        ValueError: a table that is not complete or has pairs, fewer than two runs, a family of no or other measures.

    Example:
        >>> import pandas as pd
        >>> from ir_measures_relative import meta
        >>> rows = [(n, "q", m, v - o) for m, o in [("M", 0), ("M - 0.4", 0.4)] for n, v in [("a", 0.5), ("b", 0.55)]]
        >>> table = pd.DataFrame(rows, columns=["name", "query_id", "measure", "value"])
        >>> meta.percentage_absolute_difference(table).round(1)
           measure  pairs  difference
        0        M      1         9.1
        1  M - 0.4      1        33.3
    """
    rows = []
    for scores in _families(read_table(table), families):
        means = scores.runs().mean(axis=1)
        a, b = means[scores.first], means[scores.second]
        apart, larger = np.abs(a - b), np.maximum(a, b)
        same = apart <= ROUNDING * scores.spread
        known = same | (larger > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            percent = np.where(same, 0.0, 100 * apart / larger)[known]
        row = {"measure": scores.measure, "pairs": len(percent)}
        rows.append(row | {"difference": float(percent.mean()) if len(percent) else np.nan})
    return frame(rows)


def _families(scores: list[Scores], families: Mapping[str, Sequence[str]] | None) -> list[Scores]:
    """The means of the measures of each family, as a measure of its own."""
    if families is None:
        return scores
    such = "give a dict from label to a list of measures, such as {'nDCG': ['nDCG@5', 'nDCG@10']}"
    if not isinstance(families, Mapping):
        raise ValueError(f"families is {kind_of(families)}; {such}")
    known = {s.measure: s for s in scores}
    result = []
    for label, members in families.items():
        if isinstance(members, str):
            raise ValueError(f"families[{label!r}]={members!r} is a string; {such}")
        wanted = [str(m) for m in members]
        lacking = [m for m in wanted if m not in known]
        if lacking or not wanted:
            raise ValueError(
                f"families[{label!r}]={wanted} must name measures of the table, which are {list(known)}"
            )
        values = np.mean([known[m].runs() for m in wanted], axis=0)
        result.append(of_runs(str(label), values, scores[0].names, scores[0].queries))
    return result
