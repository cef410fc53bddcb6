"""TaSC: what a run adds on the queries that the prior runs fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..data.arrays import FloatArray
from ..tolerances import OUTSIDE_RANGE
from . import parameters
from .measure import OfAbsoluteBase, register

if TYPE_CHECKING:
    from ..context.view import View


def max_tasc(run: FloatArray, priors: FloatArray) -> FloatArray:
    """``(1 - max over the priors of S(prior)) · S(run)`` of each query; ``priors`` has shape (priors, queries)."""
    best: FloatArray = priors.max(axis=0, initial=0.0)
    return (1.0 - best) * run


class _TaSC(OfAbsoluteBase):
    """MAX TaSC: the effectiveness of a run, weighted by how badly the best prior run does on the query.

    ``TaSC = (1 - max over the priors of S(prior)) · S(run)`` for each query, S the base measure: any of ir_measures
    with values from 0 to 1. Range [0, 1]; S(run) without priors. It does not look at *which* documents a run retrieves.

    Source: Arabzadeh et al., SIGIR 2023, in the form of Bigdeli et al., SIGIR-AP 2024, App. C.

    Example:
        >>> from ir_measures_relative import RunContext, TaSC
        >>> qrels = {"q1": {"A": 1}, "q2": {"A": 1}}
        >>> with RunContext({"old": {"q1": {"A": 1.0}, "q2": {"X": 2.0, "A": 1.0}}}):
        ...     measure = TaSC(base="RR@10")  # (1 - 1) · 1, (1 - 1/2) · 1
        ...     measure.calc_aggregate(qrels, {"q1": {"A": 1.0}, "q2": {"A": 1.0}})
        0.25
    """

    __name__ = "TaSC"
    PAPERS = {"nrg2024": "", "arabzadeh2023quantifying": ""}
    RELATIVE_TO = "priors"
    TEST = "bootstrap"
    PRETTY_NAME = "Target Subspace Coverage"
    SHORT_DESC = "The effectiveness of a run, weighted by how badly the best prior run does on the query."
    FORMULA = r"\mathrm{TaSC} = \Bigl(1 - \max_{j} S(R_j)\Bigr)\, S(\mathrm{run})"
    SEE_ALSO = ("NRG", "UniqueRel")
    SUPPORTED_PARAMS = {
        "base": parameters.absolute_base(
            "a measure string that ir_measures can compute, with values from 0 to 1"
        ),
        "prior": parameters.prior(),
    }

    @property
    def value_range(self) -> tuple[float, float]:
        return 0.0, 1.0

    def score(self, view: View) -> FloatArray:
        measure = self.base_measure()
        of_priors = view.absolute_of_runs(measure)[view.priors(self.get("prior"))]
        return max_tasc(self.checked(view.absolute_of_run(measure)), self.checked(of_priors))

    def checked(self, values: FloatArray) -> FloatArray:
        """Values of the base measure, within [0, 1].

        Raises:
            ValueError: values outside by more than rounding.
        """
        outside = values[(values < -OUTSIDE_RANGE) | (values > 1 + OUTSIDE_RANGE)]
        if len(outside):
            raise ValueError(
                f"{self!r}: its base must range from 0 to 1, and {self.base_measure()} gave {float(outside[0])}; "
                "use a normalized measure"
            )
        return np.clip(values, 0.0, 1.0)


TaSC = register(_TaSC())
