"""A point a system, or a topic, with labels beside the points; and intervals of what a value could become."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.text import Text
from matplotlib.transforms import IdentityTransform
from scipy.spatial import KDTree

from ..context.priors import check_names
from ..data.arrays import BoolArray, FloatArray, IntArray
from ..messages import warn
from ..stats.intervals import means_and_margins
from .figures import (
    COLOURS,
    MARKERS,
    add_legend,
    break_axes,
    check_table,
    frontier,
    given_or_new_axes,
    groups_of,
    names_and_values,
    names_that_fit,
    rows_of_measure,
    short_names,
    size_of,
    warn_of_names_left_out,
    write_frame,
)

#: Of the points of a figure, in points.
MARKER_SIZE = 6.5
#: Up to this number all labels are to find a place, so that those in a crowd choose first. Of more, it is better to
# leave some out: those in a crowd choose last, and a line to a label may cross at most a few things.
ALL_LABELLED = 80
_MOST_CROSSED = 2

# The gaps between a point and its label that are tried, in sizes of a marker, and the directions: the corners and
# sides of a square around the point, right and left first.
_GAPS = (0.3, 0.8, 1.5, 2.5, 3.5, 5.0, 6.5, 8.5, 10.5, 13.0, 16.0, 20.0, 25.0)
_DIRECTIONS = np.array(
    [
        *((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)),
        *((1, 0.5), (1, -0.5), (-1, 0.5), (-1, -0.5), (0.5, 1), (-0.5, 1), (0.5, -1), (-0.5, -1)),
    ]
)
_REACH = np.repeat(_GAPS, len(_DIRECTIONS))[:, None]
_TOWARDS = np.tile(_DIRECTIONS, (len(_GAPS), 1))
_PREFERENCE = 0.1 * np.tile(np.arange(len(_DIRECTIONS)), len(_GAPS))

# What a place costs beside its distance, in radii of a marker, for each thing that the line to it meets, and for
# each line that meets it.
_CROSSED = 30.0
# In radii of a marker: from the first length on, a line leads from the point to its label; what it meets up to the
# second, from the point on, does not count.
_LED, _BESIDE = 4.0, 2.0
# The cheapest places are compared first, up to the first number, then up to the next.
_BATCHES = (16, 48, 112)
# Every label may move so often, but no more places than this are looked for in all.
_SWEEPS = 8
_MOST_SEARCHES = _SWEEPS * ALL_LABELLED


class Placement(NamedTuple):
    """Where the labels went."""

    centres: FloatArray  #: shape (labels, 2); the point itself for a label without a place
    lines: FloatArray  #: from point to label, shape (labels, 2, 2); of length 0 where none is needed
    placed: BoolArray  #: whether a label has a place


def place_labels(
    points: FloatArray,
    sizes: FloatArray,
    bounds: FloatArray,
    taken: FloatArray,
    radius: float,
    line: FloatArray | None = None,
) -> Placement:
    """Places labels beside their points, or at the end of a line from there.

    Greedy, then a few sweeps in which each label moves to what is best beside the others. Deterministic. Lengths
    are pixels, and a box is (left, bottom, right, top). Points and sizes have the shape (labels, 2); the boxes that are
    ``taken``, such as a legend, (any, 4). Labels must be within the bounds; points outside get none. Labels stand
    on the ``line`` through some points, shape (any, 2), only where the free places are far. One that finds no place is
    left out.
    """
    n = len(points)
    centres, lines = points.copy(), np.repeat(points[:, None], 2, axis=1)
    boxes, placed = np.zeros((n, 4)), np.zeros(n, dtype=bool)
    inside = np.flatnonzero((points >= bounds[:2]).all(axis=1) & (points <= bounds[2:]).all(axis=1))
    if not len(inside):
        return Placement(centres, lines, placed)
    few = len(inside) <= ALL_LABELLED
    markers = np.concatenate([points[inside] - radius, points[inside] + radius], axis=1)
    field = _Field(radius, bounds, markers, taken, _segments(line), np.inf if few else _MOST_CROSSED)
    scaled = points[inside] / (2 * sizes[inside].mean(axis=0))
    crowd = KDTree(scaled).query_ball_point(scaled, 1.0, p=np.inf, return_length=True)
    order = inside[np.argsort(-crowd if few else crowd, kind="stable")][:_MOST_SEARCHES]
    for _ in range(min(_SWEEPS, _MOST_SEARCHES // len(order))):
        before = boxes.copy()
        for i in order:
            placed[i], lines[i] = False, points[i]
            led = placed & (lines[:, 0] != lines[:, 1]).any(axis=1)
            found = _best_place(points[i], sizes[i], field, boxes[placed], lines[led])
            if found is not None:
                boxes[i], lines[i] = found
                placed[i] = True
        if np.array_equal(boxes, before):
            break
    centres[placed] = (boxes[placed, :2] + boxes[placed, 2:]) / 2
    return Placement(centres, lines, placed)


def _segments(line: FloatArray | None) -> FloatArray:
    """The parts of a line through some points, shape (any, 2, 2); none of one too long for the work to be bounded."""
    if line is None or len(line) > ALL_LABELLED:
        return np.zeros((0, 2, 2))
    parts = np.stack([line[:-1], line[1:]], axis=1)
    return parts[np.isfinite(parts).all(axis=(1, 2))]


class _Field(NamedTuple):
    """What does not move, among which labels find places; markers and what is taken are boxes."""

    radius: float
    bounds: FloatArray
    markers: FloatArray
    taken: FloatArray
    lines: FloatArray
    most_crossed: float


def _best_place(
    point: FloatArray, size: FloatArray, field: _Field, boxes: FloatArray, lines: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """The box of the cheapest place that covers nothing, and the line to it; boxes and lines are the others'."""
    radius = field.radius
    candidates = point + _TOWARDS * (size / 2 + radius + _REACH * 2 * radius)
    box = np.concatenate([candidates - size / 2, candidates + size / 2], axis=1)
    inside = np.all((box[:, :2] >= field.bounds[:2]) & (box[:, 2:] <= field.bounds[2:]), axis=1)
    ends = np.clip(point, box[:, :2], box[:, 2:])
    length = np.linalg.norm(ends - point, axis=1)
    led = length > _LED * radius
    ends = np.where(led[:, None], ends, point)
    starts = point + (ends - point) * (_BESIDE * radius / np.maximum(length, 1e-9))[:, None]
    cost = length / radius + _PREFERENCE
    solid = np.concatenate([boxes, field.markers])
    # The cheapest go first, until no other can be cheaper.
    best, least = None, np.inf
    for some in np.split(np.argsort(cost, kind="stable"), _BATCHES):
        if cost[some[0]] >= least:
            break
        corners = np.concatenate([box[some].reshape(-1, 2), point[None]])
        near = solid[_overlap(np.array([[*corners.min(axis=0), *corners.max(axis=0)]]), solid)[0]]
        covers = _overlap(box[some], np.concatenate([near, field.taken])).any(axis=1)
        some = some[inside[some] & ~covers]
        # Markers, labels and lines that the line to each place meets, and lines that meet the place.
        own = np.stack([starts[some], ends[some]], axis=1)
        over = _meet(own, near).sum(axis=1) + _cross(own, lines).sum(axis=1)
        under = _meet(np.concatenate([lines, field.lines]), box[some]).sum(axis=0)
        crossed = led[some] * over + under
        full = np.where(crossed <= field.most_crossed, cost[some] + _CROSSED * crossed, np.inf)
        if full.min(initial=np.inf) < least:
            best, least = some[full.argmin()], full.min()
    return None if best is None else (box[best], np.array([point, ends[best]]))


