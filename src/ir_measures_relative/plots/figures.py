"""What the pictures share: axes and their breaks, text that draws any string as it is, colours of groups, tables."""

from __future__ import annotations

import math
import textwrap
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FormatStrFormatter

from ..data.arrays import BoolArray, FloatArray, IntArray
from ..messages import warn

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


#: Okabe and Ito's colours, which the colour-blind tell apart, without their yellow, which is faint on white
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

#: Of the groups, or lines, in turn
MARKERS = "os^DvPX"
_NO_GROUP = "no group"

# Names of systems along an axis, in points.
_LARGEST, _SMALLEST = 9.0, 4.5
# The part of a figure that matplotlib gives to axes before the layout is made.
_OF_A_FIGURE = 0.77

# Names longer than the first are shortened where they stay different, and those longer than the second in any case.
_LONG, _LONGEST = 36, 72
# Titles: the characters of a line, at least and at most, and how many lines.
_NARROWEST, _WIDEST, _LINES = 24, 72, 3


def new_figure(width: float = 9.0, height: float = 6.5) -> Figure:
    """An empty figure that pyplot does not know of: no window opens, and no backend is chosen."""
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)  # type: ignore[union-attr]
    return figure


def given_or_new_axes(ax: Axes | None, width: float = 9.0, height: float = 6.5) -> Axes:
    """``ax``, or that of a new figure of pyplot's of this size, in inches."""
    if ax is not None:
        return ax
    import matplotlib.pyplot  # which chooses a backend: not where axes are given

    return matplotlib.pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def size_of(ax: Axes) -> tuple[float, float]:
    """Width and height of the axes in points, before the layout is made."""
    point = ax.figure.dpi / 72.0
    return ax.bbox.width / point, ax.bbox.height / point


def size_with_margins(ax: Axes) -> tuple[float, ...]:
    """Width and height, in points, that the axes have together with what is written beside them."""
    return tuple(side / _OF_A_FIGURE for side in size_of(ax))


def write_title(ax: Axes, text: str) -> None:
    """Writes a title above the axes."""
    ax.set_title(title(text, 1.15 * size_of(ax)[0], 12.0))


def write_axis_titles(ax: Axes, x: str | None, y: str | None, **style: Any) -> None:
    """Writes titles beside the axes."""
    width, height = size_with_margins(ax)
    if x is not None:
        ax.set_xlabel(title(x, width, 10.0), **style)
    if y is not None:
        ax.set_ylabel(title(y, height, 10.0), **style)


def write_frame(ax: Axes, x: str | None, y: str | None, above: str, grid: Any = "both") -> None:
    """Writes the titles of a picture, and draws lines behind what is drawn, at the ticks of one axis or of both."""
    ax.grid(color="0.9", linewidth=0.6, axis=grid)
    ax.set_axisbelow(True)
    write_axis_titles(ax, x, y)
    write_title(ax, above)


def break_axes(ax: Axes, x: FloatArray, y: FloatArray) -> None:
    """Breaks an axis where a few of the points lie far from the others, so that these get most of the room."""
    for which, values, side in ((ax.xaxis, x, (1.0, 2.0)), (ax.yaxis, y, (2.0, 1.0))):
        axis = axis_of(values) if len(values) else None
        if axis is None or not axis.breaks:
            continue
        across = which is ax.xaxis
        (ax.set_xscale if across else ax.set_yscale)("function", functions=(axis.place, axis.value))
        which.set_major_locator(FixedLocator(axis.ticks))
        which.set_major_formatter(FormatStrFormatter("%.3g"))
        (ax.set_xlim if across else ax.set_ylim)(axis.values[0], axis.values[-1])
        slant = 0.006 * np.outer([-1.0, 1.0], side)
        marks = [
            slant + ((at, 0.0) if across else (0.0, at))
            for place in axis.breaks
            for at in (place - 0.004, place + 0.004)
        ]
        style: dict[str, Any] = {"colors": "black", "linewidths": 0.9, "clip_on": False}
        ax.add_collection(LineCollection(marks, transform=ax.transAxes, **style), autolim=False)


