"""Folders of TIRA's; and folders as downloaded from an archive: run files, pages on who sent each, judgments."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ..io.files import read_bytes
from ..io.readers import FOLDERS, Described, FolderContent
from ..messages import few

# The names of the run in each folder of TIRA's, and of what describes it: beside it, or beside its folder.
_RUNS = ("run.txt", "run.txt.gz")
_METADATA = ("ir-metadata.yml", "ir-metadata.yaml", ".ir-metadata.yml", ".ir_metadata")


@FOLDERS.register("TIRA")
def read_tira(folder: Path) -> FolderContent | None:
    """The run in one of TIRA's folders, or the runs in those below a folder; None where there are none."""
    names = os.listdir(folder)
    others = sorted(folder / name for name in names if not name.startswith(".") and name not in _METADATA)
    if not {*_RUNS, *_METADATA} & set(names) and any(file.is_file() for file in others):
        return None
    runs = [file for file in others if file.is_file()]
    if not runs:
        runs = sorted(file for name in _RUNS for file in folder.rglob(name) if file.is_file())
    return FolderContent({file: described(file) for file in runs}) if runs else None


def described(run: Path) -> Described:
    """What an ``ir-metadata.yml`` says of a run of TIRA's: its tag, and its team as the group."""
    if run.name not in _RUNS:
        return Described()
    places = (folder / name for folder in run.absolute().parents[:2] for name in _METADATA)
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        return Described()
    import yaml  # which ir-datasets needs and brings

    try:
        found = yaml.safe_load(read_bytes(file, str(file)))
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"{file} is no YAML ({str(error).splitlines()[0]}); mend it or remove it") from None
    found = found if isinstance(found, dict) else {}
    actor = found.get("actor")
    return Described(
        _string(found.get("tag")), _string(actor.get("team") if isinstance(actor, dict) else None)
    )


def _string(value: object) -> str | None:
    """What stands in a description as a string; None for nothing, and for a list or the like."""
    return str(value) if isinstance(value, (str, int, float)) and str(value) else None


_RUN = re.compile(r"(?:input[.-])?(.+?)(\.gz|\.bz2|\.xz)?", re.DOTALL)
_QRELS = re.compile(r"(^|[^a-z])qrels?([^a-z]|$)", re.IGNORECASE)
_PREFIXES = ("input.", "input-")
_TOLD_IN = ("runs.md", "participants.md")  # the pages that tell of runs
_PAGES = (".md", ".html", ".pdf", ".yml", ".yaml")
_FIELD = re.compile(r"^ ?- :[\w-]+: \*\*([^*\n]+):\*\* (.*?) *$", re.MULTILINE)


@FOLDERS.register("archive")
def read_archive_folder(folder: Path) -> FolderContent | None:
    """The runs of a folder as downloaded, with their participants as groups, and its judgments; None for another."""
    names = os.listdir(folder)
    if not any(name in _TOLD_IN or name.startswith(_PREFIXES) for name in names):
        return None
    files = sorted(folder / name for name in names if not name.startswith(".") and not name.endswith(_PAGES))
    others = [file for file in files if file.is_file()]
    listed = pages_of(folder)
    named = {name_of(file): file for file in others if not _QRELS.search(file.name)}
    unknown = [name for name in named if not listed.get(name, Described()).group]
    doubt = f"{folder}: runs.md does not say who sent {few(unknown, 5)}; each counts as a group of its own"
    runs = {}
    for name in sorted(named):
        about = listed.get(name, Described())
        group = about.group or name if listed else None
        runs[named[name]] = about._replace(tag=name, group=group)
    judgments = [file for file in others if _QRELS.search(file.name)]
    return FolderContent(runs, judgments, doubt if listed and unknown else "")


def name_of(file: Path) -> str:
    """The name of the run in a file such as ``input.NAME.gz``."""
    found = _RUN.fullmatch(file.name)
    return found[1] if found else file.name


def pages_of(folder: Path) -> dict[str, Described]:
    """What ``runs.md`` and ``participants.md`` in a folder say of each run; nothing where they are not there."""
    runs, participants = (_text(folder / name) for name in _TOLD_IN)
    found = {}
    for block in _blocks(runs):
        fields = dict(_FIELD.findall(block))
        name = fields.get("Run ID") or block.split("\n", 1)[0].strip()
        found[name] = Described(name, fields.get("Participant"), fields.get("Task"))
    for block in _blocks(participants):
        participant = block.split("\n", 1)[0].strip()
        for run in re.findall(r"\[([^\]]+)\]", dict(_FIELD.findall(block)).get("Runs", "")):
            about = found.get(run, Described(run))
            found[run] = about._replace(group=about.group or participant)
    return found


def _blocks(page: str) -> list[str]:
    return re.split(r"(?m)^#### ", page)[1:]


def _text(page: Path) -> str:
    return read_bytes(page, str(page)).decode("utf-8", "replace") if page.is_file() else ""
