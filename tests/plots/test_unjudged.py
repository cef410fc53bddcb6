"""Runs as intervals, and the matrix of verdicts."""

from __future__ import annotations

import pytest

pytest.importorskip("matplotlib", reason="the pictures need matplotlib: the extra plot")

from ir_measures_relative import RunContext, bounds, plots, verdicts

RUNS = {
    "a": {"q": {"A": 3.0, "B": 2.0}},
    "b$": {"q": {"X": 3.0, "Y": 2.0}},
    "c": {"q": {"A": 3.0, "X": 2.0}},
}
QRELS = {"q": {"A": 1, "B": 1, "X": 0}}


def test_intervals() -> None:
    ax = plots.intervals(bounds(RunContext(RUNS), QRELS, ["P@2"]), ax=plots.new_figure().subplots())
    assert [label.get_text() for label in ax.get_yticklabels()] == [r"b\$", "c", "a"]
    ax.figure.canvas.draw()


def test_matrix() -> None:
    ax = plots.matrix_of_verdicts(
        verdicts(RunContext(RUNS), QRELS, ["P@2"]), ax=plots.new_figure().subplots()
    )
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "c", r"b\$"]
    cells = ax.images[0].get_array()
    assert cells[0, 1] == 0 and cells[1, 0] == 1 and cells.mask[0, 0]  # better, worse, nothing
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["above", "below", "undecided"]


def test_other_tables() -> None:
    table = bounds(RunContext(RUNS), QRELS, ["P@2"], perquery=True)
    with pytest.raises(ValueError, match="without perquery"):
        plots.intervals(table)
    with pytest.raises(ValueError, match="holds no nDCG"):
        plots.intervals(bounds(RunContext(RUNS), QRELS, ["P@2"]), "nDCG@2")
