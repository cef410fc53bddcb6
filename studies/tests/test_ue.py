"""The experiments on UE-normalized measures: the values against the package's, the statistics against plain ones."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_rel
from studies.reproduce import ue
from studies.reproduce.data import Campaign, Data
from studies.reproduce.ue_scores import CUTOFFS, Pool
from studies.reproduce.ue_statistics import p_values, pad, swapped
from studies.reproduce.ue_study import Study

from ir_measures_relative import AP_UE, nDCG_UE
from small_campaign import write_campaign


@pytest.mark.parametrize(("seed", "grades"), [(0, 1), (1, 1), (0, 3), (1, 3)])
def test_scores_are_the_measures(tmp_path: Path, seed: int, grades: int) -> None:
    campaign = Campaign(write_campaign(tmp_path / "c", seed=seed, grades=grades))
    pool = Pool.of(campaign)
    for base, measure in (("nDCG", nDCG_UE), ("AP", AP_UE)):
        for cutoff, version in itertools.product((3, 10, 30), (1, 2)):
            asked = [measure(version=version) @ cutoff]
            table = campaign.context.evaluate(campaign.qrels, asked, perquery=True)
            wanted = table.pivot(index="name", columns="query_id", values="value")
            wanted = wanted.loc[pool.names, list(pool.docs.query_ids)].to_numpy()
            scores, expected = pool.scores(base, cutoff)
            assert scores[f"V{version}"] == pytest.approx(wanted, abs=1e-12)
            assert ((expected >= 0) & (expected <= 1)).all()


def test_a_part_of_the_documents_is_ranked_without_the_others(tmp_path: Path) -> None:
    pool = Pool.of(Campaign(write_campaign(tmp_path / "c")))
    keep = np.random.default_rng(0).random(len(pool.docs)) < 0.5
    part = pool.part(keep)
    for run, topic in itertools.product(range(len(pool.names)), range(pool.docs.n_queries)):
        old = pool.position[run, keep][part.docs.query == topic]
        new = part.position[run][part.docs.query == topic]
        ranks = {p: i for i, p in enumerate(sorted(old[old > 0]), 1)}
        assert list(new) == [ranks.get(p, 0) for p in old]


def test_statistics_against_plain_ones() -> None:
    generator = np.random.default_rng(3)
    values = generator.random((5, 12))
    pairs = list(itertools.combinations(range(5), 2))
    assert p_values(values)[0] == pytest.approx([ttest_rel(values[a], values[b]).pvalue for a, b in pairs])
    means = values.mean(axis=1)
    assert pad(means) == pytest.approx(
        np.mean([100 * abs(means[a] - means[b]) / max(means[a], means[b]) for a, b in pairs])
    )
    # Table 10 of the paper is not ours to check, but Table 22 follows from Table 15.
    table_15 = np.array([0.483, 0.2994, 0.4858, 0.5528, 0.3, 0.5432, 0.3408, 0.5722])
    assert pad(table_15) == pytest.approx(25.57, abs=0.02)
    other = generator.random(5)
    flips = [(means[a] - means[b]) * (other[a] - other[b]) < 0 for a, b in pairs]
    assert swapped(means, other) == np.mean(flips)


def test_on_a_small_campaign(tmp_path: Path) -> None:
    """Each table has its lines, of a campaign with no groups and binary grades as well."""
    small = Data(dl19=Campaign(write_campaign(tmp_path / "small", grades=1)))
    (tmp_path / "out").mkdir()
    found = list(ue.findings(small, tmp_path / "out"))
    tables = {f.where for f in found}
    # The two versions are below the measure itself, whatever the runs are.
    of_scores = [f for f in found if f.where in ("Tables 3-6, small", "Tables 15-18, small")]
    assert [f.holds for f in of_scores] == ["yes", "yes"]
    for f in of_scores:
        base, *versions = map(float, str(f.ours).split(", "))
        assert max(versions) < base
    assert {f"Table {i}, small" for i in (*range(7, 11), 12, 13, 14, *range(19, 23), 24, 25, 26)} <= tables
    pictures = {f.picture for f in found} - {None}
    assert pictures == {p.name for p in (tmp_path / "out").iterdir()} and len(pictures) == 3


@pytest.mark.slow
def test_version_2_tells_fewer_apart_on_robust03(robust03_campaign: Campaign) -> None:
    """By Eq. 6; with its upper branch alone as many as nDCG."""
    study = Study("robust (2003)", "nDCG", Pool.of(robust03_campaign))
    everything = study.sets["all"]
    shares = [100 * study.told_apart(v, everything).mean() for v in study.versions]
    assert shares == pytest.approx([64.7, 64.9, 53.7], abs=0.05)
    upper = [100 * (p_values(x)[0] <= 0.05).mean() for x in study.without_lower_branch]
    assert len(upper) == len(CUTOFFS) and np.mean(upper) == pytest.approx(65.0, abs=0.05)