def names_that_fit(room: float, n: int) -> tuple[float, range]:
    """The size of the names of ``n`` systems along an axis that has this room, in points, for each; which fit there."""
    size = max(_SMALLEST, min(_LARGEST, 0.8 * room))
    fitting = range(0, n, max(1, -int(-size // max(room, 1e-3))))
    if len(fitting) < n:
        warn_of_names_left_out(len(fitting), n)
    return size, fitting


def warn_of_names_left_out(shown: int, n: int) -> None:
    """Warns that only some systems are named on a picture."""
    warn(
        f"all {n} systems are drawn, but only {shown} have their names beside them, since there is no room for more: "
        "a larger figure has room (ax=plots.new_figure(24, 18).subplots()), or draw fewer systems"
    )


def as_text(name: str) -> str:
    """The name in one line of characters that can be drawn.

    Characters that only steer others (such as the direction of writing) are left out, others that have no shape become
    "�", and a name without anything to see is shown between quotes. What stands between dollars is no mathematics.
    """
    visible = (c for c in " ".join(name.split()) if unicodedata.category(c) != "Cf")
    line = "".join(c if c.isprintable() else "�" for c in visible)
    return (line.strip() or repr(name)).replace("$", r"\$")


def short_names(names: Sequence[str]) -> list[str]:
    """The names as text, with the middle of long ones left out where that leaves them different.

    Very long ones that differ in their middle alone are numbered.
    """
    short = {name: _without_middle(name, _LONG) for name in names}
    count = Counter(short.values())
    shown: dict[str, str] = {}
    for i, (name, shortened) in enumerate(short.items(), start=1):
        if count[shortened] == 1:
            shown[name] = as_text(shortened)
        else:
            shown[name] = as_text(name if len(name) <= _LONGEST else f"{shortened} ({i})")
    return [shown[name] for name in names]


def title(text: str, room: float, size: float) -> str:
    """What stands above or beside the axes, in lines as long as there is room; very long text without its middle."""
    width = max(_NARROWEST, min(_WIDEST, int(room / width_of("x", size))))
    text = _without_middle(" ".join(text.split()), width * _LINES)
    lines = textwrap.wrap(text, width)
    # Lines of about the same length, and no single word in the last: as narrow as their number allows.
    for narrower in range(_NARROWEST, width):
        if len(even := textwrap.wrap(text, narrower)) == len(lines):
            lines = even
            break
    return "\n".join(map(as_text, lines))


def width_of(text: str, size: float) -> float:
    """About how wide text is in letters of this size."""
    return 0.57 * size * len(text)


def legend_label(label: str, longest: int = 48) -> str:
    """The label of an entry in a legend."""
    text = as_text(_without_middle(label, longest))
    # matplotlib leaves a label that starts with "_" out of the legend; behind a space of no width it does not.
    return f"\u200b{text}" if text.startswith("_") else text


def _without_middle(text: str, longest: int) -> str:
    half = (longest - 1) // 2
    return text if len(text) <= longest else f"{text[:half]}…{text[-half:]}"


class GroupStyle(NamedTuple):
    """Systems that look alike."""

    label: str
    rows: list[int]  #: which of the systems
    colour: str
    marker: str


def groups_of(names: Sequence[str], groups: Mapping[str, str] | None) -> list[GroupStyle]:
    """The groups in alphabetical order, then the systems that are in none; one if there are no groups at all."""
    if not groups:
        return [GroupStyle("", list(range(len(names))), COLOURS[0], MARKERS[0])]
    of_system = [str(groups[n]) if n in groups else None for n in names]
    result = []
    for i, group in enumerate(sorted({g for g in of_system if g is not None})):
        rows = [row for row, g in enumerate(of_system) if g == group]
        # Every seven groups the markers move on by one, so that 49 groups look different.
        marker = MARKERS[(i + i // len(COLOURS)) % len(MARKERS)]
        result.append(GroupStyle(legend_label(group, 36), rows, COLOURS[i % len(COLOURS)], marker))
    rest = [row for row, g in enumerate(of_system) if g is None]
    return [*result, GroupStyle(_NO_GROUP, rest, "#808080", "o")] if rest else result


def add_legend(ax: Axes, entries: int) -> None:
    """A legend of the groups: beside the axes where the figure makes room for it, else inside."""
    if ax.figure.get_layout_engine() is not None:
        columns = 1 + (entries - 1) // 25
        place = {"bbox_to_anchor": (1.01, 1.0), "loc": "upper left", "borderaxespad": 0.0}
        ax.legend(title="group", ncols=columns, fontsize=8, **place)
    else:
        ax.legend(title="group", loc="best", fontsize=7, framealpha=0.9)


def names_and_values(
    table: pd.DataFrame, *measures: ir_measures.Measure | str
) -> tuple[list[str], list[FloatArray]]:
    """The names of the systems, and their values of each measure; NaN where there is none, or no finite one.

    ValueError for a column that is not there, or that holds something else than numbers.
    """
    for column in ("name", *map(str, measures)):
        if column not in table.columns:
            raise ValueError(
                f"the table has no column {column!r}; its columns are {[str(c) for c in table.columns]}"
            )
    values = []
    for column in map(str, measures):
        try:
            numbers = table[column].to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError) as error:
            raise ValueError(f"the column {column!r} of the table is not all numbers ({error})") from None
        values.append(np.where(np.isfinite(numbers), numbers, np.nan))
    return [str(n) for n in table["name"]], values


def check_table(table: pd.DataFrame, made_by: str, *columns: str) -> None:
    """Raises ValueError for a table that lacks columns or has no rows; ``made_by`` is the call that makes one."""
    lacking = [c for c in columns if c not in getattr(table, "columns", ())]
    if lacking or not len(table):
        what = f"lacks {', '.join(lacking)}" if lacking else "has no rows"
        raise ValueError(f"the table {what}; give the one that {made_by} returns")


def rows_of_measure(
    table: pd.DataFrame, measure: ir_measures.Measure | str | None, made_by: str, columns: Sequence[str]
) -> tuple[pd.DataFrame, str]:
    """The rows of one measure, the first if none is given, and its name; ``made_by`` names the function, as above."""
    lacking = [column for column in columns if column not in getattr(table, "columns", ())]
    if lacking or "query_id" in table.columns or "qid" in table.columns:
        raise ValueError(f"give the table that {made_by}(context, qrels, measures) returns, without perquery")
    known = list(dict.fromkeys(table["measure"]))
    shown = (known[0] if known else "") if measure is None else str(measure)
    if shown not in known:
        raise ValueError(f"the table holds no {shown or 'measure'}; its measures are {known}")
    return table[table["measure"] == shown], shown
