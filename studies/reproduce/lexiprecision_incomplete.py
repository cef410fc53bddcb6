"""Figures 8 and 9 of the paper on Lexiprecision: with labels or topics taken out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from ir_measures_relative.data.arrays import FloatArray

from . import drawing, incomplete
from .finding import Finding, Holds
from .recall_levels import Found

_CAPTION = (
    "The more labels or topics are left, the closer all three come to what δRR_1 says on all of them. The bands "
    "are one deviation of ten samples."
)
_SHOWN = {"RR": "δRR_1", "rrLP": "rrLP", "sgnLP": "sgnLP"}


def findings(campaigns: Mapping[str, Found], out: Path) -> Iterator[Finding]:
    """Both figures on each campaign; a picture for all of them."""
    labels = {name: incomplete.of_labels(found) for name, found in campaigns.items()}
    yield from _figure_8(campaigns, labels, out)
    yield from _figure_9(labels, out)


def verdict(fully: bool, partly: bool, unknown: bool) -> Holds:
    """Whether a claim holds: fully, partly or not; open where the runs cannot say."""
    if unknown:
        return "open"
    return "yes" if fully else "in part" if partly else "no"


def _figure_8(
    campaigns: Mapping[str, Found], labels: Mapping[str, dict[str, FloatArray]], out: Path
) -> Iterator[Finding]:
    figure, axes = drawing.panels(3, len(campaigns), width=4.4)
    rows: list[Finding] = []
    for row, (name, found) in enumerate(campaigns.items()):
        of_labels, of_topics = labels[name], incomplete.of_topics(found)
        shown = (
            ("rankings, labels left", of_labels, "ranking", ("RR", "rrLP")),
            ("runs, labels left", of_labels, "system", ("RR", "rrLP", "sgnLP")),
            ("runs, topics left", of_topics, "system", ("RR", "rrLP", "sgnLP")),
        )
        for ax, (what, table, kind, measures) in zip(axes[3 * row : 3 * row + 3], shown, strict=True):
            means = {_SHOWN[m]: table[f"{kind} {m}"].mean(axis=1) for m in measures}
            deviations = {_SHOWN[m]: table[f"{kind} {m}"].std(axis=1) for m in measures}
            drawing.lines(ax, incomplete.FRACTIONS, means, deviations)
            drawing.percent(ax)
            drawing.label(ax, f"{name}: {what}", "share that is left", "agreement with δRR_1 of all")
            rows += _agreements(name, what, table, kind, measures, incomplete.of_all(found))
    picture = drawing.save(figure, out, "lexiprecision-figure-8.png")
    for i, finding in enumerate(rows):
        yield finding if i else replace(finding, picture=picture, caption=_CAPTION)


def _agreements(
    name: str, what: str, table: dict[str, FloatArray], kind: str, measures: tuple[str, ...], of_all: float
) -> Iterator[Finding]:
    part = "a" if "labels" in what else "b"
    means = {m: table[f"{kind} {m}"].mean(axis=1) for m in measures}
    gains = table[f"{kind} rrLP"] - table[f"{kind} RR"]
    gain, error = gains.mean(axis=1), gains.std(axis=1, ddof=1) / np.sqrt(gains.shape[1])
    note = (
        f"Of the fractions from 10 to 90 %, rrLP agrees more often than δRR_1 at {int((gain > 0).sum())} and less "
        f"often at {int((gain < 0).sum())} of 9; at worst {100 * gain.min():+.1f} points (standard error "
        f"of ten samples {100 * error[gain.argmin()]:.1f})."
    )
    if kind == "system":
        note += f" With all of them rrLP agrees on {100 * of_all:.1f} % of the pairs."
    else:
        half = (table["ranking, half rrLP"] - table["ranking, half RR"]).mean(axis=1)
        note += (
            " A tie counts as a disagreement, and rrLP has few; with half a point for a tie, which is what breaking it "
            f"by chance gets, its gain is {100 * half.min():+.1f} to {100 * half.max():+.1f} points instead of "
            f"{100 * gain.min():+.1f} to {100 * gain.max():+.1f}."
        )
    yield Finding(
        f"Figure 8 ({part}), {name}", f"{what}, half: agreement of δRR_1; rrLP, %",
        ours=f"{100 * means['RR'][4]:.1f}; {100 * means['rrLP'][4]:.1f}",
        holds=verdict(bool((gain >= -2 * error).all()), bool((gain >= 0).any()), bool(np.isnan(gain).any())),
        note=note,
        claim=f"On a part of the data, rrLP agrees with the full reciprocal rank as often as that does: {what}.",
    )  # fmt: skip
    if "sgnLP" in means:
        weaker = means["sgnLP"] < means["rrLP"]
        yield Finding(
            f"Figure 8 ({part}), {name}", f"{what}, half: agreement of sgnLP, below rrLP, %",
            ours=f"{100 * means['sgnLP'][4]:.1f}", holds=verdict(bool(weaker.all()), bool(weaker.any()), False),
            note=f"Below rrLP at {int(weaker.sum())} of 9 fractions.",
            claim=f"On a part of the data, sgnLP agrees with the full reciprocal rank less often than rrLP: {what}.",
        )  # fmt: skip


def _figure_9(labels: Mapping[str, dict[str, FloatArray]], out: Path) -> Iterator[Finding]:
    figure, axes = drawing.panels(len(labels), width=5.4)
    for ax, (name, table) in zip(axes, labels.items(), strict=True):
        means = {_SHOWN[m]: table[f"ties {m}"].mean(axis=1) for m in ("RR", "rrLP")}
        deviations = {_SHOWN[m]: table[f"ties {m}"].std(axis=1) for m in ("RR", "rrLP")}
        drawing.lines(ax, incomplete.FRACTIONS, means, deviations)
        ax.set_ylim(0, 1)
        drawing.percent(ax)
        drawing.label(ax, f"Ties, {name}", "labels left", "share of tied pairs")
    picture = drawing.save(figure, out, "lexiprecision-figure-9.png")
    for name, table in labels.items():
        for measure, claim, sign in (("RR", "grow", 1), ("rrLP", "shrink", -1)):
            means = 100 * table[f"ties {measure}"].mean(axis=1)
            steps = sign * np.diff(means) > 0
            others = (
                f" The others are of {np.abs(np.diff(means)[~steps]).max(initial=0):.1f} points at most: two runs that "
                "retrieve none of the few documents left are tied."
            )
            yield Finding(
                f"Figure 9, {name}", f"ties by {_SHOWN[measure]} with 10, 50, 90 % of the labels, %",
                ours=", ".join(f"{means[i]:.1f}" for i in (0, 4, 8)),
                holds=verdict(bool(steps.all()), sign * (means[-1] - means[0]) > 0, False),
                note=f"They {claim} in {int(steps.sum())} of 8 steps." + others * (not steps.all()),
                about="The claim is that ties by δRR_1 grow with the number of labels, and those by rrLP shrink.",
                picture=picture,
                caption="With more labels δRR_1 ties more pairs of rankings, and rrLP fewer.",
                claim=f"With more labels, ties by {_SHOWN[measure]} {claim}.",
            )  # fmt: skip
            picture = None  # type: ignore[assignment]
