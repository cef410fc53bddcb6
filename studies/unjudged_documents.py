"""What unjudged documents can overturn: the numbers of the page "Unjudged documents, measured", on real campaigns.

Judgments are hidden, and verdicts given on what is left; then the hidden labels say what became of them.
"""

from __future__ import annotations

import argparse
import random
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from drawn_tables import intervals, matrix_of_verdicts
from ir_measures_relative import RelativeWarning, RunContext, bounds, plots, verdicts
from ir_measures_relative.bounding import judge_next, llm_judge
from ir_measures_relative.bounding.verdicts import name_order

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


def new_runs(context: RunContext, qrels: pd.DataFrame) -> None:
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
            means = rows.groupby(by, sort=False)[["worst", "best"]].mean()
            table += [f"{(means['best'] - means['worst']).median():.3f}", f"{rows['exact'].mean():.0%}"]
        certain = (name_order(means["worst"].to_numpy(), means["best"].to_numpy()) != "undecided").sum()
        print(
            "|",
            " | ".join([f"`{measure}`", *table, f"{certain} of {len(means)}", f"{seconds:.1f}"]),
            "|",
            flush=True,
        )


def costs(context: RunContext, qrels: pd.DataFrame, measures: Sequence[str]) -> pd.DataFrame:
    """How many certain verdicts how many judgments buy, in which order."""
    start = pool(context, qrels, context.names, 1)
    n_pairs = len(context.names) * (len(context.names) - 1) // 2
    print(f"\nCertain verdicts after so many judgments a query, of {n_pairs}")
    n_queries = qrels["query_id"].nunique()
    everything = pool(context, qrels, context.names, 10)
    step = 10 * n_queries
    rows = []
    for measure in measures:
        for name, order in orders(context, everything, measure, step).items():
            judged, counts = start, []
            for _ in range(8):
                found = verdicts(fresh(context), judged, [measure])
                certain = int((found["settled"] != "undecided").sum())
                rows.append((measure, name, len(judged) / n_queries, certain))
                counts.append(f"{len(judged) / n_queries:.0f}: {certain}")
                wanted = order(judged)
                if not len(wanted):
                    break
                judged = pd.concat([judged, wanted])
            print(f"  {measure} {name}:", ", ".join(counts), flush=True)
    return pd.DataFrame(rows, columns=["measure", "order", "judged", "certain"])


def draw_costs(table: pd.DataFrame, path: Path) -> None:
    """Certain verdicts over judgments, a panel a measure and a line an order."""
    measures = list(dict.fromkeys(table["measure"]))
    figure = plots.new_figure(3.1 * len(measures), 3.2)
    panels = figure.subplots(1, len(measures), sharex=True, sharey=True)
    styles = {"judge_next": "o-", "pooling depth": "s--", "random": "^:"}
    for panel, measure in zip(panels, measures, strict=True):
        for order, rows in table[table["measure"] == measure].groupby("order", sort=False):
            panel.plot(rows["judged"], rows["certain"], styles[order], markersize=4, label=order)
        panel.set_title(measure, fontsize=10)
        panel.grid(color="0.9")
        panel.set_xlabel("judgments a query")
    panels[0].set_ylabel("certain verdicts of 136")
    panels[0].legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=100)


