"""The section on what numbers are relative to: the fingerprint, the measures in words, and their papers."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import ir_measures

from ...context.measure_strings import is_relative
from ...measures.measure import citations
from ...writing import to_json
from ..contents import Contents
from . import Section, include

# Sections of a docstring that are left out: the page has values of its own.
_LEFT_OUT = re.compile(r"^(Example|Args|Returns|Raises)\b.*:$")
_ROLE = re.compile(r":\w+(?::\w+)?:`~?([^`<]*?\.)?([^`.<]+)(?:\s*<[^`]*>)?`")
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,2})(?=[^\s*])([^*]+?)(?<=[^\s*])\1(?![\w*])")
_DBLP = re.compile(r"\.\. cite\.dblp:: (\S+)")


def relative_to(contents: Contents) -> Section:
    """Return the fingerprint of the runs and judgments, and what the measures are."""
    facts = {
        "mark": contents.fingerprint,
        "mark_as_json": to_json(contents.fingerprint, indent=1),
        "command": contents.command,
        "formulas": [describe_measure(m) for m in contents.measures],
        "bibtex": "\n\n".join(citations(contents.measures)),
    }
    return Section("relative-to", "How to check", "How to check the numbers", include("relative-to"), facts)


#: Whether a paragraph is an item of a list; and its parts: whether each is code, and the text.
Paragraph = tuple[bool, list[tuple[bool, str]]]


def describe_measure(measure: ir_measures.Measure) -> dict[str, Any]:
    """Return a measure in the words of its docstring."""
    title = str(getattr(measure, "PRETTY_NAME", None) or measure.NAME)
    short = str(getattr(measure, "SHORT_DESC", None) or "") if is_relative(measure) else ""
    doc = inspect.getdoc(measure if not is_relative(measure) else type(measure)) or ""
    return {"measure": str(measure), "title": title, "short": short, "paragraphs": [*_paragraphs(doc)]}


def _paragraphs(doc: str) -> Iterator[Paragraph]:
    doc = _DBLP.sub(r"Cited in dblp as ``\1``.", doc)
    left_out = False
    for block in re.split(r"\n\s*\n", doc):
        first = block.strip().split("\n", 1)[0]
        if not block.startswith(" "):
            left_out = bool(_LEFT_OUT.match(first))
        if left_out or not first or first.startswith((">>>", "..")):
            continue
        for item in re.split(r"\n(?=\s*- )", block):
            text = " ".join(item.split())
            yield text.startswith("- "), _split_code(text.removeprefix("- "))


def _split_code(text: str) -> list[tuple[bool, str]]:
    """Split a paragraph into text and code."""
    pieces = re.split(r"``(.+?)``", _ROLE.sub(r"``\2``", text))
    pieces[::2] = [_EMPHASIS.sub(r"\2", piece) for piece in pieces[::2]]
    return [(i % 2 == 1, piece) for i, piece in enumerate(pieces) if piece]
