"""What a MED solver returns, and the input that all of them check."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

TOLERANCE = 1e-10
"""A bound this little above the best value found counts as equal to it.

Values are at most 1 and the sums behind them are accurate to about 1e-13, so this leaves floating point a
wide margin. A labeling better by less than this may be missed; the value reported is that of `labels`.
"""

OPEN = -1


@dataclass(frozen=True)
class Solution:
    """The largest difference found, a proven bound, and the labeling that attains it.

    Attributes:
        value: ``|M(Y) - M(Z)|`` under `labels`, evaluated from the definition of M.
        lower: equal to `value`.
        upper: no labeling exceeds this; equal to `value` when `exact`.
        exact: whether `value` is proved to be within `TOLERANCE` of the maximum.
        winner: +1 if `labels` makes M(Y) the larger, -1 if M(Z), 0 if `value` is 0.
        labels: shape (documents,); the input labels with every open one set to 0 or to the top label.
    """

    value: float
    lower: float
    upper: float
    exact: bool
    winner: int
    labels: IntArray

    @classmethod
    def of(cls, difference: float, upper: float, labels: IntArray) -> Solution:
        """The solution for a signed `difference` M(Y) - M(Z), proved optimal if `upper` allows no more."""
        value = float(abs(difference))
        exact = bool(upper <= value + TOLERANCE)
        winner = int(difference > 0) - int(difference < 0)
        # A score is in [0, 1], so no difference exceeds 1, whatever the bound of an interrupted search.
        return cls(value, value, value if exact else min(float(upper), 1.0), exact, winner, labels)


def checked_rankings(
    y: npt.ArrayLike, z: npt.ArrayLike, labels: npt.ArrayLike, *, top_label: int, cutoff: int
) -> tuple[IntArray, IntArray, IntArray]:
    """The three arrays as int64, with positions beyond the cutoff turned into 0 (absent).

    Raises:
        ValueError: for arrays of unequal shape, values that are not integers, negative positions, a position
            taken twice in one ranking, a label outside -1..top_label, or a cutoff below 1.
    """
    if cutoff < 1:
        raise ValueError(f"cutoff must be at least 1, got {cutoff}")
    arrays = {"y": np.asarray(y), "z": np.asarray(z), "labels": np.asarray(labels)}
    for name, array in arrays.items():
        if array.ndim != 1 or array.shape != arrays["y"].shape:
            shapes = ", ".join(f"{n} {a.shape}" for n, a in arrays.items())
            raise ValueError(f"expected three one-dimensional arrays with one entry a document, got {shapes}")
        if array.size and array.dtype.kind not in "iu":
            raise ValueError(f"{name} must hold integers, got dtype {array.dtype}")
    for name in ("y", "z"):
        positions = arrays[name]
        if positions.size and positions.min() < 0:
            raise ValueError(
                f"{name} holds the position {positions.min()}; positions count from 1, 0 is absent"
            )
        taken, times = np.unique(positions[positions > 0], return_counts=True)
        if times.size and times.max() > 1:
            raise ValueError(f"{name} has {times.max()} documents at position {taken[times.argmax()]}")
    wrong = arrays["labels"][(arrays["labels"] < OPEN) | (arrays["labels"] > top_label)]
    if wrong.size:
        raise ValueError(f"a label must be {OPEN} (open) or 0 to {top_label}, got {wrong[0]}")
    y, z, labels = (array.astype(np.int64) for array in arrays.values())
    return np.where(y <= cutoff, y, 0), np.where(z <= cutoff, z, 0), labels


class Clock:
    """Tells when a query has used up its CPU time, so that what it finds does not depend on how busy the machine is.

    Args:
        time_limit: seconds of this thread, None for no limit.

    Raises:
        ValueError: for a negative limit or NaN.
    """

    def __init__(self, time_limit: float | None) -> None:
        limit = math.inf if time_limit is None else time_limit
        if not limit >= 0:
            raise ValueError(f"time_limit must be None or a number of seconds from 0 up, got {time_limit}")
        self._limit = limit
        self._wall, self._cpu = time.monotonic(), time.thread_time()

    def expired(self) -> bool:
        """Whether the time is up."""
        # A thread has used no more CPU time than has passed, and the clock on the wall is the cheaper to read.
        passed = time.monotonic() - self._wall >= self._limit
        return passed and time.thread_time() - self._cpu >= self._limit
