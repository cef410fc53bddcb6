"""Random numbers of the tests: resamples of topics, flipped signs, permuted names."""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray, IntArray

_BATCH = 2**22


def topic_counts(resamples: int, topics: int, seed: int) -> FloatArray:
    """How often each of some resamples of topics, drawn with replacement, holds each topic: resamples × topics."""
    draws = np.random.default_rng(seed).integers(topics, size=(resamples, topics))
    flat = (draws + topics * np.arange(resamples)[:, None]).ravel()
    return np.bincount(flat, minlength=resamples * topics).reshape(resamples, topics).astype(np.float64)


def flipped_signs(resamples: int, topics: int, seed: int) -> tuple[FloatArray, bool]:
    """Signs by topic, 1 or -1, each as likely: resamples × topics; and whether these are all that there are.

    They are all, each once, where there are at most as many as ``resamples``.
    """
    if 2**topics <= resamples:
        every: FloatArray = (np.arange(2**topics)[:, None] >> np.arange(topics) & 1).astype(np.float64)
        return 1.0 - 2.0 * every, True
    order = np.tile(np.arange(2, dtype=np.int8), (resamples, topics, 1))
    # As scipy's permutation_test draws them.
    drawn: FloatArray = np.random.default_rng(seed).permuted(order, axis=-1)[..., 0].astype(np.float64)
    return 1.0 - 2.0 * drawn, False


def permuted_means(values: FloatArray, permutations: int, seed: int) -> FloatArray:
    """The means of runs × topics where the names of the runs are permuted on each topic: permutations × runs."""
    runs, topics = values.shape
    rng = np.random.default_rng(seed)
    by_topic = np.ascontiguousarray(values.T).ravel()
    result = np.empty((permutations, runs))
    batch = max(1, _BATCH // (runs * topics))
    offset = np.arange(topics)[:, None] * runs
    for start in range(0, permutations, batch):
        stop = min(start + batch, permutations)
        order = np.tile(np.arange(runs, dtype=np.int32), (stop - start, topics, 1))
        rng.permuted(order, axis=2, out=order)
        result[start:stop] = by_topic[order + offset].mean(axis=1)
    return result


def places(samples: int, n: int, seed: int) -> IntArray:
    """At which place of a random order each of n topics stands, from 0: samples × topics."""
    return np.random.default_rng(seed).permuted(np.tile(np.arange(n), (samples, 1)), axis=1)
