"""Long computations in several processes, with a progress bar on a terminal."""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

import numpy as np

from ...arrays import FloatArray, IntArray
from .model import Interval

Task = TypeVar("Task")
Result = TypeVar("Result")

# So many tasks for each process are made ahead.
_AHEAD = 4
# So many runs, or pairs of runs, are in one task.
_PAIRS = 250


def check_work(jobs: Any, time_limit: Any = None) -> None:
    """Raises ValueError for a number of processes, or of seconds, that is none."""
    if isinstance(jobs, bool) or not isinstance(jobs, (int, np.integer)) or jobs < 1:
        raise ValueError(f"jobs={jobs!r} is not allowed; it must be a whole number of at least 1")
    if time_limit is not None and not (isinstance(time_limit, (int, float)) and time_limit >= 0):
        raise ValueError(
            f"time_limit={time_limit!r} is not allowed; it must be a number of seconds from 0 up, or None"
        )


def map_tasks(
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    jobs: int,
    desc: str,
    total: int | None = None,
) -> Iterator[Result]:
    """The results of all tasks, in their order.

    Args:
        function: of a module, and its tasks and results such as pickle takes: each process starts afresh.
        tasks: made only as they are needed, so that few are in memory.
        jobs: how many processes; 1 stays in this one.
        desc: what the progress bar says.
        total: how many tasks there are.

    Raises:
        RuntimeError: a process that does not start, or is ended from outside.
    """
    from tqdm import tqdm

    with tqdm(total=total, desc=desc, disable=None, leave=False) as bar:
        if jobs == 1:
            for task in tasks:
                yield function(task)
                bar.update()
            return
        pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _end_on_interrupt)
        try:
            waiting: deque[Future[Result]] = deque()
            for task in tasks:
                waiting.append(pool.submit(function, task))
                if len(waiting) == _AHEAD * jobs:
                    yield waiting.popleft().result()
                    bar.update()
            while waiting:
                yield waiting.popleft().result()
                bar.update()
        except BrokenProcessPool as error:
            raise RuntimeError(
                f"jobs={jobs}: a process did not start, or was ended. In a script, what starts processes must be under "
                "if __name__ == '__main__': (not read from stdin); for lack of memory, use fewer jobs"
            ) from error
        finally:
            pool.shutdown(cancel_futures=True)


def _end_on_interrupt() -> None:
    """Ctrl-C ends this process without a word; the one that started it has the word."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interval_by_query(
    function: Callable[[Task], FloatArray],
    task_of: Callable[[int, IntArray, IntArray], Task],
    a: IntArray,
    b: IntArray,
    n_queries: int,
    jobs: int,
) -> Interval:
    """The intervals of runs, or of pairs of runs, query by query; shape (pairs, queries).

    Args:
        function: from a task to lower, upper and whether they are exact (above 0) of its pairs; shape (3, pairs).
        task_of: the task of a query and some pairs of runs.
        a: the first run of each pair.
        b: the second.
    """
    parts = [slice(start, start + _PAIRS) for start in range(0, len(a), _PAIRS)]
    where = [(part, q) for q in range(n_queries) for part in parts]
    tasks = (task_of(q, a[part], b[part]) for part, q in where)
    found = np.empty((3, len(a), n_queries))
    results = map_tasks(function, tasks, min(jobs, max(len(where), 1)), "bounding", len(where))
    for (part, q), ends in zip(where, results, strict=True):
        found[:, part, q] = ends
    return Interval(found[0], found[1], found[2] > 0)
