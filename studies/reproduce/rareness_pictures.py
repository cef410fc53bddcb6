"""The pictures of the rareness paper's experiments."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from ir_measures_relative import plots

from . import drawing
from .rareness_study import ALPHAS, K, ranks

_COLOURS = ("#0072b2", "#d55e00", "#009e73")


def synthetic(held: np.ndarray, topic: str, alphas: list[float], path: Path) -> None:
    """Figure 1: the ranks of S_rare and S_common by how many relevant documents they have."""
    figure = plots.new_figure(11, 4.5)
    most = min(100, int(held.sum(axis=1).max()) + 8)
    for number, (ax, name) in enumerate(
        zip(figure.subplots(1, 2, sharey=True), ("S_rare", "S_common"), strict=True)
    ):
        for alpha, colour in zip(alphas, _COLOURS, strict=True):
            rank = ranks(held, alpha, most)[number]
            ax.plot(range(1, most + 1), rank, color=colour, marker="o", markersize=3, label=f"α = {alpha:g}")
        ax.set(
            title=f"{name}, topic {topic}",
            xlabel="relevant documents it retrieves",
            ylabel="rank" * (not number),
        )
        ax.grid(color="0.9")
    edge = 0.03 * len(held)  # so that neither the first nor the last rank lies on the frame
    ax.set_ylim(len(held) + 1 + edge, 1 - edge)
    ax.yaxis.get_major_locator().set_params(integer=True)
    ax.set_yticks([1, *(tick for tick in ax.get_yticks() if 1 < tick <= len(held) + 1)])  # no rank is 0
    ax.legend()
    figure.savefig(path, dpi=90)


def correlations(taus: dict[tuple[str, int], list[float]], campaign: str, path: Path) -> None:
    """Figure 2: τ of a measure with itself plus rareness, by α and k."""
    figure = plots.new_figure(8, 4.5)
    ax = figure.subplots()
    styles = {10: ":", 100: "-", 1000: "--"}
    for (base, k), found in taus.items():
        same = taus[base, 100] == taus[base, 1000]  # of runs that are a hundred deep
        if same and k == 1000:
            continue
        colour = _COLOURS[("P", "AP").index(base)]
        width = 3.0 if base == "P" else 1.3  # so that both show where they are the same
        ax.plot(
            ALPHAS,
            found,
            styles[k],
            color=colour,
            linewidth=width,
            marker="o",
            markersize=4,
            label=f"{base}@100 and @1000" if same and k == 100 else f"{base}@{k}",
        )
    ax.axhline(0.9, color="0.6", linewidth=0.8)
    ax.set(
        title=f"τ with the measure without rareness, {campaign}",
        xlabel="α",
        ylabel="Kendall's τ",
        xticks=ALPHAS,
    )
    ax.grid(color="0.9")
    ax.legend(fontsize=8)
    figure.savefig(path, dpi=90)


def stability(tables: dict[str, pd.DataFrame], campaign: str, path: Path) -> None:
    """Table 2: what the threshold makes of a measure, of rareness, and of the measure doubled."""
    figure = plots.new_figure(10, 4.5)
    for ax, (base, table) in zip(figure.subplots(1, 2, sharey=True), tables.items(), strict=True):
        names = [f"{base}@100", "α = ½", "α = 1", f"2 × {base}@100"]
        at = np.arange(len(names))
        ax.bar(
            at - 0.2,
            table["threshold"],
            0.4,
            color=_COLOURS[1],
            label="a difference of at most 0.05 is a tie",
        )
        ax.bar(at + 0.2, table["none"], 0.4, color=_COLOURS[0], label="without a threshold")
        ax.set(xticks=at, xticklabels=names, ylim=(0, 1), title=f"{base}, {campaign}")
        ax.set_ylabel("stability")
        ax.grid(color="0.9", axis="y")
        ax.set_axisbelow(True)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.savefig(path, dpi=90)


def fewer_systems(
    found: dict[tuple[str, str], pd.Series], printed: dict[str, dict[int, float]], path: Path
) -> None:
    """Table 3: the mean τ of N runs with all of them, by base and campaign, and as the paper prints it of TREC-8."""
    figure, axes = drawing.panels(len(printed), width=5.4)
    least = min(mean.min() for mean in found.values())
    for ax, (base, of_trec_8) in zip(axes, printed.items(), strict=True):
        sizes = list(of_trec_8)
        of_base = {name: mean.reindex(sizes).to_numpy() for (b, name), mean in found.items() if b == base}
        ax.plot(sizes, list(of_trec_8.values()), "kx-", linewidth=1.0, label="TREC-8, as printed")
        drawing.lines(ax, sizes, of_base)
        ax.axhline(0.9, color="0.6", linewidth=0.8)
        ax.set(xscale="log", xticks=sizes, ylim=(min(least, 0.9) - 0.03, 1.01))
        ax.xaxis.set_major_formatter("{x:g}")
        ax.minorticks_off()
        drawing.label(
            ax, f"{base}_Rareness@{K} of fewer runs", "runs in a set, N", "mean τ with the order of all runs"
        )
    figure.savefig(path, dpi=90)
