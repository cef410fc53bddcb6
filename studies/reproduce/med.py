"""The experiments of the paper on Maximized effectiveness distance."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from ir_measures_relative import MED, RunContext, similarity
from ir_measures_relative.data.arrays import FloatArray
from ir_measures_relative.measures.bases.browsing import LogDiscount
from ir_measures_relative.measures.bases.gains import discount
from ir_measures_relative.measures.form import Ideal
from ir_measures_relative.plots.figures import COLOURS

from . import drawing, med_distances
from .data import Campaign, Data
from .finding import Finding
from .med_labelings import try_labelings

TITLE = "Maximized effectiveness distance"
#: The depths that Figure 1 is about.
_DEPTHS = (20, 100)


def findings(data: Data, out: Path) -> Iterator[Finding]:
    """The paper's examples, its figures of these judgments, and what its claims mean for these runs."""
    yield from _examples()
    campaigns = {c.name: c for c in data.given}
    yield from _figure_1(campaigns, out)
    yield from _figure_2(campaigns, out)
    yield from med_distances.findings(campaigns, out)
    yield Finding(
        "Figures 1 and 2, TREC 2013 Web Track", "judgments of fifty topics",
        note="We do not have them. We drew both figures from the judgments of these campaigns. The paper has no "
        "experiments on runs: the findings on runs ask whether what it says of its example holds for them.",
    )  # fmt: skip


def _examples() -> Iterator[Finding]:
    depths = np.arange(1, 7)
    ours = np.cumsum(discount(depths))
    printed = (1.000, 1.631, 2.131, 2.562, 2.948, 3.305)
    yield Finding(
        "Table 1", "S_k for k from 1 to 6", ", ".join(f"{s:.3f}" for s in printed), None,
        ", ".join(f"{s:.3f}" for s in ours), "yes" if np.abs(ours - printed).max() < 0.00051 else "no",
    )  # fmt: skip
    where = {
        "nDCG": ("Table 2", 0.235),
        "SDCG": ("Table 3", 0.128),
        "SSP": ("Table 3", 0.161),
        "AP": ("Table 3", 0.283),
    }
    rankings, judged = {"X_3": "ABCDEFGHJK", "X_4": "ADBECGFJLH"}, {"A": 1, "E": 0}
    context = RunContext({n: {"q": {d: -float(i) for i, d in enumerate(r)}} for n, r in rankings.items()})
    measures = [MED(base=base) @ 10 for base in where]
    distances = similarity(context, {"q": judged}, measures)["value"].tolist()
    labelings = try_labelings(rankings, judged, measures).values()
    for (base, (table, value)), found, (_, relevant) in zip(where.items(), distances, labelings, strict=True):
        yield Finding(
            table, f"MED({base}@10) of X_3 and X_4", value, None, found,
            "yes" if abs(found - value) < 0.00051 else "no",
            f"Reached with {', '.join(relevant)} relevant besides A.",
        )  # fmt: skip


def _relevant(campaign: Campaign, grade: int) -> FloatArray:
    qrels = campaign.qrels
    high = qrels["relevance"] >= grade
    counts: FloatArray = high.groupby(qrels["query_id"]).sum().to_numpy(dtype=np.float64)
    return counts


def _highest(campaign: Campaign) -> int:
    """The highest grade, at least 1."""
    return max(1, int(campaign.qrels["relevance"].max()))


