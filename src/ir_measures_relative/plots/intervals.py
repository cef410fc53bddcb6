"""Intervals in pictures: bars beside points, bands along lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np

from ..arrays import FloatArray
from ..stats.intervals import student_interval
from .figures import given_or_new_axes, write_axis_titles, write_title
from .groups import COLOURS
from .text import legend_label

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_KEY = "query_id", "qid"


def means_and_bars(
    table: pd.DataFrame, *measures: ir_measures.Measure | str, confidence: float = 0.95
) -> tuple[pd.DataFrame, dict[str, list[FloatArray]]]:
    """The means of a table of queries, and how far their intervals reach below and above them.

    Args:
        table: one row a run, query and measure, as ``RunContext.evaluate(…, perquery=True)`` returns.
        measures: those that are drawn.

    Raises:
        ValueError: a table of means, or without one of the measures.
    """
    import pandas as pd

    key = next((k for k in _KEY if k in table.columns), None)
    if key is None or not {"name", "measure", "value"} <= set(table.columns):
        raise ValueError(
            "ci=True needs the values of every query: give the table of context.evaluate(qrels, measures, "
            "perquery=True), with the columns name, query_id, measure and value"
        )
    known = table["measure"].astype(str)
    lacking = [str(m) for m in measures if str(m) not in set(known)]
    if lacking:
        raise ValueError(
            f"the table has no values of {', '.join(lacking)}; its measures are {list(known.unique())}"
        )
    names = list(dict.fromkeys(table["name"]))
    means: dict[str, Any] = {"name": names}
    bars = {}
    for measure in map(str, measures):
        of_run = {
            n: v.to_numpy(dtype=np.float64) for n, v in table[known == measure].groupby("name")["value"]
        }
        values = [of_run.get(n, np.empty(0)) for n in names]
        values = [v[~np.isnan(v)] for v in values]
        mean = np.array([v.mean() if len(v) else np.nan for v in values])
        ends = np.array([_interval(v, confidence) for v in values]).reshape(-1, 2)
        means[measure], bars[measure] = mean, [mean - ends[:, 0], ends[:, 1] - mean]
    return pd.DataFrame(means), bars


def _interval(values: FloatArray, confidence: float) -> tuple[float, float]:
    """Student's interval; the mean itself where all values are the same."""
    if len(values) < 2:
        return np.nan, np.nan
    low, high = map(float, student_interval(values, confidence))
    return (low, high) if low == low else (float(values.mean()), float(values.mean()))


def draw_bars(
    ax: Axes, x: FloatArray, y: FloatArray, bars: list[list[FloatArray]], colours: list[str]
) -> None:
    """Draws the intervals of points, thin and behind them."""
    (left, right), (below, above) = bars
    for i, colour in enumerate(colours):
        ax.errorbar(
            x[i], y[i], xerr=[[left[i]], [right[i]]], yerr=[[below[i]], [above[i]]],
            fmt="none", ecolor=colour, elinewidth=0.8, alpha=0.45, zorder=2,
        )  # fmt: skip


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
        ImportError: matplotlib is missing.
    """
    lacking = [c for c in ("name", "priors", "size", "mean", "lower", "upper") if c not in table.columns]
    if lacking or not len(table):
        what = f"lacks {', '.join(lacking)}" if lacking else "has no rows"
        raise ValueError(f"the table {what}; give the one that sweep(context, qrels, measure) returns")
    ax = given_or_new_axes(ax)
    by_size = bool(table["priors"].isna().all())
    labels = [] if by_size else list(dict.fromkeys(map(_written, table["priors"])))
    for i, (name, rows) in enumerate(table.groupby("name", sort=False)):
        colour = COLOURS[i % len(COLOURS)]
        x = (
            rows["size"].to_numpy()
            if by_size
            else np.array([labels.index(_written(p)) for p in rows["priors"]])
        )
        mean, low, high = (rows[c].to_numpy(dtype=np.float64) for c in ("mean", "lower", "upper"))
        if by_size:
            ax.plot(x, mean, "o-", color=colour, markersize=4, linewidth=1.6, label=legend_label(str(name)))
            ax.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
        else:
            ax.errorbar(
                x,
                mean,
                yerr=[mean - low, high - mean],
                fmt="o",
                color=colour,
                capsize=2,
                label=legend_label(str(name)),
            )
    if not by_size:
        ax.set_xticks(
            range(len(labels)), [legend_label(label, 24) for label in labels], rotation=40, ha="right"
        )
    ax.grid(axis="y", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    write_axis_titles(ax, "number of prior runs" if by_size else "prior runs", f"mean {measure}")
    write_title(
        ax, "What a run adds as more is deployed" if by_size else "What a run adds to different priors"
    )
    ax.legend(fontsize=8, frameon=False)
    return ax


def _written(priors: Any) -> str:
    return priors if isinstance(priors, str) else ", ".join(priors) or "none"
