"""Which runs complement each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..comparison import Comparison
from ..io.qrels import Qrels
from ..measures.nrg import NRG
from ..scoring import check_campaign
from .contributions import relative_measure

if TYPE_CHECKING:
    import ir_measures
    import pandas as pd

    from ..context import RunContext


def select_complementary(
    context: RunContext, qrels: Qrels | None, n: int, measure: ir_measures.Measure | str = NRG @ 10
) -> pd.DataFrame:
    """Orders the runs of a context greedily: each next one adds most to those already chosen.

    Which runs to pool, which rankers to fuse. The first is the best without priors; every further one is the
    best with all chosen before as its priors. Equals go in the order of the context.

    Args:
        context: the runs; its own policy of priors does not count here.
        qrels: the judgments, as for :meth:`RunContext.evaluate`.
        n: how many runs to choose.
        measure: a measure with priors: NRG, UniqueRel or TaSC, without ``prior=``.

    Returns:
        a DataFrame with one row a chosen run, in their order: ``name``; ``marginal``, the mean over queries of
        the measure given those before; and ``cumulative``, the sum of the marginals so far. With UniqueRel@k
        that sum is the mean number of distinct relevant documents that the chosen runs have in their top k.

    Raises:
        ValueError: n out of range, or a measure without priors.

    Example:
        >>> from ir_measures_relative import RunContext, UniqueRel, select_complementary
        >>> runs = {"a": {"q": {"A": 2, "B": 1}}, "b": {"q": {"B": 2, "A": 1}}, "c": {"q": {"C": 2, "X": 1}}}
        >>> select_complementary(RunContext(runs), {"q": {"A": 1, "B": 1, "C": 1}}, 3, UniqueRel @ 2)
          name  marginal  cumulative
        0    a       2.0         2.0
        1    c       1.0         3.0
        2    b       0.0         3.0
    """
    import pandas as pd

    parsed = relative_measure(measure)
    if parsed.RELATIVE_TO != "priors" or parsed.get("prior") is not None:
        raise ValueError(
            f"measure={parsed!r}: give a measure whose priors are free, such as NRG@10 or UniqueRel@10"
        )
    names = context.names
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 1 <= n <= len(names):
        raise ValueError(
            f"n={n!r} is not allowed; it must be a whole number from 1 to {len(names)}, the runs"
        )
    judged = context.judged(qrels)
    check_campaign(judged)
    chosen: list[str] = []
    marginal: list[float] = []
    for _ in range(n):
        means = {
            name: float(parsed.score(Comparison(judged, context.runs[name], name, tuple(chosen))).mean())
            for name in names
            if name not in chosen
        }
        best = max(means, key=means.__getitem__)
        chosen.append(best)
        marginal.append(means[best])
    return pd.DataFrame({"name": chosen, "marginal": marginal, "cumulative": np.cumsum(marginal)})
