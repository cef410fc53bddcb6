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

from ..messages import to_json
from ..work import write_whole
from .contents import ReportedCampaign
from .pair_page import differences
from .sections import Section

# The command replaces a file that has this name within its first bytes: an older report.
_GENERATOR, _HEAD = "ir_measures_relative", 512
# Of one module, in this order.
_SCRIPTS = ("elements.js", "tables.js", "choice.js", "pictures.js", "scatter.js", "pair.js", "start.js")
_PIECES = ("run_name", "number", "short_number", "picture", "table", "cell", "name_of_run")
_LICENSE = (
    "Vega, Vega-Lite and Vega-Embed: Copyright (c) University of Washington Interactive Data Lab, "
    "BSD 3-Clause License, https://github.com/vega"
)


def page(
    campaign: ReportedCampaign,
    sections: Sequence[Section],
    left_out: Sequence[str],
    data: dict[str, Any],
    title: str,
) -> str:
    """The file, as text: a campaign's sections, and what the pages of two runs are made from."""
    environment = environment_of(campaign.data["runs"])

    def rendered(words: str, part: Section) -> str:
        return str(environment.from_string(words).render(part.facts))

    scripts = [_bundle(), "\n".join(map(asset, _SCRIPTS))]
    text: str = environment.get_template("report.html").render(
        title=title,
        generator=f"{_GENERATOR} {version('ir-measures-relative')}",
        policy=_policy(scripts),
        style=asset("report.css"),
        scripts=scripts,
        license=_LICENSE,
        runs=len(campaign.data["runs"]),
        topics=len(campaign.data["topics"]),
        judgments=campaign.fingerprint["qrels"]["judgments"],
        groups=campaign.data["groups"],
        headline=[rendered(part.headline, part) for part in sections if part.headline],
        left_out=left_out,
        sections=[(part, rendered(part.words, part)) for part in sections],
        json={"data": as_json(data), "figures": as_json(figures(sections))},
    )
    return text.lstrip()


def environment_of(runs: Sequence[Any]) -> jinja2.Environment:
    """What renders templates, with the pieces that sections call, of these runs."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(asset), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    pieces = environment.get_template("pieces.html").make_module({"runs": runs})
    environment.globals.update({name: getattr(pieces, name) for name in _PIECES})
    return environment


def is_report(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a report, by its head."""
    with open(path, "rb") as file:
        return f'<meta name="generator" content="{_GENERATOR} '.encode() in file.read(_HEAD)


def figures(sections: Sequence[Section]) -> dict[str, Any]:
    """What the scripts draw and list, by name: specifications with their rows, and tables."""
    config = {"config": json.loads(asset("vega.json"))}  # its colours are variables of the style sheet
    found: dict[str, Any] = {"differences": {"spec": config | differences()}}
    for part in sections:
        found |= part.data
        found |= {name: {"table": table._asdict()} for name, table in part.tables.items()}
        for name, drawn in part.pictures.items():
            more = {"spec": config | drawn.spec, "fields": list(drawn.fields.items())}
            found[name] = drawn._asdict() | more | {"table": drawn.table._asdict()}
    return found


def as_json(value: Any) -> str:
    """JSON that can stand in a script element, with any strings in it."""
    text = to_json(value, ensure_ascii=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text)


def _policy(scripts: list[str]) -> str:
    """The content security policy: these scripts, styles, and nothing from anywhere."""
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    # Vega makes functions of the expressions of a specification.
    allowed = " ".join(f"'sha256-{h}'" for h in hashes) + " 'unsafe-eval'"
    styles = "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; script-src {allowed}; {styles}"


@lru_cache
def asset(name: str) -> str:
    return files(__package__).joinpath("templates").joinpath(name).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _bundle() -> str:
    """Vega's program. It takes a second to make, and depends on vl-convert alone: it is kept in ir_datasets' folder."""
    from ir_datasets.util import home_path

    path = home_path() / "ir_measures_relative" / f"vega-{version('vl-convert-python')}.js"
    with suppress(OSError, UnicodeDecodeError):
        kept: str = path.read_text(encoding="utf-8")
        return kept
    program = _made_bundle()
    with suppress(OSError):  # a folder that nobody may write to
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, lambda beside: Path(beside).write_text(program, encoding="utf-8", newline=""))
    return program


def _made_bundle() -> str:
    program: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    if re.search("</script|<!--", program, re.IGNORECASE):  # would end the element that it stands in
        raise RuntimeError("this version of vl-convert cannot be used in a page; install another")
    return f"\n{program}\n"
