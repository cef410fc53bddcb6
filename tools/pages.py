"""Parts of pages that a script writes, between ``<!-- NAME -->`` and ``<!-- end of NAME -->``.

``python -m tools.pages`` writes the table of file formats into ``docs/formats.md``; a test compares the two.
"""

from __future__ import annotations

import re
from pathlib import Path

PAGE, PLACE = Path(__file__).resolve().parents[1] / "docs" / "formats.md", "formats"


def filled(page: Path, name: str) -> str:
    """Return the text of a part of a page."""
    return _find(page, name)[1]


def fill(page: Path, name: str, text: str) -> None:
    """Put the text into a part of a page."""
    found = _find(page, name)
    whole = found.string
    page.write_text(f"{whole[: found.start(1)]}{text}{whole[found.end(1) :]}", encoding="utf-8")


def _find(page: Path, name: str) -> re.Match[str]:
    place = re.compile(rf"<!-- {name} -->(.*?)<!-- end of {name} -->", re.DOTALL)
    found = list(place.finditer(page.read_text(encoding="utf-8")))
    if len(found) != 1:
        raise SystemExit(f"{page} has {len(found)} places for {name}; it must have one")
    return found[0]


def block() -> str:
    """Return the table of the formats, from their registry."""
    from ir_measures_relative.formats.foreign_files import formats

    rows = ["| file | read as | notes |", "|---|---|---|"]
    for form in formats():
        kinds = [kind for kind in ("runs", "judgments") if getattr(form, kind) is not None]
        read_as = ", ".join(kinds).replace("runs", "run") or "rejected"
        note = form.note or (f"{form.instead[:1].upper()}{form.instead[1:]}." if form.instead else "")
        rows.append(f"| {form.name} | {read_as} | {note} |")
    return "\n" + "\n".join(rows) + "\n"


if __name__ == "__main__":
    fill(PAGE, PLACE, block())
