"""Where the labels of a scatter plot go: they cover nothing, and finding their places takes bounded work."""

from __future__ import annotations

import copy
import itertools
import pickle

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("matplotlib", reason="the pictures need matplotlib: the extra plot")

from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg

from drawn import examples
from ir_measures_relative import RelativeWarning, plots
from ir_measures_relative.plots import scatter
from ir_measures_relative.plots.scatter import Placement, place_labels

BOUNDS = np.array([50.0, 50.0, 850.0, 600.0])
RADIUS = 4.5


def overlap(a, b) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def check(points, sizes, bounds, taken, radius, found: Placement) -> None:
    """No label covers another, a point or what is taken; all are within the bounds; lines end at their labels."""
    centres, lines, placed = found
    boxes = np.concatenate([centres - sizes / 2, centres + sizes / 2], axis=1)[placed]
    assert not any(overlap(*pair) for pair in itertools.combinations([*boxes, *taken], 2))
    assert (boxes[:, :2] >= bounds[:2]).all() and (boxes[:, 2:] <= bounds[2:]).all()
    for box in boxes:
        gap = np.maximum(box[:2] - points, points - box[2:])  # below 0 where the point is between the sides
        assert (gap.max(axis=1) >= radius).all()
    assert (lines[:, 0] == points).all() and (lines[~placed, 1] == points[~placed]).all()
    led = (lines[placed, 0] != lines[placed, 1]).any(axis=1)
    ends = np.clip(lines[placed, 1], boxes[:, :2], boxes[:, 2:])
    assert np.allclose(ends[led], lines[placed, 1][led])


coordinate = st.floats(20, 480, allow_nan=False)


@examples(40)
@given(st.lists(st.tuples(coordinate, coordinate, st.floats(10, 70)), max_size=12))
def test_few_labels_all_find_room(rows) -> None:
    points = np.array([r[:2] for r in rows]).reshape(-1, 2)
    sizes = np.array([(r[2], 10.0) for r in rows]).reshape(-1, 2)
    taken, bounds = np.array([[200.0, 200.0, 300.0, 260.0]]), np.array([0.0, 0.0, 500.0, 500.0])
    found = place_labels(points, sizes, bounds, taken, 4.0)
    assert found.placed.all()
    check(points, sizes, bounds, taken, 4.0, found)


def on_a_diagonal(n: int) -> np.ndarray:
    return np.linspace([100.0, 100.0], [800.0, 550.0], n)


def in_a_crowd(n: int) -> np.ndarray:
    return np.clip(np.random.default_rng(0).normal([450, 325], [60, 40], (n, 2)), BOUNDS[:2], BOUNDS[2:])


def in_one_place(n: int) -> np.ndarray:
    return np.full((n, 2), 300.0)


