"""Is the measure any good? Statistics of measures, from their values a run and topic.

Each function takes the long table (``name``, ``query_id``, ``measure``, ``value``; ``qid`` as well) that
:meth:`RunContext.evaluate(…, perquery=True) <ir_measures_relative.RunContext.evaluate>` and
``pt.Experiment(…, perquery=True)`` return, of any measures, and returns a DataFrame with a column ``measure``. Each
says under what it is invariant: a statistic that changes when every value is doubled compares units, not measures, and
:func:`rescaling_test` finds it out.
"""

from .correlations import correlation
from .degrading import degrade, system_subsets
from .power import asl_curve, conflicts, discriminative_power
from .rescaling import percentage_absolute_difference, rescaling_test
from .tied_pairs import locality, separation, ties, ties_by_level
from .topics import query_sets, stability, swap_rate

__all__ = [
    "asl_curve",
    "conflicts",
    "correlation",
    "degrade",
    "discriminative_power",
    "locality",
    "percentage_absolute_difference",
    "query_sets",
    "rescaling_test",
    "separation",
    "stability",
    "swap_rate",
    "system_subsets",
    "ties",
    "ties_by_level",
]
