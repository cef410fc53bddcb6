"""Figures 2-9 of the paper on Lexiprecision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from ir_measures_relative.data.arrays import FloatArray, IntArray

from . import drawing, lexiprecision_incomplete, lexiprecision_ties
from .finding import Finding, Holds
from .lexiprecision_incomplete import verdict
from .lexiprecision_study import printed_number
from .recall_levels import Found, level_difference, lexiprecision

_LEVELS = 20
_CORRELATED = 8
_TICKS = (1, 5, 10, 15, 20)
_DEPTH = 1000
#: Figure 7 (b), and its two variants that the paper did not draw: whether earlier levels are tied; the sign.
_REGRESSIONS = {"all pairs": (False, False), "earlier levels tied": (True, False), "signs": (False, True)}


def findings(campaigns: Mapping[str, Found], out: Path) -> Iterator[Finding]:
    """Each figure on each campaign, by its name; a picture for all of them."""
    yield from lexiprecision_ties.findings(campaigns, out)
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
            f"Figure 5, {name}", "probability of a tie at levels 1, 2, 10", _printed_tie(name),
            ours=", ".join(f"{of_level[i]:.3f}" for i in (0, 1, 9)),
            holds=verdict(of_level[1] < of_level[0], False, bool(np.isnan(of_level[1]))),
            about="The claim is that it falls from the first level to the second. Topics with i relevant documents or "
            "more; two runs that both do not retrieve the i-th are tied.",
            claim="Runs tie less often at the second relevant document than at the first.",
            picture=picture,
            caption="Most ties are at the first recall level; there are fewer at the next ones.",
        )  # fmt: skip
        picture = None  # type: ignore[assignment]


def _printed_tie(name: str) -> str | None:
    """At the first level, which is what Table 2 has."""
    share = printed_number(name, "2 RR")
    return None if share is None else f"{share / 100:.4f} at 1 (Table 2)"


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
            about='Printed of most campaigns; of "DL 2021" it is "close to 20". ' + lexiprecision_ties.DL_2021,
            claim="Fewer than ten recall levels decide 90 % of the pairs that differ.",
            picture=picture,
            caption="The lines rise steeply: the first levels decide most pairs that differ. The grey line is at 90 %.",
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
    # Beyond the last relevant document of a topic there is no δRR.
    levels = {
        name: found.rr[:, found.relevant >= min(_CORRELATED, found.rr.shape[2])]
        for name, found in campaigns.items()
    }
    yield from _figure_7a(levels, out)
    yield from _figure_7b(levels, out)


def _figure_7a(levels: Mapping[str, FloatArray], out: Path) -> Iterator[Finding]:
    figure, axes = drawing.panels(len(levels), width=5.2)
    rows = []
    for ax, (name, rr) in zip(axes, levels.items(), strict=True):
        correlations = _correlations(rr)
        drawing.squares(ax, correlations, [str(i) for i in range(1, len(correlations) + 1)])
        ax.set_aspect("auto")
        drawing.label(ax, f"{name}: correlation of δRR", "recall level j", "recall level i")
        ax.grid(visible=False)
        rows.append((name, correlations, _correlations(_at_random(rr))))
    picture: str | None = drawing.save(figure, out, "lexiprecision-figure-7a.png")
    for name, correlations, random in rows:
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
            claim="The further apart two recall levels are, the less they correlate.",
            caption="Recall levels that are close to each other are dark: they prefer the same runs. The further "
            "apart two levels are, the less they say of each other.",
        )  # fmt: skip
        picture = None


def _figure_7b(levels: Mapping[str, FloatArray], out: Path) -> Iterator[Finding]:
    figure, axes = drawing.panels(len(_REGRESSIONS), len(levels), width=4.6, height=3.6)
    rows = []
    for row, (name, rr) in enumerate(levels.items()):
        weights = [_regressions(rr, *how) for how in _REGRESSIONS.values()]
        for ax, what, of in zip(axes[row * len(weights) :], _REGRESSIONS, weights, strict=False):
            drawing.lines(ax, range(1, 5), {f"on level {i}": w for i, w in enumerate(of, 1)})
            ax.set_xticks(range(1, 5))
            drawing.label(ax, f"{name}: {what}", "levels further", "weight of that level")
        rows.append((name, weights))
    picture: str | None = drawing.save(figure, out, "lexiprecision-figure-7b.png")
    for name, weights in rows:
        for what, of in zip(_REGRESSIONS, weights, strict=True):
            known = ~np.isnan(of).any(axis=1)
            first = np.argmax(of[known], axis=1) == 0
            level = 2 if "tied" in what else 1  # before the first level there is none to tie
            yield Finding(
                f"Figure 7 (b), {name}", f"weights of δRR_{level + 1} to δRR_{level + 4} on δRR_{level}, {what}",
                None if what == "all pairs" else "“identical findings”", None,
                ", ".join(f"{w:.2f}" for w in of[level - 1]),
                verdict(bool(first.all()), bool(first.any()), not known.any()),
                f"The next level has the largest weight for {first.sum()} of the {known.sum()} levels.",
                picture=picture,
                about="The claim is that the next level has the largest weight, for each of the first four. The "
                "weights are of values of which the spread falls from level to level. The paper says that it saw the "
                "same, and drew no picture, where runs that differ at an earlier level are left out (*earlier levels "
                "tied*; for the first level that is all of them), and where the sign is fitted.",
                claim=f"The next recall level says the most of a level: {what}.",
                caption="In each panel the lines fall steeply after the next level: the levels beyond it add little.",
            )  # fmt: skip
            picture = None


def _at(square: FloatArray, levels: tuple[int, ...]) -> str:
    return ", ".join(f"{square[0, i]:.2f}" for i in levels if i < len(square))


def _columns(rr: FloatArray, levels: int) -> FloatArray:
    """δRR_1 … of all pairs, both ways round so that the order of the runs does not matter: cases × levels."""
    once = np.stack([level_difference(rr, i).ravel() for i in range(1, levels + 1)], axis=1)
    return np.concatenate([once, -once])


def _correlations(rr: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.atleast_2d(np.corrcoef(_columns(rr, min(_CORRELATED, rr.shape[2])), rowvar=False))


def _regressions(rr: FloatArray, earlier_tied: bool, signs: bool) -> FloatArray:
    """The weights of the next four levels on each of the first four; NaN where fewer than five cases differ.

    Args:
        earlier_tied: of level i, only the pairs of rankings that all levels before it tie.
        signs: fits the sign of δRR_i, and not its value.
    """
    columns = _columns(rr, 8)
    found = np.full((4, 4), np.nan)
    for i in range(4):
        rows = (columns[:, :i] == 0).all(axis=1) if earlier_tied else slice(None)
        target, next_four = columns[rows, i], columns[rows, i + 1 : i + 5]
        if (target != 0).sum() >= 5:
            design = np.column_stack([np.ones(len(target)), next_four])
            found[i] = np.linalg.lstsq(design, np.sign(target) if signs else target, rcond=None)[0][1:]
    return found


def _at_random(found: FloatArray) -> FloatArray:
    """The recall levels of runs that retrieve as many relevant documents, at random places."""
    rng = np.random.default_rng(0)
    rr = np.zeros_like(found)
    for run, topic in np.argwhere(found[:, :, 0] > 0):
        number = min(int((found[run, topic] > 0).sum()), _DEPTH)
        rr[run, topic, :number] = 1.0 / (1 + np.sort(rng.permutation(_DEPTH)[:number]))
    return rr
