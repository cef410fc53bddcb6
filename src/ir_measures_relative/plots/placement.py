"""Places of points and their labels in a picture of runs, whatever draws it."""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from ..data.arrays import BoolArray, FloatArray, IntArray

# The gaps between a marker and its label that are tried, in sizes of a marker, and the directions.
_GAPS = (0.3, 0.8, 1.5, 2.5, 3.5, 5.0, 6.5, 8.5, 10.5, 13.0, 16.0)
_DIRECTIONS = [
    *((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)),
    *((1, 0.5), (1, -0.5), (-1, 0.5), (-1, -0.5), (0.5, 1), (-0.5, 1), (0.5, -1), (-0.5, -1)),
]
_REACH, _TOWARDS = np.repeat(_GAPS, len(_DIRECTIONS))[:, None], np.tile(_DIRECTIONS, (len(_GAPS), 1))
# In radii of a marker: from which length on a line leads to a label, and what it costs for each thing that it meets.
_LED, _CROSSED = 4.0, 20.0
# The number of nearest free places of which the cheapest is taken.
_COMPARED = 24
# The points of a line to a label that are looked at.
_ALONG = np.linspace(0.0, 1.0, 40)[:, None]


class Placement(NamedTuple):
    """The places of labels."""

    centres: FloatArray  #: shape (labels, 2); the point itself for a label without a place
    lines: FloatArray  #: from point to label, shape (labels, 2, 2); of length 0 where none is needed
    placed: BoolArray  #: whether a label has a place


def place_labels(
    points: FloatArray,
    sizes: FloatArray,
    bounds: FloatArray,
    taken: FloatArray,
    radius: float,
    line: FloatArray,
) -> Placement:
    """Place each label at the cheapest place that covers nothing, those in a crowd first; without one it is left out.

    Lengths are pixels, and a box is (left, bottom, right, top). Points, sizes and the corners of the ``line`` that
    labels keep off have the shape (any, 2); the boxes that are ``taken`` (any, 4).
    """
    lines, placed = np.repeat(points[:, None], 2, axis=1), np.zeros(len(points), dtype=bool)
    boxes = np.concatenate([points, points], axis=1)
    inside = np.flatnonzero((points >= bounds[:2]).all(axis=1) & (points <= bounds[2:]).all(axis=1))
    corners = line[np.isfinite(line).all(axis=1)]
    spots = [a + (b - a) * np.linspace(0.0, 1.0, 200)[:, None] for a, b in itertools.pairwise(corners)]
    taken = np.concatenate(
        [taken, boxes_around(points[inside], radius), *(boxes_around(some, 1.0) for some in spots)]
    )
    apart = np.abs(points[inside, None] - points[inside]) < 2 * sizes[inside, None]
    for i in inside[np.argsort(-apart.all(axis=2).sum(axis=1), kind="stable")]:
        centres = points[i] + _TOWARDS * (sizes[i] / 2 + radius + _REACH * 2 * radius)
        box = boxes_around(centres, sizes[i] / 2)
        within = (box[:, :2] >= bounds[:2]).all(axis=1) & (box[:, 2:] <= bounds[2:]).all(axis=1)
        near = taken[_meet(np.r_[box[:, :2].min(axis=0), box[:, 2:].max(axis=0)][None], taken)[0]]
        box = box[within & ~_meet(box, near).any(axis=1)][:_COMPARED]
        if not len(box):
            continue
        ends = np.clip(points[i], box[:, :2], box[:, 2:])
        length = np.linalg.norm(ends - points[i], axis=1) / radius
        way = points[i] + (ends - points[i])[:, None] * _ALONG[8:-2]
        cost, led = length.round(1), length > _LED  # rounded, since equal ones go by the order of directions
        if led[cost.argmin()]:
            crossed = _meet(boxes_around(way.reshape(-1, 2), 0.0), near).reshape(*way.shape[:2], -1)
            cost += _CROSSED * led * crossed.any(axis=1).sum(axis=1)
        best = int(cost.argmin())
        boxes[i], placed[i] = box[best], True
        taken = np.concatenate([taken, boxes[i][None]])
        if led[best]:
            lines[i, 1] = ends[best]
            taken = np.concatenate([taken, boxes_around(way[best, ::3], 1.0)])
    return Placement((boxes[:, :2] + boxes[:, 2:]) / 2, lines, placed)


def boxes_around(centres: FloatArray, half: Any) -> FloatArray:
    """Return boxes of half a width and height around points."""
    return np.concatenate([centres - half, centres + half], axis=1)


def _meet(boxes: FloatArray, others: FloatArray) -> BoolArray:
    """Return whether each box overlaps each of the others."""
    left, bottom, right, top = boxes[:, :, None].transpose(1, 0, 2)
    x, y, end, above = others.T
    return (left < end) & (right > x) & (bottom < above) & (top > y)


def frontier(x: FloatArray, y: FloatArray) -> IntArray:
    """Return the points that no other point beats, by x: none is as high on both axes, and higher on one.

    >>> frontier(np.array([1.0, 2.0, 0.5]), np.array([3.0, 1.0, 2.0])).tolist()
    [0, 1]
    """
    reached = (x >= x[:, None]) & (y >= y[:, None])
    beaten = (reached & ((x > x[:, None]) | (y > y[:, None]))).any(axis=1)
    order: IntArray = np.lexsort((-y, x))
    return order[~np.asarray(beaten)[order]]


def ticks_between(low: float, high: float, most: int = 6) -> list[float]:
    """Return multiples of 1, 2 or 5 times a power of ten between two numbers, with a limited number of intervals.

    >>> ticks_between(0.13, 0.52)
    [0.2, 0.3, 0.4, 0.5]
    """
    least = (high - low) / most
    power = 10.0 ** math.floor(math.log10(least))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))
    digits = max(0, -math.floor(math.log10(step)) + 1)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, digits) for i in range(first, last + 1)]
