"""Whether fusion and re-ranking lower NRG, as the NRG paper expects (§4 and App. C): paired, with intervals."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from ir_measures import nDCG

from ir_measures_relative import NRG, RunContext, UniqueRel, compare
from ir_measures_relative.context.collection import Collection, judged_collection
from ir_measures_relative.context.evaluated import Evaluated
from ir_measures_relative.data.arrays import FloatArray
from ir_measures_relative.data.rankings import Rankings
from ir_measures_relative.decisions.fusion import Fusion, fused_rankings
from ir_measures_relative.measures.measure import RelativeMeasure

from .data import Campaign

#: Reciprocal rank fusion as its paper has it.
RRF = Fusion("rrf", 60, 1000)


def fusion(campaign: Campaign, rel: int, most: int = 300, seed: int = 0) -> pd.DataFrame:
    """The fusion of two runs less the mean of the two, all against the same priors: the other runs of other groups.

    A row a measure: the means over pairs, their difference with a 95 % interval over topics, and how many pairs lose.
    """
    context = RunContext(dict(campaign.context.runs))
    view = judged_collection(context, campaign.qrels)
    groups = campaign.groups or {name: name for name in context.names}
    pairs = [
        p for p in itertools.combinations(range(len(context.names)), 2) if _apart(context.names, groups, p)
    ]
    rng = np.random.default_rng(seed)
    drawn = [pairs[i] for i in rng.permutation(len(pairs))[:most]]
    measures = [NRG @ 10, NRG(norm="ideal") @ 10, UniqueRel(rel=rel) @ 10]
    two, one = np.empty((2, len(measures) + 1, len(drawn), view.documents.n_queries))
    for i, pair in enumerate(drawn):
        inside = {groups[context.names[run]] for run in pair}
        priors = [name for name in context.names if groups[name] not in inside]
        fused = fused_rankings(view, pair, RRF)
        of_two = [context.runs[context.names[run]] for run in pair]
        two[:, i] = _values(view, fused, priors, measures)
        one[:, i] = np.mean([_values(view, run, priors, measures) for run in of_two], axis=0)
    rows = []
    for j, measure in enumerate([*map(str, measures), "nDCG@10"]):
        difference = two[j] - one[j]
        by_topic = difference.mean(axis=0)
        error = 1.96 * by_topic.std(ddof=1) / np.sqrt(len(by_topic))
        rows.append(
            {
                "measure": measure,
                "one run": one[j].mean(),
                "fused": two[j].mean(),
                "difference": by_topic.mean(),
                "lower": by_topic.mean() - error,
                "upper": by_topic.mean() + error,
                "pairs that lose": float((difference.mean(axis=1) < 0).mean()),
            }
        )
    return pd.DataFrame(rows)


def reranking(campaign: Campaign, rel: int, first: str = "colbert") -> pd.DataFrame:
    """Each re-ranker over one first stage less that stage, both against the official runs alone."""
    paths = sorted((campaign.folder / "later").glob(f"{first}*"))
    later = {path.name.split(".")[0]: path for path in paths}
    if first not in later:
        raise SystemExit(
            f"{campaign.folder} holds no file later/{first}*: put the first stage and its re-rankers there"
        )
    official = campaign.context.names
    runs: dict[str, Rankings | Path] = {**campaign.context.runs, **later}
    context = RunContext(runs, priors=official, reference=first)
    measures = [nDCG @ 10, NRG @ 10, NRG(norm="ideal") @ 10, UniqueRel(rel=rel) @ 10]
    table = compare(context, campaign.qrels, measures, names=list(later), correction=None, missing="zero")
    rows = []
    for row in table.itertuples():
        if first in (row.name, row.other):
            sign, other = (1, row.name) if row.other == first else (-1, row.other)
            low, high = sorted((sign * row.ci_lower, sign * row.ci_upper))
            rows.append((row.measure, other, sign * row.difference, low, high))
    return pd.DataFrame(rows, columns=["measure", "re-ranker", "difference", "lower", "upper"])


def _apart(names: Sequence[str], groups: dict[str, str], pair: tuple[int, int]) -> bool:
    a, b = (groups[names[run]] for run in pair)
    return a != b


def _values(
    view: Collection, run: Rankings, priors: list[str], measures: Sequence[RelativeMeasure]
) -> FloatArray:
    evaluated = Evaluated.of(view, run, priors)
    values = [measure.score(evaluated) for measure in measures]
    return np.array([*values, view.compute_absolute([nDCG @ 10], run)[0]])
