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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from ..arrays import FloatArray, IntArray, object_array
from ..ids import Ids
from ..io.runs import name_runs, read_run, run_files
from ..messages import needs_extra
from ..rankings import Rankings

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
            :meth:`RunContext.from_trec`, which also names the runs as here.
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
        import pyarrow.parquet  # noqa: F401
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
        read: list[Rankings] = []
        for i, file in enumerate(tqdm(files, desc="reading runs", unit="run", disable=None, leave=False)):
            run = read_run(file, str(file))
            rows.add(i, run)
            read.append(_without_rows(run))
        rows.put_aside()
        names = name_runs(files, read)
        parts = rows.parts(rows_per_file)
        if not parts:
            raise ValueError(f"{len(files)} run file(s) without a row: there is nothing to write")
        for i, part in enumerate(tqdm(parts, desc="writing queries", unit="file", disable=None, leave=False)):
            _write(rows.of(part), names, rows.query_ids, partial / f"part-{i:05d}.parquet")
        shutil.rmtree(partial / "aside")
        partial.replace(target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return names


class _Table(NamedTuple):
    """Some rows, sorted by query."""

    run: NDArray[np.int32]
    query: NDArray[np.int32]
    doc: pyarrow.Array
    score: FloatArray

    @classmethod
    def together(cls, tables: Sequence[_Table]) -> _Table:
        """The rows of all, sorted by query, and those of one query in the order given."""
        import pyarrow

        run, query, score = (
            np.concatenate([getattr(t, c) for t in tables]) for c in ("run", "query", "score")
        )
        order = np.argsort(query, kind="stable")
        doc = pyarrow.concat_arrays([t.doc for t in tables]).take(pyarrow.array(order))
        return cls(run[order], query[order], doc, score[order])

    @property
    def size(self) -> int:
        return int(self.run.nbytes + self.query.nbytes + self.doc.nbytes + self.score.nbytes)


class _Aside(NamedTuple):
    """A file of rows, sorted by query."""

    path: Path
    starts: IntArray  #: the rows of query ``i`` are ``starts[i]:starts[i + 1]``; later queries have none

    def of(self, first: int, last: int) -> _Table:
        """The rows of the queries ``first``, …, ``last - 1``."""
        import pyarrow

        a, b = (int(self.starts[min(i, len(self.starts) - 1)]) for i in (first, last))
        with pyarrow.memory_map(str(self.path)) as file:
            rows = pyarrow.ipc.open_file(file).get_batch(0).slice(a, b - a)
            run, query, score = (rows.column(c).to_numpy().copy() for c in ("run", "query", "score"))
            doc = rows.column("doc").take(pyarrow.array(np.arange(b - a)))  # a copy: the file is closed
        return _Table(run, query, doc, score)


class _CollectedRows:
    """The rows of all runs: as many as the buffer takes in memory, the others put aside."""

    def __init__(self, folder: Path, buffer: int) -> None:
        self._folder = folder
        self._buffer = buffer
        self._code: dict[str, int] = {}
        self._held: list[_Table] = []
        self._aside: list[_Aside] = []

    @property
    def query_ids(self) -> list[str]:
        """All queries, in the order in which they came."""
        return list(self._code)

    def add(self, run: int, rankings: Rankings) -> None:
        """Takes the rows of a run."""
        code = np.array(
            [self._code.setdefault(q, len(self._code)) for q in rankings.query_ids], dtype=np.int32
        )
        query, ids, score32 = rankings.rows()
        score = score32.astype(np.float64)
        # What is too large for a 32-bit float stands above all others, and still is a number.
        np.copyto(score, np.copysign(1e300, score), where=np.isinf(score))
        self._held.append(_Table(np.full(len(query), run, dtype=np.int32), code[query], _strings(ids), score))
        if sum(t.size for t in self._held) >= self._buffer:
            self.put_aside()

    def put_aside(self) -> None:
        """Empties the buffer."""
        import pyarrow

        if not self._held:
            return
        rows = _Table.together(self._held)
        self._held.clear()
        path = self._folder / f"{len(self._aside)}.arrow"
        batch = pyarrow.record_batch(rows._asdict())
        with pyarrow.ipc.new_file(str(path), batch.schema) as writer:
            writer.write_batch(batch)
        self._aside.append(_Aside(path, np.searchsorted(rows.query, np.arange(len(self._code) + 1))))

    def parts(self, n_rows: int) -> list[tuple[int, int]]:
        """The first query, and the one after the last, of files of about ``n_rows`` rows."""
        count = np.zeros(len(self._code), dtype=np.int64)
        for aside in self._aside:
            count[: len(aside.starts) - 1] += np.diff(aside.starts)
        part = (np.cumsum(count) - count) // n_rows
        edges = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(part)]
        return list(itertools.pairwise(edges)) if len(part) else []

    def of(self, part: tuple[int, int]) -> _Table:
        """All rows of some queries."""
        return _Table.together([aside.of(*part) for aside in self._aside])


def _write(rows: _Table, names: Sequence[str], query_ids: Sequence[str], path: Path) -> None:
    """A Parquet file of one row group, which Dask takes for one partition."""
    import pyarrow
    import pyarrow.parquet

    def text(code: NDArray[np.int32], values: Sequence[str]) -> Any:
        used, index = np.unique(code, return_inverse=True)
        return pyarrow.DictionaryArray.from_arrays(index, [values[i] for i in used]).cast(pyarrow.string())

    table = pyarrow.table(
        {
            "name": text(rows.run, names),
            "query_id": text(rows.query, query_ids),
            "doc_id": rows.doc.cast(pyarrow.string()),
            "score": rows.score,
        }
    )
    pyarrow.parquet.write_table(table, path, row_group_size=max(len(table), 1))


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


def _without_rows(run: Rankings) -> Rankings:
    """What names a run, when its rows are let go."""
    nothing = object_array([])
    return Rankings(nothing, nothing, np.empty(0), name=run.name, tag=run.tag, group=run.group)
