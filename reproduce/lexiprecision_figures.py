"""Figures 5-9 of the paper on Lexiprecision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from ir_measures_relative.arrays import FloatArray, IntArray

from . import drawing, lexiprecision_incomplete
from .finding import Finding, Holds
from .lexiprecision_incomplete import verdict
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
    yield from lexiprecision_incomplete.findings(campaigns, out)


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
            holds=verdict(of_level[1] < of_level[0], False, bool(np.isnan(of_level[1]))),
            about="The claim is that it falls from the first level to the second. Topics with i relevant documents or "
            "more; two runs that both do not retrieve the i-th are tied.",
            picture=picture,
        )  # fmt: skip
        picture = None  # type: ignore[assignment]


def _figure_6(campaigns: Mapping[str, Found], out: Path) -> Iterator[Finding]:
    figure, (ax,) = drawing.panels(1, width=7.0)
    curves, reached, intervals = {}, {}, {}
    for name, found in campaigns.items():
        of_topics = lexiprecision(found.rr)[1]
        intervals[name] = _interval(of_topics)
        decided = of_topics[of_topics > 0]
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
            printed="< 10", ours=level, holds=_fewer_than_10(level, intervals[name]),
            note=f"95 % interval over topics: {_words(intervals[name])}.",
            about="Printed of most campaigns; of Deep Learning 2021 \"close to 20\".",
            picture=picture,
        )  # fmt: skip
        picture = None  # type: ignore[assignment]


def _interval(decided: IntArray) -> tuple[int, int] | None:
    """From where to where the level that decides 90 % of the pairs moves with the topics."""
    rng = np.random.default_rng(0)
    topics = decided.shape[1]
    counts = np.stack([np.bincount(d, minlength=decided.max() + 1) for d in decided.T])[:, 1:]
    some = np.cumsum(counts[rng.integers(topics, size=(1000, topics))].sum(axis=1), axis=1)
    some = some[some[:, -1] > 0] if some.shape[1] else some
    if not some.size:
        return None
    levels = (some >= 0.9 * some[:, -1:]).argmax(axis=1) + 1
    low, high = np.quantile(levels, (0.025, 0.975))
    return int(low), int(np.ceil(high))


def _words(interval: tuple[int, int] | None) -> str:
    return "none" if interval is None else f"{interval[0]} to {interval[1]}"


def _fewer_than_10(level: int | None, interval: tuple[int, int] | None) -> Holds:
    """Open where the interval reaches both sides."""
    if level is None or interval is None or interval[0] < 10 <= interval[1]:
        return "open"
    return "yes" if level < 10 else "no"


def _figure_7(campaigns: Mapping[str, Found], out: Path) -> Iterator[Finding]:
    figure, axes = drawing.panels(2, len(campaigns), width=5.2)
    rows = []
    for row, (name, found) in enumerate(campaigns.items()):
        # Beyond the last relevant document of a topic there is no δRR.
        enough = found.relevant >= min(_CORRELATED, found.rr.shape[2])
        rr = found.rr[:, enough]
        correlations, random = _correlations(rr), _correlations(_at_random(rr))
        weights = _regressions(rr)
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
            ours=_at(correlations, (1, 3, 7)), holds=verdict(share == 1.0, share > 0.9, np.isnan(share)),
            note=f"It falls in {100 * share:.0f} % of the steps. At random places: {_at(random, (1, 3, 7))}.",
            about=f"Of the topics with {_CORRELATED} relevant documents or more. The claim is that correlation falls "
            "with distance. In rankings that retrieve as many relevant documents at random places of a thousand it "
            "does too: the second relevant document stands below the first, wherever that is. So this much is no "
            "evidence for backing off.",
            picture=picture,
        )  # fmt: skip
        picture = None  # type: ignore[assignment]
        first = [bool(np.argmax(w) == 0) for w in weights]
        yield Finding(
            f"Figure 7 (b), {name}", "weights of δRR_2 to δRR_5 on δRR_1",
            ours=", ".join(f"{w:.2f}" for w in weights[0]),
            holds=verdict(all(first), any(first), bool(np.isnan(weights).all())),
            note=f"The next level has the largest weight for {sum(first)} of the {len(first)} levels.",
            about="The weights are of values of which the spread falls from level to level.",
        )  # fmt: skip


def _at(square: FloatArray, levels: tuple[int, ...]) -> str:
    return ", ".join(f"{square[0, i]:.2f}" for i in levels if i < len(square))


def _columns(rr: FloatArray, levels: int) -> FloatArray:
    """δRR_1 … of all pairs, both ways round so that the order of the runs does not matter: cases × levels."""
    once = np.stack([level_difference(rr, i).ravel() for i in range(1, levels + 1)], axis=1)
    return np.concatenate([once, -once])


def _correlations(rr: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.atleast_2d(np.corrcoef(_columns(rr, min(_CORRELATED, rr.shape[2])), rowvar=False))


def _regressions(rr: FloatArray) -> FloatArray:
    """The weights of the next four levels on each of the first four."""
    columns = _columns(rr, 8)
    design = [np.column_stack([np.ones(len(columns)), columns[:, i + 1 : i + 5]]) for i in range(4)]
    found = [np.linalg.lstsq(d, columns[:, i], rcond=None)[0][1:] for i, d in enumerate(design)]
    return np.array(found)


def _at_random(found: FloatArray) -> FloatArray:
    """The recall levels of runs that retrieve as many relevant documents, at random places."""
    rng = np.random.default_rng(0)
    rr = np.zeros_like(found)
    for run, topic in np.argwhere(found[:, :, 0] > 0):
        number = min(int((found[run, topic] > 0).sum()), _DEPTH)
        rr[run, topic, :number] = 1.0 / (1 + np.sort(rng.permutation(_DEPTH)[:number]))
    return rr
