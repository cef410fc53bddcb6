"""TaSC: the value of a run, and those of its priors, by a measure that can be bounded itself."""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray, IntArray
from ..measures.tasc import max_tasc
from .model import TOLERANCE, Interval, Model


class Coverage(Model):
    """TaSC, from the intervals of its base: a good run is one whose priors are as bad as they can be.

    Args:
        base: the model of the base measure.
        priors: of every run, as indices.
    """

    def __init__(self, base: Model, priors: list[IntArray]) -> None:
        super().__init__(base.open_docs)
        self.base, self.priors = base, priors

    def _tasc(self, of_run: FloatArray, of_priors: FloatArray) -> FloatArray:
        rows = [max_tasc(of_run[run], of_priors[priors]) for run, priors in enumerate(self.priors)]
        return np.array(rows).reshape(of_run.shape)

    @property
    def known_gain(self) -> FloatArray:
        return self.base.known_gain

    def sampled(self, gains: FloatArray) -> FloatArray:
        values = self.base.sampled(gains)
        return self._tasc(values, values)

    def one(self) -> Interval:
        lower, upper, exact = self.base.one()
        low, high = self._tasc(lower, upper), self._tasc(upper, lower)
        alone = np.array([not len(priors) for priors in self.priors])[:, None]
        return Interval(low, high, (exact & alone) | (high - low <= TOLERANCE))

    def difference(self, a: IntArray, b: IntArray) -> Interval:
        one = self.one()
        first, second = one.of(a), one.of(b)
        return first.minus(second)

    def influence(self, a: int, b: int, reach: FloatArray) -> FloatArray:
        nearby = [self.base.influence(run, int(prior), reach) for run in (a, b) for prior in self.priors[run]]
        result: FloatArray = np.max([self.base.influence(a, b, reach), *nearby], axis=0)
        # A label may count by the prior that it makes the best one.
        still: FloatArray = np.where(self.open & (reach > 0)[self.open_docs.docs.query], 2 * TOLERANCE, 0.0)
        return np.maximum(result, still)
