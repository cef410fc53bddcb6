"""How far one ranking may be preferred to another, under all labels of the open documents, one after the other."""

from __future__ import annotations

import itertools

import numpy as np

from ir_measures_relative.bounding.preferences import (
    greatest_lexicographic,
    greatest_paired,
    may_win_worst_case,
)
from ir_measures_relative.measures.bases.browsing import Reciprocal
from oracles.lexiprecision import rpp_oracle, rrlp_oracle, sgnlr_oracle


def levels(position: np.ndarray, relevant: list[int]) -> list[float]:
    """Where the relevant documents are, first ranks first; infinite where they are not retrieved."""
    return sorted(float(position[d]) if position[d] else np.inf for d in relevant)


def test_no_label_leaves_the_bounds_and_some_attain_them() -> None:
    rng, tight = np.random.default_rng(0), []
    for _ in range(400):
        n = int(rng.integers(1, 6))
        x, y = (np.where(rng.random(n) < 0.8, rng.permutation(n) + 1, 0) for _ in range(2))
        is_open = rng.random(n) < 0.6
        known, free = np.flatnonzero(~is_open).tolist(), np.flatnonzero(is_open).tolist()
        found = [
            [levels(position, [*known, *some]) for position in (x, y)]
            for size in range(len(free) + 1)
            for some in itertools.combinations(free, size)
        ]
        first, last = (max(oracle(*pair) for pair in found) for oracle in (rrlp_oracle, sgnlr_oracle))
        paired = max(rpp_oracle(*pair, "inverse") for pair in found)
        assert abs(greatest_lexicographic(x, y, is_open) - first) < 1e-12
        bound, attained = may_win_worst_case(x, y, is_open)
        assert bound == last if attained else bound >= last
        bound = greatest_paired(x, y, is_open, Reciprocal())
        assert bound >= paired - 1e-12
        tight.append(bound < paired + 1e-12)
    assert np.mean(tight) > 0.5
