"""Reference outputs: computed, written to a file, and read again."""

from __future__ import annotations

import gzip
import hashlib
import json
import platform
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy
from tqdm import tqdm

import ir_measures_relative

from .campaign import Campaign
from .cases import PARTS, Case, Table, cases
from .names import new_question, renamed


class Key(NamedTuple):
    """The key of a table."""

    campaign: str
    part: str
    name: str


@dataclass
class Result:
    """A table as it was computed, or what a digest holds of it.

    Attributes:
        seconds: of CPU time.
        refused: the kind of error, where the package refused the question.
        table: its rows in the order of their keys; None in a digest, and where it was refused.
        digest: the number of rows, their hash, and the means; empty where there is a table.
    """

    seconds: float
    refused: str = ""
    table: Table | None = None
    digest: dict[str, Any] = field(default_factory=dict)

    def digested(self) -> dict[str, Any]:
        """The number of rows, the hash of keys and values, and the mean of each column of numbers."""
        if self.table is None:
            return self.digest
        keys, values = self.table
        finite = {n: a[np.isfinite(a)] for n, a in values.items() if a.dtype.kind in "if"}
        return {
            "rows": self.table.rows,
            "hash": _hash_of(*keys.values(), *values.values())[:12],
            # with as many digits as the tolerance needs; the hash is of all of them
            "means": {n: float(f"{a.mean():.14g}") if len(a) else None for n, a in finite.items()},
        }


@dataclass
class Outputs:
    """All that was computed in one go.

    Attributes:
        about: versions and machine.
        data: the hash of the files of each campaign.
        results: the tables.
    """

    about: dict[str, str]
    data: dict[str, str]
    results: dict[Key, Result]

    def save(self, path: Path) -> None:
        """Writes every value; an array that several tables share, such as their keys, once."""
        arrays: dict[str, Any] = {}
        place: dict[str, str] = {}
        listed: list[dict[str, Any]] = []
        for key, result in self.results.items():
            entry = {**key._asdict(), "seconds": result.seconds, "refused": result.refused}
            for kind, columns in result.table._asdict().items() if result.table is not None else ():
                entry[kind] = {}
                for name, array in columns.items():
                    content = _hash_of(array)
                    if content not in place:
                        place[content] = f"a{len(place)}"
                        arrays[place[content]] = array
                    entry[kind][name] = place[content]
            listed.append(entry)
        index = {"about": self.about, "data": self.data, "results": listed}
        with path.open("wb") as file:
            np.savez_compressed(file, index=np.array(json.dumps(index)), **arrays)

    def save_digest(self, path: Path) -> None:
        """Writes the hash and the means of each table, packed; without the statistics, which may change."""
        tables: dict[str, dict[str, dict[str, Any]]] = {}
        for (campaign, part, name), result in self.results.items():
            if part != "statistics":
                of_part = tables.setdefault(campaign, {}).setdefault(part, {})
                of_part[name] = result.refused or result.digested()
        index = {"about": self.about, "data": self.data, "tables": tables}
        path.write_bytes(gzip.compress(json.dumps(index).encode(), mtime=0))


def load(path: Path) -> Outputs:
    """The outputs that a file holds."""
    if not path.exists():
        raise SystemExit(f"{path} is not there; `python -m tools.anchored write {path}` makes it")
    if path.suffix == ".gz":
        index = json.loads(gzip.decompress(path.read_bytes()))
        results = {
            Key(campaign, part, new_question(name)): Result(0.0, said)
            if isinstance(said, str)
            else Result(0.0, digest=said)
            for campaign, parts in index["tables"].items()
            for part, tables in parts.items()
            for name, said in tables.items()
        }
        return Outputs(index["about"], index["data"], results)
    with np.load(path) as archive:
        arrays: dict[str, Any] = {name: archive[name] for name in archive.files}
    index = json.loads(str(arrays["index"]))
    results = {}
    for entry in index["results"]:
        table = None
        if not entry["refused"]:
            keys, values = ({name: arrays[place] for name, place in entry[k].items()} for k in Table._fields)
            values = renamed(values) if entry["part"] in ("bounds", "verdicts") else values
            table = Table(keys, values).ordered()
        key = Key(entry["campaign"], entry["part"], new_question(entry["name"]))
        results[key] = Result(entry["seconds"], entry["refused"], table)
    return Outputs(index["about"], index["data"], results)


def compute(
    campaigns: Sequence[Campaign], *, part: str = "all", quick: bool = False, only: str = ""
) -> Outputs:
    """Computes the tables of the campaigns."""
    parts = PARTS if part == "all" else (part,)
    print(f"computed by {Path(ir_measures_relative.__file__).parent}", flush=True)
    todo = [
        (campaign, case)
        for campaign in campaigns
        for case in cases(campaign, parts)
        if (case.quick or not quick) and only in case.name
    ]
    results = {}
    for campaign, case in (bar := tqdm(todo, unit="table", disable=None)):
        bar.set_description(f"{campaign.name} {case.part} {case.name}"[:60])
        results[Key(campaign.name, case.part, case.name)] = _result_of(case)
    return Outputs(_about(), {campaign.name: campaign.data for campaign in campaigns}, results)


def _result_of(case: Case) -> Result:
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # only values are compared
            table = case.compute().ordered()
    except Exception as error:  # one table that fails must not lose the others
        if not isinstance(error, ValueError):
            tqdm.write(f"{case.campaign} {case.part} {case.name}: {type(error).__name__}: {error}")
        return Result(time.process_time() - began, type(error).__name__)
    return Result(time.process_time() - began, table=table)


def _about() -> dict[str, str]:
    return {
        "ir_measures_relative": ir_measures_relative.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pandas": pd.__version__,
        "scipy": scipy.__version__,
        "machine": f"{platform.system()} {platform.machine()}",
    }


def _hash_of(*arrays: Any) -> str:
    found = hashlib.sha256()
    for array in arrays:
        found.update(f"{array.dtype.str} {array.shape}".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()
