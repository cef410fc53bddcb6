"""Pictures of what the functions of :mod:`studies.meta` return.

Each takes the ``ax`` to draw on, by default that of a new figure, and returns it. All raise ValueError for another
table than the one they draw, or one without rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from ir_measures_relative.plots import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, which the colour-blind tell apart, without their yellow, which is faint on white.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = "os^DvPX"
_DASHES = ("-", "--", ":", "-.")
# At most this many points of a line have markers.
_MOST_MARKED = 30

# The title of each statistic of degrade() beside an axis; those that may be below 0.
_STATISTICS = {
    "tau": "Kendall's τ",
    "tau_ap": "τ_AP",
    "weighted": "weighted τ",
    "agreement": "agreement on pairs of runs",
    "ranking_agreement": "agreement on pairs of rankings",
    "ties": "share of tied pairs",
}
_SIGNED = ("tau", "tau_ap", "weighted")
# What a ranking is degraded by: the title of the axis, and of the picture.
_DEGRADED_BY = {
    "systems": ("systems in the subset", "Agreement of the order of some systems with that of all"),
    "groups": ("group that is left out", "Agreement with the full order, without one group's contribution"),
    "shares": ("share of the data", "Agreement with the full order, with less data"),
    "depths": ("pool depth", "Agreement with the full order, with a shallower pool"),
}


def asl_curves(
    table: pd.DataFrame, level: float = 0.05, highest: float = 0.15, ax: Axes | None = None
) -> Axes:
    """The p-values of all pairs of runs, from the highest to the lowest: Sakai's ASL curves.

    Args:
        table: the result of :func:`~studies.meta.asl_curve`.
        level: where a line is drawn across: pairs on its right are significantly different.
        highest: where the axis of p-values ends; 1 shows all.
    """
    _check_table(table, "asl_curve(table)", "measure", "rank", "p")
    ax = _axes(ax)
    for i, (measure, rows) in enumerate(table.dropna(subset=["p"]).groupby("measure", sort=False)):
        _line(ax, i, str(measure), rows["rank"], rows["p"])
    ax.axhline(level, color="0.4", linewidth=0.9, zorder=1)
    ax.set_ylim(0.0, highest)
    ax.set_xlim(left=0.0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    says = "Pairs of runs that each measure finds significantly different"
    return _finish(ax, "pairs of runs, sorted by p-value", "p-value", says)


def degradation(table: pd.DataFrame, statistic: str | None = None, ax: Axes | None = None) -> Axes:
    """How a ranking holds with fewer judgments, topics or systems: the mean over samples, a deviation as a band.

    Args:
        table: the result of :func:`~studies.meta.degrade` or :func:`~studies.meta.system_subsets`. Where groups were
            left out, each group is a point.
        statistic: which of its statistics; the first if not given.
    """
    x = "systems" if "systems" in getattr(table, "columns", ()) else "level"
    columns = "measure", "statistic", x, "mean", "deviation"
    _check_table(table, "degrade(…) or system_subsets(…)", *columns)
    known = list(dict.fromkeys(table["statistic"]))
    shown = known[0] if statistic is None else statistic
    if shown not in known:
        raise ValueError(f"the table holds no statistic {shown!r}; its statistics are {known}")
    rows_of_statistic = table[table["statistic"] == shown]
    kind = rows_of_statistic[x].dtype.kind
    degraded_by = (
        "systems" if x == "systems" else "shares" if kind == "f" else "depths" if kind in "iu" else "groups"
    )
    ax = _axes(ax)
    for i, (measure, rows) in enumerate(rows_of_statistic.groupby("measure", sort=False)):
        mean = rows["mean"].to_numpy(dtype=np.float64)
        _line(
            ax, i, str(measure), rows[x], mean, **({"linestyle": "none"} if degraded_by == "groups" else {})
        )
        if degraded_by != "groups":
            deviation = rows["deviation"].fillna(0.0).to_numpy(dtype=np.float64)
            band = np.clip([mean - deviation, mean + deviation], -1.0 if shown in _SIGNED else 0.0, 1.0)
            ax.fill_between(rows[x], *band, color=_COLOURS[i % len(_COLOURS)], alpha=0.13, linewidth=0)
    if degraded_by in ("systems", "depths"):
        ax.set_xscale("log", base=2)
        steps = sorted(set(rows_of_statistic[x]))
        ax.set_xticks(steps, [str(step) for step in steps])
        ax.minorticks_off()
    below, says = _DEGRADED_BY[degraded_by]
    return _finish(ax, below, _STATISTICS.get(shown, shown), says)


def separation(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """The recall levels that it takes to tell two rankings apart, cumulative (lexiprecision, Figure 6).

    Args:
        table: the result of :func:`~studies.meta.separation`, or several such tables in one, with the collection for
            the ``measure``.
    """
    _check_table(table, "separation(context, qrels)", "measure", "level", "cumulative")
    ax = _axes(ax)
    for i, (measure, rows) in enumerate(table.groupby("measure", sort=False)):
        # The curve is level between the levels at which pairs separate.
        _line(ax, i, str(measure), rows["level"], rows["cumulative"], drawstyle="steps-post")
    ax.set_xscale("log")
    ax.set_xlim(left=0.9)
    ax.set_ylim(0.0, 1.02)
    ax.xaxis.set_major_formatter("{x:g}")
    says = "Recall level at which two rankings separate"
    return _finish(ax, "recall level", "share of pairs separated so far", says)


def matrix_of_measures(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Every two measures in the table of :func:`~studies.meta.correlation` or :func:`~studies.meta.conflicts`."""
    of_order = "correlation" in getattr(table, "columns", ())
    shown = "correlation" if of_order else "share"
    _check_table(table, "correlation(table) or conflicts(table)", "measure", "other", shown)
    measures = list(dict.fromkeys([*table["measure"], *table["other"]]))
    at, n = {m: i for i, m in enumerate(measures)}, len(measures)
    values = np.full((n, n), np.nan)
    values[table["measure"].map(at), table["other"].map(at)] = table[shown]
    if not of_order:  # each two once
        values = np.where(np.isnan(values), values.T, values)
    ax = _axes(ax)
    image = ax.imshow(values, cmap="viridis" if of_order else "cividis_r")
    ax.set_facecolor("0.93")
    label = "correlation" if of_order else "share of pairs of runs in conflict"
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label=label)
    ax.set_xticks(range(n), [str(m) for m in measures], rotation=90)
    ax.set_yticks(range(n), [str(m) for m in measures])
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            red, green, blue = image.cmap(image.norm(value))[:3]
            colour = "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.5 else "black"
            ax.text(column, row, f"{value:.2f}", ha="center", va="center", size=8.0, color=colour)
    order, disagree = (
        "How similarly the measures order the runs",
        "How often two measures disagree on a pair of runs",
    )
    ax.set_title(order if of_order else disagree)
    return ax


