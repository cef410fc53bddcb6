"""Writes the measure reference and the API reference from the package itself, before Sphinx reads anything.

A measure that is registered, and a name that the package exports, appear without an edit here. What is written goes
to ``docs/reference/generated/``, which is not under version control.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from docutils.nodes import Element, document, literal, reference, title
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.ext.napoleon import GoogleDocstring

import ir_measures_relative
from ir_measures_relative import decisions, stats
from ir_measures_relative.context.measure_strings import registered
from ir_measures_relative.measures.measure import RelativeMeasure, bases_with, citations
from ir_measures_relative.measures.parameters import MISSING, Param

PACKAGE = ir_measures_relative.__name__

#: The modules that users and authors of measures need beside what the package exports, and what they need of each:
#: all that is public where nothing is named.
MODULES: dict[str, Sequence[str]] = {
    "data.arrays": (
        "PositionTable",
        "sum_by_query",
        "max_by_query",
        "row_sums",
        "rank_within",
        "table",
        "ratio",
    ),
    "distributed": (),
    "demo": ("DATASET_ID", "register", "generate", "runs", "pipelines"),
    "bounding.labelings": ("Labelings", "NotBoundedError"),
    "bounding.intervals": ("Interval", "TimeLimit"),
    "io.runs": ("read_run",),
    "data.documents": ("Documents", "Judgments", "Labels", "Aspects"),
    "measures.bases.base": ("Base", "Chance"),
    "measures.form": (),
    "measures.bases.browsing": (),
    "measures.measure": ("RelativeMeasure", "Contributions", "register"),
    "measures.bases.gains": (),
    "measures.parameters": (),
    "plots": (),
    "context.priors": (
        "BestOfOtherGroups",
        "PriorPolicy",
        "Systems",
        "Others",
        "Earlier",
        "FixedPriors",
        "PriorsByRun",
        "POLICIES",
    ),
    "pt_relative": ("Experiment", "named"),
    "decisions": decisions.__all__,
    "data.rankings": ("Rankings", "TopDocs", "Cut"),
    "data.registry": (),
    "stats": stats.__all__,
    "bounding": ("judge_next",),
    "context.collection": ("Collection",),
    "context.evaluated": ("Evaluated",),
    "context.memo": ("Memo",),
    "context.tops": ("Look", "Top"),
}

#: What a measure may be relative to.
WORDS = {
    "priors": "the prior runs",
    "systems": "all systems of the context",
    "reference": "one reference run",
    "chance": "all rankings that there could be, and to no other run; needs no :class:`RunContext`",
}


def measure_page(measure: RelativeMeasure, config: Config) -> str:
    """The page of a measure, as reStructuredText."""
    name, parameters = measure.NAME, measure.SUPPORTED_PARAMS
    lines = [f".. _measure-{name}:", "", name, "=" * len(name), "", f".. py:currentmodule:: {PACKAGE}", ""]
    lines += [f"**{measure.PRETTY_NAME}.** {measure.SHORT_DESC}", ""]
    if measure.FORMULA:
        lines += [".. math::", "", f"   {measure.FORMULA}", ""]
    given = ", ".join(f"{k}={default(p) or None}" for k, p in parameters.items() if k != measure.AT_PARAM)
    lines += [f".. py:class:: {name}({given})", ""]
    body = GoogleDocstring(inspect.getdoc(type(measure)) or "", config, what="class", name=name).lines()
    lines += ["   " + line for line in body]
    lines += ["", f"Relative to {WORDS[measure.RELATIVE_TO]}.", "", ".. rubric:: Parameters", ""]
    lines += [".. list-table::", "   :header-rows: 1", "   :widths: 14 10 14 30 32", ""]
    lines += row("parameter", "type", "default", "allowed", "meaning")
    for key, param in parameters.items():
        written = f"``@``, ``{key}``" if key == measure.AT_PARAM else f"``{key}``"
        shown = "required" if param.required else f"``{default(param)}``" if default(param) else "none"
        bases = bases_with(measure, key)
        meaning = param.desc + (f" (base {', '.join(bases)})" if bases else "")
        allowed = param.describe().replace("@", r"\@")  # no address of a mail
        lines += row(written, f"``{kind(param)}``", shown, allowed, meaning)
    module, *about = (inspect.getdoc(import_module(type(measure).__module__)) or "").splitlines()
    lines += ["", ".. rubric:: Background", "", module, *about, ""]
    for entry in citations([measure]):
        lines += [".. code-block:: bibtex", "", *("   " + line for line in entry.splitlines()), ""]
    if measure.SEE_ALSO:
        others = ", ".join(f":ref:`{other} <measure-{other}>`" for other in measure.SEE_ALSO)
        lines += [".. seealso::", "", f"   {others}; :doc:`which measure? </measures>`", ""]
    return "\n".join(lines) + "\n"


def row(*cells: str) -> Iterator[str]:
    """A row of a list-table."""
    for i, cell in enumerate(cells):
        yield f"   {'*' if i == 0 else ' '} - {cell}"


def default(param: Param) -> str:
    """The default as it is written in code; nothing where there is none."""
    return "" if param.default is MISSING else repr(param.default)


def kind(param: Param) -> str:
    """The type of a parameter: of the values it may take, where they differ in type."""
    if param.dtype is not object:
        return param.dtype.__name__
    return " | ".join(dict.fromkeys(type(choice).__name__ for choice in param.choices))


def package_page() -> str:
    """The page of what the package exports beside the measures, as reStructuredText."""
    public = {name: getattr(ir_measures_relative, name) for name in ir_measures_relative.__all__}
    names = [n for n in ir_measures_relative.__all__ if not isinstance(public[n], RelativeMeasure)]
    blocks = [
        f".. autoclass:: {n}\n   :members:\n" if inspect.isclass(public[n]) else f".. autofunction:: {n}\n"
        for n in names
    ]
    about = (
        "Everything that users and authors of measures call; the rest may change without notice. Each measure has a "
        ":doc:`page of its own </measures>`.\n\nThe package does not import these modules by itself. Those "
        "of ``data`` and ``measures`` are for :doc:`your own measures </adding-a-measure>`:\n\n"
        ".. toctree::\n   :glob:\n   :maxdepth: 1\n\n   api-*"
    )
    title = f"API\n===\n\n{about}\n\n{PACKAGE}\n{'-' * len(PACKAGE)}\n\n.. py:currentmodule:: {PACKAGE}\n\n"
    return title + "\n".join(blocks)


def module_page(name: str, members: Sequence[str]) -> str:
    """The page of one module, as reStructuredText."""
    options = f":members: {', '.join(members)}".rstrip()
    return f"{name}\n{'=' * len(name)}\n\n.. automodule:: {PACKAGE}.{name}\n   {options}\n"


def write(app: Sphinx) -> None:
    """Writes every page that has changed, and removes those of what is gone."""
    folder = Path(app.srcdir) / "reference" / "generated"
    pages = {
        f"measure-{name}.rst": measure_page(measure, app.config) for name, measure in registered().items()
    }
    pages |= {"api.rst": package_page(), "changelog.rst": CHANGELOG}
    pages |= {f"api-{name}.rst": module_page(name, members) for name, members in MODULES.items()}
    folder.mkdir(parents=True, exist_ok=True)
    for old in set(folder.iterdir()) - {folder / name for name in pages}:
        old.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


#: The page of the changelog, which is no page of its own under ``docs``.
CHANGELOG = ".. include:: ../../../CHANGELOG.md\n   :parser: myst_parser.sphinx_\n"


def plain_aliases(app: Sphinx, what: str, name: str, obj: Any, options: Any, *signature: str | None) -> Any:
    """A signature in which Sphinx could not write a type alias by its name."""
    return tuple(s and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", s) for s in signature)


def in_the_package(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: Element
) -> Element | None:
    """What a module calls by its plain name, ``RunContext`` say, stands for what is exported."""
    if node.get("refdomain") != "py" or node["reftarget"].startswith(PACKAGE):
        return None
    python = env.get_domain("py")
    for module in (PACKAGE, *(f"{PACKAGE}.{name}" for name in MODULES)):
        target = f"{module}.{node['reftarget']}"
        found = python.resolve_xref(env, node["refdoc"], app.builder, node["reftype"], target, node, content)
        if found is not None:
            return found
    return None


def linked_names() -> dict[str, str]:
    """Map what pages may call something public to its full name in the reference."""
    names = {n: f"{PACKAGE}.{n}" for n in (*ir_measures_relative.__all__, *registered())}
    for module in ("plots", "decisions", "distributed"):
        members = MODULES[module] or import_module(f"{PACKAGE}.{module}").__all__
        names |= {f"{module}.{n}": f"{PACKAGE}.{module}.{n}" for n in members}
    for module, members in MODULES.items():
        names |= {n: f"{PACKAGE}.{module}.{n}" for n in members if n[0].isupper() and n not in names}
    methods = [n for n in vars(ir_measures_relative.RunContext) if not n.startswith("_")]
    names |= {f"RunContext.{n}": f"{PACKAGE}.RunContext.{n}" for n in methods}
    return names | {f"pt.relative.{n}": f"{PACKAGE}.pt_relative.{n}" for n in MODULES["pt_relative"]}


def is_linked(node: Element) -> bool:
    """Whether a node is in a link already, or in a heading."""
    while node.parent is not None:
        node = node.parent
        if isinstance(node, title | reference | pending_xref):
            return True
    return False


def link_names(app: Sphinx, doctree: document) -> None:
    """Link the first code span of a page that names something public; on GitHub it is plain code."""
    page = app.env.docname
    if page.startswith(("reference/", "notebooks/")):
        return
    names, linked = linked_names(), set()
    for span in list(doctree.findall(lambda node: isinstance(node, literal) and not is_linked(node))):
        name = re.sub(r"(\(.*\))?(@\w+)?$", "", span.astext())
        if name in linked or name not in names:
            continue
        linked.add(name)
        target = {"refdomain": "py", "reftype": "obj", "reftarget": names[name], "refexplicit": True}
        link = pending_xref("", span.deepcopy(), refdoc=page, refwarn=True, **target)
        span.replace_self(link)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write)
    app.connect("doctree-read", link_names)
    app.connect("missing-reference", in_the_package)
    app.connect("autodoc-process-signature", plain_aliases)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
