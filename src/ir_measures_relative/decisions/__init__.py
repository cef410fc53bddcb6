"""What to decide about the runs of a context: which to add, to fuse, to choose, and which is better.

The verbs (``compare``, ``worth``, …) are names of the package itself; here is what else they offer.
"""

from typing import TYPE_CHECKING

from ..data.registry import imported_later

if TYPE_CHECKING:
    from .answer import Decision as Decision
    from .compare import mean_intervals as mean_intervals
    from .explain import new_aspects as new_aspects
    from .options import Combination as Combination
    from .place import Place as Place
    from .rule import RegretTest as RegretTest
    from .sentences import sentence as sentence
    from .trajectory import Trajectories as Trajectories

_MODULES = {
    "Combination": "options",
    "Decision": "answer",
    "Place": "place",
    "RegretTest": "rule",
    "Trajectories": "trajectory",
    "mean_intervals": "compare",
    "new_aspects": "explain",
    "sentence": "sentences",
}
__all__ = [*_MODULES]
__getattr__, __dir__ = imported_later(__name__, _MODULES)
