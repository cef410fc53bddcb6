"""Where the labels of a scatter plot go: beside their points, covering neither each other nor the points.

The work is bounded. Markers do not move, so a table of how many lie left of and below each place tells at once
whether a box or a line meets one, however many there are; and at most a fixed number of places is looked for, for any
number of labels. A label that finds no place is left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray

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
# From this length on, in radii of a marker, a line leads from the point to its label.
_LED = 4.0
# What lines meet is compared for the nearest places first, up to the first number, then up to the next.
_BATCHES = (16, 48, 112)

# Every label may move so often, but no more places than this are looked for in all.
_SWEEPS = 8
_MOST_SEARCHES = 1_000
#: Up to this number all labels are to find a place, so that those in a crowd choose first. Of more, it is better to
# leave some out: those in a crowd choose last, and a line to a label may cross at most a few things.
ALL_LABELLED = 80
_MOST_CROSSED = 2
# How fine the table of markers is: cells a radius, and a most on each side.
_CELLS = 4
_MOST_CELLS = 2_048


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

    Greedy, then a few sweeps in which each label moves to what is best beside the others. Deterministic. DocumentLengths
    are pixels, and a box is (left, bottom, right, top). Points and sizes have the shape (labels, 2); the boxes that are
    ``taken``, such as a legend, (any, 4). Labels must be within the bounds; points outside get none. Labels stand
    on the ``line`` through some points, shape (any, 2), only where the free places are far.
    """
    n = len(points)
    centres, lines = points.copy(), np.repeat(points[:, None], 2, axis=1)
    boxes, placed = np.zeros((n, 4)), np.zeros(n, dtype=bool)
    inside = np.flatnonzero((points >= bounds[:2]).all(axis=1) & (points <= bounds[2:]).all(axis=1))
    if not len(inside):
        return Placement(centres, lines, placed)
    few = len(inside) <= ALL_LABELLED
    most_crossed = np.inf if few else _MOST_CROSSED
    field = _Field(points[inside], radius, bounds, taken, _segments(line), most_crossed)
    around = sizes[inside].mean(axis=0) * 2
    crowd = field.within(np.concatenate([points[inside] - around, points[inside] + around], axis=1))
    order = inside[np.argsort(-crowd if few else crowd, kind="stable")][:_MOST_SEARCHES]
    for _ in range(min(_SWEEPS, _MOST_SEARCHES // len(order))):
        moved = False
        for i in order:
            placed[i], lines[i] = False, points[i]
            others = np.flatnonzero(placed)
            led = others[(lines[others, 0] != lines[others, 1]).any(axis=1)]
            found = _best_place(points[i], sizes[i], field, boxes[others], lines[led])
            if found is None:
                continue
            box, line = found
            moved |= not np.array_equal(box, boxes[i])
            boxes[i], lines[i], placed[i] = box, line, True
        if not moved:
            break
    centres[placed] = (boxes[placed, :2] + boxes[placed, 2:]) / 2
    return Placement(centres, lines, placed)


def _segments(line: FloatArray | None) -> FloatArray:
    """The parts of a line through some points, shape (any, 2, 2); none of one too long for the work to be bounded."""
    if line is None or len(line) > ALL_LABELLED:
        return np.zeros((0, 2, 2))
    parts = np.stack([line[:-1], line[1:]], axis=1)
    return parts[np.isfinite(parts).all(axis=(1, 2))]


class _Field:
    """What does not move, among which labels find places.

    How many markers lie in a box takes four look-ups in a table of running sums.
    """

    def __init__(
        self,
        points: FloatArray,
        radius: float,
        bounds: FloatArray,
        taken: FloatArray,
        lines: FloatArray,
        most_crossed: float,
    ) -> None:
        self.radius, self.bounds, self.taken, self.lines = radius, bounds, taken, lines
        self.most_crossed = most_crossed
        extent = bounds[2:] - bounds[:2]
        self.cell = max(radius / _CELLS, float(extent.max()) / _MOST_CELLS)
        self.shape = np.floor(extent / self.cell).astype(np.int64) + 1
        row, column = self._cells(points).T
        count = np.zeros(self.shape, dtype=np.int64)
        np.add.at(count, (row, column), 1)
        self.table = np.pad(count.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))

    def _cells(self, points: FloatArray) -> IntArray:
        return np.floor((points - self.bounds[:2]) / self.cell).astype(np.int64)

    def within(self, boxes: FloatArray) -> IntArray:
        """How many have their centre in each box; in doubt, by less than a cell, one more."""
        first = np.clip(self._cells(boxes[:, :2]), 0, self.shape)
        last = np.clip(self._cells(boxes[:, 2:]) + 1, 0, self.shape)
        (left, bottom), (right, top) = first.T, last.T
        table = self.table
        return np.asarray(table[right, top] - table[left, top] - table[right, bottom] + table[left, bottom])

    def covered(self, boxes: FloatArray) -> BoolArray:
        """Whether a box covers a part of any."""
        grown = self.radius * np.array([-1.0, -1.0, 1.0, 1.0])
        return np.asarray(self.within(boxes + grown) > 0)

    def met(self, start: FloatArray, ends: FloatArray) -> IntArray:
        """About how many a line from one to each of ``ends`` runs over, but for what is close to ``start``."""
        along = ends - start
        length = np.linalg.norm(along, axis=1, keepdims=True)
        steps = np.arange(3.0, max(float(length.max()) / self.radius, 3.0) + 1.0, 2.0) * self.radius
        samples = start + along[:, None] * (steps / np.maximum(length, 1e-9))[:, :, None]
        boxes = np.concatenate([samples, samples], axis=2).reshape(-1, 4)
        hit = self.covered(boxes).reshape(samples.shape[:2]) & (steps < length)
        return np.asarray(hit.sum(axis=1))


def _best_place(
    point: FloatArray, size: FloatArray, field: _Field, boxes: FloatArray, lines: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """The box of the cheapest place that covers nothing, and the line to it; boxes and lines are the others'."""
    radius = field.radius
    candidates = point + _TOWARDS * (size / 2 + radius + _REACH * 2 * radius)
    box = np.concatenate([candidates - size / 2, candidates + size / 2], axis=1)
    inside = (box[:, :2] >= field.bounds[:2]) & (box[:, 2:] <= field.bounds[2:])
    free = np.flatnonzero(inside.all(axis=1) & ~field.covered(box))
    free = free[~_overlap(box[free], np.concatenate([boxes, field.taken])).any(axis=1)]
    if not len(free):
        return None
    box = box[free]
    ends = np.clip(point, box[:, :2], box[:, 2:])
    length = np.linalg.norm(ends - point, axis=1)
    ends = np.where((length > _LED * radius)[:, None], ends, point)
    cost = length / radius + _PREFERENCE[free]
    # What the lines meet takes longer to find, so the cheapest go first, until no other can be cheaper.
    cheapest = np.argsort(cost, kind="stable")
    best, least = None, np.inf
    for some in np.split(cheapest, _BATCHES):
        if not len(some) or cost[some[0]] >= least:
            break
        # Markers, labels and lines that the line to each place meets, and lines that meet the place.
        own = np.stack([np.broadcast_to(point, (len(some), 2)), ends[some]], axis=1)
        over = field.met(point, ends[some]) + _meet(own, boxes).sum(axis=1) + _cross(own, lines).sum(axis=1)
        under = _meet(np.concatenate([lines, field.lines]), box[some]).sum(axis=0)
        crossed = (ends[some] != point).any(axis=1) * over + under
        full = np.where(crossed <= field.most_crossed, cost[some] + _CROSSED * crossed, np.inf)
        if full.min() < least:
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
