"""What unjudged documents can overturn: the numbers of the page "Unjudged documents", on real campaigns.

Judgments are hidden, and verdicts given on what is left; then the hidden labels say what became of them.
"""

from __future__ import annotations

import argparse
import random
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from ir_measures_relative import RelativeWarning, RunContext, bounds, judge_next, verdicts
from ir_measures_relative.analysis.verdicts import verdict_of

TOP_TEN = ["P@10", "nDCG@10", "NRG@10", "UniqueRel@10"]
WIDTHS = [
    *TOP_TEN, "RBP(rel=1)@10", "RR@10", "ERR@10", "AP@100", "NRG(base='P')@10", "NRG(base='RBP')@10",
    "NRG(base='RR')@10", "P_Rareness@10", "AP_Rareness@10",
    "TaSC(base='nDCG@10')", "nDCG_UE@10", "nDCG_UE(version=1)@10", "AP_UE@10",
    "rrLP(ref='{0}')@10", "sgnLP(ref='{0}')@10",
    "sgnLR(ref='{0}')@10", "RPP(ref='{0}')@10",
]  # fmt: skip
SPREADS = (0.0, 0.8)


def read_qrels(path: Path) -> pd.DataFrame:
    """TREC qrels as a frame."""
    columns = ["query_id", "iteration", "doc_id", "relevance"]
    frame = pd.read_csv(path, sep=r"\s+", header=None, names=columns, dtype={"query_id": str, "doc_id": str})
    return frame.drop(columns="iteration")


def pool(context: RunContext, qrels: pd.DataFrame, names: Sequence[str], depth: int) -> pd.DataFrame:
    """The judgments of the documents that these runs hold in their top ``depth``."""
    held: set[tuple[str, str]] = set()
    for name in names:
        held.update((q, d) for q, docs in context.runs[name].to_dict(depth).items() for d in docs)
    pairs = zip(qrels["query_id"], qrels["doc_id"], strict=True)
    return qrels[[pair in held for pair in pairs]]


def fresh(context: RunContext) -> RunContext:
    """The same runs, with nothing computed."""
    return RunContext(dict(context.runs), grades=context.grades)


def newcomers(context: RunContext, qrels: pd.DataFrame) -> None:
    """Every run as one that was not pooled: does its place among the others stay?"""
    print("Kendall's tau between the runs' means by all judgments, and by the pools of the other runs")
    truth = context.evaluate(qrels, TOP_TEN).set_index("name")
    for depth in (10, 100):
        left = {}
        for name in context.names:
            others = [other for other in context.names if other != name]
            left[name] = (
                fresh(context)
                .evaluate(pool(context, qrels, others, depth), TOP_TEN)
                .set_index("name")
                .loc[name]
            )
        found = pd.DataFrame(left).T.astype(float)
        tau = {m: round(float(kendalltau(truth[m], found[m]).statistic), 2) for m in TOP_TEN}
        print(f"  top {depth}:", tau, "largest UniqueRel@10:", round(float(found["UniqueRel@10"].max()), 3))


def widths(context: RunContext, qrels: pd.DataFrame) -> None:
    """How wide the intervals are, by measure."""
    shallow = pool(context, qrels, context.names[::2], 10)
    print(
        f"\nMedian widths, on the pool of depth 10 of {len(context.names[::2])} of {len(context.names)} runs"
    )
    print(
        "| measure | one run | exact | two runs | exact | certain | seconds |\n|---|---|---|---|---|---|---|"
    )
    for measure in WIDTHS:
        measure = measure.format(context.names[0])
        start = time.perf_counter()
        one = bounds(fresh(context), shallow, [measure], perquery=True)
        two = verdicts(fresh(context), shallow, [measure], perquery=True)
        seconds = time.perf_counter() - start
        table = []
        for rows, by in ((one, ["name"]), (two, ["name", "other"])):
            means = rows.groupby(by, sort=False)[["lower", "upper"]].mean()
            table += [f"{(means['upper'] - means['lower']).median():.3f}", f"{rows['exact'].mean():.0%}"]
        certain = (verdict_of(means["lower"].to_numpy(), means["upper"].to_numpy()) != "open").sum()
        print(
            "|",
            " | ".join([f"`{measure}`", *table, f"{certain} of {len(means)}", f"{seconds:.1f}"]),
            "|",
            flush=True,
        )


