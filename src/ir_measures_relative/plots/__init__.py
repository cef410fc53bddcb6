"""Pictures: relative against absolute effectiveness, systems in the order of their release, which are
alike, what one adds as more is deployed.

Each takes the ``ax`` to draw on and returns it. Without one it makes a figure by pyplot, for a notebook or a
window; with one it leaves pyplot alone. Needs matplotlib: ``pip install 'ir-measures-relative[plot]'``.
"""

from .figures import new_figure
from .heatmap import similarity
from .history import chronological
from .intervals import sweep
from .scatter import relative_against_absolute
from .unjudged import intervals, matrix_of_verdicts

__all__ = [
    "chronological",
    "intervals",
    "matrix_of_verdicts",
    "new_figure",
    "relative_against_absolute",
    "similarity",
    "sweep",
]
