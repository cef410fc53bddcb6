"""A campaign as an archive has it: a folder of run files, pages that say who sent each for which task, judgments."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import ir_measures

from ..messages import warn
from ..rankings import Rankings
from .datasets import dataset_of
from .files import read_bytes
from .qrels import read_qrels_file
from .runs import read_run

_RUN = re.compile(r"(?:input[.-])?(.+?)(\.gz|\.bz2|\.xz)?", re.DOTALL)
_QRELS = re.compile(r"(^|[^a-z])qrels?([^a-z]|$)", re.IGNORECASE)
_PAGES = (".md", ".html", ".pdf", ".yml", ".yaml")
_FIELD = re.compile(r"^ ?- :[\w-]+: \*\*([^*\n]+):\*\* (.*?) *$", re.MULTILINE)
_INPUT = re.compile(r"\*\*`Input`\*\*\]\((\S+?)\)")


class Submission(NamedTuple):
    """What the pages of an archive say of a run; None where they do not."""

    participant: str | None = None
    task: str | None = None
    url: str | None = None
    md5: str | None = None


class ReadCampaign(NamedTuple):
    """The runs of a campaign, who sent each, and its judgments."""

    runs: dict[str, Rankings]
    groups: dict[str, str] | None
    judgments: Any  #: a dataset of ir_datasets, or :class:`JudgmentsOfFile`; None where there are none


class JudgmentsOfFile:
    """A file of judgments, as a dataset of ir_datasets that has nothing else."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def has(self, part: str) -> bool:
        """Whether it has a part of a dataset."""
        return part == "qrels"

    def has_qrels(self) -> bool:
        """It has judgments."""
        return True

    def has_docs(self) -> bool:
        """It has no documents."""
        return False

    has_queries = has_scoreddocs = has_docs

    def qrels_defs(self) -> dict[int, str]:
        """It does not say which labels there are."""
        return {}

    def qrels_iter(self) -> Iterator[ir_measures.Qrel]:
        """The judgments as ir_measures takes them; raises as :func:`read_qrels_file` does."""
        return read_qrels_file(self.path).as_ir_measures()


def read_campaign(folder: Path, task: str | None, judgments: Any = None) -> ReadCampaign:
    """Reads a campaign from its folder.

    Args:
        task: the task whose runs are meant, where the pages tell of several.
        judgments: a file of judgments, or an id of ir_datasets; the judgments in the folder if not given.

    Raises:
        FileNotFoundError: a folder without runs.
        ValueError: runs of several tasks, and none is asked for; several files of judgments; a run that cannot be read.
    """
    listed = pages_of(folder)
    files = {name_of(file): file for file in _run_files(folder)}
    if not files:
        raise FileNotFoundError(f"{folder} holds no file of a run; put input.NAME.gz or NAME.gz into it")
    names = of_task({name: listed.get(name, Submission()) for name in files}, task, str(folder))
    runs = {name: read_run(files[name], str(files[name])).described(tag=name) for name in names}
    unknown = [name for name in names if not listed.get(name, Submission()).participant]
    if listed and unknown:
        warn(
            f"{folder}: runs.md does not say who sent {', '.join(unknown[:5])}; each counts as a group of its own"
        )
    groups = {name: listed.get(name, Submission()).participant or name for name in names} if listed else None
    return ReadCampaign(runs, groups, _judgments_of(folder, judgments))


def name_of(file: Path) -> str:
    """The name of the run in a file such as ``input.NAME.gz``."""
    found = _RUN.fullmatch(file.name)
    return found[1] if found else file.name


def of_task(listed: Mapping[str, Submission], task: str | None, source: str) -> list[str]:
    """The names of the runs of a task, in their order.

    Raises:
        ValueError: there are several tasks and none is asked for, or no run of the one that is.
    """
    tasks = Counter(one.task for one in listed.values() if one.task)
    shown = ", ".join(f"{name!r} ({count} runs)" for name, count in sorted(tasks.items()))
    if task is None and len(tasks) > 1:
        first = min(tasks)
        raise ValueError(f"{source} holds runs of several tasks: {shown}; say which, such as task={first!r}")
    if task is not None and task not in tasks:
        raise ValueError(
            f"{source} has no run of the task {task!r}; there are {shown or 'no tasks in its pages'}"
        )
    return sorted(name for name, one in listed.items() if task is None or one.task == task)


def pages_of(folder: Path) -> dict[str, Submission]:
    """What ``runs.md`` and ``participants.md`` in a folder say of each run; nothing where they are not there."""
    texts = [_text(folder / name) for name in ("runs.md", "participants.md")]
    found = runs_listed(texts[0])
    for block in re.split(r"(?m)^#### ", texts[1])[1:]:
        participant = block.split("\n", 1)[0].strip()
        of_participant = dict(_FIELD.findall(block)).get("Runs", "")
        for run in re.findall(r"\[([^\]]+)\]", of_participant):
            one = found.get(run, Submission())
            found[run] = one._replace(participant=one.participant or participant)
    return found


def runs_listed(text: str) -> dict[str, Submission]:
    """What the text of a ``runs.md`` says of each run."""
    found = {}
    for block in re.split(r"(?m)^#### ", text)[1:]:
        fields, url = dict(_FIELD.findall(block)), _INPUT.search(block)
        name = fields.get("Run ID") or block.split("\n", 1)[0].strip()
        md5 = fields.get("MD5", "").strip("`").lower() or None
        found[name] = Submission(fields.get("Participant"), fields.get("Task"), url[1] if url else None, md5)
    return found


def _text(page: Path) -> str:
    return read_bytes(page, str(page)).decode("utf-8", "replace") if page.is_file() else ""


def _run_files(folder: Path) -> list[Path]:
    files = sorted(f for f in folder.iterdir() if f.is_file() and not f.name.startswith("."))
    return [f for f in files if f.suffix not in _PAGES and not _QRELS.search(f.name)]


def _judgments_of(folder: Path, given: Any) -> Any:
    if given is not None:
        is_file = isinstance(given, (str, Path)) and Path(given).is_file()
        return JudgmentsOfFile(Path(given)) if is_file else dataset_of(given)
    files = [f for f in sorted(folder.iterdir()) if f.is_file() and _QRELS.search(f.name)]
    if len(files) > 1:
        names = ", ".join(f.name for f in files)
        raise ValueError(
            f"{folder} holds several files of judgments, {names}; say which: judgments={str(files[0])!r}"
        )
    return JudgmentsOfFile(files[0]) if files else None
