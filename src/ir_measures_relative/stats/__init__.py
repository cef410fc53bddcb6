"""Paired tests, their intervals, corrections and resampling: maths on arrays, without runs or qrels."""

from typing import TYPE_CHECKING

from ..data.registry import imported_later

if TYPE_CHECKING:
    from .families import correct_p_values
    from .intervals import mean_interval, student_interval
    from .paired_tests import Outcome, PairedTestOptions, SignTest, paired_test, sign_test
    from .pairs_and_ties import Pairs

__all__ = [
    "Outcome",
    "PairedTestOptions",
    "Pairs",
    "SignTest",
    "correct_p_values",
    "mean_interval",
    "paired_test",
    "sign_test",
    "student_interval",
]

_TESTS = "Outcome", "PairedTestOptions", "SignTest", "paired_test", "sign_test"
_MODULES = dict.fromkeys(_TESTS, "paired_tests")
_MODULES |= dict.fromkeys(("mean_interval", "student_interval"), "intervals")
_MODULES |= {"Pairs": "pairs_and_ties", "correct_p_values": "families"}
__getattr__, __dir__ = imported_later(__name__, _MODULES)
