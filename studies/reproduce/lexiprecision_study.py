"""What the tables of the paper on Lexiprecision need of a campaign, and what is printed there of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ir_measures_relative.data.arrays import FloatArray

from .data import Campaign
from .recall_levels import Found, level_difference, lexiprecision

#: Tables 1-3, and of which campaign: that of the folder, or the one that is most like it.
_PRINTED: dict[str, tuple[str, dict[str, float]]] = {
    "deep-pass (2019)": (
        "deep-pass (2019)",
        {"1 sgnLP": 90.45, "1 δRR_2": 88.87, "2 rrLP": 2.63, "2 RR": 56.89, "3a rrLP": 16.52, "3a sgnLP": 18.47}
        | {"3a RR": 13.21, "3b rrLP": 15.02, "3b sgnLP": 17.42, "3b RR": 10.36},
    ),
    "deep-pass (2020)": (
        "deep-pass (2020)",
        {"1 sgnLP": 92.86, "1 δRR_2": 91.08, "2 rrLP": 2.58, "2 RR": 50.30, "3a rrLP": 37.46, "3a sgnLP": 40.91}
        | {"3a RR": 28.35, "3b rrLP": 39.04, "3b sgnLP": 39.45, "3b RR": 28.00},
    ),
    "deep-pass (2021)": (
        "deep-pass (2021)",
        {"1 sgnLP": 91.97, "1 δRR_2": 90.14, "2 rrLP": 1.32, "2 RR": 47.41, "3a rrLP": 24.07, "3a sgnLP": 24.78}
        | {"3a RR": 20.38, "3b rrLP": 23.55, "3b sgnLP": 20.99, "3b RR": 16.79},
    ),
    "robust (2003)": (
        "robust (2004)",
        {"1 sgnLP": 85.78, "1 δRR_2": 83.44, "2 rrLP": 0.39, "2 RR": 44.22, "3a rrLP": 27.42, "3a sgnLP": 27.34}
        | {"3a RR": 23.55, "3b rrLP": 26.22, "3b sgnLP": 27.36, "3b RR": 21.45},
    ),
}  # fmt: skip


def printed_number(name: str, key: str) -> float | None:
    """The number of a table that the paper prints of the very campaign of this name; None of another."""
    of, table = _PRINTED.get(name, ("", {}))
    return table[key] if of == name else None


@dataclass(frozen=True)
class Study:
    """A campaign, and what the tables need of it.

    Attributes:
        rel: the lowest grade that counts as relevant: 2 of the grades 0-3 of the Deep Learning track, else 1.
    """

    campaign: Campaign

    @cached_property
    def name(self) -> str:
        return self.campaign.name

    @cached_property
    def rel(self) -> int:
        return 2 if self.campaign.qrels["relevance"].max() > 2 else 1

    @cached_property
    def found(self) -> Found:
        found = Found.of(self.campaign, self.rel)
        if len(found.names) < 2 or len(found.topics) < 2:
            raise SystemExit(
                f"{self.campaign.folder}: runs: {len(found.names)}, topics with a document of grade {self.rel} or "
                f"more: {len(found.topics)}; lexiprecision's experiments need two of each"
            )
        return found

    @cached_property
    def values(self) -> dict[str, FloatArray]:
        """The preferences of every two runs by each measure: pairs × topics."""
        rr_lp, _ = lexiprecision(self.found.rr)
        return {"rrLP": rr_lp, "sgnLP": np.sign(rr_lp), "RR": level_difference(self.found.rr, 1)}

    def printed(self, key: str) -> float | None:
        """The number of a table, of this campaign or the most like it; None of a campaign that is not known."""
        return _PRINTED[self.name][1].get(key) if self.campaign.known else None

    @property
    def is_papers(self) -> bool:
        """Whether these are the runs that the printed numbers are of: by Table 1, which comes out to every digit."""
        known = self.campaign.known
        return (
            known is not None
            and _PRINTED[known.name][0] == known.name
            and known.runs == len(self.found.names)
        )

    def where(self, table: str) -> str:
        where = f"{table}, {self.name}"
        if self.campaign.known is None or self.is_papers:
            return where
        printed = _PRINTED[self.name][0]
        return f"{where} (printed: {'of the paper’s runs' if printed == self.name else printed})"

    def missed(self, key: str, ours: float) -> str:
        """A note where the printed number is of these very runs, and does not come out."""
        if not self.is_papers or abs(ours - _PRINTED[self.name][1][key]) < 0.0051:
            return ""
        return " The printed number does not come out, though by Table 1 these are the paper's runs."
