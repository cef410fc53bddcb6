"""Paired tests, their intervals, corrections and resampling: maths on arrays, without runs or qrels."""

from typing import TYPE_CHECKING

from ..data.registry import imported_later

if TYPE_CHECKING:
    from .families import correct_p_values as correct_p_values
    from .intervals import mean_interval as mean_interval
    from .intervals import student_interval as student_interval
    from .paired_tests import Outcome as Outcome
    from .paired_tests import PairedTestOptions as PairedTestOptions
    from .paired_tests import Pairs as Pairs
    from .paired_tests import paired_test as paired_test

_MODULES = {
    "Outcome": "paired_tests",
    "PairedTestOptions": "paired_tests",
    "Pairs": "paired_tests",
    "correct_p_values": "families",
    "mean_interval": "intervals",
    "paired_test": "paired_tests",
    "student_interval": "intervals",
}
__all__ = [*_MODULES]
__getattr__, __dir__ = imported_later(__name__, _MODULES)
