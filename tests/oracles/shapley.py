"""What a set of systems is worth to a searcher who reads them all, and the Shapley value of each."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

from oracles.gains import gain_oracle
from oracles.nrg import nrg_residual, nrg_seen


def set_value_oracle(
    systems: Sequence[list[str]],
    labels: dict[str, int],
    base: str = "P",
    k: int | None = 10,
    p: float = 0.8,
    rel: int = 1,
    dcg: str = "log2",
    gains: dict[int, int] | None = None,
    norm: bool = True,
) -> float:
    """v(S): what a searcher gains who reads the rankings of all these systems."""

    def gain(doc: str) -> float:
        if base == "nDCG":
            return gain_oracle(labels[doc], dcg, gains)
        return 1.0 if labels[doc] >= rel else 0.0

    found = sum(gain(d) - nrg_residual(d, gain(d), list(systems), base, k, p) for d in labels)
    if not norm:
        return found
    if base == "P":
        assert k is not None
        return found / k
    if base == "RBP":
        return found * (1 - p)
    if base == "SDCG":
        assert k is not None
        return found / sum(nrg_seen(i, base, p) for i in range(1, k + 1))
    ideal = sorted(map(gain, labels), reverse=True)
    total = sum(g * nrg_seen(i, base, p) for i, g in enumerate(ideal if k is None else ideal[:k], start=1))
    return found / total if total > 0 else 0.0


def shapley_oracle(i: int, systems: list[list[str]], labels: dict[str, int], **options: Any) -> float:
    """The Shapley value of system i, over all subsets of the others."""
    others = [s for j, s in enumerate(systems) if j != i]
    total = 0.0
    for size in range(len(others) + 1):
        weight = 1 / (math.comb(len(others), size) * len(systems))
        for subset in itertools.combinations(others, size):
            with_it = set_value_oracle([*subset, systems[i]], labels, **options)
            total += weight * (with_it - set_value_oracle(subset, labels, **options))
    return total
