"""``python -m benchmarks``: how much the relative measures cost beside ir_measures' own, as ratios.

Both sides of a ratio run in this process, in turn, on the same plain frames with string ids; every round builds
its contexts anew, unless the row says warm. A ratio is that of the medians of the rounds.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import os
import statistics
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
from ir_measures import nDCG

from benchmarks.campaign import make
from ir_measures_relative import MED, NRG, AP_Rareness, P_Rareness, RunContext, nDCG_UE, rrLP

Frames = dict[str, pd.DataFrame]
Side = Callable[[], Any]


def interleaved(sides: dict[str, Side], rounds: int) -> dict[str, float]:
    """The median seconds of each side over rounds in which all take their turn."""
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            gc.collect()
            start = time.perf_counter()
            side()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(t) for name, t in times.items()}


def show(rows: list[tuple[str, ...]], header: tuple[str, ...]) -> None:
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)
    print(flush=True)


def pairs(frames: Frames, qrels: pd.DataFrame, measure: Any) -> None:
    """A symmetric measure of every pair of runs: each run in turn is the reference of those after it."""
    context = RunContext(frames)
    judged = context.judged(qrels)
    from ir_measures_relative.comparison import Comparison

    for reference, run in itertools.combinations(context.names, 2):
        measure(ref=reference).score(Comparison(judged, context.runs[run], run))


def costs(frames: Frames, qrels: pd.DataFrame, rounds: int) -> list[tuple[str, ...]]:
    """The cost of the package's work relative to ir_measures computing nDCG@10 of the same runs."""
    five = [NRG @ 10, P_Rareness @ 100, AP_Rareness @ 100, rrLP(ref=next(iter(frames))), nDCG_UE @ 10]

    def absolute() -> None:
        evaluator = ir_measures.evaluator([nDCG @ 10], qrels)
        for frame in frames.values():
            evaluator.calc_aggregate(frame)

    n = len(frames)
    few = dict(itertools.islice(frames.items(), 17))
    sides: dict[str, Side] = {
        "absolute": absolute,
        f"RunContext.evaluate of NRG@10, each of {n} runs against the others": lambda: RunContext(
            frames
        ).evaluate(qrels, [NRG @ 10]),
        "the same of NRG@10, P_Rareness@100, AP_Rareness@100, rrLP, nDCG_UE@10": lambda: RunContext(
            frames
        ).evaluate(qrels, five),
    }
    if len(few) == n:
        sides["MED(base='nDCG')@10 of all pairs"] = lambda: pairs(few, qrels, MED(base="nDCG") @ 10)
        sides["rrLP of all pairs"] = lambda: pairs(few, qrels, rrLP)
    medians = interleaved(sides, rounds)
    base = medians.pop("absolute")
    targets = ["0.05", "0.25", "0.5", "0.5"]
    return [
        (name, "nDCG@10 of the same runs, one shared evaluator", f"{seconds / base:.3f}", target)
        for (name, seconds), target in zip(medians.items(), targets, strict=False)
    ]


def single_call(frames: Frames, qrels: pd.DataFrame, rounds: int) -> list[tuple[str, ...]]:
    """One run, as a user calls ir_measures."""
    name, frame = next(iter(frames.items()))
    context = RunContext(frames)
    named = frame.assign(name=name)

    def relative() -> None:
        with context:
            ir_measures.calc_aggregate([NRG @ 10], qrels, named)

    relative()
    medians = interleaved(
        {"relative": relative, "absolute": lambda: ir_measures.calc_aggregate([nDCG @ 10], qrels, named)},
        rounds,
    )
    ratio = medians["relative"] / medians["absolute"]
    return [
        (
            "calc_aggregate([NRG@10]) of one run, warm context",
            "calc_aggregate([nDCG@10])",
            f"{ratio:.3f}",
            "0.5",
        )
    ]


def experiment(frames: Frames, qrels: pd.DataFrame, rounds: int) -> list[tuple[str, ...]]:
    """pt.Experiment with one relative column more, for at most 17 runs."""
    import pyterrier as pt

    frames = dict(itertools.islice(frames.items(), 17))
    rename = {"query_id": "qid", "doc_id": "docno", "relevance": "label"}
    systems = [frame.rename(columns=rename).assign(name=name) for name, frame in frames.items()]
    labels = qrels.rename(columns=rename)
    topics = pd.DataFrame({"qid": labels["qid"].unique(), "query": "x"})
    context = RunContext(frames)

    def run(measures: list[Any]) -> Side:
        def side() -> None:
            with context:
                pt.Experiment(systems, topics, labels, measures, names=list(frames), validate="ignore")

        return side

    medians = interleaved({"both": run([nDCG @ 10, NRG @ 10]), "alone": run([nDCG @ 10])}, rounds)
    ratio = medians["both"] / medians["alone"]
    return [
        (
            f"pt.Experiment of {len(frames)} frames, [nDCG@10, NRG@10]",
            "the same with [nDCG@10]",
            f"{ratio:.3f}",
            "1.15",
        )
    ]