def everywhere(n: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(BOUNDS[:2], BOUNDS[2:], (n, 2))


def sizes_of(n: int) -> np.ndarray:
    return np.column_stack([np.random.default_rng(1).uniform(30, 90, n), np.full(n, 9.0)])


@pytest.mark.parametrize("shape", [on_a_diagonal, in_a_crowd, in_one_place, everywhere])
@pytest.mark.parametrize("n", [17, 61])
def test_a_campaign_is_labelled_whole(shape, n) -> None:
    points, sizes, taken = shape(n), sizes_of(n), np.array([[700.0, 60.0, 840.0, 90.0]])
    found = place_labels(points, sizes, BOUNDS, taken, RADIUS)
    assert found.placed.all()
    check(points, sizes, BOUNDS, taken, RADIUS, found)


@pytest.mark.parametrize(
    ("n", "shape"),
    [
        (140, on_a_diagonal),
        (140, in_a_crowd),
        (1_000, everywhere),
    ],
)
def test_many_labels_take_bounded_work(shape, n, monkeypatch) -> None:
    searches = []
    best_place = scatter._best_place
    monkeypatch.setattr(scatter, "_best_place", lambda *args: searches.append(1) or best_place(*args))
    points, sizes = shape(n), sizes_of(n)
    found = place_labels(points, sizes, BOUNDS, np.zeros((0, 4)), RADIUS)
    assert len(searches) <= 640  # whatever n; a second or two for hundreds
    assert 40 <= found.placed.sum() < (n + 1 if n == 140 else n)
    monkeypatch.undo()
    check(points, sizes, BOUNDS, np.zeros((0, 4)), RADIUS, found)


def test_points_outside_have_no_label() -> None:
    points = np.array([[0.0, 300.0], [300.0, 300.0], [np.nan, 300.0], [300.0, np.inf], [900.0, 900.0]])
    found = place_labels(points, np.full((5, 2), 10.0), BOUNDS, np.zeros((0, 4)), RADIUS)
    assert found.placed.tolist() == [False, True, False, False, False]
    none = place_labels(points[:1], np.full((1, 2), 10.0), BOUNDS, np.zeros((0, 4)), RADIUS)
    assert not none.placed.any()


@pytest.mark.parametrize("n", [25, 150])
def test_labels_keep_off_the_line(n) -> None:
    points, sizes, nothing = everywhere(n), sizes_of(n), np.zeros((0, 4))
    line = np.array([[60.0, 590.0], [400.0, 550.0], [700.0, 400.0], [840.0, 60.0]])
    line = np.concatenate([[[np.nan, 300.0]], line])  # as on a logarithmic axis
    points[:4] = line[1:]
    parts = np.stack([line[1:-1], line[2:]], axis=1)

    def covering(found: Placement) -> int:
        boxes = np.concatenate([found.centres - sizes / 2, found.centres + sizes / 2], axis=1)[found.placed]
        return int(scatter._meet(parts, boxes).any(axis=0).sum())

    found = place_labels(points, sizes, BOUNDS, nothing, RADIUS, line)
    check(points, sizes, BOUNDS, nothing, RADIUS, found)
    without = covering(place_labels(points, sizes, BOUNDS, nothing, RADIUS))
    assert without > 2 and covering(found) <= (0 if n <= scatter.ALL_LABELLED else without / 2)


def test_a_line_of_many_parts_takes_no_time() -> None:
    points = on_a_diagonal(100)
    without = place_labels(points, sizes_of(100), BOUNDS, np.zeros((0, 4)), RADIUS)
    found = place_labels(points, sizes_of(100), BOUNDS, np.zeros((0, 4)), RADIUS, points)
    assert (found.centres == without.centres).all()


def test_a_label_that_fits_nowhere_is_left_out() -> None:
    found = place_labels(
        np.array([[300.0, 300.0]]), np.array([[900.0, 9.0]]), BOUNDS, np.zeros((0, 4)), RADIUS
    )
    assert not found.placed.any() and (found.centres == [300.0, 300.0]).all()


# ---- on a picture ----------------------------------------------------------------------------------------


def picture(n: int, width: float = 9.0, height: float = 6.5) -> Axes:
    values = np.linspace(0.1, 0.9, n)
    table = pd.DataFrame(
        {"name": [f"team-run{i}" for i in range(n)], "nDCG@10": values, "NRG(norm='ideal')@10": values}
    )
    figure = plots.new_figure(width, height)
    FigureCanvasAgg(figure)
    return plots.relative_against_absolute(table, ax=figure.subplots())


def shown(ax: Axes) -> int:
    return sum(t.get_visible() for t in ax.texts)


def test_only_some_systems_are_named() -> None:
    frame = pd.DataFrame(
        {
            "name": list("abcde"),
            "nDCG@10": [0.5] * 5,
            "NRG(norm='ideal')@10": [0.5, 0.501, 0.502, 0.6, np.nan],
        }
    )
    figure = plots.new_figure()
    FigureCanvasAgg(figure)
    with pytest.warns(RelativeWarning, match="not drawn"):
        ax = plots.relative_against_absolute(frame, ax=figure.subplots(), named=["b", "d", "e"])
    figure.canvas.draw()
    assert [t.get_text() for t in ax.texts] == ["b", "d"] and shown(ax) == 2
    boxes = np.array([t.get_window_extent().extents for t in ax.texts])
    points = ax.transData.transform(frame[["nDCG@10", "NRG(norm='ideal')@10"]].to_numpy()[:4])
    assert not any(overlap(box, np.concatenate([p - 4, p + 4])) for box in boxes for p in points)
    with pytest.raises(ValueError, match=r"named names \['z'\]"):
        plots.relative_against_absolute(frame, ax=figure.subplots(), named=["z"])


def test_labels_of_a_picture_keep_off_its_dashed_line() -> None:
    values = np.linspace(0.1, 0.9, 8)
    table = pd.DataFrame(
        {"name": [f"a-long-name-{i}" for i in range(8)], "nDCG@10": values, "NRG(norm='ideal')@10": -values}
    )
    figure = plots.new_figure(6.0, 4.0)
    FigureCanvasAgg(figure)
    ax = plots.relative_against_absolute(table, ax=figure.subplots())
    figure.canvas.draw()
    line = ax.transData.transform(table[["nDCG@10", "NRG(norm='ideal')@10"]].to_numpy())
    boxes = np.array([t.get_window_extent().extents for t in ax.texts])
    assert shown(ax) == 8
    assert not scatter._meet(np.stack([line[:-1], line[1:]], axis=1), boxes).any()


def test_labels_without_room_are_left_out_with_a_warning_on_the_users_line() -> None:
    ax = picture(150)
    with pytest.warns(RelativeWarning, match=r"all 150 systems are drawn, but only (\d+) have") as caught:
        ax.figure.canvas.draw()
    assert [w.filename for w in caught] == [__file__]
    assert f"only {shown(ax)} have" in str(caught[0].message) and 40 < shown(ax) < 150
    placed = [(t.get_position(), t.get_visible()) for t in ax.texts]
    ax.figure.canvas.draw()  # again: neither moved nor said
    assert placed == [(t.get_position(), t.get_visible()) for t in ax.texts]


def test_a_larger_figure_shows_all() -> None:
    ax = picture(140)
    with pytest.warns(RelativeWarning, match="plots.new_figure"):
        ax.figure.canvas.draw()
    ax.figure.set_size_inches(24, 18)
    ax.figure.canvas.draw()
    assert shown(ax) == 140


def test_what_is_zoomed_out_of_sight_is_not_missed() -> None:
    ax = picture(10)
    ax.set_xlim(0.0, 0.45)
    ax.figure.canvas.draw()
    assert shown(ax) == 4
    ax.set_xlim(0.0, 1.0)
    ax.figure.canvas.draw()
    assert shown(ax) == 10


def test_a_logarithmic_axis() -> None:
    ax = picture(10)
    ax.set_xscale("log")
    ax.figure.canvas.draw()
    assert shown(ax) == 10


def test_a_picture_pickles_and_copies() -> None:
    figure = picture(10).figure
    figure.canvas.draw()
    for again in (pickle.loads(pickle.dumps(figure)), copy.deepcopy(figure)):
        FigureCanvasAgg(again)
        again.canvas.draw()
        assert shown(again.axes[0]) == 10
