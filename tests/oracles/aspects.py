"""alpha_NRG and NewAspects, from their definitions: one query, plain Python, a document and an aspect at a time."""

import math
from collections.abc import Callable, Mapping, Sequence

#: From document to its label for each aspect.
AspectLabels = Mapping[str, Mapping[str, int]]


def _answered(labels: AspectLabels, doc: str, rel: int) -> list[str]:
    return sorted(aspect for aspect, label in labels.get(doc, {}).items() if label >= rel)


def weight_oracle(
    aspect: str, priors: Sequence[Sequence[str]], labels: AspectLabels, k: int | None, alpha: float, rel: int
) -> float:
    """The chance that a searcher met no answer to the aspect in any prior."""
    chance = 1.0
    for prior in priors:
        for position, doc in enumerate(prior[:k], start=1):
            if aspect in _answered(labels, doc, rel):
                chance *= 1 - alpha / math.log2(position + 1)
    return chance


def _gain(
    doc: str,
    above: Sequence[str],
    labels: AspectLabels,
    rel: int,
    alpha: float,
    weight: Callable[[str], float],
) -> float:
    gain = 0.0
    for aspect in _answered(labels, doc, rel):
        often = sum(aspect in _answered(labels, other, rel) for other in above)
        gain += weight(aspect) * (1 - alpha) ** often
    return gain


def alpha_nrg_oracle(
    ranking: Sequence[str],
    priors: Sequence[Sequence[str]],
    labels: AspectLabels,
    *,
    alpha: float = 0.5,
    k: int | None = 10,
    rel: int = 1,
) -> float:
    """alpha_NRG of one ranking; the ideal by the greedy rule, ties to the id that is last by its bytes."""

    def after(aspect: str) -> float:
        return weight_oracle(aspect, priors, labels, k, alpha, rel)

    def dcg(docs: Sequence[str], weight: Callable[[str], float]) -> float:
        return sum(
            _gain(doc, docs[:i], labels, rel, alpha, weight) / math.log2(i + 2)
            for i, doc in enumerate(docs[:k])
        )

    ideal: list[str] = []
    left = [doc for doc in labels if _answered(labels, doc, rel)]
    while left and (k is None or len(ideal) < k):
        gains = {doc: _gain(doc, ideal, labels, rel, alpha, after) for doc in left}
        most = max(gains.values())
        best = max((d for d in left if gains[d] >= most * (1 - 1e-12)), key=lambda d: d.encode())
        ideal.append(best)
        left.remove(best)
    total = dcg(ideal, after)
    return dcg(ranking, after) / total if total > 0 else 0.0


def new_aspects_oracle(
    ranking: Sequence[str],
    priors: Sequence[Sequence[str]],
    labels: AspectLabels,
    k: int,
    rel: int = 1,
    gains: Mapping[int, int] | None = None,
) -> float:
    """The aspects in the top k that no prior shows in its top k; with ``gains`` by how much the best label is worth."""

    def best(docs: Sequence[str], aspect: str) -> float:
        found = [labels[doc][aspect] for doc in docs[:k] if aspect in labels.get(doc, {})]
        worth = [1 if gains is None else gains.get(label, label) for label in found if label >= rel]
        return max([0, *worth])

    aspects = {aspect for of_doc in labels.values() for aspect in of_doc}
    return sum(
        max(0.0, best(ranking, a) - max((best(prior, a) for prior in priors), default=0.0)) for a in aspects
    )
