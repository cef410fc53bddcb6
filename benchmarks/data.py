"""The campaigns of the benchmark: folders of real runs, where they are there, as frames and as unpacked files."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pandas as pd

Frames: TypeAlias = dict[str, pd.DataFrame]

_SHARED = Path(__file__).resolve().parents[2] / "shared"
_UNPACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
}


class Folder(NamedTuple):
    """A real campaign: run files, plain or packed, and the judgments."""

    title: str
    runs: list[Path]
    qrels: Path

    def frames(self, ids: str) -> tuple[Frames, pd.DataFrame]:
        """Runs by file name and qrels, as pandas reads them with ids of this dtype, ``str`` or ``object``."""
        runs = {path.name: _read(path, _RUN, ids)[["query_id", "doc_id", "score"]] for path in self.runs}
        return runs, _read(self.qrels, _QRELS, ids)[["query_id", "doc_id", "relevance"]]

    def unpacked(self, folder: Path) -> tuple[list[Path], Path]:
        """Copies of the files that every program can read: (runs, qrels)."""
        (folder / "runs").mkdir(parents=True)
        qrels = folder / "qrels"
        copies = [folder / "runs" / path.name.removesuffix(path.suffix) for path in self.runs]
        for path, copy in zip([*self.runs, self.qrels], [*copies, qrels], strict=True):
            copy.write_bytes(_UNPACK.get(path.suffix, bytes)(path.read_bytes()))
        return copies, qrels


def real_campaigns() -> dict[str, Folder]:
    """The campaigns that are here, by the environment variable that names their folder.

    A folder holds ``runs/``, perhaps ``later/`` with more runs, and ``qrels.txt.gz``.
    """
    campaigns = {}
    for variable, name, title in (
        ("ROBUST03", "robust03", "TREC 2003 Robust track"),
        ("DL19", "dl19", "TREC 2019 Deep Learning track, with later runs"),
    ):
        folder = Path(os.environ.get(variable) or _SHARED / name)
        if (folder / "qrels.txt.gz").exists():
            campaigns[variable] = find_runs(folder, title)
    return campaigns


def find_runs(folder: Path, title: str) -> Folder:
    """Return a campaign: ``runs/``, perhaps ``later/`` with more runs, and ``qrels.txt.gz``."""
    runs = [path for part in ("runs", "later") for path in sorted((folder / part).glob("*"))]
    return Folder(title, runs, folder / "qrels.txt.gz")


_RUN = ["query_id", "q0", "doc_id", "rank", "score", "tag"]
_QRELS = ["query_id", "iteration", "doc_id", "relevance"]


def _read(path: Path, columns: list[str], ids: str) -> pd.DataFrame:
    dtype = {"str": str, "object": object}[ids]
    texts = {column: dtype for column in columns if column not in ("rank", "score", "relevance")}
    return pd.read_csv(path, sep=r"\s+", header=None, names=columns, dtype=texts)
