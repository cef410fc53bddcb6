"""Is this candidate worth adding? Two re-rankers, close by nDCG@10, beside what is deployed already.

Takes the folder of a campaign: runs/ is what is deployed, later/ holds the candidates, qrels.txt.gz the judgments.
Written for TREC 2019 Deep Learning and rankings made years later.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from ir_measures_relative import MED, RunContext, compare, explain, select_complementary, verdicts
from ir_measures_relative.decisions import mean_intervals

MEASURES = ["nDCG@10", "UniqueRel(rel=2)@10", "NRG(norm='ideal')@10", "NRG@10"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--candidates", nargs=2, default=["colbert_rankgpt4o", "colbert_set-encoder-large"])
    args = parser.parse_args()
    for part in ("runs", "later", "qrels.txt.gz"):
        if not (args.folder / part).exists():
            parser.error(f"{args.folder} holds no {part}")
    qrels = str(args.folder / "qrels.txt.gz")
    deployed = RunContext.from_files(args.folder / "runs")
    runs = {name: args.folder / "later" / f"{name}.gz" for name in args.candidates}
    context = RunContext({**deployed.runs, **runs})
    best = deployed.evaluate(qrels, ["nDCG@10"]).sort_values("nDCG@10")["name"].iloc[-1]

    print(f"Without judgments: how far from {best}, the best that is deployed?\n")
    blind = MED(base="RBP", p=0.9, judged=False, ref=best) @ 100
    table = context.evaluate(qrels, [blind])
    show(table[table["name"].isin(args.candidates)])

    print(f"With judgments: each beside the {len(deployed.names)} that are deployed\n")
    table = compare(context, qrels, MEASURES, names=args.candidates, priors=deployed.names)
    show(table.drop(columns=["name", "other", "p", "effect_ci_lower", "effect_ci_upper", "topics"]))

    print("How much does each add?\n")
    table = mean_intervals(RunContext(context.runs, priors=deployed.names), qrels, ["UniqueRel(rel=2)@10"])
    show(table[table["name"].isin(args.candidates)])

    print(f"What {args.candidates[0]} finds that nobody does, on the topic where it finds most\n")
    contributions = explain(
        RunContext(deployed.runs), context.runs[args.candidates[0]].to_dict(), qrels, "UniqueRel(rel=2)@10"
    )
    most = contributions.groupby("query_id")["contribution"].sum().idxmax()
    unique = contributions[(contributions["query_id"] == most) & (contributions["contribution"] > 0)]
    show(unique[["query_id", "doc_id", "relevance", "position", "contribution"]])
    for name in args.candidates:
        share = explain(context, name, qrels, "UniqueRel@10")["relevance"].isna().mean()
        print(f"{share:.1%} of the top tens of {name} are not judged\n")

    print("Could their labels turn it around?\n")
    beside = RunContext(context.runs, priors=deployed.names, reference=args.candidates[1])
    table = verdicts(beside, qrels, MEASURES[:3], relevance_model="pool")
    # With four decimal places, where odds that are no proof do not look like one.
    table["probability"] = table["probability"].map("{:.4f}".format)
    show(table[table["name"] == args.candidates[0]].drop(columns=["name", "other", "exact"]))

    print("Of all, three that together retrieve most\n")
    show(select_complementary(context, qrels, 3, "NRG(norm='ideal')@10"))


def show(table: pd.DataFrame) -> None:
    print(table.to_string(index=False, float_format="%.3f") + "\n")


if __name__ == "__main__":
    main()
