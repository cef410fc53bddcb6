"""Parts that figures share: axes, text that draws any string unchanged, colours of groups, tables."""

from __future__ import annotations

import textwrap
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..data.arrays import FloatArray
from ..messages import warn

#: Okabe and Ito's colours, which the colour-blind tell apart, without their yellow, which is faint on white
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

#: The markers of groups, or lines, in turn
MARKERS = "os^DvPX"
_NO_GROUP = "no group"

# Names of systems along an axis, in points.
_LARGEST, _SMALLEST = 9.0, 4.5
# The part of a figure that matplotlib gives to axes before the layout is made.
_PART_OF_FIGURE = 0.77

# Names longer than the first are shortened where they stay different, and those longer than the second in any case.
_LONG, _LONGEST = 36, 72
# Titles: the characters of a line, at least and at most, and how many lines.
_NARROWEST, _WIDEST, _LINES = 24, 72, 3


def new_figure(width: float = 9.0, height: float = 6.5) -> Figure:
    """Return an empty figure that pyplot does not know of: no window opens, and no backend is chosen."""
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)  # type: ignore[union-attr]
    return figure


def make_axes(ax: Axes | None, width: float = 9.0, height: float = 6.5) -> Axes:
    """Return ``ax``, or that of a new figure of pyplot's of this size, in inches."""
    if ax is not None:
        return ax
    import matplotlib.pyplot  # which chooses a backend: not where axes are given

    return matplotlib.pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def axes_size(ax: Axes) -> tuple[float, float]:
    """Return width and height of the axes in points, before the layout is made."""
    point = ax.figure.dpi / 72.0
    return ax.bbox.width / point, ax.bbox.height / point


def outer_size(ax: Axes) -> tuple[float, ...]:
    """Return the width and height, in points, of the axes with their titles and tick labels."""
    return tuple(side / _PART_OF_FIGURE for side in axes_size(ax))


def write_title(ax: Axes, text: str) -> None:
    """Write a title above the axes."""
    ax.set_title(break_title(text, 1.15 * axes_size(ax)[0], 12.0))


def write_axis_titles(ax: Axes, x: str | None, y: str | None, **style: Any) -> None:
    """Write titles beside the axes."""
    width, height = outer_size(ax)
    if x is not None:
        ax.set_xlabel(break_title(x, width, 10.0), **style)
    if y is not None:
        ax.set_ylabel(break_title(y, height, 10.0), **style)


def write_frame(ax: Axes, x: str | None, y: str | None, above: str, grid: Any = "both") -> None:
    """Write the titles of a figure, and draw a grid behind it."""
    ax.grid(color="0.9", linewidth=0.6, axis=grid)
    ax.set_axisbelow(True)
    write_axis_titles(ax, x, y)
    write_title(ax, above)


