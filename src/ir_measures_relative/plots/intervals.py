"""Runs as intervals of what their values could become."""

from __future__ import annotations

import ir_measures
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from .figures import (
    given_or_new_axes,
    names_that_fit,
    rows_of_measure,
    size_of,
    write_axis_titles,
    write_grid,
    write_title,
)
from .text import short_names

_COLOUR = "#08519c"


def intervals(
    table: pd.DataFrame, measure: ir_measures.Measure | str | None = None, ax: Axes | None = None
) -> Axes:
    """Runs as intervals, the best by value on top.

    Args:
        table: what :func:`~ir_measures_relative.bounds` gives, without ``perquery``.
        measure: which of its measures; the first if not given.
        ax: where to draw.

    Returns:
        the axes.

    Raises:
        ValueError: a table without the columns, or without the measure.
    """
    rows, shown = rows_of_measure(table, measure, "bounds", ("name", "measure", "lower", "value", "upper"))
    rows = rows.sort_values("value", kind="stable")
    names, n = short_names(rows["name"].tolist()), len(rows)
    ax = given_or_new_axes(ax, height=max(2.5, min(1.5 + 0.25 * n, 16.0)))
    place = np.arange(n)
    ax.hlines(place, rows["lower"], rows["upper"], color=_COLOUR, linewidth=3.0, alpha=0.45)
    ax.plot(rows["value"], place, "o", color=_COLOUR, markersize=4.5)
    size, fitting = names_that_fit(size_of(ax)[1] / max(n, 1), n)
    ax.set_yticks(fitting, [names[i] for i in fitting], fontsize=size)
    ax.set_ylim(-0.7, n - 0.3)
    write_grid(ax, axis="x")
    write_axis_titles(ax, shown, None)
    write_title(ax, f"What {shown} could be, with any labels of the unjudged documents")
    return ax
