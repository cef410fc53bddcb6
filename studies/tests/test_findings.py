"""``python -m studies.reproduce.findings``: its tables on generated campaigns, against the same numbers from the package's doors."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import numpy as np
import pytest
from ir_measures import nDCG
from studies.reproduce import conclusions, findings, fused, judged, pooling
from studies.reproduce.data import Campaign, read_qrels
from studies.reproduce.lexiprecision_study import Study

from ir_measures_relative import NRG, RunContext, compare
from oracles.fusion import fuse_runs
from scored import per_query
from small_campaign import write_campaign


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    folder = write_campaign(tmp_path / "small", runs=4, seed=3)
    (folder / "groups.csv").write_text("run,group\nrun0,A\nrun1,A\nrun2,B\nrun3,C\n")
    (folder / "later").mkdir()
    others = write_campaign(tmp_path / "others", runs=2, seed=4)
    for name in ("run0", "run1"):
        path = next((others / "runs").glob(f"*{name}*"))
        shutil.copy(
            path, folder / "later" / path.name.replace(name, f"colbert{name[-1] if name[-1] != '0' else ''}")
        )
    (folder / "llm").mkdir()
    shutil.copy(folder / "qrels.txt", folder / "llm" / "perfect.qrels")
    human = [line.split() for line in (folder / "qrels.txt").read_text().splitlines()]
    inverted = (f"{q} 0 {d} {3 - int(grade)}\n" for q, _, d, grade in human)
    (folder / "llm" / "inverted.qrels").write_text("".join(inverted))
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
        findings.main(["pooling"])


def test_a_judge_is_as_good_as_its_labels(campaign: Campaign) -> None:
    """One that says what people say is always right; of one that says the contrary, the intervals are compare's."""
    table = judged.table(campaign, 2).set_index(["judge", "measure"])
    right = table.loc["perfect"]
    right = right.drop("UniqueRel(rel=2)@10")  # here no run has a unique document
    assert (right[["intervals that hold", "τ"]] == 1).all(axis=None) and (right["wrong sign"] == 0).all()
    other = read_qrels(campaign.folder / "llm" / "inverted.qrels")
    said, truth = (
        compare(
            campaign.context, qrels, ["P(rel=2)@10"], test="t", correction=None, missing="zero"
        ).set_index(["name", "other"])
        for qrels in (other, campaign.qrels)
    )
    by_people = dict(truth["difference"]) | {
        pair[::-1]: -value for pair, value in truth["difference"].items()
    }
    true = np.array(
        [by_people[pair] for pair in said.index]
    )  # the better run stands first, by each of the two
    holds = (said["ci_lower"] <= true) & (true <= said["ci_upper"])
    row = table.loc["inverted", "P(rel=2)@10"]
    assert row["intervals that hold"] == pytest.approx(holds[said["ci_lower"].notna()].mean())
    assert row["lower"] <= row["intervals that hold"] <= row["upper"] and row["τ"] < 1


def test_a_conclusion_is_shown_by_its_whole_interval(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = {"yes": (0.3, 0.1, 0.5), "no": (0.3, -0.1, 0.5), "contrary": (-0.3, -0.5, -0.1)}
    for below, expected in ((False, list(ends)), (True, ["contrary", "no", "yes"])):
        made = [conclusions.Conclusion(c, "τ", 0.0, lambda _, of=of: of, below) for c, of in ends.items()]
        monkeypatch.setattr(conclusions, "CONCLUSIONS", made)
        assert list(conclusions.table(campaign, 1)["shown"]) == expected


def test_ties_by_level_are_counted(campaign: Campaign) -> None:
    """Of every two runs and topic: tied at the first relevant document, and at the second."""
    found, low, high = conclusions.ties(campaign)
    study = Study(campaign)
    counts = np.zeros(2)
    for a, b in itertools.combinations(study.found.rr, 2):
        counts += [(a[:, level] == b[:, level]).mean() for level in (0, 1)]
    assert (study.found.relevant >= 2).all()
    assert found == pytest.approx(100 * (counts[0] - counts[1]) / 6) and low <= found <= high


@pytest.mark.filterwarnings("ignore::ir_measures_relative.RelativeWarning")  # a run misses a topic
def test_rerankers_are_held_to_their_first_stage(campaign: Campaign) -> None:
    table = fused.reranking(campaign, 1)
    assert set(table["re-ranker"]) == {"colbert1"} and len(table) == 4
    later = RunContext({name: campaign.folder / "later" / f"{name}.txt" for name in ("colbert", "colbert1")})
    first, other = (per_query(nDCG @ 10, campaign.qrels, run.to_dict()) for run in later.runs.values())
    want = np.mean([other[q] - first[q] for q in campaign.queries])
    assert table.set_index("measure").loc["nDCG@10", "difference"] == pytest.approx(want, abs=1e-12)
