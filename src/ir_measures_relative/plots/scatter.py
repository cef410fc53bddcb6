"""A point a system, or a topic; and what the value of a system could become, as an interval."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import ir_measures
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from ..axes import frontier
from ..context.priors import check_names
from ..data.arrays import FloatArray
from ..messages import warn
from ..stats.intervals import means_and_margins
from .figures import (
    COLOURS,
    MARKERS,
    add_legend,
    break_axes,
    check_table,
    given_or_new_axes,
    groups_of,
    names_and_values,
    names_that_fit,
    rows_of_measure,
    short_names,
    size_of,
    write_frame,
)
from .labels import MARKER_SIZE, label_points

# How many systems have room on a figure of the usual size; a new one grows for more, up to twice its size.
_COMFORTABLE = 40
_INTERVAL = "#08519c"


def relative_against_absolute(
    table: pd.DataFrame,
    relative: ir_measures.Measure | str = "NRG(norm='ideal')@10",
    absolute: ir_measures.Measure | str = "nDCG@10",
    groups: Mapping[str, str] | None = None,
    ax: Axes | None = None,
    ci: bool = False,
    named: Collection[str] | None = None,
) -> Axes:
    """A point a system: what it adds to the others, over how good it is on its own (Figs. 2-5 of the NRG paper).

    Systems that lie high for their place on the x-axis find what the others miss. The dashed line joins the systems
    that no other one beats on both axes. An axis is broken (//) where a few systems lie far from the others. The
    labels cover neither each other nor the points, and keep off the dashed line; a thin line leads to one that had to
    move away. Those that find no room are left out, with a warning when the figure is drawn; of more than 80, so are
    those that only a line across others could lead to.

    Args:
        table: one row a system: the column ``name`` and one for each of the two measures, as from
            :meth:`RunContext.evaluate` or ``pt.Experiment``.
        relative: the column on the y-axis.
        absolute: the column on the x-axis.
        groups: from name to group, such as ``context.groups``: a colour and a marker for each group.
        ci: draw the 95 % intervals of both means as bars. ``table`` is then that of the queries, as from
            ``context.evaluate(…, perquery=True)``. They say how sure a point is; whether two systems differ, only a
            comparison topic by topic says (:func:`ir_measures_relative.compare`), since both meet the same topics.
        named: which systems have their names beside them; all if not given.

    Raises:
        ValueError: a column that is not there, which names those that are; one that is not all numbers; or a name that
            is not in the table.
    """
    margins: dict[str, list[FloatArray]] = {}
    if ci:
        table, margins = means_and_margins(table, absolute, relative)
    names, (x, y) = names_and_values(table, absolute, relative)
    check_names("named", named or (), names)
    drawn = ~np.isnan(x + y)
    if not drawn.all():
        without = [n for n, d in zip(names, drawn, strict=True) if not d]
        warn(f"not drawn, since they lack a value of {absolute} or {relative}: {without}")
    names, x, y = [n for n, d in zip(names, drawn, strict=True) if d], x[drawn], y[drawn]
    larger = min(2.0, max(1.0, len(names) / _COMFORTABLE) ** 0.5)
    ax = given_or_new_axes(ax, width=9.0 * larger, height=6.5 * larger)
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
        (left, right), (low, high) = ([ends[drawn] for ends in margins[str(m)]] for m in (absolute, relative))
        for i, colour in enumerate(colours):  # thin, and behind the points
            ax.errorbar(
                x[i], y[i], xerr=[[left[i]], [right[i]]], yerr=[[low[i]], [high[i]]],
                fmt="none", ecolor=colour, elinewidth=0.8, alpha=0.45, zorder=2,
            )  # fmt: skip
    best = frontier(x, y)
    if len(best) > 1:
        line = np.column_stack([x[best], y[best]])
        ax.add_collection(
            LineCollection([line], colors="0.45", linestyles="--", linewidths=0.9), autolim=False
        )
    ax.margins(0.1)
    break_axes(ax, x, y)
    axes = f"on its own ({absolute})", f"relative to other runs ({relative})"
    write_frame(ax, *axes, "How good each run is on its own, and relative to other runs")
    if groups:
        add_legend(ax, len(found))
    labelled = np.flatnonzero([named is None or name in {*named} for name in names])
    label_points(ax, np.column_stack([x, y]), short_names(names), colours, best, labelled)
    return ax


def query_sets(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Each topic by the value of a random ranking and the mean of the runs (UE, Fig. 1): no better, on the diagonal.

    Args:
        table: what :func:`ir_measures_relative.meta.query_sets` returns.
    """
    check_table(table, "meta.query_sets(context, qrels)", "measure", "expected", "actual", "set")
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
    ax.legend(title="topics", fontsize=8, framealpha=0.85, edgecolor="none")
    says = (
        f"Topics on which runs are above a random ranking ({table['measure'].iloc[0]}, before normalization)"
    )
    write_frame(ax, "value of a random ranking", "mean value of the runs", says)
    return ax


def intervals(
    table: pd.DataFrame, measure: ir_measures.Measure | str | None = None, ax: Axes | None = None
) -> Axes:
    """Runs as intervals, the best by value on top.

    Args:
        table: what :func:`~ir_measures_relative.bounds` gives, without ``perquery``.
        measure: which of its measures; the first if not given.
    """
    rows, shown = rows_of_measure(table, measure, "bounds", ("name", "measure", "worst", "value", "best"))
    rows = rows.sort_values("value", kind="stable")
    names, n = short_names(rows["name"].tolist()), len(rows)
    ax = given_or_new_axes(ax, height=max(2.5, min(1.5 + 0.25 * n, 16.0)))
    place = np.arange(n)
    ax.hlines(place, rows["worst"], rows["best"], color=_INTERVAL, linewidth=3.0, alpha=0.45)
    ax.plot(rows["value"], place, "o", color=_INTERVAL, markersize=4.5)
    size, fitting = names_that_fit(size_of(ax)[1] / max(n, 1), n)
    ax.set_yticks(fitting, [names[i] for i in fitting], fontsize=size)
    ax.set_ylim(-0.7, n - 0.3)
    write_frame(
        ax,
        shown,
        None,
        f"Worst-case and best-case {shown} of each run, given the unjudged documents",
        grid="x",
    )
    return ax
