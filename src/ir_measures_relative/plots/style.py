"""What the pictures share: figures, colours, names, labels, legends."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np

from ..arrays import FloatArray
from .label_placement import place_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which the colour-blind tell apart, without their yellow, which is faint on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


MARKERS = "os^DvPX"


NO_GROUP = "no group"


MARKER_SIZE = 6.5  # points


# Names longer than this are shortened on the picture, and written into the cells only up to so many systems.
_LONGEST_NAME = 36


def new_figure(width: float = 9.0, height: float = 6.5) -> Figure:
    """An empty figure that pyplot does not know of: no window opens, and no backend is chosen.

    Raises:
        ImportError: matplotlib is missing; says how to install it.
    """
    check_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)  # type: ignore[union-attr]
    return figure


def check_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError("the pictures need matplotlib: pip install 'ir-measures-relative[plot]'") from None


def axes_to_draw_on(ax: Axes | None, width: float = 9.0, height: float = 6.5) -> Axes:
    check_matplotlib()
    if ax is not None:
        return ax
    import matplotlib.pyplot

    return matplotlib.pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def columns_of(table: Any, *measures: ir_measures.Measure | str) -> tuple[list[str], FloatArray, FloatArray]:
    """The names, and the values of the two measures."""
    for column in ("name", *map(str, measures)):
        if column not in table.columns:
            raise ValueError(
                f"the table has no column {column!r}; its columns are {[str(c) for c in table.columns]}: give a "
                "table of one row a system, with its name and its measures"
            )
    x, y = (table[str(m)].to_numpy(dtype=np.float64, na_value=np.nan) for m in measures)
    return [str(n) for n in table["name"]], x, y


def by_group(names: Sequence[str], groups: Mapping[str, str] | None) -> dict[str, tuple[list[int], str, str]]:
    """The rows of each group, with its colour and marker; one group if there are none."""
    if not groups:
        return {"": (list(range(len(names))), COLOURS[0], MARKERS[0])}
    known = sorted({groups[n] for n in names if n in groups})
    result = {}
    for i, group in enumerate(known):
        rows = [row for row, n in enumerate(names) if groups.get(n) == group]
        # Every seven groups the markers move on by one, so that 49 groups look different.
        marker = MARKERS[(i + i // len(COLOURS)) % len(MARKERS)]
        result[group] = (rows, COLOURS[i % len(COLOURS)], marker)
    rest = [row for row, n in enumerate(names) if n not in groups]
    return result | ({NO_GROUP: (rest, "#808080", "o")} if rest else {})


def legend_label(group: str) -> str:
    # matplotlib leaves a label that starts with "_" out of the legend; behind a space of no width it does not.
    return plain(f"\u200b{group}" if group.startswith("_") else group)


def add_legend(ax: Axes, title: str, entries: int) -> None:
    """Beside the axes where the figure makes room for it, else inside."""
    if ax.figure.get_layout_engine() is not None:
        columns = 1 + (entries - 1) // 25
        place = {"bbox_to_anchor": (1.01, 1.0), "loc": "upper left", "borderaxespad": 0.0}
        ax.legend(title=title, ncols=columns, fontsize=8, **place)
    else:
        ax.legend(title=title, loc="best", fontsize=7, framealpha=0.9)


def room_for_legend(ax: Axes, values: FloatArray) -> None:
    """Scales the y-axis to the values and 0, with room above them."""
    low, high = float(np.nanmin(values, initial=0.0)), float(np.nanmax(values, initial=0.0))
    span = (high - low) or 1.0
    ax.set_ylim(low - 0.05 * span if low < 0 else 0.0, high + 0.18 * span)
    if low < 0:
        ax.axhline(0.0, color="0.7", linewidth=0.8, zorder=1)


def add_labels(ax: Axes, labels: Sequence[str], x: FloatArray, y: FloatArray, colours: Sequence[str]) -> None:
    """Labels that find their places whenever the figure is drawn, so that these fit its size and resolution."""
    from matplotlib.artist import Artist
    from matplotlib.collections import LineCollection
    from matplotlib.text import Text
    from matplotlib.transforms import IdentityTransform

    size = 8.5 if len(labels) <= 25 else 7.5 if len(labels) <= 40 else 6.0
    style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size, "zorder": 4}
    texts = [
        ax.annotate(label, (a, b), xytext=(0, 0), textcoords="offset points", color=dark(colour), **style)
        for label, a, b, colour in zip(labels, x, y, colours, strict=True)
    ]
    lines = LineCollection(
        [], colors=list(colours), linewidths=0.6, alpha=0.6, zorder=2, transform=IdentityTransform()
    )
    lines.set_in_layout(False)
    ax.add_collection(lines, autolim=False)

    class Placer(Artist):  # type: ignore[misc]
        """Draws nothing, but moves the labels before they are drawn."""

        known: Any = None

        def draw(self, renderer: Any) -> None:
            points = ax.transData.transform(np.column_stack([x, y]))
            pixel = ax.figure.dpi / 72.0
            extents = [Text.get_window_extent(t, renderer) for t in texts]
            sizes = np.array([(e.width + 2 * pixel, e.height + pixel) for e in extents]).reshape(-1, 2)
            legend = ax.get_legend()
            taken = np.array([legend.get_window_extent(renderer).extents] if legend else []).reshape(-1, 4)
            situation = points, sizes, np.array(ax.bbox.extents), taken
            if self.known is not None and all(map(np.array_equal, situation, self.known)):
                return
            self.known = situation
            centres, leaders = place_labels(*situation, radius=MARKER_SIZE / 2 * pixel)
            for text, offset in zip(texts, (centres - points) / pixel, strict=True):
                text.set_position(offset)
            lines.set_segments(list(leaders))

    for text in texts:
        text.set_in_layout(False)
    placer = Placer()
    placer.set_zorder(0.5)
    placer.set_in_layout(False)
    ax.add_artist(placer)


def short_names(names: Sequence[str]) -> list[str]:
    """The names with the middle of long ones left out, where they stay different."""
    half = (_LONGEST_NAME - 1) // 2
    short = [n if len(n) <= _LONGEST_NAME else f"{n[:half]}…{n[-half:]}" for n in names]
    count = Counter(short)
    return [plain(s if count[s] == 1 else n) for s, n in zip(short, names, strict=True)]


def plain(name: str) -> str:
    """The name as text: matplotlib reads what stands between dollars as mathematics."""
    return name.replace("$", r"\$")


def dark(colour: str) -> tuple[float, ...]:
    """A shade of the colour that is legible as text."""
    from matplotlib.colors import to_rgb

    return tuple(0.6 * part for part in to_rgb(colour))


def wrapped(text: str) -> str:
    return textwrap.fill(text, 60)
