"""``python -m studies.reproduce.findings WHAT --robust PATH --dl19 PATH --dl21 PATH``: the tables of findings.md."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from ir_measures import nDCG

from ir_measures_relative import NRG, UniqueRel, fuse

from .. import meta
from . import conclusions, fused, judged, pooling
from .data import Campaign
from .drawing import label, lines, panels


def few_topics(campaign: Campaign, rel: int) -> pd.DataFrame:
    """On how many topics a run's mean rests, each run against all others; τ of the runs on two halves of the topics.

    The interval of τ is 1.96 standard errors to both sides, by leaving out each topic.
    """
    measures = [NRG @ 10, NRG(norm="ideal") @ 10, UniqueRel(rel=rel) @ 10, nDCG @ 10]
    found = meta.reliability(campaign.context.evaluate(campaign.qrels, measures, perquery=True))
    return pd.DataFrame(
        {
            "measure": found["measure"].astype(str),
            "from one topic: median": found["largest"],
            "most": found["maximum"],
            "effective topics": found["topics"],
            "of": found["of_topics"],
            "τ of halves": found["split_half"],
            "lower": found["split_half"] - 1.96 * found["standard_error"],
            "upper": (found["split_half"] + 1.96 * found["standard_error"]).clip(upper=1.0),
        }
    )


def complementary(campaign: Campaign, rel: int) -> pd.DataFrame:
    """Three runs to fuse, the best or the most complementary: nDCG@10 on topics that did not choose."""
    found = fuse(
        campaign.context,
        campaign.qrels,
        3,
        depth=100,
        strategies=("single", "top", "complementary"),
        missing="zero",
    )
    return found[["strategy", "in_sample", "held_out", "difference", "ci_lower", "ci_upper"]]


#: What there is, from a campaign and the label from which on a document is relevant.
TABLES: dict[str, dict[str, Callable[[Campaign, int], pd.DataFrame]]] = {
    "pooling": {"": pooling.table, ", a group left out": pooling.left_out},
    "fusion": {"": fused.fusion},
    "re-ranking": {"": fused.reranking},
    "few-topics": {"": few_topics},
    "complementary": {"": complementary},
    "labels": {"": judged.table},
    "conclusions": {"": conclusions.table},
}


def markdown(table: pd.DataFrame) -> str:
    """A table of the page, numbers to three decimals."""
    cells = [[f"{v:.3f}" if isinstance(v, float) else str(v) for v in row] for row in table.to_numpy(object)]
    rows = [list(map(str, table.columns)), ["---"] * table.shape[1], *cells]
    return "\n".join("| " + " | ".join("" if c == "nan" else c for c in row) + " |" for row in rows)


def draw_pools(tables: dict[str, pd.DataFrame], path: Path) -> None:
    """What each method finds and how it ranks the runs, by the share that was judged: a row a campaign."""
    what = [c for c in next(iter(tables.values())) if c not in ("judged", "method")]
    figure, axes = panels(len(what), len(tables), 3.6, 3.0)
    for i, (name, table) in enumerate(tables.items()):
        for ax, column in zip(axes[i * len(what) :], what, strict=False):
            wide = table.pivot(index="judged", columns="method", values=column)
            lines(ax, wide.index, {str(m): wide[m].to_numpy() for m in table["method"].unique()})
            upright = "Kendall's τ" if column.startswith("τ") else "share of them found"
            label(
                ax,
                f"{name}: {column}" + " documents" * (column[0] != "τ"),
                "share of the pool judged",
                upright,
            )
    figure.savefig(path, dpi=90)


def main(arguments: list[str] | None = None) -> None:
    """Prints the tables; those of pools are also drawn, into --out."""
    parser = argparse.ArgumentParser(prog="python -m studies.reproduce.findings", description=__doc__)
    parser.add_argument("what", choices=TABLES)
    for option, default in (("robust", 1), ("dl19", 2), ("dl21", 2)):
        parser.add_argument(
            f"--{option}", type=Path, metavar="PATH", help=f"a campaign; relevant from {default} on"
        )
        parser.set_defaults(**{f"{option}_rel": default})
    parser.add_argument("--out", type=Path, default=Path("reproduced"), metavar="FOLDER", help="for pictures")
    asked = parser.parse_args(arguments)
    drawn: dict[str, pd.DataFrame] = {}
    for option in ("robust", "dl19", "dl21"):
        if (path := getattr(asked, option)) is None:
            continue
        campaign = Campaign(path)
        campaign.check()
        for title, of in TABLES[asked.what].items():
            table = of(campaign, getattr(asked, f"{option}_rel"))
            drawn.setdefault(campaign.name, table)
            print(f"{campaign.name}{title}\n\n{markdown(table)}\n", flush=True)
    if not drawn:
        parser.error("give a campaign: --robust PATH, --dl19 PATH, --dl21 PATH")
    if asked.what == "pooling":
        asked.out.mkdir(parents=True, exist_ok=True)
        draw_pools(drawn, asked.out / "pooling.png")


if __name__ == "__main__":
    main()
