"""The campaigns that reference outputs are of: where they are, and what of them is used."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from ir_measures_relative import RunContext

from .names import member, public

ROOT = Path(__file__).resolve().parents[2]

#: The campaigns of the reference outputs, and how many documents the collection of each has.
NUM_DOCS = {"robust03": 528_155, "dl19": 8_841_823, "dl21": 138_364_198}


def folder_of(name: str) -> Path | None:
    """Return the folder of a campaign: that of the environment variable with its name, else one in ``../shared``."""
    named = os.environ.get(name.upper())
    folder = Path(named) if named else ROOT.parent / "shared" / name
    return folder if (folder / "qrels.txt.gz").exists() else None


class Campaign:
    """A folder with ``runs/`` and ``qrels.txt.gz``, and perhaps ``groups.csv`` with the columns run and group."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self._contexts: dict[str, RunContext] = {}

    @property
    def qrels_path(self) -> Path:
        """The judgments."""
        packed = self.folder / "qrels.txt.gz"
        return packed if packed.exists() else self.folder / "qrels.txt"

    @cached_property
    def data(self) -> str:
        """A hash of the files, to tell other values from other input."""
        found = hashlib.sha256()
        for path in [*sorted((self.folder / "runs").iterdir()), self.qrels_path]:
            found.update(path.name.encode())
            found.update(path.read_bytes())
        return found.hexdigest()[:16]

    @cached_property
    def runs(self) -> dict[str, Any]:
        """The runs, by name."""
        return dict(member(RunContext, "from_files")(self.folder / "runs").runs)

    @cached_property
    def names(self) -> list[str]:
        """The names of the runs, in the order of their files."""
        return list(self.runs)

    @cached_property
    def qrels(self) -> pd.DataFrame:
        """The judgments, as a frame with ir_measures' names of columns."""
        columns = ["query_id", "iteration", "doc_id", "relevance"]
        text = dict.fromkeys(columns[:3], str)
        frame = pd.read_csv(self.qrels_path, sep=r"\s+", header=None, names=columns, dtype=text)
        return frame.drop(columns="iteration")

    @cached_property
    def thin_qrels(self) -> pd.DataFrame:
        """About half of the judgments, always the same ones: many more documents are open."""
        pairs = zip(self.qrels["query_id"], self.qrels["doc_id"], strict=True)
        kept = [hashlib.sha256(f"{q} {d}".encode()).digest()[0] % 2 == 0 for q, d in pairs]
        return self.qrels[kept].reset_index(drop=True)

    @cached_property
    def query_number(self) -> dict[str, int]:
        """From the id of a query to its place among the sorted ids."""
        return {q: i for i, q in enumerate(sorted(self.qrels["query_id"].unique()))}

    @cached_property
    def groups(self) -> dict[str, str]:
        """From run name to group name; empty where no file says so."""
        path = self.folder / "groups.csv"
        if not path.exists():
            return {}
        frame = pd.read_csv(path, dtype=str)
        of_run = dict(zip(frame["run"], frame["group"], strict=True))
        return {name: of_run.get(name, name) for name in self.names}

    @cached_property
    def few(self) -> list[str]:
        """Eight runs from all over the campaign, for what compares each two."""
        return self.names[:: max(1, len(self.names) // 8)][:8]

    def context(self, policy: str = "others", only: Sequence[str] = ()) -> RunContext:
        """The context of all runs, or of some, under one of the prior policies."""
        key = f"{policy} {' '.join(only)}"
        if key not in self._contexts:
            names = list(only) or self.names
            policies = {"list": names[1:4], "groups": public("BestOfOtherGroups")()}
            self._contexts[key] = RunContext(
                {name: self.runs[name] for name in names},
                priors=policies.get(policy, policy),
                reference=None if only else names[0],
                groups={name: self.groups[name] for name in names} if self.groups else None,
                num_docs=NUM_DOCS.get(self.name, 1_000_000),
            )
        return self._contexts[key]
