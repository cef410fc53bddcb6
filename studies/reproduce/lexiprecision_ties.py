"""Figures 2 and 3 of the paper on Lexiprecision: how likely a second ranking ties the first relevant position."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from ir_measures_relative.data.arrays import FloatArray, IntArray

from . import drawing
from .finding import Finding, Holds
from .recall_levels import Found

#: The collection of Figure 2.
_DOCUMENTS = 50_000
#: The paper prints no list of its m; these span what topics of campaigns have.
_RELEVANT = (1, 10, 100, 1000)
#: Rankings of a campaign end here, so that this is the smallest collection that they can be of.
_DEPTH = 1000
#: The positions of Figure 3 are taken together from the third on, as few rankings have each.
_FROM = (1, 2, 3, 5, 9, 17, 33, 65, 129)
_RESAMPLES = 2000

#: Said of each figure in which the paper names that campaign.
DL_2021 = (
    'The "DL 2021" of the paper\'s figures is its documents task: §3.6 gives it ties of "roughly 80%", and Table 2 has '
    "80.84 % of documents, and 47.41 % of passages."
)


def findings(campaigns: Mapping[str, Found], out: Path) -> Iterator[Finding]:
    """Figure 2 needs no runs; Figure 3 is of each campaign, by its name."""
    yield _figure_2(out)
    yield from _figure_3(campaigns, out)


def tie_at_random(relevant: int, documents: int, positions: int) -> FloatArray:
    """How likely a random ranking has its first relevant document at 1, 2, … : C(n - p, m - 1) / C(n, m).

    It is also how likely it ties a ranking that has its first one there.
    """
    p = np.arange(1, positions)
    ratios = np.maximum(documents - p - relevant + 1, 0) / np.maximum(documents - p, 1)
    return relevant / documents * np.concatenate([[1.0], np.cumprod(ratios)])


def _figure_2(out: Path) -> Finding:
    figure, (ax,) = drawing.panels(1, width=7.0)
    curves = {m: tie_at_random(m, _DOCUMENTS, 10_000) for m in _RELEVANT}
    at = np.unique(np.geomspace(1, 10_000, 21).astype(int))
    drawing.lines(ax, at, {f"m = {m:,}": curve[at - 1] for m, curve in curves.items()})
    ax.set(xscale="log", yscale="log", ylim=(1e-9, 1))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    drawing.label(
        ax,
        f"Ties with a random ranking of {_DOCUMENTS:,} documents",
        "position of the first relevant document, p_1",
        "probability of a tie",
    )
    kept = {m: curve[999] / curve[0] for m, curve in curves.items()}
    falls = all(np.diff(curve).max() <= 0 for curve in curves.values())
    steeper = all(np.diff(list(kept.values())) < 0)
    return Finding(
        "Figure 2", f"a tie with a random ranking where p_1 is 1; of {_listed(_RELEVANT)} relevant documents",
        ours=", ".join(f"{curve[0]:.5f}" for curve in curves.values()), holds="yes" if falls and steeper else "no",
        note=f"At p_1 = 1,000 it is {', '.join(f'{share:.2g}' for share in kept.values())} times as likely as there.",
        about="A formula of the paper's: it needs no runs. The claim: with few relevant documents, ties hardly depend "
        "on p_1. With more relevant documents, ties at the top are more likely.",
        picture=drawing.save(figure, out, "lexiprecision-figure-2.png"),
        caption="The lower line is flat. The more documents are relevant, the higher a line starts and the sooner it "
        "falls.",
    )  # fmt: skip


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(f"{n:,}" for n in numbers)


def first_positions(found: Found) -> IntArray:
    """p_1: runs × topics, 0 where no relevant document is retrieved."""
    rr = found.rr[:, :, 0]
    return np.asarray(np.rint(np.divide(1.0, rr, out=np.zeros_like(rr), where=rr > 0)), dtype=np.int64)


def tied(positions: IntArray, low: int, high: int) -> tuple[FloatArray, FloatArray]:
    """Of rankings with p_1 from ``low`` to ``high``: how many others tie them, of how many; by topic.

    Args:
        positions: runs × topics, as from :func:`first_positions`.
    """
    runs, topics = positions.shape
    chosen = (positions >= low) & (positions <= high)
    same, others = np.zeros(topics), (runs - 1.0) * chosen.sum(axis=0)
    for topic in range(topics):
        counts = np.bincount(positions[chosen[:, topic], topic])
        same[topic] = (counts * (counts - 1)).sum()
    return same, others


def _figure_3(campaigns: Mapping[str, Found], out: Path) -> Iterator[Finding]:
    figure, (ax,) = drawing.panels(1, width=8.0, height=5.0)
    ends = (*(start - 1 for start in _FROM[1:]), _DEPTH)
    middles = np.sqrt(np.array(_FROM) * np.minimum(ends, 2 * np.array(_FROM)))
    shares, rows = {}, []
    for name, found in campaigns.items():
        positions = first_positions(found)
        bins = [tied(positions, low, high) for low, high in zip(_FROM, ends, strict=True)]
        shares[name] = np.array([s.sum() / o.sum() if s.sum() else np.nan for s, o in bins])
        chance = np.mean([tie_at_random(m, _DEPTH, _DEPTH) for m in found.relevant], axis=0)
        places = np.minimum(np.rint(middles).astype(int), _DEPTH)
        of_chance = "with a random ranking" if not rows else None
        ax.plot(middles, chance[places - 1], color="0.6", linewidth=1.0, label=of_chance)
        rows.append((name, positions, float(chance[0])))
    drawing.lines(ax, middles, shares)
    ax.set(xscale="log", yscale="log", ylim=(3e-4, 1.1))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    drawing.label(
        ax,
        "Ties with another run on the same topic",
        "position of the first relevant document, p_1",
        "probability of a tie",
    )
    picture: str | None = drawing.save(figure, out, "lexiprecision-figure-3.png")
    for name, positions, chance_1 in rows:
        same, others = tied(positions, 1, 1)
        low, high = _interval(same, others)
        yield Finding(
            f"Figure 3, {name}", "a tie with another run where p_1 is 1; 2; 3 to 4",
            ours="; ".join(f"{s:.3f}" if s == s else "-" for s in shares[name][:3]),
            holds=_above(low, high, chance_1),
            note=f"95 % interval over topics at 1: {low:.2f} to {high:.2f}. A random ranking of {_DEPTH:,} documents "
            f"would tie in {chance_1:.3f} of the cases. {100 * (positions == 1).mean():.0f} % of the rankings begin "
            "with a relevant document.",
            about="The claim is that at 1 a tie is far more likely than with a random ranking: *yes* where the "
            "interval is above that. Each pair of runs on a topic counts twice, once for each p_1. " + DL_2021,
            claim="Where the first document is relevant, two runs tie far more often than random rankings do.",
            picture=picture,
            caption="A tie is most likely where the first document is relevant. Further down, real rankings come "
            "closer to random ones, the grey lines." if picture else "",
        )  # fmt: skip
        picture = None


def _interval(same: FloatArray, others: FloatArray) -> tuple[float, float]:
    topics = np.random.default_rng(0).integers(len(same), size=(_RESAMPLES, len(same)))
    tied_there, all_there = same[topics].sum(axis=1), others[topics].sum(axis=1)
    some = all_there > 0
    if not some.any():
        return float("nan"), float("nan")
    low, high = np.quantile(tied_there[some] / all_there[some], (0.025, 0.975))
    return float(low), float(high)


def _above(low: float, high: float, chance: float) -> Holds:
    if np.isnan(low) or low <= chance <= high:
        return "open"
    return "yes" if low > chance else "no"
