"""``python -m benchmarks.large_campaign FOLDER``: a campaign of MS MARCO dev's shape, on this machine, in several ways.

Writes 50 runs of 6,980 queries and 100 documents each, a TREC file a run, into FOLDER, unless they are there; scores
them in one process, and on a Dask cluster of this machine, from files that are written anew query by query and from
the files as they are, which Dask then has to shuffle. Says what each way takes: wall and CPU time, and the most memory
that each process had (as the system counts it: ru_maxrss); and checks that all values of all ways are the same, bit
for bit. Needs the extra ``dask``.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
from tools.pages import fill

from benchmarks import report
from ir_measures_relative import RunContext, distributed

MEASURES = ["nDCG@10", "NRG@10", "P_Rareness@100", "AP_Rareness@100", "nDCG_UE@10", "rrLP"]
_COLLECTION = 8_841_823
_FAMILIES = 12
_CHUNK = 250  # queries that are generated at a time
_PAGE = report.ROOT / "studies" / "speed.md"


class Used(NamedTuple):
    """The time and memory of one way."""

    way: str
    wall: float
    cpu: float
    peaks: dict[str, float]  #: MiB, by process


def generate(folder: Path, n_runs: int, n_queries: int, depth: int, seed: int = 0) -> None:
    """Write runs and qrels, holding no more than a chunk of the queries at a time.

    A query has a pool of four times ``depth`` documents, of which each run ranks the best by a score of its own:
    what the document is worth, what the family of the run makes of it, and noise, rounded so that ties occur.
    The documents that any of the runs of the first four families has in its top three are judged.
    """
    (folder / "runs").mkdir(parents=True)
    names = [f"family{r % _FAMILIES:02d}-run{r:03d}" for r in range(n_runs)]
    files = [(folder / "runs" / name).open("wb") for name in names]
    family = np.arange(n_runs) % _FAMILIES
    skill = np.random.default_rng(seed).uniform(0.5, 2.0, n_runs)
    plain = pa.csv.WriteOptions(include_header=False, delimiter=" ", quoting_style="none")
    judged: list[pd.DataFrame] = []
    for start in range(0, n_queries, _CHUNK):
        queries = range(start, min(start + _CHUNK, n_queries))
        docs = np.empty((n_runs, len(queries), depth), dtype=np.int64)
        scores = np.empty((n_runs, len(queries), depth))
        for i, query in enumerate(queries):
            rng = np.random.default_rng([seed, query])
            size = 4 * depth
            pool = rng.choice(_COLLECTION, size, replace=False)
            worth = rng.exponential(1.0, size)
            preference = rng.normal(0, 1.0, (_FAMILIES, size))[family]
            score = np.round(skill[:, None] * worth + preference + rng.normal(0, 0.5, (n_runs, size)), 3)
            top = np.argsort(-score, axis=1, kind="stable")[:, :depth]
            docs[:, i], scores[:, i] = pool[top], np.take_along_axis(score, top, axis=1)
            known = np.unique(top[family < 4, :3])
            grade = np.searchsorted([2.5, 3.5, 4.5], worth[known])
            judged.append(
                pd.DataFrame({"query_id": _query(query), "doc_id": pool[known], "relevance": grade})
            )
        query_ids = np.repeat([_query(query) for query in queries], depth)
        rank = np.tile(np.arange(1, depth + 1), len(queries))
        for run, name in enumerate(names):
            columns = [query_ids, ["Q0"] * len(rank), docs[run].reshape(-1), rank, scores[run].reshape(-1)]
            table = pa.table([*columns, [name] * len(rank)], names=list("abcdef"))
            pa.csv.write_csv(table, files[run], plain)
    for file in files:
        file.close()
    pd.concat(judged, ignore_index=True).astype({"doc_id": str}).to_parquet(folder / "qrels.parquet")
    size = {"runs": n_runs, "queries": n_queries, "depth": depth}
    (folder / "size.json").write_text(json.dumps(size))


def _query(i: int) -> str:
    return str(2 + 157 * i)


def in_one_process(folder: Path) -> None:
    """All run files into one context."""
    context = RunContext.from_files(folder / "runs", reference=_reference(folder))
    context.evaluate(str(folder / "qrels.parquet"), MEASURES, perquery=True).to_parquet(
        folder / "one.parquet"
    )


def write_by_query(folder: Path) -> None:
    """Write the files that :func:`on_dask` reads without a shuffle."""
    import dask.dataframe as dd

    shutil.rmtree(folder / "by-query", ignore_errors=True)
    runs = dd.from_map(_frame_of, sorted((folder / "runs").iterdir()))
    runs.set_index("query_id").to_parquet(folder / "by-query")


def on_dask(folder: Path, shuffled: bool, workers: int, memory: str) -> tuple[float, dict[str, float]]:
    """Score on a local cluster; return the CPU time of the workers, and the peak memory of each."""
    import dask
    import dask.dataframe as dd

    from distributed import Client, LocalCluster

    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"})
    cluster = LocalCluster(
        n_workers=workers, threads_per_worker=1, memory_limit=memory, dashboard_address=None
    )
    with cluster, Client(cluster) as client:
        pids = client.run(os.getpid)
        before = client.run(time.process_time)
        if shuffled:
            runs = dd.from_map(_frame_of, sorted((folder / "runs").iterdir()))
        else:
            runs = dd.read_parquet(folder / "by-query")
        scores = distributed.evaluate(
            runs,
            dd.read_parquet(folder / "qrels.parquet"),
            MEASURES,
            reference=_reference(folder),
            perquery=True,
        )
        if client.run(os.getpid) != pids:
            raise RuntimeError(f"a worker went beyond its {memory} and was started again")
        after, peaks = client.run(time.process_time), client.run(_peak)
        scores.to_parquet(folder / ("shuffled.parquet" if shuffled else "dask.parquet"))
    cpu = sum(after.values()) - sum(before.values())
    return cpu, {f"worker {i}": peak for i, peak in enumerate(peaks.values(), 1)}


def _frame_of(path: Path) -> pd.DataFrame:
    """A run file as Dask is given it where there is one a run."""
    frame = pd.read_csv(
        path, sep=" ", header=None, usecols=[0, 2, 4], names=["query_id", "doc_id", "score"],
        dtype={"query_id": str, "doc_id": str},
    )  # fmt: skip
    return frame.assign(name=path.name)


def _reference(folder: Path) -> str:
    return min(path.name for path in (folder / "runs").iterdir())


def _peak() -> float:
    """The most memory that this process has held, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _measured(way: str, work: Callable[..., Any], arguments: tuple[Any, ...], answer: Any) -> None:
    """In a process of its own: what the work takes there."""
    wall, cpu = time.perf_counter(), time.process_time()
    elsewhere = work(*arguments)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peaks = {"the process": _peak()}
    if elsewhere is not None:
        cpu, peaks = cpu + elsewhere[0], {**elsewhere[1], "client": _peak()}
    answer.put(Used(way, wall, cpu, peaks))


