"""What the tables of the paper on Lexiprecision need of a campaign, and what is printed there of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ir_measures_relative.arrays import FloatArray

from .data import Campaign
from .finding import Holds
from .recall_levels import Found, level_difference, lexiprecision

#: Tables 1-3, and of which campaign: that of the folder, or the one that is most like it.
_PRINTED: dict[str, tuple[str, dict[str, float]]] = {
    "deep-pass (2019)": (
        "deep-pass (2019)",
        {"1 sgnLP": 90.45, "1 δRR_2": 88.87, "2 rrLP": 2.63, "2 RR": 56.89, "3a rrLP": 16.52, "3a sgnLP": 18.47}
        | {"3a RR": 13.21, "3b rrLP": 15.02, "3b sgnLP": 17.42, "3b RR": 10.36},
    ),
    "robust (2003)": (
        "robust (2004)",
        {"1 sgnLP": 85.78, "1 δRR_2": 83.44, "2 rrLP": 0.39, "2 RR": 44.22, "3a rrLP": 27.42, "3a sgnLP": 27.34}
        | {"3a RR": 23.55, "3b rrLP": 26.22, "3b sgnLP": 27.36, "3b RR": 21.45},
    ),
}  # fmt: skip


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

    def where(self, table: str) -> str:
        other = _PRINTED[self.name][0] if self.campaign.known else self.name
        return f"{table}, {self.name}" + ("" if other == self.name else f" (printed: {other})")

    def met(self, key: str, ours: float, claim: bool) -> Holds:
        """Whether the printed number comes out; of other runs than the paper's, whether its claim does."""
        if self.campaign.known and _PRINTED[self.name][0] == self.name:
            return "yes" if abs(ours - _PRINTED[self.name][1][key]) < 0.0051 else "no"
        return "yes" if claim else "no"
