"""The largest and the smallest value over all labelings of open documents: MED, bounds and verdicts stand on it.

``sums``, ``ratios``, ``search``, ``blended``, ``cascade`` and ``ideals`` hold the maths, as functions of arrays. The
other modules say how a measure depends on the labels of a campaign. The exact solvers of MED can be used by themselves.
"""

from .cascade import ErrExtreme, greatest_err_difference, med_err
from .model import Clock
from .precision_search import Extreme, Solution, greatest_difference, greedy_sum_precision, med_sum_precision
from .q_measure import med_blended

__all__ = [
    "Clock",
    "ErrExtreme",
    "Extreme",
    "Solution",
    "greatest_difference",
    "greatest_err_difference",
    "greedy_sum_precision",
    "med_blended",
    "med_err",
    "med_sum_precision",
]
