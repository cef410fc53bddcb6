"""Where the labels of a scatter plot go, and the points that nobody beats: the same for matplotlib and the report."""

import copy
import itertools
import pickle

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("matplotlib", reason="the pictures need matplotlib: the extra plot")

from hypothesis import example, given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg

from drawn import examples
from ir_measures_relative import RelativeWarning, plots
from ir_measures_relative.plots.placement import frontier, place_labels

IDEAL = "NRG(norm='ideal')@10"
BOUNDS = np.array([0.0, 0.0, 500.0, 500.0])
TAKEN = np.array([[200.0, 200.0, 300.0, 260.0]])
NO_LINE = np.zeros((0, 2))
coordinate = st.one_of(st.floats(-50, 550), st.floats(240, 260), st.just(np.nan))


def overlap(a, b) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


CROWD = [(*point, 30.0) for point in np.random.default_rng(0).normal([250, 230], 50, (40, 2)).tolist()]
AT_THE_EDGE = [(499.0 - 2 * i, 499.0, 60.0) for i in range(9)]


@example(CROWD, True)
@example([*CROWD, *AT_THE_EDGE], False)
@examples(40)
@given(st.lists(st.tuples(coordinate, coordinate, st.floats(10, 70)), max_size=40), st.booleans())
def test_a_label_covers_nothing_and_its_line_ends_at_it(rows, with_line) -> None:
    points = np.array([r[:2] for r in rows]).reshape(-1, 2)
    sizes = np.array([(r[2], 10.0) for r in rows]).reshape(-1, 2)
    line = np.array([[0.0, 480.0], [np.nan, 300.0], [480.0, 0.0]]) if with_line else NO_LINE
    centres, lines, placed = place_labels(points, sizes, BOUNDS, TAKEN, 4.0, line)
    inside = ((points >= 0) & (points <= 500)).all(axis=1)
    assert placed[~inside].sum() == 0 and (len(rows) > 12 or placed[inside].all())
    boxes = np.concatenate([centres - sizes / 2, centres + sizes / 2], axis=1)[placed]
    assert not any(overlap(*pair) for pair in itertools.combinations([*boxes, *TAKEN], 2))
    assert (boxes[:, :2] >= 0).all() and (boxes[:, 2:] <= 500).all()
    markers = np.concatenate([points - 4, points + 4], axis=1)[inside]
    on_line = [[x, 480 - x, x, 480 - x] for x in range(0, 481, 10)] if with_line else []
    assert not any(overlap(*pair) for pair in itertools.product(boxes, [*markers, *on_line]))
    led = (lines[:, 0] != lines[:, 1])[placed].any(axis=1)
    assert np.array_equal(lines[:, 0], points, equal_nan=True)
    assert np.allclose(np.clip(points[placed], boxes[:, :2], boxes[:, 2:])[led], lines[placed, 1][led])


def test_a_label_stands_right_of_its_point_where_there_is_room_and_moves_away_where_there_is_none() -> None:
    points, sizes = np.full((3, 2), 400.0), np.full((3, 2), 20.0)
    (right, *others), lines, placed = place_labels(points, sizes, BOUNDS, TAKEN, 4.0, NO_LINE)
    assert right.tolist() == pytest.approx([416.4, 400.0]) and placed.all() and (lines[0, 1] == 400).all()
    assert np.unique(others, axis=0).shape == (2, 2)
    (centre,), _, placed = place_labels(points[:1], np.array([[900.0, 9.0]]), BOUNDS, TAKEN, 4.0, NO_LINE)
    assert not placed.any() and centre.tolist() == [400.0, 400.0]


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


def picture(n: int) -> Axes:
    values = np.linspace(0.1, 0.9, n)
    table = pd.DataFrame({"name": [f"team-run{i}" for i in range(n)], "nDCG@10": values, IDEAL: values})
    figure = plots.new_figure()
    FigureCanvasAgg(figure)
    return plots.relative_against_absolute(table, ax=figure.subplots())


def shown(ax: Axes) -> int:
    ax.figure.canvas.draw()
    return sum(t.get_visible() for t in ax.texts)


def test_only_some_systems_are_named() -> None:
    values = [0.5, 0.501, 0.502, 0.6, np.nan]
    frame = pd.DataFrame({"name": list("abcde"), "nDCG@10": [0.5] * 5, IDEAL: values})
    figure = plots.new_figure()
    FigureCanvasAgg(figure)
    with pytest.warns(RelativeWarning, match="not drawn"):
        ax = plots.relative_against_absolute(frame, ax=figure.subplots(), named=["b", "d", "e"])
    assert [t.get_text() for t in ax.texts] == ["b", "d"] and shown(ax) == 2
    boxes = np.array([t.get_window_extent().extents for t in ax.texts])
    points = ax.transData.transform(frame[["nDCG@10", IDEAL]].to_numpy()[:4])
    assert not any(overlap(box, np.concatenate([p - 4, p + 4])) for box in boxes for p in points)
    with pytest.raises(ValueError, match=r"named names \['z'\]"):
        plots.relative_against_absolute(frame, ax=figure.subplots(), named=["z"])


def test_labels_without_room_are_left_out_with_one_warning_and_a_larger_figure_has_room() -> None:
    ax = picture(150)
    with pytest.warns(RelativeWarning, match=r"all 150 systems are drawn, .*plots.new_figure") as caught:
        ax.figure.canvas.draw()
    assert [w.filename for w in caught] == [__file__]
    placed = [(t.get_position(), t.get_visible()) for t in ax.texts]
    assert 40 < shown(ax) < 150 and f"only {shown(ax)} have" in str(caught[0].message)
    assert placed == [(t.get_position(), t.get_visible()) for t in ax.texts]
    ax.figure.set_size_inches(24, 18)
    assert shown(ax) == 150


def test_zoom_a_logarithmic_axis_and_copies() -> None:
    ax = picture(10)
    ax.set_xlim(0.0, 0.45)
    assert shown(ax) == 4
    ax.set_xlim(0.05, 1.0)
    assert shown(ax) == 10
    ax.set_xscale("log")
    for again in (ax.figure, pickle.loads(pickle.dumps(ax.figure)), copy.deepcopy(ax.figure)):
        FigureCanvasAgg(again)
        assert shown(again.axes[0]) == 10
