"""Do the intervals of an audit hold, and how many labels does the judge save? A table of simulations.

A folder holds ``runs/``, the human ``qrels.txt.gz`` and the labels of language models, ``llm/*.qrels.gz``. Beside these
judges there are three made of the first of them: inverted (the highest grade for the lowest), partisan (the highest
grade for all that one run has in its top ten) and random. Pairs of runs are drawn; for each, plans are drawn again and
again, and the interval of each is compared with what all human judgments say. With ``--priors`` it is a run by itself,
given so many others as its priors.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from ir_measures_relative import RunContext, audit
from ir_measures_relative.io.qrels import qrels_columns

Labels = dict[str, dict[str, int]]


def read(path: Path) -> Labels:
    """The labels of a file of judgments."""
    columns, labels = qrels_columns(path), {}
    for query_id, doc_id, grade in zip(*columns.ids(), columns.relevance, strict=True):
        labels.setdefault(query_id, {})[doc_id] = int(grade)
    return labels


def judges(folder: Path, context: RunContext, favoured: str) -> Iterator[tuple[str, Labels]]:
    """The judges: those of the folder, and three bad ones."""
    files = sorted((folder / "llm").glob("*.qrels.gz"))
    for path in files:
        yield path.name.removesuffix(".qrels.gz"), read(path)
    first, rng = read(files[0]), np.random.default_rng(0)
    top = max(g for of in first.values() for g in of.values())
    run = context.runs[favoured].top(10)
    liked = set(zip(context.runs[favoured].query_ids[run.query], run.doc_ids, strict=True))
    yield "inverted", {q: {d: top - g for d, g in of.items()} for q, of in first.items()}
    yield (
        "partisan",
        {q: {d: top if (q, d) in liked else g for d, g in of.items()} for q, of in first.items()},
    )
    yield "random", {q: {d: int(rng.integers(top + 1)) for d in of} for q, of in first.items()}


def apart(context: RunContext, pair: tuple[str, str], human: Labels, measure: str, depth: int) -> float:
    """How much larger a difference of two runs is where ideal rankings are from the top ``depth`` of the runs."""
    tops = [(run, run.top(depth)) for run in context.runs.values()]
    pool = {ids for run, top in tops for ids in zip(run.query_ids[top.query], top.doc_ids, strict=True)}
    of_pool = {q: {d: g if (q, d) in pool else 0 for d, g in of.items()} for q, of in human.items()}
    means = [context.evaluate(labels, [measure]).set_index("name").iloc[:, 0] for labels in (of_pool, human)]
    target, by_all = (mean[pair[0]] - mean[pair[1]] for mean in means)
    return float((target - by_all) * np.sign(by_all))


def main() -> None:
    """Simulates and prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--measures", nargs="+", default=["P(rel=2)@10", "RBP(rel=2,p=0.8)@10"])
    parser.add_argument("--budgets", nargs="+", type=int, default=[50])
    parser.add_argument(
        "--topics", type=int, default=0, help="topics to label in full, for nDCG and its like"
    )
    parser.add_argument(
        "--depth", type=int, help="of the topics in full: ideal rankings are from the runs' top"
    )
    parser.add_argument("--priors", type=int, default=0, help="a run given so many priors, and not two runs")
    parser.add_argument(
        "--others", type=int, default=0, help="further runs in the context, which are not compared"
    )
    parser.add_argument(
        "--apart",
        action="store_true",
        help="print no table, but how much larger differences are by the target",
    )
    parser.add_argument("--pairs", type=int, default=40, help="how many pairs of runs")
    parser.add_argument("--repeats", type=int, default=100, help="how many plans a pair, judge and budget")
    parser.add_argument("--grades", nargs=2, type=int, default=[0, 3], metavar=("LOW", "HIGH"))
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # of documents without a label, once a pair
    if not args.apart:
        print("These topics, with human judgments as the target\n")
        print("| data | measure | judge | labels | coverage | worst pair | half-width | ratio | wrong sign |")
        print("|---|---|---|---:|---:|---:|---:|---:|---:|")
    for folder in args.folders:
        campaign = RunContext.from_files(folder / "runs")
        human, pairs = read(folder / "qrels.txt.gz"), list(itertools.combinations(campaign.names, 2))
        chosen = np.random.default_rng(1).choice(len(pairs), min(args.pairs, len(pairs)), replace=False)
        found: dict[str, list[pd.DataFrame]] = {}
        larger: list[float] = []
        more = np.random.default_rng(2)
        for a, b in (pairs[i] for i in chosen):
            rest = [n for n in campaign.names if n not in (a, b)]
            rest = [str(n) for n in more.choice(rest, args.others + max(args.priors - 1, 0), replace=False)]
            context = RunContext({n: campaign.runs[n] for n in (a, b, *rest)}, grades=tuple(args.grades))
            between = (a, [b, *rest[: args.priors - 1]]) if args.priors else (a, b)
            if args.apart:
                larger.append(apart(context, (a, b), human, args.measures[0], args.depth or 20))
                continue
            for name, labels in judges(folder, context, a):
                table = audit.simulate(
                    context,
                    human,
                    labels,
                    args.measures,
                    args.budgets,
                    between=between,
                    topics=args.topics,
                    depth=args.depth,
                    repeats=args.repeats,
                )
                found.setdefault(name, []).append(pd.DataFrame(table))
        if args.apart:
            print(
                f"{folder.name}: {np.mean(larger):.3f} larger as a mean, {np.abs(larger).max():.3f} at most"
            )
        for name, tables in found.items():
            for (measure, _), rows in pd.concat(tables).groupby(["measure", "budget"], sort=False):
                wrong = (rows["wrong"] * rows["decided"]).sum() / max(rows["decided"].sum(), 1e-9)
                print(
                    f"| {folder.name} | {measure} | {name} | {rows['labels'].mean():.0f} | "
                    f"{rows['coverage'].mean():.3f} | {rows['worst'].min():.2f} | {rows['half_width'].mean():.3f} | "
                    f"{rows['half_width'].mean() / rows['human_only'].mean():.2f} | {wrong:.1%} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
