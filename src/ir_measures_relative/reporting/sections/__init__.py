"""The parts of a section of the report, and what the specifications of its pictures share.

A new section is a function of the :class:`~..contents.Contents` in a file here, and its place in ``SECTIONS`` of
:mod:`..page`. Where there is nothing to show, it returns a sentence that says why, which the page has at its end.

Pictures are specifications of Vega-Lite, whose data the page fills in: the same to the byte for the same input, and SVG
that takes its colours from the style sheet. vl-convert embeds Vega without a network. Runs are numbers in the fields:
no name from outside is ever part of an expression.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

#: A part of a specification.
Spec = dict[str, Any]

#: As many colours as the style sheet has for groups; of more groups, the shapes distinguish those of one colour.
COLOURS = 7

# The height of a run in a picture with a row a run.
_ROW = 17


class Table(NamedTuple):
    """Numbers as a table, which can be sorted."""

    caption: str
    #: The title of each column, and its kind: ``run`` (its position), ``runs`` (positions), ``value``, ``p``, ``count``
    #: (a whole number), or ``word``.
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Any]]


class Picture(NamedTuple):
    """A picture: its specification, its rows, and the same numbers as a table.

    The page adds to each row the name of a ``run`` (``run_name``), its place among the ``names`` (``run_place``), and
    how a ``value`` is written (``value_shown``).
    """

    spec: dict[str, Any]  #: Vega-Lite's, without data
    fields: dict[str, str]  #: the fields of a row, and their kinds, as in a table
    rows: Sequence[Sequence[Any]]
    table: Table
    names: Sequence[int] = ()  #: the runs along an axis, in their order
    #: Where a row is about two runs, ``run`` and ``other``, and stands for its mirror image too, in which they change
    #: places: the field whose negative a number becomes, or what a word becomes. Other fields stay.
    mirrored: dict[str, str | dict[str, str]] | None = None


class Section(NamedTuple):
    """A part of the page."""

    anchor: str  #: by which addresses know it
    link: str  #: its name in the list of sections
    title: str
    words: str  #: a template of Jinja2, which can call the macros of ``templates/pieces.html``
    facts: dict[str, Any] = {}  #: the variables of the words
    pictures: dict[str, Picture] = {}
    tables: dict[str, Table] = {}
    #: More data for the scripts of the page, by name.
    data: dict[str, dict[str, Any]] = {}
    headline: str = ""  #: a template of a sentence or two at the top of the page


def include(name: str) -> str:
    """Return words that are a file of ``templates``."""
    return f'{{% include "{name}.html" %}}'


def quantity(field: str, **more: Any) -> Spec:
    """Return the encoding of numbers."""
    return {"field": field, "type": "quantitative"} | more


def tooltip(**titles: str) -> list[Spec]:
    """Return the encoding of a tooltip: fields and their titles."""
    return [{"field": field, "title": title, "type": "nominal"} for field, title in titles.items()]


def point(size: int) -> Spec:
    """Return the mark of one run."""
    look = {"color": "var(--accent)", "opacity": 1, "cursor": "pointer"}
    return {"type": "point", "filled": True, "size": size} | look


def run_axis(field: str, **more: Any) -> Spec:
    """Return the encoding of runs along an axis, which the page names."""
    axis = {"labelExpr": "names[datum.value]", "title": None, "ticks": False, "domain": False}
    return {"field": field, "type": "ordinal", "axis": axis | more}


def run_rows(rows: int, layers: list[Spec], **shared: Any) -> Spec:
    """Return a picture of runs one below the other: marks with their encodings, and what all of them encode."""
    return {
        "width": "container",
        "height": _ROW * rows,
        "params": [{"name": "names", "value": []}],
        "encoding": {"y": run_axis("run_place", labelLimit=130)} | shared,
        "layer": layers,
    }


def interval_rows(rows: int, axis: str, **titles: str) -> Spec:
    """Return a picture of runs, each a line from ``worst`` to ``best`` with ``value`` as a point.

    ``axis`` is the title of the axis; ``titles`` are those of the fields in the tooltip.
    """
    bar = {"type": "rule", "color": "var(--accent)", "opacity": 0.5, "strokeWidth": 4, "cursor": "pointer"}
    worst = quantity("worst", title=axis, scale={"zero": False})
    layers: list[Spec] = [{"mark": bar, "encoding": {"x": worst, "x2": {"field": "best"}}}]
    layers.append({"mark": point(45), "encoding": {"x": quantity("value", title=axis)}})
    return run_rows(rows, layers, tooltip=tooltip(**titles))


def pair_squares(colour: Spec, mark: Spec, **titles: str) -> Spec:
    """Return a map of all pairs of runs from the encoding of colours, more settings of the mark, and tooltip titles."""
    return {
        "width": {"step": 16},
        "height": {"step": 16},
        "params": [{"name": "names", "value": []}],
        "mark": {"type": "rect", "cursor": "pointer"} | mark,
        "encoding": {
            "x": run_axis("other_place", labelOverlap=False, labelAngle=-90),
            "y": run_axis("run_place", labelOverlap=False),
            "color": colour,
            "tooltip": tooltip(**titles),
        },
    }
