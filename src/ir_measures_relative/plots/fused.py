"""Fusion: what it is worth on topics that did not choose the runs, and what a budget buys."""

from __future__ import annotations

import ir_measures
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from .figures import COLOURS, MARKERS, check_table, given_or_new_axes, write_frame

# How far apart the strategies of one number of runs stand.
_APART = 0.13


def fusion(
    table: pd.DataFrame, measure: ir_measures.Measure | str = "nDCG@10", ax: Axes | None = None
) -> Axes:
    """What each strategy is worth: filled on topics that did not choose its runs, hollow on those that did.

    The distance from the hollow to the filled point is what a user is disappointed by who reports the topics that
    chose. A bar is the interval of the difference from the best single run, drawn from the line of that run.

    Args:
        table: what :func:`ir_measures_relative.fuse` returned, for one number of runs or several, and one budget.
        measure: what it was made with, for the axis.
        ax: where to draw.

    Returns:
        the axes.

    Raises:
        ValueError: another table, or one of several budgets.
    """
    needed = ["strategy", "n", "in_sample", "held_out", "difference", "lower", "upper"]
    check_table(table, "fuse(context, qrels, n)", *needed)
    if "budget" in table.columns and table["budget"].nunique() > 1:
        raise ValueError(
            "the table is of several budgets; draw it with plots.fusion_frontier, or one budget of it"
        )
    # Those that do not depend on n stand beside the others: the best run first, all runs last.
    beside = {"single": "best\nsingle run", "all": "all\nruns"}
    strategies = list(dict.fromkeys(table["strategy"]))
    between = [s for s in strategies if s not in beside]
    sizes = table.loc[table["strategy"].isin(between), "n"]
    places = [s for s in ("single", *sorted({*map(int, sizes)}), "all") if s in strategies or s in {*sizes}]
    ax = given_or_new_axes(ax)
    single = float((table["held_out"] - table["difference"]).iloc[0])
    ax.axhline(single, color="0.5", linewidth=1.0, linestyle="--", zorder=1)
    for i, strategy in enumerate(strategies):
        rows = table[table["strategy"] == strategy]
        alone = strategy in beside
        shift = 0.0 if alone else _APART * (between.index(strategy) - (len(between) - 1) / 2)
        x = np.array([places.index(strategy if alone else int(n)) for n in rows["n"]]) + shift
        colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
        held_out, in_sample = (rows[c].to_numpy(dtype=np.float64) for c in ("held_out", "in_sample"))
        low, high = (rows[c].to_numpy(dtype=np.float64) for c in ("lower", "upper"))
        ax.vlines(x, held_out, in_sample, color=colour, linewidth=0.8, linestyle=":", zorder=2)
        if strategy != "single":
            ax.vlines(x, single + low, single + high, color=colour, linewidth=1.6, alpha=0.55, zorder=2)
        ax.plot(x, in_sample, marker, color=colour, markerfacecolor="white", markersize=6.5, zorder=3)
        ax.plot(x, held_out, marker, color=colour, markersize=6.5, label=strategy, zorder=4)
    ax.set_xticks(range(len(places)), [beside.get(str(place), str(place)) for place in places])
    ax.set_xlim(-0.6, len(places) - 0.4)
    says = "Fusion on topics that did not choose the runs (filled), and on those that did (hollow)"
    write_frame(ax, "number of runs fused", f"mean {measure}", says, grid="y")
    ax.legend(fontsize=8, frameon=False)
    return ax


def fusion_frontier(
    table: pd.DataFrame, measure: ir_measures.Measure | str = "nDCG@10", ax: Axes | None = None
) -> Axes:
    """What a budget buys: the value of the chosen sets on topics that did not choose them, by the budget.

    Args:
        table: what :func:`ir_measures_relative.fuse` returned for ``cost`` and several budgets; ValueError for another.
        measure, ax: as for :func:`fusion`.

    Returns:
        the axes: a line a strategy, filled on topics that did not choose, hollow and thin on those that did.
    """
    check_table(table, "fuse(…, cost=…, budget=[…])", "strategy", "budget", "held_out", "in_sample", "names")
    ax = given_or_new_axes(ax)
    for i, (strategy, rows) in enumerate(table.groupby("strategy", sort=False)):
        colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
        # of several n, the one that is best on the topics that choose
        best = rows.loc[rows.groupby("budget")["in_sample"].idxmax()].sort_values("budget")
        x = best["budget"].to_numpy(dtype=np.float64)
        hollow = {"linestyle": ":", "markerfacecolor": "white", "linewidth": 0.8}
        ax.plot(x, best["in_sample"], marker, color=colour, **hollow)
        ax.plot(x, best["held_out"], marker, linestyle="-", color=colour, linewidth=1.6, label=str(strategy))
    says = "What a budget buys, on topics that did not choose the runs (filled)"
    write_frame(ax, "budget: what the fused runs may cost together", f"mean {measure}", says)
    ax.legend(fontsize=8, frameon=False)
    return ax
