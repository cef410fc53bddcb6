"""What a section of the report is, and what the pictures of sections share.

A new section is a file here with a function ``section``, and its place in :data:`SECTIONS`. Where there is
nothing to show, ``section`` returns a sentence that says why. The page lists these sentences at its end.

Pictures are specifications of Vega-Lite, whose data the page fills in: the same to the byte for the same input, and SVG
that takes its colours from the style sheet. vl-convert embeds Vega without a network. Runs are numbers in the fields:
no name from outside is ever part of an expression.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from tqdm import tqdm

if TYPE_CHECKING:
    from ..contents import ReportedCampaign

#: The sections in the order of the page, each the name of a file.
SECTIONS = (
    "scatter",
    "runs",
    "similarity",
    "complementary",
    "aspects",
    "fusion",
    "shapley",
    "compare",
    "unjudged",
    "relative_to",
)

#: A part of a specification.
Spec = dict[str, Any]

#: As many colours as the style sheet has for groups; of more groups, the shapes tell those of one colour apart.
COLOURS = 7

# The height of a run in a picture with a row a run.
_ROW = 17


class Table(NamedTuple):
    """Numbers as a table, which can be sorted."""

    caption: str
    #: The title of each column, and its kind: ``run`` (its place), ``runs`` (places), ``value``, ``p``, ``count`` (a
    #: whole number), or ``word``.
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Any]]


class Picture(NamedTuple):
    """A picture: how it is drawn, of which rows, and the same numbers as a table.

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
    link: str  #: what the list of sections calls it
    title: str
    words: str  #: a template of Jinja2, which can call the pieces of ``templates/pieces.html``
    facts: dict[str, Any] = {}  #: the variables of the words
    pictures: dict[str, Picture] = {}
    tables: dict[str, Table] = {}
    #: What a script of the page draws from, by name.
    data: dict[str, dict[str, Any]] = {}
    #: What the section says at the top of the page: a template as well, of a sentence or two.
    headline: str = ""


def sections_of(campaign: ReportedCampaign) -> tuple[list[Section], list[str]]:
    """Return the sections of a campaign, and the reasons for those that are left out."""
    names = tqdm(SECTIONS, desc="report", unit="section", disable=None, leave=False)
    parts = [import_module(f".{name}", __name__).section(campaign) for name in names]
    return [part for part in parts if isinstance(part, Section)], [
        part for part in parts if isinstance(part, str)
    ]


def quantity(field: str, **more: Any) -> Spec:
    """A field of numbers."""
    return {"field": field, "type": "quantitative"} | more


def said(**titles: str) -> list[Spec]:
    """What hovering says: fields and their titles."""
    return [{"field": field, "title": title, "type": "nominal"} for field, title in titles.items()]


def point(size: int) -> Spec:
    """The mark of one run."""
    look = {"color": "var(--accent)", "opacity": 1, "cursor": "pointer"}
    return {"type": "point", "filled": True, "size": size} | look


def axis_of_runs(field: str, **more: Any) -> Spec:
    """An axis of runs, which the page names."""
    axis = {"labelExpr": "names[datum.value]", "title": None, "ticks": False, "domain": False}
    return {"field": field, "type": "ordinal", "axis": axis | more}


def row_a_run(rows: int, layers: list[Spec], **shared: Any) -> Spec:
    """Runs one below the other, over an axis of numbers: marks with their encodings, and what all encode."""
    return {
        "width": "container",
        "height": _ROW * rows,
        "params": [{"name": "names", "value": []}],
        "encoding": {"y": axis_of_runs("run_place", labelLimit=130)} | shared,
        "layer": layers,
    }


def intervals(rows: int, axis: str, **titles: str) -> Spec:
    """A row a run: from ``worst`` to ``best``, and ``value`` as a point; the title of the axis; what hovering says."""
    bar = {"type": "rule", "color": "var(--accent)", "opacity": 0.5, "strokeWidth": 4, "cursor": "pointer"}
    worst = quantity("worst", title=axis, scale={"zero": False})
    layers: list[Spec] = [{"mark": bar, "encoding": {"x": worst, "x2": {"field": "best"}}}]
    layers.append({"mark": point(45), "encoding": {"x": quantity("value", title=axis)}})
    return row_a_run(rows, layers, tooltip=said(**titles))


def square(colour: Spec, mark: Spec, **titles: str) -> Spec:
    """A map of every two runs: the encoding of their colours, more of the mark, and what hovering says."""
    return {
        "width": {"step": 16},
        "height": {"step": 16},
        "params": [{"name": "names", "value": []}],
        "mark": {"type": "rect", "cursor": "pointer"} | mark,
        "encoding": {
            "x": axis_of_runs("other_place", labelOverlap=False, labelAngle=-90),
            "y": axis_of_runs("run_place", labelOverlap=False),
            "color": colour,
            "tooltip": said(**titles),
        },
    }