def _overlap(boxes: FloatArray, others: FloatArray) -> BoolArray:
    low, high = boxes[:, None, :2], boxes[:, None, 2:]
    along = (low < others[:, 2:]) & (high > others[:, :2])
    return np.asarray(along[..., 0] & along[..., 1])


def _meet(lines: FloatArray, boxes: FloatArray) -> BoolArray:
    enters, leaves = np.zeros((len(lines), len(boxes))), np.ones((len(lines), len(boxes)))
    for axis in (0, 1):  # where on its way from 0 to 1 the line is between the sides of the box
        start, end = lines[:, :1, axis], lines[:, 1:, axis]
        with np.errstate(divide="ignore", invalid="ignore"):
            one, other = ((boxes[:, side] - start) / (end - start) for side in (axis, axis + 2))
        np.maximum(enters, np.fmin(one, other), out=enters)
        np.minimum(leaves, np.fmax(one, other), out=leaves)
    return np.asarray(enters < leaves)


def _cross(lines: FloatArray, others: FloatArray) -> BoolArray:
    a, b = lines[:, None, 0], lines[:, None, 1]
    p, q = others[None, :, 0], others[None, :, 1]
    return np.asarray((_side(a, b, p) != _side(a, b, q)) & (_side(p, q, a) != _side(p, q, b)))


