"""On which topics is there anything to tell? UE §4 and §6.3.2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np

from ..arrays import BoolArray, FloatArray, ratio
from ..comparison import Comparison, check_is_context, judged_context
from ..io.qrels import Qrels
from ..measures.strings import is_relative, parse_measure
from ..options import check_count, check_share
from ..scoring import check_campaign

if TYPE_CHECKING:
    import pandas as pd

    from ..context import RunContext


def query_sets(
    context: RunContext,
    qrels: Qrels | None,
    measure: ir_measures.Measure | str = "nDCG_UE@10",
    cutoffs: Sequence[int] | None = None,
    share: float = 0.1,
    *,
    level: float = 0.05,
    rel: int = 2,
    breadth: float = 0.5,
) -> pd.DataFrame:
    """The topics on which runs do little, and much, better than a random ranking; and the broad and the focused ones.

    Of each topic, ``actual`` is the mean over runs (and ``cutoffs``) of the value normalized by that of a perfect
    ranking, such as nDCG, and ``expected`` that of a random ranking of the topic's pool.

    - *Uninformative* are the ``share`` of the topics with the lowest ``actual - expected``, *ideal* the same share with
      the highest (UE §6.3.2, where they are 1,000 of 10,000); of equals those first in the qrels.
    - *Informative* are those on which the runs do better than random "significantly" (§4): by a one-sided t-test over
      runs, at ``level``. It takes the runs for a sample of reasonable ones, which runs of one family are not; by one
      run alone no topic is informative.
    - *Broad* is a topic at least half of whose judged documents have a grade of 2 or more, *focused* every other one
      (§6.3.2, after Mothe, Laporte and Chifu).

    The sets are chosen by the runs that are then compared on them: a measure that stresses the difference to random
    differs the more from the plain one on such topics by construction.

    Invariant under: positive factors of the gains. Not under what is added to them.

    Args:
        context: the runs.
        qrels: the judgments, as for :meth:`RunContext.evaluate`.
        measure: nDCG_UE, AP_UE or their like, whose pool and random level these are; ``version`` does not matter.
        cutoffs: over which the values are averaged (5, 10, 15, 20 and 30 in the paper); the measure's own if not given.
        share: of the topics that are uninformative, and ideal; rounded up, and at most half.
        level: of the test for informative ones.
        rel: the lowest grade that makes a topic broad.
        breadth: the share of judged documents that do.

    Returns:
        a DataFrame with one row a topic, in the order of the qrels: ``measure``, ``query_id``, ``actual``,
        ``expected``, ``difference``, ``set`` (``"uninformative"``, ``"ideal"`` or ``""``), ``informative`` and
        ``breadth`` (``"broad"`` or ``"focused"``). ``table[table["query_id"].isin(…)]`` are the values on some topics.

    Raises:
        ValueError: another measure, a context without runs, an argument that is not allowed.

    Example:
        >>> from ir_measures_relative import RunContext, meta
        >>> qrels = {"q1": {"A": 1, "B": 0, "C": 0}, "q2": {"A": 2, "B": 2, "C": 0}}
        >>> run = {"q1": {"A": 2, "X": 1}, "q2": {"C": 2, "B": 1}}
        >>> sets = meta.query_sets(RunContext({"a": run}), qrels, share=0.5).round(2)
        >>> sets[["query_id", "actual", "expected", "difference", "set", "breadth"]]
          query_id  actual  expected  difference            set  breadth
        0       q1    1.00      0.71        0.29          ideal  focused
        1       q2    0.39      0.87       -0.48  uninformative    broad
    """
    import pandas as pd

    check_is_context(context)
    parsed: Any = parse_measure(measure)
    if not (is_relative(parsed) and hasattr(parsed, "normalizers")):
        raise ValueError(f"{parsed} has no expected value; give nDCG_UE@10 or AP_UE@10")
    check_share("share", share)
    check_share("level", level)
    check_count("rel", rel, 1)
    if isinstance(breadth, bool) or not isinstance(breadth, (int, float)) or not 0 < breadth <= 1:
        raise ValueError(f"breadth={breadth!r} is not allowed; it must be above 0 and at most 1")
    if not context.names:
        raise ValueError("the context holds no run; give it some")
    judged = judged_context(context, qrels)
    check_campaign(judged)
    if cutoffs is not None and not len(cutoffs):
        raise ValueError("cutoffs is empty; give some, such as [5, 10], or leave it out")
    wanted = [parsed] if cutoffs is None else [parsed(cutoff=int(k)) for k in cutoffs]
    actual = np.zeros((len(context.names), judged.judgments.n_queries))
    expected = np.zeros(judged.judgments.n_queries)
    for one in wanted:
        compared = [Comparison(judged, run, name) for name, run in context.runs.items()]
        normalizers = one.normalizers(compared[0])  # of the judgments alone
        for of_run, comparison in zip(actual, compared, strict=True):
            of_run += ratio(one.actual(comparison), normalizers.upper) / len(wanted)
        expected += ratio(normalizers.expected, normalizers.upper) / len(wanted)
    difference = actual.mean(axis=0) - expected
    size = min(int(np.ceil(round(share * len(difference), 9))), len(difference) // 2)
    order = np.argsort(np.round(difference, 9), kind="stable")
    sets = np.full(len(difference), "", dtype=object)
    sets[order[:size]] = "uninformative"
    sets[np.argsort(-np.round(difference, 9), kind="stable")[:size]] = "ideal"
    judgments = judged.judgments
    high = np.bincount(judgments.query, weights=judgments.grade >= rel, minlength=len(difference))
    broad = high >= breadth * np.diff(judgments.starts)
    return pd.DataFrame(
        {
            "measure": pd.Series([str(parsed)] * len(difference), dtype=str),
            "query_id": pd.Series(judgments.query_ids, dtype=str),
            "actual": actual.mean(axis=0),
            "expected": expected,
            "difference": difference,
            "set": pd.Series(sets, dtype=str),
            "informative": _above(actual - expected, level),
            "breadth": pd.Series(np.where(broad, "broad", "focused"), dtype=str),
        }
    )


def _above(differences: FloatArray, level: float) -> BoolArray:
    """Whether the mean over runs is above 0, by a one-sided t-test; where all runs are alike, whether it is at all.

    A single run is no sample, and tells nothing.
    """
    from scipy.special import stdtr

    n, mean = len(differences), differences.mean(axis=0)
    above: BoolArray = mean > 1e-9
    if n < 2:
        return np.zeros_like(above)
    error = np.sqrt(differences.var(axis=0, ddof=1) / n)
    alike = error <= 1e-9
    with np.errstate(divide="ignore", invalid="ignore"):
        p = stdtr(n - 1, -mean / error)
    return np.where(alike, above, p <= level)
