"""Ratios, tables, and the pages that they are written into."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from packaging.version import Version

from benchmarks.growth import Growth
from benchmarks.timing import Cost, load

ROOT = Path(__file__).resolve().parents[1]


class Row(NamedTuple):
    """The cost of some work, and of what it is compared with."""

    work: str
    against: str
    ours: Cost
    theirs: Cost
    limit: float | None = None
    ids: str = ""  #: the dtype of the frames' ids

    @property
    def ratio(self) -> float:
        """The ratio of the CPU times."""
        return self.ours.cpu / self.theirs.cpu


class Memory(NamedTuple):
    """The most that some work holds, beside the frames that it is given."""

    work: str
    ids: str
    peak: int
    frames: int
    limit: float | None = None

    @property
    def ratio(self) -> float:
        return self.peak / self.frames


def table(header: Sequence[str], rows: Iterable[Sequence[str]], numbers: int) -> str:
    """A table in Markdown, of which the last columns are numbers."""
    rule = ["---"] * (len(header) - numbers) + ["--:"] * numbers
    lines = [header, rule, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def ratios(rows: Sequence[Row]) -> str:
    with_ids = any(row.ids for row in rows)
    header = ["work", "against", *["ids"] * with_ids]
    return table(
        [*header, "CPU", "must be", "wall", "CPU s", "wall s"],
        [
            [
                row.work,
                row.against,
                *[row.ids] * with_ids,
                _marked(row.ratio, row.limit),
                _limit(row.limit),
                f"{row.ours.wall / row.theirs.wall:.3f}",
                f"{row.ours.cpu:.3f} / {row.theirs.cpu:.3f}",
                f"{row.ours.wall:.3f} / {row.theirs.wall:.3f}",
            ]
            for row in rows
        ],
        5,
    )


def memories(rows: Sequence[Memory]) -> str:
    return table(
        ["peak memory of", "to that of", "ids", "ratio", "must be", "MB"],
        [
            [
                row.work,
                "the frames",
                row.ids,
                _marked(row.ratio, row.limit),
                _limit(row.limit),
                f"{row.peak / 1e6:.0f} / {row.frames / 1e6:.0f}",
            ]
            for row in rows
        ],
        3,
    )


def growths(rows: Sequence[Growth]) -> str:
    return table(
        ["time with the", "of", "sizes", "CPU s", "exponent", "last step's", "must be"],
        [
            [
                row.axis,
                row.work,
                _list(f"{size:,}" for size in row.sizes),
                _list(f"{seconds:.3g}" for seconds in row.seconds),
                f"{row.exponent:.2f}",
                _marked(row.last, row.limit, 2),
                _limit(row.limit),
            ]
            for row in rows
        ],
        3,
    )


def versions() -> str:
    """Return the versions and the machine, on which the figures depend."""
    packages = [
        "ir-measures-relative",
        "numpy",
        "pandas",
        "pyarrow",
        "ir_measures",
        "pytrec_eval-terrier",
        "polars",
    ]
    lines = [f"Python {platform.python_version()}"]
    for package in packages:
        try:
            lines.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            lines.append(f"{package} not installed")
    machine = f"{os.cpu_count()} cores ({platform.machine()}, {platform.system()})"
    return f"{', '.join(lines)}; {machine}, load {load():.1f} at the start."


def _marked(value: float, limit: float | None, digits: int = 3) -> str:
    """The value, in bold where it is beyond the limit."""
    text = f"{value:.{digits}f}"
    return f"**{text}**" if limit is not None and value > limit else text


def _limit(limit: float | None) -> str:
    return "" if limit is None else f"≤ {limit:g}"


def _list(texts: Iterable[str]) -> str:
    return "; ".join(texts)


def record(rows: Iterable[tuple[str, Row]], path: Path) -> None:
    """Write the ratios of this version into a table of ratios by version, in place of earlier ones of the same work.

    Args:
        rows: the collection that was measured, and what was measured on it.
        path: a CSV file, which need not exist.
    """
    from ir_measures_relative import __version__

    work = ["version", "collection", "row", "against", "ids"]
    new = pd.DataFrame(
        [
            (__version__, collection, row.work, row.against, row.ids, f"{row.ratio:.4f}")
            for collection, row in rows
        ],
        columns=[*work, "ratio"],
    )
    if path.exists():
        new = pd.concat([pd.read_csv(path, dtype=str, keep_default_na=False), new])
    new = new.drop_duplicates(work, keep="last")
    new.sort_values("version", key=lambda texts: texts.map(Version), kind="stable").to_csv(path, index=False)
