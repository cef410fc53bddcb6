"""How work is done: in how many processes, for how long at most, with a progress bar on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np

from .arguments import is_number

Task = TypeVar("Task")


def progress(items: Iterable[Task], desc: str, unit: str) -> Iterable[Task]:
    """The items, with a progress bar on a terminal; elsewhere nothing waits for the import of what draws it."""
    if sys.stderr is None or not sys.stderr.isatty():
        return items
    from tqdm import tqdm

    bar: Iterable[Task] = tqdm(items, desc=desc, unit=unit, leave=False)
    return bar


class Work:
    """How much work a call may do: in how many processes, and for how many seconds by the clock on the wall.

    The seconds are those of the whole call, and count from when it is made; another process gets those that are left.

    Args:
        jobs: how many processes; -1 for as many as there are cores.
        time_limit: seconds; None for no limit.

    Raises:
        ValueError: a number of processes, or of seconds, that is none.
    """

    def __init__(self, jobs: int = 1, time_limit: float | None = None) -> None:
        whole = isinstance(jobs, (int, np.integer)) and not isinstance(jobs, bool)
        if not whole or (jobs < 1 and jobs != -1):
            raise ValueError(
                f"jobs={jobs!r} is not allowed; it must be a whole number of at least 1, or -1 for one a core"
            )
        if time_limit is not None and not (is_number(time_limit) and time_limit >= 0):
            raise ValueError(
                f"time_limit={time_limit!r} is not allowed; it must be a number of seconds from 0 up, or None"
            )
        self.jobs = int(jobs)
        self._end = None if time_limit is None else time.monotonic() + float(time_limit)

    def remaining(self) -> float | None:
        """The seconds that are left, at least 0; None where there is no limit."""
        return None if self._end is None else max(self._end - time.monotonic(), 0.0)

    def expired(self) -> bool:
        """Whether the time is over."""
        return self._end is not None and time.monotonic() >= self._end

    def __reduce__(self) -> Any:
        return type(self), (self.jobs, self.remaining())
