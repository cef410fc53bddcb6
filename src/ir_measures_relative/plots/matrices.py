"""Measure by measure: correlations and conflicts; and the topics on which there is something to tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import FloatArray
from .figures import given_or_new_axes, names_that_fit, size_of, write_axis_titles, write_title
from .groups import COLOURS, MARKERS
from .heatmap import write_values
from .tables import check_table
from .text import short_names

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# The values are written into the cells of up to so many measures.
_MOST_WITH_VALUES = 16
_COLUMNS = {
    "correlation": ("viridis", "How alike the measures order the runs", "correlation"),
    "share": (
        "cividis_r",
        "How often two measures differ in their verdicts",
        "share of pairs of runs in conflict",
    ),
}


def matrix_of_measures(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Every two measures: how alike they order the runs, or how often their verdicts are in conflict.

    Args:
        table: what :func:`ir_measures_relative.meta.correlation` or :func:`~ir_measures_relative.meta.conflicts`
            returns.
        ax: where to draw.

    Returns:
        the axes, which hold the matrix; the colour bar has axes of its own.

    Raises:
        ValueError: another table, or none of its rows.
        ImportError: matplotlib is missing.
    """
    shown = "correlation" if "correlation" in getattr(table, "columns", ()) else "share"
    check_table(table, "correlation(table) or conflicts(table)", "measure", "other", shown)
    measures = list(dict.fromkeys([*table["measure"], *table["other"]]))
    at, n = {m: i for i, m in enumerate(measures)}, len(measures)
    values: FloatArray = np.full((n, n), np.nan)
    for one, other, value in zip(table["measure"], table["other"], table[shown], strict=True):
        values[at[one], at[other]] = value
    if shown == "share":  # each two once
        values = np.where(np.isnan(values), values.T, values)
    side = min(3.0 + 0.6 * n, 14.0)
    ax = given_or_new_axes(ax, width=side + 1.5, height=side)
    colours, says, label = _COLUMNS[shown]
    image = ax.imshow(values, cmap=colours)
    ax.set_facecolor("0.93")
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label=label)
    names = short_names([str(m) for m in measures])
    size, fitting = names_that_fit(min(size_of(ax)) / max(n, 1), n)
    ax.set_xticks(fitting, [names[i] for i in fitting], rotation=90, fontsize=size)
    ax.set_yticks(fitting, [names[i] for i in fitting], fontsize=size)
    ax.tick_params(length=0)
    if n <= _MOST_WITH_VALUES:
        write_values(ax, image, values, 8.0)
    write_title(ax, says)
    return ax


def locality(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Which recall levels tell of each other: the correlation of the differences at each two (lexiprecision, Fig. 7a).

    Args:
        table: what :func:`ir_measures_relative.meta.locality` returns, of one measure.
        ax: where to draw.

    Returns:
        the axes, which hold the matrix; the colour bar has axes of its own.

    Raises:
        ValueError: another table, or none of its rows.
        ImportError: matplotlib is missing.
    """
    check_table(table, "locality(context, qrels)", "measure", "level", "other", "correlation")
    n = int(table["other"].max())
    values = np.full((n, n), np.nan)
    values[table["level"] - 1, table["other"] - 1] = table["correlation"]
    values[table["other"] - 1, table["level"] - 1] = table["correlation"]
    ax = given_or_new_axes(ax, width=7.5, height=6.0)
    image = ax.imshow(values, cmap="viridis", extent=(0.5, n + 0.5, n + 0.5, 0.5))
    ax.set_facecolor("0.93")
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label="correlation")
    ax.set_xticks(range(1, n + 1))
    ax.set_yticks(range(1, n + 1))
    ax.tick_params(length=0)
    if n <= _MOST_WITH_VALUES:
        write_values(ax, image, values, 8.0, first=1)
    write_axis_titles(ax, "recall level", "recall level")
    write_title(ax, f"Which recall levels differ alike ({table['measure'].iloc[0]})")
    return ax


def query_sets(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Each topic by the value of a random ranking and the mean of the runs (UE, Fig. 1): no better, on the diagonal.

    Args:
        table: what :func:`ir_measures_relative.meta.query_sets` returns.
        ax: where to draw.

    Returns:
        the axes.

    Raises:
        ValueError: another table, or none of its rows.
        ImportError: matplotlib is missing.
    """
    check_table(table, "query_sets(context, qrels)", "measure", "expected", "actual", "set")
    ax = given_or_new_axes(ax, width=7.0)
    ax.axline((0.0, 0.0), slope=1.0, color="0.6", linewidth=0.9, zorder=1)
    looks = {"": ("other", "0.6", "."), "uninformative": ("uninformative", COLOURS[1], MARKERS[1])}
    looks["ideal"] = ("ideal", COLOURS[0], MARKERS[0])
    for name, (label, colour, marker) in looks.items():
        rows = table[table["set"] == name]
        if len(rows):
            ax.plot(rows["expected"], rows["actual"], marker, color=colour, markersize=5.5, label=label)
    ax.set_xlim(left=0.0)
    ax.set_ylim(bottom=0.0)
    ax.grid(color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.legend(title="topics", fontsize=8, framealpha=0.85, edgecolor="none")
    write_axis_titles(ax, "value of a random ranking", "mean value of the runs")
    write_title(
        ax, f"On which topics runs are better than chance ({table['measure'].iloc[0]}, before normalization)"
    )
    return ax
