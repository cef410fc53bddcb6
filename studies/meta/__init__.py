"""Is the measure any good? Statistics of measures, from their values by run and topic.

Each function returns a DataFrame with a column ``measure``, and says under what it is invariant: a statistic that
changes when every value is doubled compares units, not measures, and :func:`rescaling_test` finds it out.

What the arguments of all of them mean, and what all raise:

- ``table``: the long table (``name``, ``query_id``, ``measure``, ``value``; ``qid`` as well) that
  :meth:`RunContext.evaluate(…, perquery=True) <ir_measures_relative.RunContext.evaluate>` and
  ``pt.Experiment(…, perquery=True)`` return, of any measures;
- ``context``, ``qrels``: the runs, and the judgments as ir_measures and PyTerrier take them, or the path of a file;
- ``measure`` of :func:`ties_by_level`, :func:`separation` and :func:`locality`: rrLP, sgnLP, RPP, or sgnLR, whose level
  1 is the worst one; with its ``rel``, cutoff and so on, and without ``ref=``. The three are invariant under all that
  keeps the positions of relevant documents;
- ``samples``: how many are drawn; ``seed``: of all random numbers, and all measures get the same ones;
- ValueError: a table that is not complete, fewer than two runs (or topics, where these are drawn or tested), an
  argument that is not allowed, and what :meth:`~ir_measures_relative.RunContext.evaluate` raises.
"""

from .degrading import degrade, reusability, system_subsets
from .power import (
    asl_curve,
    conflicts,
    discriminative_power,
    percentage_absolute_difference,
    rescaling_test,
)
from .table import correlation
from .tied_pairs import locality, separation, ties, ties_by_level
from .topics import query_sets, reliability, stability, swap_rate

__all__ = [
    "asl_curve",
    "conflicts",
    "correlation",
    "degrade",
    "discriminative_power",
    "locality",
    "percentage_absolute_difference",
    "query_sets",
    "reliability",
    "rescaling_test",
    "reusability",
    "separation",
    "stability",
    "swap_rate",
    "system_subsets",
    "ties",
    "ties_by_level",
]
