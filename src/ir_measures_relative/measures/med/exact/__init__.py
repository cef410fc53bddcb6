"""Exact MED (maximized effectiveness distance) for metrics in which documents interact: AP, SSP and ERR."""

from .err import med_err
from .solution import Solution
from .sum_precision import greedy_sum_precision, med_sum_precision

__all__ = ["Solution", "greedy_sum_precision", "med_err", "med_sum_precision"]
