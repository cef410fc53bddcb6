"""Where the labels of a scatter plot go: beside their points, covering neither each other nor the points.

For matplotlib, where they find their places whenever the figure is drawn, and for the report alike. adjustText was
tried on the runs of three TREC tracks: labels stayed on points and on other labels, or far away on lines that cross
each other, and it took ten times as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.text import Text
from matplotlib.transforms import IdentityTransform
from scipy.spatial import KDTree

from ..data.arrays import BoolArray, FloatArray, IntArray
from .figures import size_of, warn_of_names_left_out

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
    """Whether each box overlaps each other one; shape (boxes, others)."""
    low, high = boxes[:, None, :2], boxes[:, None, 2:]
    along = (low < others[:, 2:]) & (high > others[:, :2])
    return np.asarray(along[..., 0] & along[..., 1])


def _meet(lines: FloatArray, boxes: FloatArray) -> BoolArray:
    """Whether each line has a part in each box; shape (lines, boxes)."""
    enters, leaves = np.zeros((len(lines), len(boxes))), np.ones((len(lines), len(boxes)))
    for axis in (0, 1):  # where on its way from 0 to 1 the line is between the sides of the box
        start, end = lines[:, :1, axis], lines[:, 1:, axis]
        with np.errstate(divide="ignore", invalid="ignore"):
            one, other = ((boxes[:, side] - start) / (end - start) for side in (axis, axis + 2))
        np.maximum(enters, np.fmin(one, other), out=enters)
        np.minimum(leaves, np.fmax(one, other), out=leaves)
    return np.asarray(enters < leaves)


def _cross(lines: FloatArray, others: FloatArray) -> BoolArray:
    """Whether each line crosses each other one; shape (lines, others)."""
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
