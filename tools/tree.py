"""The tree of the package with a line a file: its first docstring line. Written into ``docs/design.md``.

python -m tools.tree            # prints it
python -m tools.tree --write    # writes it into the page; a test compares the two
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from .pages import fill

ROOT = Path(__file__).resolve().parents[1]
PAGE, PLACE = ROOT / "docs" / "design.md", "tree"


def tree() -> str:
    """The files of each folder under the line of its package, as text."""
    lines, source = [], ROOT / "src"
    for folder in sorted(path.parent for path in source.rglob("__init__.py")):
        depth = len(folder.relative_to(source).parts) - 1
        files = sorted(path for path in folder.glob("*.py") if path.name != "__init__.py")
        lines.append((depth, f"{folder.name}/", _says(folder / "__init__.py")))
        lines += [(depth + 1, path.name, _says(path)) for path in files]
    lines += [(0, path.name, _says(path)) for path in sorted(source.glob("*.py"))]
    width = max(2 * depth + len(name) for depth, name, _ in lines) + 2
    return "\n".join(f"{'  ' * depth + name:{width}}{says}" for depth, name, says in lines)


def block() -> str:
    """What stands in the page."""
    return f"\n```text\n{tree()}\n```\n"


def _says(path: Path) -> str:
    """The first line of a module's docstring."""
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        fill(PAGE, PLACE, block())
    else:
        print(tree())
