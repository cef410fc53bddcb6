"""Other topics: does a measure order the runs alike on samples and halves of them, and on which can it?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from tqdm import tqdm

from ..arguments import check_choice, check_count, check_share, is_number
from ..context.evaluate import check_runs, shares_of_topics
from ..context.measure_strings import is_relative, parse_measure
from ..context.run_context import RunContext
from ..context.view import check_is_context, view_of
from ..data.arrays import BoolArray, FloatArray, IntArray, ratio
from ..io.qrels import Qrels
from ..stats.paired_tests import PairedTestOptions, paired_test
from ..stats.pairs_and_ties import Pairs, places, tie_limit, with_ties
from .table import ScoreTable, pairs_of, read_table

# How many samples are looked at at once: more do not stay in the processor's cache, and take five times as long.
_BATCH = 64
# How many of the samples the jackknife takes, which halves the topics once more for each of them: the standard error of
# more differs by 5 %.
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
        threshold: ``"none"``, ``"relative"`` or ``"absolute"``.
        fuzziness: of the latter two.
        topics: how many a sample holds, without repetition; half of them, rounded down, if not given.

    Returns:
        a DataFrame with one row a measure:

        - ``measure``; ``pairs`` of runs; ``topics`` of a sample;
        - ``stability``, ``error_rate``, ``ties``: from 0 to 1.

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
    """Each measure, the size of a sample, and the means of both runs of each pair over samples: pairs × samples.

    So many samples are drawn ``at_once``, without a topic in common.
    """
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
    place = places(samples, n, seed)
    first, second = pairs_of(measures[0].names)
    for scores in tqdm(measures, desc="sampling topics", unit="measure", disable=None, leave=False):
        chosen = ((place // size == i).T.astype(np.float64) for i in range(at_once))
        means = [scores.runs() @ one / size for one in chosen]
        yield scores, int(size), [(m[first], m[second]) for m in means]


def reliability(table: Any, samples: int = 1000, *, seed: int = 0) -> pd.DataFrame:
    r"""Whether two halves of the topics order the runs alike, and on how many topics the mean of a run rests.

    - ``split_half`` is Kendall's τ_b of the runs' means on two random halves of the topics, the mean over ``samples``
      ways to halve them (as Urbano, Marrero and Martín, SIGIR 2013, have it). It is of half as many topics as there
      are, so the whole order is more reliable than that.
    - ``topics`` is the effective number of topics of a run, :math:`(\sum_q v_q)^2 / \sum_q v_q^2` of its values: all of
      them where the values are the same, 1 where one topic has it all (Kish, *Survey Sampling*, 1965, of weights).
    - ``largest`` is the share of a run's mean that comes from one topic, :math:`\max_q v_q / \sum_q v_q`.

    A share of a mean is one only where no value is below 0. By a measure with a negative value ``topics``, ``largest``
    and ``maximum`` are NaN. Runs whose values are all 0 have neither, and are left out of them.

    Invariant under: positive factors; ``split_half`` and its ``standard_error`` under added constants too. **The others
    are not:** what is added to all values is shared by all topics alike. Compare measures by them that are 0 where a
    run has achieved nothing.

    Args:
        samples: how many times the topics are halved; of an odd number one is left out.

    Returns:
        a DataFrame with one row a measure:

        - ``measure``; ``runs`` and ``of_topics``: how many the table has;
        - ``split_half``: from -1 to 1; NaN where the runs are tied on one half, whichever it is;
        - ``standard_error``: of ``split_half`` for a sample of other topics, by the jackknife over topics: how far it
          moves as each topic is left out, by 100 of the samples. Rather too large than too small. NaN with fewer than
          three topics, and where no topic moves it;
        - ``topics``: the effective number, from 1 to ``of_topics``, the median over the runs;
        - ``largest``: from 0 to 1, the median over the runs, and its ``maximum``.

    Example:
        >>> import pandas as pd
        >>> from ir_measures_relative import meta
        >>> values = {"P@10": {"a": [0.2, 0.4, 0.2, 0.4], "b": [0.1, 0.2, 0.1, 0.2]},
        ...           "NRG@10": {"a": [0.0, 0.0, 0.9, 0.0], "b": [0.1, 0.1, 0.0, 0.2]}}
        >>> rows = [(n, f"q{i}", m, v) for m, vs in values.items() for n, of_run in vs.items()
        ...         for i, v in enumerate(of_run)]
        >>> table = pd.DataFrame(rows, columns=["name", "query_id", "measure", "value"])
        >>> found = meta.reliability(table).round(2)
        >>> found[["measure", "split_half", "topics", "of_topics", "largest", "maximum"]]
          measure  split_half  topics  of_topics  largest  maximum
        0    P@10         1.0    3.60          4     0.33     0.33
        1  NRG@10        -1.0    1.83          4     0.75     1.00
    """
    check_count("samples", samples, 1)
    check_count("seed", seed, 0)
    measures = read_table(table, least_topics=2)
    n = len(measures[0].queries)
    place = places(samples, n, seed)
    rows = []
    for scores in tqdm(measures, desc="halving topics", unit="measure", disable=None, leave=False):
        values = scores.runs()
        row: dict[str, Any] = {"measure": scores.measure, "runs": len(values), "of_topics": n}
        row["split_half"] = _split_half(scores, place)
        row["standard_error"] = _jackknifed(scores, place[:_JACKKNIFED]) if n > 2 else np.nan
        shares = shares_of_topics(values)
        shares = shares[~np.isnan(shares).any(axis=1)]
        largest = shares.max(axis=1)
        row["topics"] = _median(1 / np.square(shares).sum(axis=1))
        rows.append(row | {"largest": _median(largest), "maximum": float(max(largest, default=np.nan))})
    return pd.DataFrame(rows)


def _split_half(scores: ScoreTable, place: IntArray) -> float:
    """The mean of τ_b of the runs' means on two halves: the first places, and as many behind; -1 is in neither."""
    half = (int(place[0].max()) + 1) // 2
    taus = np.concatenate([_taus(scores, place[i : i + _BATCH], half) for i in range(0, len(place), _BATCH)])
    known = ~np.isnan(taus)
    return float(taus[known].mean()) if known.any() else np.nan


