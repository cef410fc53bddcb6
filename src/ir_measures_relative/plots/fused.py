"""Fusion: what it is worth on topics that did not choose the runs, in pairs, and for its cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .figures import given_or_new_axes, names_that_fit, size_of, write_axis_titles, write_title
from .groups import COLOURS, MARKERS
from .heatmap import write_values
from .text import short_names, title

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# How far apart the strategies of one number of runs stand.
_APART = 0.13
# The values are written into the cells of so many runs at most.
_MOST_WITH_VALUES = 22


def fusion(table: pd.DataFrame, measure: Any = "nDCG@10", ax: Axes | None = None) -> Axes:
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
        ImportError: matplotlib is missing.
    """
    _check(table, "fuse", "strategy", "n", "in_sample", "held_out", "difference", "lower", "upper")
    if "budget" in table.columns and table["budget"].nunique() > 1:
        raise ValueError(
            "the table is of several budgets; draw it with plots.fusion_frontier, or one budget of it"
        )
    strategies = list(dict.fromkeys(table["strategy"]))
    sizes = sorted(
        {int(n) for s, n in zip(table["strategy"], table["n"], strict=True) if s not in ("single", "all")}
    )
    # Those that do not depend on n stand beside the others: the best run first, all runs last.
    places = [
        *(["single"] if "single" in strategies else []),
        *sizes,
        *(["all"] if "all" in strategies else []),
    ]
    ax = given_or_new_axes(ax)
    between = [s for s in strategies if s not in ("single", "all")]
    single = float((table["held_out"] - table["difference"]).iloc[0])
    ax.axhline(single, color="0.5", linewidth=1.0, linestyle="--", zorder=1)
    for i, strategy in enumerate(strategies):
        rows = table[table["strategy"] == strategy]
        alone = strategy in ("single", "all")
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
    labels = [{"single": "best\nsingle run", "all": "all\nruns"}.get(str(p), str(p)) for p in places]
    ax.set_xticks(range(len(places)), labels)
    ax.set_xlim(-0.6, len(places) - 0.4)
    ax.grid(axis="y", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    write_axis_titles(ax, "number of runs fused", f"mean {measure}")
    write_title(ax, "Fusion on topics that did not choose the runs (filled), and on those that did (hollow)")
    ax.legend(fontsize=8, frameon=False)
    return ax


def fusion_pairs(table: pd.DataFrame, measure: Any = "nDCG@10", ax: Axes | None = None) -> Axes:
    """What fusing two runs gains over the better of the two: blue where it helps, red where it hurts.

    Args:
        table: what :func:`ir_measures_relative.fusion_pairs` returned.
        measure: what it was made with, for the colour bar.
        ax: where to draw.

    Returns:
        the axes; the runs stand in the order of their mean gain. A dot marks a pair whose interval does not hold 0.

    Raises:
        ValueError: another table.
        ImportError: matplotlib is missing.
    """
    _check(table, "fusion_pairs", "name", "other", "gain", "lower", "upper")
    names = list(dict.fromkeys([*table["name"], *table["other"]]))
    row_of = {name: i for i, name in enumerate(names)}
    n = len(names)
    gain, sure = np.full((n, n), np.nan), np.zeros((n, n), dtype=bool)
    for row in table.itertuples(index=False):
        a, b = row_of[row.name], row_of[row.other]
        gain[a, b] = gain[b, a] = row.gain
        sure[a, b] = sure[b, a] = row.lower > 0 or row.upper < 0
    order = np.argsort(-np.nansum(gain, axis=1), kind="stable")
    gain, sure = gain[np.ix_(order, order)], sure[np.ix_(order, order)]
    shown = short_names([names[i] for i in order])
    side = min(3.5 + 0.42 * n, 16.0)
    ax = given_or_new_axes(ax, width=side + 1.0, height=side)
    reach = float(np.nanmax(np.abs(gain))) or 1.0
    image = ax.imshow(gain, cmap="RdBu", vmin=-reach, vmax=reach)
    ax.set_facecolor("0.93")
    label = title(f"gain in mean {measure} over the better of the two", 0.8 * size_of(ax)[1], 10.0)
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label=label)
    room = min(size_of(ax)) / max(n, 1)
    size, fitting = names_that_fit(room, n)
    ax.set_xticks(fitting, [shown[i] for i in fitting], rotation=90, fontsize=size)
    ax.set_yticks(fitting, [shown[i] for i in fitting], fontsize=size)
    ax.tick_params(length=0)
    if n <= _MOST_WITH_VALUES:
        write_values(ax, image, gain, min(size - 1.5, room / 2.6))
    at = np.argwhere(sure)
    ax.plot(at[:, 1] + 0.36, at[:, 0] - 0.36, "o", color="black", markersize=max(1.2, room / 12), zorder=4)
    write_title(ax, "What fusing two runs gains (blue) or loses (red) against the better of the two")
    return ax


def fusion_frontier(table: pd.DataFrame, measure: Any = "nDCG@10", ax: Axes | None = None) -> Axes:
    """What a budget buys: the value of the chosen sets on topics that did not choose them, by the budget.

    Args:
        table: what :func:`ir_measures_relative.fuse` returned for ``cost`` and several budgets.
        measure: what it was made with, for the axis.
        ax: where to draw.

    Returns:
        the axes: a line a strategy, filled on topics that did not choose, hollow and thin on those that did.

    Raises:
        ValueError: another table, or one without budgets.
        ImportError: matplotlib is missing.
    """
    _check(table, "fuse(…, cost=…, budget=[…])", "strategy", "budget", "held_out", "in_sample", "names")
    ax = given_or_new_axes(ax)
    for i, (strategy, rows) in enumerate(table.groupby("strategy", sort=False)):
        colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
        # of several n, the one that is best on the topics that choose
        best = rows.loc[rows.groupby("budget")["in_sample"].idxmax()].sort_values("budget")
        x = best["budget"].to_numpy(dtype=np.float64)
        ax.plot(
            x, best["in_sample"], marker, linestyle=":", color=colour, markerfacecolor="white", linewidth=0.8
        )
        ax.plot(x, best["held_out"], marker, linestyle="-", color=colour, linewidth=1.6, label=str(strategy))
    ax.grid(color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    write_axis_titles(ax, "budget: what the fused runs may cost together", f"mean {measure}")
    write_title(ax, "What a budget buys, on topics that did not choose the runs (filled)")
    ax.legend(fontsize=8, frameon=False)
    return ax


def _check(table: Any, made_by: str, *columns: str) -> None:
    """Raises ValueError for a table that lacks columns or has no rows."""
    lacking = [c for c in columns if c not in getattr(table, "columns", ())]
    if lacking or not len(table):
        what = f"lacks {', '.join(lacking)}" if lacking else "has no rows"
        call = made_by if "(" in made_by else f"{made_by}()"
        raise ValueError(f"the table {what}; give the one that {call} returns")
