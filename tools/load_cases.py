"""What :mod:`tools.load` puts on the package. Each case says what it did, and raises where a value is wrong."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from ir_measures_relative import RunContext

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests"))  # the oracles
Runs = dict[str, dict[str, dict[str, float]]]
Qrels = dict[str, dict[str, int]]
MEASURES = ("NRG@10", "NRG(base='RBP')@20", "UniqueRel@10", "P_Rareness@10", "AP_Rareness@50", "nDCG@10")


def _campaign(n_runs: int, n_queries: int, depth: int, pool: int, seed: int = 1) -> tuple[Runs, Qrels]:
    """Runs at random, with ties, and graded labels of a tenth of the pool."""
    rng = np.random.default_rng(seed)

    def ranking() -> dict[str, float]:
        docs = rng.choice(pool, depth, replace=False)
        return dict(zip(map("d{}".format, docs), rng.integers(0, depth, depth) / 8.0, strict=True))

    queries = [f"q{i}" for i in range(n_queries)]
    runs = {f"run{i}": {q: ranking() for q in queries} for i in range(n_runs)}
    qrels = {
        q: {f"d{d}": int(rng.integers(0, 4)) for d in rng.choice(pool, pool // 10, replace=False)}
        for q in queries
    }
    return runs, qrels


def many_runs(seconds: float) -> str:
    """10,000 runs for one query, of 100 documents each"""
    from oracles.nrg import nrg_oracle, unique_rel_oracle
    from oracles.rankings import trec_order
    from oracles.rareness import p_rareness_oracle

    runs, qrels = _campaign(10_000, 1, 100, 2_000)
    measures = ["NRG@10", "UniqueRel@10", "P_Rareness@10"]
    table = RunContext(runs).evaluate(qrels, measures).set_index("name")
    rankings = {name: trec_order(run["q0"]) for name, run in runs.items()}
    asked = random.Random(2).sample(list(runs), 5)
    for name in asked:
        others = [ranking for other, ranking in rankings.items() if other != name]
        labels = qrels["q0"]
        right = [
            nrg_oracle(rankings[name], others, labels, k=10),
            unique_rel_oracle(rankings[name], others, labels, 10),
            p_rareness_oracle(rankings[name], list(rankings.values()), labels, 10),
        ]
        _same(table.loc[name, measures].tolist(), right, 1e-9)
    return f"the values of {len(asked)} runs drawn at random are the oracle's"


def long_ranking(seconds: float) -> str:
    """A ranking of 1,000,000 documents, and one to compare with"""
    from oracles.nrg import nrg_seen

    n = 1_000_000
    rng = np.random.default_rng(3)
    orders = [rng.permutation(n) for _ in range(2)]
    run, prior = ({"q": {f"d{d}": float(-i) for i, d in enumerate(order.tolist())}} for order in orders)
    labels = {f"d{d}": 1 + d % 3 for d in rng.choice(n, 1_000, replace=False).tolist()}
    value = RunContext({"run": run, "prior": prior}, priors={"run": ["prior"], "prior": []}).evaluate(
        {"q": labels}, ["NRG@1000000", "nDCG@1000000"]
    )
    place, before = (dict(zip(r["q"], range(1, n + 1), strict=True)) for r in (run, prior))

    def ideal(gains: list[float]) -> float:
        return sum(g * nrg_seen(i, "nDCG", 0.8) for i, g in enumerate(sorted(gains, reverse=True), start=1))

    left = {d: label * (1 - nrg_seen(before[d], "nDCG", 0.8)) for d, label in labels.items()}
    right = [
        sum(gain * nrg_seen(place[d], "nDCG", 0.8) for d, gain in gains.items()) / ideal(list(gains.values()))
        for gains in (left, {d: float(label) for d, label in labels.items()})
    ]
    _same(value.iloc[0, 1:].tolist(), right, 1e-9)
    return "NRG and nDCG are what the formula says"


def _tasks() -> tuple[RunContext, list[tuple[Qrels, str]]]:
    """A context, and judgments and measures to ask it for."""
    runs, qrels = _campaign(12, 40, 100, 600, seed=4)
    some = [{q: qrels[q] for q in list(qrels)[i::4]} for i in range(4)]
    return RunContext(runs), [(part, measure) for part in [qrels, *some] for measure in MEASURES]


def _ask(context: RunContext, task: tuple[Qrels, str]) -> bytes:
    """The values of every run and query, to the last bit."""
    values = context.evaluate(task[0], [task[1]], perquery=True)["value"]
    return bytes(values.to_numpy().tobytes())


def threads(seconds: float) -> str:
    """A context shared by 16 threads"""
    context, tasks = _tasks()
    serial = [_ask(_tasks()[0], task) for task in tasks]
    ends, counts, wrong = time.monotonic() + seconds, Counter[int](), list[str]()

    def work(number: int) -> None:
        rng = random.Random(number)
        try:
            while time.monotonic() < ends and not wrong:
                i = rng.randrange(len(tasks))
                if _ask(context, tasks[i]) != serial[i]:
                    wrong.append(tasks[i][1])
                counts[number] += 1
        except BaseException as error:
            wrong.append(repr(error))

    started = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    if wrong:
        raise AssertionError(wrong[0])
    return f"{sum(counts.values()):,} evaluations in {seconds:.0f} s, each equal to the serial one to the last bit"


def _in_process(context: RunContext, number: int, seconds: float) -> tuple[int, list[int]]:
    _, tasks = _tasks()
    serial = [_ask(_tasks()[0], task) for task in tasks]
    rng, ends, done, wrong = random.Random(number), time.monotonic() + seconds, 0, []
    while time.monotonic() < ends:
        i = rng.randrange(len(tasks))
        if _ask(context, tasks[i]) != serial[i]:
            wrong.append(i)
        done += 1
    return done, wrong


def processes(seconds: float) -> str:
    """A context sent to 8 processes"""
    context, _ = _tasks()
    with ProcessPoolExecutor(8, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(_in_process, context, i, seconds) for i in range(8)]
        results = [future.result() for future in futures]
    if any(wrong for _, wrong in results):
        raise AssertionError("a value differs from the serial one")
    total = sum(done for done, _ in results)
    return f"{total:,} evaluations in {seconds:.0f} s, each equal to the serial one to the last bit"


def dask_worker_killed(seconds: float) -> str:
    """A worker killed while Dask evaluates a campaign"""
    import dask
    import dask.dataframe as dd
    import pandas as pd
    from distributed import Client, LocalCluster

    from ir_measures_relative import campaigns

    runs, qrels = _campaign(20, 60, 100, 600, seed=5)
    rows = [(name, q, d, s) for name, of in runs.items() for q, docs in of.items() for d, s in docs.items()]
    frame = pd.DataFrame(rows, columns=["name", "query_id", "doc_id", "score"])
    measures = ["NRG@10", "UniqueRel@10"]
    right = RunContext(dict(sorted(runs.items()))).evaluate(qrels, measures, perquery=True)
    outcomes = Counter[str]()
    options: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    # Where no worker is left, and none can be started in time, Dask would wait for one.
    patient = dask.config.set({"distributed.scheduler.no-workers-timeout": "60s"})
    with patient, LocalCluster(silence_logs=50, **options) as cluster, Client(cluster):
        for wait in (0.05, 0.3, 1.0, 2.0):
            victim = next(iter(cluster.workers.values())).process.process.pid
            killer = threading.Timer(wait, os.kill, (victim, signal.SIGKILL))
            killer.start()
            try:
                found = campaigns.evaluate(
                    dd.from_pandas(frame, npartitions=8), qrels, measures, perquery=True
                )
            except Exception as error:
                if not str(error):
                    raise
                outcomes[f"said so ({type(error).__name__})"] += 1
            else:
                keys = ["name", "query_id", "measure"]
                for table in (found, right):
                    table.sort_values(keys, inplace=True, ignore_index=True)
                pd.testing.assert_frame_equal(found, right, check_exact=True)
                outcomes["right to the last bit"] += 1
            killer.join()
            time.sleep(1)
    return "killed at four moments: " + _counted(outcomes)


def little_memory(seconds: float) -> str:
    """The command line with little memory (`ulimit -v`)"""
    runs, qrels = _campaign(15, 40, 500, 5_000, seed=6)
    outcomes = Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "runs").mkdir()
        for run, rankings in runs.items():
            lines = (f"{q} Q0 {d} 0 {s} {run}\n" for q, of in rankings.items() for d, s in of.items())
            (folder / "runs" / run).write_text("".join(lines))
        judged = (f"{q} 0 {d} {label}\n" for q, of in qrels.items() for d, label in of.items())
        (folder / "qrels.txt").write_text("".join(judged))
        arguments = ["qrels.txt", "runs", "nDCG@10 NRG@10 UniqueRel@10 AP_Rareness@100", "-p", "-1"]
        command = [sys.executable, "-m", "ir_measures_relative", *arguments]
        right = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
        limits = [80, *range(120, 320, 20), 400, 800]
        for megabytes in limits:
            done = _limited(command, megabytes * 2**20, folder)
            said = done.stderr.strip().splitlines() or ["nothing"]
            ours = said[-1].startswith("ir_measures_relative: error: ")
            if done.returncode == 0:
                if done.stdout != right:
                    raise AssertionError(f"a wrong number at {megabytes} MB: {done.stdout}")
                outcomes["right"] += 1
            elif done.returncode == 2 and ours and not done.stdout and "Traceback" not in done.stderr:
                outcomes["one line of words"] += 1
            else:  # the interpreter or a library could not start
                loud = "numpy" in done.stderr or "OpenBLAS" in done.stderr
                outcomes[
                    "numpy could not be loaded" if loud else f"exit code {done.returncode}: {said[-1][:80]}"
                ] += 1
    return f"{len(limits)} limits from {limits[0]} MB to {limits[-1]} MB: {_counted(outcomes)}"


def _limited(command: list[str], limit: int, folder: Path) -> subprocess.CompletedProcess[str]:
    def restrict() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, preexec_fn=restrict, timeout=300
    )


def _counted(outcomes: Counter[str]) -> str:
    return ", ".join(f"{count} times {what}" for what, count in outcomes.most_common())


def _same(found: list[float], right: list[float], tolerance: float) -> None:
    np.testing.assert_allclose(found, right, rtol=0, atol=tolerance)


CASES: dict[str, Callable[[float], str]] = {
    case.__name__: case
    for case in (many_runs, long_ranking, threads, processes, dask_worker_killed, little_memory)
}
