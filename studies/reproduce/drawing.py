"""Pictures of several panels in the style of the package's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_measures_relative.data.arrays import FloatArray
from ir_measures_relative.plots.figures import COLOURS, new_figure, write_axis_titles, write_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LINES = ("o-", "s--", "^:", "D-.")


def panels(columns: int, rows: int = 1, width: float = 4.8, height: float = 4.2) -> tuple[Figure, list[Axes]]:
    """A figure and its axes, row by row."""
    figure = new_figure(max(6.0, width * columns), height * rows)
    return figure, list(figure.subplots(rows, columns, squeeze=False).ravel())


def label(ax: Axes, title: str, x: str, y: str) -> None:
    """Writes what the axes show, and draws the grid behind it."""
    ax.grid(color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    write_axis_titles(ax, x, y)
    write_title(ax, title)


def lines(
    ax: Axes, x: Any, of: Mapping[str, FloatArray], deviations: Mapping[str, FloatArray] | None = None
) -> None:
    """A line of each name, with a band of a deviation where there is one, and a legend."""
    for i, (name, y) in enumerate(of.items()):
        colour = COLOURS[i % len(COLOURS)]
        ax.plot(x, y, _LINES[i % 4], color=colour, markersize=4, linewidth=1.6, label=name)
        if deviations is not None:
            band = deviations[name]
            ax.fill_between(x, y - band, y + band, color=colour, alpha=0.15, linewidth=0)
    ax.legend(fontsize=8, frameon=False)


def percent(ax: Axes) -> None:
    """Writes the shares along the x-axis as percentages."""
    from matplotlib.ticker import PercentFormatter

    ax.xaxis.set_major_formatter(PercentFormatter(1.0))


def squares(ax: Axes, values: FloatArray, names: list[str]) -> None:
    """A square of numbers from 0 to 1, written into their fields."""
    ax.imshow(np.nan_to_num(values), cmap="Blues", vmin=0.0, vmax=1.0)
    for (i, j), value in np.ndenumerate(values):
        colour = "white" if value > 0.6 else "black"
        ax.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7, color=colour)
    ax.set_xticks(range(len(names)), names)
    ax.set_yticks(range(len(names)), names)


def save(figure: Figure, out: Path, name: str) -> str:
    """Writes the picture into the folder; its file name."""
    figure.savefig(out / name, dpi=110)
    return name
