"""How a ranking of runs moves with the other runs: rareness §4.5."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import ir_measures
import numpy as np

from ..comparison import check_is_context, judged_context
from ..io.qrels import Qrels
from ..measures.strings import is_relative, parse_measures
from ..options import check_count
from ..questions.sweeping import of_size
from ..scoring import check_campaign
from ..unjudged.parts import FewerRuns
from .correlations import KINDS, standing
from .scoring import score
from .summary import check_kinds, summary
from .table import Scores, frame, of_pairs

if TYPE_CHECKING:
    import pandas as pd

    from ..context import RunContext


def system_subsets(
    context: RunContext,
    qrels: Qrels | None,
    measures: Sequence[ir_measures.Measure | str],
    sizes: Sequence[int] | None = None,
    kinds: str | Sequence[str] = "tau",
    trials: int = 1000,
    *,
    seed: int = 0,
) -> pd.DataFrame:
    r"""Does a measure that is relative to the systems rank runs alike where there are fewer? (rareness, Algorithm 1)

    Draws subsets of N of the context's runs, ranks the runs of each as though these alone had taken part, and
    correlates that with how the ranking of all runs orders them. By a measure that is not relative to the other runs
    the correlation is 1.

    A measure of pairs (rrLP, sgnLP, sgnLR, RPP without ``ref=``) has no value of one run: runs are ranked by their
    means over topics and opponents, which are the subset's.

    Unlike in the paper, no subset counts twice; where there are at most ``trials`` of a size, all are taken, and the
    mean is exact.

    Invariant under: positive factors and added constants of the measure, since only the order of means counts; not
    under the choice of runs, which it is about.

    Args:
        context: the runs; its policy of priors is asked anew in each subset, without those that are left out.
        qrels: the judgments, as for :meth:`RunContext.evaluate`.
        measures: measures of this package and of ir_measures, or their strings; without ``ref=`` and ``prior=``.
        sizes: the N, from 2 to the number of runs; the powers of 2 below it if not given.
        kinds: ``"tau"``, ``"tau_ap"``, ``"weighted"`` as in :func:`correlation`, or a list of these; the ranking of all
            runs is the truth.
        trials: how many subsets of a size.
        seed: of their choice, which is the same for all measures.

    Returns:
        a DataFrame with one row a measure, kind and size: ``measure``, ``kind``, ``systems``, ``samples`` (subsets),
        ``mean`` and ``deviation`` of the correlation (that of the subsets drawn, n - 1; NaN of one). Subsets by which
        a measure ties all runs have no τ and do not count.

    Raises:
        ValueError: fewer than two runs, a size that is not allowed, a measure that names a run; what
            :meth:`RunContext.evaluate` raises.

    Example:
        >>> from ir_measures_relative import P_Rareness, RunContext, meta
        >>> ranking = lambda docs: {"q": {d: -float(i) for i, d in enumerate(docs)}}
        >>> runs = {name: ranking(docs) for name, docs in [("a", "ABX"), ("b", "ABC"), ("c", "DEX"), ("d", "CXY")]}
        >>> context, qrels = RunContext(runs), {"q": dict.fromkeys("ABCDE", 1)}
        >>> meta.system_subsets(context, qrels, [P_Rareness @ 3], sizes=[2, 3, 4]).round(3)
                measure kind  systems  samples   mean  deviation
        0  P_Rareness@3  tau        2        5  1.000      0.000
        1  P_Rareness@3  tau        3        4  0.954      0.092
        2  P_Rareness@3  tau        4        1  1.000        NaN
    """
    from tqdm import tqdm

    check_is_context(context)
    parsed, names = parse_measures(measures), context.names
    chosen = check_kinds(kinds, tuple(KINDS))
    check_count("trials", trials, 1)
    check_count("seed", seed, 0)
    for measure in parsed:
        for param in ("ref", "prior"):
            if is_relative(measure) and measure.params.get(param) is not None:
                raise ValueError(
                    f"{measure} names {measure.params[param]!r}, which not every subset of the runs holds; leave "
                    f"{param}= out"
                )
    if len(names) < 2:
        raise ValueError(
            f"the context holds {len(names)} run{'s' * (len(names) != 1)}; give two or more to rank"
        )
    if sizes is None:
        sizes = [2**i for i in range(1, (len(names) - 1).bit_length()) if 2**i < len(names)] or [2]
    if not len(sizes):
        raise ValueError("sizes is empty; give some, or leave it out")
    for size in sizes:
        check_count("sizes", size, 2)
        if size > len(names):
            raise ValueError(f"sizes holds {size}, and the context {len(names)} runs; give smaller ones")
    judged = judged_context(context, qrels)
    check_campaign(judged)
    full = score(judged, parsed)
    truth = {scores.measure: standing(scores) for scores in full}
    anew = [m for m in parsed if is_relative(m) and m.RELATIVE_TO in ("priors", "systems")]
    found: dict[tuple[str, str, int], list[float]] = {
        (measure, kind, int(size)): [] for measure in truth for kind in chosen for size in sizes
    }
    subsets = [(int(n), rows) for n in sizes for rows in of_size(range(len(names)), int(n), trials, seed)]
    for size, rows in tqdm(subsets, desc="choosing systems", unit="subset", disable=None, leave=False):
        moved = {scores.measure: standing(scores) for scores in score(FewerRuns(judged, rows), anew)}
        moved |= {s.measure: standing(_among(s, rows)) for s in full if s.values is None}
        for measure, of_all in truth.items():
            of_some = of_all[list(rows)]
            for kind in chosen:
                values = found[measure, kind, size]
                values.append(KINDS[kind](moved.get(measure, of_some), of_some))
    return frame(
        [
            {"measure": measure, "kind": kind, "systems": size} | summary(values)
            for (measure, kind, size), values in found.items()
        ]
    )


def _among(scores: Scores, rows: Sequence[int]) -> Scores:
    """The pairs of some runs alone."""
    inside = np.isin(scores.first, rows) & np.isin(scores.second, rows)
    names = [scores.names[i] for i in rows]
    return of_pairs(scores.measure, scores.differences[inside], names, scores.queries)
