"""Other topics: does a measure order the runs alike on samples of them, and on which is there anything to tell?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from tqdm import tqdm

from ..arrays import BoolArray, FloatArray, ratio
from ..comparison import Comparison, check_is_context, judged_context
from ..context import RunContext
from ..io.qrels import Qrels
from ..measures.strings import is_relative, parse_measure
from ..options import check_choice, check_count, check_share, is_number
from ..scoring import check_campaign
from ..stats.paired_tests import PairedTestOptions, paired_test
from ..stats.pairs_and_ties import Pairs, places, tie_limit, with_ties
from .table import Measured, pairs_of, read_table


def stability(
    table: Any,
    threshold: str = "none",
    fuzziness: float = 0.05,
    samples: int = 1000,
    *,
    topics: int | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """How often samples of topics agree which of two runs is better: rareness §4.4, after Buckley and Voorhees.

    The runs have their means over each sample of topics. Of a pair, one wins W₁ samples, the other W₂, and the rest are
    ties. Stability is max(W₁, W₂) / samples, the error rate min(W₁, W₂) / samples (Buckley and Voorhees, SIGIR 2000).
    Both are means over pairs; with the share of ties they add up to 1.

    What is a tie, and so what the numbers are invariant under:

    - ``"none"``: equal means. Stability is 0.5 or more but for ties. **Invariant under: positive factors, added
      constants.**
    - ``"relative"``: a difference of at most ``fuzziness`` of the larger of the two means, by magnitude: Buckley and
      Voorhees' fuzziness. **Invariant under: factors. Not under added constants.**
    - ``"absolute"``: a difference of at most ``fuzziness``. **Invariant under: added constants. Not under factors**, so
      that 2 × P@10 is more stable than P@10, the same measure. Not for comparing measures.

    Args:
        table: ``name``, ``query_id`` (or ``qid``), ``measure``, ``value``: what ``evaluate(…, perquery=True)`` returns.
        threshold: ``"none"``, ``"relative"`` or ``"absolute"``.
        fuzziness: of the latter two.
        samples: how many.
        topics: how many a sample holds, without repetition; half of them, rounded down, if not given.
        seed: of the samples, which are the same for all measures.

    Returns:
        a DataFrame with one row a measure:

        - ``measure``; ``pairs`` of runs; ``topics`` of a sample;
        - ``stability``, ``error_rate``, ``ties``: from 0 to 1.

    Raises:
        ValueError: a table that is not complete, fewer than two runs or topics, an argument that is not allowed.

    Example:
        >>> import pandas as pd
        >>> from ir_measures_relative import meta
        >>> rows = [(n, q, m, f * v) for m, f in [("M", 1), ("2M", 2)] for n, v in [("a", 0.30), ("b", 0.26)]
        ...         for q in range(4)]
        >>> table = pd.DataFrame(rows, columns=["name", "query_id", "measure", "value"])
        >>> meta.stability(table, threshold="absolute")
          measure  pairs  topics  stability  error_rate  ties
        0       M      1       2        0.0         0.0   1.0
        1      2M      1       2        1.0         0.0   0.0
    """
    check_choice("threshold", threshold, ("none", "relative", "absolute"))
    check_share("fuzziness", fuzziness)
    measures, size = _sampled(table, samples, topics, seed)
    chosen = places(samples, len(measures[0].queries), seed) < size
    rows = []
    for scores in tqdm(measures, desc="sampling topics", unit="measure", disable=None, leave=False):
        a, b = _means(scores, chosen)
        difference = a - b
        limit: Any = scores.pairs.limit
        if threshold == "absolute":
            limit = limit + fuzziness
        elif threshold == "relative":
            limit = limit + fuzziness * np.maximum(np.abs(a), np.abs(b))
        wins, losses = (difference > limit).mean(axis=1), (difference < -limit).mean(axis=1)
        row = {"measure": scores.measure, "pairs": len(wins), "topics": size}
        row["stability"] = float(np.maximum(wins, losses).mean())
        row["error_rate"] = float(np.minimum(wins, losses).mean())
        rows.append(row | {"ties": float(((difference <= limit) & (difference >= -limit)).mean())})
    return pd.DataFrame(rows)


def swap_rate(
    table: Any, samples: int = 1000, *, topics: int | None = None, width: float | None = None, seed: int = 0
) -> pd.DataFrame:
    """How often two separate samples of topics disagree which of two runs is better.

    Two samples without a topic in common are drawn at a time, and each pair of runs has a difference of means on each.
    The swap rate is the share of all draws and pairs whose differences have opposite signs (Voorhees and
    Buckley, SIGIR 2002); from 0 to 1, and 0.5 where the runs do not differ. A difference of 0 is no swap.

    Invariant under: positive factors and added constants; by ``width`` **under added constants alone**, since the
    widths of differences are in the measure's own unit.

    Args:
        table, seed: as for :func:`stability`.
        samples: how many pairs of samples.
        topics: how many each sample holds; half of them, rounded down, if not given, and at most that.
        width: gives a row for each class of differences on the first sample: from 0 to below the width, and so on (0.01
            in the paper). How large must a difference be to hold elsewhere?

    Returns:
        a DataFrame with one row a measure, or with ``width`` a row for each measure and class that occurs:

        - ``measure``; ``topics`` of a sample;
        - ``difference``: where the class begins, with ``width`` alone;
        - ``comparisons``: draws × pairs;
        - ``swaps``: how many of them disagree, and ``swap_rate``, their share.

    Raises:
        ValueError: as :func:`stability`.
    """
    if width is not None and not (is_number(width) and 0 < width < np.inf):
        raise ValueError(
            f"width={width!r} is not allowed; it must be a number above 0, such as 0.01, or None"
        )
    measures, size = _sampled(table, samples, topics, seed, separate=True)
    place = places(samples, len(measures[0].queries), seed)
    halves = place < size, (place >= size) & (place < 2 * size)
    rows = []
    for scores in tqdm(measures, desc="swapping topics", unit="measure", disable=None, leave=False):
        limit = scores.pairs.limit
        one, two = (Pairs.between(*_means(scores, half), limit).differences for half in halves)
        swapped = one * two < 0
        row: dict[str, Any] = {"measure": scores.measure, "topics": size}
        if width is None:
            rows.append(row | {"comparisons": swapped.size, "swaps": int(swapped.sum())})
            continue
        of_class = np.floor((np.abs(one) + limit) / width).astype(np.int64)
        for i in np.unique(of_class):
            here = of_class == i
            row |= {"difference": i * width, "comparisons": int(here.sum())}
            rows.append(row | {"swaps": int(swapped[here].sum())})
    result = pd.DataFrame(rows)
    return result.assign(swap_rate=result["swaps"] / result["comparisons"])


def _means(scores: Measured, chosen: BoolArray) -> tuple[FloatArray, FloatArray]:
    """The means of the first and the second run of each pair over each sample: pairs × samples."""
    means: FloatArray = scores.runs() @ chosen.T.astype(np.float64) / chosen[0].sum()
    first, second = pairs_of(scores.names)
    return means[first], means[second]


def _sampled(
    table: Any, samples: int, topics: int | None, seed: int, separate: bool = False
) -> tuple[list[Measured], int]:
    """The measures, and how many topics a sample holds."""
    check_count("samples", samples, 1)
    check_count("seed", seed, 0)
    measures = read_table(table, least_topics=2)
    n = len(measures[0].queries)
    if topics is None:
        return measures, n // 2
    check_count("topics", topics, 1)
    most = n // 2 if separate else n
    if topics > most:
        raise ValueError(
            f"topics={topics} is not allowed; the table has {n}, and a sample holds at most {most} of them"
        )
    return measures, int(topics)


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
        context, qrels: the runs, and the judgments as for :meth:`RunContext.evaluate`.
        measure: nDCG_UE, AP_UE or their like, whose pool and random level these are; ``version`` does not matter.
        cutoffs: over which the values are averaged (5, 10, 15, 20 and 30 in the paper); the measure's own if not given.
        share: of the topics that are uninformative, and ideal; rounded up, and at most half.
        level: of the test for informative ones.
        rel: the lowest grade that makes a topic broad.
        breadth: the share of judged documents that do.

    Returns:
        a DataFrame with one row a topic, in the order of the qrels. ``table[table["query_id"].isin(…)]`` are the values
        on some topics. Its columns:

        - ``measure``, ``query_id``;
        - ``actual``, ``expected``, and the ``difference`` of the two;
        - ``set``: ``"uninformative"``, ``"ideal"`` or ``""``;
        - ``informative``: whether the topic is;
        - ``breadth``: ``"broad"`` or ``"focused"``.

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
    check_is_context(context)
    parsed: Any = parse_measure(measure)
    if not (is_relative(parsed) and hasattr(parsed, "normalizers")):
        raise ValueError(f"{parsed} has no expected value; give nDCG_UE@10 or AP_UE@10")
    check_share("share", share)
    check_share("level", level)
    check_count("rel", rel, 1)
    if not is_number(breadth) or not 0 < breadth <= 1:
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
    limit = tie_limit(np.vstack([actual, expected]))
    difference = actual.mean(axis=0) - expected
    ranked = with_ties(difference, limit)
    size = min(int(np.ceil(round(share * len(difference), 9))), len(difference) // 2)
    sets = np.full(len(difference), "", dtype=object)
    sets[np.argsort(ranked, kind="stable")[:size]] = "uninformative"
    sets[np.argsort(-ranked, kind="stable")[:size]] = "ideal"
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
            "informative": _above(
                Pairs.between(actual.T, np.tile(expected, (len(actual), 1)).T, limit), level
            ),
            "breadth": pd.Series(np.where(broad, "broad", "focused"), dtype=str),
        }
    )


def _above(topics: Pairs, level: float) -> BoolArray:
    """Whether the mean over runs is above 0, by a one-sided t-test; where all runs are alike, whether it is at all.

    A single run is no sample, and tells nothing.
    """
    if topics.differences.shape[1] < 2:
        return np.zeros(len(topics.differences), dtype=bool)
    p = paired_test(topics, "t", PairedTestOptions(greater=True)).p
    return np.where(topics.constant, topics.differences.mean(axis=1) > topics.limit, p <= level)
