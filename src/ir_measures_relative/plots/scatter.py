"""Relative against absolute effectiveness: a point a system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import ir_measures
import numpy as np

from ..warning import warn
from .style import (
    MARKER_SIZE,
    add_labels,
    add_legend,
    axes_to_draw_on,
    by_group,
    columns_of,
    legend_label,
    short_names,
    wrapped,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def relative_against_absolute(
    table: pd.DataFrame,
    relative: ir_measures.Measure | str = "NRG@10",
    absolute: ir_measures.Measure | str = "nDCG@10",
    groups: Mapping[str, str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """A point a system: what it adds to the others, over how good it is on its own (Figs. 2-5 of the NRG paper).

    Systems that lie high for their place on the x-axis find what the others miss. The labels cover neither each
    other nor the points; a thin line leads to one that had to move away.

    Args:
        table: one row a system: the column ``name`` and one for each of the two measures, as from
            :meth:`RunContext.evaluate` or ``pt.Experiment``.
        relative: the column on the y-axis.
        absolute: the column on the x-axis.
        groups: from name to group, such as ``context.groups``: a colour and a marker for each group.
        ax: where to draw.

    Returns:
        the axes.

    Raises:
        ValueError: a column that is not there; names those that are.
        ImportError: matplotlib is missing.
    """
    names, x, y = columns_of(table, absolute, relative)
    drawn = np.isfinite(x) & np.isfinite(y)
    if not drawn.all():
        without = [n for n, d in zip(names, drawn, strict=True) if not d]
        warn(f"not drawn, since they lack a value of {absolute} or {relative}: {without}")
    names, x, y = [n for n, d in zip(names, drawn, strict=True) if d], x[drawn], y[drawn]
    ax = axes_to_draw_on(ax)
    of_group = by_group(names, groups)
    for group, (rows, colour, marker) in of_group.items():
        ax.plot(
            x[rows], y[rows], linestyle="", marker=marker, markersize=MARKER_SIZE, color=colour, alpha=0.9,
            markeredgecolor="white", markeredgewidth=0.6, label=legend_label(group), zorder=3,
        )  # fmt: skip
    ax.margins(0.1)
    ax.grid(color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.set_xlabel(wrapped(f"absolute effectiveness: {absolute}"))
    ax.set_ylabel(wrapped(f"relative effectiveness: {relative}"))
    ax.set_title("Relative against absolute effectiveness")
    if groups:
        add_legend(ax, "group", len(of_group))
    colours = {row: colour for rows, colour, _ in of_group.values() for row in rows}
    add_labels(ax, short_names(names), x, y, [colours[i] for i in range(len(names))])
    return ax
