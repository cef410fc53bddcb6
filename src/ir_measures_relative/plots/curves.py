"""Lines: one a measure, for what ``meta`` says of measures; one a strategy of fusion; and systems by date."""

from __future__ import annotations

from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ..context.run_context import RunContext
from ..data.arrays import FloatArray
from ..io.qrels import Qrels
from .figures import (
    COLOURS,
    MARKERS,
    check_table,
    given_or_new_axes,
    legend_label,
    names_and_values,
    names_that_fit,
    short_names,
    size_of,
    width_of,
    write_axis_titles,
    write_frame,
)

_DASHES = ("-", "--", ":", "-.")
# At most this many points of a line have markers.
_MOST_MARKED = 30

#: What each statistic of :func:`ir_measures_relative.meta.degrade` is called beside an axis.
_STATISTICS = {
    "tau": "Kendall's τ",
    "tau_ap": "τ_AP",
    "weighted": "weighted τ",
    "agreement": "agreement on pairs of runs",
    "ranking_agreement": "agreement on pairs of rankings",
    "ties": "share of tied pairs",
}
_SIGNED = ("tau", "tau_ap", "weighted")
#: What a ranking is degraded by: the title of the axis, and of the picture.
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
        table: what :func:`ir_measures_relative.meta.asl_curve` returns.
        level: where a line is drawn across: pairs on its right are significantly different.
        highest: where the axis of p-values ends; 1 shows all.
    """
    check_table(table, "meta.asl_curve(table)", "measure", "rank", "p")
    ax = given_or_new_axes(ax)
    _line_a_measure(ax, table.dropna(subset=["p"]), "rank", "p")
    ax.axhline(level, color="0.4", linewidth=0.9, zorder=1)
    ax.set_ylim(0.0, highest)
    ax.set_xlim(left=0.0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    says = "Pairs of runs that each measure finds significantly different"
    _finish(ax, "pairs of runs, sorted by p-value", "p-value", says)
    return ax


def degradation(table: pd.DataFrame, statistic: str | None = None, ax: Axes | None = None) -> Axes:
    """How a ranking holds with fewer labels, topics or systems: the mean over samples, and a deviation as a band.

    Args:
        table: what :func:`ir_measures_relative.meta.degrade` or :func:`~ir_measures_relative.meta.system_subsets`
            returns. Where groups were left out, a point a group.
        statistic: which of its statistics; the first if not given.
    """
    x = "systems" if "systems" in getattr(table, "columns", ()) else "level"
    check_table(table, "meta.degrade(…) or system_subsets(…)", "measure", "statistic", x, "mean", "deviation")
    known = list(dict.fromkeys(table["statistic"]))
    shown = known[0] if statistic is None else statistic
    if shown not in known:
        raise ValueError(f"the table holds no statistic {shown!r}; its statistics are {known}")
    rows_of_statistic = table[table["statistic"] == shown]
    ax = given_or_new_axes(ax)
    by_group = rows_of_statistic[x].dtype.kind not in "iuf"
    labels = list(dict.fromkeys(rows_of_statistic[x])) if by_group else []
    for i, (measure, rows) in enumerate(rows_of_statistic.groupby("measure", sort=False)):
        mean = rows["mean"].to_numpy(dtype=np.float64)
        if by_group:
            at = [labels.index(label) for label in rows[x]]
            _line(ax, i, str(measure), at, mean, linestyle="none")
            continue
        deviation = rows["deviation"].fillna(0.0).to_numpy(dtype=np.float64)
        _line(ax, i, str(measure), rows[x], mean)
        colour = COLOURS[i % len(COLOURS)]
        low, high = np.clip([mean - deviation, mean + deviation], -1.0 if shown in _SIGNED else 0.0, 1.0)
        ax.fill_between(rows[x], low, high, color=colour, alpha=0.13, linewidth=0)
    if by_group:
        _name_systems(ax, [str(label) for label in labels])
    shares = x == "level" and rows_of_statistic[x].dtype.kind == "f"
    if not by_group and not shares:
        ax.set_xscale("log", base=2)
        steps = sorted(set(rows_of_statistic[x]))
        ax.set_xticks(steps, [str(step) for step in steps])
        ax.minorticks_off()
    looked_at = "systems" if x == "systems" else "groups" if by_group else "shares" if shares else "depths"
    below, says = _DEGRADED_BY[looked_at]
    _finish(ax, below, _STATISTICS.get(shown, shown), says)
    return ax


def separation(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """The recall levels that it takes to tell two rankings apart, cumulative (lexiprecision, Figure 6).

    Args:
        table: what :func:`ir_measures_relative.meta.separation` returns, or several tables in one, with the collection
            for the ``measure``.
    """
    check_table(table, "meta.separation(context, qrels)", "measure", "level", "cumulative")
    ax = given_or_new_axes(ax)
    # The curve is level between the levels at which pairs separate.
    _line_a_measure(ax, table, "level", "cumulative", drawstyle="steps-post")
    ax.set_xscale("log")
    ax.set_xlim(left=0.9)
    ax.set_ylim(0.0, 1.02)
    ax.xaxis.set_major_formatter("{x:g}")
    says = "Recall level at which two rankings separate"
    _finish(ax, "recall level", "share of pairs separated so far", says)
    return ax


# How far apart the strategies of one number of fused runs stand.
_APART = 0.13
# Of strategies those that do not depend on how many runs are fused: they stand beside the others.
_BESIDE = {"single": "best\nsingle run", "all": "all\nruns"}


def fusion(
    table: pd.DataFrame, measure: ir_measures.Measure | str = "nDCG@10", ax: Axes | None = None
) -> Axes:
    """What each strategy is worth: filled on held-out topics, hollow on those that chose its runs.

    By the number of runs, a bar is the interval of the difference from the best single run, drawn from the line of that
    run. Of several budgets, a line a strategy shows what each budget buys.

    Args:
        table: what :func:`ir_measures_relative.fuse` returned.
        measure: what it was made with, for the axis.
    """
    columns = ["in_sample", "held_out", "ci_lower", "ci_upper"]
    check_table(table, "fuse(context, qrels, n)", "strategy", "n", "difference", *columns)
    strategies = list(dict.fromkeys(table["strategy"]))
    frontier = "budget" in table.columns and table["budget"].nunique() > 1
    if frontier:  # of several n, the one that is best on the topics that choose
        table = table.loc[table.groupby(["strategy", "budget"])["in_sample"].idxmax()].sort_values("budget")
    between = [s for s in strategies if s not in _BESIDE]
    label = table["strategy"].map(_BESIDE).fillna(table["n"].astype(str))
    labels = list(dict.fromkeys(label[table["n"].sort_values(kind="stable").index]))
    ax = given_or_new_axes(ax)
    single = float((table["held_out"] - table["difference"]).iloc[0])
    for i, strategy in enumerate(strategies):
        rows = table[table["strategy"] == strategy]
        in_sample, held_out, low, high = rows[columns].to_numpy().T
        style: dict[str, Any] = {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)]}
        if frontier:
            x, hollow, filled = rows["budget"].to_numpy(dtype=np.float64), ":", "-"
        else:
            shift = 0.0 if strategy in _BESIDE else between.index(strategy) - (len(between) - 1) / 2
            x, hollow, filled = label[rows.index].map(labels.index).to_numpy() + _APART * shift, "", ""
            ax.vlines(x, held_out, in_sample, color=style["color"], linewidth=0.8, linestyle=":", zorder=2)
            bar = {"linewidth": 1.6 * (strategy != "single"), "alpha": 0.55, "zorder": 2}
            ax.vlines(x, single + low, single + high, color=style["color"], **bar)
        ax.plot(x, in_sample, linestyle=hollow, linewidth=0.8, markerfacecolor="white", zorder=3, **style)
        ax.plot(x, held_out, linestyle=filled, linewidth=1.6, label=strategy, zorder=4, **style)
    if frontier:
        below, says = "budget for the fused runs", "Fusion within a budget"
    else:
        below, says = "number of runs fused", "Fusion"
        ax.axhline(single, color="0.5", linewidth=1.0, linestyle="--", zorder=1)
        ax.set_xticks(range(len(labels)), labels)
        ax.set_xlim(-0.6, len(labels) - 0.4)
    says += " on held-out topics (filled), and on those used to choose (hollow)"
    write_frame(ax, below, f"mean {measure}", says, grid="both" if frontier else "y")
    ax.legend(fontsize=8, frameon=False)
    return ax


def chronological(
    systems: pd.DataFrame | RunContext,
    qrels: Qrels | None = None,
    relative: ir_measures.Measure | str = "NRG(norm='ideal')@10",
    absolute: ir_measures.Measure | str = "nDCG@10",
    ax: Axes | None = None,
) -> Axes:
    """How good each system was when it came, and what it added to those before it (Fig. 1a of the NRG paper).

    Where one of the two measures is more than four times as large as the other, each has a y-axis of its own.

    Args:
        systems: a context, of which each run has those before it as its priors, whatever its ``priors`` are; or a table
            that was made with ``priors="earlier"``, as for :func:`relative_against_absolute`, with its rows in order.
        qrels: the judgments, for a context.

    Returns:
        the axes, on which the absolute measure is drawn.
    """
    if isinstance(systems, RunContext):
        if qrels is None:
            raise ValueError("chronological(context, qrels, …) needs the qrels")
        same = {name: getattr(systems, name) for name in ("reference", "num_docs", "grades")}
        systems = RunContext(systems.runs, priors="earlier", **same).evaluate(qrels, [absolute, relative])
    names, (first, second) = names_and_values(systems, absolute, relative)
    n = len(names)
    ax = given_or_new_axes(ax, width=min(max(9.0, 2.0 + 0.13 * n), 24.0))
    largest = [float(np.nanmax(np.abs(v), initial=0.0)) for v in (first, second)]
    apart = min(largest) > 0 and max(largest) > 4 * min(largest)
    other = ax.twinx() if apart else ax
    at = np.arange(n)
    # Hollow and full, large and small: two points in one place both show.
    labels = legend_label(f"{absolute} (absolute)"), legend_label(f"{relative} (relative)")
    hollow: dict[str, Any] = {"markersize": 9, "markerfacecolor": "white", "markeredgewidth": 1.8}
    lines = ax.plot(at, first, "o-", color=COLOURS[0], linewidth=1.8, label=labels[0], **hollow)
    lines += other.plot(at, second, "s--", color=COLOURS[1], linewidth=1.8, label=labels[1], markersize=5)
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
    _name_systems(ax, names)
    ax.set_xlim(-0.5, max(n, 1) - 0.5)
    write_frame(
        ax, "run, in the order of the context", None, "What each run adds to those before it", grid="y"
    )
    other.legend(handles=lines, loc="upper center", ncols=columns, frameon=False)
    return ax


def _line_a_measure(ax: Axes, table: pd.DataFrame, x: str, y: str, **style: Any) -> None:
    for i, (measure, rows) in enumerate(table.groupby("measure", sort=False)):
        _line(ax, i, str(measure), rows[x], rows[y], **style)


def _line(ax: Axes, i: int, label: str, x: Any, y: Any, **style: Any) -> None:
    """A line in a colour, with a marker and dashes of its own, so that colour is not needed to tell it."""
    style = {"linestyle": _DASHES[i % len(_DASHES)], "linewidth": 1.7} | style
    every = max(1, -(-len(x) // _MOST_MARKED))
    ax.plot(
        x, y, color=COLOURS[i % len(COLOURS)], marker=MARKERS[i % len(MARKERS)], markersize=4.5,
        markevery=every, label=legend_label(label), **style,
    )  # fmt: skip


def _finish(ax: Axes, x: str, y: str, says: str) -> None:
    write_frame(ax, x, y, says)
    if len(ax.get_legend_handles_labels()[0]) > 1:
        ax.legend(fontsize=8, framealpha=0.85, edgecolor="none")


def _scale_to(ax: Axes, values: FloatArray, above: float) -> None:
    """Scales the y-axis to the values and 0, with room for the legend above them: this part of the axes."""
    low, high = float(np.nanmin(values, initial=0.0)), float(np.nanmax(values, initial=0.0))
    span = (high - low) or 1.0
    ax.set_ylim(low - 0.05 * span if low < 0 else 0.0, high + above / (1 - above) * span)
    if low < 0:
        ax.axhline(0.0, color="0.7", linewidth=0.8, zorder=1)


def _name_systems(ax: Axes, labels: list[str]) -> None:
    """Writes the names along the x-axis: level, slanted or upright, as there is room."""
    room, labels = size_of(ax)[0] / max(len(labels), 1), short_names(labels)
    size, fitting = names_that_fit(room, len(labels))
    ax.set_xticks(fitting, [labels[i] for i in fitting], fontsize=size)
    if width_of(max(labels, key=len, default=""), size) < room - 2.0:
        return
    upright = room < 2 * size
    ax.tick_params(axis="x", labelrotation=90 if upright else 40)
    style: dict[str, Any] = {"ha": "right", "va": "center" if upright else "top", "rotation_mode": "anchor"}
    for name in ax.get_xticklabels():
        name.set(**style)
