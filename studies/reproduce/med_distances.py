"""What the paper on maximized effectiveness distance says of its example, asked of two runs at a time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ir_measures_relative import RunContext, similarity
from ir_measures_relative.data.arrays import FloatArray
from ir_measures_relative.plots.figures import COLOURS

from . import drawing
from .data import Campaign
from .finding import Finding, Holds
from .med_labelings import parted_by_the_same

_BASES = ("SDCG", "nDCG", "SSP", "AP")
#: So many runs are compared with each other: AP and SSP are solved by branch and bound.
_MOST_RUNS = 10
_CUTOFF = 10
_CAPTION = (
    "Off the diagonal the two measures see different distances. With the judgments, "
    "SDCG and nDCG are the same in most cases, and SSP and AP are not."
)
_LABELINGS = 5
_DEPTHS = (5, 10, 20)


def findings(campaigns: dict[str, Campaign], out: Path) -> Iterator[Finding]:
    """Distances by the four measures, with the judgments and without; the labels that reach them; residuals."""
    contexts = {name: _some_runs(campaign) for name, campaign in campaigns.items()}
    values = {
        name: {judged: _distances(context, campaigns[name], judged) for judged in (True, False)}
        for name, context in contexts.items()
    }
    picture: str | None = _draw(values, out)
    for name, context in contexts.items():
        for finding in _ratios(name, len(context.names), values[name]):
            yield finding if picture is None else replace(finding, picture=picture, caption=_CAPTION)
            picture = None
        yield _labelings(name, context, campaigns[name])
        yield _residuals(name, context, campaigns[name])


def _some_runs(campaign: Campaign) -> RunContext:
    names = campaign.context.names
    if len(names) < 2:
        raise SystemExit(f"{campaign.folder} holds {len(names)} run; distances need two or more")
    at = np.unique(np.linspace(0, len(names) - 1, min(_MOST_RUNS, len(names))).astype(int))
    return RunContext({names[i]: campaign.context.runs[names[i]] for i in at})


def _values(context: RunContext, campaign: Campaign, measures: list[str]) -> list[FloatArray]:
    """Of each measure, the distances of all pairs on all topics, pair by pair."""
    table: Any = similarity(context, campaign.qrels, measures, perquery=True)
    of_measures = table.groupby(table["measure"].astype(str), sort=False)["value"]
    return [values.to_numpy() for _, values in of_measures]


def _distances(context: RunContext, campaign: Campaign, judged: bool) -> list[FloatArray]:
    options = "" if judged else ",judged=False"
    return _values(
        context,
        campaign,
        [f"MED(base='{b}'{options}{',rel=1' if 'DCG' in b else ''})@{_CUTOFF}" for b in _BASES],
    )


def _draw(values: dict[str, dict[bool, list[FloatArray]]], out: Path) -> str:
    figure, axes = drawing.panels(2, len(values), width=5.2)
    for i, (name, found) in enumerate(values.items()):
        for ax, (a, b) in zip(axes[2 * i : 2 * i + 2], ((0, 1), (2, 3)), strict=True):
            for judged, colour in ((False, COLOURS[1]), (True, COLOURS[0])):
                x, y = found[judged][a], found[judged][b]
                ax.plot(x, y, "o", color=colour, markersize=2.5, alpha=0.25)
                ax.plot([], [], "o", color=colour, label="judged" if judged else "all documents open")
            ax.plot((0, 1), (0, 1), color="0.6", linewidth=0.8)
            ax.legend(fontsize=8, frameon=False)
            x_title, y_title = (f"MED({_BASES[j]}@{_CUTOFF})" for j in (a, b))
            drawing.label(ax, f"Two runs on a topic, {name}", x_title, y_title)
    return drawing.save(figure, out, "med-distances.png")


def _ratios(name: str, runs: int, found: dict[bool, list[FloatArray]]) -> Iterator[Finding]:
    from scipy.stats import kendalltau

    pairs = runs * (runs - 1) // 2
    for a, b in ((0, 1), (2, 3)):
        for judged, values in found.items():
            x, y = values[a], values[b]
            some = (x > 1e-9) & (y > 1e-9)
            low, high = np.quantile(y[some] / x[some], (0.05, 0.95)) if some.any() else (np.nan, np.nan)
            same = float(100 * (np.abs(x - y) < 1e-9).mean())
            means = [v.reshape(pairs, -1).mean(axis=1) for v in (x, y)]
            tau = kendalltau(*means).statistic if pairs > 1 else np.nan
            note = (
                f"The two are the same in {same:.0f} % of the cases"
                + f"; τ of the mean distances of the {pairs} pairs of {runs} runs is {tau:.2f}"
                * (not np.isnan(tau))
                + "."
            )
            if judged and b == 1:
                note += (
                    f" Where {_CUTOFF} documents or more are judged relevant, nDCG@{_CUTOFF} is SDCG@{_CUTOFF}: the "
                    "objection that §4 answers by Figures 1 and 2."
                )
            what = "with the judgments" if judged else "all documents open"
            yield Finding(
                f"§§2-4, {name}", f"MED({_BASES[b]}) / MED({_BASES[a]}), {what}, 5 to 95 % of the cases",
                ours=f"{low:.2f} to {high:.2f}",
                holds=_apart(low, high, same), note=note,
                about="The claim is that neither distance stands for the other: *yes* where the upper end of "
                "the ratio is more than 1.2 times the lower one, *in part* where half of the cases or more have the "
                "same distance by both, so that only the others bear it out. By binary labels.",
                claim=f"MED by {_BASES[a]} does not stand for MED by {_BASES[b]}, {what}.",
            )  # fmt: skip


def _apart(low: float, high: float, same: float) -> Holds:
    """Whether two distances are not each other's, by the ends of their ratio and the per cent that are the same."""
    if np.isnan(low):
        return "open"
    if high <= 1.2 * low:
        return "no"
    return "yes" if same < 50 else "in part"


