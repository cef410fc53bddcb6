"""Folders of TIRA's; and folders as downloaded from an archive: run files, pages on who sent each, judgments."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from ..io.files import read_bytes
from ..io.readers import FOLDERS, FolderContent, RunInfo
from ..io.run_paths import files_in, may_hold_run
from ..messages import few

# TIRA has one run in a folder, and what describes it beside it or beside its folder.
_RUN_OF_TIRA = re.compile(r"run\.[^-]+")
_METADATA = re.compile(r"(.*[-.])?ir[-_]metadata(\.ya?ml)?")


@FOLDERS.register("TIRA")
def read_tira(folder: Path) -> FolderContent | None:
    """Describe the run in one of TIRA's folders by its metadata; None where there is no such run, or no metadata."""
    runs = [file for file in files_in(folder) if _RUN_OF_TIRA.fullmatch(file.name) and may_hold_run(file)]
    about = described(runs[0]) if len(runs) == 1 else None
    return FolderContent({runs[0]: about}) if about else None


def described(run: Path) -> RunInfo | None:
    """Return what the metadata of a run of TIRA's say: its tag, and its team as the group; None without any."""
    for folder in run.absolute().parents[:2]:
        names = sorted(os.listdir(folder)) if os.access(folder, os.R_OK) else []
        for file in (folder / name for name in names if _METADATA.fullmatch(name)):
            found = _read_yaml(file)
            actor = found.get("actor")
            tag, team = _string(found.get("tag")), actor.get("team") if isinstance(actor, dict) else None
            if tag or team:
                return RunInfo(tag, _string(team))
    return None


def _read_yaml(file: Path) -> dict[Any, Any]:
    import yaml  # which ir-datasets needs and brings

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # a file of tirex-tracker takes the other a second
    try:
        found = yaml.load(read_bytes(file, str(file)), loader)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"{file} is no YAML ({str(error).splitlines()[0]}); mend it or remove it") from None
    return found if isinstance(found, dict) else {}


def _string(value: object) -> str | None:
    """What stands in a description as a string; None for nothing, and for a list or the like."""
    return str(value) if isinstance(value, (str, int, float)) and str(value) else None


_RUN = re.compile(r"(?:input[.-])?(.+?)(\.gz|\.bz2|\.xz)?", re.DOTALL)
_QRELS = re.compile(r"(^|[^a-z])qrels?([^a-z]|$)", re.IGNORECASE)
_PREFIXES = ("input.", "input-")
_TOLD_IN = ("runs.md", "participants.md")  # the pages that tell of runs
_FIELD = re.compile(r"^ ?- :[\w-]+: \*\*([^*\n]+):\*\* (.*?) *$", re.MULTILINE)


@FOLDERS.register("archive")
def read_archive_folder(folder: Path) -> FolderContent | None:
    """The runs of a folder as downloaded, with their participants as groups, and its judgments; None for another."""
    names = os.listdir(folder)
    if not any(name in _TOLD_IN or name.startswith(_PREFIXES) for name in names):
        return None
    files = [file for file in files_in(folder) if file.is_file() and may_hold_run(file)]
    judgments = [file for file in files if _QRELS.search(file.name)]
    listed = pages_of(folder)
    about = {file: listed.get(name_of(file), RunInfo()) for file in files if file not in judgments}
    unknown = [name_of(file) for file, told in about.items() if not told.group]
    doubt = (
        f"{folder}: runs.md does not say who sent {few(unknown, 5)}; each counts as a group of its own: set groups= if "
        "that is wrong"
    )
    runs = {
        file: about[file]._replace(
            tag=name_of(file), group=(about[file].group or name_of(file)) if listed else None
        )
        for file in sorted(about, key=name_of)
    }
    return FolderContent(runs, judgments, doubt if listed and unknown else "")


def name_of(file: Path) -> str:
    """The name of the run in a file such as ``input.NAME.gz``."""
    found = _RUN.fullmatch(file.name)
    return found[1] if found else file.name


def pages_of(folder: Path) -> dict[str, RunInfo]:
    """What ``runs.md`` and ``participants.md`` in a folder say of each run; nothing where they are not there."""
    runs, participants = (_text(folder / name) for name in _TOLD_IN)
    found = {}
    for block in _blocks(runs):
        fields = dict(_FIELD.findall(block))
        name = fields.get("Run ID") or block.split("\n", 1)[0].strip()
        found[name] = RunInfo(name, fields.get("Participant"), fields.get("Task"))
    for block in _blocks(participants):
        participant = block.split("\n", 1)[0].strip()
        for run in re.findall(r"\[([^\]]+)\]", dict(_FIELD.findall(block)).get("Runs", "")):
            about = found.get(run, RunInfo(run))
            found[run] = about._replace(group=about.group or participant)
    return found


def _blocks(page: str) -> list[str]:
    return re.split(r"(?m)^#### ", page)[1:]


def _text(page: Path) -> str:
    return read_bytes(page, str(page)).decode("utf-8", "replace") if page.is_file() else ""
