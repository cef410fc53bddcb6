"""Labels beside the points of a scatter plot, which find their places whenever the figure is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.text import Text
from matplotlib.transforms import IdentityTransform

from ..arrays import FloatArray, IntArray
from ..drawing.label_places import place_labels
from .figures import size_of, warn_of_names_left_out

MARKER_SIZE = 6.5  #: of the points, in points


def label_points(
    ax: Axes,
    points: FloatArray,
    labels: Sequence[str],
    colours: Sequence[str],
    joined: IntArray,
    labelled: IntArray,
) -> None:
    """Labels that find their places whenever the figure is drawn, so that these fit its size and resolution.

    Only these points are ``labelled``. Labels keep off the line that joins some of the points. Those that find no place
    are not shown, and a warning says how many.
    """
    labels, colours = [labels[i] for i in labelled], [colours[i] for i in labelled]
    width, height = size_of(ax)
    room = width * height / max(len(labels), 1)  # of 25 and 40 labels on a new figure: 7,239 and 4,525
    size = 8.5 if room > 7_000 else 7.5 if room > 4_500 else 6.0
    style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size, "zorder": 4}
    shades = [tuple(0.6 * part for part in to_rgb(colour)) for colour in colours]  # dark enough to be read
    texts = [
        ax.annotate(label, (a, b), xytext=(0, 0), textcoords="offset points", color=shade, **style)
        for label, (a, b), shade in zip(labels, points[labelled], shades, strict=True)
    ]
    lines = LineCollection(
        [], colors=list(colours), linewidths=0.6, alpha=0.6, zorder=2, transform=IdentityTransform()
    )
    ax.add_collection(lines, autolim=False)
    placer = _Placer(points, texts, lines, joined, labelled)
    ax.add_artist(placer)
    for artist in (*texts, lines, placer):
        artist.set_in_layout(False)


class _Placer(Artist):  # type: ignore[misc]
    """Draws nothing, but places the labels before they are drawn."""

    def __init__(
        self, points: FloatArray, texts: list[Any], lines: Any, joined: IntArray, labelled: IntArray
    ) -> None:
        super().__init__()
        self.set_zorder(0.5)
        self.points, self.texts, self.lines = points, texts, lines
        self.joined, self.labelled = joined, labelled
        self.placed = np.ones(len(texts), dtype=bool)  # which labels are shown
        self.situation: Any = None  # that they are placed for
        self.left_out = 0

    def draw(self, renderer: Any) -> None:
        ax = self.axes
        every = ax.transData.transform(self.points)
        points, others = every[self.labelled], np.delete(every, self.labelled, axis=0)
        bounds = np.array(ax.bbox.extents)
        legend = ax.get_legend()
        pixel = ax.figure.dpi / 72.0
        radius = MARKER_SIZE / 2 * pixel
        taken = np.concatenate([others - radius, others + radius], axis=1)
        if legend:
            taken = np.append(taken, [legend.get_window_extent(renderer).extents], axis=0)
        for text in self.texts:
            text.set_visible(True)  # else it has no size
        extents = [Text.get_window_extent(t, renderer) for t in self.texts]
        sizes = np.array([(e.width + 2 * pixel, e.height + pixel) for e in extents]).reshape(-1, 2)
        situation = points, sizes, bounds, taken
        if self.situation is None or not all(map(_same, situation, self.situation)):
            self.situation = situation
            centres, lines, self.placed = place_labels(*situation, radius, every[self.joined])
            for text, offset in zip(self.texts, (centres - points) / pixel, strict=True):
                text.set_position(offset)
            self.lines.set_segments(list(lines))
        for text, has_place in zip(self.texts, self.placed, strict=True):
            text.set_visible(bool(has_place))
        within = int((np.clip(points, bounds[:2], bounds[2:]) == points).all(axis=1).sum())
        before, self.left_out = self.left_out, within - int(self.placed.sum())
        if self.left_out > before:
            warn_of_names_left_out(within - self.left_out, within)


def _same(one: FloatArray, other: FloatArray) -> bool:
    """Whether two arrays of pixels are the same but for what a layout that is made anew may differ by."""
    return one.shape == other.shape and np.allclose(one, other, rtol=0.0, atol=1e-3, equal_nan=True)
