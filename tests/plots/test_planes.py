"""Axes that are broken for outliers, and the points that nobody beats: the same for matplotlib and the report."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn import examples
from ir_measures_relative.plots.figures import axis_of, frontier, nice_ticks

IDEAL = "NRG(norm='ideal')@10"

values = st.lists(st.floats(-1e3, 1e3).map(lambda x: round(x, 3)), min_size=1, max_size=40)


@examples(100)
@given(values)
def test_an_axis_keeps_the_order_and_can_be_turned_round(found: list[float]) -> None:
    given = np.array(found)
    axis = axis_of(given)
    places = axis.place(given)
    assert (np.diff(axis.values) > 0).all() and (np.diff(axis.places) > 0).all()
    assert ((places >= 0) & (places <= 1)).all()
    assert (np.diff(places[np.argsort(given, kind="stable")]) >= 0).all()
    assert np.allclose(axis.value(places), given, rtol=1e-6, atol=1e-6)
    outliers = axis.is_outlier(given)
    assert outliers.sum() <= max(1, len(given) // 8) and outliers.any() == bool(axis.breaks)
    for tick in axis.ticks:
        assert -1e-9 <= axis.place(np.array([tick]))[0] <= 1 + 1e-9


def test_what_is_an_outlier() -> None:
    crowd = np.linspace(0.40, 0.46, 9)
    low, high = np.append(crowd, 0.1), np.append(crowd, 0.9)
    assert axis_of(low).is_outlier(low).tolist() == [False] * 9 + [True]
    assert axis_of(high).is_outlier(high).tolist() == [False] * 9 + [True]
    assert np.ptp(axis_of(low).place(crowd)) > 0.7  # the others get most of the room
    assert axis_of(low).ticks[0] == 0.1 and 0.42 in axis_of(low).ticks
    assert axis_of(crowd).breaks == [] and axis_of(np.array([0.1, 0.4, 0.41, 0.42])).breaks == []
    spread = np.append(crowd, [0.5, 0.56, 0.64])  # without a gap
    assert axis_of(spread).breaks == []


@examples(100)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_nobody_beats_the_frontier(points: list[tuple[int, int]]) -> None:
    x, y = np.array(points, dtype=float).T
    expected = {
        i
        for i, (a, b) in enumerate(points)
        if not any((c, d) != (a, b) and c >= a and d >= b for c, d in points)
    }
    found = frontier(x, y).tolist()
    assert set(found) == expected and len(found) == len(expected)
    assert (np.diff(x[found]) >= 0).all()


def test_ticks_are_round() -> None:
    assert nice_ticks(0.033, 0.101) == [0.04, 0.06, 0.08, 0.1]
    assert nice_ticks(-3.0, 4.0) == [-2.0, 0.0, 2.0, 4.0]


def test_a_picture_is_broken_where_the_report_is() -> None:
    pytest.importorskip("matplotlib", reason="the pictures need matplotlib: the extra plot")
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from ir_measures_relative import plots

    x = np.append(np.linspace(0.40, 0.46, 9), 0.1)
    table = pd.DataFrame({"name": [f"r{i}" for i in range(10)], "nDCG@10": x, IDEAL: x[::-1]})
    figure = plots.new_figure()
    FigureCanvasAgg(figure)
    ax = plots.relative_against_absolute(table, ax=figure.subplots())
    figure.canvas.draw()
    axis = axis_of(x)
    drawn = ax.transAxes.inverted().transform(ax.transData.transform(np.column_stack([x, x])))
    assert np.allclose(drawn[:, 0], axis.place(x)) and ax.get_xticks().tolist() == axis.ticks
    assert all(text.get_visible() for text in ax.texts) and len(ax.texts) == 10
