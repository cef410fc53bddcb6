"""Systems in the order in which they came, and what each added."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ir_measures
import numpy as np

from ..context import RunContext
from ..io.qrels import Qrels
from .style import COLOURS, axes_to_draw_on, columns_of, room_for_legend, short_names, wrapped

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


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
            whatever the context's ``priors`` says; or a table that was made with ``priors="earlier"``, as for
            :func:`relative_against_absolute`, with its rows in order.
        qrels: the judgments, for a context.
        relative: the measure of what was added.
        absolute: the measure of how good it was.
        ax: where to draw.

    Returns:
        the axes, on which the absolute measure is drawn.

    Raises:
        ValueError: a column that is not there, or a context without qrels.
        ImportError: matplotlib is missing.
    """
    if isinstance(systems, RunContext):
        if qrels is None:
            raise ValueError(
                "chronological(context, qrels, …) needs the qrels to score the systems of the context"
            )
        earlier = RunContext(
            systems.runs, priors="earlier", reference=systems.reference, num_docs=systems.num_docs
        )
        systems = earlier.evaluate(qrels, [absolute, relative])
    names, first, second = columns_of(systems, absolute, relative)
    ax = axes_to_draw_on(ax)
    largest = [float(np.nanmax(np.abs(v), initial=0.0)) for v in (first, second)]
    apart = min(largest) > 0 and max(largest) > 4 * min(largest)
    other = ax.twinx() if apart else ax
    at = np.arange(len(names))
    # Hollow and full, large and small: two points in one place both show.
    lines = ax.plot(
        at, first, "o-", color=COLOURS[0], linewidth=1.8, markersize=9, markerfacecolor="white",
        markeredgewidth=1.8, label=f"{absolute} (absolute)",
    )  # fmt: skip
    lines += other.plot(
        at, second, "s--", color=COLOURS[1], linewidth=1.8, markersize=5, label=f"{relative} (relative)"
    )
    if apart:
        for axes, values, measure, colour in ((ax, first, absolute, 0), (other, second, relative, 1)):
            room_for_legend(axes, values)
            axes.set_ylabel(wrapped(str(measure)), color=COLOURS[colour])
            axes.tick_params(axis="y", colors=COLOURS[colour])
    else:
        room_for_legend(ax, np.append(first, second))
        ax.set_ylabel("effectiveness")
    labels = short_names(names)
    slanted = sum(map(len, labels)) > 60
    ax.set_xticks(at, labels, fontsize=max(4.5, min(9.0, 300.0 / max(len(names), 1))))
    if slanted:
        steep = len(names) > 25
        ax.tick_params(axis="x", labelrotation=90 if steep else 40)
        for tick in ax.get_xticklabels():
            tick.set(ha="right", va="center" if steep else "top", rotation_mode="anchor")
    ax.set_xlim(-0.5, max(len(names), 1) - 0.5)
    ax.grid(axis="y", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.set_xlabel("system, in the order given")
    ax.set_title("What each system added to those before it")
    other.legend(handles=lines, loc="upper center", ncols=2, frameon=False)
    return ax
