"""Runs of later years, which were never pooled, against those that were: what further judgments could overturn.

Takes the folder of a campaign: runs/ is what was pooled, later/ the others, qrels.txt.gz the judgments, groups.csv who
submitted what. Written for TREC 2019 Deep Learning; prints what the page "Unjudged documents, measured" shows of it.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from ir_measures_relative import RelativeWarning, RunContext, verdicts
from ir_measures_relative.bounding import judge_next
from unjudged_documents import calibration, fresh, pool, read_qrels

MEASURES = ["nDCG@10", "NRG@10", "UniqueRel(rel=2)@10"]


def later_against_official(context: RunContext, qrels: pd.DataFrame, later: list[str]) -> None:
    """Which wins of the later runs are proved, in all and run by run; and what would settle most of the rest."""
    by_run: dict[str, list[str]] = {}
    for measure in MEASURES:
        start = time.perf_counter()
        found = verdicts(fresh(context), qrels, [measure], relevance_model="pool", samples=500)
        mixed = found[found["other"].isin(later) & ~found["name"].isin(later)]
        wins, verdict = mixed["value"] < 0, mixed["settled"]
        likely = (wins & (mixed["probability"] <= 0.05)).sum()
        print(
            f"{measure}: {len(mixed)} pairs, {wins.sum()} wins, {(verdict == 'below').sum()} proved, "
            f"{(verdict == 'above').sum()} losses proved, {likely} wins of odds .95 or more; "
            f"{time.perf_counter() - start:.0f} s",
            flush=True,
        )
        for run, rows in mixed.groupby("other", sort=False):
            counts = (
                (rows["settled"] == "below").sum(),
                (rows["value"] < 0).sum(),
                (rows["settled"] == "above").sum(),
            )
            by_run.setdefault(run, []).append("{} of {}, {}".format(*counts))
    print(f"Of {len(context.names) - len(later)} official runs: proved of wins, proved losses")
    print("| later run | unjudged |", " | ".join(f"`{m}`" for m in MEASURES), "|")
    for run, cells in by_run.items():
        print("|", " | ".join([f"`{run}`", f"{_unjudged(context, qrels, run):.1%}", *cells]), "|")


def _unjudged(context: RunContext, qrels: pd.DataFrame, name: str) -> float:
    """The share of a run's top tens that nobody judged."""
    known = set(zip(qrels["query_id"], qrels["doc_id"], strict=True))
    queries = set(qrels["query_id"])
    held = [(q, d) for q, docs in context.runs[name].to_dict(10).items() if q in queries for d in docs]
    return sum(pair not in known for pair in held) / len(held)


def what_to_judge(context: RunContext, qrels: pd.DataFrame, measure: str, n: int) -> None:
    """Of which queries the documents are, and which stand first."""
    asked = judge_next(fresh(context), qrels, measure, n)
    queries = asked["query_id"].value_counts()
    print(f"\n{n} to judge next for {measure}: of {len(queries)} queries, most {queries.head(5).to_dict()}")
    shares = [f"{asked['weight'].head(i).sum() / asked['weight'].sum():.0%} in {i}" for i in (10, 50, 100)]
    print("of their weight", ", ".join(shares))
    best = {}
    for name, run in context.runs.items():
        for query, docs in run.to_dict(10).items():
            for place, doc in enumerate(docs, 1):
                best.setdefault((query, doc), []).append((place, name))
    for row in asked.head(10).itertuples():
        held = best[row.query_id, row.doc_id]
        print(f"{row.query_id} {row.doc_id} {row.pairs} open verdicts; {len(held)} runs, best {min(held)}")


def relevant_elsewhere(context: RunContext, qrels: pd.DataFrame, later: list[str]) -> None:
    """How many wins stay proved where further relevant documents lie where no run looked."""
    for measure in ("nDCG@10", "NRG@10"):
        for n in (5, 20):
            found = verdicts(fresh(context), qrels, [measure], unretrieved_relevant=n)
            mixed = found[found["other"].isin(later) & ~found["name"].isin(later)]
            print(f"{measure}, {n} elsewhere: {(mixed['settled'] == 'below').sum()} proved", flush=True)


def groups_left_out(
    context: RunContext, qrels: pd.DataFrame, groups: dict[str, str]
) -> Iterator[tuple[object, pd.DataFrame, pd.DataFrame, set[str]]]:
    """The judgments of the other groups' top tens, and all of those of the top tens, for each group."""
    top = pool(context, qrels, context.names, 10)
    for group in sorted(set(groups.values())):
        out = {name for name in context.names if groups[name] == group}
        yield "others", pool(context, qrels, [n for n in context.names if n not in out], 10), top, out


PARTS = ("later", "judge", "elsewhere", "groups")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--parts", nargs="+", choices=PARTS, default=PARTS, help="what to compute (default: all)"
    )
    arguments = parser.parse_args()
    for part in ("runs", "later", "qrels.txt.gz", "groups.csv"):
        if not (arguments.folder / part).exists():
            parser.error(f"{arguments.folder} holds no {part}")
    warnings.simplefilter("ignore", RelativeWarning)
    old, new = (RunContext.from_files(arguments.folder / name) for name in ("runs", "later"))
    qrels, parts = read_qrels(arguments.folder / "qrels.txt.gz"), arguments.parts
    context = RunContext({**old.runs, **new.runs}, grades=(0, 3))
    if "later" in parts:
        later_against_official(context, qrels, new.names)
    if "judge" in parts:
        what_to_judge(context, qrels, "nDCG@10", 200)
    if "elsewhere" in parts:
        relevant_elsewhere(context, qrels, new.names)
    if "groups" in parts:
        groups = pd.read_csv(arguments.folder / "groups.csv").set_index("run")["group"].to_dict()
        official = RunContext(dict(old.runs), grades=(0, 3))
        pools = groups_left_out(official, qrels, groups)
        calibration(official, pools, ["P(rel=2)@10", "nDCG@10", "UniqueRel(rel=2)@10"], (0.0, 0.4, 0.8, 1.2))


if __name__ == "__main__":
    main()
