"""Paired tests, their intervals, corrections and resampling: maths on arrays, without runs or qrels."""

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
