"""Work in several processes and within a time limit."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from .arguments import is_number
from .messages import RelativeWarning, needs_extra, warn

Task = TypeVar("Task")
Result = TypeVar("Result")


class Work:
    """The processes (-1: one per core) and the seconds (None: no limit) that a call may use.

    The seconds count from the creation of the object; another process gets those that remain.
    """

    def __init__(self, jobs: int = 1, time_limit: float | None = None) -> None:
        is_whole = isinstance(jobs, (int, np.integer)) and not isinstance(jobs, bool)
        if not is_whole or (jobs < 1 and jobs != -1):
            raise ValueError(f"jobs={jobs!r} is not allowed; give a whole number of at least 1, or -1")
        if time_limit is not None and not (is_number(time_limit) and time_limit >= 0):
            raise ValueError(f"time_limit={time_limit!r} is not allowed; give seconds from 0 up, or None")
        self.jobs = int(jobs)
        self._end = None if time_limit is None else time.monotonic() + float(time_limit)

    def remaining(self) -> float | None:
        """Return the seconds that remain, at least 0; None without a limit."""
        return None if self._end is None else max(self._end - time.monotonic(), 0.0)

    def expired(self) -> bool:
        """Return whether the time is over."""
        return self._end is not None and time.monotonic() >= self._end

    def __reduce__(self) -> Any:
        return type(self), (self.jobs, self.remaining())


def map_tasks(
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    jobs: int = 1,
    *,
    total: int,
    desc: str,
    unit: str = "task",
) -> Iterator[Result]:
    """Yield the result of the function for each task, in their order, from one process or several (-1: one per core).

    Tasks are made when they are needed. Each warning of this package in another process is issued here, once.
    """
    from tqdm import tqdm

    show: dict[str, Any] = {"desc": desc, "unit": unit, "total": total, "disable": None, "leave": False}
    if jobs == 1 or total < 2:
        for task in tqdm(tasks, **show):
            yield function(task)
        return
    try:
        from joblib import Parallel, delayed
    except ImportError as error:
        raise needs_extra(f"jobs={jobs}", "jobs", "leave jobs out") from error
    from concurrent.futures.process import BrokenProcessPool

    parallel = Parallel(n_jobs=jobs, return_as="generator")
    messages: dict[str, None] = {}
    try:
        for result, warned in tqdm(
            parallel(delayed(_with_warnings)(function, task) for task in tasks), **show
        ):
            messages.update(dict.fromkeys(warned))
            yield result
    except BrokenProcessPool as error:
        codes = ", ".join(re.findall(r"[A-Z]+\(-?\d+\)", str(error))) or "nobody knows how"
        raise RuntimeError(
            f"jobs={jobs}: a process ended before its work was done ({codes}), as when memory runs out; give fewer jobs"
        ) from error
    for message in messages:
        warn(message)


def _with_warnings(function: Callable[[Task], Result], task: Task) -> tuple[Result, list[str]]:
    """Return the result, and the warnings of this package."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(task)
    return result, [str(w.message) for w in caught if issubclass(w.category, RelativeWarning)]
