"""Exact MED (maximized effectiveness distance) for metrics in which documents interact: AP, SSP, Q-measure and ERR."""

from .blended import med_blended
from .err import ErrExtreme, greatest_err_difference, med_err
from .solution import Solution
from .sum_precision import greatest_difference, greedy_sum_precision, med_sum_precision

__all__ = [
    "ErrExtreme",
    "Solution",
    "greatest_difference",
    "greatest_err_difference",
    "greedy_sum_precision",
    "med_blended",
    "med_err",
    "med_sum_precision",
]
