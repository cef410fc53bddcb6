"""Work in several processes, with a progress bar."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from .messages import RelativeWarning, needs_extra, warn

Task = TypeVar("Task")


Result = TypeVar("Result")


def map_tasks(
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    jobs: int = 1,
    *,
    total: int,
    desc: str,
    unit: str = "task",
) -> Iterator[Result]:
    """What the function makes of each task, in their order; the same whatever ``jobs`` is.

    Args:
        function: of a module, and its tasks and results such as pickle takes. Arrays larger than a megabyte reach the
            processes as one read-only file.
        tasks: made only as they are needed, so that few are in memory.
        jobs: how many processes; -1 for as many as there are cores. What this package warns of in them is said here,
            each once.
        total: how many tasks there are.
        desc: what the progress bar says.

    Raises:
        ImportError: joblib is missing, which keeps the processes.
        RuntimeError: one of the processes ended before its work was done.
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
        for result, said in tqdm(parallel(delayed(_with_warnings)(function, task) for task in tasks), **show):
            messages.update(dict.fromkeys(said))
            yield result
    except BrokenProcessPool as error:
        codes = ", ".join(re.findall(r"[A-Z]+\(-?\d+\)", str(error))) or "nobody knows how"
        raise RuntimeError(
            f"jobs={jobs}: a process ended before its work was done ({codes}), as when memory runs out; give fewer jobs"
        ) from error
    for message in messages:
        warn(message)


def _with_warnings(function: Callable[[Task], Result], task: Task) -> tuple[Result, list[str]]:
    """The result, and what this package warned of, for the process that asked."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(task)
    return result, [str(w.message) for w in caught if issubclass(w.category, RelativeWarning)]
