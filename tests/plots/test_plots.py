"""The pictures: what is on them, that labels are legible and where they stand, and that pyplot is left alone."""

import copy
import itertools
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("matplotlib", reason="the pictures need matplotlib: the extra plot")

from hypothesis import example, given
from hypothesis import strategies as st
from ir_measures import nDCG
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from drawn import examples
from ir_measures_relative import MED, NRG, RelativeWarning, RunContext, plots, rrLP
from ir_measures_relative.plots.placement import frontier, place_labels

IDEAL = "NRG(norm='ideal')@10"
QRELS = {"q1": {"A": 1, "B": 1, "C": 0}, "q2": {"D": 1, "E": 2}}
RUNS = {
    "BM25": {"q1": {"A": 3.0, "X": 2.0}, "q2": {"D": 1.0}},
    "RM3": {"q1": {"A": 3.0, "X": 2.0, "C": 1.0}, "q2": {"D": 1.0}},
    "ANCE": {"q1": {"Y": 3.0, "B": 2.0}, "q2": {"E": 2.0, "D": 1.0}},
    "TCT": {"q1": {"Y": 3.0, "B": 2.0, "Z": 1.0}, "q2": {"E": 2.0}},
}


def axes() -> Axes:
    return canvas(plots.new_figure()).subplots()


def canvas(figure: Figure) -> Figure:
    FigureCanvasAgg(figure)  # so that the figure can be drawn, not only saved
    return figure


