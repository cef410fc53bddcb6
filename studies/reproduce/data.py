"""The campaigns that the experiments run on: folders of TREC runs."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from ir_measures_relative import RunContext
from ir_measures_relative.formats.run_paths import run_files
from ir_measures_relative.io.files import read_bytes
from ir_measures_relative.io.trec_columns import Columns

from .known import Known, known

_QRELS = ["query_id", "iteration", "doc_id", "relevance"]


@dataclass(frozen=True)
class Campaign:
    """A folder with ``runs/``, one ``qrels*`` file and, where groups are known, ``groups.csv`` (``run,group``)."""

    folder: Path

    def __post_init__(self) -> None:
        if not self.folder.is_dir():
            raise SystemExit(f"{self.folder} is not a folder: give the one that has runs/ and qrels.txt.gz")
        if not (self.folder / "runs").is_dir():
            raise SystemExit(
                f"{self.folder} holds no folder runs/: give the folder that has runs/ and qrels.txt.gz"
            )
        if not list(self.folder.glob("qrels*")):
            raise SystemExit(f"{self.folder} holds no file qrels*: put the judgments beside runs/")

    def check(self) -> None:
        """Ends with a message where there is too little to compare: runs, topics, or a relevant document."""
        for count, least, what in (
            (len(self.context.names), 3, "runs"),
            (len(self.queries), 2, "judged topics"),
            (int((self.qrels["relevance"] >= 1).sum()), 1, "documents of relevance 1 or more"),
        ):
            if count < least:
                raise SystemExit(f"{self.folder}: {what}: {count}; the experiments need {least} or more")

    @cached_property
    def known(self) -> Known | None:
        """Which of the papers' campaigns it is, by its topics; None for another."""
        return known(self.qrels["query_id"].unique())

    @property
    def name(self) -> str:
        """What tables and pictures call it: by the papers where it is theirs, else by its folder."""
        return self.known.name if self.known else self.folder.resolve().name

    @property
    def file_name(self) -> str:
        """Its name as a part of a file's: ``"deep-pass-2019"``."""
        return re.sub(r"\W+", "-", self.name).strip("-")

    @cached_property
    def context(self) -> RunContext:
        """All of its runs, by the tags in the files."""
        try:
            return RunContext.from_files(self.folder / "runs")
        except (ValueError, OSError) as error:
            raise SystemExit(f"{self.folder / 'runs'}: {error}") from None

    @cached_property
    def qrels(self) -> pd.DataFrame:
        """Its judgments, in ir_measures' columns."""
        return read_qrels(sorted(self.folder.glob("qrels*"))[0])

    @cached_property
    def queries(self) -> list[str]:
        """The judged queries, sorted."""
        return sorted(self.qrels["query_id"].unique())

    @cached_property
    def groups(self) -> dict[str, str] | None:
        """The group that submitted each run; None where ``groups.csv`` is missing."""
        path = self.folder / "groups.csv"
        if not path.exists():
            return None
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        if frame.shape[1] != 2:
            raise SystemExit(f"{path} has {frame.shape[1]} columns; give two, run and group, with a heading")
        groups = dict(frame.itertuples(index=False, name=None))
        lacking = [name for name in self.context.names if name not in groups]
        if lacking:
            raise SystemExit(f"{path} says no group of {', '.join(lacking)}; add a line for each run")
        return groups

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The rows of the run files as they stand there, of judged queries: name, query_id, doc_id, rank, place.

        ``place`` counts the rows of a query in its file from 1. Programs that do not sort by score see this order.
        """
        frames = []
        files = list(zip(self.context.names, run_files(self.folder / "runs"), strict=True))
        for name, path in tqdm(files, desc="rows as they stand", unit="run", disable=None, leave=False):
            columns = Columns(read_bytes(path, str(path)), 6)
            frames.append(
                pd.DataFrame({"query_id": columns.ids(0).strings(), "doc_id": columns.ids(2).strings()})
            )
            frames[-1]["rank"] = columns.floats(3)
            frames[-1]["name"] = name
        rows = pd.concat(frames, ignore_index=True)
        rows = rows[rows["query_id"].isin(set(self.queries))]
        return rows.assign(place=rows.groupby(["name", "query_id"], sort=False).cumcount() + 1)

    def top(self, depth: int) -> dict[str, pd.DataFrame]:
        """The first documents of each ranking, in trec_eval's order."""
        found = {}
        for name, run in self.context.runs.items():
            top = run.top(depth)
            queries = np.asarray(run.query_ids, dtype=object)[top.query]
            columns = {"query_id": queries, "doc_id": top.doc_ids, "score": -top.position.astype(float)}
            found[name] = pd.DataFrame(columns)
        return found

    def in_file_order(self, names: Collection[str]) -> dict[str, pd.DataFrame]:
        """These runs with the order of their rows for the ranking."""
        rows = self.rows[self.rows["name"].isin(names)]
        scored = rows.assign(score=-rows["place"].astype(float))[["name", "query_id", "doc_id", "score"]]
        found = {name: frame.drop(columns="name") for name, frame in scored.groupby("name", sort=False)}
        return {name: found[name] for name in names}


def read_qrels(path: Path) -> pd.DataFrame:
    """The judgments of a file, in ir_measures' columns."""
    try:
        frame = pd.read_csv(path, sep=r"\s+", names=_QRELS, dtype=dict.fromkeys(_QRELS[:3], str))
        return frame.astype({"relevance": np.int64})
    except (ValueError, OSError) as error:
        raise SystemExit(
            f"{path} is not a qrels file of 'query_id 0 doc_id relevance' a line: {error}"
        ) from None


@dataclass(frozen=True)
class Data:
    """The campaigns that were given; None for one that was not."""

    robust: Campaign | None = None
    dl19: Campaign | None = None
    dl21: Campaign | None = None
    letor: tuple[Campaign, ...] = ()  #: made of learning-to-rank data, for the experiments of UE

    def __post_init__(self) -> None:
        names = [campaign.name for campaign in self.given]
        for name in names:
            if names.count(name) > 1:
                raise SystemExit(
                    f"two campaigns are both {name}: give one of them, or name the folders apart"
                )

    @property
    def given(self) -> list[Campaign]:
        """Those that were given."""
        return [campaign for campaign in (self.robust, self.dl19, self.dl21) if campaign is not None]
