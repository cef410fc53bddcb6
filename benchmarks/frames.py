"""From pandas frames: time and memory beside ir_measures, and beside the best use of pytrec_eval."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence

import ir_measures
import pandas as pd
from ir_measures import AP, RR, P, R, nDCG

from benchmarks.data import Frames
from benchmarks.peers import as_dict, by_ir_measures, by_pytrec_eval
from benchmarks.report import Memory, Row
from benchmarks.timing import Side, interleaved, peak_memory
from ir_measures_relative import NRG, AP_Rareness, P_Rareness, RunContext, nDCG_UE, rrLP

_ABSOLUTE = [nDCG @ 10, AP, P @ 10, RR, R @ 1000]
_IN_PYTREC_EVAL = {"ndcg_cut.10", "map", "P.10", "recip_rank", "recall.1000"}
_SYSTEMS = 9  # for pt.Experiment, which takes its time

HOST, HOST_FIVE = "ir_measures, nDCG@10", "ir_measures, the same five"
BEST, BEST_FIVE = "best use of pytrec_eval, nDCG@10", "best use of pytrec_eval, the same five"


def costs(frames: Frames, qrels: pd.DataFrame, ids: str, rounds: int) -> list[Row]:
    """Every run against the others, on frames whose ids are of this dtype; contexts are new unless a row says warm."""
    reference = next(iter(frames))
    relative = [NRG @ 10, P_Rareness @ 100, AP_Rareness @ 100, rrLP, nDCG_UE @ 10]

    def evaluate(measures: Sequence[ir_measures.Measure]) -> Side:
        return lambda: RunContext(frames, reference=reference).evaluate(qrels, measures)

    def again(measures: Sequence[ir_measures.Measure]) -> Side:
        context = RunContext(frames, reference=reference)
        context.evaluate(qrels, measures)
        return lambda: context.evaluate(qrels, measures)

    five = "NRG@10, P_Rareness@100, AP_Rareness@100, rrLP, nDCG_UE@10"
    absolute = "nDCG@10, AP, P@10, RR, R@1000 inside evaluate"
    cold, warm, warm_five = (
        f"NRG@10 of {len(frames)} runs",
        "the same, warm context",
        "these five, warm context",
    )
    sides: dict[str, Side] = {
        HOST: by_ir_measures(frames, qrels, [nDCG @ 10]),
        HOST_FIVE: by_ir_measures(frames, qrels, _ABSOLUTE),
        BEST: by_pytrec_eval(frames, qrels, {"ndcg_cut.10"}),
        BEST_FIVE: by_pytrec_eval(frames, qrels, _IN_PYTREC_EVAL),
        cold: evaluate([NRG @ 10]),
        warm: again([NRG @ 10]),
        five: evaluate(relative),
        warm_five: again(relative),
        absolute: evaluate(_ABSOLUTE),
        "nDCG@10 inside evaluate": evaluate([nDCG @ 10]),
    }
    costs = interleaved(sides, rounds)
    rows: list[tuple[str, str, float | None]] = [
        (cold, HOST, 0.025),
        (cold, BEST, 0.08),
        (warm, HOST, None),
        (warm, BEST, None),
        (five, HOST, 0.12),
        (five, BEST, None),
        (warm_five, HOST, None),
        (absolute, HOST_FIVE, 0.7),
        (absolute, BEST_FIVE, None),
        ("nDCG@10 inside evaluate", HOST, 0.15),
    ]
    return [Row(ours, theirs, costs[ours], costs[theirs], limit, ids) for ours, theirs, limit in rows]


def calls(frames: Frames, qrels: pd.DataFrame, rounds: int) -> list[Row]:
    """Time the hosts as users call them: one run at a time, in an existing context; and pt.Experiment, if installed."""
    name, frame = next(iter(frames.items()))
    named = frame.assign(name=name)
    context = RunContext(frames)

    def one(measure: ir_measures.Measure) -> Side:
        def side() -> None:
            with context:
                ir_measures.calc_aggregate([measure], qrels, named)

        return side

    def from_dict(measure: ir_measures.Measure) -> Side:
        with context:
            evaluator = ir_measures.evaluator([measure], qrels)

        def side() -> None:
            with context:
                evaluator.calc_aggregate(run)

        return side

    work, peer = "calc_aggregate([NRG@10]) of one run, warm context", "calc_aggregate([nDCG@10])"
    sides = {work: one(NRG @ 10), peer: one(nDCG @ 10)}
    pairs = [(work, peer, 0.5)]
    run = as_dict(frame)
    work, peer = "NRG@10 of one run as a dict, evaluator in a context", "evaluator of nDCG@10, the same dict"
    sides |= {work: from_dict(NRG @ 10), peer: from_dict(nDCG @ 10)}
    pairs.append((work, peer, 1.0))
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            import pyterrier as pt
    except ImportError:
        print("PyTerrier is not installed: no row for pt.Experiment\n")
    else:
        theirs = {"query_id": "qid", "doc_id": "docno", "relevance": "label"}
        names = list(frames)[:_SYSTEMS]
        systems = [frames[n].rename(columns=theirs).assign(name=n) for n in names]
        labels = qrels.rename(columns=theirs)
        topics = pd.DataFrame({"qid": labels["qid"].unique(), "query": "x"})

        def experiment(measures: Sequence[ir_measures.Measure]) -> Side:
            def side() -> None:
                with context:
                    pt.Experiment(systems, topics, labels, measures, names=names, validate="ignore")

            return side

        work = f"pt.Experiment of {len(names)} frames, [nDCG@10, NRG@10], warm context"
        peer = "pt.Experiment, [nDCG@10]"
        sides |= {work: experiment([nDCG @ 10, NRG @ 10]), peer: experiment([nDCG @ 10])}
        pairs.append((work, peer, 1.15))
    for work, _, _ in pairs:
        sides[work]()  # what warms the context
    costs = interleaved(sides, rounds)
    return [Row(ours, peer, costs[ours], costs[peer], limit, "str") for ours, peer, limit in pairs]


def memory(frames: Frames, qrels: pd.DataFrame, ids: str) -> list[Memory]:
    """Return the peak memory of evaluate, besides the frames themselves."""
    size = sum(int(f.memory_usage(deep=True).sum()) for f in frames.values())
    reference = next(iter(frames))
    rows = []
    for work, measures, limit in (
        ("NRG@10", [NRG @ 10], 0.5),
        (
            "NRG@10, P_Rareness@100, AP_Rareness@100, rrLP, nDCG_UE@10",
            [NRG @ 10, P_Rareness @ 100, AP_Rareness @ 100, rrLP, nDCG_UE @ 10],
            1.0,
        ),
        ("NRG, AP_Rareness, rrLP: all at full depth", [NRG, AP_Rareness, rrLP], 1.0),
    ):
        peak = peak_memory(lambda m=measures: RunContext(frames, reference=reference).evaluate(qrels, m))
        rows.append(Memory(f"evaluate, {work}", ids, peak, size, limit))
    return rows
