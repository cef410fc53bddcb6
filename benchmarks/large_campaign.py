"""``python -m benchmarks.large_campaign FOLDER``: a campaign larger than the memory of the workers that score it.

Writes the campaign into FOLDER, a few queries a Parquet file, unless it is there; scores it on a Dask cluster of this
machine, whose workers may hold so much memory and no more; and says how long that took, how much memory the workers and
the client had at their peak (as the system counts it: ru_maxrss), and whether the values of some queries are those
of one process that holds them, bit for bit. Needs the extra ``dask``.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ir_measures_relative import RunContext, campaigns

MEASURES = ["nDCG@10", "NRG@10", "P_Rareness@100", "AP_Rareness@100", "nDCG_UE@10", "rrLP"]
_COLLECTION = 10_000_000
_FAMILIES = 12


def generate(folder: Path, n_runs: int, n_queries: int, depth: int, per_file: int, seed: int = 0) -> None:
    """Writes runs and qrels, holding no more than ``per_file`` queries at a time.

    A query has a pool of four times ``depth`` documents, of which each run ranks the best by a score of its own:
    what the document is worth, what the family of the run makes of it, and noise, rounded so that ties occur.
    The documents that any of the runs of the first four families has in its top 20 are judged.
    """
    (folder / "runs").mkdir(parents=True)
    names = [f"family{r % _FAMILIES:02d}-run{r:03d}" for r in range(n_runs)]
    skill = np.random.default_rng(seed).uniform(0.5, 2.0, n_runs)
    judged: list[pd.DataFrame] = []
    for start in range(0, n_queries, per_file):
        parts = []
        for query in range(start, min(start + per_file, n_queries)):
            rng = np.random.default_rng([seed, query])
            size = 4 * depth
            ids = rng.choice(_COLLECTION, size, replace=False)
            docs = np.array([f"web22-en{d // 10_000:04d}-{d % 10_000:05d}" for d in ids], dtype=object)
            worth = rng.exponential(1.0, size)
            view = rng.normal(0, 1.0, (_FAMILIES, size))[np.arange(n_runs) % _FAMILIES]
            score = np.round(skill[:, None] * worth + view + rng.normal(0, 0.5, (n_runs, size)), 3)
            top = np.argsort(-score, axis=1, kind="stable")[:, :depth]
            run = np.repeat(np.arange(n_runs), depth)
            query_id = f"q{query:05d}"
            parts.append(
                pa.table(
                    {
                        "name": pa.DictionaryArray.from_arrays(pa.array(run, pa.int32()), names),
                        "query_id": pa.DictionaryArray.from_arrays(
                            pa.array(np.zeros(len(run), np.int32)), [query_id]
                        ),
                        "doc_id": pa.array(docs).take(pa.array(top.reshape(-1))),
                        "score": score[run, top.reshape(-1)],
                    }
                ).cast(
                    pa.schema(
                        {c: pa.string() for c in ("name", "query_id", "doc_id")} | {"score": pa.float64()}
                    )
                )
            )
            pool = np.unique(top[np.arange(n_runs) % _FAMILIES < 4, :20])
            grade = np.searchsorted([1.5, 2.5, 3.5], worth[pool])
            judged.append(pd.DataFrame({"query_id": query_id, "doc_id": docs[pool], "relevance": grade}))
        pq.write_table(pa.concat_tables(parts), folder / "runs" / f"part-{start:06d}.parquet")
    pd.concat(judged, ignore_index=True).to_parquet(folder / "qrels.parquet")
    (folder / "size.json").write_text(json.dumps({"runs": n_runs, "queries": n_queries, "depth": depth}))


def peak() -> float:
    """The most memory that this process has held, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def check(folder: Path, scores: pd.DataFrame, files: int) -> int:
    """Scores the queries of some files in this process; how many values are the same, all of which must be."""
    qrels = pd.read_parquet(folder / "qrels.parquet")
    paths = sorted((folder / "runs").iterdir())
    same = 0
    for path in paths[:: max(1, len(paths) // files)][:files]:
        frame = pd.read_parquet(path)
        runs = {name: rows[["query_id", "doc_id", "score"]] for name, rows in frame.groupby("name")}
        own = qrels[qrels["query_id"].isin(frame["query_id"].unique())]
        context = RunContext(runs, reference=min(runs))
        expected = context.evaluate(own, MEASURES, perquery=True)
        both = expected.merge(scores, on=["name", "query_id", "measure"], suffixes=("", "_found"))
        assert len(both) == len(expected) and (both["value"] == both["value_found"]).all(), (
            f"{path}: values differ"
        )
        same += len(both)
    return same


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large_campaign", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--depth", type=int, default=1000)
    parser.add_argument("--queries-per-file", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--memory", default="1GiB", help="the limit of each worker, which ends one that goes beyond"
    )
    parser.add_argument(
        "--shuffle", action="store_true", help="spread the rows of each query over two partitions first"
    )
    options = parser.parse_args()

    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    if not (options.folder / "size.json").exists():
        start = time.perf_counter()
        size = (options.runs, options.queries, options.depth, options.queries_per_file)
        child = multiprocessing.get_context("spawn").Process(target=generate, args=(options.folder, *size))
        child.start()
        child.join()
        if child.exitcode:
            raise SystemExit(f"generating the campaign failed with exit code {child.exitcode}")
        print(f"generated in {time.perf_counter() - start:.0f} s")
    size = json.loads((options.folder / "size.json").read_text())
    paths = sorted((options.folder / "runs").iterdir())
    first = pd.read_parquet(paths[0])
    rows = sum(pq.ParquetFile(p).metadata.num_rows for p in paths)
    per_row = {
        kind: first.astype(kinds).memory_usage(deep=True).sum() / len(first) for kind, kinds in _KINDS.items()
    }
    print(
        f"{size['runs']} runs, {size['queries']} queries, {rows:,} rows in {len(paths)} files; as pandas frames "
        + ", ".join(f"{rows * b / 2**30:.1f} GiB {kind}" for kind, b in per_row.items())
        + f"; on disk {sum(p.stat().st_size for p in paths) / 2**30:.2f} GiB"
    )
    cluster = LocalCluster(
        n_workers=options.workers, threads_per_worker=1, memory_limit=options.memory, dashboard_address=None
    )
    with cluster, Client(cluster) as client:
        pids = client.run(os.getpid)
        before = client.run(peak)
        runs = dd.read_parquet(options.folder / "runs")
        if options.shuffle:
            runs = dd.from_map(straddling, paths, [*paths[1:], paths[0]])
        start = time.perf_counter()
        scores = campaigns.evaluate(
            runs,
            dd.read_parquet(options.folder / "qrels.parquet"),
            MEASURES,
            reference=min(first["name"]),
            perquery=True,
        )
        seconds = time.perf_counter() - start
        workers, mine = client.run(peak), peak()
        if client.run(os.getpid) != pids:
            raise SystemExit("a worker went beyond its memory and was started again")
    print(
        f"{len(scores):,} values of {len(MEASURES)} measures in {seconds:.0f} s ({rows / seconds:,.0f} rows/s) on "
        f"{options.workers} worker(s) of one thread and {options.memory} each"
    )
    print(
        f"peak memory: workers {', '.join(f'{m:.0f} MiB' for m in workers.values())} "
        f"({min(before.values()):.0f} MiB when idle), client {mine:.0f} MiB"
    )
    print(
        f"{check(options.folder, scores, 3):,} values of three files compared with one process: all the same"
    )


def straddling(path: Path, other: Path) -> pd.DataFrame:
    """Half of the rows of each of two files, so that the rows of a query stand in two partitions."""
    return pd.concat([pd.read_parquet(path).iloc[::2], pd.read_parquet(other).iloc[1::2]], ignore_index=True)


# pandas' two ways to hold strings.
_KINDS: dict[str, Any] = {
    "of Arrow strings": {c: "string[pyarrow]" for c in ("name", "query_id", "doc_id")},
    "of Python strings": {c: object for c in ("name", "query_id", "doc_id")},
}


if __name__ == "__main__":
    main()
