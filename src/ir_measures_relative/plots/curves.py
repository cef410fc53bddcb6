"""Lines: what :mod:`ir_measures_relative.meta` says of measures, one a measure; what runs add, one a run."""

from __future__ import annotations

from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from .figures import (
    COLOURS,
    MARKERS,
    check_table,
    given_or_new_axes,
    names_that_fit,
    size_of,
    write_axis_titles,
    write_grid,
    write_title,
)
from .text import legend_label, short_names, width_of

_DASHES = ("-", "--", ":", "-.")
# At most this many points of a line have markers.
_MOST_MARKED = 30

#: What each kind of :func:`ir_measures_relative.meta.degrade` is called beside an axis.
_KINDS = {
    "tau": "Kendall's τ",
    "tau_ap": "τ_AP",
    "weighted": "weighted τ",
    "agreement": "agreement on pairs of runs",
    "ranking_agreement": "agreement on pairs of rankings",
    "ties": "share of tied pairs",
}
_SIGNED = ("tau", "tau_ap", "weighted")


def asl_curves(
    table: pd.DataFrame, level: float = 0.05, highest: float = 0.15, ax: Axes | None = None
) -> Axes:
    """The p-values of all pairs of runs, from the highest to the lowest: Sakai's ASL curves.

    Args:
        table: what :func:`ir_measures_relative.meta.asl_curve` returns.
        level: where a line is drawn across: pairs right of where a curve crosses it are told apart.
        highest: the axis of p-values ends there, since what is above is of no interest; 1 shows all.
        ax: where to draw.

    Returns:
        the axes.

    Raises:
        ValueError: another table, or none of its rows.
    """
    check_table(table, "meta.asl_curve(table)", "measure", "rank", "p")
    ax = given_or_new_axes(ax)
    for i, (measure, rows) in enumerate(table.groupby("measure", sort=False)):
        rows = rows.sort_values("rank").dropna(subset=["p"])
        _line(ax, i, str(measure), rows["rank"], rows["p"])
    ax.axhline(level, color="0.4", linewidth=0.9, zorder=1)
    ax.set_ylim(0.0, highest)
    ax.set_xlim(left=0.0)
    _whole_numbers(ax)
    _finish(ax, "pairs of runs, sorted", "p", "Which pairs of runs each measure tells apart")
    return ax


def degradation(table: pd.DataFrame, kind: str | None = None, ax: Axes | None = None) -> Axes:
    """How a ranking holds with fewer labels, topics or systems: the mean over samples, and a deviation as a band.

    The band ends where the kind does: at 1, and at -1 or 0.

    Args:
        table: what :func:`ir_measures_relative.meta.degrade` or :func:`~ir_measures_relative.meta.system_subsets`
            returns. Where groups were left out, a point a group.
        kind: which of its kinds; the first if not given.
        ax: where to draw.

    Returns:
        the axes.

    Raises:
        ValueError: another table, none of its rows, or a kind that is not in it.
    """
    x = "systems" if "systems" in getattr(table, "columns", ()) else "level"
    check_table(table, "meta.degrade(…) or system_subsets(…)", "measure", "kind", x, "mean", "deviation")
    known = list(dict.fromkeys(table["kind"]))
    shown = known[0] if kind is None else kind
    if shown not in known:
        raise ValueError(f"the table holds no kind {shown!r}; its kinds are {known}")
    rows_of_kind = table[table["kind"] == shown]
    ax = given_or_new_axes(ax)
    by_group = rows_of_kind[x].dtype.kind not in "iuf"
    labels = list(dict.fromkeys(rows_of_kind[x])) if by_group else []
    for i, (measure, rows) in enumerate(rows_of_kind.groupby("measure", sort=False)):
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
        _name(ax, labels)
    levels = rows_of_kind[x]
    shares = not by_group and x == "level" and levels.dtype.kind == "f"
    if not by_group and not shares:
        ax.set_xscale("log", base=2)
        steps = sorted(set(levels))
        ax.set_xticks(steps, [str(step) for step in steps])
        ax.minorticks_off()
    titles = {"systems": "systems in the subset", "level": "share that is left" if shares else "pool depth"}
    below = "group that is left out" if by_group else titles[x]
    _finish(ax, below, _KINDS.get(shown, shown), _says(x, by_group, shares))
    return ax


def _says(x: str, by_group: bool, shares: bool) -> str:
    if x == "systems":
        return "How a ranking of some systems agrees with that of all"
    if by_group:
        return "The ranking without what a group alone contributed"
    return "The ranking with a part of the data" if shares else "The ranking with a shallower pool"


