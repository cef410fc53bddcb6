"""What to decide about the runs of a context: which to add, to fuse, to choose, and which is better."""

from .added_value_curve import added_value_curve
from .compare import compare
from .decide import decide
from .decision import Decision
from .drop import drop
from .explain import explain
from .fuse import fuse
from .mean_intervals import mean_intervals
from .new_aspects import new_aspects
from .select import select_complementary
from .similarity import similarity
from .worth import worth
from .worth_audit import WorthAudit

__all__ = [
    "Decision",
    "WorthAudit",
    "added_value_curve",
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
