"""The command ``audit``: a plan as files, and the verdicts that follow from people's labels."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from audited import HUMAN, JUDGE, RUNS
from command_line import error, here, run


@pytest.fixture
def campaign(tmp_path: Path) -> list[object]:
    (tmp_path / "runs").mkdir()
    for name, rankings in RUNS.items():
        lines = [f"{q} Q0 {d} 0 {s} {name}\n" for q, docs in rankings.items() for d, s in docs.items()]
        (tmp_path / "runs" / f"{name}.run").write_text("".join(lines))
    judge = tmp_path / "judge.qrels"
    judge.write_text("".join(f"{q} 0 {d} {g}\n" for q, of in JUDGE.items() for d, g in of.items()))
    return [judge, tmp_path / "runs"]


def test_from_a_plan_to_a_verdict(campaign: list[object], tmp_path: Path) -> None:
    pool, labels = tmp_path / "pool.txt", tmp_path / "labels"
    options = ["--between", "a", "b", "--grades", "0", "3", "--pool", pool]
    plan = run("audit", "plan", *campaign, "P(rel=2)@5", "DCG@5", *options, "--budget", 30, "--seed", 4)
    asked = pool.read_text().splitlines()
    assert plan.stdout.splitlines() == [
        "These topics, with human judgments as the target",
        f"{len(asked)} of {len(pd.read_csv(str(pool) + '.plan.csv', skiprows=1))} documents to judge: {pool}",
    ]
    labels.write_text("".join(f"{q} 0 {d} {HUMAN[q][d]}\n" for q, d in map(str.split, asked)))
    estimate = ["audit", "estimate", *campaign, "P(rel=2)@5", "DCG@5", *options, "--labels", labels]
    first, header, *rows = run(*estimate).stdout.splitlines()
    assert first == "These topics, with human judgments as the target"
    assert header.split("\t")[:7] == [
        "name",
        "other",
        "measure",
        "difference",
        "ci_lower",
        "ci_upper",
        "verdict",
    ]
    assert [row.split("\t")[:3] for row in rows] == [["a", "b", "P(rel=2)@5"], ["a", "b", "DCG@5"]]
    assert run(*estimate, "-o", "csv").stdout.startswith("name,other,measure,")
    others = here(*estimate[:4], *estimate[4:6], *options[3:], "--labels", labels)
    assert others.returncode == 2 and "(on the command line: --between)" in others.stderr
    labels.write_text("".join(labels.read_text().splitlines(keepends=True)[1:]))
    refused = here(*estimate)
    assert (
        refused.returncode == 2
        and f"1 of the {len(asked)} judgments that the plan asks for" in refused.stderr
    )


@pytest.mark.parametrize(("step", "needed"), [("plan", "budget"), ("estimate", "labels")])
def test_what_a_step_needs(campaign: list[object], tmp_path: Path, step: str, needed: str) -> None:
    done = here("audit", step, *campaign, "P@5", "--pool", tmp_path / "pool")
    assert done.returncode == 2 and f"audit {step} needs --{needed}" in done.stderr


def test_a_plan_does_not_overwrite_labels(campaign: list[object], tmp_path: Path) -> None:
    pool = tmp_path / "pool.txt"
    plan = ["audit", "plan", *campaign, "P(rel=2)@5", "--pool", pool, "--budget", 30]
    assert run(*plan).returncode == run(*plan, "--seed", 1).returncode == 0
    labelled = pool.read_text().replace("\n", " 1\n", 1)
    pool.write_text(labelled)
    assert "pool.txt, line 1: it holds" in error(*plan)
    assert pool.read_text() == labelled
