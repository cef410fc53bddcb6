"""Run files, a file a run, written anew query by query: what :func:`evaluate` reads without a shuffle.

One machine does it, in one pass over the run files and without holding them all: rows are collected until they fill a
buffer, sorted by query and put aside in a file; in the end each query's rows are picked from these files.
"""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from tqdm import tqdm

from ..data.arrays import IntArray, object_array
from ..data.ids import Ids
from ..data.rankings import Rankings
from ..io.runs import name_runs, read_run, run_files
from ..messages import needs_extra

if TYPE_CHECKING:
    import pyarrow

_ROWS = 250_000  # a file
_BUFFER = 128 * 2**20  # bytes
_PIECE = 2**22  # bytes of ids that are copied at a time


def by_query(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    folder: str | os.PathLike[str],
    *,
    rows_per_file: int = _ROWS,
    buffer: int = _BUFFER,
) -> list[str]:
    """Writes run files anew as Parquet files that hold some queries each, with all rows of these of every run.

    ``evaluate(dask.dataframe.read_parquet(folder), qrels, measures, names=names)``, with the names that this returns,
    then needs no shuffle. In memory is a run at a time, about six times its file (unpacked); the buffer, four times its
    size while it is sorted; and one of the files that are written. The disk holds the rows once more meanwhile, 24
    bytes and a document id each. ``folder`` appears when all is written, and does not where something goes wrong.

    Args:
        paths: a folder (every file in it is a run), a glob, a path, or several paths, as for
            :meth:`RunContext.from_files`, which also names the runs as here.
        folder: where to write ``part-00000.parquet`` and so on: columns ``name``, ``query_id``, ``doc_id``, ``score``.
            Scores are what is compared, 32-bit floats.
        rows_per_file: about how many rows a file gets; a query is never split. A worker scores a file at a time.
        buffer: how many bytes to collect before they are sorted and put aside.

    Returns:
        the names of the runs, in the order of the files: with ``names=`` these are ``evaluate``'s, and a run without
        a row is one of them.

    Raises:
        ImportError: pyarrow is missing; says how to install it.
        FileExistsError: ``folder`` holds something.
        FileNotFoundError: no run there.
        ValueError: a file that is not a run; names file and line.
    """
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise needs_extra(f"by_query ({error})", "dask") from error
    if rows_per_file < 1 or buffer < 1:
        raise ValueError(f"rows_per_file={rows_per_file}, buffer={buffer}: both must be at least 1")
    target = Path(folder)
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise FileExistsError(f"{target} is there already; name a folder that is not, or remove it")
    files = run_files(paths)
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    (partial / "aside").mkdir(parents=True)
    try:
        rows = _CollectedRows(partial / "aside", buffer)
        read, nothing = list[Rankings](), object_array([])
        for i, file in enumerate(tqdm(files, desc="reading runs", unit="run", disable=None, leave=False)):
            run = read_run(file, str(file))
            rows.add(i, run)
            # What names a run, when its rows are let go.
            read.append(Rankings(nothing, nothing, np.empty(0), name=run.name, tag=run.tag, group=run.group))
        rows.put_aside()
        names = name_runs(files, read)
        parts = rows.parts(rows_per_file)
        if not parts:
            raise ValueError(f"{len(files)} run file(s) without a row: there is nothing to write")
        runs, queries = (pyarrow.array(ids, pyarrow.string()) for ids in (names, rows.query_ids))
        for i, part in enumerate(tqdm(parts, desc="writing queries", unit="file", disable=None, leave=False)):
            _write(rows.of(part), runs, queries, partial / f"part-{i:05d}.parquet")
        shutil.rmtree(partial / "aside")
        partial.replace(target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return names


def _by_query(tables: Sequence[pyarrow.Table]) -> pyarrow.Table:
    """The rows of all tables, sorted by query, and those of one query in the order given."""
    import pyarrow

    rows: pyarrow.Table = pyarrow.concat_tables(tables).sort_by("query")  # which is stable
    return rows.combine_chunks()


class _CollectedRows:
    """The rows of all runs, by numbers of run and query: as many as the buffer takes in memory, others put aside."""

    def __init__(self, folder: Path, buffer: int) -> None:
        self._folder = folder
        self._buffer = buffer
        self._code: dict[str, int] = {}
        self._held: list[pyarrow.Table] = []
        #: Files sorted by query: the rows of query ``i`` are ``starts[i]:starts[i + 1]``; later queries have none.
        self._aside: list[tuple[Path, IntArray]] = []

    @property
    def query_ids(self) -> list[str]:
        """All queries, in the order in which they came."""
        return list(self._code)

    def add(self, run: int, rankings: Rankings) -> None:
        """Takes the rows of a run."""
        import pyarrow

        code = np.array(
            [self._code.setdefault(q, len(self._code)) for q in rankings.query_ids], dtype=np.int32
        )
        query, ids, _ = rankings.rows()
        columns = {
            "run": np.full(len(query), run, dtype=np.int32),
            "query": code[query],
            "doc": _strings(ids),
        }
        score = rankings.given_scores.astype(np.float64)
        self._held.append(pyarrow.table(columns | {"score": score}))
        if sum(t.nbytes for t in self._held) >= self._buffer:
            self.put_aside()

    def put_aside(self) -> None:
        """Empties the buffer."""
        import pyarrow

        if not any(map(len, self._held)):
            return
        rows = _by_query(self._held)
        self._held.clear()
        path = self._folder / f"{len(self._aside)}.arrow"
        with pyarrow.ipc.new_file(str(path), rows.schema) as writer:
            writer.write_table(rows)
        self._aside.append((path, np.searchsorted(rows["query"].to_numpy(), np.arange(len(self._code) + 1))))

    def parts(self, n_rows: int) -> list[tuple[int, int]]:
        """The first query, and the one after the last, of files of about ``n_rows`` rows."""
        count = np.zeros(len(self._code), dtype=np.int64)
        for _, starts in self._aside:
            count[: len(starts) - 1] += np.diff(starts)
        part = (np.cumsum(count) - count) // n_rows
        edges = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(part)]
        return list(itertools.pairwise(edges)) if len(part) else []

    def of(self, part: tuple[int, int]) -> pyarrow.Table:
        """All rows of some queries."""
        import pyarrow

        tables = []
        for path, starts in self._aside:
            first, end = (int(starts[min(i, len(starts) - 1)]) for i in part)
            with pyarrow.memory_map(str(path)) as file:
                rows = pyarrow.ipc.open_file(file).get_batch(0)
                copied = rows.take(pyarrow.array(np.arange(first, end)))  # since the file is closed
            tables.append(pyarrow.Table.from_batches([copied]))
        return _by_query(tables)


