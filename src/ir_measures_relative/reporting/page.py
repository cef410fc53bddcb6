"""The page: templates, data and the charting program, in one file that needs nothing else.

Nothing from outside runs: names and texts are escaped where they stand in HTML, and in JSON have no "<"; and the page
itself tells the browser (by a content security policy) to run the scripts with these hashes and no other, and to
fetch nothing.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import numpy as np
import vl_convert

from ..work import write_whole
from .contents import ReportedCampaign, intervals_of
from .run_pages import by_topic
from .sections import Section, relative_to, runs

# The command replaces a file that has this name within its first bytes: an older report.
_GENERATOR, _HEAD = "ir_measures_relative", 512
GENERATOR = f"{_GENERATOR} {version('ir-measures-relative')}"
# Of one module, in this order.
_SCRIPTS = (
    *("elements.js", "tables.js", "choice.js", "pictures.js", "scatter.js", "topics.js", "run.js", "pair.js"),
    "start.js",
)
_PIECES = ("run_link", "number", "short_number", "picture", "table", "cell", "name_of_run")
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
    """The file, as text: a campaign's sections, and what the pages of runs and of pairs are made from."""
    environment = environment_of(campaign.data["runs"])

    def rendered(words: str, part: Section) -> str:
        return str(environment.from_string(words).render(part.facts))

    scripts = [_bundle(), "\n".join(map(asset, _SCRIPTS))]
    text: str = environment.get_template("report.html").render(
        title=title,
        generator=GENERATOR,
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
    found: dict[str, Any] = {name: {"spec": config | spec} for name, spec in by_topic().items()}
    for part in sections:
        found |= part.data
        found |= {name: {"table": table._asdict()} for name, table in part.tables.items()}
        for name, drawn in part.pictures.items():
            more = {"spec": config | drawn.spec, "fields": list(drawn.fields.items())}
            found[name] = drawn._asdict() | more | {"table": drawn.table._asdict()}
    return found


def as_json(value: Any) -> str:
    """JSON that can stand in a script element, with any strings in it."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
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
    program: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    if re.search("</script|<!--", program, re.IGNORECASE):  # would end the element that it stands in
        raise RuntimeError("this version of vl-convert cannot be used in a page; install another")
    return f"\n{program}\n"


# Pairs of runs times topics up to which the intervals of the first measure take a minute.
_MOST_WORK = 1_000_000
# Of more topics, a run's page has so many of each end.
_MOST_TOPICS, _ENDS = 300, 50
_LONGEST = 60


class Rank(NamedTuple):
    """Where a run stands."""

    best: int
    worst: int
    separable: bool  #: from the next run of the leaderboard
    level: list[int]  #: the runs that it is not separable from


def write_site(campaign: ReportedCampaign, folder: Path, title: str) -> None:
    """Writes the files; see :func:`.leaderboard`."""
    data = campaign.data
    files = [f"{i + 1}-{_file_name(run['name'])}.html" for i, run in enumerate(data["runs"])]
    order = campaign.best_first(0)
    ranks = ranks_of(campaign, order)
    section = runs.section(campaign)
    shared = section.facts | {
        "generator": GENERATOR,
        "style": asset("report.css"),
        "title": title,
        "order": order,
        "ranks": ranks,
        "no_ranks": f"There are no ranges of ranks by {campaign.measures[0]} here: its intervals are not known, or "
        "would take long.",
    }
    listed = [run | {"href": f"runs/{file}"} for run, file in zip(data["runs"], files, strict=True)]
    environment, about = environment_of(listed), relative_to.section(campaign)
    index = environment.get_template("site.html").render(
        shared
        | {
            "runs": listed,
            "headline": [environment.from_string(section.headline).render(section.facts)],
            "relative_to": environment.from_string(about.words).render(about.facts),
        }
    )
    beside = [run | {"href": file} for run, file in zip(data["runs"], files, strict=True)]
    page = environment_of(beside).get_template("site_run.html")
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    for old in (folder / "runs").glob("*.html"):
        if old.name not in files and is_report(old):  # of runs that an older site had
            old.unlink()
    for place, r in enumerate(order, start=1):
        of_run = {"r": r, "run": beside[r], "place": place, "rank": ranks and ranks[r], "runs": beside}
        of_run |= {"mark": campaign.fingerprint["runs"][r], **_by_topic(data, r)}
        _write(folder / "runs" / files[r], page.render(shared | of_run))
    _write(folder / "index.html", index)


def ranks_of(campaign: ReportedCampaign, order: Sequence[int]) -> list[Rank] | None:
    """The ranks that each run could have by the first measure, where all intervals of differences hold at once.

    A run is above another one where the interval of their difference lies above 0. Its best rank is one more than the
    number of runs above it, its worst the number of runs that it is not above. None where there are no intervals.
    """
    names = campaign.view.names
    n = len(names)
    if n < 2 or n * (n - 1) // 2 * campaign.view.n_queries > _MOST_WORK:
        return None
    above = np.zeros((n, n), dtype=bool)
    found = intervals_of(campaign, campaign.measures[0])
    for (a, b), (lower, upper) in found.items():
        i, j = campaign.place[a], campaign.place[b]
        above[i, j], above[j, i] = lower > 0, upper < 0
    if not found:
        return None
    following = dict(itertools.pairwise(order))
    level = ~(above | above.T | np.eye(n, dtype=bool))
    return [
        Rank(
            best=1 + int(above[:, r].sum()),
            worst=n - int(above[r].sum()),
            separable=r in following and bool(above[r, following[r]]),
            level=np.flatnonzero(level[r]).tolist(),
        )
        for r in range(n)
    ]


def _by_topic(data: Mapping[str, Any], r: int) -> dict[str, Any]:
    """A run's values beside the highest of all runs, on every topic or on the extreme ones."""
    values = np.array(data["values"], dtype=float)  # measures × runs × topics
    topics = np.arange(values.shape[2])
    if some := len(topics) > _MOST_TOPICS:
        best_first = np.argsort(-np.nan_to_num(values[0, r]), kind="stable")
        topics = np.concatenate([best_first[:_ENDS], best_first[-_ENDS:]])
    own, highest = values[:, r], np.where(np.isnan(values), -np.inf, values).max(axis=1)
    cells = [
        (int(t), [(_known(own[m, t]), _known(highest[m, t])) for m in range(len(values))]) for t in topics
    ]
    means = np.array(data["means"], dtype=float)
    return {"shown": cells, "some": some, "above": (means > means[:, [r]]).sum(axis=1).tolist()}


def _known(x: float) -> float | None:
    return float(x) if np.isfinite(x) else None


def _file_name(name: str) -> str:
    """A name as a part of one that every file system allows; the number before it tells equal ones apart."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name)[:_LONGEST]


def _write(path: Path, text: str) -> None:
    write_whole(path, lambda beside: Path(beside).write_bytes(text.encode("utf-8", "replace")))


def check_place(folder: str | os.PathLike[str]) -> Path:
    """The folder; OSError where it cannot be made, or holds something else than a leaderboard."""
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"{folder} is a file; give a folder for the leaderboard")
    index = path / "index.html"
    if path.is_dir() and any(path.iterdir()) and not (index.is_file() and is_report(index)):
        raise FileExistsError(f"{folder} holds files that are no leaderboard; give another")
    if not path.exists() and not path.resolve().parent.is_dir():
        raise FileNotFoundError(f"{folder}: there is no folder {path.resolve().parent}; make it first")
    return path