def _check_table(table: pd.DataFrame, made_by: str, *columns: str) -> None:
    lacking = [c for c in columns if c not in getattr(table, "columns", ())]
    if lacking or not len(table):
        what = f"lacks {', '.join(lacking)}" if lacking else "has no rows"
        raise ValueError(f"the table {what}; give the one that {made_by} returns")


def _axes(ax: Axes | None) -> Axes:
    return new_figure().subplots() if ax is None else ax


def _line(ax: Axes, i: int, label: str, x: Sequence[Any], y: Sequence[Any], **style: Any) -> None:
    """Draws a line in a colour, with a marker and dashes of its own, so that colour is not needed to tell it."""
    colour, marker = _COLOURS[i % len(_COLOURS)], _MARKERS[i % len(_MARKERS)]
    look = {"linestyle": _DASHES[i % len(_DASHES)], "linewidth": 1.7, "marker": marker, "markersize": 4.5}
    every = max(1, -(-len(x) // _MOST_MARKED))
    ax.plot(x, y, label=label, color=colour, markevery=every, **(look | style))


def _finish(ax: Axes, x: str, y: str, above: str) -> Axes:
    """Writes the titles, a grid and the legend."""
    ax.grid(color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.set_title(above)
    if len(ax.get_legend_handles_labels()[0]) > 1:
        ax.legend(fontsize=8, framealpha=0.85, edgecolor="none")
    return ax
