"""The measures in words: their docstrings, as paragraphs of text and code."""

from __future__ import annotations

import inspect
import re
from typing import NamedTuple

import ir_measures

from ..measures.strings import is_relative

# Sections of a docstring that are left out: the page has values of its own.
_LEFT_OUT = re.compile(r"^(Example|Args|Returns|Raises)\b.*:$")
_ROLE = re.compile(r":\w+(?::\w+)?:`~?([^`<]*?\.)?([^`.<]+)(?:\s*<[^`]*>)?`")
_DBLP = re.compile(r"\.\. cite\.dblp:: (\S+)")


class Paragraph(NamedTuple):
    """One paragraph, or one item of a list."""

    item: bool
    parts: list[tuple[bool, str]]  #: (whether it is code, text)


class Formula(NamedTuple):
    """What is said of one measure."""

    measure: str
    title: str
    short: str
    paragraphs: list[Paragraph]


def formula(measure: ir_measures.Measure) -> Formula:
    """The measure as its declaration has it."""
    title = str(getattr(measure, "PRETTY_NAME", None) or measure.NAME)
    short = str(getattr(measure, "SHORT_DESC", None) or "") if is_relative(measure) else ""
    doc = inspect.getdoc(measure if not is_relative(measure) else type(measure)) or ""
    return Formula(str(measure), title, short, list(_paragraphs(doc)))


def _paragraphs(doc: str) -> list[Paragraph]:
    doc = _DBLP.sub(r"Cited in dblp as ``\1``.", doc)
    found: list[Paragraph] = []
    left_out = False
    for block in re.split(r"\n\s*\n", doc):
        first = block.strip().split("\n", 1)[0]
        if not block.startswith(" "):
            left_out = bool(_LEFT_OUT.match(first))
        if left_out or not first or first.startswith((">>>", "..")):
            continue
        items = re.split(r"\n(?=\s*- )", block)
        for item in items:
            text = " ".join(item.split())
            found.append(Paragraph(text.startswith("- "), _parts(text.removeprefix("- "))))
    return found


def _parts(text: str) -> list[tuple[bool, str]]:
    """Text and code, in turn."""
    text = _ROLE.sub(r"``\2``", text)
    pieces = re.split(r"``(.+?)``", text)
    return [(i % 2 == 1, piece) for i, piece in enumerate(pieces) if piece]