def _taus(scores: ScoreTable, place: IntArray, half: int) -> FloatArray:
    """τ_b of each sample; NaN where all runs are tied on one of its halves."""
    first, second = pairs_of(scores.names)
    signs = []
    for chosen in ((place >= 0) & (place < half), (place >= half) & (place < 2 * half)):
        means = scores.runs() @ chosen.T.astype(np.float64) / half
        differences = means[first] - means[second]
        signs.append(np.sign(np.where(np.abs(differences) <= scores.pairs.limit, 0.0, differences)))
    one, two = signs
    told = np.sqrt(np.count_nonzero(one, axis=0) * np.count_nonzero(two, axis=0))
    taus: FloatArray = np.full(len(place), np.nan)
    np.divide((one * two).sum(axis=0), told, out=taus, where=told > 0)
    return taus


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
    view = view_of(context, qrels)
    check_runs(view)
    if cutoffs is not None and not len(cutoffs):
        raise ValueError("cutoffs is empty; give some, such as [5, 10], or leave it out")
    wanted = [parsed] if cutoffs is None else [parsed(cutoff=int(k)) for k in cutoffs]
    actual = np.zeros((len(context.names), view.n_queries))
    expected = np.zeros(view.n_queries)
    for one in wanted:
        compared = view.of_each()
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
    judgments = view.documents
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
    """Whether the mean over runs is above 0, by a one-sided t-test, or at all where all are alike; never by one run."""
    if topics.differences.shape[1] < 2:
        return np.zeros(len(topics.differences), dtype=bool)
    p = paired_test(topics, "t", PairedTestOptions(greater=True)).p
    return np.where(topics.constant, topics.differences.mean(axis=1) > topics.limit, p <= level)