def _figure_1(campaigns: dict[str, Campaign], out: Path) -> Iterator[Finding]:
    figure, axes = drawing.panels(len(campaigns), width=5.4)
    most = max(_relevant(campaign, 1).max() for campaign in campaigns.values())
    for ax, (name, campaign) in zip(axes, campaigns.items(), strict=True):
        for grade in range(1, _highest(campaign) + 1):
            counts = np.sort(_relevant(campaign, grade))[::-1]
            at = np.arange(1, len(counts) + 1)
            ax.plot(
                at, counts, color=COLOURS[(grade - 1) % len(COLOURS)], linewidth=1.6, label=f"grade {grade}+"
            )
        for depth in _DEPTHS:
            ax.axhline(depth, color="0.4", linewidth=0.9, linestyle=":")
        ax.set_yscale("symlog", linthresh=1.0)
        ticks = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500]
        ax.set_yticks(ticks, [str(tick) for tick in ticks])
        ax.set_yticks([], minor=True)
        ax.set_ylim(0, 1.2 * most)
        ax.legend(fontsize=8, frameon=False, loc="lower left")
        drawing.label(
            ax, f"Relevant documents, {name}", "topics, each line sorted by itself", "relevant documents"
        )
    picture: str | None = drawing.save(figure, out, "med-figure-1.png")
    for name, campaign in campaigns.items():
        counts = _relevant(campaign, 1)
        under = int(((counts < 100) & (counts > 0)).sum())
        fifth = int(((counts <= 20) & (counts > 0)).sum())
        yield Finding(
            f"Figure 1, {name}", "topics with fewer than 100 relevant documents, where SSP@100 is below AP@100",
            "> 20 of 50", None, f"{under} of {len(counts)}", "yes" if under > 0 else "no",
            f"SSP@100 is AP@100 times R/100: five times as small, or more, on {fifth} of them (printed: \"in some "
            "cases by a factor of five\").",
            picture,
            about="It counts the relevant documents of each topic, by the lowest grade that is relevant. The paper "
            "answers an objection with it: if R were at least k for each topic, nDCG@k and AP@k would divide by what "
            "SDCG@k and SSP@k divide by. The dotted lines are k = 20 and k = 100.",
            caption="Topics below the dotted line at 100 are those on which SSP@100 is smaller than AP@100.",
            claim="On some topics SSP@100 is below AP@100, since fewer than 100 documents are relevant.",
        )  # fmt: skip
        picture = None
        grades = [grade for grade in (2, 3) if grade <= _highest(campaign)]
        if not grades:
            continue
        enough = [int((_relevant(campaign, g) >= 20).sum()) for g in grades]
        yield Finding(
            f"Figure 1, {name}",
            f"topics with 20 documents or more of grade {' or better; of grade '.join(map(str, grades))} or better",
            "; ".join(("30 of 50", "“a small minority”")[: len(grades)]), None,
            "; ".join(f"{n} of {len(counts)}" for n in enough),
            ("yes", "in part", "no")[sum(2 * n >= len(counts) for n in enough) * (3 - len(grades))],
            "It holds where fewer than half of the topics have so many, by either grade; in part where by one alone."
            + " The highest grade of these judgments is 2." * (len(grades) == 1),
            claim="Fewer than half of the topics have 20 documents of grade 2 or better, and of grade 3 or better.",
        )  # fmt: skip


def _figure_2(campaigns: dict[str, Campaign], out: Path) -> Iterator[Finding]:
    figure, axes = drawing.panels(len(campaigns), width=5.4)
    rows = []
    weights = discount(np.arange(1, 21))
    for ax, (name, campaign) in zip(axes, campaigns.items(), strict=True):
        qrels = campaign.qrels.sort_values("query_id", kind="stable")
        highest = _highest(campaign)
        gains = (2.0 ** np.arange(highest + 1) - 1) / 2.0**highest
        topic = pd.factorize(qrels["query_id"])[0]
        gain = gains[np.maximum(qrels["relevance"].to_numpy(), 0)]
        ideal = np.sort(Ideal(LogDiscount(), 20).value(gain, topic, int(topic.max()) + 1))[::-1]
        lines = {
            "20 of the highest grade": gains[-1] * weights.sum(),
            "1 of it, 19 of the next": gains[-1] * weights[0] + gains[-2] * weights[1:].sum(),
        }
        ax.plot(
            np.arange(1, len(ideal) + 1),
            ideal,
            "o-",
            color=COLOURS[0],
            markersize=3,
            linewidth=1.4,
            label="ideal DCG@20",
        )
        for i, (label, height) in enumerate(lines.items(), 1):
            ax.axhline(height, color=COLOURS[i], linestyle=":", label=label)
        ax.set_ylim(bottom=0)
        ax.legend(fontsize=8, frameon=False)
        drawing.label(ax, f"Ideal DCG@20, {name}", "topics, sorted by ideal DCG@20", "ideal DCG@20")
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
            f"nDCG@20 is SDCG@20 times {span}, by topic. They are the same on {int((ideal >= upper - 1e-9).sum())} of "
            f"{len(ideal)} topics, those with 20 documents of the highest grade.",
            picture,
            about="nDCG@20 divides by the ideal DCG@20 of each topic, and SDCG@20 by one number for all. The gains are "
            "those of Eq. 12, (2^grade - 1) / 2^highest. The lines are two such numbers: for 20 documents of the "
            "highest grade, and for one of it and 19 of the next. In 2013 both lines lie above all topics. The highest "
            "grade, 4, was for navigational answers there. Where many documents have the highest grade, topics reach "
            "the first line, and pass the second.",
            caption="On topics below the upper dotted line nDCG@20 is larger than SDCG@20.",
            claim="No topic has one document of the highest grade and 19 of the next, or better.",
        )  # fmt: skip
        picture = None
