"""``python -m reproduce.findings``: its tables on generated campaigns, against the same numbers from the package's doors."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from ir_measures import nDCG
from reproduce.data import Campaign

from ir_measures_relative import NRG, RunContext
from oracles.fusion import fuse_runs
from reproduce import findings, fused, pooling
from scored import per_query
from small_campaign import write_campaign


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    folder = write_campaign(tmp_path / "small", runs=4, seed=3)
    (folder / "groups.csv").write_text("run,group\nrun0,A\nrun1,A\nrun2,B\nrun3,C\n")
    (folder / "later").mkdir()
    for name in ("run0", "run1"):
        path = next((folder / "runs").glob(f"*{name}*"))
        shutil.copy(
            path, folder / "later" / path.name.replace(name, f"colbert{name[-1] if name[-1] != '0' else ''}")
        )
    return Campaign(folder)


def test_a_pool_that_is_judged_whole_finds_everything(campaign: Campaign) -> None:
    table = pooling.table(campaign, 1, budgets=(0.3, 1.0))
    whole = table[table["judged"] == 1.0].drop(columns=["judged", "method"])
    assert len(whole) == 4 and np.allclose(whole.to_numpy(float), 1.0)
    part = table[table["judged"] == 0.3].set_index("method")
    assert part["relevant"].between(0, 1, inclusive="left").all()
    assert part.loc["bandit", "relevant"] >= part.loc["unique", "relevant"]
    lost = pooling.left_out(campaign, 1, 1.0).set_index("method")["lost"]
    assert np.allclose(lost, lost["depth"])  # all of the pool is all of the pool


def test_fusion_is_scored_against_the_runs_of_other_groups(campaign: Campaign) -> None:
    """Of groups A, A, B and C the pairs of two groups are five; here they are fused and scored as a user would."""
    table = fused.fusion(campaign, 1).set_index("measure")
    context, groups = campaign.context, campaign.groups
    assert groups is not None
    runs = {name: run.to_dict() for name, run in context.runs.items()}
    both, alone = [], []
    for a in context.names:
        for b in context.names:
            if a < b and groups[a] != groups[b]:
                members = RunContext(
                    {n: r for n, r in runs.items() if groups[n] not in (groups[a], groups[b])}
                )
                pair = fuse_runs([runs[a], runs[b]], "rrf", 60, 1000)
                values = [
                    per_query(NRG @ 10, campaign.qrels, run, members) for run in (pair, runs[a], runs[b])
                ]
                means = [np.mean([of[q] for q in campaign.queries]) for of in values]
                both.append(means[0])
                alone.append((means[1] + means[2]) / 2)
    assert len(both) == 5
    row = table.loc["NRG@10"]
    assert row["fused"] == pytest.approx(np.mean(both), abs=1e-12)
    assert row["one run"] == pytest.approx(np.mean(alone), abs=1e-12)
    assert row["pairs that lose"] == np.mean(np.array(both) < np.array(alone))


@pytest.mark.filterwarnings("ignore::ir_measures_relative.RelativeWarning")  # six topics are few
def test_every_table_is_printed(
    campaign: Campaign, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for what, of in findings.TABLES.items():
        findings.main([what, "--dl21", str(campaign.folder), "--out", str(tmp_path / "out")])
        printed = capsys.readouterr().out
        assert printed.count("| --- |") >= len(of) and "nan" not in printed
    assert (tmp_path / "out" / "pooling.png").exists()
    with pytest.raises(SystemExit):
        findings.main(["lexirank"])


def test_rerankers_are_held_to_their_first_stage(campaign: Campaign) -> None:
    table = fused.reranking(campaign, 1)
    assert set(table["re-ranker"]) == {"colbert1"} and len(table) == 4
    first, other = (
        per_query(nDCG @ 10, campaign.qrels, campaign.context.runs[n].to_dict()) for n in ("run0", "run1")
    )
    want = np.mean([other[q] - first[q] for q in campaign.queries])
    assert table.set_index("measure").loc["nDCG@10", "difference"] == pytest.approx(want, abs=1e-12)
