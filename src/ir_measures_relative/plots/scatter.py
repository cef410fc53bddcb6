"""A point a run, or a topic, with labels beside the points."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.text import Text
from matplotlib.transforms import IdentityTransform

from ..arguments import check_names
from ..data.arrays import FloatArray, IntArray
from ..messages import few, warn
from ..stats.intervals import means_and_margins
from .figures import (
    add_legend,
    axes_size,
    make_axes,
    read_values,
    short_names,
    style_groups,
    warn_of_missing_names,
    write_frame,
)
from .placement import boxes_around, frontier, place_labels

#: The size of a marker, in points.
MARKER_SIZE = 6.5


class _PlacedLabels(Artist):  # type: ignore[misc]
    """Labels of some points of the axes; draws nothing itself, but places them when the figure is drawn."""

    def __init__(
        self, ax: Axes, points: FloatArray, labels: Sequence[str], colours: Sequence[str], labelled: IntArray
    ) -> None:
        super().__init__()
        self.set_zorder(0.5)
        width, height = axes_size(ax)
        room = width * height / max(len(labelled), 1)  # of 25 and 40 labels on a new figure: 7,239 and 4,525
        size = 8.5 if room > 7_000 else 7.5 if room > 4_500 else 6.0
        style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size, "zorder": 4}
        dark = [tuple(0.6 * part for part in to_rgb(colour)) for colour in colours]  # enough to be read
        self.texts = [
            ax.annotate(labels[i], points[i], (0, 0), textcoords="offset points", color=dark[i], **style)
            for i in labelled
        ]
        look = {"colors": [colours[i] for i in labelled], "linewidths": 0.6, "alpha": 0.6, "zorder": 2}
        self.lines = LineCollection([], transform=IdentityTransform(), **look)
        ax.add_collection(self.lines, autolim=False)
        self.points, self.joined, self.labelled = points, frontier(*points.T), labelled
        self.left_out, self.situation, self.placed = 0, np.zeros(0), np.ones(len(labelled), dtype=bool)
        ax.add_artist(self)
        for artist in (*self.texts, self.lines, self):
            artist.set_in_layout(False)

    def draw(self, renderer: Any) -> None:
        ax = self.axes
        every = ax.transData.transform(self.points)
        points, bounds = every[self.labelled], np.array(ax.bbox.extents)
        pixel = ax.figure.dpi / 72.0
        radius = MARKER_SIZE / 2 * pixel
        taken = boxes_around(np.delete(every, self.labelled, axis=0), radius)
        if legend := ax.get_legend():
            taken = np.append(taken, [legend.get_window_extent(renderer).extents], axis=0)
        for text in self.texts:
            text.set_visible(True)  # else it has no size
        extents = [Text.get_window_extent(t, renderer) for t in self.texts]
        sizes = np.array([(e.width + 2 * pixel, e.height + pixel) for e in extents]).reshape(-1, 2)
        situation = np.concatenate([points, sizes, bounds.reshape(2, 2), taken.reshape(-1, 2)])
        if situation.shape != self.situation.shape or not np.allclose(
            situation, self.situation, equal_nan=True
        ):
            self.situation = situation
            centres, lines, self.placed = place_labels(
                points, sizes, bounds, taken, radius, every[self.joined]
            )
            for text, offset in zip(self.texts, (centres - points) / pixel, strict=True):
                text.set_position(offset)
            self.lines.set_segments(list(lines))
        for text, has_place in zip(self.texts, self.placed.tolist(), strict=True):
            text.set_visible(has_place)
        within = int((np.clip(points, bounds[:2], bounds[2:]) == points).all(axis=1).sum())
        before, self.left_out = self.left_out, within - int(self.placed.sum())
        if self.left_out > before:
            warn_of_missing_names(within - self.left_out, within)


# How many systems have room on a figure of the usual size; a new one grows for more, up to twice its size.
_COMFORTABLE = 40


def relative_against_absolute(
    table: pd.DataFrame,
    relative: ir_measures.Measure | str = "NRG(norm='ideal')@10",
    absolute: ir_measures.Measure | str = "nDCG@10",
    groups: Mapping[str, str] | None = None,
    ax: Axes | None = None,
    ci: bool = False,
    named: Collection[str] | None = None,
) -> Axes:
    """Draw what each run adds to the others, over how good it is on its own (Figs. 2-5 of the NRG paper).

    The dashed line joins the runs that no other run beats on both axes. Labels cover neither each other nor the
    points; a thin line leads to one that is further away. Labels that find no room are left out, with a warning.

    Args:
        table: one row a run: the column ``name`` and one for each of the two measures, as from
            :meth:`RunContext.evaluate` or ``pt.Experiment``.
        relative: the measure on the y-axis.
        absolute: the measure on the x-axis.
        groups: from name to group, such as ``context.groups``: a colour and a marker for each group.
        ax: the axes to draw on; default: those of a new figure.
        ci: draw the 95 % intervals of both means as bars. ``table`` then has a row a topic, as from
            ``context.evaluate(…, perquery=True)``. Whether two runs differ, only
            :func:`ir_measures_relative.compare` says.
        named: the runs that have their names beside them; default: all.

    Raises:
        ValueError: a column is missing or is not all numbers, or a name is not in the table.
    """
    margins: dict[str, list[FloatArray]] = {}
    if ci:
        table, margins = means_and_margins(table, absolute, relative)
    names, (x, y) = read_values(table, absolute, relative)
    check_names("named", named or (), names)
    drawn = ~np.isnan(x + y)
    if not drawn.all():
        without = [n for n, d in zip(names, drawn, strict=True) if not d]
        warn(
            f"not drawn, since they lack a value of {absolute} or {relative}: {few(without)}; give these, or leave the "
            "runs out"
        )
    names, x, y = [n for n, d in zip(names, drawn, strict=True) if d], x[drawn], y[drawn]
    larger = min(2.0, max(1.0, len(names) / _COMFORTABLE) ** 0.5)
    ax = make_axes(ax, width=9.0 * larger, height=6.5 * larger)
    styles = style_groups(names, groups)
    colours = [""] * len(names)
    for group in styles:
        ax.plot(
            x[group.rows], y[group.rows], linestyle="", marker=group.marker, markersize=MARKER_SIZE,
            color=group.colour, alpha=0.9, markeredgecolor="white", markeredgewidth=0.6, label=group.label, zorder=3,
        )  # fmt: skip
        for row in group.rows:
            colours[row] = group.colour
    if ci:
        (left, right), (low, high) = ([ends[drawn] for ends in margins[str(m)]] for m in (absolute, relative))
        for i, colour in enumerate(colours):  # thin, and behind the points
            ax.errorbar(
                x[i], y[i], xerr=[[left[i]], [right[i]]], yerr=[[low[i]], [high[i]]],
                fmt="none", ecolor=colour, elinewidth=0.8, alpha=0.45, zorder=2,
            )  # fmt: skip
    best = frontier(x, y)
    if len(best) > 1:
        line = np.column_stack([x[best], y[best]])
        ax.add_collection(
            LineCollection([line], colors="0.45", linestyles="--", linewidths=0.9), autolim=False
        )
    ax.margins(0.1)
    axes = f"on its own ({absolute})", f"relative to other runs ({relative})"
    write_frame(ax, *axes, "How good each run is on its own, and relative to other runs")
    if groups:
        add_legend(ax, len(styles))
    labelled = np.flatnonzero([named is None or name in {*named} for name in names])
    _PlacedLabels(ax, np.column_stack([x, y]), short_names(names), colours, labelled)
    return ax