def draw_intervals_and_verdicts(context: RunContext, qrels: pd.DataFrame, folder: Path) -> None:
    """The runs as intervals, and which orders are settled, on the pool of the top tens of half of them."""
    shallow = pool(context, qrels, context.names[::2], 10)
    found = bounds(fresh(context), shallow, ["nDCG@10"]), verdicts(fresh(context), shallow, ["nDCG@10"])
    draws = intervals, matrix_of_verdicts
    for name, table, draw in zip(("intervals", "verdicts"), found, draws, strict=True):
        figure = plots.new_figure(7.0, 5.0)
        draw(table, figure.subplots())
        figure.savefig(folder / f"unjudged-{name}.png", dpi=100, bbox_inches="tight")


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
) -> Iterator[tuple[int, pd.DataFrame, pd.DataFrame, set[str]]]:
    """Pools of depth 5, 10 and 20 of random halves of the runs, and what revealing the open documents makes of them."""
    top = pool(context, qrels, context.names, 10)
    for repeat in range(repeats):
        half = random.Random(repeat).sample(context.names, len(context.names) // 2)
        depth = (5, 10, 20)[repeat % 3]
        shallow = pool(context, qrels, half, depth)
        revealed = pd.concat([shallow, top]).drop_duplicates(["query_id", "doc_id"])
        yield depth, shallow, revealed, set(context.names)


def calibration(
    context: RunContext,
    pools: Iterable[tuple[object, pd.DataFrame, pd.DataFrame, set[str]]],
    measures: Sequence[str],
    spreads: Sequence[float],
) -> None:
    """Of the open verdicts: are the odds as good as they say?

    Args:
        pools: what each is called, the judgments, those with the open documents revealed, and the runs of which one is
            in each pair that counts.
    """
    rows = []
    for title, shallow, revealed, these in pools:
        truth = fresh(context).evaluate(revealed, measures).set_index("name")
        for spread in spreads:
            with mock.patch.object(llm_judge, "shift_sd", lambda *_, spread=spread, **__: spread):
                found = verdicts(fresh(context), shallow, measures, relevance_model="pool", samples=200)
            asked = found["name"].isin(these) | found["other"].isin(these)
            for measure, part in found[asked & (found["settled"] == "undecided")].groupby("measure"):
                means = truth[measure]
                difference = means[part["name"]].to_numpy() - means[part["other"]].to_numpy()
                rows.append(part.assign(log_odds_sd=spread, pool=title, right=np.sign(difference) / 2 + 0.5))
    table = pd.concat(rows)
    print("\nOpen verdicts: Brier score of the odds, share that the plain value and the odds get wrong")
    table["plain wrong"] = (np.sign(table["value"]) / 2 + 0.5) != table["right"]
    table["odds wrong"] = (table["probability"] > 0.5) != (table["right"] > 0.5)
    table["brier"] = (table["probability"] - table["right"]) ** 2
    columns = {"brier": ["size", "mean"], "plain wrong": "mean", "odds wrong": "mean"}
    print(table.groupby(["measure", "pool", "log_odds_sd"]).agg(columns).round(3).to_string())
    print("\nReliability: how often the run that the odds favour is the better one")
    sure = np.maximum(table["probability"], 1 - table["probability"])
    favoured = np.where(table["probability"] >= 0.5, table["right"], 1 - table["right"])
    bins = pd.cut(sure, [0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 1.0], include_lowest=True)
    frame = pd.DataFrame({"log_odds_sd": table["log_odds_sd"], "odds": bins, "said": sure, "was": favoured})
    print(
        frame.groupby(["log_odds_sd", "odds"], observed=True)
        .agg(n=("was", "size"), said=("said", "mean"), was=("was", "mean"))
        .round(3)
    )


def deep_costs(context: RunContext, qrels: pd.DataFrame, measure: str, depths: Sequence[int]) -> None:
    """Certain verdicts on a deep measure, with the pools of all runs to growing depths."""
    for depth in depths:
        judged = pool(context, qrels, context.names, depth)
        table = verdicts(context, judged, [measure], time_limit=0.2)
        per_query = len(judged) / qrels["query_id"].nunique()
        print(
            f"{measure}: {(table['settled'] != 'undecided').sum()} certain by {per_query:.0f} (depth {depth})",
            flush=True,
        )


PARTS = ("new runs", "widths", "costs", "deep", "calibration")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--campaign",
        type=Path,
        required=True,
        help="a folder with runs/ and qrels.txt.gz: TREC 2003 Robust, say",
    )
    parser.add_argument("--pictures", type=Path, help="a folder to put the pictures of the page in")
    parser.add_argument(
        "--parts", nargs="+", choices=PARTS, default=PARTS, help="what to compute (default: all)"
    )
    parser.add_argument("--repeats", type=int, default=6, help="pools to hide (default: %(default)s)")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", RelativeWarning)
    for part in ("runs", "qrels.txt.gz"):
        if not (arguments.campaign / part).exists():
            parser.error(f"{arguments.campaign} holds no {part}")
    if arguments.pictures:
        arguments.pictures.mkdir(parents=True, exist_ok=True)
    parts = arguments.parts
    qrels = read_qrels(arguments.campaign / "qrels.txt.gz")
    runs = dict(RunContext.from_files(arguments.campaign / "runs").runs)
    context = RunContext(runs, grades=(0, int(qrels["relevance"].max())))
    if "new runs" in parts:
        new_runs(context, qrels)
    if "widths" in parts:
        widths(context, qrels)
    if "costs" in parts:
        table = costs(context, qrels, TOP_TEN)
        if arguments.pictures:
            draw_costs(table, arguments.pictures / "unjudged-costs.png")
    if "deep" in parts:
        deep_costs(context, qrels, "AP@100", (25, 50, 75, 90, 100))
    if "calibration" in parts:
        calibration(context, hidden(context, qrels, arguments.repeats), TOP_TEN, SPREADS)
    if arguments.pictures:
        draw_intervals_and_verdicts(context, qrels, arguments.pictures)


if __name__ == "__main__":
    main()
