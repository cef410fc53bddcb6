"""MS MARCO's runs: query, document and rank a line, between tabs; and lists of nuggets, which look alike."""

from __future__ import annotations

import re

from ..io.readers import Given
from .content import Content, Format, Parts, by_rank

_RANKED = re.compile(rb"[^\t]+\t[^\t]+\t[0-9]+\s*")
_NUGGET = re.compile(rb"[^\t]+_[0-9]+\t[^\t]+\t(vital|okay)\s*")


def _read(content: Content) -> Parts:
    lines = content.text.split("\n")
    rows: list[tuple[str, str, str]] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != 3 or not all(cells):
            raise ValueError(
                f"{content.source}, line {number}: {len(cells)} columns where an MS MARCO run has three between tabs "
                "(query, document, rank)"
            )
        rows.append((cells[0], cells[1], cells[2]))
    return {"": Given(by_rank(*map(list, zip(*rows, strict=True))))}


FORMATS = (
    Format(
        name="an MS MARCO run",
        told_by="three columns between tabs, a whole number in the third",
        holds=lambda content: _RANKED.fullmatch(content.line) is not None,
        runs=_read,
        note="In the order of the ranks.",
    ),
    Format(
        name="a list of nuggets (AutoNuggetizer)",
        told_by="three columns between tabs, 'vital' or 'okay' in the third",
        holds=lambda content: _NUGGET.fullmatch(content.line) is not None,
        instead="give judgments by query and document",
    ),
)
