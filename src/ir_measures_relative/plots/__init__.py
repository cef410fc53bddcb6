"""Figures of runs, and of the tables that the other functions of the package return.

Each takes the ``ax`` to draw on and returns it. Without one it makes a figure by pyplot, which is left alone with one.
All raise ValueError for another table than the one they draw, or one without rows. Needs the extra ``plot``.
"""

from ..messages import needs_extra

try:
    import matplotlib as _matplotlib  # noqa: F401
except ImportError:
    raise needs_extra("drawing pictures", "plot") from None

from .curves import chronological, fusion
from .figures import new_figure
from .matrices import matrix_of_verdicts, similarity
from .scatter import intervals, relative_against_absolute

__all__ = [
    "chronological",
    "fusion",
    "intervals",
    "matrix_of_verdicts",
    "new_figure",
    "relative_against_absolute",
    "similarity",
]
