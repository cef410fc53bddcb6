"""Folders of TIRA, and of archives such as TREC's: run files, pages about the participants, judgments."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..io.files import read_bytes
from ..io.trec_columns import starts_as_trec
from ..messages import few
from .content import is_picture

# The endings of pages about runs, such as ``README.md`` and TIRA's ``retrieval-ir-metadata.yml``.
_PAGES = (".md", ".rst", ".html", ".htm", ".yml", ".yaml")
_HEAD = 2048  # bytes in which the first line of a run ends


class RunInfo(NamedTuple):
    """The description of a run in the files next to it."""

    tag: str | None = None
    group: str | None = None
    task: str | None = None


class FolderContent(NamedTuple):
    """The run files of a folder, in their order, and its files of judgments."""

    runs: Mapping[Path, RunInfo]
    judgments: Sequence[Path] = ()
    warning: str = ""  #: a warning for those who read the runs


def read_folder(folder: Path) -> FolderContent:
    """Return the content of a folder of TIRA or of an archive; nothing for a plain folder of run files."""
    return _read_tira(folder) or _read_archive(folder) or FolderContent({})


def files_in(folder: Path) -> list[Path]:
    """Return what a folder holds besides folders and hidden files, sorted."""
    return sorted(path for path in folder.iterdir() if not path.is_dir() and not path.name.startswith("."))


def may_hold_run(file: Path) -> bool:
    """Return whether a file may hold a run: it is no picture, and no page about runs."""
    if not file.is_file() or is_picture(file):
        return False
    return file.suffix.lower() not in _PAGES or starts_as_trec(first_bytes(file), columns=6, number=4)


def first_bytes(file: Path) -> bytes:
    """Return the first bytes of a file, which hold the first line of a run."""
    with open(file, "rb") as opened:
        return opened.read(_HEAD)


# TIRA has one run in a folder, and its metadata there or in the folder above.
_TIRA_RUN = re.compile(r"run\.[^-]+")
_METADATA = re.compile(r"(.*[-.])?ir[-_]metadata(\.ya?ml)?")


def _read_tira(folder: Path) -> FolderContent | None:
    """Describe the run in one of TIRA's folders by its metadata; None where there is no such run, or no metadata."""
    runs = [file for file in files_in(folder) if _TIRA_RUN.fullmatch(file.name) and may_hold_run(file)]
    info = _read_metadata(runs[0]) if len(runs) == 1 else None
    return FolderContent({runs[0]: info}) if info else None


def _read_metadata(run: Path) -> RunInfo | None:
    """Return the tag of a run, and its team as the group; None without metadata."""
    for folder in run.absolute().parents[:2]:
        names = sorted(os.listdir(folder)) if os.access(folder, os.R_OK) else []
        for file in (folder / name for name in names if _METADATA.fullmatch(name)):
            metadata = _read_yaml(file)
            actor = metadata.get("actor")
            tag, team = metadata.get("tag"), actor.get("team") if isinstance(actor, dict) else None
            info = RunInfo(
                *(str(x) if isinstance(x, (str, int, float)) and str(x) else None for x in (tag, team))
            )
            if info.tag or info.group:
                return info
    return None


def _read_yaml(file: Path) -> dict[Any, Any]:
    import yaml  # which ir-datasets installs

    # SafeLoader takes a second for a file of tirex-tracker.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        content = yaml.load(read_bytes(file, str(file)), loader)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(
            f"{file} is not valid YAML ({str(error).splitlines()[0]}); fix or delete it"
        ) from None
    return content if isinstance(content, dict) else {}


_RUN = re.compile(r"(?:input[.-])?(.+?)(\.gz|\.bz2|\.xz)?", re.DOTALL)
_QRELS = re.compile(r"(^|[^a-z])qrels?([^a-z]|$)", re.IGNORECASE)
_PREFIXES = ("input.", "input-")
_ABOUT_RUNS = ("runs.md", "participants.md")
_FIELD = re.compile(r"^ ?- :[\w-]+: \*\*([^*\n]+):\*\* (.*?) *$", re.MULTILINE)


def _read_archive(folder: Path) -> FolderContent | None:
    """Return the runs of a folder as downloaded, with their participants as groups, and its judgments."""
    names = os.listdir(folder)
    if not any(name in _ABOUT_RUNS or name.startswith(_PREFIXES) for name in names):
        return None
    files = [file for file in files_in(folder) if file.is_file() and may_hold_run(file)]
    judgments = [file for file in files if _QRELS.search(file.name)]
    infos = _read_pages(folder)
    runs = {}
    for file in sorted((file for file in files if file not in judgments), key=_run_name):
        info = infos.get(_run_name(file), RunInfo())
        runs[file] = info._replace(tag=_run_name(file))
    unknown = [_run_name(file) for file, info in runs.items() if not info.group]
    warning = ""
    if infos and unknown:
        runs = {file: info._replace(group=info.group or _run_name(file)) for file, info in runs.items()}
        warning = (
            f"{folder}: runs.md does not say who sent {few(unknown, 5)}; each counts as a group of its own: set "
            "groups= if that is wrong"
        )
    return FolderContent(runs, judgments, warning)


def _run_name(file: Path) -> str:
    """Return the name of the run in a file such as ``input.NAME.gz``."""
    match = _RUN.fullmatch(file.name)
    return match[1] if match else file.name


def _read_pages(folder: Path) -> dict[str, RunInfo]:
    """Return the description of each run in ``runs.md`` and ``participants.md``; none without these pages."""
    runs, participants = (_read_blocks(folder / name) for name in _ABOUT_RUNS)
    infos = {}
    for title, fields in runs:
        name = fields.get("Run ID") or title
        infos[name] = RunInfo(name, fields.get("Participant"), fields.get("Task"))
    for participant, fields in participants:
        for run in re.findall(r"\[([^\]]+)\]", fields.get("Runs", "")):
            info = infos.get(run, RunInfo(run))
            infos[run] = info._replace(group=info.group or participant)
    return infos


def _read_blocks(page: Path) -> list[tuple[str, dict[str, str]]]:
    """Return the title and the fields of each block of a page; none without it."""
    text = read_bytes(page, str(page)).decode("utf-8", "replace") if page.is_file() else ""
    blocks = re.split(r"(?m)^#### ", text)[1:]
    return [(block.split("\n", 1)[0].strip(), dict(_FIELD.findall(block))) for block in blocks]
