"""Pictures of runs and of measures.

Relative against absolute effectiveness, systems in the order of their release, which are alike, what one adds as
more is deployed; and what :mod:`~ir_measures_relative.meta` says of measures.

Each takes the ``ax`` to draw on and returns it; the colour bar of a matrix has axes of its own. Without one it makes a
figure by pyplot, for a notebook or a window; with one it leaves pyplot alone. All raise ValueError for another table
than the one they draw, or one without rows. Needs matplotlib: ``pip install 'ir-measures-relative[plot]'``.

A kind of picture is a file here; what they share is in ``figures``.
"""

from ..messages import needs_extra

try:
    import matplotlib as _matplotlib  # noqa: F401
except ImportError:
    raise needs_extra("drawing pictures", "plot") from None

from .curves import asl_curves, audit, chronological, degradation, fusion, separation, sweep, ties_by_level
from .figures import new_figure
from .matrices import locality, matrix_of_measures, matrix_of_verdicts, similarity
from .scatter import intervals, query_sets, relative_against_absolute

__all__ = [
    "asl_curves",
    "audit",
    "chronological",
    "degradation",
    "fusion",
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
