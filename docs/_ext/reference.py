"""Writes the measure reference and the API reference from the package itself, before Sphinx reads anything.

A measure that is registered, and a module that is added, appear without an edit here. What is written goes to
``docs/reference/generated/``, which is not under version control.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import ir_measures
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.ext.napoleon import GoogleDocstring

import ir_measures_relative
from ir_measures_relative.measures.base import Param, RelativeMeasure

PACKAGE = ir_measures_relative.__name__
MEASURES = f"{PACKAGE}.measures"


def measures_by_module() -> dict[str, list[RelativeMeasure]]:
    """The registered measures of this package, by the module that declares them."""
    found: dict[str, list[RelativeMeasure]] = {}
    for name, measure in ir_measures.measures.registry.items():
        if isinstance(measure, RelativeMeasure) and name == measure.NAME:  # not under an alias
            found.setdefault(type(measure).__module__, []).append(measure)
    return found


def measure_page(module: ModuleType, measures: list[RelativeMeasure], config: Config) -> str:
    """The page of one module of measures, as reStructuredText."""
    title, about = split(module)
    lines = [title, "=" * len(title), "", *about, "", f".. py:currentmodule:: {PACKAGE}", ""]
    for measure in measures:
        lines += measure_section(measure, config)
    return "\n".join(lines) + "\n"


def measure_section(measure: RelativeMeasure, config: Config) -> Iterator[str]:
    """What the reference says of one measure."""
    name, parameters = measure.NAME, measure.SUPPORTED_PARAMS
    yield from (f".. _measure-{name}:", "", name, "-" * len(name), "")
    yield from (f"**{measure.PRETTY_NAME}.** {measure.SHORT_DESC}", "")
    given = ", ".join(f"{k}={default(p) or None}" for k, p in parameters.items() if k != measure.AT_PARAM)
    yield from (f".. py:class:: {name}({given})", "")
    body = GoogleDocstring(inspect.getdoc(type(measure)) or "", config, what="class", name=name).lines()
    yield from ("   " + line for line in body)
    yield ""
    if not measure.NEEDS_CONTEXT:
        yield from ("Needs no :class:`RunContext`.", "")
    yield from (".. list-table:: Parameters", "   :header-rows: 1", "   :widths: 14 10 14 30 32", "")
    yield from row("parameter", "type", "default", "allowed", "meaning")
    for key, param in parameters.items():
        written = f"``@``, ``{key}``" if key == measure.AT_PARAM else f"``{key}``"
        shown = "required" if param.required else f"``{default(param)}``" if default(param) else "none"
        meaning = param.desc + (f" (base {', '.join(param.bases)})" if param.bases else "")
        yield from row(written, f"``{param.dtype.__name__}``", shown, param.describe(), meaning)
    yield ""


def row(*cells: str) -> Iterator[str]:
    """A row of a list-table."""
    for i, cell in enumerate(cells):
        yield f"   {'*' if i == 0 else ' '} - {cell}"


def default(param: Param) -> str:
    """The default as it is written in code; nothing where there is none."""
    return "" if param.default is ir_measures.measures.ParamInfo().default else repr(param.default)


def split(module: ModuleType) -> tuple[str, list[str]]:
    """The first line of a module's docstring without its full stop, and the lines after it."""
    lines = (inspect.getdoc(module) or module.__name__).splitlines()
    return lines[0].rstrip("."), lines[1:]


def modules() -> list[str]:
    """The public modules of the package, itself first, those that declare measures left out."""
    names = [m.name for m in pkgutil.walk_packages(ir_measures_relative.__path__, f"{PACKAGE}.")]
    declaring = measures_by_module()
    return [PACKAGE, *(n for n in names if "._" not in n and n not in declaring)]


def module_page(name: str) -> str:
    """The page of one module, as reStructuredText; of the package, what it exports beside the measures."""
    public = vars(ir_measures_relative)
    elsewhere = (RelativeMeasure, ModuleType)
    names = [n for n in ir_measures_relative.__all__ if not isinstance(public[n], elsewhere)]
    title = name.removeprefix(f"{PACKAGE}.")
    head = f"{title}\n{'=' * len(title)}\n\n"
    if name != PACKAGE:  # what the package exports is on the package's page
        options = f":members:\n   :ignore-module-all:\n   :exclude-members: {', '.join(names)}"
        return f"{head}.. automodule:: {name}\n   {options}\n"
    blocks = [
        f".. autoclass:: {n}\n   :members:\n" if inspect.isclass(public[n]) else f".. autofunction:: {n}\n"
        for n in names
    ]
    about = "Beside the measures, which have a :doc:`reference </measures>` of their own:"
    return f"{head}.. py:currentmodule:: {name}\n\n{about}\n\n" + "\n".join(blocks)


def write(app: Sphinx) -> None:
    """Writes every page that has changed, and removes those of what is gone."""
    folder = Path(app.srcdir) / "reference" / "generated"
    pages = {
        f"measures-{name.rsplit('.', 1)[1]}.rst": measure_page(import_module(name), measures, app.config)
        for name, measures in measures_by_module().items()
    }
    pages |= {f"api-{name}.rst": module_page(name) for name in modules()}
    folder.mkdir(parents=True, exist_ok=True)
    for old in set(folder.iterdir()) - {folder / name for name in pages}:
        old.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
