"""Relative against absolute effectiveness: a point a system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import ir_measures
import numpy as np

from ..arrays import FloatArray
from ..messages import warn
from .figures import given_or_new_axes, write_axis_titles, write_title
from .groups import add_legend, groups_of
from .intervals import draw_bars, means_and_bars
from .tables import names_and_values
from .text import short_names

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# How many systems have room on a figure of the usual size; a new one grows for more, up to twice its size.
_COMFORTABLE = 40


def relative_against_absolute(
    table: pd.DataFrame,
    relative: ir_measures.Measure | str = "NRG@10",
    absolute: ir_measures.Measure | str = "nDCG@10",
    groups: Mapping[str, str] | None = None,
    ax: Axes | None = None,
    ci: bool = False,
) -> Axes:
    """A point a system: what it adds to the others, over how good it is on its own (Figs. 2-5 of the NRG paper).

    Systems that lie high for their place on the x-axis find what the others miss. The labels cover neither each
    other nor the points; a thin line leads to one that had to move away. Those that find no room are left out,
    with a warning when the figure is drawn; of more than 80, so are those that only a line across others could
    lead to.

    Args:
        table: one row a system: the column ``name`` and one for each of the two measures, as from
            :meth:`RunContext.evaluate` or ``pt.Experiment``.
        relative: the column on the y-axis.
        absolute: the column on the x-axis.
        groups: from name to group, such as ``context.groups``: a colour and a marker for each group.
        ax: where to draw.
        ci: draw the 95 % intervals of both means as bars. ``table`` is then that of the queries, as from
            ``context.evaluate(…, perquery=True)``. They say how sure a point is; whether two systems differ, only a
            comparison topic by topic says (:func:`ir_measures_relative.compare`), since both meet the same topics.

    Returns:
        the axes.

    Raises:
        ValueError: a column that is not there, which names those that are; or one that is not all numbers.
        ImportError: matplotlib is missing.
    """
    bars: dict[str, list[FloatArray]] = {}
    if ci:
        table, bars = means_and_bars(table, absolute, relative)
    names, (x, y) = names_and_values(table, absolute, relative)
    drawn = ~np.isnan(x + y)
    if not drawn.all():
        without = [n for n, d in zip(names, drawn, strict=True) if not d]
        warn(f"not drawn, since they lack a value of {absolute} or {relative}: {without}")
    names, x, y = [n for n, d in zip(names, drawn, strict=True) if d], x[drawn], y[drawn]
    larger = min(2.0, max(1.0, len(names) / _COMFORTABLE) ** 0.5)
    ax = given_or_new_axes(ax, width=9.0 * larger, height=6.5 * larger)
    from .point_labels import MARKER_SIZE, label_points

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
        draw_bars(ax, x, y, [[ends[drawn] for ends in bars[str(m)]] for m in (absolute, relative)], colours)
    ax.margins(0.1)
    ax.grid(color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    write_axis_titles(ax, f"absolute effectiveness: {absolute}", f"relative effectiveness: {relative}")
    write_title(ax, "Relative against absolute effectiveness")
    if groups:
        add_legend(ax, len(found))
    label_points(ax, short_names(names), x, y, colours)
    return ax
