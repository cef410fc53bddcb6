"""The experiments of the paper on Maximized effectiveness distance."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from ir_measures_relative import med
from ir_measures_relative.arrays import FloatArray
from ir_measures_relative.measures.gains import discount, ideal_dcg
from ir_measures_relative.plots.figures import COLOURS

from . import drawing, med_distances
from .data import Campaign, Data
from .finding import Finding

TITLE = "Maximized effectiveness distance"


def findings(data: Data, out: Path) -> Iterator[Finding]:
    """The paper's examples, its figures of these judgments, and what its claims mean for these runs."""
    yield from _examples()
    campaigns = {c.name: c for c in (data.robust, data.dl19) if c is not None}
    yield from _figure_1(campaigns, out)
    yield from _figure_2(campaigns, out)
    yield from med_distances.findings(campaigns, out)
    yield Finding(
        "Figures 1 and 2, TREC 2013 Web Track", "judgments of fifty topics",
        note="They are not here; the figures are drawn of the judgments of these campaigns. The paper has no "
        "experiments on runs: what is computed of runs here asks whether what it says of its example holds of them.",
    )  # fmt: skip


def _examples() -> Iterator[Finding]:
    depths = np.arange(1, 7)
    ours = np.cumsum(discount(depths))
    printed = (1.000, 1.631, 2.131, 2.562, 2.948, 3.305)
    yield Finding(
        "Table 1", "S_k for k from 1 to 6", ", ".join(f"{s:.3f}" for s in printed), None,
        ", ".join(f"{s:.3f}" for s in ours), "yes" if np.abs(ours - printed).max() < 0.00051 else "no",
    )  # fmt: skip
    first, second = (
        {"q": {d: -float(i) for i, d in enumerate(ranking)}} for ranking in ("ABCDEFGHJK", "ADBECGFJLH")
    )
    judged = {"q": {"A": 1, "E": 0}}
    where = {
        "nDCG": ("Table 2", 0.235),
        "SDCG": ("Table 3", 0.128),
        "SSP": ("Table 3", 0.161),
        "AP": ("Table 3", 0.283),
    }
    for base, (table, value) in where.items():
        found = med(first, second, judged, base=base, cutoff=10).iloc[0]
        yield Finding(
            table, f"MED({base}@10) of X_3 and X_4", value, None, float(found["value"]),
            "yes" if abs(found["value"] - value) < 0.00051 else "no",
            f"Reached with {', '.join(sorted(found['labeling']))} relevant besides A.",
        )  # fmt: skip


def _relevant(campaign: Campaign, grade: int) -> FloatArray:
    qrels = campaign.qrels
    high = qrels["relevance"] >= grade
    counts: FloatArray = high.groupby(qrels["query_id"]).sum().to_numpy(dtype=np.float64)
    return counts


def _figure_1(campaigns: dict[str, Campaign], out: Path) -> Iterator[Finding]:
    figure, axes = drawing.panels(len(campaigns), width=5.4)
    for ax, (name, campaign) in zip(axes, campaigns.items(), strict=True):
        for grade in range(1, max(1, int(campaign.qrels["relevance"].max())) + 1):
            counts = np.sort(_relevant(campaign, grade))[::-1]
            ax.plot(counts, color=COLOURS[(grade - 1) % len(COLOURS)], linewidth=1.6, label=f"grade {grade}+")
        for depth in (20, 100):
            ax.axhline(depth, color="0.6", linewidth=0.8)
        ax.set_yscale("symlog", linthresh=1.0)
        ax.set_ylim(bottom=0)
        ax.legend(fontsize=8, frameon=False)
        drawing.label(
            ax,
            f"Relevant documents, {name}",
            "topics, by their number",
            "relevant documents; lines at 20, 100",
        )
    picture: str | None = drawing.save(figure, out, "med-figure-1.png")
    for name, campaign in campaigns.items():
        counts = _relevant(campaign, 1)
        under = int(((counts < 100) & (counts > 0)).sum())
        fifth = int(((counts <= 20) & (counts > 0)).sum())
        yield Finding(
            f"Figure 1, {name}", "topics with fewer than 100 relevant documents, where SSP@100 is below AP@100",
            "> 20 of 50", None, f"{under} of {len(counts)}", "yes" if under > 0 else "no",
            f"SSP@100 is AP@100 times R/100: five times as small, or more, on {fifth} topics (printed: \"in some "
            "cases by a factor of five\").",
            picture,
        )  # fmt: skip
        picture = None


def _figure_2(campaigns: dict[str, Campaign], out: Path) -> Iterator[Finding]:
    figure, axes = drawing.panels(len(campaigns), width=5.4)
    rows = []
    weights = discount(np.arange(1, 21))
    for ax, (name, campaign) in zip(axes, campaigns.items(), strict=True):
        qrels = campaign.qrels.sort_values("query_id", kind="stable")
        highest = max(1, int(qrels["relevance"].max()))
        gains = (2.0 ** np.arange(highest + 1) - 1) / 2.0**highest
        topic = pd.factorize(qrels["query_id"])[0]
        gain = gains[np.maximum(qrels["relevance"].to_numpy(), 0)]
        ideal = np.sort(ideal_dcg(gain, topic, int(topic.max()) + 1, 20))[::-1]
        lines = {
            "20 of the highest grade": gains[-1] * weights.sum(),
            "1 of it, 19 of the next": gains[-1] * weights[0] + gains[-2] * weights[1:].sum(),
        }
        ax.plot(ideal, "o-", color=COLOURS[0], markersize=3, linewidth=1.4, label="ideal DCG@20")
        for i, (label, height) in enumerate(lines.items(), 1):
            ax.axhline(height, color=COLOURS[i], linestyle=":", label=label)
        ax.set_ylim(bottom=0)
        ax.legend(fontsize=8, frameon=False)
        drawing.label(ax, f"Ideal DCG@20, {name}", "topics, by their value", "ideal DCG@20")
        rows.append((name, ideal, lines))
    picture: str | None = drawing.save(figure, out, "med-figure-2.png")
    for name, ideal, lines in rows:
        upper, lower = lines.values()
        some = ideal[ideal > 0]
        span = f"{upper / some.max():.1f} to {upper / some.min():.1f}" if len(some) else ""
        yield Finding(
            f"Figure 2, {name}", "topics whose ideal DCG@20 is below the first line; the second, %", "100; 100", None,
            "; ".join(f"{100 * (ideal < line - 1e-9).mean():.0f}" for line in (upper, lower)),
            "yes" if (ideal < lower).all() else "in part" if (ideal < upper - 1e-9).any() else "no",
            f"nDCG@20 is SDCG@20 times {span}, by topic.", picture,
        )  # fmt: skip
        picture = None
