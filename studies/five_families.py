"""The picture of the first page: the runs of one track by nDCG@10, and by one measure of each of the five families.

python studies/five_families.py robust03/ THUIRr0301 pircRBa1 NLPR03vb10 --output docs/pictures/five-families.png
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from matplotlib.transforms import offset_copy

from ir_measures_relative import RunContext
from ir_measures_relative.plots.figures import COLOURS, MARKERS, new_figure

ROWS = {
    "nDCG@10": "How good is it on its own?",
    "NRG(norm='ideal')@10": "What does it add to the others?",
    "P_Rareness@10": "Are its relevant documents rare?",
    "nDCG_UE(pool='run')@10": "Where between random (0) and perfect (1)?",
    "MED@10": "How far from {} could it score?",
    "rrLP": "Is it ahead of {} for one good document?",
}
#: Two named runs closer than this part of the axis would hide each other, so one stands above the other.
TOO_CLOSE = 0.02


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="with runs/ and qrels.txt.gz")
    parser.add_argument("names", nargs="+", help="the runs to name; the first is the reference")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    reference = arguments.names[0]
    context = RunContext.from_files(arguments.folder / "runs", reference=reference)
    table = context.evaluate(str(arguments.folder / "qrels.txt.gz"), list(ROWS)).set_index("name")
    figure = new_figure(6.2, 4.6)
    figure.suptitle("The best run on its own is not the run that adds most", fontsize=12)
    axes = figure.subplots(len(ROWS), 1)
    for ax, measure, question in zip(axes, table, ROWS.values(), strict=True):
        values = table[measure]
        ax.set_title(f"{question.format(reference)}  {measure}", loc="left", fontsize=10)
        ax.scatter(values, np.zeros(len(values)), s=30, color="0.75", zorder=2, clip_on=False)
        close = TOO_CLOSE * (values.max() - values.min())
        for i, name in enumerate(arguments.names):
            style = {"color": COLOURS[i], "marker": MARKERS[i], "zorder": 9 - i, "clip_on": False}
            below = sum(abs(values[name] - values[other]) < close for other in arguments.names[:i])
            above = offset_copy(ax.transData, figure, y=9.0 * below, units="points")
            ax.scatter(values[name], 0, s=70, edgecolor="white", label=name, transform=above, **style)
        ax.axhline(0, color="0.85", zorder=1)
        ax.set_yticks([])
        ax.tick_params(labelsize=8, length=2)
        ax.spines[:].set_visible(False)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(arguments.output, dpi=200)


if __name__ == "__main__":
    main()
