"""NRG (Eqs. 1-4 of its paper), the unique contributions to the relevant set (App. B), and NRG of base ERR."""

import math

from oracles.gains import gain_oracle, theta


def nrg_seen(position: int, base: str, p: float) -> float:
    """seen(i), Eq. 1."""
    of_base = {"P": 1.0, "RR": 1 / position, "RBP": p ** (position - 1)}
    return of_base.get(base, 1 / math.log2(position + 1))


def nrg_residual(doc: str, gain: float, priors: list[list[str]], base: str, k: int | None, p: float) -> float:
    """G(d|R), Eq. 3."""
    for prior in priors:
        top = prior if k is None else prior[:k]
        if doc in top:
            gain *= 1 - nrg_seen(top.index(doc) + 1, base, p)
    return gain


def nrg_oracle(
    ranking: list[str],
    priors: list[list[str]],
    labels: dict[str, int],
    base: str = "nDCG",
    k: int | None = 10,
    p: float = 0.8,
    rel: int = 1,
    dcg: str = "log2",
    gains: dict[int, int] | None = None,
    norm: str | None = "residual",
) -> float:
    """NRG of one ranking, Eq. 4."""

    def residual(doc: str, priors: list[list[str]] = priors) -> float:
        label = labels.get(doc, 0)
        if base == "nDCG":
            gain = gain_oracle(label, dcg, gains) if doc in labels else 0.0
        else:
            gain = 1.0 if label >= rel else 0.0
        return nrg_residual(doc, gain, priors, base, k, p)

    top = ranking if k is None else ranking[:k]
    parts = [residual(d) * nrg_seen(i, base, p) for i, d in enumerate(top, start=1)]
    if base == "RR":
        return max(parts, default=0.0)
    if norm is None:
        return sum(parts)
    if base == "P":
        assert k is not None
        return sum(parts) / k
    if base == "SDCG":
        assert k is not None
        return sum(parts) / sum(nrg_seen(i, base, p) for i in range(1, k + 1))
    if base == "RBP":
        return sum(parts) * (1 - p)
    ideal = sorted((residual(d, [] if norm == "ideal" else priors) for d in labels), reverse=True)
    ideal = ideal if k is None or norm == "whole" else ideal[:k]
    total = sum(g * nrg_seen(i, base, p) for i, g in enumerate(ideal, start=1))
    return sum(parts) / total if total > 0 else 0.0


def unique_rel_oracle(
    ranking: list[str], priors: list[list[str]], labels: dict[str, int], k: int, rel: int = 1
) -> int:
    """Relevant documents in the top k that no prior has in its top k."""
    return sum(labels.get(d, 0) >= rel and not any(d in prior[:k] for prior in priors) for d in ranking[:k])


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
