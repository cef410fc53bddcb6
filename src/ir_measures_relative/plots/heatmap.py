"""Which systems are alike: a clustered heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np

from ..arrays import FloatArray
from ..io.qrels import Qrels
from ..measures.declaration import RelativeMeasure, parse_measure, registered
from ..scoring import score_pairs
from .style import axes_to_draw_on, check_matplotlib, short_names, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..context import RunContext

_MOST_CELLS = 22


def similarity(
    context: RunContext,
    qrels: Qrels,
    measure: ir_measures.Measure | str = "MED@10",
    signed: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Which systems are alike: a heat map of how far apart each two of them are.

    The distance of two systems is the mean over queries of the measure's absolute value, so differences on one
    query do not cancel those on another. Hierarchical clustering (average linkage, with the leaves in optimal
    order) puts systems that are alike side by side.

    Args:
        context: the systems.
        qrels: the judgments.
        measure: a measure with a reference run: MED, rrLP, sgnLP, sgnLR or RPP.
        signed: show the mean with its sign (above 0: the system of the row beats that of the column) instead of
            the distance; the order stays. For rrLP and its siblings.
        ax: where to draw.

    Returns:
        the axes, which hold the heat map; the colour bar has axes of its own.

    Raises:
        ValueError: a measure without a reference run, or a context without runs.
        ImportError: matplotlib is missing.
    """
    parsed = parse_measure(measure)
    if not isinstance(parsed, RelativeMeasure) or parsed.RELATIVE_TO != "reference":
        known = sorted(name for name, m in registered().items() if m.RELATIVE_TO == "reference")
        raise ValueError(f"{parsed} does not compare two systems; give one of {', '.join(known)}")
    if parsed.get("ref") is not None:
        raise ValueError(f"{parsed} compares with {parsed.get('ref')!r} alone; leave ref= out")
    if signed and not parsed.SIGNED:
        raise ValueError(f"{parsed} does not say which of two systems is better; leave signed=True out")
    if not context.names:
        raise ValueError("the context holds no run to compare")
    check_matplotlib()
    distance, mean = score_pairs(context.judged(qrels), parsed, signed=signed)
    order = cluster(distance)
    shown = (mean if signed else distance)[np.ix_(order, order)]
    names = short_names([context.names[i] for i in order])
    n = len(names)
    side = min(3.5 + 0.42 * n, 16.0)
    ax = axes_to_draw_on(ax, width=side + 1.0, height=side)
    # A system is at no distance from itself; leaving that out keeps the colours for the differences.
    apart = ~np.eye(n, dtype=bool)
    if signed:
        limit = float(np.abs(shown).max()) or 1.0
        colours, bounds = "PuOr", (-limit, limit)
        title, label = "Which system beats which", f"mean {parsed}; above 0: row beats column"
    else:
        colours, bounds = "viridis", (shown[apart].min(initial=1.0), shown[apart].max(initial=0.0))
        title, label = (
            "How far apart the systems are",
            f"mean |{parsed}|" if (mean < 0).any() else f"mean {parsed}",
        )
        bounds = bounds if bounds[0] < bounds[1] else (0.0, bounds[1] or 1.0)
    image = ax.imshow(np.ma.masked_where(~apart, shown), cmap=colours, vmin=bounds[0], vmax=bounds[1])
    ax.set_facecolor("0.93")
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label=wrapped(label))
    size = max(4.5, min(9.0, 200.0 / n))
    ax.set_xticks(range(n), names, rotation=90, fontsize=size)
    ax.set_yticks(range(n), names, fontsize=size)
    ax.tick_params(length=0)
    if n <= _MOST_CELLS:
        write_cells(ax, image, np.where(apart, shown, np.nan), size - 1.5)
    ax.set_title(f"{title}, by {parsed}; alike ones side by side", wrap=True)
    return ax


def cluster(distance: FloatArray) -> list[int]:
    """The order of the leaves of a hierarchical clustering: average linkage, neighbours as alike as can be."""
    if len(distance) < 3:
        return list(range(len(distance)))
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    condensed = squareform(distance, checks=False)
    return [int(i) for i in leaves_list(linkage(condensed, method="average", optimal_ordering=True))]


def write_cells(ax: Axes, image: Any, values: FloatArray, size: float) -> None:
    for (row, column), value in np.ndenumerate(values):
        if np.isnan(value):
            continue
        red, green, blue = image.cmap(image.norm(value))[:3]
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        text = f"{round(value, 2) + 0.0:.2f}".replace("0.", ".") if abs(value) < 1 else f"{value:.2f}"
        ax.text(column, row, text, ha="center", va="center", size=size, color="white" if dark else "black")
