"""Other topics: does a measure order the runs alike on samples and halves of them, and on which can it?"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from tqdm import tqdm

from ir_measures_relative import RelativeWarning, RunContext
from ir_measures_relative.stats import Pairs, paired_test

from .checks import check_choice, check_count, check_share, is_number
from .judged import Judged, check_is_context
from .table import BoolArray, FloatArray, IntArray, ScoreTable, pairs_of, read_table, with_ties
from .testing import ROUNDED

# How many samples are looked at at once: what stays in the processor's cache.
_BATCH = 64
# How many of the samples the jackknife takes: the standard error of more differs by 5 %.
_JACKKNIFED = 100


def stability(
    table: Any,
    threshold: str = "none",
    fuzziness: float = 0.05,
    samples: int = 1000,
    *,
    topics: int | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """How often samples of topics agree which of two runs is better (rareness §4.4; Buckley and Voorhees, SIGIR 2000).

    Of a pair, one run has the higher mean on W₁ samples, the other on W₂; the rest are ties. Stability is
    max(W₁, W₂) / samples, the error rate min(W₁, W₂) / samples. Both are means over pairs, and with the share of ties
    sum to 1. What counts as a tie, by ``threshold``:

    - ``"none"``: equal means. Invariant under: positive factors, added constants.
    - ``"relative"``: a difference of at most ``fuzziness`` times the larger mean. Not invariant under added constants.
    - ``"absolute"``: a difference of at most ``fuzziness``. Not invariant under factors: not for comparing measures.

    Args:
        topics: the size of a sample, without repetition; default: half of them, rounded down.

    Returns:
        a DataFrame with one row per measure: ``measure``, ``pairs``, ``topics``, and from 0 to 1 ``stability``,
        ``error_rate`` and ``ties``.
    """
    check_choice("threshold", threshold, ("none", "relative", "absolute"))
    check_share("fuzziness", fuzziness)
    rows = []
    for scores, size, ((a, b),) in _sampled(table, samples, topics, seed):
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


def _places(samples: int, n: int, seed: int) -> IntArray:
    """Return the place of each of n topics in a random order, from 0: samples × topics."""
    return np.random.default_rng(seed).permuted(np.tile(np.arange(n), (samples, 1)), axis=1)


def swap_rate(
    table: Any, samples: int = 1000, *, topics: int | None = None, width: float | None = None, seed: int = 0
) -> pd.DataFrame:
    """How often two separate samples of topics disagree which of two runs is better.

    The swap rate is the share of draws and pairs of runs whose differences of means have opposite signs on two samples
    without a topic in common (Voorhees and Buckley, SIGIR 2002); a difference of 0 is no swap. From 0 to 1; 0.5 where
    the runs do not differ. Invariant under: positive factors and added constants; with ``width`` only the latter.

    Args:
        topics: the size of a sample; default, and at most: half of them, rounded down.
        width: one row per class of differences on the first sample: from 0 to below the width, and so on.

    Returns:
        a DataFrame with one row per measure (and class): ``measure``, ``topics``, ``difference`` (where the class
        begins, with ``width``), ``comparisons`` (draws × pairs), ``swaps`` and their share ``swap_rate``.
    """
    if width is not None and not (is_number(width) and 0 < width < np.inf):
        raise ValueError(
            f"width={width!r} is not allowed; it must be a number above 0, such as 0.01, or None"
        )
    rows = []
    for scores, size, halves in _sampled(table, samples, topics, seed, at_once=2):
        limit = scores.pairs.limit
        one, two = (Pairs.between(*means, limit).differences for means in halves)
        of_class = np.floor((np.abs(one) + limit) / (width or np.inf))
        for i in np.unique(of_class):
            swapped = (one * two < 0)[of_class == i]
            row: dict[str, Any] = {"measure": scores.measure, "topics": size}
            row |= {} if width is None else {"difference": i * width}
            rows.append(row | {"comparisons": swapped.size, "swaps": int(swapped.sum())})
    result = pd.DataFrame(rows)
    return result.assign(swap_rate=result["swaps"] / result["comparisons"])


def _sampled(
    table: Any, samples: int, topics: int | None, seed: int, at_once: int = 1
) -> Iterator[tuple[ScoreTable, int, list[tuple[FloatArray, FloatArray]]]]:
    """Each measure, the size of a sample, and the means of both runs of pairs (× samples), ``at_once`` disjoint."""
    check_count("samples", samples, 1)
    check_count("seed", seed, 0)
    measures = read_table(table, least_topics=2)
    n = len(measures[0].queries)
    size = n // 2 if topics is None else topics
    check_count("topics", size, 1)
    if size > n // at_once:
        raise ValueError(
            f"topics={topics} is not allowed; the table has {n}, and a sample holds at most {n // at_once} of them"
        )
    place = _places(samples, n, seed)
    first, second = pairs_of(measures[0].names)
    for scores in tqdm(measures, desc="sampling topics", unit="measure", disable=None, leave=False):
        chosen = ((place // size == i).T.astype(np.float64) for i in range(at_once))
        means = [scores.runs() @ one / size for one in chosen]
        yield scores, int(size), [(m[first], m[second]) for m in means]


def reliability(table: Any, samples: int = 1000, *, seed: int = 0) -> pd.DataFrame:
    r"""Do two halves of the topics order the runs alike, and on how many topics does the mean of a run rest?

    - ``split_half``: Kendall's τ_b of the runs' means on two random halves of the topics, the mean over ``samples``
      splits (Urbano, Marrero and Martín, SIGIR 2013), from -1 to 1. It is the reliability of half as many topics.
    - ``standard_error``: of ``split_half``, for other topics: the jackknife over topics of 100 splits. It is rather too
      large. NaN with fewer than three topics, and where no topic changes the order.
    - ``topics``: the effective number of topics, :math:`(\sum_q v_q)^2 / \sum_q v_q^2` (Kish, *Survey Sampling*, 1965),
      from 1 to ``of_topics``; the median over runs.
    - ``largest``: the largest share of one topic, :math:`\max_q v_q / \sum_q v_q`; the median over runs. ``maximum``
      is the largest over runs.

    The last three are NaN for a measure with a negative value, and leave out runs whose values are all 0. Invariant
    under: positive factors; under added constants ``split_half`` and ``standard_error`` only.

    Returns:
        a DataFrame with one row per measure: ``measure``, ``runs``, ``of_topics``, and these statistics.
    """
    check_count("samples", samples, 1)
    check_count("seed", seed, 0)
    measures = read_table(table, least_topics=2)
    n = len(measures[0].queries)
    place = _places(samples, n, seed)
    rows = []
    for scores in tqdm(measures, desc="halving topics", unit="measure", disable=None, leave=False):
        values = scores.runs()
        row: dict[str, Any] = {"measure": scores.measure, "runs": len(values), "of_topics": n}
        row["split_half"] = _split_half(scores, place)
        row["standard_error"] = _jackknifed(scores, place[:_JACKKNIFED]) if n > 2 else np.nan
        shares = _shares_of_topics(values)
        largest = shares.max(axis=1)
        row["topics"] = _median(1 / np.square(shares).sum(axis=1))
        rows.append(row | {"largest": _median(largest), "maximum": float(max(largest, default=np.nan))})
    return pd.DataFrame(rows)


def _shares_of_topics(values: FloatArray) -> FloatArray:
    """Return the share of each topic in a run's mean, of the runs above 0; of none where a value is negative."""
    if values.min() < -ROUNDED * values.max():
        return np.empty((0, values.shape[1]))
    positive = np.maximum(values, 0.0)
    total = positive.sum(axis=1, keepdims=True)
    some = total[:, 0] > 0
    return positive[some] / total[some]


