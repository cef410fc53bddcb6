"""Intervals of means."""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray
from ..options import ROUNDED


def student_interval(
    values: FloatArray, confidence: float, greater: bool = False, constant: BoolArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Student's interval of the mean of the last axis; NaN where the values have no spread, or are fewer than two.

    Args:
        values: shape (…, topics).
        greater: leaves the upper end open.
        constant: where they have none; if not given, where rounding alone keeps them apart.
    """
    from scipy.special import stdtrit  # pictures are drawn without scipy

    n = values.shape[-1]
    if n < 2:
        nothing = np.full(values.shape[:-1], np.nan)
        return nothing, nothing.copy()
    if constant is None:
        constant = np.ptp(values, axis=-1) <= ROUNDED * np.abs(values).max(axis=-1)
    mean, error = values.mean(axis=-1), values.std(axis=-1, ddof=1) / n**0.5
    reach = stdtrit(n - 1, confidence if greater else (1 + confidence) / 2) * error
    reach = np.where(constant, np.nan, reach)
    return mean - reach, np.where(constant, np.nan, np.inf) if greater else mean + reach