def _side(a: FloatArray, b: FloatArray, c: FloatArray) -> FloatArray:
    """On which side of the line from a to b the point c is."""
    along, aside = b - a, c - a
    return np.asarray(np.sign(along[..., 0] * aside[..., 1] - along[..., 1] * aside[..., 0]))


def label_points(
    ax: Axes,
    points: FloatArray,
    labels: Sequence[str],
    colours: Sequence[str],
    joined: IntArray,
    labelled: IntArray,
) -> None:
    """Labels that find their places whenever the figure is drawn, so that these fit its size and resolution.

    Only these points are ``labelled``. Labels keep off the line that joins some of the points. Those that find no place
    are not shown, and a warning says how many.
    """
    labels, colours = [labels[i] for i in labelled], [colours[i] for i in labelled]
    width, height = size_of(ax)
    room = width * height / max(len(labels), 1)  # of 25 and 40 labels on a new figure: 7,239 and 4,525
    size = 8.5 if room > 7_000 else 7.5 if room > 4_500 else 6.0
    style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size, "zorder": 4}
    shades = [tuple(0.6 * part for part in to_rgb(colour)) for colour in colours]  # dark enough to be read
    texts = [
        ax.annotate(label, (a, b), xytext=(0, 0), textcoords="offset points", color=shade, **style)
        for label, (a, b), shade in zip(labels, points[labelled], shades, strict=True)
    ]
    lines = LineCollection(
        [], colors=list(colours), linewidths=0.6, alpha=0.6, zorder=2, transform=IdentityTransform()
    )
    ax.add_collection(lines, autolim=False)
    placer = _Placer(points, texts, lines, joined, labelled)
    ax.add_artist(placer)
    for artist in (*texts, lines, placer):
        artist.set_in_layout(False)


class _Placer(Artist):  # type: ignore[misc]
    """Draws nothing, but places the labels before they are drawn."""

    def __init__(
        self, points: FloatArray, texts: list[Any], lines: Any, joined: IntArray, labelled: IntArray
    ) -> None:
        super().__init__()
        self.set_zorder(0.5)
        self.points, self.texts, self.lines = points, texts, lines
        self.joined, self.labelled = joined, labelled
        self.placed = np.ones(len(texts), dtype=bool)  # which labels are shown
        self.situation: Any = None  # that they are placed for
        self.left_out = 0

    def draw(self, renderer: Any) -> None:
        ax = self.axes
        every = ax.transData.transform(self.points)
        points, others = every[self.labelled], np.delete(every, self.labelled, axis=0)
        bounds = np.array(ax.bbox.extents)
        legend = ax.get_legend()
        pixel = ax.figure.dpi / 72.0
        radius = MARKER_SIZE / 2 * pixel
        taken = np.concatenate([others - radius, others + radius], axis=1)
        if legend:
            taken = np.append(taken, [legend.get_window_extent(renderer).extents], axis=0)
        for text in self.texts:
            text.set_visible(True)  # else it has no size
        extents = [Text.get_window_extent(t, renderer) for t in self.texts]
        sizes = np.array([(e.width + 2 * pixel, e.height + pixel) for e in extents]).reshape(-1, 2)
        situation = points, sizes, bounds, taken
        if self.situation is None or not all(map(_same, situation, self.situation)):
            self.situation = situation
            centres, lines, self.placed = place_labels(*situation, radius, every[self.joined])
            for text, offset in zip(self.texts, (centres - points) / pixel, strict=True):
                text.set_position(offset)
            self.lines.set_segments(list(lines))
        for text, has_place in zip(self.texts, self.placed, strict=True):
            text.set_visible(bool(has_place))
        within = int((np.clip(points, bounds[:2], bounds[2:]) == points).all(axis=1).sum())
        before, self.left_out = self.left_out, within - int(self.placed.sum())
        if self.left_out > before:
            warn_of_names_left_out(within - self.left_out, within)


