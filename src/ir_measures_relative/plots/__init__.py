"""Pictures: relative against absolute effectiveness, systems in the order of their release, which are
alike, what one adds as more is deployed; and what :mod:`~ir_measures_relative.meta` says of measures.

Each takes the ``ax`` to draw on and returns it. Without one it makes a figure by pyplot, for a notebook or a
window; with one it leaves pyplot alone. Needs matplotlib: ``pip install 'ir-measures-relative[plot]'``.
"""

from .figures import new_figure
from .fused import fusion, fusion_frontier, fusion_pairs
from .heatmap import similarity
from .history import chronological
from .intervals import sweep
from .matrices import locality, matrix_of_measures, query_sets
from .measures import asl_curves, degradation, separation, ties_by_level
from .scatter import relative_against_absolute
from .unjudged import intervals, matrix_of_verdicts

__all__ = [
    "asl_curves",
    "chronological",
    "degradation",
    "fusion",
    "fusion_frontier",
    "fusion_pairs",
    "intervals",
    "locality",
    "matrix_of_measures",
    "matrix_of_verdicts",
    "new_figure",
    "query_sets",
    "relative_against_absolute",
    "separation",
    "similarity",
    "sweep",
    "ties_by_level",
]
