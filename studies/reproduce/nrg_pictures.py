"""Figures 2-5 of the NRG paper: relative against absolute effectiveness of the runs of a campaign."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from ir_measures_relative import RelativeWarning, plots

from .nrg_campaign import Figures, printed

FIGURES = {"UniqueRel@10": 3, "P_Rareness@10": 4, "TaSC": 5}
#: Of more runs than this, a picture of points along a line names a few.
MOST_NAMES = 40
#: How many of these are far from the line.
_FAR = 10


def draw(figures: Figures, out: Path) -> None:
    """Writes the four pictures into a folder."""
    groups = figures.campaign.groups
    paper = figures.paper.means().rename_axis("name").reset_index()
    released = figures.released.means().rename_axis("name").reset_index()
    if figures.is_printed:
        # The authors leave UNH_exDL_bm25 out, of nDCG@10 0.08. With it, the axes would be broken.
        paper = paper[paper["nDCG@10"] > 0.4]
    _figure_2(paper, released, figures, out / figures.picture(2))
    for measure, number in FIGURES.items():
        figure = plots.new_figure(10, 7)
        named = few_names(paper, measure) if few_are_named(figures, number) else None
        axes = plots.relative_against_absolute(
            paper, measure, "nDCG@10", groups, figure.subplots(), named=named
        )
        axes.set_title(f"Figure {number}, {figures.campaign.name}: {measure} against nDCG@10")
        if measure == "UniqueRel@10":
            axes.set_title(f"{axes.get_title()}, relevant from grade 1 on")
        if figures.is_printed:
            axes.set_title(f"{axes.get_title()}\n(UNH_exDL_bm25, of nDCG@10 0.08, is left out)")
        _save(figure, out / figures.picture(number))


def few_are_named(figures: Figures, number: int) -> bool:
    """Whether a figure names a few of its runs: its points lie along a line, too many for all names to be read."""
    return number in (4, 5) and len(figures.campaign.context.names) > MOST_NAMES


def few_names(table: pd.DataFrame, measure: str) -> list[str]:
    """The runs with the highest and the lowest value on each axis, and those furthest from the straight line."""
    x, y = table["nDCG@10"], table[measure]
    off = (y - np.polyval(np.polyfit(x, y, 1), x)).abs()
    far = off.sort_values(ascending=False, kind="stable").index[:_FAR]
    return list(table["name"].loc[list({x.idxmax(), x.idxmin(), y.idxmax(), y.idxmin(), *far})])


def _figure_2(paper: pd.DataFrame, released: pd.DataFrame, figures: Figures, path: Path) -> None:
    """Two panels: as released, over the points of the authors' picture; and by the paper."""
    groups, is_printed, name = figures.campaign.groups, figures.is_printed, figures.campaign.name
    figure = plots.new_figure(18, 8)
    left, right = figure.subplots(1, 2)
    if is_printed:
        # The runs that were left out lie outside the axes, so that each group has one colour in both.
        released = paper[["name", "nDCG@10"]].merge(released[["name", "NRG"]], "left").fillna({"NRG": 0.15})
    plots.relative_against_absolute(released, "NRG", "nDCG@10", groups, left)
    plots.relative_against_absolute(paper, "NRG@10", "nDCG@10", groups, right)
    left.set_title(f"Figure 2, {name}, as released: whole rankings, gain 1 from grade 2 on")
    right.set_title("By the paper: NRG@10, graded gain, all runs")
    if groups:
        left.get_legend().remove()
    if is_printed:
        points = printed()
        left.plot(
            points["ndcg10"], points["nrg"], "o", markersize=13, color="none", markeredgecolor="0.3",
            markeredgewidth=0.8, zorder=2,
        )  # fmt: skip
        left.set_title(f"Figure 2, {name}, as released; circles: read off the authors' picture")
        left.set(xlim=(0.4, 0.8), ylim=(0.16, 0.34))  # the authors' axes
        right.set(xlim=(0.4, 0.8), ylim=(0.06, 0.21))
    _save(figure, path)


def _save(figure: object, path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelativeWarning)  # of labels that find no room, in a large campaign
        figure.savefig(path, dpi=90)  # type: ignore[attr-defined]
