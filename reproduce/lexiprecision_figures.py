"""Figures 5-9 of the paper on Lexiprecision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from matplotlib.ticker import PercentFormatter

from ir_measures_relative.arrays import FloatArray

from . import drawing, incomplete
from .finding import Finding, Holds
from .recall_levels import Found, level_difference, lexiprecision

_LEVELS = 20
_CORRELATED = 8
_TICKS = (1, 5, 10, 15, 20)
_DEPTH = 1000


def findings(campaigns: Mapping[str, Found], out: Path) -> Iterator[Finding]:
    """Each figure on each campaign, by its name; a picture for all of them."""
    yield from _figure_5(campaigns, out)
    yield from _figure_6(campaigns, out)
    yield from _figure_7(campaigns, out)
    labels = {name: incomplete.of_labels(found) for name, found in campaigns.items()}
    yield from _figure_8(campaigns, labels, out)
    yield from _figure_9(labels, out)


def _figure_5(campaigns: Mapping[str, Found], out: Path) -> Iterator[Finding]:
    shares = {}
    for name, found in campaigns.items():
        levels = range(1, min(_LEVELS, found.rr.shape[2]) + 1)
        tied = [(level_difference(found.rr, i)[:, found.relevant >= i] == 0).mean() for i in levels]
        shares[name] = np.array(tied + [np.nan] * (_LEVELS - len(tied)))
    figure, (ax,) = drawing.panels(1, width=7.0)
    drawing.lines(ax, np.arange(1, _LEVELS + 1), shares)
    ax.set_ylim(0, 1)
    ax.set_xticks(_TICKS)
    drawing.label(ax, "Ties by recall level", "recall level i", "probability that δRR_i = 0")
    picture = drawing.save(figure, out, "lexiprecision-figure-5.png")
    for name, of_level in shares.items():
        yield Finding(
            f"Figure 5, {name}", "probability of a tie at levels 1, 2, 10",
            ours=", ".join(f"{of_level[i]:.3f}" for i in (0, 1, 9)),
            holds=_holds(of_level[1] < of_level[0], False, bool(np.isnan(of_level[1]))),
            note="The claim is that it falls from the first level to the second. Topics with i relevant documents or "
            "more; two runs that both do not retrieve the i-th are tied.",
            picture=picture,
        )  # fmt: skip
        picture = None  # type: ignore[assignment]


def _figure_6(campaigns: Mapping[str, Found], out: Path) -> Iterator[Finding]:
    figure, (ax,) = drawing.panels(1, width=7.0)
    curves, reached = {}, {}
    for name, found in campaigns.items():
        decided = lexiprecision(found.rr)[1]
        decided = decided[decided > 0]
        levels = np.arange(1, _LEVELS + 1)
        curves[name] = (decided[:, None] <= levels).mean(axis=0) if len(decided) else np.full(_LEVELS, np.nan)
        reached[name] = int(np.quantile(decided, 0.9, method="inverted_cdf")) if len(decided) else None
    drawing.lines(ax, np.arange(1, _LEVELS + 1), curves)
    ax.axhline(0.9, color="0.6", linewidth=0.8)
    ax.set_ylim(0, 1.02)
    ax.set_xticks(_TICKS)
    drawing.label(
        ax, "Levels that are needed", "recall level i", "share of differing pairs decided by level i"
    )
    picture = drawing.save(figure, out, "lexiprecision-figure-6.png")
    for name, level in reached.items():
        yield Finding(
            f"Figure 6, {name}", "recall levels that decide 90 % of the differing pairs",
            printed="< 10", ours=level, holds="yes" if level is not None and level < 10 else "no",
            note="Printed of most campaigns; \"close to 20\" for Deep Learning 2021.", picture=picture,
        )  # fmt: skip
        picture = None  # type: ignore[assignment]


def _figure_7(campaigns: Mapping[str, Found], out: Path) -> Iterator[Finding]:
    figure, axes = drawing.panels(2, len(campaigns), width=5.2)
    rows = []
    for row, (name, found) in enumerate(campaigns.items()):
        correlations = _correlations(found.rr)
        random = _correlations(_at_random(found))
        weights = _regressions(found.rr)
        left, right = axes[2 * row : 2 * row + 2]
        drawing.squares(left, correlations, [str(i) for i in range(1, len(correlations) + 1)])
        left.set_aspect("auto")
        drawing.label(left, f"Correlation of δRR_i, {name}", "i", "i")
        left.grid(visible=False)
        drawing.lines(right, range(1, 5), {f"δRR_{i}": w for i, w in enumerate(weights, 1)})
        right.set_xticks(range(1, 5))
        drawing.label(
            right, "Regression on the next four levels", "levels further, j", "weight of δRR_{i + j}"
        )
        rows.append((name, correlations, random, weights))
    picture = drawing.save(figure, out, "lexiprecision-figure-7.png")
    for name, correlations, random, weights in rows:
        falls = [np.diff(r[i:]) < 0 for i, r in enumerate(correlations)]
        share = np.concatenate(falls).mean() if len(correlations) > 1 else np.nan
        yield Finding(
            f"Figure 7 (a), {name}", "correlation of δRR_1 with δRR_2, δRR_4, δRR_8",
            ours=_at(correlations, (1, 3, 7)), holds=_holds(share == 1.0, share > 0.9, np.isnan(share)),
            note=f"The claim is that correlation falls with distance; it does in {100 * share:.0f} % of the steps. "
            "In rankings that retrieve as many relevant documents at random places of a thousand it does too: "
            f"{_at(random, (1, 3, 7))}. The second relevant document stands below the first, wherever that is, so "
            "this much is no evidence for backing off.",
            picture=picture,
        )  # fmt: skip
        picture = None  # type: ignore[assignment]
        first = [bool(np.argmax(w) == 0) for w in weights]
        yield Finding(
            f"Figure 7 (b), {name}", "weights of δRR_2 to δRR_5 on δRR_1",
            ours=", ".join(f"{w:.2f}" for w in weights[0]),
            holds=_holds(all(first), any(first), bool(np.isnan(weights).all())),
            note=f"The next level has the largest weight for {sum(first)} of the {len(first)} levels. The weights are "
            "of values of which the spread falls from level to level.",
        )  # fmt: skip


def _holds(fully: bool, partly: bool, unknown: bool) -> Holds:
    if unknown:
        return "open"
    return "yes" if fully else "in part" if partly else "no"


def _at(square: FloatArray, levels: tuple[int, ...]) -> str:
    return ", ".join(f"{square[0, i]:.2f}" for i in levels if i < len(square))


def _columns(rr: FloatArray, levels: int) -> FloatArray:
    """δRR_1 … of all pairs and topics: cases × levels."""
    return np.stack([level_difference(rr, i).ravel() for i in range(1, levels + 1)], axis=1)


def _correlations(rr: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.atleast_2d(np.corrcoef(_columns(rr, min(_CORRELATED, rr.shape[2])), rowvar=False))


def _regressions(rr: FloatArray) -> FloatArray:
    """The weights of the next four levels on each of the first four."""
    columns = _columns(rr, 8)
    design = [np.column_stack([np.ones(len(columns)), columns[:, i + 1 : i + 5]]) for i in range(4)]
    found = [np.linalg.lstsq(d, columns[:, i], rcond=None)[0][1:] for i, d in enumerate(design)]
    return np.array(found)


def _at_random(found: Found) -> FloatArray:
    """The recall levels of runs that retrieve as many relevant documents, at random places."""
    rng = np.random.default_rng(0)
    rr = np.zeros_like(found.rr)
    for run, topic in np.argwhere(found.rr[:, :, 0] > 0):
        number = min(int((found.rr[run, topic] > 0).sum()), _DEPTH)
        rr[run, topic, :number] = 1.0 / (1 + np.sort(rng.permutation(_DEPTH)[:number]))
    return rr


_SHOWN = {"RR": "δRR_1", "rrLP": "rrLP", "sgnLP": "sgnLP"}


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
            ax.xaxis.set_major_formatter(PercentFormatter(1.0))
            drawing.label(ax, f"{name}: {what}", "left of them", "agreement with δRR_1 of all")
            rows += _agreements(name, what, table, kind, measures)
    picture = drawing.save(figure, out, "lexiprecision-figure-8.png")
    for i, finding in enumerate(rows):
        yield finding if i else Finding(**{**finding.__dict__, "picture": picture})


def _agreements(
    name: str, what: str, table: dict[str, FloatArray], kind: str, measures: tuple[str, ...]
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
    if kind == "ranking":
        half = (table["ranking, half rrLP"] - table["ranking, half RR"]).mean(axis=1)
        note += (
            " A tie counts as a disagreement, and rrLP has few; with half a point for a tie, which is what breaking it "
            f"by chance gets, its gain is {100 * half.min():+.1f} to {100 * half.max():+.1f} points instead of "
            f"{100 * gain.min():+.1f} to {100 * gain.max():+.1f}."
        )
    yield Finding(
        f"Figure 8 ({part}), {name}", f"{what}, half: agreement of δRR_1; rrLP, %",
        ours=f"{100 * means['RR'][4]:.1f}; {100 * means['rrLP'][4]:.1f}",
        holds=_holds(bool((gain >= -2 * error).all()), bool((gain >= 0).any()), bool(np.isnan(gain).any())),
        note=note,
    )  # fmt: skip
    if "sgnLP" in means:
        weaker = means["sgnLP"] < means["rrLP"]
        yield Finding(
            f"Figure 8 ({part}), {name}", f"{what}, half: agreement of sgnLP, below rrLP, %",
            ours=f"{100 * means['sgnLP'][4]:.1f}", holds=_holds(bool(weaker.all()), bool(weaker.any()), False),
            note=f"Below rrLP at {int(weaker.sum())} of 9 fractions.",
        )  # fmt: skip


def _figure_9(labels: Mapping[str, dict[str, FloatArray]], out: Path) -> Iterator[Finding]:
    figure, axes = drawing.panels(len(labels), width=5.4)
    for ax, (name, table) in zip(axes, labels.items(), strict=True):
        means = {_SHOWN[m]: table[f"ties {m}"].mean(axis=1) for m in ("RR", "rrLP")}
        deviations = {_SHOWN[m]: table[f"ties {m}"].std(axis=1) for m in ("RR", "rrLP")}
        drawing.lines(ax, incomplete.FRACTIONS, means, deviations)
        ax.set_ylim(0, 1)
        ax.xaxis.set_major_formatter(PercentFormatter(1.0))
        drawing.label(ax, f"Ties, {name}", "labels left", "share of tied pairs")
    picture = drawing.save(figure, out, "lexiprecision-figure-9.png")
    for name, table in labels.items():
        for measure, claim, sign in (("RR", "grow", 1), ("rrLP", "shrink", -1)):
            means = 100 * table[f"ties {measure}"].mean(axis=1)
            steps = sign * np.diff(means) > 0
            yield Finding(
                f"Figure 9, {name}", f"ties by {_SHOWN[measure]} with 10, 50, 90 % of the labels, %",
                ours=", ".join(f"{means[i]:.1f}" for i in (0, 4, 8)),
                holds=_holds(bool(steps.all()), sign * (means[-1] - means[0]) > 0, False),
                note=f"The claim is that they {claim} with the number of labels; so in {int(steps.sum())} of 8 steps.",
                picture=picture,
            )  # fmt: skip
            picture = None  # type: ignore[assignment]
