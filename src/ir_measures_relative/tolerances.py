"""The named tolerances: what counts as rounding, as tied, as proved."""

#: Values that differ by at most this share of the measure's spread over the runs and topics at hand are tied. Sums of a
#: thousand terms are off by about 1e-13 of it.
TIED = 1e-9

#: Ends of intervals, and values of one labeling, in about [-1, 1], that are closer than this are equal.
LABELED_ALIKE = 1e-11

#: A labeling is proved to be the best where no other can be better by more than this.
PROVED = 1e-10

#: A share of a sum, of a mean, or of the largest of some values, that rounding alone may add to it or leave of it.
ROUNDED = 1e-12

#: How far outside its range rounding may carry a value of a measure of somebody else's, which may compute in 32 bits.
OUTSIDE_RANGE = 1e-6
