"""Pictures: relative against absolute effectiveness, systems in the order of their release, which are alike.

Each takes the ``ax`` to draw on and returns it. Without one it makes a figure by pyplot, for a notebook or a
window; with one it leaves pyplot alone. Needs matplotlib: ``pip install 'ir-measures-relative[plot]'``.
"""

from __future__ import annotations

import itertools
import textwrap
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np

from ._labels import place_labels
from .comparison import Comparison
from .context import RunContext, parse_measures
from .judgments import FloatArray, Qrels
from .provider import is_relative

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which the colour-blind tell apart, without their yellow, which is faint on white.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = "os^DvPX"
_NO_GROUP = "no group"
_MARKER_SIZE = 6.5  # points

# Names longer than this are shortened on the picture, and written into the cells only up to so many systems.
_LONGEST_NAME = 36
_MOST_CELLS = 22


def new_figure(width: float = 9.0, height: float = 6.5) -> Figure:
    """An empty figure that pyplot does not know of: no window opens, and no backend is chosen.

    Raises:
        ImportError: matplotlib is missing; says how to install it.
    """
    _check_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)  # type: ignore[union-attr]
    return figure


def relative_against_absolute(
    table: pd.DataFrame,
    relative: ir_measures.Measure | str = "NRG@10",
    absolute: ir_measures.Measure | str = "nDCG@10",
    groups: Mapping[str, str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """A point a system: what it adds to the others, over how good it is on its own (Figs. 2-5 of the NRG paper).

    Systems that lie high for their place on the x-axis find what the others miss. The labels cover neither each
    other nor the points; a thin line leads to one that had to move away.

    Args:
        table: one row a system: the column ``name`` and one for each of the two measures, as from
            :meth:`RunContext.evaluate` or ``pt.Experiment``.
        relative: the column on the y-axis.
        absolute: the column on the x-axis.
        groups: from name to group, such as ``context.groups``: a colour and a marker for each group.
        ax: where to draw.

    Returns:
        the axes.

    Raises:
        ValueError: a column that is not there; names those that are.
        ImportError: matplotlib is missing.
    """
    names, x, y = _columns(table, absolute, relative)
    drawn = np.isfinite(x) & np.isfinite(y)
    if not drawn.all():
        without = [n for n, d in zip(names, drawn, strict=True) if not d]
        warnings.warn(f"not drawn, since they lack a value of {absolute} or {relative}: {without}", stacklevel=2)
    names, x, y = [n for n, d in zip(names, drawn, strict=True) if d], x[drawn], y[drawn]
    ax = _axes(ax)
    of_group = _by_group(names, groups)
    for group, (rows, colour, marker) in of_group.items():
        ax.plot(
            x[rows], y[rows], linestyle="", marker=marker, markersize=_MARKER_SIZE, color=colour, alpha=0.9,
            markeredgecolor="white", markeredgewidth=0.6, label=_legend_label(group), zorder=3,
        )  # fmt: skip
    ax.margins(0.1)
    ax.grid(color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.set_xlabel(_wrapped(f"absolute effectiveness: {absolute}"))
    ax.set_ylabel(_wrapped(f"relative effectiveness: {relative}"))
    ax.set_title("Relative against absolute effectiveness")
    if groups:
        _add_legend(ax, "group", len(of_group))
    colours = {row: colour for rows, colour, _ in of_group.values() for row in rows}
    _add_labels(ax, _short(names), x, y, [colours[i] for i in range(len(names))])
    return ax


def chronological(
    systems: pd.DataFrame | RunContext,
    qrels: Qrels | None = None,
    relative: ir_measures.Measure | str = "NRG@10",
    absolute: ir_measures.Measure | str = "nDCG@10",
    ax: Axes | None = None,
) -> Axes:
    """How good each system was when it came, and what it added to those before it (Fig. 1a of the NRG paper).

    Where one of the two measures is more than four times as large as the other, each has a y-axis of its own.

    Args:
        systems: a context, whose systems are taken in their order, each with those before it as its priors,
            whatever the context's ``priors`` says; or a table that was made with ``priors="earlier"``, as for
            :func:`relative_against_absolute`, with its rows in order.
        qrels: the judgments, for a context.
        relative: the measure of what was added.
        absolute: the measure of how good it was.
        ax: where to draw.

    Returns:
        the axes, on which the absolute measure is drawn.

    Raises:
        ValueError: a column that is not there, or a context without qrels.
        ImportError: matplotlib is missing.
    """
    if isinstance(systems, RunContext):
        if qrels is None:
            raise ValueError("chronological(context, qrels, …) needs the qrels to score the systems of the context")
        earlier = RunContext(
            systems.runs, priors="earlier", reference=systems.reference, num_docs=systems.num_docs
        )
        systems = earlier.evaluate(qrels, [absolute, relative])
    names, first, second = _columns(systems, absolute, relative)
    ax = _axes(ax)
    largest = [float(np.nanmax(np.abs(v), initial=0.0)) for v in (first, second)]
    apart = min(largest) > 0 and max(largest) > 4 * min(largest)
    other = ax.twinx() if apart else ax
    at = np.arange(len(names))
    # Hollow and full, large and small: two points in one place both show.
    lines = ax.plot(
        at, first, "o-", color=_COLOURS[0], linewidth=1.8, markersize=9, markerfacecolor="white",
        markeredgewidth=1.8, label=f"{absolute} (absolute)",
    )  # fmt: skip
    lines += other.plot(
        at, second, "s--", color=_COLOURS[1], linewidth=1.8, markersize=5, label=f"{relative} (relative)"
    )
    if apart:
        for axes, values, measure, colour in ((ax, first, absolute, 0), (other, second, relative, 1)):
            _room_for_legend(axes, values)
            axes.set_ylabel(_wrapped(str(measure)), color=_COLOURS[colour])
            axes.tick_params(axis="y", colors=_COLOURS[colour])
    else:
        _room_for_legend(ax, np.append(first, second))
        ax.set_ylabel("effectiveness")
    labels = _short(names)
    slanted = sum(map(len, labels)) > 60
    ax.set_xticks(at, labels, fontsize=max(4.5, min(9.0, 300.0 / max(len(names), 1))))
    if slanted:
        steep = len(names) > 25
        ax.tick_params(axis="x", labelrotation=90 if steep else 40)
        for tick in ax.get_xticklabels():
            tick.set(ha="right", va="center" if steep else "top", rotation_mode="anchor")
    ax.set_xlim(-0.5, max(len(names), 1) - 0.5)
    ax.grid(axis="y", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.set_xlabel("system, in the order given")
    ax.set_title("What each system added to those before it")
    other.legend(handles=lines, loc="upper center", ncols=2, frameon=False)
    return ax


def similarity(
    context: RunContext,
    qrels: Qrels,
    measure: ir_measures.Measure | str = "MED@10",
    signed: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Which systems are alike: a heat map of how far apart each two of them are.

    The distance of two systems is the mean over queries of the measure's absolute value, so differences on one
    query do not cancel those on another. Hierarchical clustering (average linkage, with the leaves in optimal
    order) puts systems that are alike side by side.

    Args:
        context: the systems.
        qrels: the judgments.
        measure: a measure with a reference run: MED, rrLP, sgnLP, sgnLR or RPP.
        signed: show the mean with its sign (above 0: the system of the row beats that of the column) instead of
            the distance; the order stays. For rrLP and its siblings.
        ax: where to draw.

    Returns:
        the axes, which hold the heat map; the colour bar has axes of its own.

    Raises:
        ValueError: a measure without a reference run, or a context without runs.
        ImportError: matplotlib is missing.
    """
    parsed = parse_measures([measure])[0]
    if not is_relative(parsed) or "ref" not in parsed.SUPPORTED_PARAMS:
        known = sorted(
            name
            for name, m in ir_measures.measures.registry.items()
            if is_relative(m) and "ref" in m.SUPPORTED_PARAMS
        )
        raise ValueError(f"{parsed} does not compare two systems; give one of {', '.join(known)}")
    if parsed.get("ref") is not None:
        raise ValueError(f"{parsed} compares with {parsed.get('ref')!r} alone; leave ref= out")
    if signed and not parsed.SIGNED:
        raise ValueError(f"{parsed} does not say which of two systems is better; leave signed=True out")
    if not context.names:
        raise ValueError("the context holds no run to compare")
    _check_matplotlib()
    distance, mean = pairwise(context, qrels, parsed, signed=signed)
    order = cluster(distance)
    shown = (mean if signed else distance)[np.ix_(order, order)]
    names = _short([context.names[i] for i in order])
    n = len(names)
    side = min(3.5 + 0.42 * n, 16.0)
    ax = _axes(ax, width=side + 1.0, height=side)
    # A system is at no distance from itself; leaving that out keeps the colours for the differences.
    apart = ~np.eye(n, dtype=bool)
    if signed:
        limit = float(np.abs(shown).max()) or 1.0
        colours, bounds = "PuOr", (-limit, limit)
        title, label = "Which system beats which", f"mean {parsed}; above 0: row beats column"
    else:
        colours, bounds = "viridis", (shown[apart].min(initial=1.0), shown[apart].max(initial=0.0))
        title, label = "How far apart the systems are", f"mean |{parsed}|" if (mean < 0).any() else f"mean {parsed}"
        bounds = bounds if bounds[0] < bounds[1] else (0.0, bounds[1] or 1.0)
    image = ax.imshow(np.ma.masked_where(~apart, shown), cmap=colours, vmin=bounds[0], vmax=bounds[1])
    ax.set_facecolor("0.93")
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label=_wrapped(label))
    size = max(4.5, min(9.0, 200.0 / n))
    ax.set_xticks(range(n), names, rotation=90, fontsize=size)
    ax.set_yticks(range(n), names, fontsize=size)
    ax.tick_params(length=0)
    if n <= _MOST_CELLS:
        _write_cells(ax, image, np.where(apart, shown, np.nan), size - 1.5)
    ax.set_title(f"{title}, by {parsed}; alike ones side by side", wrap=True)
    return ax


def pairwise(
    context: RunContext, qrels: Qrels, measure: Any, signed: bool = False
) -> tuple[FloatArray, FloatArray]:
    """The mean absolute value, and the mean, over queries of a measure for every two systems.

    Args:
        context: the systems.
        qrels: the judgments.
        measure: a measure with a reference run, which the columns are.
        signed: compute both directions; else the second is taken for the mirror of the first, up to its sign.

    Returns:
        two arrays of shape (systems, systems). Unless ``signed``, the second has values above its diagonal alone.
    """
    from tqdm import tqdm

    judged, names = context.judged(qrels), context.names
    n = len(names)
    distance, mean = np.zeros((2, n, n))
    compared = [Comparison(judged, context.runs[name], name) for name in names]
    pairs = list(itertools.permutations(range(n), 2) if signed else itertools.combinations(range(n), 2))
    with_reference = [measure(ref=name) for name in names]
    for i, j in tqdm(pairs, desc="comparing runs", unit="pair", disable=None, leave=False):
        values = with_reference[j].score(compared[i])
        distance[i, j], mean[i, j] = np.abs(values).mean(), values.mean()
    return np.maximum(distance, distance.T), mean


def cluster(distance: FloatArray) -> list[int]:
    """The order of the leaves of a hierarchical clustering: average linkage, neighbours as alike as can be."""
    if len(distance) < 3:
        return list(range(len(distance)))
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    condensed = squareform(distance, checks=False)
    return [int(i) for i in leaves_list(linkage(condensed, method="average", optimal_ordering=True))]


# ---- parts of the pictures -------------------------------------------------------------------------------


def _check_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError("the pictures need matplotlib: pip install 'ir-measures-relative[plot]'") from None


def _axes(ax: Axes | None, width: float = 9.0, height: float = 6.5) -> Axes:
    _check_matplotlib()
    if ax is not None:
        return ax
    import matplotlib.pyplot

    return matplotlib.pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def _columns(table: Any, *measures: ir_measures.Measure | str) -> tuple[list[str], FloatArray, FloatArray]:
    """The names, and the values of the two measures."""
    for column in ("name", *map(str, measures)):
        if column not in table.columns:
            raise ValueError(
                f"the table has no column {column!r}; its columns are {[str(c) for c in table.columns]}: give a "
                "table of one row a system, with its name and its measures"
            )
    x, y = (table[str(m)].to_numpy(dtype=np.float64, na_value=np.nan) for m in measures)
    return [str(n) for n in table["name"]], x, y


def _by_group(
    names: Sequence[str], groups: Mapping[str, str] | None
) -> dict[str, tuple[list[int], str, str]]:
    """The rows of each group, with its colour and marker; one group if there are none."""
    if not groups:
        return {"": (list(range(len(names))), _COLOURS[0], _MARKERS[0])}
    known = sorted({groups[n] for n in names if n in groups})
    result = {}
    for i, group in enumerate(known):
        rows = [row for row, n in enumerate(names) if groups.get(n) == group]
        # Every seven groups the markers move on by one, so that 49 groups look different.
        marker = _MARKERS[(i + i // len(_COLOURS)) % len(_MARKERS)]
        result[group] = (rows, _COLOURS[i % len(_COLOURS)], marker)
    rest = [row for row, n in enumerate(names) if n not in groups]
    return result | ({_NO_GROUP: (rest, "#808080", "o")} if rest else {})


def _legend_label(group: str) -> str:
    # matplotlib leaves a label that starts with "_" out of the legend; behind a space of no width it does not.
    return _plain(f"\u200b{group}" if group.startswith("_") else group)


def _add_legend(ax: Axes, title: str, entries: int) -> None:
    """Beside the axes where the figure makes room for it, else inside."""
    if ax.figure.get_layout_engine() is not None:
        columns = 1 + (entries - 1) // 25
        place = {"bbox_to_anchor": (1.01, 1.0), "loc": "upper left", "borderaxespad": 0.0}
        ax.legend(title=title, ncols=columns, fontsize=8, **place)
    else:
        ax.legend(title=title, loc="best", fontsize=7, framealpha=0.9)


def _room_for_legend(ax: Axes, values: FloatArray) -> None:
    """Scales the y-axis to the values and 0, with room above them."""
    low, high = float(np.nanmin(values, initial=0.0)), float(np.nanmax(values, initial=0.0))
    span = (high - low) or 1.0
    ax.set_ylim(low - 0.05 * span if low < 0 else 0.0, high + 0.18 * span)
    if low < 0:
        ax.axhline(0.0, color="0.7", linewidth=0.8, zorder=1)


def _add_labels(ax: Axes, labels: Sequence[str], x: FloatArray, y: FloatArray, colours: Sequence[str]) -> None:
    """Labels that find their places whenever the figure is drawn, so that these fit its size and resolution."""
    from matplotlib.artist import Artist
    from matplotlib.collections import LineCollection
    from matplotlib.text import Text
    from matplotlib.transforms import IdentityTransform

    size = 8.5 if len(labels) <= 25 else 7.5 if len(labels) <= 40 else 6.0
    style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size, "zorder": 4}
    texts = [
        ax.annotate(label, (a, b), xytext=(0, 0), textcoords="offset points", color=_dark(colour), **style)
        for label, a, b, colour in zip(labels, x, y, colours, strict=True)
    ]
    lines = LineCollection([], colors=list(colours), linewidths=0.6, alpha=0.6, zorder=2, transform=IdentityTransform())
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
            centres, leaders = place_labels(*situation, radius=_MARKER_SIZE / 2 * pixel)
            for text, offset in zip(texts, (centres - points) / pixel, strict=True):
                text.set_position(offset)
            lines.set_segments(list(leaders))

    for text in texts:
        text.set_in_layout(False)
    placer = Placer()
    placer.set_zorder(0.5)
    placer.set_in_layout(False)
    ax.add_artist(placer)


def _write_cells(ax: Axes, image: Any, values: FloatArray, size: float) -> None:
    for (row, column), value in np.ndenumerate(values):
        if np.isnan(value):
            continue
        red, green, blue = image.cmap(image.norm(value))[:3]
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        text = f"{round(value, 2) + 0.0:.2f}".replace("0.", ".") if abs(value) < 1 else f"{value:.2f}"
        ax.text(column, row, text, ha="center", va="center", size=size, color="white" if dark else "black")


def _short(names: Sequence[str]) -> list[str]:
    """The names with the middle of long ones left out, where they stay different."""
    half = (_LONGEST_NAME - 1) // 2
    short = [n if len(n) <= _LONGEST_NAME else f"{n[:half]}…{n[-half:]}" for n in names]
    count = Counter(short)
    return [_plain(s if count[s] == 1 else n) for s, n in zip(short, names, strict=True)]


def _plain(name: str) -> str:
    """The name as text: matplotlib reads what stands between dollars as mathematics."""
    return name.replace("$", r"\$")


def _dark(colour: str) -> tuple[float, ...]:
    """A shade of the colour that is legible as text."""
    from matplotlib.colors import to_rgb

    return tuple(0.6 * part for part in to_rgb(colour))


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 60)
