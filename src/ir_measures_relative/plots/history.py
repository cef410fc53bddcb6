"""Systems in the order in which they came, and what each added."""

from __future__ import annotations

from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..arrays import FloatArray
from ..context import RunContext
from ..io.qrels import Qrels
from .figures import (
    COLOURS,
    given_or_new_axes,
    names_and_values,
    names_that_fit,
    size_of,
    write_axis_titles,
    write_grid,
    write_title,
)
from .text import legend_label, short_names, width_of


def chronological(
    systems: pd.DataFrame | RunContext,
    qrels: Qrels | None = None,
    relative: ir_measures.Measure | str = "NRG@10",
    absolute: ir_measures.Measure | str = "nDCG@10",
    ax: Axes | None = None,
) -> Axes:
    """How good each system was when it came, and what it added to those before it (Fig. 1a of the NRG paper).

    Where one of the two measures is more than four times as large as the other, each has a y-axis of its own.

    Args:
        systems: a context, whose systems are taken in their order, each with those before it as its priors,
            not those of the context's ``priors``; or a table that was made with ``priors="earlier"``, as for
            :func:`relative_against_absolute`, with its rows in order. The lines have a gap where there is no value.
        qrels: the judgments, for a context.
        relative: the measure of what was added.
        absolute: the measure of how good it was.
        ax: where to draw.

    Returns:
        the axes, on which the absolute measure is drawn.

    Raises:
        ValueError: a column that is not there or is not all numbers, or a context without qrels.
    """
    if isinstance(systems, RunContext):
        if qrels is None:
            raise ValueError(
                "chronological(context, qrels, …) needs the qrels to score the systems of the context"
            )
        earlier = RunContext(
            systems.runs,
            priors="earlier",
            reference=systems.reference,
            num_docs=systems.num_docs,
            grades=systems.grades,
        )
        systems = earlier.evaluate(qrels, [absolute, relative])
    names, (first, second) = names_and_values(systems, absolute, relative)
    n = len(names)
    ax = given_or_new_axes(ax, width=min(max(9.0, 2.0 + 0.13 * n), 24.0))
    largest = [float(np.nanmax(np.abs(v), initial=0.0)) for v in (first, second)]
    apart = min(largest) > 0 and max(largest) > 4 * min(largest)
    other = ax.twinx() if apart else ax
    at = np.arange(n)
    # Hollow and full, large and small: two points in one place both show.
    lines = ax.plot(
        at, first, "o-", color=COLOURS[0], linewidth=1.8, markersize=9, markerfacecolor="white",
        markeredgewidth=1.8, label=legend_label(f"{absolute} (absolute)"),
    )  # fmt: skip
    lines += other.plot(
        at, second, "s--", color=COLOURS[1], linewidth=1.8, markersize=5,
        label=legend_label(f"{relative} (relative)"),
    )  # fmt: skip
    width, height = size_of(ax)
    columns = 2 if sum(width_of(line.get_label(), 10.0) + 40.0 for line in lines) < width else 1
    above = min((3 - columns) * 40.0 / height, 0.5)
    if apart:
        for axes, values, measure, colour in ((ax, first, absolute, 0), (other, second, relative, 1)):
            _scale_to(axes, values, above)
            write_axis_titles(axes, None, str(measure), color=COLOURS[colour])
            axes.tick_params(axis="y", colors=COLOURS[colour])
    else:
        _scale_to(ax, np.append(first, second), above)
        write_axis_titles(ax, None, "effectiveness")
    _name_systems(ax, short_names(names))
    ax.set_xlim(-0.5, max(n, 1) - 0.5)
    write_grid(ax, axis="y")
    write_axis_titles(ax, "system, in the order given", None)
    write_title(ax, "What each system added to those before it")
    other.legend(handles=lines, loc="upper center", ncols=columns, frameon=False)
    return ax


def _scale_to(ax: Axes, values: FloatArray, above: float) -> None:
    """Scales the y-axis to the values and 0, with room for the legend above them: this part of the axes."""
    low, high = float(np.nanmin(values, initial=0.0)), float(np.nanmax(values, initial=0.0))
    span = (high - low) or 1.0
    ax.set_ylim(low - 0.05 * span if low < 0 else 0.0, high + above / (1 - above) * span)
    if low < 0:
        ax.axhline(0.0, color="0.7", linewidth=0.8, zorder=1)


def _name_systems(ax: Axes, labels: list[str]) -> None:
    """Writes the names along the x-axis: level, slanted or upright, as there is room."""
    room = size_of(ax)[0] / max(len(labels), 1)
    size, fitting = names_that_fit(room, len(labels))
    ax.set_xticks(fitting, [labels[i] for i in fitting], fontsize=size)
    if width_of(max(labels, key=len, default=""), size) < room - 2.0:
        return
    upright = room < 2 * size
    ax.tick_params(axis="x", labelrotation=90 if upright else 40)
    style: dict[str, Any] = {"ha": "right", "va": "center" if upright else "top", "rotation_mode": "anchor"}
    for name in ax.get_xticklabels():
        name.set(**style)
