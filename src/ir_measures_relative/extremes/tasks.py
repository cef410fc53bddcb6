"""Intervals query by query, for the models that have much to compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..arrays import FloatArray, IntArray
from ..jobs import Work, map_tasks
from .model import Interval

Task = TypeVar("Task")

# So many runs, or pairs of runs, are in one task.
_PAIRS = 250


def check_work(jobs: Any, time_limit: Any = None) -> None:
    """Raises ValueError for a number of processes, or of seconds, that is none."""
    Work(jobs, time_limit)


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
    results = map_tasks(function, tasks, jobs, total=len(where), desc="bounding")
    for (part, q), ends in zip(where, results, strict=True):
        found[:, part, q] = ends
    return Interval(found[0], found[1], found[2] > 0)
