"""The largest and the smallest value over all labelings of open documents: MED, bounds and verdicts stand on it.

``precision_sums``, ``precision_search``, ``q_measure``, ``placement`` and ``ratios`` hold the maths, as functions of
arrays. The other modules say how a measure depends on the labels of a campaign. The exact solvers of MED can be used by
themselves.
"""

from .cascade import med_err
from .model import Clock
from .precision_search import Solution, greedy_sum_precision, med_sum_precision
from .q_measure import med_blended

__all__ = [
    "Clock",
    "Solution",
    "greedy_sum_precision",
    "med_blended",
    "med_err",
    "med_sum_precision",
]
