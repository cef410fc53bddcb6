"""What to decide about the runs of a context: which to add, to fuse, to choose, and which is better."""

from typing import TYPE_CHECKING

from ..later import imported_later

if TYPE_CHECKING:
    from .comparing import compare
    from .deciding import Worth, worth
    from .explaining import explain
    from .fusing import fuse
    from .means import mean_intervals
    from .nuggets import new_aspects
    from .sets_of_runs import added_value_curve, select_complementary
    from .similarities import similarity

__all__ = [
    "Worth",
    "added_value_curve",
    "compare",
    "explain",
    "fuse",
    "mean_intervals",
    "new_aspects",
    "select_complementary",
    "similarity",
    "worth",
]

__getattr__, __dir__ = imported_later(
    __name__,
    {
        "Worth": "deciding",
        "added_value_curve": "sets_of_runs",
        "compare": "comparing",
        "explain": "explaining",
        "fuse": "fusing",
        "mean_intervals": "means",
        "new_aspects": "nuggets",
        "select_complementary": "sets_of_runs",
        "similarity": "similarities",
        "worth": "deciding",
    },
)