def fit_names(room: float, n: int) -> tuple[float, range]:
    """Return the letter size of system names along an axis that has ``room`` points for each, and which names fit."""
    size = max(_SMALLEST, min(_LARGEST, 0.8 * room))
    fitting = range(0, n, max(1, -int(-size // max(room, 1e-3))))
    if len(fitting) < n:
        warn_of_missing_names(len(fitting), n)
    return size, fitting


def warn_of_missing_names(shown: int, n: int) -> None:
    """Warn that only some systems are named on a figure."""
    warn(
        f"all {n} systems are drawn, but only {shown} have their names beside them, since there is no room for more: "
        "a larger figure has room (ax=plots.new_figure(24, 18).subplots()), or draw fewer systems"
    )


def as_text(name: str) -> str:
    """Return a name in one line of characters that can be drawn; those that only steer others are left out."""
    visible = (c for c in " ".join(name.split()) if unicodedata.category(c) != "Cf")
    line = "".join(c if c.isprintable() else "�" for c in visible)
    return (line.strip() or repr(name)).replace("$", r"\$")


def short_names(names: Sequence[str]) -> list[str]:
    """Return names as text; long ones without their middle, numbered where they differ in it alone."""
    short = {name: _without_middle(name, _LONG) for name in names}
    count = Counter(short.values())
    shown: dict[str, str] = {}
    for i, (name, shortened) in enumerate(short.items(), start=1):
        if count[shortened] == 1:
            shown[name] = as_text(shortened)
        else:
            shown[name] = as_text(name if len(name) <= _LONGEST else f"{shortened} ({i})")
    return [shown[name] for name in names]


def break_title(text: str, room: float, size: float) -> str:
    """Break a title into lines that have room; very long text loses its middle."""
    width = max(_NARROWEST, min(_WIDEST, int(room / text_width("x", size))))
    text = _without_middle(" ".join(text.split()), width * _LINES)
    # A long measure breaks between its parameters, and no other word where the line has room for it.
    text = " ".join(w.replace(",", ", ") if len(w) > width else w for w in text.split())
    longest = max((len(word) for word in text.split()), default=0)
    lines = textwrap.wrap(text, width)
    # Lines of about the same length, and no single word in the last: as narrow as their number allows.
    for narrower in range(max(_NARROWEST, min(longest, width)), width):
        if len(even := textwrap.wrap(text, narrower)) == len(lines):
            lines = even
            break
    return "\n".join(map(as_text, lines))


def text_width(text: str, size: float) -> float:
    """Return about how wide text is in letters of this size."""
    return 0.57 * size * len(text)


def legend_label(label: str, longest: int = 48) -> str:
    """Return the label of an entry in a legend."""
    text = as_text(_without_middle(label, longest))
    # matplotlib leaves a label that starts with "_" out of the legend; behind a space of no width it does not.
    return f"\u200b{text}" if text.startswith("_") else text


def _without_middle(text: str, longest: int) -> str:
    half = (longest - 1) // 2
    return text if len(text) <= longest else f"{text[:half]}…{text[-half:]}"


class GroupStyle(NamedTuple):
    """The look of the systems of a group."""

    label: str
    rows: list[int]  #: the systems
    colour: str
    marker: str


def style_groups(names: Sequence[str], groups: Mapping[str, str] | None) -> list[GroupStyle]:
    """Return the groups in alphabetical order, then the systems that are in none; one if there are no groups."""
    if not groups:
        return [GroupStyle("", list(range(len(names))), COLOURS[0], MARKERS[0])]
    labels = [str(groups[n]) if n in groups else None for n in names]
    result = []
    for i, group in enumerate(sorted({label for label in labels if label is not None})):
        rows = [row for row, label in enumerate(labels) if label == group]
        # Every seven groups the markers move on by one, so that 49 groups look different.
        marker = MARKERS[(i + i // len(COLOURS)) % len(MARKERS)]
        result.append(GroupStyle(legend_label(group, 36), rows, COLOURS[i % len(COLOURS)], marker))
    rest = [row for row, label in enumerate(labels) if label is None]
    return [*result, GroupStyle(_NO_GROUP, rest, "#808080", "o")] if rest else result


def add_legend(ax: Axes, entries: int) -> None:
    """Add a legend of the groups: beside the axes where the figure makes room for it, else inside."""
    if ax.figure.get_layout_engine() is not None:
        columns = 1 + (entries - 1) // 25
        place = {"bbox_to_anchor": (1.01, 1.0), "loc": "upper left", "borderaxespad": 0.0}
        ax.legend(title="group", ncols=columns, fontsize=8, **place)
    else:
        ax.legend(title="group", loc="best", fontsize=7, framealpha=0.9)


def read_values(
    table: pd.DataFrame, *measures: ir_measures.Measure | str
) -> tuple[list[str], list[FloatArray]]:
    """Return the names of the systems, and their values of each measure; NaN where there is no finite one."""
    for column in ("name", *map(str, measures)):
        columns = getattr(table, "columns", ())
        if column not in columns:
            raise ValueError(
                f"the table has no column {column!r}; its columns are {[str(c) for c in columns]}"
            )
    values = []
    for column in map(str, measures):
        try:
            numbers = table[column].to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError) as error:
            raise ValueError(f"the column {column!r} of the table is not all numbers ({error})") from None
        values.append(np.where(np.isfinite(numbers), numbers, np.nan))
    return [str(n) for n in table["name"]], values
