"""Does a measure order the runs alike on other topics?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import BoolArray, FloatArray
from ..options import check_choice, check_count, check_share
from .table import ROUNDING, Scores, frame, read_table

if TYPE_CHECKING:
    import pandas as pd


def stability(
    table: Any,
    threshold: str = "none",
    fuzziness: float = 0.05,
    trials: int = 1000,
    *,
    topics: int | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """How often samples of topics agree which of two runs is better: rareness §4.4, after Buckley and Voorhees.

    In each trial the runs have their means over a sample of topics. Of a pair, with W₁ trials won by one, W₂ by the
    other and T tied, stability is max(W₁, W₂) / trials, the error rate min(W₁, W₂) / trials (Buckley and Voorhees,
    SIGIR 2000); both are means over pairs, and with the share of ties they add up to 1.

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
        trials: how many samples.
        topics: how many a sample holds, without repetition; half of them, rounded down, if not given.
        seed: of the samples, which are the same for all measures.

    Returns:
        a DataFrame with one row a measure: ``measure``, ``pairs``, ``topics`` (of a sample), ``stability``,
        ``error_rate`` and ``ties``, each from 0 to 1.

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
    measures, size = _sampled(table, trials, topics, seed)
    chosen = _samples(len(measures[0].queries), trials, seed) < size
    rows = []
    for scores in _with_progress(measures, "sampling topics"):
        means = _means(scores, chosen)
        a, b = means[scores.first], means[scores.second]
        difference = a - b
        limit: Any = ROUNDING * scores.spread
        if threshold == "absolute":
            limit = limit + fuzziness
        elif threshold == "relative":
            limit = limit + fuzziness * np.maximum(np.abs(a), np.abs(b))
        wins, losses = (difference > limit).mean(axis=1), (difference < -limit).mean(axis=1)
        row = {"measure": scores.measure, "pairs": len(wins), "topics": size}
        row["stability"] = float(np.maximum(wins, losses).mean())
        row["error_rate"] = float(np.minimum(wins, losses).mean())
        rows.append(row | {"ties": float(((difference <= limit) & (difference >= -limit)).mean())})
    return frame(rows)


def swap_rate(
    table: Any, trials: int = 1000, *, topics: int | None = None, width: float | None = None, seed: int = 0
) -> pd.DataFrame:
    """How often two separate samples of topics disagree which of two runs is better.

    In each trial there are two samples without a topic in common, and each pair of runs has a difference of means on
    each. The swap rate is the share of all trials and pairs whose differences have opposite signs (Voorhees and
    Buckley, SIGIR 2002); from 0 to 1, and 0.5 where the runs do not differ. A difference of 0 is no swap.

    Invariant under: positive factors and added constants; by ``width`` **under added constants alone**, since the
    widths of differences are in the measure's own unit.

    Args:
        table: ``name``, ``query_id`` (or ``qid``), ``measure``, ``value``: what ``evaluate(…, perquery=True)`` returns.
        trials: how many pairs of samples.
        topics: how many each sample holds; half of them, rounded down, if not given, and at most that.
        width: gives a row for each class of differences on the first sample: from 0 to below the width, and so on (0.01
            in the paper). How large must a difference be to hold elsewhere?
        seed: of the samples, which are the same for all measures.

    Returns:
        a DataFrame with one row a measure: ``measure``, ``topics``, ``comparisons`` (trials × pairs), ``swaps`` and
        ``swap_rate``; with ``width`` one row a measure and class that occurs, from ``difference`` on.

    Raises:
        ValueError: a table that is not complete, fewer than two runs or topics, an argument that is not allowed.
    """
    if width is not None and (
        isinstance(width, bool) or not isinstance(width, (int, float, np.floating)) or not 0 < width < np.inf
    ):
        raise ValueError(
            f"width={width!r} is not allowed; it must be a number above 0, such as 0.01, or None"
        )
    measures, size = _sampled(table, trials, topics, seed, separate=True)
    places = _samples(len(measures[0].queries), trials, seed)
    rows = []
    for scores in _with_progress(measures, "swapping topics"):
        halves = (_means(scores, places < size), _means(scores, (places >= size) & (places < 2 * size)))
        one, two = (_difference(scores, means) for means in halves)
        swapped = one * two < 0
        row: dict[str, Any] = {"measure": scores.measure, "topics": size}
        if width is None:
            rows.append(row | _rate(swapped.size, int(swapped.sum())))
            continue
        of_class = np.floor(np.abs(one) / width + ROUNDING).astype(np.int64)
        for i in np.unique(of_class):
            here = of_class == i
            rows.append(row | {"difference": i * width} | _rate(int(here.sum()), int(swapped[here].sum())))
    return frame(rows)


def _rate(comparisons: int, swaps: int) -> dict[str, Any]:
    return {"comparisons": comparisons, "swaps": swaps, "swap_rate": swaps / comparisons}


def _difference(scores: Scores, means: FloatArray) -> FloatArray:
    difference = means[scores.first] - means[scores.second]
    return np.where(np.abs(difference) <= ROUNDING * scores.spread, 0.0, difference)


def _means(scores: Scores, chosen: BoolArray) -> FloatArray:
    """The means of the runs over each sample: runs × trials."""
    means: FloatArray = scores.runs() @ chosen.T.astype(np.float64) / chosen[0].sum()
    return means


def _samples(n: int, trials: int, seed: int) -> Any:
    """At which place of a random order each topic stands, in each trial."""
    places = np.tile(np.arange(n), (trials, 1))
    return np.random.default_rng(seed).permuted(places, axis=1)


def _sampled(
    table: Any, trials: int, topics: int | None, seed: int, separate: bool = False
) -> tuple[list[Scores], int]:
    """The measures, and how many topics a sample holds."""
    check_count("trials", trials, 1)
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


def _with_progress(measures: list[Scores], what: str) -> Any:
    from tqdm import tqdm

    return tqdm(measures, desc=what, unit="measure", disable=None, leave=False)
