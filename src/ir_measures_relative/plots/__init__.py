"""Figures of runs, and of the tables that the other functions of the package return.

Each takes the ``ax`` to draw on and returns it. Without one it makes a figure by pyplot, which is left alone with one.
All raise ValueError for another table than the one they draw, or one without rows. Needs the extra ``plot``.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from ..data.registry import imported_later
from ..messages import needs_extra

# Importing it takes a quarter of a second, which ``placement`` does not need.
if find_spec("matplotlib") is None:
    raise needs_extra("drawing pictures", "plot")

if TYPE_CHECKING:
    from .curves import chronological as chronological
    from .figures import new_figure as new_figure
    from .matrices import similarity as similarity
    from .scatter import relative_against_absolute as relative_against_absolute

_MODULES = {
    "chronological": "curves",
    "new_figure": "figures",
    "relative_against_absolute": "scatter",
    "similarity": "matrices",
}
__all__ = [*_MODULES]
__getattr__, __dir__ = imported_later(__name__, _MODULES)
