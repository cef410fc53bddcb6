"""NRG(base='ERR') from its formula, and by following searchers. One query at a time, no arrays of documents."""

from __future__ import annotations

import numpy as np

from oracles.gains import theta


def residual_theta(
    doc: str, priors: list[list[str]], labels: dict[str, int], k: int | None, max_grade: int
) -> float:
    """The chance that no prior showed the document, times that it satisfies."""
    left = theta(doc, labels, max_grade)
    for prior in priors:
        top = prior if k is None else prior[:k]
        if doc in top:
            reached = 1.0
            for above in top[: top.index(doc)]:
                reached *= 1 - theta(above, labels, max_grade)
            left *= 1 - reached
    return left


def nrg_err_oracle(
    ranking: list[str],
    priors: list[list[str]],
    labels: dict[str, int],
    k: int | None = 10,
    max_grade: int = 4,
) -> float:
    """NRG(base='ERR') of one ranking."""
    value, reached = 0.0, 1.0
    for i, doc in enumerate(ranking if k is None else ranking[:k], start=1):
        left = residual_theta(doc, priors, labels, k, max_grade)
        value += reached * left / i
        reached *= 1 - left
    return value


def searchers(
    ranking: list[str],
    priors: list[list[str]],
    labels: dict[str, int],
    k: int,
    max_grade: int,
    n: int,
    seed: int,
    together: bool = False,
) -> tuple[float, float]:
    """The mean of 1/(the position where it is satisfied) over n searchers, and its standard error.

    Args:
        together: a searcher goes through each prior once, and remembers all that it saw; else what was seen is drawn
            anew for every document, as the measure assumes.
    """
    rng = np.random.default_rng(seed)

    def last_seen(prior: list[str]) -> np.ndarray:
        """How deep each searcher reads a prior: to the document that satisfies, or to the end."""
        depth = np.full(n, len(prior[:k]))
        for i, doc in reversed(list(enumerate(prior[:k], start=1))):
            depth[rng.random(n) < theta(doc, labels, max_grade)] = i
        return depth

    once = [last_seen(prior) for prior in priors]
    gained, searching = np.zeros(n), np.ones(n, dtype=bool)
    for i, doc in enumerate(ranking[:k], start=1):
        new = np.ones(n, dtype=bool)
        for j, prior in enumerate(priors):
            if doc in prior[:k]:
                new &= prior.index(doc) + 1 > (once[j] if together else last_seen(prior))
        satisfied = searching & new & (rng.random(n) < theta(doc, labels, max_grade))
        gained[satisfied] = 1 / i
        searching &= ~satisfied
    return float(gained.mean()), float(gained.std() / np.sqrt(n))
