"""Lines: systems by date."""

from __future__ import annotations

from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..context.run_context import RunContext
from ..data.arrays import FloatArray
from ..io.qrels import Qrels
from .figures import (
    COLOURS,
    axes_size,
    fit_names,
    legend_label,
    make_axes,
    read_values,
    short_names,
    text_width,
    write_axis_titles,
    write_frame,
)


def chronological(
    systems: pd.DataFrame | RunContext,
    qrels: Qrels | None = None,
    relative: ir_measures.Measure | str = "NRG(norm='ideal')@10",
    absolute: ir_measures.Measure | str = "nDCG@10",
    ax: Axes | None = None,
) -> Axes:
    """Draw how good each system was when it came, and what it added to those before it (Fig. 1a of the NRG paper).

    Where one of the two measures is more than four times as large as the other, each has a y-axis of its own.

    Args:
        systems: a context, of which each run has those before it as its priors, whatever its ``priors`` are; or a table
            that was made with ``priors="earlier"``, as for :func:`relative_against_absolute`, with its rows in order.
        qrels: the judgments, for a context.
        relative: the measure of what each system adds.
        absolute: the measure of how good each is on its own.
        ax: the axes to draw on; default: those of a new figure.

    Returns:
        the axes, on which the absolute measure is drawn.
    """
    if isinstance(systems, RunContext):
        if qrels is None:
            raise ValueError("chronological(context, qrels, …) needs the qrels")
        same = {name: getattr(systems, name) for name in ("reference", "num_docs", "grades", "drop_self")}
        systems = RunContext(systems.runs, priors="earlier", **same).evaluate(qrels, [absolute, relative])
    names, (first, second) = read_values(systems, absolute, relative)
    n = len(names)
    ax = make_axes(ax, width=min(max(9.0, 2.0 + 0.13 * n), 24.0))
    largest = [float(np.nanmax(np.abs(v), initial=0.0)) for v in (first, second)]
    apart = min(largest) > 0 and max(largest) > 4 * min(largest)
    second_ax = ax.twinx() if apart else ax
    at = np.arange(n)
    # Hollow and full, large and small: two points in one place both show.
    labels = legend_label(f"{absolute} (absolute)"), legend_label(f"{relative} (relative)")
    hollow: dict[str, Any] = {"markersize": 9, "markerfacecolor": "white", "markeredgewidth": 1.8}
    lines = ax.plot(at, first, "o-", color=COLOURS[0], linewidth=1.8, label=labels[0], **hollow)
    lines += second_ax.plot(at, second, "s--", color=COLOURS[1], linewidth=1.8, label=labels[1], markersize=5)
    width, height = axes_size(ax)
    columns = 2 if sum(text_width(line.get_label(), 10.0) + 40.0 for line in lines) < width else 1
    above = min((3 - columns) * 40.0 / height, 0.5)
    if apart:
        for axes, values, measure, colour in ((ax, first, absolute, 0), (second_ax, second, relative, 1)):
            _scale_to(axes, values, above)
            write_axis_titles(axes, None, str(measure), color=COLOURS[colour])
            axes.tick_params(axis="y", colors=COLOURS[colour])
    else:
        _scale_to(ax, np.append(first, second), above)
        write_axis_titles(ax, None, "effectiveness")
    _name_systems(ax, names)
    ax.set_xlim(-0.5, max(n, 1) - 0.5)
    write_frame(
        ax, "run, in the order of the context", None, "What each run adds to those before it", grid="y"
    )
    second_ax.legend(handles=lines, loc="upper center", ncols=columns, frameon=False)
    return ax


def _scale_to(ax: Axes, values: FloatArray, above: float) -> None:
    """Scale the y-axis to the values and 0, with this part of the axes above them for the legend."""
    low, high = float(np.nanmin(values, initial=0.0)), float(np.nanmax(values, initial=0.0))
    span = (high - low) or 1.0
    ax.set_ylim(low - 0.05 * span if low < 0 else 0.0, high + above / (1 - above) * span)
    if low < 0:
        ax.axhline(0.0, color="0.7", linewidth=0.8, zorder=1)


def _name_systems(ax: Axes, labels: list[str]) -> None:
    """Write the names along the x-axis: level, slanted or upright, as there is room."""
    room, labels = axes_size(ax)[0] / max(len(labels), 1), short_names(labels)
    size, fitting = fit_names(room, len(labels))
    ax.set_xticks(fitting, [labels[i] for i in fitting], fontsize=size)
    if text_width(max(labels, key=len, default=""), size) < room - 2.0:
        return
    upright = room < 2 * size
    ax.tick_params(axis="x", labelrotation=90 if upright else 40)
    style: dict[str, Any] = {"ha": "right", "va": "center" if upright else "top", "rotation_mode": "anchor"}
    for name in ax.get_xticklabels():
        name.set(**style)