def ties_by_level(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """The share of pairs of rankings that are tied at each recall level (lexiprecision, Figure 5).

    Args:
        table: what :func:`ir_measures_relative.meta.ties_by_level` returns. Several collections: put their tables one
            below the other, with the collection for the ``measure``.
        ax: where to draw.

    Returns:
        the axes.

    Raises:
        ValueError: another table, or none of its rows.
    """
    check_table(table, "meta.ties_by_level(context, qrels)", "measure", "level", "share")
    ax = given_or_new_axes(ax)
    for i, (measure, rows) in enumerate(table.groupby("measure", sort=False)):
        _line(ax, i, str(measure), rows["level"], rows["share"])
    ax.set_ylim(bottom=0.0)
    _whole_numbers(ax)
    _finish(ax, "recall level", "share of tied pairs", "How often two rankings are tied at each recall level")
    return ax


def separation(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """The recall levels that it takes to tell two rankings apart, cumulative (lexiprecision, Figure 6).

    Args:
        table: what :func:`ir_measures_relative.meta.separation` returns, or several, as for :func:`ties_by_level`.
        ax: where to draw.

    Returns:
        the axes.

    Raises:
        ValueError: another table, or none of its rows.
    """
    check_table(table, "meta.separation(context, qrels)", "measure", "level", "cumulative")
    ax = given_or_new_axes(ax)
    for i, (measure, rows) in enumerate(table.groupby("measure", sort=False)):
        # The curve is level between the levels at which pairs separate.
        _line(ax, i, str(measure), rows["level"], rows["cumulative"], drawstyle="steps-post")
    ax.set_xscale("log")
    ax.set_xlim(left=0.9)
    ax.set_ylim(0.0, 1.02)
    ax.xaxis.set_major_formatter("{x:g}")
    _finish(ax, "recall level", "share of pairs told apart so far", "Where two rankings separate")
    return ax


def sweep(table: pd.DataFrame, measure: ir_measures.Measure | str = "NRG@10", ax: Axes | None = None) -> Axes:
    """What runs add as they have more priors, or to different families of them: a line a run, with its interval.

    Args:
        table: what :func:`ir_measures_relative.sweep` returned.
        measure: what was swept, for the title.
        ax: where to draw.

    Returns:
        the axes.

    Raises:
        ValueError: another table, or none of its rows.
    """
    columns = ("name", "priors", "size", "mean", "lower", "upper")
    check_table(table, "sweep(context, qrels, measure)", *columns)
    ax = given_or_new_axes(ax)
    by_size = bool(table["priors"].isna().all())
    labels = [] if by_size else list(dict.fromkeys(map(_written, table["priors"])))
    for i, (name, rows) in enumerate(table.groupby("name", sort=False)):
        colour, label = COLOURS[i % len(COLOURS)], legend_label(str(name))
        mean, low, high = (rows[c].to_numpy(dtype=np.float64) for c in ("mean", "lower", "upper"))
        if by_size:
            sizes = rows["size"].to_numpy()
            ax.plot(sizes, mean, "o-", color=colour, markersize=4, linewidth=1.6, label=label)
            ax.fill_between(sizes, low, high, color=colour, alpha=0.15, linewidth=0)
        else:
            at = [labels.index(_written(p)) for p in rows["priors"]]
            margins = [mean - low, high - mean]
            ax.errorbar(at, mean, yerr=margins, fmt="o", color=colour, capsize=2, label=label)
    if not by_size:
        ax.set_xticks(
            range(len(labels)), [legend_label(label, 24) for label in labels], rotation=40, ha="right"
        )
    write_grid(ax, axis="y")
    write_axis_titles(ax, "number of prior runs" if by_size else "prior runs", f"mean {measure}")
    write_title(
        ax, "What a run adds as more is deployed" if by_size else "What a run adds to different priors"
    )
    ax.legend(fontsize=8, frameon=False)
    return ax


def _written(priors: Any) -> str:
    return priors if isinstance(priors, str) else ", ".join(priors) or "none"


def _line(ax: Axes, i: int, label: str, x: Any, y: Any, **style: Any) -> None:
    """A line in a colour, with a marker and dashes of its own, so that colour is not needed to tell it."""
    style = {"linestyle": _DASHES[i % len(_DASHES)], "linewidth": 1.7} | style
    every = max(1, -(-len(x) // _MOST_MARKED))
    ax.plot(
        x, y, color=COLOURS[i % len(COLOURS)], marker=MARKERS[i % len(MARKERS)], markersize=4.5,
        markevery=every, label=legend_label(label), **style,
    )  # fmt: skip


def _whole_numbers(ax: Axes) -> None:
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def _name(ax: Axes, labels: list[str]) -> None:
    room = size_of(ax)[0] / max(len(labels), 1)
    names = short_names([str(label) for label in labels])
    size, fitting = names_that_fit(room, len(names))
    slanted = width_of(max(names, key=len, default=""), size) > room
    ax.set_xticks(
        fitting, [names[i] for i in fitting], fontsize=size, rotation=90 if slanted else 0
    )  # upright: any number has room


def _finish(ax: Axes, x: str, y: str, says: str) -> None:
    write_grid(ax)
    write_axis_titles(ax, x, y)
    write_title(ax, says)
    if len(ax.get_legend_handles_labels()[0]) > 1:
        ax.legend(fontsize=8, framealpha=0.85, edgecolor="none")
