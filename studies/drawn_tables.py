"""Pictures of the tables that ``fuse``, ``bounds`` and ``verdicts`` return."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

from ir_measures_relative.plots.figures import (
    COLOURS,
    MARKERS,
    axes_size,
    fit_names,
    short_names,
    write_frame,
    write_title,
)

# How far apart the strategies of one number of fused runs stand.
_APART = 0.13
# Of strategies those that do not depend on how many runs are fused: they stand beside the others.
_BESIDE = {"single": "best\nsingle run", "all": "all\nruns"}
# Distinct without colour by their brightness.
_SETTLED = {"above": "#08519c", "below": "#fdae6b", "equal": "#bdbdbd", "undecided": "#f7f7f7"}
_INTERVAL = "#08519c"


def fusion(table: pd.DataFrame, ax: Axes, measure: str = "nDCG@10") -> Axes:
    """Draw what each strategy is worth: filled on held-out topics, hollow on those that chose its runs.

    A bar is the interval of the difference from the best single run, drawn from the line of that run.
    ``measure`` is the one that ``fuse`` made the table with, for the axis.
    """
    columns = ["in_sample", "held_out", "ci_lower", "ci_upper"]
    strategies = list(dict.fromkeys(table["strategy"]))
    between = [s for s in strategies if s not in _BESIDE]
    label = table["strategy"].map(_BESIDE).fillna(table["n"].astype(str))
    labels = list(dict.fromkeys(label[table["n"].sort_values(kind="stable").index]))
    single = float((table["held_out"] - table["difference"]).iloc[0])
    for i, strategy in enumerate(strategies):
        rows = table[table["strategy"] == strategy]
        in_sample, held_out, low, high = rows[columns].to_numpy().T
        style: dict[str, Any] = {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)]}
        shift = 0.0 if strategy in _BESIDE else between.index(strategy) - (len(between) - 1) / 2
        x = label[rows.index].map(labels.index).to_numpy() + _APART * shift
        ax.vlines(x, held_out, in_sample, color=style["color"], linewidth=0.8, linestyle=":", zorder=2)
        bar = {"linewidth": 1.6 * (strategy != "single"), "alpha": 0.55, "zorder": 2}
        ax.vlines(x, single + low, single + high, color=style["color"], **bar)
        style["linestyle"] = ""
        ax.plot(x, in_sample, markerfacecolor="white", zorder=3, **style)
        ax.plot(x, held_out, label=strategy, zorder=4, **style)
    ax.axhline(single, color="0.5", linewidth=1.0, linestyle="--", zorder=1)
    ax.set_xticks(range(len(labels)), labels)
    ax.set_xlim(-0.6, len(labels) - 0.4)
    says = "Fusion on held-out topics (filled), and on those used to choose (hollow)"
    write_frame(ax, "number of runs fused", f"mean {measure}", says, grid="y")
    ax.legend(fontsize=8, frameon=False)
    return ax


def intervals(table: pd.DataFrame, ax: Axes) -> Axes:
    """Draw runs as intervals, the best by value on top, from what ``bounds`` returned of one measure."""
    rows, shown = table.sort_values("value", kind="stable"), table["measure"].iloc[0]
    names, n = short_names(rows["name"].tolist()), len(rows)
    place = np.arange(n)
    ax.hlines(place, rows["worst"], rows["best"], color=_INTERVAL, linewidth=3.0, alpha=0.45)
    ax.plot(rows["value"], place, "o", color=_INTERVAL, markersize=4.5)
    size, fitting = fit_names(axes_size(ax)[1] / max(n, 1), n)
    ax.set_yticks(fitting, [names[i] for i in fitting], fontsize=size)
    ax.set_ylim(-0.7, n - 0.3)
    says = f"Worst-case and best-case {shown} of each run, given the unjudged documents"
    write_frame(ax, shown, None, says, grid="x")
    return ax


def matrix_of_verdicts(table: pd.DataFrame, ax: Axes) -> Axes:
    """Draw which run is settled above which, from what ``verdicts`` returned of all pairs by one measure."""
    rows, shown = table[["name", "other", "value", "settled"]], table["measure"].iloc[0]
    runs = list(dict.fromkeys([*rows["name"], *rows["other"]]))
    at, n, words = {run: i for i, run in enumerate(runs)}, len(runs), list(_SETTLED)
    swapped = {"above": "below", "below": "above"}
    settled = np.full((n, n), -1)
    value = np.zeros((n, n))
    for a, b, difference, word in rows.itertuples(index=False):
        i, j = at[a], at[b]
        settled[i, j], settled[j, i] = words.index(word), words.index(swapped.get(word, word))
        value[i, j], value[j, i] = difference, -difference
    order = np.lexsort((-value.sum(axis=1), (settled == 1).sum(axis=1) - (settled == 0).sum(axis=1)))
    cells = np.where(settled < 0, np.nan, settled)[np.ix_(order, order)]
    ax.imshow(cells, cmap=ListedColormap(list(_SETTLED.values())), vmin=-0.5, vmax=3.5)
    ax.set_facecolor("0.85")
    names = short_names([runs[i] for i in order])
    size, fitting = fit_names(min(axes_size(ax)) / max(n, 1), n)
    ax.set_xticks(fitting, [names[i] for i in fitting], rotation=90, fontsize=size)
    ax.set_yticks(fitting, [names[i] for i in fitting], fontsize=size)
    ax.tick_params(length=0)
    present = [words[i] for i in np.unique(settled[settled >= 0])]
    patches = [Patch(facecolor=_SETTLED[w], edgecolor="0.5", label=w) for w in present]
    place = {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0)}
    ax.legend(handles=patches, title="the row is", frameon=False, **place)
    write_title(ax, f"Which orders by {shown} unjudged documents cannot reverse")
    return ax
