"""Pictures of what other functions return: what is on them is what the table says."""

import numpy as np
import pytest
from studies import drawn_tables

from ir_measures_relative import RunContext, bounds, fuse, plots, verdicts

TOPICS = [str(i) for i in range(8)]
FUSED = {
    "odd$": {q: {"A": 3.0, "X": 2.0, "B": 1.0} for q in TOPICS},
    "even": {q: {"B": 3.0, "Y": 2.0, "A": 1.0} for q in TOPICS},
    "none": {q: {"X": 3.0, "Y": 2.0, "Z": 1.0} for q in TOPICS},
}
LABELS = {q: {"A": 1, "B": int(q) % 2} for q in TOPICS}
OPEN = {
    "a": {"q": {"A": 3.0, "B": 2.0}},
    "b$": {"q": {"X": 3.0, "Y": 2.0}},
    "c": {"q": {"A": 3.0, "X": 2.0}},
}
LABELS_OF_ONE = {"q": {"A": 1, "B": 1, "X": 0}}


def test_strategies_filled_and_hollow() -> None:
    table = fuse(RunContext(FUSED), LABELS, [2, 3], "P@2", repeats=3)
    ax = drawn_tables.fusion(table, plots.new_figure().subplots(), "P@2")
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
    table = fuse(RunContext(FUSED), LABELS, 2, "P@2", strategies=["exact"], repeats=3)
    ax = drawn_tables.fusion(table, plots.new_figure().subplots())
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["2"]
    (of_best,) = [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    assert of_best + table["difference"][0] == pytest.approx(table["held_out"][0]) != of_best
    ax.figure.canvas.draw()


def test_intervals() -> None:
    ax = drawn_tables.intervals(
        bounds(RunContext(OPEN), LABELS_OF_ONE, ["P@2"]), plots.new_figure().subplots()
    )
    assert [label.get_text() for label in ax.get_yticklabels()] == [r"b\$", "c", "a"]
    ax.figure.canvas.draw()


def test_matrix() -> None:
    ax = drawn_tables.matrix_of_verdicts(
        verdicts(RunContext(OPEN), LABELS_OF_ONE, ["P@2"]), plots.new_figure().subplots()
    )
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "c", r"b\$"]
    cells = ax.images[0].get_array()
    assert cells[0, 1] == 0 and cells[1, 0] == 1 and cells.mask[0, 0]  # better, worse, nothing
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["above", "below", "undecided"]