def costs(context: RunContext, qrels: pd.DataFrame, measures: Sequence[str]) -> None:
    """How many certain verdicts how many judgments buy, in which order."""
    start = pool(context, qrels, context.names, 1)
    print(
        f"\nCertain verdicts after so many judgments a query, of {len(context.names) * (len(context.names) - 1) // 2}"
    )
    n_queries = qrels["query_id"].nunique()
    everything = pool(context, qrels, context.names, 10)
    step = 10 * n_queries
    for measure in measures:
        for name, order in orders(context, everything, measure, step).items():
            judged, counts = start, []
            for _ in range(8):
                found = verdicts(fresh(context), judged, [measure])
                counts.append(f"{len(judged) / n_queries:.0f}: {(found['verdict'] != 'open').sum()}")
                wanted = order(judged)
                if not len(wanted):
                    break
                judged = pd.concat([judged, wanted])
            print(f"  {measure} {name}:", ", ".join(counts), flush=True)


def orders(
    context: RunContext, everything: pd.DataFrame, measure: str, step: int
) -> dict[str, Callable[[pd.DataFrame], pd.DataFrame]]:
    """Ways to choose the next documents: each from the judgments so far to those to add."""

    def left(judged: pd.DataFrame) -> pd.DataFrame:
        keys = ["query_id", "doc_id"]
        merged = everything.merge(judged[keys], on=keys, how="left", indicator=True)
        return merged[merged["_merge"] == "left_only"].drop(columns="_merge")

    def by_advice(judged: pd.DataFrame) -> pd.DataFrame:
        asked = judge_next(fresh(context), judged, measure, step)[["query_id", "doc_id"]]
        return left(judged).merge(
            asked, on=["query_id", "doc_id"]
        )  # a document that nobody judged stays open

    best: dict[tuple[str, str], int] = {}
    for run in context.runs.values():
        for query, docs in run.to_dict(10).items():
            for place, doc in enumerate(docs):
                best[query, doc] = min(place, best.get((query, doc), place))

    def by_depth(judged: pd.DataFrame) -> pd.DataFrame:
        rest = left(judged)
        places = [best[pair] for pair in zip(rest["query_id"], rest["doc_id"], strict=True)]
        return rest.iloc[np.argsort(places, kind="stable")[:step]]

    def at_random(judged: pd.DataFrame) -> pd.DataFrame:
        rest = left(judged)
        return rest.sample(min(step, len(rest)), random_state=0)

    return {"judge_next": by_advice, "pooling depth": by_depth, "random": at_random}