def run(way: str, work: Callable[..., Any], *arguments: Any) -> Used | None:
    """The work in a process of its own; None, and a message, where it fails."""
    spawn = multiprocessing.get_context("spawn")
    answer = spawn.SimpleQueue()
    child = spawn.Process(target=_measured, args=(way, work, arguments, answer))
    child.start()
    child.join()
    if child.exitcode:
        print(f"{way}: failed (exit code {child.exitcode})", file=sys.stderr)
        return None
    used: Used = answer.get()
    print(used, flush=True)
    return used


def check(folder: Path) -> int:
    """How many values there are; raises where those of two ways are not the same."""
    keys = ["name", "query_id", "measure"]
    one = pd.read_parquet(folder / "one.parquet").sort_values(keys, ignore_index=True)
    for other in ("dask.parquet", "shuffled.parquet"):
        if (folder / other).exists():
            found = pd.read_parquet(folder / other).sort_values(keys, ignore_index=True)
            pd.testing.assert_frame_equal(found, one, check_exact=True, check_dtype=False)
    return len(one)


def main() -> None:
    """Prints the table, and writes it into the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large_campaign", description=__doc__)
    parser.add_argument("folder", type=Path, help="for some 6 GB of files, which stay there")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--queries", type=int, default=6980)
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--memory", default="2GiB", help="the limit of each worker, which ends one that goes beyond"
    )
    parser.add_argument("--no-shuffle", action="store_true", help="leave out the slow way")
    parser.add_argument("--write", action="store_true", help="write the table into studies/speed.md")
    options = parser.parse_args()
    folder = options.folder
    if not (folder / "size.json").exists():
        run("generating", generate, folder, options.runs, options.queries, options.depth)
    size = json.loads((folder / "size.json").read_text())
    for old in ("one", "dask", "shuffled"):
        (folder / f"{old}.parquet").unlink(missing_ok=True)
    cluster = options.workers, options.memory
    ways = [
        run("one process, from the run files", in_one_process, folder),
        run("the run files, written query by query by Dask", write_by_query, folder),
        run("Dask, from files written query by query", on_dask, folder, False, *cluster),
    ]
    if not options.no_shuffle:
        ways.append(run("Dask, from the run files, with its shuffle", on_dask, folder, True, *cluster))
    values = check(folder)
    rows = size["runs"] * size["queries"] * size["depth"]
    on_disk = sum(path.stat().st_size for path in (folder / "runs").iterdir())
    text = (
        f"\n{report.versions()}\n\n"
        f"{size['runs']} runs of {size['queries']:,} queries, {size['depth']} deep: {rows:,} rows, "
        f"{on_disk / 2**30:.1f} GiB of run files. Measures: {', '.join(MEASURES)}. Dask has {options.workers} workers "
        f"of one thread and {options.memory} each.\n\n"
    )
    text += report.table(
        ["way", "wall s", "CPU s", "rows a second", "peak memory, MiB"],
        [
            [
                used.way,
                f"{used.wall:.0f}",
                f"{used.cpu:.0f}",
                f"{rows / used.wall:,.0f}",
                ", ".join(f"{process} {peak:.0f}" for process, peak in used.peaks.items()),
            ]
            for used in ways
            if used
        ],
        4,
    )
    text += f"\nThe {values:,} values of all ways are the same, bit for bit.\n"
    print(text)
    if options.write:
        fill(_PAGE, "large", text)


if __name__ == "__main__":
    main()
