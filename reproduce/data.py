"""The campaigns that the experiments run on: folders of TREC runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from ir_measures_relative import RunContext

_QRELS = ["query_id", "iteration", "doc_id", "relevance"]


@dataclass(frozen=True)
class Campaign:
    """A folder with ``runs/``, one ``qrels*`` file and, where groups are known, ``groups.csv`` (``run,group``)."""

    folder: Path

    def __post_init__(self) -> None:
        if not (self.folder / "runs").is_dir():
            raise SystemExit(
                f"{self.folder} holds no folder runs/: give the folder that has runs/ and qrels.txt.gz"
            )
        if not list(self.folder.glob("qrels*")):
            raise SystemExit(f"{self.folder} holds no file qrels*: put the judgments beside runs/")

    @cached_property
    def context(self) -> RunContext:
        """All of its runs, by the tags in the files."""
        return RunContext.from_trec(self.folder / "runs")

    @cached_property
    def qrels(self) -> pd.DataFrame:
        """Its judgments, in ir_measures' columns."""
        path = sorted(self.folder.glob("qrels*"))[0]
        return pd.read_csv(path, sep=r"\s+", names=_QRELS, dtype=dict.fromkeys(_QRELS[:3], str))

    @cached_property
    def groups(self) -> dict[str, str] | None:
        """The group that submitted each run; None where ``groups.csv`` is missing."""
        path = self.folder / "groups.csv"
        if not path.exists():
            return None
        return dict(pd.read_csv(path, dtype=str).itertuples(index=False, name=None))


@dataclass(frozen=True)
class Data:
    """The campaigns that were given; None for one that was not."""

    robust: Campaign | None = None
    dl19: Campaign | None = None