def _write(rows: pyarrow.Table, names: pyarrow.Array, query_ids: pyarrow.Array, path: Path) -> None:
    """A Parquet file of one row group, which Dask takes for one partition."""
    import pyarrow
    import pyarrow.parquet

    columns = {
        "name": names.take(rows["run"]),
        "query_id": query_ids.take(rows["query"]),
        "doc_id": rows["doc"].cast(pyarrow.string()),
        "score": rows["score"],
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), path, row_group_size=max(len(rows), 1))


def _strings(ids: Ids) -> pyarrow.Array:
    """The ids as Arrow holds strings: their bytes, one after the other."""
    import pyarrow

    offsets = np.concatenate([[0], np.cumsum(ids.lengths)])
    data = np.empty(int(offsets[-1]), dtype=np.uint8)
    n_words = ids.n_words
    step = max(_PIECE // (8 * n_words), 1) if n_words else 1
    for at in range(0, len(ids) if n_words else 0, step):
        some = ids.take(slice(at, at + step))
        words = np.stack([some.word(i) for i in range(n_words)], axis=1).astype("<u8", copy=False)
        inside = np.arange(8 * n_words) < some.lengths[:, None]
        data[offsets[at] : offsets[at + len(some)]] = words.view(np.uint8)[inside]
    buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(data)]
    return pyarrow.Array.from_buffers(pyarrow.large_string(), len(ids), buffers)
