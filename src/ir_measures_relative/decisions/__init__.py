"""What to decide about the runs of a context: which to add, to fuse, to choose, and which is better."""

from .compare import compare, mean_intervals
from .decide import decide
from .decision import Decision
from .drop import drop
from .explain import explain, new_aspects
from .fuse import fuse
from .select import select_complementary
from .similarity import similarity
from .worth import worth

__all__ = [
    "Decision",
    "compare",
    "decide",
    "drop",
    "explain",
    "fuse",
    "mean_intervals",
    "new_aspects",
    "select_complementary",
    "similarity",
    "worth",
]
