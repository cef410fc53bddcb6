"""What stands beside run files and tells of them: the ``ir-metadata.yml`` of TIRA, and how its folders are laid out."""

from __future__ import annotations

import os
from pathlib import Path

from ..io.files import read_bytes
from ..io.readers import FOLDERS, Described, FolderContent

# The names of the run in each folder of TIRA's, and of what describes it: beside it, or beside its folder.
_RUNS = ("run.txt", "run.txt.gz")
_METADATA = ("ir-metadata.yml", "ir-metadata.yaml", ".ir-metadata.yml", ".ir_metadata")


@FOLDERS.register("TIRA")
def read_tira(folder: Path) -> FolderContent | None:
    """The run in one of TIRA's folders, or the runs in those below a folder; None where there are none.

    Raises:
        ValueError: a description that is no YAML.
    """
    names = os.listdir(folder)
    others = sorted(folder / name for name in names if not name.startswith(".") and name not in _METADATA)
    if not {*_RUNS, *_METADATA} & set(names) and any(file.is_file() for file in others):
        return None
    runs = [file for file in others if file.is_file()]
    if not runs:
        runs = sorted(file for name in _RUNS for file in folder.rglob(name) if file.is_file())
    return FolderContent({file: described(file) for file in runs}) if runs else None


def described(run: Path) -> Described:
    """What an ``ir-metadata.yml`` says of a run of TIRA's: its tag, and its team as the group.

    Raises:
        ValueError: a description that is no YAML.
    """
    if run.name not in _RUNS:
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
