"""The page: templates, data and the charting program, in one file that needs nothing else.

Nothing from outside runs: names and texts are escaped where they stand in HTML, and in JSON have no "<"; and the page
itself tells the browser (by a content security policy) to run the scripts with these hashes and no other, and to
fetch nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from .. import __version__
from ..io.files import write_whole
from ..measures.citations import citations
from .charts import COLOURS, charts
from .findings import Findings
from .formulas import formula

#: By which the command knows a report, which it may replace, within so many bytes.
GENERATOR = "ir_measures_relative"
_HEAD = 512

# Of one module, in this order.
_SCRIPTS = ("elements.js", "tables.js", "pictures.js", "run.js", "start.js")
_LICENSE = (
    "Vega, Vega-Lite and Vega-Embed: Copyright (c) University of Washington Interactive Data Lab, "
    "BSD 3-Clause License, https://github.com/vega"
)


def require_packages() -> None:
    """Raises ImportError, which says what to install, where a package is missing."""
    try:
        import jinja2  # noqa: F401
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"the report needs {error.name}: pip install 'ir-measures-relative[report]'"
        ) from None


def check_target(path: str | os.PathLike[str]) -> Path:
    """The path, where a file can be written.

    Raises:
        OSError: it cannot be; says why.
    """
    target = Path(os.path.realpath(path))  # a link stays one
    if target.is_dir():
        raise IsADirectoryError(
            f"{path} is a folder; give the path of a file, such as {Path(path) / 'report.html'}"
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {target.parent}; make it first")
    if not all(os.access(place, os.W_OK) for place in (target.parent, target) if place.exists()):
        raise PermissionError(f"{path}: cannot be written; give another path")
    return target


def write_file(text: str, target: str | os.PathLike[str]) -> None:
    """Writes the file, whole or not at all.

    Raises:
        OSError: it cannot be written; what was there is still there.
    """

    def write(beside: str) -> None:
        Path(beside).write_bytes(text.encode("utf-8", "replace"))

    write_whole(target, write)


def is_report(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a report, by its head."""
    with open(path, "rb") as file:
        return f'<meta name="generator" content="{GENERATOR} '.encode() in file.read(_HEAD)


def page(found: Findings, data: dict[str, Any], title: str, command: str | None) -> str:
    """The file, as text."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    relative = [i for i, m in enumerate(data["measures"]) if m["relative"]]
    first = relative[0] if relative else 0
    order = sorted(range(len(data["runs"])), key=lambda r: -(data["means"][first][r] or 0.0))
    mark = found.fingerprint
    scripts = [_bundle(), "\n".join(map(_asset, _SCRIPTS))]
    text: str = environment.get_template("report.html").render(
        title=title,
        generator=f"{GENERATOR} {__version__}",
        policy=_policy(scripts),
        style=_asset("report.css"),
        scripts=scripts,
        license=_LICENSE,
        data=data,
        json={"data": as_json(data), "charts": as_json(charts(len(data["groups"])))},
        sorted_by=first,
        order=order,
        colours=COLOURS,
        judgments=mark["qrels"]["judgments"],
        fingerprint=mark,
        fingermarktext=json.dumps(mark, indent=1, ensure_ascii=True),
        command=command,
        formulas=[formula(m) for m in found.measures],
        bibtex="\n\n".join(citations(found.measures)),
    )
    return text.lstrip()


def as_json(value: Any) -> str:
    """JSON that can stand in a script element, whatever is in its strings."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text)


def _policy(scripts: list[str]) -> str:
    """The content security policy: these scripts, styles, and nothing from anywhere."""
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    # Vega makes functions of the expressions of a specification.
    allowed = " ".join(f"'sha256-{h}'" for h in hashes) + " 'unsafe-eval'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


@lru_cache
def _asset(name: str) -> str:
    return files(__package__).joinpath("templates").joinpath(name).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _bundle() -> str:
    """The programs of Vega, Vega-Lite and Vega-Embed, as one module that offers ``vegaEmbed``."""
    import vl_convert

    program: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    if re.search("</script|<!--", program, re.IGNORECASE):  # would end the element that it stands in
        raise RuntimeError(
            "this version of vl-convert makes a program that cannot stand in a page; install another"
        )
    return f"\n{program}\n"
