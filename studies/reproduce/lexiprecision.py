"""The experiments of the paper on Lexiprecision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ir_measures_relative.data.arrays import FloatArray

from . import lexiprecision_figures, lexiprecision_power
from .data import Data
from .finding import Finding
from .lexiprecision_study import Study
from .recall_levels import Found, level_difference, lexiprecision

TITLE = "Lexiprecision"


def findings(data: Data, out: Path) -> Iterator[Finding]:
    """Every table and figure that can be run on these runs."""
    studies = [Study(c) for c in data.given]
    for study in studies:
        yield from _table_1(study)
    for study in studies:
        yield from _table_2(study)
    for study in studies:
        yield from lexiprecision_power.table_3(study)
    yield from lexiprecision_figures.findings({s.name: s.found for s in studies}, out)
    yield Finding(
        "Tables 1-3 and Figures 5-9, other rows", "news, web, recommendation",
        note="The other campaigns of the tables, three of them of recommender systems, are not here. Another "
        "year's folder given as `--dl19` or `--robust` is run in the same way.",
    )  # fmt: skip


@dataclass(frozen=True)
class Masked:
    """How often the levels after the first say which run is better at the first, where one is; by topic.

    Attributes:
        cases: how many pairs differ at the first level.
        by_second: how many of them the second level alone gets right, and how many it ties.
        by_suffix: the same by lexiprecision of all levels but the first.
        broken: how many that the second level ties are right by lexiprecision, and how many it breaks.
    """

    cases: FloatArray
    by_second: tuple[FloatArray, FloatArray]
    by_suffix: tuple[FloatArray, FloatArray]
    broken: tuple[FloatArray, FloatArray]

    @classmethod
    def of(cls, rr: FloatArray) -> Masked:
        target = np.sign(level_difference(rr, 1))
        second, suffix = np.sign(level_difference(rr, 2)), np.sign(lexiprecision(rr, start=1)[0])
        asked = target != 0

        def counts(said: FloatArray) -> tuple[FloatArray, FloatArray]:
            return ((said == target) & asked).sum(axis=0), ((said == 0) & asked).sum(axis=0)

        of_ties = asked & (second == 0) & (suffix != 0)
        broken = ((suffix == target) & of_ties).sum(axis=0), of_ties.sum(axis=0)
        return cls(asked.sum(axis=0), counts(second), counts(suffix), broken)

    def beyond_the_second(self) -> tuple[float, float, float]:
        """How often the levels after the second are right where the second is tied, %: with its 95 % interval."""
        right, broken = self.broken
        topics = np.random.default_rng(0).integers(len(right), size=(2000, len(right)))
        cases = broken[topics].sum(axis=1)
        shares = 100 * right[topics].sum(axis=1)[cases > 0] / cases[cases > 0]
        low, high = np.quantile(shares, (0.025, 0.975)) if len(shares) else (np.nan, np.nan)
        return _share(right, broken), float(low), float(high)


def _share(part: FloatArray, whole: FloatArray) -> float:
    return float(100 * part.sum() / whole.sum()) if whole.sum() else float("nan")


def _table_1(study: Study) -> Iterator[Finding]:
    masked = Masked.of(study.found.rr)
    any_grade = masked if study.rel == 1 else Masked.of(Found.of(study.campaign, 1).rr)
    for key in ("sgnLP", "δRR_2"):
        right, ours = ((m.by_suffix if key == "sgnLP" else m.by_second)[0] for m in (any_grade, masked))
        printed = _share(right, any_grade.cases)
        yield Finding(
            study.where("Table 1"), f"agreement of {key} of the later levels with δRR_1, %",
            study.printed(f"1 {key}"), None if study.rel == 1 else printed, _share(ours, masked.cases),
            "yes",
            study.missed(f"1 {key}", printed) or ("" if key != "sgnLP" or study.rel == 1 or not study.is_papers else
            "The printed number comes out with every grade above 0 relevant, as the released program has it unless it "
            "is told otherwise, and a tie counted as a disagreement; Tables 2 and 3 take grades from 2. Ours is with "
            "those."),
            claim="The later recall levels agree with the first more often than the second level alone."
            * (key == "sgnLP"),
        )  # fmt: skip
    share, low, high = any_grade.beyond_the_second()
    good, tied = any_grade.by_second
    note = (
        "Where δRR_2 says anything it is right in "
        f"{_share(good, any_grade.cases - tied):.1f} % of the cases, lexiprecision in "
        f"{_share(any_grade.by_suffix[0], any_grade.cases - any_grade.by_suffix[1]):.1f} %. What the further levels "
        f"add is what they say of the {int(any_grade.broken[1].sum())} cases that δRR_2 ties"
        + f": 95 % interval over topics {low:.0f} to {high:.0f} %, so about {(high - low) / 2:.0f} points above chance "
        "would have been seen" * (not np.isnan(low)) + "."
    )
    if study.rel > 1:
        note += f" With grades from {study.rel} alone it is {_share(*masked.broken):.1f} %."
    yield Finding(
        study.where("Table 1"), "right by the levels after the second, where δRR_2 is tied, % (chance: 50)",
        ours=share, holds="open" if np.isnan(low) else "yes" if low > 50 else "no", note=note,
        about="That lexiprecision agrees more often than δRR_2 is so by construction: where δRR_2 is not tied the two "
        "say the same, and a tie counts as wrong.",
        claim="The levels after the second predict the first where the second is tied.",
    )  # fmt: skip


def _table_2(study: Study) -> Iterator[Finding]:
    shares = {m: 100 * float((v == 0).mean()) for m, v in study.values.items()}
    released: dict[str, float | None] = dict.fromkeys(shares)
    if study.rel > 1:
        rr = Found.of(study.campaign, 1).rr
        both = {"rrLP": lexiprecision(rr)[0], "RR": level_difference(rr, 1)}
        released |= {m: 100 * float((v == 0).mean()) for m, v in both.items()}
    claim = shares["rrLP"] <= shares["RR"]
    note = f"With `rel={study.rel}`."
    if study.rel > 1:
        note += " The released program takes every grade above 0, unless it is told `--binary_relevance 2`."
    for measure, what in (("rrLP", "rrLP and sgnLP"), ("RR", "δRR_1")):
        yield Finding(
            study.where("Table 2"), f"ties by {what}, %", study.printed(f"2 {measure}"), released[measure],
            shares[measure], "yes" if claim else "no",
            (note * (measure == "rrLP") + study.missed(f"2 {measure}", shares[measure])).strip(),
            about="Fewer ties are a matter of construction: lexiprecision ties no two rankings that δRR_1 does not.",
            claim="rrLP and sgnLP tie fewer pairs than reciprocal rank." * (measure == "rrLP"),
        )  # fmt: skip
