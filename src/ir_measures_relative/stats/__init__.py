"""Paired tests, their intervals, corrections and resampling: maths on arrays, without runs or qrels."""

from typing import TYPE_CHECKING

from ..data.registry import imported_later

if TYPE_CHECKING:
    from .intervals import mean_interval, student_interval
    from .paired_tests import SignTest, sign_test

__all__ = ["SignTest", "mean_interval", "sign_test", "student_interval"]

_MODULES = dict.fromkeys(("SignTest", "sign_test"), "paired_tests")
_MODULES |= dict.fromkeys(("mean_interval", "student_interval"), "intervals")
__getattr__, __dir__ = imported_later(__name__, _MODULES)
