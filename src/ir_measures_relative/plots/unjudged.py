"""What unjudged documents leave open: runs as intervals, and who is proved better than whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .figures import (
    given_or_new_axes,
    names_that_fit,
    require_matplotlib,
    size_of,
    write_axis_titles,
    write_title,
)
from .text import short_names

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# Better, worse, equal, open; told apart without colour by their brightness.
_COLOURS = {"better": "#08519c", "worse": "#fdae6b", "equal": "#bdbdbd", "open": "#f7f7f7"}


def intervals(table: pd.DataFrame, measure: Any = None, ax: Axes | None = None) -> Axes:
    """Runs as intervals, the best by value on top.

    Args:
        table: what :func:`~ir_measures_relative.bounds` gives, without ``perquery``.
        measure: which of its measures; the first if not given.
        ax: where to draw.

    Returns:
        the axes.

    Raises:
        ValueError: a table without the columns, or without the measure.
        ImportError: matplotlib is missing.
    """
    require_matplotlib()
    rows, shown = _of_measure(table, measure, "bounds", ("name", "measure", "lower", "value", "upper"))
    rows = rows.sort_values("value", kind="stable")
    names, n = short_names(rows["name"].tolist()), len(rows)
    ax = given_or_new_axes(ax, height=max(2.5, min(1.5 + 0.25 * n, 16.0)))
    place = np.arange(n)
    ax.hlines(place, rows["lower"], rows["upper"], color=_COLOURS["better"], linewidth=3.0, alpha=0.45)
    ax.plot(rows["value"], place, "o", color=_COLOURS["better"], markersize=4.5)
    size, fitting = names_that_fit(size_of(ax)[1] / max(n, 1), n)
    ax.set_yticks(fitting, [names[i] for i in fitting], fontsize=size)
    ax.set_ylim(-0.7, n - 0.3)
    ax.grid(axis="x", color="0.9")
    ax.set_axisbelow(True)
    write_axis_titles(ax, shown, None)
    write_title(ax, f"What {shown} could be, whatever the labels of unjudged documents")
    return ax


def matrix_of_verdicts(table: pd.DataFrame, measure: Any = None, ax: Axes | None = None) -> Axes:
    """Who is proved better than whom, and what is open; the runs in the order of their proofs.

    Args:
        table: what :func:`~ir_measures_relative.verdicts` gives for all pairs, without ``perquery``.
        measure: which of its measures; the first if not given.
        ax: where to draw.

    Returns:
        the axes.

    Raises:
        ValueError: a table without the columns, or without the measure.
        ImportError: matplotlib is missing.
    """
    require_matplotlib()
    rows, shown = _of_measure(table, measure, "verdicts", ("name", "other", "measure", "value", "verdict"))
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    runs = list(dict.fromkeys([*rows["name"], *rows["other"]]))
    at, n, words = {run: i for i, run in enumerate(runs)}, len(runs), list(_COLOURS)
    turned = {"better": "worse", "worse": "better"}
    verdict = np.full((n, n), -1)
    value = np.zeros((n, n))
    for a, b, difference, word in zip(
        rows["name"], rows["other"], rows["value"], rows["verdict"], strict=True
    ):
        i, j = at[a], at[b]
        verdict[i, j], verdict[j, i] = words.index(word), words.index(turned.get(word, word))
        value[i, j], value[j, i] = difference, -difference
    order = np.lexsort((-value.sum(axis=1), (verdict == 1).sum(axis=1) - (verdict == 0).sum(axis=1)))
    names = short_names([runs[i] for i in order])
    side = min(3.5 + 0.35 * n, 16.0)
    ax = given_or_new_axes(ax, width=side + 1.5, height=side)
    cells = verdict[np.ix_(order, order)]
    ax.imshow(
        np.where(cells < 0, np.nan, cells), cmap=ListedColormap(list(_COLOURS.values())), vmin=-0.5, vmax=3.5
    )
    ax.set_facecolor("0.85")
    size, fitting = names_that_fit(min(size_of(ax)) / max(n, 1), n)
    ax.set_xticks(fitting, [names[i] for i in fitting], rotation=90, fontsize=size)
    ax.set_yticks(fitting, [names[i] for i in fitting], fontsize=size)
    ax.tick_params(length=0)
    present = [words[i] for i in np.unique(verdict[verdict >= 0])]
    patches = [Patch(facecolor=_COLOURS[w], edgecolor="0.5", label=w) for w in present]
    ax.legend(
        handles=patches, title="row than column", loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False
    )
    write_title(ax, f"Which run is better by {shown}, whatever the labels of unjudged documents")
    return ax


def _of_measure(table: Any, measure: Any, function: str, needed: tuple[str, ...]) -> tuple[Any, str]:
    """The rows of one measure, and its name."""
    lacking = [column for column in needed if column not in getattr(table, "columns", ())]
    if lacking or "query_id" in table.columns or "qid" in table.columns:
        raise ValueError(
            f"give the table that {function}(context, qrels, measures) returns, without perquery"
        )
    known = list(dict.fromkeys(table["measure"]))
    shown = (known[0] if known else "") if measure is None else str(measure)
    if shown not in known:
        raise ValueError(f"the table holds no {shown or 'measure'}; its measures are {known}")
    return table[table["measure"] == shown], shown
