"""A folder as downloaded from an archive: run files, pages that say who sent each for which task, judgments."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ..io.files import read_bytes
from ..io.readers import FOLDERS, Described, FolderContent
from ..messages import few

_RUN = re.compile(r"(?:input[.-])?(.+?)(\.gz|\.bz2|\.xz)?", re.DOTALL)
_QRELS = re.compile(r"(^|[^a-z])qrels?([^a-z]|$)", re.IGNORECASE)
_PREFIXES = ("input.", "input-")
_TOLD_IN = ("runs.md", "participants.md")  # the pages that tell of runs
_PAGES = (".md", ".html", ".pdf", ".yml", ".yaml")
_FIELD = re.compile(r"^ ?- :[\w-]+: \*\*([^*\n]+):\*\* (.*?) *$", re.MULTILINE)


@FOLDERS.register("archive")
def read_archive_folder(folder: Path) -> FolderContent | None:
    """The runs of a folder as downloaded, with the participant of each as its group, and its files of judgments.

    None for a folder without the archive's pages and without files such as ``input.NAME.gz``.
    """
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
