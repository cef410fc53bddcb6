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

__all__ = ["chronological", "new_figure", "relative_against_absolute", "similarity", "sweep"]