def table(n: int, seed: int = 0, spread: float = 1.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    values = 0.4 + spread * (rng.random((2, n)) - 0.5)
    return pd.DataFrame(
        {"name": [f"team{i % 7}-run{i}" for i in range(n)], "nDCG@10": values[0], IDEAL: values[1]}
    )


def drawn_boxes(ax: Axes) -> list[tuple[float, float, float, float]]:
    """(left, bottom, right, top) of every label, as it is drawn."""
    ax.figure.canvas.draw()
    renderer = ax.figure.canvas.get_renderer()
    return [t.get_window_extent(renderer).extents for t in ax.texts]


def overlap(a, b) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


@pytest.mark.parametrize(("seed", "spread", "grouped"), [(0, 1.0, True), (2, 1e-9, False)])
def test_forty_labels_cover_neither_each_other_nor_the_points(seed, spread, grouped) -> None:
    frame = table(40, seed, spread)
    groups = {n: n.split("-")[0] for n in frame["name"]} if grouped else None
    ax = plots.relative_against_absolute(frame, groups=groups, ax=axes())
    boxes = drawn_boxes(ax)
    assert sorted(t.get_text() for t in ax.texts) == sorted(frame["name"])
    assert [p for p in itertools.combinations(boxes, 2) if overlap(*p)] == []
    left, bottom, right, top = ax.bbox.extents
    assert all(b[0] >= left and b[1] >= bottom and b[2] <= right and b[3] <= top for b in boxes)
    points = ax.transData.transform(frame[["nDCG@10", IDEAL]])
    markers = [(x - 2, y - 2, x + 2, y + 2) for x, y in points]
    assert [1 for b, m in itertools.product(boxes, markers) if overlap(b, m)] == []


def test_a_legend_inside_is_not_covered() -> None:
    frame = table(25, seed=3)
    figure = canvas(Figure(figsize=(8, 6)))  # makes no room beside the axes
    ax = plots.relative_against_absolute(
        frame, groups={n: n[:5] for n in frame["name"]}, ax=figure.subplots()
    )
    boxes = drawn_boxes(ax)
    legend = ax.get_legend().get_window_extent().extents
    assert overlap(legend, ax.bbox.extents) and [b for b in boxes if overlap(b, legend)] == []


def test_points_axes_and_groups() -> None:
    frame = table(4).assign(name=["a", "b", "c", "d"])
    mine = axes()
    groups = {"a": "X", "b": "Y", "c": "X"}
    ax = plots.relative_against_absolute(frame, IDEAL, nDCG @ 10, groups=groups, ax=mine)
    assert ax is mine and isinstance(ax, Axes)
    assert "nDCG@10" in ax.get_xlabel() and IDEAL in ax.get_ylabel() and ax.get_title()
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["X", "Y", "no group"]
    found = {tuple(p) for line in ax.lines for p in line.get_xydata()}
    assert found == set(zip(frame["nDCG@10"], frame[IDEAL], strict=True))
    looks = [(line.get_color(), line.get_marker()) for line in ax.lines]
    assert len(set(looks)) == 3
    assert plots.relative_against_absolute(frame, ax=axes()).get_legend() is None


@pytest.mark.parametrize("draw", [plots.relative_against_absolute, plots.chronological])
def test_a_column_that_is_not_there(draw) -> None:
    with pytest.raises(ValueError, match=r"no column 'AP'; its columns are \['name', 'nDCG@10', .*\]"):
        draw(table(3), absolute="AP", ax=axes())
    with pytest.raises(ValueError, match=r"no column 'name'; its columns are \['nDCG@10', .*\]"):
        draw(table(3).drop(columns="name"), ax=axes())
    with pytest.raises(ValueError, match="no column 'name'"):
        draw(3, ax=axes())


def test_chronological_scores_each_system_against_those_before_it() -> None:
    context = RunContext(RUNS, priors="others")
    mine = axes()
    ax = plots.chronological(context, QRELS, relative=NRG @ 2, absolute="nDCG@2", ax=mine)
    assert ax is mine
    expected = RunContext(RUNS, priors="earlier").evaluate(QRELS, [nDCG @ 2, NRG @ 2])
    first, second = (line.get_ydata() for line in ax.lines[:2])
    assert list(first) == list(expected["nDCG@2"]) and list(second) == list(expected["NRG@2"])
    assert [t.get_text() for t in ax.get_xticklabels()] == list(RUNS)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["nDCG@2 (absolute)", "NRG@2 (relative)"]
    from_table = plots.chronological(expected, relative="NRG@2", absolute="nDCG@2", ax=axes())
    assert list(from_table.lines[1].get_ydata()) == list(second)
    with pytest.raises(ValueError, match="needs the qrels"):
        plots.chronological(context, ax=axes())


def test_chronological_rates_open_documents_on_the_scale_of_the_context() -> None:
    drawn = {}
    for grades in (None, (0, 9)):
        context = RunContext(RUNS, reference="BM25", grades=grades)
        ax = plots.chronological(context, QRELS, relative=MED @ 2, absolute=nDCG @ 2, ax=axes())
        lines = [line for each in ax.figure.axes for line in each.lines if "MED" in line.get_label()]
        drawn[grades] = list(lines[0].get_ydata())
        assert drawn[grades] == list(context.evaluate(QRELS, [MED @ 2])["MED@2"])
    assert drawn[None] != drawn[0, 9]


def test_measures_of_different_size_have_two_axes() -> None:
    frame = table(3, spread=0.2).assign(**{IDEAL: [4.0, 2.0, 1.0]})
    ax = plots.chronological(frame, ax=axes())
    other = next(a for a in ax.figure.axes if a is not ax)
    assert len(ax.lines) == len(other.lines) == 1
    assert (ax.get_ylabel(), other.get_ylabel()) == ("nDCG@10", IDEAL)
    assert len(plots.chronological(table(3, spread=0.2), ax=axes()).figure.axes) == 1


@pytest.mark.parametrize(("n", "offset"), [(0, 0.0), (1, 0.0), (60, 0.0), (17, -0.6)])
def test_every_point_is_within_the_axes(n, offset) -> None:
    frame = table(n)
    frame[IDEAL] += offset
    frame.loc[1:1, "nDCG@10"] = np.nan
    ax = plots.chronological(frame, ax=axes())
    ax.figure.canvas.draw()
    for each in ax.figure.axes:
        low, high = each.get_ylim()
        for line in each.lines:
            values = np.asarray(line.get_ydata(), dtype=float)
            values = values[np.isfinite(values)]
            assert ((values >= low) & (values <= high)).all()
    boxes = [t.get_window_extent() for t in ax.get_xticklabels()]
    assert all(b.y0 >= 0 and b.x0 >= 0 for b in boxes)  # no label is cut off


@pytest.mark.parametrize("measure", [MED @ 2, "rrLP"])
def test_the_heat_map_holds_the_distances(measure) -> None:
    context = RunContext(RUNS)
    mine = axes()
    with pytest.raises(TypeError, match="context is a dict"):
        plots.similarity(RUNS, QRELS, measure, ax=mine)
    ax = plots.similarity(context, QRELS, measure, ax=mine)
    assert ax is mine and len(ax.figure.axes) == 2  # the other holds the colour bar
    order = [t.get_text() for t in ax.get_yticklabels()]
    assert order == [t.get_text() for t in ax.get_xticklabels()] and sorted(order) == sorted(RUNS)
    shown = np.ma.asarray(ax.images[0].get_array())
    assert shown.mask.tolist() == np.eye(4, dtype=bool).tolist()
    base = rrLP if measure == "rrLP" else measure
    for (i, a), (j, b) in itertools.permutations(enumerate(order), 2):
        per_query = RunContext({n: RUNS[n] for n in (a, b)}).evaluate(QRELS, [base(ref=b)], perquery=True)
        values = per_query.loc[per_query["name"] == a, "value"]
        assert shown[i, j] == pytest.approx(values.abs().mean())
        assert shown[i, j] == shown[j, i]


def test_signed_values() -> None:
    context = RunContext(RUNS)
    ax = plots.similarity(context, QRELS, rrLP, signed=True, ax=axes())
    order = [t.get_text() for t in ax.get_yticklabels()]
    expected = context.evaluate(QRELS, [rrLP(ref=n) for n in order]).set_index("name").loc[order].to_numpy()
    shown = np.ma.asarray(ax.images[0].get_array()).filled(0.0)  # the diagonal is left out
    assert shown == pytest.approx(expected) and shown == pytest.approx(-shown.T)
    low, high = ax.images[0].get_clim()
    assert low == -high


@pytest.mark.parametrize("side", [3.0, 4.0])
def test_values_fit_their_cells(side) -> None:
    names = [f"run {i}" for i in range(10)]
    context = RunContext({n: list(RUNS.values())[i % len(RUNS)] for i, n in enumerate(names)})
    figure = canvas(plots.new_figure(side, side))
    ax = plots.similarity(context, QRELS, "rrLP", signed=True, ax=figure.subplots())
    figure.canvas.draw()
    cell = ax.bbox.width / len(names)
    assert any(t.get_text().startswith("-0.") for t in ax.texts) or side == 3.0
    assert all(t.get_window_extent().width < cell for t in ax.texts)


def test_a_measure_that_compares_nothing() -> None:
    context = RunContext(RUNS)
    with pytest.raises(ValueError, match="NRG@10 does not compare two runs; use one of MED, .*rrLP"):
        plots.similarity(context, QRELS, NRG @ 10)
    with pytest.raises(ValueError, match="nDCG@10 does not compare two runs"):
        plots.similarity(context, QRELS, "nDCG@10")
    with pytest.raises(ValueError, match="compares with 'BM25' alone; leave ref= out"):
        plots.similarity(context, QRELS, "MED(ref='BM25')@10")
    with pytest.raises(ValueError, match="does not say which of two systems is better"):
        plots.similarity(context, QRELS, "MED@10", signed=True)
    with pytest.raises(ValueError, match="holds no run"):
        plots.similarity(RunContext({}), QRELS)


_ALONE = """
import sys, warnings
# matplotlib before 3.10.7 calls pyparsing by its old names
warnings.filterwarnings("ignore", category=DeprecationWarning, module="matplotlib")
from ir_measures_relative import RunContext
assert "matplotlib" not in sys.modules and "scipy" not in sys.modules, "a heavy import"
import ir_measures_relative.plots as plots
assert "matplotlib.pyplot" not in sys.modules, "pyplot"
import pandas as pd
table = pd.DataFrame({"name": ["a", "b"], "nDCG@10": [0.1, 0.2], "NRG(norm='ideal')@10": [0.3, 0.1]})
ax = plots.new_figure().subplots()
plots.relative_against_absolute(table, ax=ax)
plots.chronological(table, ax=ax)
context = RunContext({"a": {"q": {"x": 1.0}}, "b": {"q": {"y": 1.0, "x": 0.5}}})
plots.similarity(context, {"q": {"x": 1}}, ax=ax)
ax.figure.canvas.draw()
assert "matplotlib.pyplot" not in sys.modules, "pyplot"
import matplotlib
matplotlib.use("agg")
made = plots.relative_against_absolute(table)
import matplotlib.pyplot
assert matplotlib.pyplot.gcf() is made.figure
"""


def test_pyplot_is_left_alone_unless_it_is_to_make_the_figure() -> None:
    filters = ["-W", "error", "-W", "ignore::DeprecationWarning:ir_measures.util"]  # its measure strings
    done = subprocess.run([sys.executable, *filters, "-c", _ALONE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_without_matplotlib() -> None:
    code = "import sys; sys.modules['matplotlib'] = None; from ir_measures_relative import plots"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    said = done.stderr.splitlines()[-1]
    assert said.startswith("ImportError: drawing pictures needs more than the base install"), said
    assert said.endswith("pip install 'ir-measures-relative[plot]'")


def test_robust_runs(robust03_path) -> None:
    context, qrels = RunContext.from_files(robust03_path / "runs"), robust03_path / "qrels.txt.gz"
    frame = context.evaluate(qrels, [nDCG @ 10, IDEAL])
    boxes = drawn_boxes(plots.relative_against_absolute(frame, ax=axes()))
    assert len(boxes) == 17 and not any(overlap(*p) for p in itertools.combinations(boxes, 2))
    some = {name: context.runs[name] for name in [*context.names[::4], "Sel50", "InexpC2"]}
    ax = plots.similarity(RunContext(some), qrels, MED @ 10, ax=axes())
    order = [t.get_text() for t in ax.get_yticklabels()]
    assert abs(order.index("Sel50") - order.index("InexpC2")) == 1  # the closest two
    distances = np.ma.asarray(ax.images[0].get_array())
    assert distances.min() == distances[order.index("Sel50"), order.index("InexpC2")]


BOUNDS = np.array([0.0, 0.0, 500.0, 500.0])
TAKEN = np.array([[200.0, 200.0, 300.0, 260.0]])
NO_LINE = np.zeros((0, 2))
coordinate = st.one_of(st.floats(-50, 550), st.floats(240, 260), st.just(np.nan))


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
