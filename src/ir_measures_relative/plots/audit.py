"""Audits: how wide intervals are by the number of labels, with the judge and by people alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from .figures import COLOURS, MARKERS, check_table, given_or_new_axes, legend_label, write_frame


def audit(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Half the width of the intervals by the number of human labels: a colour a measure, dashed without the judge.

    An arrow from a line to the dashed one says how many labels the judge saves for intervals as short.

    Args:
        table: what :func:`ir_measures_relative.audit.simulate` returned.
    """
    check_table(table, "audit.simulate(…)", "measure", "labels", "half_width", "human_only", "saved")
    ax = given_or_new_axes(ax)
    for i, (measure, rows) in enumerate(table.groupby("measure", sort=False)):
        colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
        labels, half = rows["labels"].to_numpy(), rows["half_width"].to_numpy()
        ax.plot(labels, half, marker=marker, color=colour, label=legend_label(f"{measure}, with the judge"))
        ax.plot(
            labels, rows["human_only"], marker=marker, markerfacecolor="white", linestyle="--", color=colour,
            label=legend_label(f"{measure}, people alone"),
        )  # fmt: skip
        saved = rows["saved"].to_numpy()
        for x, y, more in zip(labels, half, saved, strict=True):
            if np.isfinite(more) and abs(more) >= 1:
                ax.annotate(
                    "", (x + more, y), (x, y), arrowprops={"arrowstyle": "->", "color": colour, "lw": 0.8}
                )
                place = {"ha": "center", "va": "bottom", "fontsize": 8, "color": colour}
                ax.text(x + more / 2, y, f"{more:.0f} labels", **place)
    ax.set_ylim(bottom=0.0)
    write_frame(ax, "human labels", "half the width of the interval", "What the judge saves")
    ax.legend(fontsize=8, framealpha=0.85, edgecolor="none")
    return ax
