"""What stands beside run files and tells of them: the ``ir-metadata.yml`` of TIRA, and how its folders are laid out."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from .files import read_bytes

#: The names of the run in each folder of TIRA's, and of what describes it: beside it, or beside its folder.
TIRA_RUNS = ("run.txt", "run.txt.gz")
_METADATA = ("ir-metadata.yml", "ir-metadata.yaml", ".ir-metadata.yml", ".ir_metadata")


class Described(NamedTuple):
    """What a description says of a run; None where it does not."""

    tag: str | None = None
    group: str | None = None


def tira_runs(folder: Path) -> list[Path]:
    """The runs in the folders of TIRA's below one, each called ``run.txt``, in order."""
    return sorted(file for name in TIRA_RUNS for file in folder.rglob(name) if file.is_file())


def is_description(file: Path) -> bool:
    """Whether a file describes runs, and is none."""
    return file.name in _METADATA


def described(run: Path) -> Described:
    """What an ``ir-metadata.yml`` says of a run of TIRA's: its tag, and its team as the group.

    Raises:
        ValueError: a description that is no YAML.
    """
    if run.name not in TIRA_RUNS:
        return Described()
    places = (folder / name for folder in run.absolute().parents[:2] for name in _METADATA)
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        return Described()
    import yaml

    try:
        found = yaml.safe_load(read_bytes(file, str(file)))
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"{file} is no YAML ({str(error).splitlines()[0]}); mend it or remove it") from None
    found = found if isinstance(found, dict) else {}
    actor = found.get("actor")
    return Described(_text(found.get("tag")), _text(actor.get("team") if isinstance(actor, dict) else None))


def _text(value: object) -> str | None:
    """What stands in a description as a string; None for nothing, and for a list or the like."""
    return str(value) if isinstance(value, (str, int, float)) and str(value) else None
