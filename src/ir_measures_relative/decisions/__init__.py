"""What to decide about the runs of a context: which to add, to fuse, to choose, and which is better.

The verbs (``compare``, ``worth``, …) are names of the package itself; here is what else they offer.
"""

from typing import TYPE_CHECKING

from ..data.registry import imported_later

if TYPE_CHECKING:
    from .answer import Decision
    from .compare import mean_intervals
    from .explain import new_aspects
    from .options import Combination
    from .place import Place
    from .rule import RegretTest
    from .sentences import sentence
    from .trajectory import Trajectories

__all__ = [
    "Combination",
    "Decision",
    "Place",
    "RegretTest",
    "Trajectories",
    "mean_intervals",
    "new_aspects",
    "sentence",
]

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
__getattr__, __dir__ = imported_later(__name__, _MODULES)
