"""p-values of a family of tests, corrected for how many these are."""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray
from ..options import needs_extra

_HOLM = ("holm", "h")


def check_correction(correction: str | None) -> None:
    """Raises ValueError for a correction that statsmodels does not know; ImportError where it needs statsmodels."""
    if correction is None or correction in _HOLM:
        return
    try:
        from statsmodels.stats.multitest import multitest_alias
    except ImportError:
        raise needs_extra(f"correction={correction!r}", "compare", "give 'holm' or None") from None
    if correction not in multitest_alias or multitest_alias[correction] == "lfdr":
        raise ValueError(
            f"correction={correction!r} is not one that statsmodels' multipletests knows; give one such as 'holm', "
            "'bonferroni', 'fdr_bh', or None"
        )


def corrected(p: FloatArray, correction: str | None, level: float = 0.05) -> FloatArray:
    """The p-values of each row, corrected for their number; NaN stay, and do not count.

    Args:
        p: shape (…, tests).
        correction: ``"holm"``, or another that statsmodels' ``multipletests`` knows; None for none.
        level: of the tests; only two-stage corrections, such as ``"fdr_tsbh"``, go by it.
    """
    if correction is None or not p.size:
        return p
    if correction in _HOLM:
        return _holm(p)
    from statsmodels.stats.multitest import multipletests

    result = p.copy()
    for row in result.reshape(-1, p.shape[-1]):
        known = np.flatnonzero(~np.isnan(row))
        if len(known):
            row[known] = multipletests(row[known], alpha=level, method=correction)[1]
    return result


def _holm(p: FloatArray) -> FloatArray:
    """Holm's correction of all rows at once; statsmodels' takes a minute for a thousand."""
    order = np.argsort(p, axis=-1)
    count = (~np.isnan(p)).sum(axis=-1, keepdims=True)
    factor = np.maximum(count - np.arange(p.shape[-1]), 1)
    stepped = np.maximum.accumulate(np.take_along_axis(p, order, axis=-1) * factor, axis=-1)
    result = np.empty_like(p)
    np.put_along_axis(result, order, np.minimum(stepped, 1.0), axis=-1)
    return result
