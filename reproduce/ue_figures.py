"""Figures 1-3 of the paper on UE-normalized measures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ir_measures_relative.plots.figures import COLOURS

from . import drawing
from .finding import Finding
from .ue_scores import VERSIONS
from .ue_study import Study


def findings(studies: list[Study], out: Path) -> Iterator[Finding]:
    """Each figure with all campaigns in it."""
    yield from _kinds_of_topics(studies, out)
    yield from _histograms(studies, out)


def _kinds_of_topics(studies: list[Study], out: Path) -> Iterator[Finding]:
    figure, axes = drawing.panels(2, width=5.2)
    for ax, base in zip(axes, VERSIONS, strict=True):
        for i, study in enumerate(s for s in studies if s.base == base):
            colour, marker = COLOURS[i % len(COLOURS)], "os^D"[i % 4]
            actual = study.means[base].mean(axis=0)
            ax.plot(actual, study.expected, marker, color=colour, alpha=0.7, markersize=5, label=study.name)
        ax.plot((0, 1), (0, 1), color="0.6", linewidth=0.8)
        ax.set_xlim(-0.02, 1.02)
        ax.set_ylim(-0.02, 1.02)
        ax.legend(fontsize=8, frameon=False, loc="upper left")
        drawing.label(ax, f"Topics by {base}", f"mean {base} of the runs", f"expected {base}")
    picture: str | None = drawing.save(figure, out, "ue-figure-1.png")
    for study in studies:
        above = study.means[study.base].mean(axis=0) - study.expected
        yield Finding(
            f"Figure 1, {study.name}", f"topics on which the runs' mean {study.base} is not above chance, %",
            ours=float(100 * (above <= 0).mean()), holds="yes" if (above <= 0.1).any() else "no",
            note=f"On {100 * (above <= 0.1).mean():.0f} % of the topics the mean is at most 0.1 above chance.",
            about="The figure is a drawing of what kinds of topics there may be; here are those of the runs.",
            picture=picture,
        )  # fmt: skip
        picture = None


def _histograms(studies: list[Study], out: Path) -> Iterator[Finding]:
    figure, axes = drawing.panels(2, width=5.2)
    for ax, base in zip(axes, VERSIONS, strict=True):
        of_base = [s for s in studies if s.base == base]
        colours = [COLOURS[i % len(COLOURS)] for i in range(len(of_base))]
        bins = np.linspace(0, 1, 21).tolist()
        names = [s.name for s in of_base]
        ax.hist([s.expected for s in of_base], bins=bins, color=colours, label=names)
        ax.legend(fontsize=8, frameon=False)
        drawing.label(ax, f"Expected {base}, mean of the cutoffs", f"expected {base} of a topic", "topics")
    picture: str | None = drawing.save(figure, out, "ue-figures-2-3.png")
    for study in studies:
        high = 100 * (study.expected > 0.5).mean()
        yield Finding(
            f"Figure {2 if study.base == 'nDCG' else 3}, {study.name}",
            f"expected {study.base}: mean; deviation; above 0.5, % of topics",
            ours=f"{study.expected.mean():.3f}; {study.expected.std():.3f}; {high:.0f}",
            holds="yes" if high >= 10 else "in part" if study.expected.mean() > 0.1 else "no",
            about="The claim is that the expected values differ from topic to topic, many of them from 0.5 to 0.6. "
            "Printed is the histogram of MSLR-WEB30K, whose documents are all candidates for the query; here they are "
            "those that were judged.",
            picture=picture,
        )  # fmt: skip
        picture = None
