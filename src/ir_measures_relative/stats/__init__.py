"""Paired tests, their intervals, corrections and resampling: maths on arrays, which knows nothing of measures."""

from typing import TYPE_CHECKING

from ..data.registry import imported_later

if TYPE_CHECKING:
    from .families import Family, corrected
    from .intervals import mean_interval, student_interval
    from .paired_tests import PairedTestOptions, SignTest, paired_test, sign_test
    from .pairs_and_ties import Pairs

__all__ = [
    "Family",
    "PairedTestOptions",
    "Pairs",
    "SignTest",
    "corrected",
    "mean_interval",
    "paired_test",
    "sign_test",
    "student_interval",
]

__getattr__, __dir__ = imported_later(
    __name__,
    {
        "Family": "families",
        "PairedTestOptions": "paired_tests",
        "Pairs": "pairs_and_ties",
        "SignTest": "paired_tests",
        "corrected": "families",
        "mean_interval": "intervals",
        "paired_test": "paired_tests",
        "sign_test": "paired_tests",
        "student_interval": "intervals",
    },
)