def _same(one: FloatArray, other: FloatArray) -> bool:
    """Whether two arrays of pixels are the same but for what a layout that is made anew may differ by."""
    return one.shape == other.shape and np.allclose(one, other, rtol=0.0, atol=1e-3, equal_nan=True)


# How many systems have room on a figure of the usual size; a new one grows for more, up to twice its size.
_COMFORTABLE = 40
_INTERVAL = "#08519c"


def relative_against_absolute(
    table: pd.DataFrame,
    relative: ir_measures.Measure | str = "NRG(norm='ideal')@10",
    absolute: ir_measures.Measure | str = "nDCG@10",
    groups: Mapping[str, str] | None = None,
    ax: Axes | None = None,
    ci: bool = False,
    named: Collection[str] | None = None,
) -> Axes:
    """A point a system: what it adds to the others, over how good it is on its own (Figs. 2-5 of the NRG paper).

    Systems that lie high for their place on the x-axis find what the others miss. The dashed line joins the systems
    that no other one beats on both axes. An axis is broken (//) where a few systems lie far from the others. The
    labels cover neither each other nor the points, and keep off the dashed line; a thin line leads to one that had to
    move away. Those that find no room are left out, with a warning when the figure is drawn; of more than 80, so are
    those that only a line across others could lead to.

    Args:
        table: one row a system: the column ``name`` and one for each of the two measures, as from
            :meth:`RunContext.evaluate` or ``pt.Experiment``.
        relative: the column on the y-axis.
        absolute: the column on the x-axis.
        groups: from name to group, such as ``context.groups``: a colour and a marker for each group.
        ci: draw the 95 % intervals of both means as bars. ``table`` is then that of the queries, as from
            ``context.evaluate(…, perquery=True)``. They say how sure a point is; whether two systems differ, only a
            comparison topic by topic says (:func:`ir_measures_relative.compare`), since both meet the same topics.
        named: which systems have their names beside them; all if not given.

    Raises:
        ValueError: a column that is not there, which names those that are; one that is not all numbers; or a name that
            is not in the table.
    """
    margins: dict[str, list[FloatArray]] = {}
    if ci:
        table, margins = means_and_margins(table, absolute, relative)
    names, (x, y) = names_and_values(table, absolute, relative)
    check_names("named", named or (), names)
    drawn = ~np.isnan(x + y)
    if not drawn.all():
        without = [n for n, d in zip(names, drawn, strict=True) if not d]
        warn(f"not drawn, since they lack a value of {absolute} or {relative}: {without}")
    names, x, y = [n for n, d in zip(names, drawn, strict=True) if d], x[drawn], y[drawn]
    larger = min(2.0, max(1.0, len(names) / _COMFORTABLE) ** 0.5)
    ax = given_or_new_axes(ax, width=9.0 * larger, height=6.5 * larger)
    found = groups_of(names, groups)
    colours = [""] * len(names)
    for group in found:
        ax.plot(
            x[group.rows], y[group.rows], linestyle="", marker=group.marker, markersize=MARKER_SIZE,
            color=group.colour, alpha=0.9, markeredgecolor="white", markeredgewidth=0.6, label=group.label, zorder=3,
        )  # fmt: skip
        for row in group.rows:
            colours[row] = group.colour
    if ci:
        (left, right), (low, high) = ([ends[drawn] for ends in margins[str(m)]] for m in (absolute, relative))
        for i, colour in enumerate(colours):  # thin, and behind the points
            ax.errorbar(
                x[i], y[i], xerr=[[left[i]], [right[i]]], yerr=[[low[i]], [high[i]]],
                fmt="none", ecolor=colour, elinewidth=0.8, alpha=0.45, zorder=2,
            )  # fmt: skip
    best = frontier(x, y)
    if len(best) > 1:
        line = np.column_stack([x[best], y[best]])
        ax.add_collection(
            LineCollection([line], colors="0.45", linestyles="--", linewidths=0.9), autolim=False
        )
    ax.margins(0.1)
    break_axes(ax, x, y)
    axes = f"on its own ({absolute})", f"relative to other runs ({relative})"
    write_frame(ax, *axes, "How good each run is on its own, and relative to other runs")
    if groups:
        add_legend(ax, len(found))
    labelled = np.flatnonzero([named is None or name in {*named} for name in names])
    label_points(ax, np.column_stack([x, y]), short_names(names), colours, best, labelled)
    return ax