def _split_half(scores: ScoreTable, place: IntArray) -> float:
    """The mean of τ_b of the runs' means on two halves: the first places, and as many behind; -1 is in neither."""
    half, (first, second) = (int(place[0].max()) + 1) // 2, pairs_of(scores.names)
    taus = []
    for at in range(0, len(place), _BATCH):
        signs = []
        for i in (0, 1):
            means = scores.runs() @ (place[at : at + _BATCH] // half == i).T.astype(np.float64) / half
            signs.append(np.sign(Pairs.between(means[first], means[second], scores.pairs.limit).differences))
        told = np.sqrt(np.count_nonzero(signs[0], axis=0) * np.count_nonzero(signs[1], axis=0))
        taus.append(((signs[0] * signs[1]).sum(axis=0) / np.where(told > 0, told, np.nan))[told > 0])
    known = np.concatenate(taus)
    return float(known.mean()) if len(known) else np.nan


def _jackknifed(scores: ScoreTable, place: IntArray) -> float:
    """The standard error of the mean of τ_b: the same ways to halve the topics, each topic left out in turn."""
    n = place.shape[1]
    found = np.empty(n)
    for topic in range(n):
        without = place - (place > place[:, [topic]])
        without[:, topic] = -1
        found[topic] = _split_half(scores, without)
    # Where no topic moves it, as of two runs far apart, that is no sign that other topics would not.
    return float(np.sqrt((n - 1) * found.var())) if np.ptp(found) > 1e-12 else np.nan


def _median(values: FloatArray) -> float:
    return float(np.median(values)) if len(values) else np.nan


def query_sets(
    context: RunContext,
    qrels: Any,
    measure: ir_measures.Measure | str = "nDCG_UE@10",
    share: float = 0.1,
) -> pd.DataFrame:
    """The topics on which runs are hardly, or far, above a random ranking; broad and focused ones (UE §6.3.2).

    - ``actual``: the mean over runs of the value divided by that of a perfect ranking; ``expected``:
      the same of a random ranking of the topic's pool.
    - ``set``: ``"uninformative"``: the ``share`` of topics with the lowest ``difference``, rounded up, at most half;
      ``"ideal"``: the same share with the highest; else ``""``. Ties keep the order of the qrels.
    - ``informative``: whether the runs are above random by a one-sided t-test over runs at 0.05 (§4); never with one
      run. It takes the runs for a random sample.
    - ``breadth``: ``"broad"`` if at least half of the judged documents have a grade of 2 or more, else ``"focused"``.

    A measure that rewards the distance from random differs most on sets that are chosen by it. Invariant under:
    positive factors of the gains.

    Args:
        measure: nDCG_UE or AP_UE, of the judged documents or the collection; ``version`` does not count.

    Returns:
        a DataFrame with one row per topic: ``measure``, ``query_id``, ``actual``, ``expected``, ``difference``,
        ``set``, ``informative`` and ``breadth``.
    """
    check_is_context(context)
    parsed = ir_measures.parse_measure(measure) if isinstance(measure, str) else measure
    if parsed.NAME not in ("nDCG_UE", "AP_UE") or parsed.params.get("pool") == "run":
        raise ValueError(
            f"{parsed} has no expected value of each topic; give nDCG_UE@10 or AP_UE@10, without pool='run'"
        )
    check_share("share", share)
    if not context.names:
        raise ValueError("the context holds no run; give it some")
    judged = Judged.read(qrels)
    first = parsed(
        version=1
    )  # (A/IUB)² / (A/IUB + REB/IUB), so that 1 / (1 + REB/IUB) is that of a perfect ranking
    rows = judged.rows.assign(score=judged.rows["relevance"].astype(float))
    perfect = RunContext({"perfect": rows}, num_docs=context.num_docs, grades=context.grades)
    of_perfect = _values(perfect, judged, first)[0]
    expected = np.divide(1.0, of_perfect, out=np.ones(len(of_perfect)), where=of_perfect > 0) - 1
    value = _values(context, judged, first)
    actual = (value + np.sqrt(value**2 + 4 * value * expected)) / 2
    pairs = Pairs.between(actual.T, np.tile(expected[:, None], len(actual)))  # topics × runs
    difference = actual.mean(axis=0) - expected
    ranked = with_ties(difference, pairs.limit)
    size = min(int(np.ceil(round(share * len(difference), 9))), len(difference) // 2)
    sets = np.full(len(difference), "", dtype=object)
    sets[np.argsort(ranked, kind="stable")[:size]] = "uninformative"
    highest = np.argsort(-ranked, kind="stable")
    sets[highest[sets[highest] == ""][:size]] = "ideal"  # of tied topics, some may be in the other set
    high = np.bincount(judged.query, weights=judged.grade >= 2, minlength=len(difference))
    broad = high >= 0.5 * np.bincount(judged.query, minlength=len(difference))
    return pd.DataFrame(
        {
            "measure": pd.Series([str(parsed)] * len(difference), dtype=str),
            "query_id": pd.Series(judged.query_ids, dtype=str),
            "actual": actual.mean(axis=0),
            "expected": expected,
            "difference": difference,
            "set": pd.Series(sets, dtype=str),
            "informative": _above(pairs),
            "breadth": pd.Series(np.where(broad, "broad", "focused"), dtype=str),
        }
    )


def _values(context: RunContext, judged: Judged, measure: ir_measures.Measure) -> FloatArray:
    """Return the values of one measure: runs × topics."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelativeWarning)
        table = context.evaluate(judged.rows, [measure], perquery=True)
    wide = table.pivot(index="name", columns="query_id", values="value")
    return wide.loc[context.names, judged.query_ids].to_numpy(dtype=np.float64)


def _above(topics: Pairs) -> BoolArray:
    """Whether the mean over runs is above 0, by a one-sided t-test, or at all where all are alike; never by one run."""
    if topics.differences.shape[1] < 2:
        return np.zeros(len(topics.differences), dtype=bool)
    above, p = topics.differences.mean(axis=1) > 0, paired_test(topics, "t").p / 2
    return np.where(topics.constant, topics.differences.mean(axis=1) > topics.limit, above & (p <= 0.05))
