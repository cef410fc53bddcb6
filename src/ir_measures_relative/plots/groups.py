"""The colours and markers of groups of systems, and the legend that names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .text import legend_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Okabe and Ito's colours, which the colour-blind tell apart, without their yellow, which is faint on white
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

#: Of the groups, or lines, in turn
MARKERS = "os^DvPX"
_NO_GROUP = "no group"


class Group(NamedTuple):
    """Systems that look alike."""

    label: str
    rows: list[int]  #: which of the systems
    colour: str
    marker: str


def groups_of(names: Sequence[str], groups: Mapping[str, str] | None) -> list[Group]:
    """The groups in alphabetical order, then the systems that are in none; one if there are no groups at all."""
    if not groups:
        return [Group("", list(range(len(names))), COLOURS[0], MARKERS[0])]
    of_system = [str(groups[n]) if n in groups else None for n in names]
    result = []
    for i, group in enumerate(sorted({g for g in of_system if g is not None})):
        rows = [row for row, g in enumerate(of_system) if g == group]
        # Every seven groups the markers move on by one, so that 49 groups look different.
        marker = MARKERS[(i + i // len(COLOURS)) % len(MARKERS)]
        result.append(Group(legend_label(group, 36), rows, COLOURS[i % len(COLOURS)], marker))
    rest = [row for row, g in enumerate(of_system) if g is None]
    return [*result, Group(_NO_GROUP, rest, "#808080", "o")] if rest else result


def add_legend(ax: Axes, entries: int) -> None:
    """A legend of the groups: beside the axes where the figure makes room for it, else inside."""
    if ax.figure.get_layout_engine() is not None:
        columns = 1 + (entries - 1) // 25
        place = {"bbox_to_anchor": (1.01, 1.0), "loc": "upper left", "borderaxespad": 0.0}
        ax.legend(title="group", ncols=columns, fontsize=8, **place)
    else:
        ax.legend(title="group", loc="best", fontsize=7, framealpha=0.9)
