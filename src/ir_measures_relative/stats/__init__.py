"""Paired tests, their intervals, corrections and resampling: maths on arrays, without runs or qrels."""

from typing import TYPE_CHECKING

from ..data.registry import imported_later

if TYPE_CHECKING:
    from .families import correct_p_values
    from .intervals import mean_interval, student_interval
    from .paired_tests import Outcome, PairedTestOptions, Pairs, paired_test

__all__ = [
    "Outcome",
    "PairedTestOptions",
    "Pairs",
    "correct_p_values",
    "mean_interval",
    "paired_test",
    "student_interval",
]

_MODULES = dict.fromkeys(__all__, "paired_tests")
_MODULES |= {"correct_p_values": "families", "mean_interval": "intervals", "student_interval": "intervals"}
__getattr__, __dir__ = imported_later(__name__, _MODULES)
