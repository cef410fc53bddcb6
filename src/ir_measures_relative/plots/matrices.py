"""Maps of colours: every two runs."""

from __future__ import annotations

from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

from ..context.run_context import RunContext, check_is_context
from ..data.arrays import FloatArray
from ..decisions.similarity import (
    check_reference_measure,
    collect_judged_or_not,
    inner_range,
    order_by_clustering,
    tabulate_distances,
)
from ..io.qrels import Qrels
from .figures import (
    axes_size,
    break_title,
    fit_names,
    make_axes,
    outer_size,
    select_measure,
    short_names,
    text_width,
    write_title,
)

# Cells hold their values up to this number of runs, and down to this size of the letters, in points.
_MOST_SYSTEMS_WITH_VALUES = 22
_SMALLEST_VALUE = 4.0
# How wide a cell is at least, in sizes of a letter: -0.43 takes 2.6.
_WIDTH_OF_VALUE = 2.9

# Distinct without colour by their brightness.
_SETTLED = {"above": "#08519c", "below": "#fdae6b", "equal": "#bdbdbd", "undecided": "#f7f7f7"}


def similarity(
    context: RunContext,
    qrels: Qrels | None = None,
    measure: ir_measures.Measure | str = "MED@10",
    signed: bool = False,
    ax: Axes | None = None,
    jobs: int = 1,
) -> Axes:
    """Draw a heat map of the distance of each two runs, clustered (average linkage, optimal leaf order).

    The distance is the mean over topics of the measure's absolute value; of 1 minus the measure by RBO. Values
    far outside the others have the last colour.

    Args:
        context: the runs.
        qrels: the judgments. Default: those of the context's dataset, or none, which MED and RBO can do without.
        measure: a measure with a reference run: MED, RBO, rrLP, sgnLP, sgnLR or RPP.
        signed: show the mean with its sign instead (above 0: row beats column), for rrLP and its siblings.
        ax: the axes to draw on; default: those of a new figure.
        jobs: the number of processes; -1 for one a core.

    Raises:
        ValueError: a measure without a reference run, or a context without runs.
    """
    check_is_context(context)
    parsed = check_reference_measure(measure)
    if signed and not parsed.SIGNED:
        raise ValueError(f"{parsed} does not say which of two systems is better; leave signed=True out")
    if not context.names:
        raise ValueError("the context holds no run to compare")
    distance, mean = tabulate_distances(collect_judged_or_not(context, qrels, [parsed]), parsed, signed, jobs)
    order = order_by_clustering(distance)
    names, n = short_names([context.names[i] for i in order]), len(order)
    apart = ~np.eye(n, dtype=bool)
    shown = np.where(apart, (mean if signed else distance)[np.ix_(order, order)], np.nan)
    if signed:
        says, label = "Which run is above which", f"mean {parsed}; above 0: row beats column"
    else:
        says = "Distance between runs"
        of = f"1 - {parsed}" if parsed.SIMILARITY else str(parsed)
        label = f"mean |{of}|" if (mean < 0).any() else f"mean {of}"
    low, high, extend = inner_range(shown[apart], signed)
    says = f"{says}, by {parsed}: similar runs are side by side"
    side = min(3.5 + 0.42 * n, 16.0)
    ax = make_axes(ax, width=side + 1.0, height=side)
    image = ax.imshow(shown, cmap="PuOr" if signed else "viridis", vmin=low, vmax=high)
    ax.set_facecolor("0.93")
    label = break_title(label, 0.8 * axes_size(ax)[1], 10.0)
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label=label, extend=extend)
    room = _side(ax, names) / n
    size = _name_both_axes(ax, names, room)
    if n <= _MOST_SYSTEMS_WITH_VALUES:
        _write_values(ax, image, shown, size - 1.5, room)
    write_title(ax, says)
    return ax


def matrix_of_verdicts(
    table: pd.DataFrame, measure: ir_measures.Measure | str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw which run is settled above which.

    Args:
        table: what :func:`~ir_measures_relative.verdicts` returned for all pairs.
        measure: one of its measures; default: the first.
        ax: the axes to draw on; default: those of a new figure.
    """
    columns = ("name", "other", "measure", "value", "settled")
    rows, shown = select_measure(table, measure, "verdicts", columns)
    runs = list(dict.fromkeys([*rows["name"], *rows["other"]]))
    at, n, words = {run: i for i, run in enumerate(runs)}, len(runs), list(_SETTLED)
    swapped = {"above": "below", "below": "above"}
    settled = np.full((n, n), -1)
    value = np.zeros((n, n))
    for a, b, _, difference, word in rows[[*columns]].itertuples(index=False):
        i, j = at[a], at[b]
        settled[i, j], settled[j, i] = words.index(word), words.index(swapped.get(word, word))
        value[i, j], value[j, i] = difference, -difference
    order = np.lexsort((-value.sum(axis=1), (settled == 1).sum(axis=1) - (settled == 0).sum(axis=1)))
    side = min(3.5 + 0.35 * n, 16.0)
    ax = make_axes(ax, width=side + 1.5, height=side)
    cells = np.where(settled < 0, np.nan, settled)[np.ix_(order, order)]
    ax.imshow(cells, cmap=ListedColormap(list(_SETTLED.values())), vmin=-0.5, vmax=3.5)
    ax.set_facecolor("0.85")
    _name_both_axes(ax, short_names([runs[i] for i in order]), min(axes_size(ax)) / max(n, 1))
    present = [words[i] for i in np.unique(settled[settled >= 0])]
    patches = [Patch(facecolor=_SETTLED[w], edgecolor="0.5", label=w) for w in present]
    place = {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0)}
    ax.legend(handles=patches, title="the row is", frameon=False, **place)
    write_title(ax, f"Which orders by {shown} unjudged documents cannot reverse")
    return ax


def _side(ax: Axes, names: list[str]) -> float:
    """Estimate the side of the heat map in points; the longest name needs room beside it as well."""
    beside = text_width(max(names, key=len), 12.0) + 50.0  # with the title
    return max(min(*axes_size(ax), min(outer_size(ax)) - beside), 1.0)


def _name_both_axes(ax: Axes, names: list[str], room: float) -> float:
    """Write the names beside the rows and columns, given their size in points; return the size of the letters."""
    size, fitting = fit_names(room, len(names))
    ax.set_xticks(fitting, [names[i] for i in fitting], rotation=90, fontsize=size)
    ax.set_yticks(fitting, [names[i] for i in fitting], fontsize=size)
    ax.tick_params(length=0)
    return size


def _write_values(ax: Axes, image: Any, values: FloatArray, largest: float, room: float) -> None:
    """Write each value into its cell, given its size in points, unless the letters would be too small."""
    size = min(largest, room / _WIDTH_OF_VALUE)
    if size < _SMALLEST_VALUE:
        return
    for (row, column), value in np.ndenumerate(values):
        if np.isnan(value):
            continue
        red, green, blue = image.cmap(image.norm(value))[:3]
        colour = "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.5 else "black"
        text = f"{round(value, 2) + 0.0:.2f}"  # no -0.00
        ax.text(column, row, text, ha="center", va="center", size=size, color=colour)
