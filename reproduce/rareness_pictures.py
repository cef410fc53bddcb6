"""The pictures of the rareness paper's experiments."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from ir_measures_relative import plots

from .rareness_study import ALPHAS, ranks

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
    ax.set_ylim(len(held) + 1.5, 0.5)
    ax.yaxis.get_major_locator().set_params(integer=True)
    ax.legend()
    figure.savefig(path, dpi=90)


def correlations(taus: dict[tuple[str, int], list[float]], campaign: str, path: Path) -> None:
    """Figure 2: τ of a measure with itself plus rareness, by α and k."""
    figure = plots.new_figure(8, 4.5)
    ax = figure.subplots()
    styles = {10: ":", 100: "-", 1000: "--"}
    for (base, k), found in taus.items():
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
            label=f"{base}@{k}",
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
        ax.set(xticks=at, xticklabels=names, ylim=(0, 1), title=f"stability of {base}, {campaign}")
        ax.grid(color="0.9", axis="y")
        ax.set_axisbelow(True)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.savefig(path, dpi=90)
