"""What labels by language models alone conclude, against all human labels: intervals, signs, orders of the runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from ir_measures import P, nDCG

from ir_measures_relative import NRG, UniqueRel
from ir_measures_relative.data.arrays import FloatArray

from .data import Campaign, read_qrels
from .resampling import error_over_runs, tau

_COLUMNS = ["judge", "measure", "intervals that hold", "lower", "upper", "wrong sign", "τ"]


def table(campaign: Campaign, rel: int) -> pd.DataFrame:
    """A row a judge of the folder ``llm/`` and a measure; no row where the campaign has no such labels.

    *intervals that hold*: of all pairs of runs, those whose 95 % interval (Student's, over topics) by the judge's
    labels has the difference by the human labels in it; with the interval of this share over runs. *wrong sign*: of
    the pairs that the judge's labels tell apart, those that the human labels put the other way round.
    """
    measures = [P(rel=rel) @ 10, nDCG @ 10, NRG(norm="ideal") @ 10, UniqueRel(rel=rel) @ 10]
    paths = sorted((campaign.folder / "llm").glob("*.qrels*"))
    human = _values(campaign, campaign.qrels, measures) if paths else []
    rows = []
    for path in paths:
        of_judge = _values(campaign, read_qrels(path), measures)
        for measure, said, truth in zip(measures, of_judge, human, strict=True):
            rows.append(
                (path.name.split(".qrels")[0], str(measure), *_compared(campaign.context.names, said, truth))
            )
    return pd.DataFrame(rows, columns=_COLUMNS)


def _values(campaign: Campaign, qrels: pd.DataFrame, measures: Sequence[object]) -> list[FloatArray]:
    """Of each measure, runs × topics."""
    found = campaign.context.evaluate(qrels, list(measures), perquery=True)
    wide = found.assign(measure=found["measure"].astype(str)).pivot(
        index=["measure", "name"], columns="query_id", values="value"
    )
    return [
        wide.loc[str(m)].reindex(index=campaign.context.names, columns=campaign.queries).to_numpy(float)
        for m in measures
    ]


def _compared(names: list[str], said: FloatArray, truth: FloatArray) -> tuple[float, ...]:
    from scipy.stats import t

    first, second = np.triu_indices(len(names), 1)
    difference, true = said[first] - said[second], (truth[first] - truth[second]).mean(axis=1)
    n = difference.shape[1]
    mean, half = difference.mean(axis=1), t.ppf(0.975, n - 1) * difference.std(axis=1, ddof=1) / np.sqrt(n)
    holds, apart = np.abs(mean - true) <= half + 1e-12, np.abs(mean) > half + 1e-12
    differ = difference.any(axis=1)  # two runs of the same values on all topics have no interval
    order = tau(said.mean(axis=1), truth.mean(axis=1))
    if not differ.any():
        return np.nan, np.nan, np.nan, np.nan, order

    def share(chosen: list[str]) -> FloatArray:
        inside = np.isin(names, chosen)
        return np.array([holds[differ & inside[first] & inside[second]].mean()])

    held, error = float(share(names)[0]), float(error_over_runs(names, share)[0])
    wrong = float((mean * true < 0)[apart].mean()) if apart.any() else 0.0
    low, high = max(0.0, held - 1.96 * error), min(1.0, held + 1.96 * error)
    return held, low, high, wrong, order
