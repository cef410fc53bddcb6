"""Maps of colours: every two runs."""

from __future__ import annotations

from typing import Any

import ir_measures
import numpy as np
from matplotlib.axes import Axes

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
    short_names,
    text_width,
    write_title,
)

# Cells hold their values up to this number of runs, and down to this size of the letters, in points.
_MOST_SYSTEMS_WITH_VALUES = 22
_SMALLEST_VALUE = 4.0
# How wide a cell is at least, in sizes of a letter: -0.43 takes 2.6.
_WIDTH_OF_VALUE = 2.9


def similarity(
    context: RunContext,
    qrels: Qrels | None = None,
    measure: ir_measures.Measure | str = "MED@10",
    signed: bool = False,
    ax: Axes | None = None,
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

    Raises:
        ValueError: a measure without a reference run, or a context without runs.
    """
    check_is_context(context)
    parsed = check_reference_measure(measure)
    if signed and not parsed.SIGNED:
        raise ValueError(f"{parsed} does not say which of two systems is better; leave signed=True out")
    if not context.names:
        raise ValueError("the context holds no run to compare")
    distance, mean = tabulate_distances(collect_judged_or_not(context, qrels, [parsed]), parsed, signed)
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
    # The longest name needs room beside the map, with the title.
    beside = text_width(max(names, key=len), 12.0) + 50.0
    room = max(min(*axes_size(ax), min(outer_size(ax)) - beside), 1.0) / n
    size, fitting = fit_names(room, n)
    ax.set_xticks(fitting, [names[i] for i in fitting], rotation=90, fontsize=size)
    ax.set_yticks(fitting, [names[i] for i in fitting], fontsize=size)
    ax.tick_params(length=0)
    if n <= _MOST_SYSTEMS_WITH_VALUES:
        _write_values(ax, image, shown, size - 1.5, room)
    write_title(ax, says)
    return ax


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
