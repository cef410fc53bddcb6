"""Figures 1-3 of the paper on UE-normalized measures, and histograms of what its tables have the means of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ir_measures_relative.plots.figures import COLOURS

from . import drawing, ue_printed
from .finding import Finding
from .ue_scores import VERSIONS
from .ue_study import Study


def findings(studies: list[Study], out: Path) -> Iterator[Finding]:
    """Each figure with all campaigns in it."""
    yield from _kinds_of_topics(studies, out)
    yield from _histograms(studies, out)
    yield from _values(studies, out)


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
            claim=f"On some topics the runs' mean {study.base} is about that of chance.",
            picture=picture,
            caption="On topics above the line the runs are no better than chance. Those far below it are the paper's "
            "ideal ones.",
        )  # fmt: skip
        picture = None


def _histograms(studies: list[Study], out: Path) -> Iterator[Finding]:
    figure, axes = drawing.panels(2, width=5.2)
    for ax, base in zip(axes, VERSIONS, strict=True):
        of_base = [s for s in studies if s.base == base]
        ax.axvspan(0.5, 0.6, color="0.9", label="“high”, in the paper's words")
        shares = [np.full(len(s.expected), 1 / len(s.expected)) for s in of_base]
        colours = [COLOURS[i % len(COLOURS)] for i in range(len(of_base))]
        ax.hist(
            [s.expected for s in of_base], np.linspace(0, 1, 21).tolist(), weights=shares, color=colours,
            label=[s.name for s in of_base],
        )  # fmt: skip
        ax.legend(fontsize=8, framealpha=1.0, edgecolor="none")
        drawing.label(
            ax, f"Expected {base}, mean of the cutoffs", f"expected {base} of a topic", "share of topics"
        )
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
            claim=f"The expected {study.base} differs from topic to topic, and is above 0.5 on many.",
            picture=picture,
            caption="Where few of the judged documents are relevant, as on Robust, expected values are near 0. The "
            "grey band is what the paper calls high.",
        )  # fmt: skip
        picture = None


def _values(studies: list[Study], out: Path) -> Iterator[Finding]:
    """What the normalizations make of the values, topic by topic: of their means the paper has tables alone."""
    names = list(dict.fromkeys(study.name for study in studies))
    figure, axes = drawing.panels(len(VERSIONS), len(names), width=5.2, height=3.4)
    for study in studies:
        ax = axes[len(VERSIONS) * names.index(study.name) + list(VERSIONS).index(study.base)]
        of_topics = [study.means[v].mean(axis=0) for v in study.versions]
        bins, share = np.linspace(-1, 1, 21).tolist(), np.full(len(study.expected), 1 / len(study.expected))
        for colour, style, version, values in zip(
            COLOURS, ("-", "--", ":"), study.versions, of_topics, strict=False
        ):
            ax.hist(
                values, bins, weights=share, histtype="step", color=colour, linestyle=style, linewidth=1.8,
                label=f"{version}, mean {values.mean():.2f}",
            )  # fmt: skip
        ax.axvline(0, color="0.6", linewidth=0.8)
        ax.legend(fontsize=8, frameon=False, loc="upper left")
        drawing.label(
            ax, f"{study.base} of the topics, {study.name}", "mean of the runs and cutoffs", "share of topics"
        )
    picture: str | None = drawing.save(figure, out, "ue-values.png")
    for study in studies:
        means = [study.means[v].mean() for v in study.versions]
        below = 100 * (study.means["V2"].mean(axis=0) < 0).mean()
        yield Finding(
            f"Tables {'3-6' if study.base == 'nDCG' else '15-18'}, {study.name}",
            f"mean of the runs and cutoffs by {', '.join(study.versions)}", ue_printed.MEANS[study.base], None,
            ", ".join(f"{m:.3f}" for m in means), "yes" if max(means[1:]) < means[0] else "no",
            f"By V2 the runs' mean is below 0, the random level, on {below:.0f} % of the topics.",
            about="The claim is that V1 and V2 are smaller. So they are by construction. Printed are the means of "
            "the eight methods.",
            claim=f"Versions 1 and 2 of {study.base} are below {study.base} on the mean.",
            picture=picture,
            caption="V1 and V2 lie to the left of the measure itself. V2 spreads the topics most, and takes some "
            "below 0.",
        )  # fmt: skip
        picture = None
