"""Pages of which a part is written by a script, between ``<!-- NAME -->`` and ``<!-- end of NAME -->``."""

from __future__ import annotations

import re
from pathlib import Path


def filled(page: Path, name: str) -> str:
    """What stands in the part of a page."""
    return _find(page, name)[1]


def fill(page: Path, name: str, text: str) -> None:
    """Puts the text into the part of a page."""
    found = _find(page, name)
    whole = found.string
    page.write_text(f"{whole[: found.start(1)]}{text}{whole[found.end(1) :]}", encoding="utf-8")


def _find(page: Path, name: str) -> re.Match[str]:
    place = re.compile(rf"<!-- {name} -->(.*?)<!-- end of {name} -->", re.DOTALL)
    found = list(place.finditer(page.read_text(encoding="utf-8")))
    if len(found) != 1:
        raise SystemExit(f"{page} has {len(found)} places for {name}; it must have one")
    return found[0]
