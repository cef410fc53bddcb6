"""The comparison with a baseline in the tables of ``pt.Experiment``: nothing is said of two different quantities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..comparison import judged_context
from ..context import RunContext
from ..measures.strings import is_relative
from ..messages import warn
from ..stats.validity import why_not_comparable

# What pt.Experiment adds to a measure for a baseline; the last two with a correction.
_WINS, _LOSSES, _P, _REJECT, _CORRECTED = "+", "-", "p-value", "reject", "p-value corrected"


def without_invalid(
    result: Any,
    context: RunContext,
    qrels: Any,
    metrics: Sequence[Any],
    options: Mapping[str, Any],
) -> Any:
    """What ``pt.Experiment`` returned, with NaN for comparisons that are not valid, and one warning that says why.

    A system and the baseline compare on a measure relative to priors where both stand against the same priors but
    for each other, and on a distance to the reference where neither is the reference; see
    :func:`~ir_measures_relative.compare`. The other comparisons are corrected for their own number.

    Args:
        result: a table, plain or styled, or a pair with one; anything else holds no comparison.
        metrics: the measures as objects, or as what else PyTerrier takes.
        options: the arguments of ``pt.Experiment``.
    """
    baseline = options.get("baseline")
    table = _table_of(result)
    relative = [m for m in metrics if is_relative(m)]
    if baseline is None or table is None or not relative:
        return result
    against, judged = context.names[baseline], judged_context(context, qrels)
    reasons: dict[tuple[Any, str], str] = {}
    for measure in relative:
        for name in context.names:
            reason = why_not_comparable(judged, measure, name, against) if name != against else None
            if reason is not None:
                reasons[measure, name] = reason
    if not reasons:
        return result
    for measure in dict.fromkeys(measure for measure, _ in reasons):
        bad = table["name"].isin([name for m, name in reasons if m == measure]).to_numpy()
        for what in (_WINS, _LOSSES, _P):
            table[f"{measure} {what}"] = table[f"{measure} {what}"].mask(bad)
        if f"{measure} {_CORRECTED}" in table:
            _correct(table, str(measure), options)
    _style_only_numbers(result)
    _say(reasons, against)
    return result


def _table_of(result: Any) -> pd.DataFrame | None:
    """The table of means, in which the comparisons stand."""
    if isinstance(result, tuple):
        result = result[0]
    if isinstance(result, dict):
        return None
    table = result if isinstance(result, pd.DataFrame) else getattr(result, "data", None)
    return table if isinstance(table, pd.DataFrame) else None


def _correct(table: pd.DataFrame, measure: str, options: Mapping[str, Any]) -> None:
    """Corrects the p-values that are left for their number, as ``pt.Experiment`` does for all."""
    from statsmodels.stats.multitest import multipletests

    p = table[f"{measure} {_P}"].to_numpy(dtype=np.float64)
    known = np.flatnonzero(~np.isnan(p))
    reject, corrected = np.zeros(len(p), dtype=bool), np.full(len(p), np.nan)
    if len(known):
        alpha = options.get("correction_alpha", 0.05)
        reject[known], corrected[known] = multipletests(
            p[known], alpha=alpha, method=options.get("correction")
        )[:2]
    table[f"{measure} {_REJECT}"] = reject
    table[f"{measure} {_CORRECTED}"] = corrected


def _style_only_numbers(result: Any) -> None:
    """Takes columns without a number out of what PyTerrier highlights: it looks for their largest value."""
    styled = result[0] if isinstance(result, tuple) else result
    if isinstance(styled, pd.DataFrame):
        return
    empty = [column for column in styled.data if styled.data[column].isna().all()]
    for _, _, options in styled.export()["apply"]:
        for column in empty:
            options.get("col_type", {}).pop(column, None)


def _say(reasons: Mapping[tuple[Any, str], str], baseline: str) -> None:
    (measure, name), reason = next(iter(reasons.items()))
    more = f" (and {len(reasons) - 1} more such)" if len(reasons) > 1 else ""
    remedy = (
        "Give priors='others', where each is compared with all other systems; or compare candidates with each other "
        "against fixed priors: pt.relative.compare(RunContext({name: results, …}), qrels, measures, priors=[…])"
        if measure.RELATIVE_TO == "priors"
        else "The distance itself is the answer; or give a third system as the reference"
    )
    warn(
        f"the values of {name!r} and the baseline {baseline!r} on {measure} are different quantities, since {reason}: "
        f"the p-value and the wins and losses are NaN{more}. {remedy}"
    )
