"""Two axes: which values are outliers, how an axis is broken for them, and which points nobody beats on both."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .data.arrays import BoolArray, FloatArray, IntArray

# Up to this part of the values, and one in any case, are outliers, where the others take at most the second part of the
# axis, and the gap between is at least the third part of what the others take.
_MOST_OUTLIERS, _MOST_OF_AXIS, _LEAST_GAP = 0.125, 0.5, 0.25
_FEWEST = 5
# Parts of a broken axis: what the outliers at one end get, and the break beside them.
_BAND, _BREAK = 0.15, 0.04
_MARGIN = 0.07
_TICKS = 6


class Axis(NamedTuple):
    """From values to places on an axis, 0 to 1; broken where a few values lie far from the others."""

    values: FloatArray  #: ascending; straight lines lead from each to the next
    places: FloatArray  #: of these values
    ticks: list[float]
    breaks: list[float]  #: the places in the middle of the breaks

    def place(self, values: FloatArray) -> FloatArray:
        """Where values stand; those beyond the ends go on along the line."""
        return _along(values, self.values, self.places)

    def value(self, places: FloatArray) -> FloatArray:
        """What stands at some places."""
        return _along(places, self.places, self.values)

    def is_outlier(self, values: FloatArray) -> BoolArray:
        """Which values stand beyond a break."""
        places = self.place(values)
        return np.asarray(
            [any(x < at < 0.5 or x > at > 0.5 for at in self.breaks) for x in places], dtype=bool
        )


def axis_of(values: FloatArray) -> Axis:
    """An axis for some values, of which a few may lie far from the others.

    >>> axis = axis_of(np.array([0.1, 0.40, 0.42, 0.44, 0.46]))
    >>> axis.breaks, axis.place(np.array([0.1, 0.40, 0.46])).round(2).tolist()
    ([0.13], [0.05, 0.2, 0.95])
    """
    known = np.sort(values)
    below, above = _outliers(known)
    inner = known[below : len(known) - above]
    margin = _MARGIN * (np.ptp(inner) or abs(inner[0]) or 1.0)
    low, high = inner[0] - margin, inner[-1] + margin
    ends, places, ticks, breaks = [low, high], [0.0, 1.0], nice_ticks(low, high), []
    if below:
        far, near = known[0], known[below - 1]
        low = ends[0] = max(low, (near + inner[0]) / 2)
        pad = (low - near) / 4
        ends, places = [far - pad, near + pad, *ends], [0.0, _BAND - _BREAK, _BAND, places[-1]]
        ticks, breaks = [*_two(far, near), *ticks], [_BAND - _BREAK / 2]
    if above:
        near, far = known[len(known) - above], known[-1]
        high = ends[-1] = min(high, (near + inner[-1]) / 2)
        pad = (near - high) / 4
        ends, places = [*ends, near - pad, far + pad], [*places[:-1], 1 - _BAND, 1 - _BAND + _BREAK, 1.0]
        ticks, breaks = [*ticks, *_two(near, far)], [*breaks, 1 - _BAND + _BREAK / 2]
    return Axis(np.array(ends), np.array(places), ticks, breaks)


def _two(one: float, other: float) -> list[float]:
    return sorted({float(one), float(other)})


def nice_ticks(low: float, high: float) -> list[float]:
    """Round values between two."""
    rough = float(high - low) / _TICKS
    exponent = math.floor(math.log10(rough))
    step = next(factor * 10.0**exponent for factor in (1, 2, 5, 10) if factor >= rough / 10.0**exponent)
    between = range(math.ceil(low / step), math.floor(high / step) + 1)
    return [round(i * step, max(0, 1 - exponent)) for i in between]


def frontier(x: FloatArray, y: FloatArray) -> IntArray:
    """The points that no other point beats: is as high on both axes, and higher on one. By x, the lowest first.

    >>> frontier(np.array([1.0, 2.0, 0.5]), np.array([3.0, 1.0, 2.0])).tolist()
    [0, 1]
    """
    reached = (x >= x[:, None]) & (y >= y[:, None])
    beaten = (reached & ((x > x[:, None]) | (y > y[:, None]))).any(axis=1)
    order: IntArray = np.lexsort((-y, x))
    return order[~np.asarray(beaten)[order]]


def _outliers(values: FloatArray) -> tuple[int, int]:
    """How many of the ascending values are outliers below, and above: the fewest that give the others room."""
    n = len(values)
    if n < _FEWEST:
        return 0, 0
    gaps = np.diff(values)
    for number in range(1, max(1, int(_MOST_OUTLIERS * n)) + 1):
        ways = [(below, number - below) for below in range(number + 1)]
        below, above = min(ways, key=lambda way: float(values[n - way[1] - 1] - values[way[0]]))
        inner = float(values[n - above - 1] - values[below])
        beside = [
            *gaps[max(below - 1, 0) : below],
            *gaps[n - above - 1 : n - above],
        ]  # none where there are no outliers
        if 0 < inner <= _MOST_OF_AXIS * (values[-1] - values[0]) and min(beside) >= _LEAST_GAP * inner:
            return below, above
    return 0, 0


def _along(given: FloatArray, start: FloatArray, end: FloatArray) -> FloatArray:
    """The piecewise linear function through some points, which goes on beyond the first and the last."""
    piece = np.clip(np.searchsorted(start, given, side="right") - 1, 0, len(start) - 2)
    slope = (end[piece + 1] - end[piece]) / (start[piece + 1] - start[piece])
    return np.asarray(end[piece] + (given - start[piece]) * slope)
