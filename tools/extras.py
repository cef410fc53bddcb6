"""The table of the extras, from ``pyproject.toml``. Written into ``docs/install.md``.

python -m tools.extras            # prints it
python -m tools.extras --write    # writes it into the page; a test compares the two
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import tomllib

from .pages import fill

ROOT = Path(__file__).resolve().parents[1]
PAGE, PLACE = ROOT / "docs" / "install.md", "extras"


def block() -> str:
    """What stands in the page."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    adds: dict[str, str] = settings["tool"]["ir-measures-relative"]["extras"]
    extras: dict[str, list[str]] = settings["project"]["optional-dependencies"]
    rows = ["| extra | what it adds | what it installs |", "|---|---|---|"]
    rows += [
        f"| `{name}` | {adds[name]} | {_installs(extras[name])} |" for name in sorted(extras, key=_all_first)
    ]
    return "\n" + "\n".join(rows) + "\n"


def _all_first(name: str) -> bool:
    return name != "all"


def _installs(requirements: list[str]) -> str:
    """The packages by name; of this package's own extras, their names."""
    found = []
    for requirement in requirements:
        name, extras = re.match(r"([\w-]+)(?:\[([\w,]+)\])?", requirement).groups()  # type: ignore[union-attr]
        if name == "ir-measures-relative":
            found += [f"`{extra}`" for extra in extras.split(",")]
        else:
            found.append(name)
    return ", ".join(found)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        fill(PAGE, PLACE, block())
    else:
        print(block())
