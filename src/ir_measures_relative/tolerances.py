"""The named tolerances for rounding, ties and exact searches."""

#: Values that differ by at most this share of the measure's spread over the runs and topics at hand are tied. Sums of a
#: thousand terms are off by about 1e-13 of it.
TIED = 1e-9

#: Ends of intervals, and values of one labeling, in about [-1, 1], that are closer than this are equal.
LABELED_ALIKE = 1e-11

#: A labeling is the best if no other can exceed it by more than this.
PROVED = 1e-10

#: The share of a sum, a mean or a maximum that rounding alone may add or remove.
ROUNDED = 1e-12

#: How far rounding may carry the values of other measures, which may compute in 32 bits, outside their range.
OUTSIDE_RANGE = 1e-6