def query_sets(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Each topic by the value of a random ranking and the mean of the runs (UE, Fig. 1): no better, on the diagonal.

    Args:
        table: what :func:`ir_measures_relative.meta.query_sets` returns.
    """
    check_table(table, "meta.query_sets(context, qrels)", "measure", "expected", "actual", "set")
    ax = given_or_new_axes(ax, width=7.0)
    ax.axline((0.0, 0.0), slope=1.0, color="0.6", linewidth=0.9, zorder=1)
    looks = {"": ("other", "0.6", "."), "uninformative": ("uninformative", COLOURS[1], MARKERS[1])}
    looks["ideal"] = ("ideal", COLOURS[0], MARKERS[0])
    for name, (label, colour, marker) in looks.items():
        rows = table[table["set"] == name]
        if len(rows):
            ax.plot(rows["expected"], rows["actual"], marker, color=colour, markersize=5.5, label=label)
    ax.set_xlim(left=0.0)
    ax.set_ylim(bottom=0.0)
    ax.legend(title="topics", fontsize=8, framealpha=0.85, edgecolor="none")
    says = (
        f"Topics on which runs are above a random ranking ({table['measure'].iloc[0]}, before normalization)"
    )
    write_frame(ax, "value of a random ranking", "mean value of the runs", says)
    return ax


def intervals(
    table: pd.DataFrame, measure: ir_measures.Measure | str | None = None, ax: Axes | None = None
) -> Axes:
    """Runs as intervals, the best by value on top.

    Args:
        table: what :func:`~ir_measures_relative.bounds` gives, without ``perquery``.
        measure: which of its measures; the first if not given.
    """
    rows, shown = rows_of_measure(table, measure, "bounds", ("name", "measure", "worst", "value", "best"))
    rows = rows.sort_values("value", kind="stable")
    names, n = short_names(rows["name"].tolist()), len(rows)
    ax = given_or_new_axes(ax, height=max(2.5, min(1.5 + 0.25 * n, 16.0)))
    place = np.arange(n)
    ax.hlines(place, rows["worst"], rows["best"], color=_INTERVAL, linewidth=3.0, alpha=0.45)
    ax.plot(rows["value"], place, "o", color=_INTERVAL, markersize=4.5)
    size, fitting = names_that_fit(size_of(ax)[1] / max(n, 1), n)
    ax.set_yticks(fitting, [names[i] for i in fitting], fontsize=size)
    ax.set_ylim(-0.7, n - 0.3)
    write_frame(
        ax,
        shown,
        None,
        f"Worst-case and best-case {shown} of each run, given the unjudged documents",
        grid="x",
    )
    return ax
