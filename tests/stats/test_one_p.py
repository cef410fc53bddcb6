"""One p for one pair, by each test: compare, meta and sign_test say the same."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from ir_measures import RR, P, nDCG

from ir_measures_relative import NRG, RunContext, UniqueRel, compare, meta, rrLP, sgnLP, similarity
from ir_measures_relative.stats import sign_test
from ir_measures_relative.stats.paired_tests import TESTS

OF_PAIRS = [name for name, test in TESTS.items() if test.needs == "pair"]
#: Values with many ties, with few, and of runs that are copies but for rounding.
MEASURES = [P @ 2, RR, nDCG @ 5, NRG @ 5, UniqueRel @ 3]
SIGNED = [rrLP, sgnLP]


def campaign(seed: int, topics: int) -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    rng = np.random.default_rng(seed)
    docs, qids = [f"d{i}" for i in range(12)], [f"q{i}" for i in range(topics)]
    runs = {}
    for name in ("one", "two", "three", "copy", "nearly"):
        rows = [(q, d, float(-i)) for q in qids for i, d in enumerate(rng.permutation(docs)[:6])]
        runs[name] = pd.DataFrame(rows, columns=["qid", "docno", "score"])
    runs["copy"] = runs["one"].copy()
    runs["nearly"] = pd.concat([runs["one"][:12], runs["nearly"][12:18], runs["one"][18:]])
    labels = [(q, d, int(rng.integers(0, 3))) for q in qids for d in docs]
    return runs, pd.DataFrame(labels, columns=["qid", "docno", "label"])


def by_pair(table: pd.DataFrame) -> dict[tuple[str, ...], float]:
    keys = zip(table["measure"].astype(str), table["name"], table["other"], strict=True)
    return dict(zip(keys, table["p"], strict=True))


@pytest.mark.parametrize("test", OF_PAIRS)
@pytest.mark.parametrize(("seed", "topics"), [(1, 9), (2, 25), (3, 60)])
def test_compare_meta_and_sign_test_say_the_same(test: str, seed: int, topics: int) -> None:
    runs, qrels = campaign(seed, topics)
    context = RunContext(runs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compared = compare(
            context, qrels, [*MEASURES, *SIGNED], test=test, correction=None, resamples=999, seed=seed
        )
    values = context.evaluate(qrels, MEASURES, perquery=True)
    pairs = similarity(context, qrels, SIGNED, perquery=True)
    curves = [meta.asl_curve(t, test, resamples=999, seed=seed) for t in (values, pairs)]
    ours, theirs = by_pair(compared), by_pair(pd.concat(curves))
    assert len(ours) == len(theirs) == 70
    for (measure, a, b), p in ours.items():
        there = theirs[measure, a, b] if (measure, a, b) in theirs else theirs[measure, b, a]
        assert p == pytest.approx(there, rel=1e-12, nan_ok=True), (measure, a, b)
    assert not np.isnan(list(ours.values())).all() and ours["P@2", "one", "copy"] == 1
    of_run = {key: v["value"].to_numpy() for key, v in values.groupby(["measure", "name"])}
    for row in compared[compared["measure"].isin(list(map(str, MEASURES)))].itertuples():
        found = sign_test(of_run[row.measure, row.name], of_run[row.measure, row.other])
        assert found.statistic == row.wins
        if test == "sign":
            assert found.pvalue == row.p
