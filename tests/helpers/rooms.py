"""Which modules of the package are its core, and which are wings around it: the one list of them."""

import ast
from collections.abc import Iterator
from pathlib import Path

import ir_measures_relative

PACKAGE = ir_measures_relative.__name__
ROOT = Path(ir_measures_relative.__file__).parent

#: The rooms of the core, and the modules that it stands on.
CORE = ("data", "context", "measures", "io", "hosts")
GROUND = ("messages", "tolerances", "arguments", "axes", "work", "writing", "processes", "later")


def modules() -> dict[str, Path]:
    """The file of every module, by its name within the package; that of the package itself is empty."""
    files = (file.relative_to(ROOT) for file in sorted(ROOT.rglob("*.py")))
    return {
        ".".join(file.with_suffix("").parts).removesuffix("__init__").rstrip("."): ROOT / file
        for file in files
    }


def is_core(module: str) -> bool:
    """Whether a module is one of the core."""
    return module.split(".")[0] in (*CORE, *GROUND)


def imported(module: str, known: dict[str, Path]) -> Iterator[tuple[str, str]]:
    """The modules of the package that one imports, with the names; those imported late or for types count."""
    file = known[module]
    package = [PACKAGE, *module.split(".")] if module else [PACKAGE]
    if file.name != "__init__.py":
        package = package[:-1]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = [*above, *((node.module or "").split(".") if node.module else [])]
            names = [(base, name.name) for name in node.names]
        elif isinstance(node, ast.Import):
            names = [(name.name.split("."), "") for name in node.names]
        else:
            continue
        for path, name in names:
            if path[0] == PACKAGE:
                inner = ".".join([*path[1:], name]).strip(".")
                yield (inner if inner in known else ".".join(path[1:])), name
