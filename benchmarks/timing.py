"""What something costs: CPU time and wall time, the least of several rounds in which all sides take their turn."""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

Side = Callable[[], Any]


class Cost(NamedTuple):
    """Seconds."""

    cpu: float
    wall: float


def cost(side: Side) -> Cost:
    """The cost of one call: the CPU time of this process, and of the processes that it waits for."""
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time() + _children_cpu()
    side()
    return Cost(time.process_time() + _children_cpu() - cpu, time.perf_counter() - wall)


def interleaved(sides: Mapping[str, Side], rounds: int) -> dict[str, Cost]:
    """Return the least CPU and wall time of each side over rounds in which all take turns."""
    costs: dict[str, list[Cost]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            costs[name].append(cost(side))
    return {name: Cost(*map(min, zip(*times, strict=True))) for name, times in costs.items()}


def command(*arguments: str | Path, fails: bool = False) -> Side:
    """A whole process, which must succeed, or must not, and print its error."""

    def side() -> None:
        done = subprocess.run(list(map(str, arguments)), capture_output=True, text=True)
        if bool(done.returncode) != fails:
            raise RuntimeError(f"{' '.join(map(str, arguments))}\n{done.stdout[-500:]}\n{done.stderr[-500:]}")

    return side


def in_turn(sides: Sequence[Side]) -> Side:
    """One side after the other, as one."""

    def side() -> None:
        for each in sides:
            each()

    return side


def peak_memory(side: Side) -> int:
    """The most bytes that a call holds beyond what was there before: Python's and numpy's, and Arrow's."""
    import pyarrow

    before = pyarrow.default_memory_pool()
    pool = pyarrow.proxy_memory_pool(before)
    pyarrow.set_memory_pool(pool)
    gc.collect()
    tracemalloc.start()
    try:
        side()
        return tracemalloc.get_traced_memory()[1] + (pool.max_memory() or 0)
    finally:
        tracemalloc.stop()
        pyarrow.set_memory_pool(before)


def load() -> float:
    """How many processes were running or waiting for a processor in the last minute."""
    return os.getloadavg()[0]


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