def _labelings(name: str, context: RunContext, campaign: Campaign) -> Finding:
    """How often the labels that part two rankings the most are the same by SDCG and by nDCG."""
    same = total = 0
    topics = set(campaign.qrels["query_id"])
    for pair in itertools.islice(itertools.pairwise(context.names), _LABELINGS):
        one, other = (context.runs[run].to_dict(_CUTOFF) for run in pair)
        both = sorted(q for q in topics if one.get(q) and other.get(q))
        total += len(both)
        same += sum(parted_by_the_same(one[q], other[q]) for q in both)
    return Finding(
        f"Table 3, {name}", "cases in which SDCG and nDCG are parted the most by the same labels, %",
        ours=100 * same / total if total else None, holds="open" if not total else "yes" if same < total else "no",
        note=f"Of {total} cases, all documents open; the claim is that the two call for other labels.",
        claim="Other labels part two rankings the most by SDCG than by nDCG.",
    )  # fmt: skip


def _residuals(name: str, context: RunContext, campaign: Campaign) -> Finding:
    """What the documents below the cutoff add to the distance by RBP."""
    with_it, without = (
        _values(context, campaign, [f"MED(base='RBP',p=0.8,residual={r})@{k}" for k in _DEPTHS])
        for r in (True, False)
    )
    means = [float(v.mean()) for v in with_it]
    gains = [float((a - b).mean()) for a, b in zip(with_it, without, strict=True)]
    tails = [0.8**k for k in _DEPTHS]
    within = all(g <= t + 1e-9 for g, t in zip(gains, tails, strict=True))
    return Finding(
        f"§1, {name}", "MED(RBP, p = 0.8) at 5, 10, 20, and what of it is residual",
        ours="; ".join(f"{m:.3f}, {g:.3f}" for m, g in zip(means, gains, strict=True)),
        holds="yes" if within else "in part",
        note=f"The residual is 0.8^k, {', '.join(f'{t:.3f}' for t in tails)}: less on the mean where two rankings are "
        "the same to their last documents, and more where they end before k.",
        claim="The residual of MED(base='RBP')@k is at most p^k.",
    )  # fmt: skip
