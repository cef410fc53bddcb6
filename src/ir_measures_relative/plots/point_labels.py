"""Labels beside the points of a scatter plot. Imports matplotlib, so it is imported where it is needed alone."""

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

from ..arrays import FloatArray
from .figures import size_of, warn_of_names_left_out
from .label_placement import place_labels

MARKER_SIZE = 6.5  #: of the points, in points


def label_points(
    ax: Axes, labels: Sequence[str], x: FloatArray, y: FloatArray, colours: Sequence[str]
) -> None:
    """Labels that find their places whenever the figure is drawn, so that these fit its size and resolution.

    Those that find none are not shown, and a warning says how many.
    """
    width, height = size_of(ax)
    room = width * height / max(len(labels), 1)  # of 25 and 40 labels on a new figure: 7,239 and 4,525
    size = 8.5 if room > 7_000 else 7.5 if room > 4_500 else 6.0
    style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size, "zorder": 4}
    texts = [
        ax.annotate(label, (a, b), xytext=(0, 0), textcoords="offset points", color=_darker(colour), **style)
        for label, a, b, colour in zip(labels, x, y, colours, strict=True)
    ]
    lines = LineCollection(
        [], colors=list(colours), linewidths=0.6, alpha=0.6, zorder=2, transform=IdentityTransform()
    )
    ax.add_collection(lines, autolim=False)
    placer = _Placer(np.column_stack([x, y]), texts, lines)
    ax.add_artist(placer)
    for artist in (*texts, lines, placer):
        artist.set_in_layout(False)


class _Placer(Artist):  # type: ignore[misc]
    """Draws nothing, but places the labels before they are drawn."""

    def __init__(self, points: FloatArray, texts: list[Any], lines: Any) -> None:
        super().__init__()
        self.set_zorder(0.5)
        self.points, self.texts, self.lines = points, texts, lines
        self.measured: Any = None  # what the size of a label depends on, when it was last measured
        self.sizes = np.zeros((0, 2))
        self.situation: Any = None  # that the labels are placed for
        self.left_out = 0

    def draw(self, renderer: Any) -> None:
        ax = self.axes
        points = ax.transData.transform(self.points)
        bounds = np.array(ax.bbox.extents)
        legend = ax.get_legend()
        taken = np.array([legend.get_window_extent(renderer).extents] if legend else []).reshape(-1, 4)
        pixel = ax.figure.dpi / 72.0
        situation = points, self._sizes(renderer, pixel), bounds, taken
        if self.situation is not None and all(map(_same, situation, self.situation)):
            return
        self.situation = situation
        centres, lines, placed = place_labels(*situation, radius=MARKER_SIZE / 2 * pixel)
        for text, offset, has_place in zip(self.texts, (centres - points) / pixel, placed, strict=True):
            text.set_position(offset)
            text.set_visible(bool(has_place))
        self.lines.set_segments(list(lines))
        within = int((np.clip(points, bounds[:2], bounds[2:]) == points).all(axis=1).sum())
        before, self.left_out = self.left_out, within - int(placed.sum())
        if self.left_out > before:
            warn_of_names_left_out(within - self.left_out, within)

    def _sizes(self, renderer: Any, pixel: float) -> FloatArray:
        """Width and height of each label, in pixels. They are measured anew only where they may have changed."""
        now = type(renderer), pixel, [(t.get_text(), t.get_fontproperties()) for t in self.texts]
        if now != self.measured:
            for text in self.texts:
                text.set_visible(True)  # else it has no size
            extents = [Text.get_window_extent(t, renderer) for t in self.texts]
            self.sizes = np.array([(e.width + 2 * pixel, e.height + pixel) for e in extents]).reshape(-1, 2)
            self.measured, self.situation = now, None
        return self.sizes


def _same(one: FloatArray, other: FloatArray) -> bool:
    """Whether two arrays of pixels are the same but for what a layout that is made anew may differ by."""
    return one.shape == other.shape and np.allclose(one, other, rtol=0.0, atol=1e-3, equal_nan=True)


def _darker(colour: str) -> tuple[float, ...]:
    """A shade of the colour that is legible as text."""
    return tuple(0.6 * part for part in to_rgb(colour))
