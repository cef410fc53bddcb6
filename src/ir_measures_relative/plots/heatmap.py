"""Which systems are alike: a clustered heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np

from ..arrays import FloatArray
from ..io.qrels import Qrels
from ..questions.similarities import clustered, judged_or_not, squares, with_reference
from .figures import (
    given_or_new_axes,
    names_that_fit,
    require_matplotlib,
    size_of,
    size_with_margins,
    write_title,
)
from .text import short_names, title, width_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..context import RunContext

# The values are written into the cells of up to so many systems, in letters of at least so many points.
_MOST_WITH_VALUES = 22
_SMALLEST_VALUE = 4.0


def similarity(
    context: RunContext,
    qrels: Qrels | None = None,
    measure: ir_measures.Measure | str = "MED@10",
    signed: bool = False,
    ax: Axes | None = None,
    jobs: int = 1,
) -> Axes:
    """Which systems are alike: a heat map of how far apart each two of them are.

    The distance of two systems is the mean over queries of the measure's absolute value, so differences on one
    query do not cancel those on another; by RBO and RBA, which are 1 for what is alike, the mean of what is missing
    to 1. Hierarchical clustering (average linkage, with the leaves in optimal order) puts systems that are alike side
    by side.

    A few values far outside the others do not stretch the colours: they have the last colour, and an arrow on the
    colour bar says so.

    Args:
        context: the systems.
        qrels: the judgments. None is those of the context's dataset, and where it has none, no judgment at all, which
            MED, RBO and RBA can do without.
        measure: a measure with a reference run: MED, RBO, RBA, rrLP, sgnLP, sgnLR or RPP.
        signed: show the mean with its sign (above 0: the system of the row beats that of the column) instead of
            the distance; the order stays. For rrLP and its siblings.
        ax: where to draw.
        jobs: so many processes; -1 for one a core. For exact MED, which takes its time.

    Returns:
        the axes, which hold the heat map; the colour bar has axes of its own.

    Raises:
        ValueError: a measure without a reference run, or a context without runs.
        ImportError: matplotlib is missing.
    """
    parsed = with_reference(measure)
    if signed and not parsed.SIGNED:
        raise ValueError(f"{parsed} does not say which of two systems is better; leave signed=True out")
    if not context.names:
        raise ValueError("the context holds no run to compare")
    require_matplotlib()
    distance, mean = squares(judged_or_not(context, qrels, [parsed]), parsed, signed, jobs)
    order = clustered(distance)
    names = short_names([context.names[i] for i in order])
    n = len(names)
    # A system is at no distance from itself; leaving that out keeps the colours for the differences.
    apart = ~np.eye(n, dtype=bool)
    shown = np.where(apart, (mean if signed else distance)[np.ix_(order, order)], np.nan)
    if signed:
        says, label = "Which system beats which", f"mean {parsed}; above 0: row beats column"
    else:
        says = "How far apart the systems are"
        of = f"1 - {parsed}" if parsed.SIMILARITY else str(parsed)
        label = f"mean |{of}|" if (mean < 0).any() else f"mean {of}"
    low, high, extend = bounds_of_colours(shown[apart], signed)
    side = min(3.5 + 0.42 * n, 16.0)
    ax = given_or_new_axes(ax, width=side + 1.0, height=side)
    image = ax.imshow(shown, cmap="PuOr" if signed else "viridis", vmin=low, vmax=high)
    ax.set_facecolor("0.93")
    ax.figure.colorbar(
        image, ax=ax, shrink=0.8, label=title(label, 0.8 * size_of(ax)[1], 10.0), extend=extend
    )
    room = _side(ax, names) / n
    size, fitting = names_that_fit(room, n)
    ax.set_xticks(fitting, [names[i] for i in fitting], rotation=90, fontsize=size)
    ax.set_yticks(fitting, [names[i] for i in fitting], fontsize=size)
    ax.tick_params(length=0)
    of_values = min(size - 1.5, room / 2.4)
    if n <= _MOST_WITH_VALUES and of_values >= _SMALLEST_VALUE:
        write_values(ax, image, shown, of_values)
    write_title(ax, f"{says}, by {parsed}; alike ones side by side")
    return ax


def _side(ax: Axes, names: list[str]) -> float:
    """How long a side of the heat map will be, in points, about: the longest name needs room beside it as well."""
    beside = width_of(max(names, key=len), 12.0) + 50.0  # with the title
    return max(min(*size_of(ax), min(size_with_margins(ax)) - beside), 1.0)


def bounds_of_colours(values: FloatArray, signed: bool) -> tuple[float, float, str]:
    """The values that the first and the last colour stand for, and at which ends there are values beyond.

    Values that are far out, by Tukey's fences (three times the distance of the quartiles beyond them), are beyond.
    """
    if signed:
        values = np.abs(values)
    if not len(values) or not values.max():
        return -1.0 if signed else 0.0, 1.0, "neither"
    first, third = np.quantile(values, [0.25, 0.75])
    reach = 3 * (third - first)
    near = values[(values >= first - reach) & (values <= third + reach)]
    low, high = float(near.min()), float(near.max())
    if signed:
        high = high or float(values.max())
        return -high, high, "both" if high < values.max() else "neither"
    if low == high:
        low, high = 0.0, float(values.max())
    below, above = bool(low > values.min()), bool(high < values.max())
    return (
        low,
        high,
        {(True, True): "both", (True, False): "min", (False, True): "max"}.get((below, above), "neither"),
    )


def write_values(ax: Axes, image: Any, values: FloatArray, size: float, first: int = 0) -> None:
    """Writes each value into its cell, in black or white, whichever is legible there; cells count from ``first``."""
    for (row, column), value in np.ndenumerate(values):
        if np.isnan(value):
            continue
        red, green, blue = image.cmap(image.norm(value))[:3]
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        text = f"{round(value, 2) + 0.0:.2f}".replace("0.", ".") if abs(value) < 1 else f"{value:.2f}"
        ax.text(
            column + first,
            row + first,
            text,
            ha="center",
            va="center",
            size=size,
            color="white" if dark else "black",
        )
