"""What the costlier questions take: worth, drop, fuse, verdicts of many runs; and reading runs from JSON."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from ir_measures import nDCG

from benchmarks.campaign import make
from benchmarks.data import Frames
from benchmarks.frames import HOST
from benchmarks.peers import as_dict, by_ir_measures
from benchmarks.report import Row
from benchmarks.timing import Side, interleaved
from ir_measures_relative import NRG, RunContext, drop, fuse, verdicts, worth

MANY = 83  # runs, as many as a large track has


def costs(frames: Frames, qrels: pd.DataFrame, rounds: int) -> list[Row]:
    """Questions about the runs, in contexts that are new; beside what ir_measures takes to score the same runs."""
    names = list(frames)
    n = f"{len(names)} runs"
    sides: dict[str, Side] = {
        f"worth of one run beside {len(names) - 1}": lambda: worth(RunContext(frames), qrels, names[0]),
        f"drop of {len(names)} runs": lambda: drop(RunContext(frames), qrels, margin=0.01),
        f"fuse, n=2, of {n}": lambda: fuse(
            RunContext(frames), qrels, 2, strategies=("single", "top", "greedy", "exact")
        ),
    }
    return _beside(sides, by_ir_measures(frames, qrels, [nDCG @ 10]), f"{HOST}, of the {n}", rounds)


def time_many_runs(rounds: int) -> list[Row]:
    """Time verdicts on all pairs of many runs, of a generated campaign: 50 topics, 100 deep, 60 judged."""
    frames, qrels = make(MANY, 50, 100, 60)
    sides: dict[str, Side] = {
        f"verdicts of {MANY} runs, {measure!r}": lambda m=measure: verdicts(RunContext(frames), qrels, [m])
        for measure in (nDCG @ 10, NRG(norm="ideal") @ 10)  # the norm with strict bounds
    }
    return _beside(sides, by_ir_measures(frames, qrels, [nDCG @ 10]), f"{HOST}, of these {MANY}", rounds)


def time_json(frames: Frames, rounds: int) -> list[Row]:
    """Time reading runs from JSON, against json.load of the same files, which checks nothing."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{i}.json" for i in range(len(frames))]
        for file, frame in zip(files, frames.values(), strict=True):
            file.write_text(json.dumps(as_dict(frame)))
        sides: dict[str, Side] = {
            f"RunContext of the files, {len(files)} runs as JSON": lambda: RunContext(
                {file.stem: file for file in files}
            )
        }
        return _beside(sides, lambda: _load(files), "json.load of the files", rounds)


def _load(files: Sequence[Path]) -> None:
    for file in files:
        with file.open() as opened:
            json.load(opened)


def _beside(sides: dict[str, Side], peer: Side, called: str, rounds: int) -> list[Row]:
    costs = interleaved(sides | {called: peer}, rounds)
    return [Row(work, called, costs[work], costs[called]) for work in sides]
