"""What a section of the report is: its words, and the pictures and tables in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class Table(NamedTuple):
    """Numbers as a table, which can be sorted."""

    caption: str
    #: The title of each column, and its kind: ``run`` (its place), ``value``, ``count`` (a whole number), or ``word``.
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Any]]


class Picture(NamedTuple):
    """A picture: how it is drawn, of which rows, and the same numbers as a table.

    The page adds to each row what a specification needs: of a field of the kind ``run`` its name (``run_name``) and its
    place among the ``names`` (``run_place``); of a ``value`` how it is written (``value_shown``).
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
    #: A template of Jinja2, which can call ``run_link(run)``, ``number(x)``, ``picture(name, label)`` and
    #: ``table(name, label)``, the pieces of ``templates/pieces.html``.
    words: str
    facts: dict[str, Any] = {}  #: the variables of the words
    pictures: dict[str, Picture] = {}
    tables: dict[str, Table] = {}
    #: The specifications of pictures that a script of the page gives their data.
    specs: dict[str, dict[str, Any]] = {}
