"""The same function for many tasks, in one process or in several, with a progress bar."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from ..messages import RelativeWarning, warn

T = TypeVar("T")
R = TypeVar("R")


def map_tasks(
    function: Callable[[T], R], tasks: Sequence[T], jobs: int = 1, *, desc: str, unit: str = "task"
) -> list[R]:
    """What the function makes of each task, in their order; the same whatever ``jobs`` is.

    Args:
        function: importable, so that another process finds it.
        tasks: what pickles; arrays larger than a megabyte reach the processes as one read-only file.
        jobs: how many processes; -1 for as many as there are cores.
        desc: what the progress bar says, which is quiet where there is no terminal.

    Raises:
        ValueError: ``jobs`` is no number of processes.
        ImportError: joblib is missing, which keeps the processes.
    """
    from tqdm import tqdm

    jobs = number_of_jobs(jobs)
    show: dict[str, Any] = {"desc": desc, "unit": unit, "total": len(tasks), "disable": None, "leave": False}
    if jobs == 1 or len(tasks) < 2:
        return [function(task) for task in tqdm(tasks, **show)]
    try:
        from joblib import Parallel, delayed
    except ImportError as error:
        raise ImportError(
            f"jobs={jobs} needs joblib: pip install 'ir-measures-relative[jobs]', or leave jobs out"
        ) from error
    found: Iterable[tuple[R, list[str]]] = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(_with_warnings)(function, task) for task in tasks
    )
    results: list[R] = []
    messages: dict[str, None] = {}
    for result, said in tqdm(found, **show):
        results.append(result)
        messages.update(dict.fromkeys(said))
    for message in messages:
        warn(message)
    return results


def number_of_jobs(jobs: Any) -> int:
    """``jobs`` as a number of processes."""
    whole = isinstance(jobs, (int, np.integer)) and not isinstance(jobs, bool)
    if not whole or (jobs < 1 and jobs != -1):
        raise ValueError(
            f"jobs={jobs!r} is not allowed; it must be 1 or more processes, or -1 for one a core"
        )
    return int(jobs)


def _with_warnings(function: Callable[[T], R], task: T) -> tuple[R, list[str]]:
    """The result, and what this package warned of, for the process that asked."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(task)
    said = [str(w.message) for w in caught if issubclass(w.category, RelativeWarning)]
    return result, said
