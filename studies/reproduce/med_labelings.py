"""The labels of open documents that part two rankings the most."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

import ir_measures
import numpy as np

from ir_measures_relative import RunContext, similarity
from ir_measures_relative.measures.bases.gains import discount


def try_labelings(
    rankings: Mapping[str, Iterable[str]],
    judged: Mapping[str, int],
    measures: Sequence[ir_measures.Measure],
) -> dict[str, tuple[float, tuple[str, ...]]]:
    """By each measure, the largest distance of two rankings over all binary labelings, and what is relevant then.

    Each labeling is a topic of its own, on which every document is judged.
    """
    runs = {name: {d: -float(i) for i, d in enumerate(ranking)} for name, ranking in rankings.items()}
    opened = sorted({d for run in runs.values() for d in run} - {*judged})
    chosen = [c for size in range(len(opened) + 1) for c in itertools.combinations(opened, size)]
    qrels = {
        str(i): {**dict.fromkeys(opened, 0), **judged, **dict.fromkeys(c, 1)} for i, c in enumerate(chosen)
    }
    context = RunContext({name: dict.fromkeys(qrels, run) for name, run in runs.items()})
    table = similarity(context, qrels, list(measures), perquery=True)
    best = table.assign(value=table["value"].round(12)).groupby("measure", sort=False)["value"].idxmax()
    return {
        measure: (float(table["value"][row]), chosen[int(table["query_id"][row])])
        for measure, row in best.items()
    }


def parted_by_the_same(first: Iterable[str], second: Iterable[str]) -> bool:
    """Whether some labels part two rankings the most by SDCG and by nDCG at once, all documents open.

    Either ranking may be the higher one. Then SDCG is greatest where all documents are relevant that it ranks higher,
    and nDCG, by the paper's Algorithm 1, where a number of those with the largest differences are.
    """
    weight: dict[str, float] = {}
    for sign, ranking in ((1.0, first), (-1.0, second)):
        for i, doc in enumerate(ranking, start=1):
            weight[doc] = weight.get(doc, 0.0) + sign * float(discount(np.array([i]))[0])
    weights = np.array(list(weight.values()))
    sums = [np.cumsum(np.append(0.0, -np.sort(-w[w > 0]))) for w in (weights, -weights)]
    ratios = [s / np.append(1.0, np.cumsum(discount(np.arange(1, len(s))))) for s in sums]
    most_sdcg, most_ndcg = (max(float(x.max()) for x in by) for by in (sums, ratios))
    return any(
        s[-1] >= most_sdcg - 1e-12 and r[-1] >= most_ndcg - 1e-12 for s, r in zip(sums, ratios, strict=True)
    )
