"""How many topics is a mean of? Whether halves of them order the runs alike, and what one topic supplies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from ..arrays import FloatArray, IntArray
from ..options import check_count
from ..scoring import shares_of_topics
from ..stats.pairs_and_ties import places
from .table import Measured, pairs_of, read_table

# How many samples are looked at at once: more do not stay in the processor's cache, and take five times as long.
_BATCH = 64
# How many of the samples the jackknife takes, which halves the topics once more for each of them: the standard error of
# more differs by 5 %.
_JACKKNIFED = 100


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
        table: ``name``, ``query_id`` (or ``qid``), ``measure``, ``value``: what ``evaluate(…, perquery=True)`` returns.
        samples: how many times the topics are halved; of an odd number one is left out.
        seed: of the halves, which are the same for all measures.

    Returns:
        a DataFrame with one row a measure:

        - ``measure``; ``runs`` and ``of_topics``: how many the table has;
        - ``split_half``: from -1 to 1; NaN where the runs are tied on one half, whichever it is;
        - ``standard_error``: of ``split_half`` for a sample of other topics, by the jackknife over topics: how far it
          moves as each topic is left out, by 100 of the samples. Rather too large than too small. NaN with fewer than
          three topics;
        - ``topics``: the effective number, from 1 to ``of_topics``, the median over the runs;
        - ``largest``: from 0 to 1, the median over the runs, and its ``maximum``.

    Raises:
        ValueError: a table that is not complete or has pairs, fewer than two runs or topics, an argument that is not
            allowed.

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


def _split_half(scores: Measured, place: IntArray) -> float:
    """The mean of τ_b of the runs' means on two halves: topics at the first places, and as many that follow.

    Args:
        place: samples × topics; a topic at -1 is in neither half.
    """
    half = (int(place[0].max()) + 1) // 2
    taus = np.concatenate([_taus(scores, place[i : i + _BATCH], half) for i in range(0, len(place), _BATCH)])
    known = ~np.isnan(taus)
    return float(taus[known].mean()) if known.any() else np.nan


def _taus(scores: Measured, place: IntArray, half: int) -> FloatArray:
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


def _jackknifed(scores: Measured, place: IntArray) -> float:
    """The standard error of the mean of τ_b: the same ways to halve the topics, each topic left out in turn."""
    n = place.shape[1]
    found = np.empty(n)
    for topic in range(n):
        without = place - (place > place[:, [topic]])
        without[:, topic] = -1
        found[topic] = _split_half(scores, without)
    return float(np.sqrt((n - 1) * found.var()))


def _median(values: FloatArray) -> float:
    return float(np.median(values)) if len(values) else np.nan
