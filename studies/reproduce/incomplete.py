"""Preferences with labels or topics taken out, against those by reciprocal rank with all of them (Figs. 8 and 9)."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from ir_measures_relative.data.arrays import FloatArray

from .recall_levels import Found, level_difference, lexiprecision

FRACTIONS = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])


def of_labels(found: Found, samples: int = 10, seed: int = 0) -> dict[str, FloatArray]:
    """What becomes of a part of each topic's relevant documents, at least one: fractions × samples.

    ``ties``, ``ranking``, ``ranking, half`` (a tie is half right) and ``system`` of ``RR`` and ``rrLP``, ``system`` of
    ``sgnLP``: shares.
    """
    target = np.sign(level_difference(found.rr, 1))
    of_systems = _sign_of_mean(level_difference(found.rr, 1))
    rng = np.random.default_rng(seed)
    result = defaultdict(list)
    for fraction in tqdm(FRACTIONS, desc="taking labels out", disable=None, leave=False):
        for _ in range(samples):
            rr = found.rr_of(_kept(found, fraction, rng))
            values = {"RR": level_difference(rr, 1), "rrLP": lexiprecision(rr)[0]}
            for measure, value in values.items():
                said, asked = np.sign(value), target != 0
                result[f"ties {measure}"].append((said == 0).mean())
                right, tied = (
                    float(x[asked].mean()) if asked.any() else np.nan for x in (said == target, said == 0)
                )
                result[f"ranking {measure}"].append(right)
                result[f"ranking, half {measure}"].append(right + tied / 2)
                result[f"system {measure}"].append(_agreement(value, of_systems))
            result["system sgnLP"].append(_agreement(np.sign(values["rrLP"]), of_systems))
    return _tables(result, samples)


def of_topics(found: Found, samples: int = 10, seed: int = 0) -> dict[str, FloatArray]:
    """What becomes of a part of the topics, at least one: ``system`` of each measure, fractions × samples."""
    values = {"RR": level_difference(found.rr, 1), "rrLP": lexiprecision(found.rr)[0]}
    values["sgnLP"] = np.sign(values["rrLP"])
    of_systems = _sign_of_mean(values["RR"])
    rng = np.random.default_rng(seed)
    result = defaultdict(list)
    topics = len(found.topics)
    for fraction in FRACTIONS:
        for _ in range(samples):
            some = rng.permutation(topics)[: max(1, int(fraction * topics))]
            for measure, value in values.items():
                result[f"system {measure}"].append(_agreement(value[:, some], of_systems))
    return _tables(result, samples)


def of_all(found: Found) -> float:
    """The share of pairs of runs that rrLP and RR order alike, by their means over all topics with all labels."""
    return _agreement(lexiprecision(found.rr)[0], _sign_of_mean(level_difference(found.rr, 1)))


def _kept(found: Found, fraction: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which documents stay: of each topic the whole part of the fraction, at least one."""
    order = np.lexsort((rng.random(len(found.topic)), found.topic))
    start = np.concatenate([[0], np.cumsum(found.relevant)])[found.topic[order]]
    number = np.maximum(1, (fraction * found.relevant + 1e-9).astype(np.int64))
    keep = np.zeros(len(order), dtype=bool)
    keep[order] = np.arange(len(order)) - start < number[found.topic[order]]
    return keep


def _sign_of_mean(values: FloatArray) -> FloatArray:
    mean = values.mean(axis=1)
    return np.where(np.abs(mean) < 1e-12, 0.0, np.sign(mean))


def _agreement(values: FloatArray, of_systems: FloatArray) -> float:
    asked = of_systems != 0
    return float((_sign_of_mean(values) == of_systems)[asked].mean()) if asked.any() else np.nan


def _tables(result: dict[str, list[float]], samples: int) -> dict[str, FloatArray]:
    return {name: np.array(values).reshape(len(FRACTIONS), samples) for name, values in result.items()}
