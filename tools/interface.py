"""The public interface, to compare two versions: what is gone, and what has other arguments or defaults.

    PYTHONPATH=../old/src python -m tools.interface write ../old.json
    python -m tools.interface compare ../old.json

What the reference documents: functions, classes and their methods, with arguments and defaults but without types; of
each measure its parameters with their defaults and choices; the options of the commands. What is new is not shown. The
changelog says of each line what to write instead. The file may be of any version since 0.2.0.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

PACKAGE = "ir_measures_relative"
COMMANDS = [
    "",
    "score",
    "worth",
    "compare",
    "fuse",
    "select",
    "unjudged",
    "similar",
    "sweep",
    "plot",
    "report",
]


def interface() -> dict[str, str]:
    """What may be written, with its arguments."""
    package = importlib.import_module(PACKAGE)
    found = dict(_of_names(PACKAGE, package, package.__all__))
    page = Path(str(package.__file__)).parents[2] / "docs" / "_ext" / "reference.py"
    modules = _documented(page.read_text(encoding="utf-8"))
    for name, names in modules.items():
        module = importlib.import_module(f"{PACKAGE}.{name}")
        found.update(_of_names(module.__name__, module, names or _public(module)))
    for name in package.__all__:
        thing = getattr(package, name)
        if hasattr(thing, "SUPPORTED_PARAMS"):
            found.update(_of_measure(name, thing))
    return found | dict(_of_commands())


def _documented(script: str) -> dict[str, Sequence[str]]:
    """``MODULES`` of the script that writes the reference."""
    for node in ast.parse(script).body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "MODULES" and node.value:
            found: dict[str, Sequence[str]] = ast.literal_eval(node.value)
            return found
    raise SystemExit("docs/_ext/reference.py has no MODULES")


def _public(module: Any) -> list[str]:
    """All that a module defines, or says that it has."""
    return list(getattr(module, "__all__", ())) or [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and str(getattr(thing, "__module__", "")).startswith(module.__name__)
    ]


def _of_names(where: str, module: Any, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        thing = getattr(module, name)
        yield f"{where}.{name}", _signature(thing)
        if inspect.isclass(thing):
            for one, value in inspect.getmembers(thing):
                if not one.startswith("_") and str(getattr(value, "__module__", PACKAGE)).startswith(PACKAGE):
                    yield f"{where}.{name}.{one}", _signature(value)


def _undocumented(name: str) -> str | None:
    """What is there all the same, though the reference does not list it."""
    path = name.split(".")
    for end in range(len(path), 0, -1):
        try:
            thing = importlib.import_module(".".join(path[:end]))
            for part in path[end:]:
                if (
                    inspect.isclass(thing)
                    and part not in dir(thing)
                    and f"self.{part}" in inspect.getsource(thing)
                ):
                    return "attribute"
                thing = getattr(thing, part)
            return _signature(thing)
        except (ImportError, AttributeError):
            continue
    return None


def _signature(thing: Any) -> str:
    if isinstance(thing, property):
        return "attribute"
    if not callable(thing) or hasattr(thing, "SUPPORTED_PARAMS"):
        return type(thing).__name__
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return "callable"
    signature = str(inspect.Signature([p.replace(annotation=inspect.Parameter.empty) for p in parameters]))
    return re.sub(r"<object object at \w+>", "MISSING", signature)


def _of_measure(name: str, measure: Any) -> Iterator[tuple[str, str]]:
    for parameter, info in measure.SUPPORTED_PARAMS.items():
        default, choices = info.default, getattr(info, "choices", None)
        said = [] if type(default) is object else [f"default {default!r}"]
        said += (
            [f"one of {', '.join(sorted(map(str, choices)))}"] if isinstance(choices, (tuple, list)) else []
        )
        yield f"{name}({parameter}=)", "; ".join(said)


def _of_commands() -> Iterator[tuple[str, str]]:
    for command in COMMANDS:
        asked = [sys.executable, "-m", PACKAGE, *filter(None, [command]), "--help"]
        text = subprocess.run(asked, capture_output=True, text=True).stdout
        for option in re.findall(r"(?<![\w-])--?[a-z][\w-]*", text):
            yield f"on the command line, {option}", ""


def main(arguments: list[str] | None = None) -> int:
    """Writes a version, or shows what a later one has otherwise: 1 where there is anything."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.interface", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("action", choices=("write", "compare"))
    parser.add_argument("file", type=Path)
    asked = parser.parse_args(arguments)
    now = interface()
    if asked.action == "write":
        asked.file.write_text(json.dumps(now, indent=1))
        return 0
    old: dict[str, str] = json.loads(asked.file.read_text())
    now |= {name: found for name in old if name not in now and (found := _undocumented(name)) is not None}
    gone = [name for name in old if name not in now]
    other = [name for name in old if name in now and old[name] != now[name]]
    for name in gone:
        print(f"gone: {name} ({old[name]})")
    for name in other:
        print(f"other: {name}\n  was {old[name]}\n  is  {now[name]}")
    print(f"{len(old)} things, of which {len(gone)} are gone and {len(other)} are otherwise")
    return int(bool(gone or other))


if __name__ == "__main__":
    sys.exit(main())