def reading(frames: Frames, rounds: int) -> list[tuple[str, ...]]:
    """A TREC run file into the context, and into ir_measures' dict."""
    from ir_measures.util import RunConverter

    from ir_measures_relative.io.runs import read_run

    frame = next(iter(frames.values()))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for suffix in ("", ".gz"):
            path = str(Path(folder) / f"run{suffix}")
            lines = frame.assign(q0="Q0", rank=0, tag="t")[
                ["query_id", "q0", "doc_id", "rank", "score", "tag"]
            ]
            lines.to_csv(path, sep=" ", header=False, index=False)
            medians = interleaved(
                {
                    "ours": lambda p=path: read_run(p),
                    "theirs": lambda p=path: RunConverter(ir_measures.read_trec_run(p)).as_dict_of_dict(),
                },
                rounds,
            )
            ratio = medians["ours"] / medians["theirs"]
            rows.append(
                (
                    f"reading a TREC run file{suffix and ' (.gz)'}",
                    "ir_measures.read_trec_run into a dict",
                    f"{ratio:.3f}",
                    "0.333",
                )
            )
    return rows


def growth(rounds: int) -> list[tuple[str, ...]]:
    """Time against the number of runs, and of topics: what doubling costs."""
    frames, qrels = make()
    measures = [NRG @ 10, P_Rareness @ 100, AP_Rareness @ 100]
    sizes = [16, 32, 64, 129]
    sides = {
        str(n): (lambda n=n: RunContext(dict(itertools.islice(frames.items(), n))).evaluate(qrels, measures))
        for n in sizes
    }
    medians = interleaved(sides, rounds)
    rows = [
        (f"{b} runs", f"{a} runs", f"{medians[str(b)] / medians[str(a)]:.2f}", f"{2.2 * b / a / 2:.2f}")
        for a, b in itertools.pairwise(sizes)
    ]
    topics = qrels["query_id"].unique()
    halves = {}
    for n in (len(topics) // 2, len(topics)):
        keep = set(topics[:n])
        some = {m: f[f["query_id"].isin(keep)] for m, f in itertools.islice(frames.items(), 64)}
        halves[str(n)] = lambda s=some, q=qrels[qrels["query_id"].isin(keep)]: RunContext(s).evaluate(
            q, measures
        )
    medians = interleaved(halves, rounds)
    small, large = halves
    rows.append((f"{large} topics", f"{small} topics", f"{medians[large] / medians[small]:.2f}", "2.20"))
    return rows


def memory(frames: Frames, qrels: pd.DataFrame) -> list[tuple[str, ...]]:
    """The peak above the frames themselves, beside their size."""
    size = sum(int(f.memory_usage(deep=True).sum()) for f in frames.values())
    rows = []
    for what, measures in [
        ("NRG@10", [NRG @ 10]),
        ("NRG@10, P_Rareness@100, AP_Rareness@100", [NRG @ 10, P_Rareness @ 100, AP_Rareness @ 100]),
        ("rrLP at full depth", [rrLP(ref=next(iter(frames)))]),
    ]:
        gc.collect()
        tracemalloc.start()
        RunContext(frames).evaluate(qrels, measures)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        rows.append(
            (f"peak of RunContext.evaluate, {what}", f"{len(frames)} frames", f"{peak / size:.3f}", "0.5")
        )
    return rows


def robust03() -> tuple[Frames, pd.DataFrame] | None:
    """The Robust runs as plain frames; None where they are absent."""
    named = os.environ.get("ROBUST03")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "robust03"
    if not (folder / "qrels.txt.gz").exists():
        return None
    frames = {}
    for path in sorted((folder / "runs").glob("*.gz")):
        frame = pd.read_csv(
            path,
            sep=r"\s+",
            header=None,
            names=["query_id", "q0", "doc_id", "rank", "score", "tag"],
            dtype={"query_id": str, "doc_id": str, "tag": str},
        )
        frames[str(frame["tag"].iloc[0])] = frame[["query_id", "doc_id", "score"]]
    qrels = pd.read_csv(
        folder / "qrels.txt.gz",
        sep=r"\s+",
        header=None,
        names=["query_id", "iteration", "doc_id", "relevance"],
        dtype={"query_id": str, "doc_id": str},
    )
    return frames, qrels[["query_id", "doc_id", "relevance"]]


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=5, help="rounds of each measurement, at least 5 (default 5)"
    )
    parser.add_argument("--only", choices=["costs", "growth"], help="only one of the two parts")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    campaigns: dict[str, tuple[Frames, pd.DataFrame]] = {}
    real = robust03()
    if real:
        campaigns["TREC 2003 Robust: 17 runs, 100 topics"] = real
    else:
        print("The Robust runs are not here (set ROBUST03 to their folder): only the synthetic campaign.\n")
    campaigns["Synthetic, of TREC-8's size: 129 runs, 50 topics, 1,000 documents"] = make()
    if args.only != "growth":
        for title, (frames, qrels) in campaigns.items():
            print(f"### {title}\n")
            rows = costs(frames, qrels, args.rounds)
            rows += single_call(frames, qrels, args.rounds)
            rows += experiment(frames, qrels, args.rounds)
            rows += reading(frames, args.rounds)
            show(rows, ("time of", "to that of", "ratio", "target"))
            show(memory(frames, qrels), ("memory of", "to that of", "ratio", "target"))
    if args.only != "costs":
        print("### Growth: NRG@10, P_Rareness@100 and AP_Rareness@100, each run against the others\n")
        show(growth(args.rounds), ("time of", "to that of", "ratio", "target"))


if __name__ == "__main__":
    main()
