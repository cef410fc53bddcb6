"""One measure over another. ``templates/scatter.js`` draws what is placed here."""

from __future__ import annotations

import itertools
import unicodedata
from typing import Any, NamedTuple

import numpy as np

from ...context.measure_strings import is_relative
from ...data.arrays import FloatArray, IntArray
from ...plots.placement import frontier, place_labels, ticks_between
from ..contents import Contents
from . import Section, include


class Size(NamedTuple):
    """The size of a picture, in pixels."""

    width: int
    height: int
    higher: int  #: with more runs than :data:`_CROWD`
    named: int  #: up to how many runs all have their names


# For a screen and for a phone.
_SIZES = (Size(1150, 400, 560, 80), Size(358, 330, 420, 25))
# The margins for the numbers and titles of the axes: left, right, top, bottom.
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 10, 8, 42
# The gap beyond the outermost points, as a share of the range of values.
_MARGIN = 0.07
_CROWD = 30
_RADIUS = 5.0
# About how wide a letter is, and how high a line; how many letters of a name are shown, as in ``scatter.js``.
_LETTER, _LINE, _LONGEST = 6.7, 13.0, 22
# More pairs of measures are not all shown.
_MOST_PAIRS = 15
# Of so many names of a crowd, one goes to those that are high on an axis, for each.
_PART_HIGHEST = 6


def scatter(contents: Contents) -> Section | str:
    """Return a figure with a point for each run: a relative measure over an absolute one."""
    if len(contents.measures) < 2:
        return "The figure of two measures: there is only one measure."
    pairs = _pairs(contents)
    planes = [
        {"x": x, "y": y, "sizes": sizes} for x, y in pairs if (sizes := _plane(contents, x, y)) is not None
    ]
    if not planes:
        return "The figure of two measures: there is only one run."
    n = len(contents.measures)
    facts = {
        "runs": len(contents.collection.names),
        "on_a_screen": _SIZES[0].named,
        "on_a_phone": _SIZES[1].named,
        "left_out": n * (n - 1) // 2 - len(pairs),
    }
    title = "What runs add, and how good they are on their own"
    return Section(
        "scatter", "Figure", title, include("scatter"), facts, data={"scatter": {"planes": planes}}
    )


def _pairs(contents: Contents) -> list[tuple[int, int]]:
    """Return the pairs of measures that are shown, the first absolute and relative ones first."""
    first = contents.first_absolute or 0, contents.first_relative or 0
    relative = [is_relative(measure) for measure in contents.measures]
    pairs = itertools.combinations(range(len(relative)), 2)
    ordered = [(j, i) if relative[i] and not relative[j] else (i, j) for i, j in pairs]
    if len(ordered) > _MOST_PAIRS:
        ordered = [pair for pair in ordered if {*first} & {*pair}]
    return sorted(ordered, key=lambda pair: (pair != first, pair))


def _plane(contents: Contents, x: int, y: int) -> list[dict[str, Any]] | None:
    """Return the picture for a screen and for a phone; None where fewer than two runs have both values."""
    means, lower, upper = (
        np.array(contents.data[key], dtype=float)[[x, y]] for key in ("means", "ci_lower", "ci_upper")
    )
    runs = np.flatnonzero(np.isfinite(means).all(axis=0))
    if len(runs) < 2:
        return None
    means = means[:, runs]
    ends = [np.where(np.isnan(end[:, runs]), means, end[:, runs]) for end in (lower, upper)]
    best = frontier(*means)
    names = [contents.collection.names[r] for r in runs]
    pictures = []
    for size in _SIZES:
        named = _choose_named(means, best, size.named)
        pictures.append({"line": runs[best].tolist()} | _place(means, ends, runs, best, names, named, size))
    return pictures


def _choose_named(means: FloatArray, best: IntArray, most: int) -> IntArray:
    """Return the runs that have their names beside them: all, unless that are too many."""
    if means.shape[1] <= most:
        return np.arange(means.shape[1])
    high = [np.argsort(-values, kind="stable")[: most // _PART_HIGHEST] for values in means]
    return np.unique(np.concatenate([best, *high]))


def _place(
    means: FloatArray,
    ends: list[FloatArray],
    runs: IntArray,
    best: IntArray,
    names: list[str],
    named: IntArray,
    size: Size,
) -> dict[str, Any]:
    """Return a picture: points as [run, x, y, left, right, bottom, top], names as [run, x, y, end of the line]."""
    width, height = size.width, size.height if len(runs) <= _CROWD else size.higher
    low, high = means.min(axis=1), means.max(axis=1)
    margin = _MARGIN * np.where(high > low, high - low, np.abs(high) + (high == 0))
    low, high = low - margin, high + margin
    corner, opposite = np.array([_LEFT, height - _BOTTOM]), np.array([width - _RIGHT, _TOP])

    def to_pixels(values: FloatArray) -> FloatArray:
        """Return runs × (x, y) in pixels, of (x, y) × runs."""
        return corner + (values.T - low) / (high - low) * (opposite - corner)

    def ticks(axis: int) -> list[Any]:
        values = ticks_between(low[axis], high[axis])
        places = to_pixels(np.array([values, values]))[:, axis].round(1)
        return [[place, f"{value:.3g}"] for place, value in zip(places.tolist(), values, strict=True)]

    points = to_pixels(means)
    bounds = np.array([_LEFT, _TOP, width - _RIGHT, height - _BOTTOM], dtype=float)
    sizes = np.array([(_width(names[i]), _LINE) for i in named])
    unnamed = np.delete(points, named, axis=0)
    taken = np.concatenate([unnamed - _RADIUS, unnamed + _RADIUS], axis=1)
    labels = place_labels(points[named], sizes, bounds, taken, _RADIUS, points[best])
    (left, bottom), (right, top) = (np.clip(to_pixels(end), bounds[:2], bounds[2:]).T for end in ends)
    return {
        "width": width,
        "height": height,
        "frame": bounds.tolist(),
        "x": ticks(0),
        "y": ticks(1),
        "points": _rows(runs, points, left, right, bottom, top),
        "names": _rows(
            runs[named][labels.placed], labels.centres[labels.placed], labels.lines[labels.placed, 1]
        ),
    }


def _rows(runs: IntArray, *columns: FloatArray) -> list[list[float]]:
    numbers = np.column_stack(columns).round(1)
    return [[run, *row] for run, row in zip(runs.tolist(), numbers.tolist(), strict=True)]


def _width(name: str) -> float:
    letters = name.strip()[:_LONGEST] or "(no name)"
    widths = (2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in letters)
    return _LETTER * sum(widths) + 4
