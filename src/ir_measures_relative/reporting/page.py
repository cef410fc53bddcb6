"""The page: templates, data and the charting program, in one file that needs nothing else.

Nothing from outside runs: names and texts are escaped in HTML, and have no "<" in JSON; and a content security policy
lets the browser run the scripts with these hashes and no other, and fetch nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
import vl_convert
from tqdm import tqdm

from ..writing import to_json, write_whole
from .contents import Contents
from .sections import Section
from .sections.combinations import complementary, fusion
from .sections.contributions import aspects, credit
from .sections.pairs import against_reference, pair_data, similar
from .sections.relative_to import relative_to
from .sections.runs import runs
from .sections.scatter import scatter
from .sections.unjudged import unjudged

#: The sections, in the order of the page.
SECTIONS = (
    scatter,
    runs,
    similar,
    complementary,
    aspects,
    fusion,
    credit,
    against_reference,
    unjudged,
    relative_to,
)

# The command replaces a file that has this name within its first bytes, which is an older report.
_GENERATOR, _HEAD = "ir_measures_relative", 512
# Of one module, in this order.
_SCRIPTS = ("elements.js", "tables.js", "choice.js", "pictures.js", "scatter.js", "pair.js", "start.js")
_MACROS = ("run_name", "number", "short_number", "picture", "table", "cell", "name_of_run")
_LICENSE = (
    "Vega, Vega-Lite and Vega-Embed: Copyright (c) University of Washington Interactive Data Lab, "
    "BSD 3-Clause License, https://github.com/vega"
)


def make_sections(contents: Contents) -> tuple[list[Section], list[str]]:
    """Return the sections of a report, and the reasons for those that are left out."""
    functions = tqdm(SECTIONS, desc="report", unit="section", disable=None, leave=False)
    parts = [function(contents) for function in functions]
    return [part for part in parts if isinstance(part, Section)], [
        part for part in parts if isinstance(part, str)
    ]


def render_page(contents: Contents, title: str) -> str:
    """Return the file as text: its sections, and the data of its scripts."""
    data = contents.data | {"pairs": pair_data(contents)}
    sections, left_out = make_sections(contents)
    environment = _environment(data["runs"])

    def render(words: str, section: Section) -> str:
        return str(environment.from_string(words).render(section.facts))

    scripts = [_bundle(), "\n".join(map(_asset, _SCRIPTS))]
    text: str = environment.get_template("report.html").render(
        title=title,
        generator=f"{_GENERATOR} {version('ir-measures-relative')}",
        policy=_policy(scripts),
        style=_asset("report.css"),
        scripts=scripts,
        license=_LICENSE,
        runs=len(data["runs"]),
        topics=len(data["topics"]),
        judgments=contents.fingerprint["qrels"]["judgments"],
        groups=data["groups"],
        headline=[render(section.headline, section) for section in sections if section.headline],
        left_out=left_out,
        sections=[(section, render(section.words, section)) for section in sections],
        json={"data": script_json(data), "figures": script_json(collect_figures(sections))},
    )
    return text.lstrip()


def _environment(runs: Sequence[Any]) -> jinja2.Environment:
    """Return a renderer of templates, in which the macros that sections call know the runs."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    macros = environment.get_template("pieces.html").make_module({"runs": runs})
    environment.globals.update({name: getattr(macros, name) for name in _MACROS})
    return environment


def is_report(path: str | os.PathLike[str]) -> bool:
    """Return whether a file starts as a report does."""
    with open(path, "rb") as file:
        return f'<meta name="generator" content="{_GENERATOR} '.encode() in file.read(_HEAD)


def collect_figures(sections: Sequence[Section]) -> dict[str, Any]:
    """Return the pictures and tables for the scripts, by name: specifications with their rows, and tables."""
    config = {"config": json.loads(_asset("vega.json"))}  # its colours are variables of the style sheet
    figures: dict[str, Any] = {"differences": {"spec": config | json.loads(_asset("differences.json"))}}
    for section in sections:
        figures |= section.data
        figures |= {name: {"table": table._asdict()} for name, table in section.tables.items()}
        for name, picture in section.pictures.items():
            more = {"spec": config | picture.spec, "fields": list(picture.fields.items())}
            figures[name] = picture._asdict() | more | {"table": picture.table._asdict()}
    return figures


def script_json(value: Any) -> str:
    """Return JSON that can stand in a script element, with any strings in it."""
    text = to_json(value, ensure_ascii=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text)


def _policy(scripts: list[str]) -> str:
    """Return the content security policy: these scripts, styles, and nothing from anywhere."""
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    # Vega makes functions of the expressions of a specification.
    allowed = " ".join(f"'sha256-{h}'" for h in hashes) + " 'unsafe-eval'"
    styles = "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; script-src {allowed}; {styles}"


@lru_cache
def _asset(name: str) -> str:
    return files(__package__).joinpath("templates").joinpath(name).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _bundle() -> str:
    """Return Vega's program, which takes a second to make: it is kept in ir_datasets' folder."""
    # As ir_datasets finds it; importing that takes half a second.
    home = Path(os.environ.get("IR_DATASETS_HOME", Path.home() / ".ir_datasets"))
    path = home / "ir_measures_relative" / f"vega-{version('vl-convert-python')}.js"
    with suppress(OSError, UnicodeDecodeError):
        return str(path.read_text(encoding="utf-8"))
    program = _make_bundle()
    with suppress(OSError):  # a folder that nobody may write to
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, lambda temporary: Path(temporary).write_text(program, encoding="utf-8", newline=""))
    return program


def _make_bundle() -> str:
    program: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    if re.search("</script|<!--", program, re.IGNORECASE):  # would end the script element
        raise RuntimeError("this version of vl-convert cannot be used in a page; install another")
    return f"\n{program}\n"
