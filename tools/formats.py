"""The table of the formats of files, from the registry that reads them. Written into ``docs/formats.md``.

python -m tools.formats            # prints it
python -m tools.formats --write    # writes it into the page; a test compares the two
"""

from __future__ import annotations

import sys
from pathlib import Path

from ir_measures_relative.io.content import Format
from ir_measures_relative.io.formats.foreign_files import formats

from .pages import fill

PAGE, PLACE = Path(__file__).resolve().parents[1] / "docs" / "formats.md", "formats"


def block() -> str:
    """What stands in the page."""
    rows = ["| file | read as | told by | good to know |", "|---|---|---|---|"]
    rows += [
        f"| {f.name} | {_read_as(f)} | {f.told_by} | {f.note or _sentence(f.instead)} |" for f in formats()
    ]
    return "\n" + "\n".join(rows) + "\n"


def _read_as(form: Format) -> str:
    kinds = [kind for kind, read in (("run", form.runs), ("judgments", form.judgments)) if read is not None]
    return ", ".join(kinds) or "refused"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        fill(PAGE, PLACE, block())
    else:
        print(block())