def hidden(
    context: RunContext, qrels: pd.DataFrame, repeats: int
) -> Iterator[tuple[int, pd.DataFrame, pd.DataFrame]]:
    """Pools of depth 5, 10 and 20 of random halves of the runs, and what revealing the open documents makes of them."""
    top = pool(context, qrels, context.names, 10)
    for repeat in range(repeats):
        half = random.Random(repeat).sample(context.names, len(context.names) // 2)
        depth = (5, 10, 20)[repeat % 3]
        shallow = pool(context, qrels, half, depth)
        yield depth, shallow, pd.concat([shallow, top]).drop_duplicates(["query_id", "doc_id"])


def calibration(context: RunContext, qrels: pd.DataFrame, repeats: int) -> None:
    """Of the open verdicts: are the odds as good as they say?"""
    rows = []
    for depth, shallow, revealed in hidden(context, qrels, repeats):
        truth = fresh(context).evaluate(revealed, TOP_TEN).set_index("name")
        for spread in SPREADS:
            found = verdicts(fresh(context), shallow, TOP_TEN, odds="pool", samples=200, spread=spread)
            for measure, part in found[found["verdict"] == "open"].groupby("measure"):
                means = truth[measure]
                difference = means[part["name"]].to_numpy() - means[part["other"]].to_numpy()
                rows.append(part.assign(spread=spread, depth=depth, right=np.sign(difference) / 2 + 0.5))
    table = pd.concat(rows)
    print("\nOpen verdicts: Brier score of the odds, share that the plain value and the odds get wrong")
    table["plain wrong"] = (np.sign(table["value"]) / 2 + 0.5) != table["right"]
    table["odds wrong"] = (table["probability"] > 0.5) != (table["right"] > 0.5)
    table["brier"] = (table["probability"] - table["right"]) ** 2
    columns = ["brier", "plain wrong", "odds wrong"]
    print(table.groupby(["measure", "depth", "spread"])[columns].mean().round(3).to_string())
    print("\nReliability: how often the run that the odds favour is the better one")
    sure = np.maximum(table["probability"], 1 - table["probability"])
    favoured = np.where(table["probability"] >= 0.5, table["right"], 1 - table["right"])
    bins = pd.cut(sure, [0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 1.0], include_lowest=True)
    frame = pd.DataFrame({"spread": table["spread"], "odds": bins, "said": sure, "was": favoured})
    print(
        frame.groupby(["spread", "odds"], observed=True)
        .agg(n=("was", "size"), said=("said", "mean"), was=("was", "mean"))
        .round(3)
    )


def later_runs(folder: Path) -> None:
    """Runs of later years against those that were pooled, on TREC 2019 Deep Learning."""
    old, new = RunContext.from_trec(folder / "runs"), RunContext.from_trec(folder / "later")
    qrels = read_qrels(folder / "qrels.txt.gz")
    context = RunContext({**old.runs, **new.runs}, grades=(0, 3))
    measures = ["nDCG@10", "UniqueRel(rel=2)@10", "NRG@10"]
    print(f"\nLater runs against the {len(old.names)} official ones")
    for measure in measures:
        start = time.perf_counter()
        found = verdicts(context, qrels, [measure], odds="pool", samples=500)
        mixed = found[found["other"].isin(new.names) & found["name"].isin(old.names)]
        wins = mixed[mixed["value"] < 0]
        proved, likely = (mixed["verdict"] == "worse").sum(), (wins["probability"] <= 0.05).sum()
        lost = (mixed["verdict"] == "better").sum()
        print(
            f"  {measure}: {len(mixed)} pairs, {len(wins)} wins, {proved} proved, {lost} lost, {likely} likely",
            end="",
        )
        print(f", {time.perf_counter() - start:.0f} s", flush=True)
        asked = judge_next(context, qrels, measure, 200)
        print(f"    200 passages to judge next are of {asked['query_id'].nunique()} queries")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--campaign", type=Path, help="a folder with runs/ and qrels.txt.gz: TREC 2003 Robust, say"
    )
    parser.add_argument(
        "--later", type=Path, help="a folder with runs/, later/ and qrels.txt.gz: TREC 2019 Deep Learning"
    )
    parser.add_argument(
        "--parts", default="newcomers,widths,costs,calibration", help="what to compute (default: %(default)s)"
    )
    parser.add_argument("--repeats", type=int, default=6, help="pools to hide (default: %(default)s)")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", RelativeWarning)
    parts = arguments.parts.split(",")
    if arguments.campaign:
        qrels = read_qrels(arguments.campaign / "qrels.txt.gz")
        runs = dict(RunContext.from_trec(arguments.campaign / "runs").runs)
        context = RunContext(runs, grades=(0, int(qrels["relevance"].max())))
        if "newcomers" in parts:
            newcomers(context, qrels)
        if "widths" in parts:
            widths(context, qrels)
        if "costs" in parts:
            costs(context, qrels, ["P@10", "nDCG@10", "UniqueRel@10"])
        if "calibration" in parts:
            calibration(context, qrels, arguments.repeats)
    if arguments.later:
        later_runs(arguments.later)


if __name__ == "__main__":
    main()
