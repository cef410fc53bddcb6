"""How good the odds of open verdicts are: a table of the page "Unjudged documents, measured", on real campaigns.

The runs of one group are left out at a time: the judgments are those of the other groups' top tens, as new runs would
meet them. Then the hidden labels say what became of each open verdict between a run left out and another.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from ir_measures_relative import RelativeWarning, RunContext, verdicts
from unjudged_documents import fresh, pool, read_qrels

BINS = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0]


def open_verdicts(folder: Path, samples: int) -> pd.DataFrame:
    """Every open verdict on a run left out, with its odds, and ``right``: 1, 0, or a half for a tie."""
    qrels = read_qrels(folder / "qrels.txt.gz")
    highest = int(qrels["relevance"].max())
    context = RunContext(dict(RunContext.from_files(folder / "runs").runs), grades=(0, highest))
    groups = {name: name for name in context.names}
    if (folder / "groups.csv").exists():
        said = pd.read_csv(folder / "groups.csv").set_index("run")["group"].to_dict()
        groups = {name: said.get(name, name) for name in context.names}
    rel = 2 if highest > 2 else 1
    measures = [f"P(rel={rel})@10", "nDCG@10", f"UniqueRel(rel={rel})@10"]
    top = pool(context, qrels, context.names, 10)
    tables = []
    for group in sorted(set(groups.values())):
        out = [name for name in context.names if groups[name] == group]
        shallow = pool(context, qrels, [name for name in context.names if name not in out], 10)
        revealed = top[top["query_id"].isin(shallow["query_id"])]
        truth = fresh(context).evaluate(revealed, measures).set_index("name")
        found = verdicts(fresh(context), shallow, measures, relevance_model="pool", samples=samples)
        found = found[
            (found["settled"] == "undecided") & (found["name"].isin(out) != found["other"].isin(out))
        ]
        for measure, rows in found.groupby("measure"):
            means = truth[measure]
            difference = (means[rows["name"]].to_numpy() - means[rows["other"]].to_numpy()).round(9)
            tables.append(rows.assign(group=group, right=np.sign(difference) / 2 + 0.5))
    return pd.concat(tables)


def report(table: pd.DataFrame) -> None:
    """Brier score and log loss by measure, and how often what the odds favour comes true."""
    said, right = table["probability"], table["right"]
    # Odds of exactly 0 or 1 would have an infinite loss.
    inside = said.clip(1e-3, 1 - 1e-3)
    loss = -(right * np.log(inside) + (1 - right) * np.log(1 - inside))
    table = table.assign(brier=(said - right) ** 2, loss=loss)
    scores = {"open": ("brier", "size"), "Brier": ("brier", "mean"), "log loss": ("loss", "mean")}
    rows = pd.concat([table, table.assign(measure="all")]).groupby("measure", sort=False).agg(**scores)
    print(rows.round({"Brier": 4, "log loss": 3}).to_string())
    favoured = np.where(said >= 0.5, right, 1 - right)
    sure = np.maximum(said, 1 - said)
    bins = pd.cut(sure, BINS, include_lowest=True, right=False).cat.add_categories("1").where(sure < 1, "1")
    frame = pd.DataFrame({"odds": bins, "said": sure, "true": favoured})
    columns = {"verdicts": ("true", "size"), "said": ("said", "mean"), "true": ("true", "mean")}
    print(frame.groupby("odds", observed=True).agg(**columns).round(3).to_string())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "folder", type=Path, nargs="+", help="with runs/, qrels.txt.gz, and groups.csv where there is one"
    )
    parser.add_argument("--samples", type=int, default=200, help="labelings (default: %(default)s)")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", RelativeWarning)
    for folder in arguments.folder:
        for part in ("runs", "qrels.txt.gz"):
            if not (folder / part).exists():
                parser.error(f"{folder} holds no {part}")
        print(f"\n{folder.name}")
        report(open_verdicts(folder, arguments.samples))


if __name__ == "__main__":
    main()
