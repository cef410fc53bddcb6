"""Significance tests that go with the measures."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class SignTest(NamedTuple):
    """What :func:`sign_test` found; PyTerrier reads the second value."""

    statistic: int  #: the number of pairs in which ``a`` is larger
    pvalue: float  #: two-sided


def sign_test(a: Any, b: Any) -> SignTest:
    """The exact two-sided sign test of paired values: is ``a`` above ``b`` as often as below it?

    The binomial test that the lexiprecision paper uses for sgnLP, on the pairs that are not tied; p is 1
    where all are. It fits ``pt.Experiment(…, [sgnLP], baseline=0, test=sign_test)``, with the baseline as
    the reference: the baseline's own values are then 0, so that the pairs won and lost are those of the
    preference. Any other measure may be tested so as well; the size of a difference does not count.

    Args:
        a: the values of one system, one a query.
        b: those of the other (for pt.Experiment, the baseline), in the same order.

    Raises:
        ValueError: values that are not two lists of the same length, or that hold a NaN.

    Example:
        >>> from ir_measures_relative import sign_test
        >>> sign_test([1, 1, 1, 1, 1, -1, 0], [0, 0, 0, 0, 0, 0, 0])
        SignTest(statistic=5, pvalue=0.21875)
    """
    from scipy.stats import binomtest

    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(
            f"the sign test needs two lists of the same length, not shapes {x.shape} and {y.shape}"
        )
    missing = np.flatnonzero(np.isnan(x) | np.isnan(y))
    if len(missing):
        raise ValueError(f"the sign test needs numbers, and pair {missing[0]} holds a NaN")
    wins, losses = int((x > y).sum()), int((x < y).sum())
    if not wins + losses:
        return SignTest(0, 1.0)
    return SignTest(wins, float(binomtest(wins, wins + losses).pvalue))
