"""The named tolerances: what counts as rounding, as tied, as proved."""

from __future__ import annotations

#: Two values of a measure whose difference is at most this share of the measure's spread (its largest less its smallest
#: value, over the runs and topics at hand) are tied. Relative to the spread, so that it does not matter in which unit a
#: measure counts. Sums of a thousand terms are off by about 1e-13 of it. Smaller differences that are real mean nothing
#: to anyone: beside dozens of priors NRG can be 1e-10, of values that go up to 1.
TIED = 1e-9

#: Ends of intervals, and values of one labeling, that are closer than this are equal. They are of measures in about
#: [-1, 1], found as ratios of long sums: rounding is off by 1e-13, a label moves them by far more.
LABELED_ALIKE = 1e-11

#: A labeling is proved to be the best where no other can be better by more than this. One that is better by less may be
#: missed. Values are at most 1, and the sums behind them are accurate to about 1e-13.
PROVED = 1e-10

#: A share of a sum, of a mean, or of the largest of some values, that rounding alone may add to it or leave of it.
ROUNDED = 1e-12

#: How far outside its range rounding may carry a value of a measure of somebody else's, which may compute in 32 bits.
OUTSIDE_RANGE = 1e-6
