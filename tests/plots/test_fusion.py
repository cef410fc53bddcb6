"""The pictures of fusion: what is drawn where, and other tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("matplotlib", reason="the pictures need matplotlib: the extra plot")

from ir_measures_relative import RunContext, fuse, plots

TOPICS = [str(i) for i in range(8)]
RUNS = {
    "odd$": {q: {"A": 3.0, "X": 2.0, "B": 1.0} for q in TOPICS},
    "even": {q: {"B": 3.0, "Y": 2.0, "A": 1.0} for q in TOPICS},
    "none": {q: {"X": 3.0, "Y": 2.0, "Z": 1.0} for q in TOPICS},
}
QRELS = {q: {"A": 1, "B": int(q) % 2} for q in TOPICS}
COST = {"odd$": 1, "even": 2, "none": 3}


def test_strategies_filled_and_hollow() -> None:
    table = fuse(RunContext(RUNS), QRELS, [2, 3], "P@2", repeats=3)
    ax = plots.fusion(table, "P@2", ax=plots.new_figure().subplots())
    filled = [line for line in ax.lines if not line.get_label().startswith("_")]
    assert [line.get_label() for line in filled] == ["single", "top", "greedy", "exact", "all"]
    drawn = np.concatenate([line.get_ydata() for line in filled])
    assert sorted(drawn) == pytest.approx(sorted(table["held_out"]))
    hollow = [line for line in ax.lines if line.get_markerfacecolor() == "white"]
    assert sorted(np.concatenate([line.get_ydata() for line in hollow])) == pytest.approx(
        sorted(table["in_sample"])
    )
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["best\nsingle run", "2", "3", "all\nruns"]
    assert ax.get_ylabel() == "mean P@2"
    ax.figure.canvas.draw()


def test_one_number_of_runs_and_some_strategies() -> None:
    table = fuse(RunContext(RUNS), QRELS, 2, "P@2", strategies=["exact"], repeats=3)
    ax = plots.fusion(table, ax=plots.new_figure().subplots())
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["2"]
    ax.figure.canvas.draw()


def test_frontier() -> None:
    table = fuse(RunContext(RUNS), QRELS, 2, "P@2", cost=COST, budget=[1, 3, 6], repeats=3)
    ax = plots.fusion(table, "P@2", ax=plots.new_figure().subplots())
    lines = {line.get_label(): line for line in ax.lines}
    exact = table[table["strategy"] == "exact"]
    assert lines["exact"].get_xdata().tolist() == [1, 3, 6]
    assert lines["exact"].get_ydata().tolist() == pytest.approx(exact["held_out"].tolist())
    assert ax.get_xlabel().startswith("budget")
    ax.figure.canvas.draw()


def test_other_tables() -> None:
    with pytest.raises(ValueError, match="the table lacks .*give the one that fus"):
        plots.fusion(pd.DataFrame({"name": ["a"]}))
