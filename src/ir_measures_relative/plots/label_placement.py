"""Where the labels of a scatter plot go, so that they cover neither each other nor the points."""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray

# The gaps between a point and its label that are tried, in sizes of a marker, and the directions: the corners and
# sides of a square around the point, right and left first.
_GAPS = (0.3, 0.8, 1.5, 2.5, 3.5, 5.0, 6.5, 8.5, 10.5, 13.0, 16.0, 20.0, 25.0)


_DIRECTIONS = np.array(
    [
        *((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)),
        *((1, 0.5), (1, -0.5), (-1, 0.5), (-1, -0.5), (0.5, 1), (-0.5, 1), (0.5, -1), (-0.5, -1)),
    ]
)


_SAMPLES = np.linspace(0.0, 1.0, 12)[:, None]  # of a line, to see what it runs over


_SWEEPS = 8


_FEW = 16


# What a candidate costs, beside its distance in sizes of a marker: mostly, covering something.
_OUTSIDE, _COVERED, _CROSSED = 1e6, 1e4, 30.0


def place_labels(
    points: FloatArray, sizes: FloatArray, bounds: FloatArray, taken: FloatArray, radius: float
) -> tuple[FloatArray, FloatArray]:
    """The centres of the labels, and the lines that lead to those that are not beside their point.

    Greedy, then a few sweeps in which each label moves to what is best beside the others. Deterministic. Lengths
    are pixels, and a box is (left, bottom, right, top).

    Args:
        points: shape (labels, 2).
        sizes: width and height of each label, shape (labels, 2).
        bounds: the box in which the labels must be.
        taken: boxes that the labels must not cover, such as a legend; shape (any, 4).
        radius: of the markers.

    Returns:
        the centres, shape (labels, 2), and the lines from point to label, shape (labels, 2, 2), of length 0 where
        none is needed.
    """
    n = len(points)
    if not n:
        return np.zeros((0, 2)), np.zeros((0, 2, 2))
    markers = np.concatenate([points - radius, points + radius], axis=1)
    fixed = np.concatenate([markers, taken])
    gaps = np.array(_GAPS) * 2 * radius
    centres, lines = points.copy(), np.repeat(points[:, None], 2, axis=1)
    boxes = np.full((n, 4), np.nan)  # not yet placed: covers nothing
    crowd = (np.abs(points[:, None] - points[None]) < sizes.mean(axis=0) * 2).all(axis=2).sum(axis=1)
    order = np.argsort(-crowd, kind="stable")
    for _ in range(_SWEEPS):
        moved = False
        for i in order:
            reach = sizes[i] / 2 + radius + np.repeat(gaps, len(_DIRECTIONS))[:, None]
            candidates = points[i] + np.tile(_DIRECTIONS, (len(gaps), 1)) * reach
            box = np.concatenate([candidates - sizes[i] / 2, candidates + sizes[i] / 2], axis=1)
            ends = np.clip(points[i], box[:, :2], box[:, 2:])
            length = np.linalg.norm(ends - points[i], axis=1)
            led = length > 4 * radius
            others = np.arange(n) != i
            obstacles = np.concatenate([fixed, boxes[others]])
            cost = (
                length / radius
                + 0.1 * (np.arange(len(box)) % len(_DIRECTIONS))
                + _OUTSIDE * _outside(box, bounds)
                + _COVERED * _overlaps(box, obstacles).sum(axis=1)
            )
            apart = np.ones(len(obstacles), dtype=bool)  # the line starts in its own marker
            apart[:n] = np.abs(points - points[i]).max(axis=1) > 2 * radius
            drawn = lines[others & (np.abs(lines[:, 1] - lines[:, 0]).sum(axis=1) > 0)]
            # What a line runs over takes longer to find, so the cheapest go first; mostly the best is among them.
            cheapest = np.argsort(cost, kind="stable")
            for few in (cheapest[:_FEW], cheapest):
                crossed = _crossed(points[i], ends[few], led[few], box[few], obstacles[apart], drawn)
                full = cost[few] + _CROSSED * crossed
                if full.min() <= cost[cheapest[_FEW]]:
                    break
            best = int(few[full.argmin()])
            moved |= not np.array_equal(candidates[best], centres[i])
            centres[i], boxes[i] = candidates[best], box[best]
            lines[i] = points[i], ends[best] if led[best] else points[i]
        if not moved:
            break
    return centres, lines


def _outside(box: FloatArray, bounds: FloatArray) -> BoolArray:
    return np.asarray((box[:, :2] < bounds[:2]).any(axis=1) | (box[:, 2:] > bounds[2:]).any(axis=1))


def _overlaps(box: FloatArray, others: FloatArray) -> BoolArray:
    """Whether each box overlaps each other one; shape (boxes, others)."""
    return np.asarray(
        ((box[:, None, :2] < others[None, :, 2:]) & (box[:, None, 2:] > others[None, :, :2])).all(axis=2)
    )


def _crossed(
    start: FloatArray,
    ends: FloatArray,
    led: BoolArray,
    box: FloatArray,
    obstacles: FloatArray,
    lines: FloatArray,
) -> FloatArray:
    """For each candidate, what its line runs over, and how many of the other lines run over its box."""
    samples = start + (ends - start)[:, None] * _SAMPLES
    theirs = lines[:, :1] + (lines[:, 1:] - lines[:, :1]) * _SAMPLES
    over = _holds(obstacles, samples).any(axis=2).sum(axis=1) + _crossings(start, ends, lines)
    return np.asarray(led * over + _holds(box, theirs).any(axis=2).sum(axis=0), dtype=np.float64)


def _holds(boxes: FloatArray, points: FloatArray) -> BoolArray:
    """Whether the boxes hold the points; ``points`` (groups, points, 2), result (groups, boxes, points)."""
    low, high = boxes[None, :, None, :2], boxes[None, :, None, 2:]
    return np.asarray(((points[:, None] > low) & (points[:, None] < high)).all(axis=3))


def _crossings(start: FloatArray, ends: FloatArray, lines: FloatArray) -> FloatArray:
    """How many of ``lines`` each line from ``start`` to one of ``ends`` crosses."""

    def side(a: FloatArray, b: FloatArray, c: FloatArray) -> FloatArray:
        """On which side of the line from a to b the point c is."""
        return np.sign(
            (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1])
            - (b[..., 1] - a[..., 1]) * (c[..., 0] - a[..., 0])
        )

    p, q = lines[None, :, 0], lines[None, :, 1]
    ends = ends[:, None]
    crossed = (side(start, ends, p) != side(start, ends, q)) & (side(p, q, start) != side(p, q, ends))
    return np.asarray(crossed.sum(axis=1), dtype=np.float64)
