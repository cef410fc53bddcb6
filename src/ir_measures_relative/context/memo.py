"""A cache of computed values; a key says all that its value depends on."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")

# The limit: so many bytes, or tables of (runs × documents) numbers, whichever is more.
_LEAST_BYTES, _TABLES = 3 << 24, 16


class Memo:
    """A cache, within a limit of bytes, that evicts what was used least recently.

    A key says all that its value depends on, labels too. Threads may share a memo: at worst two compute the same value.
    A memo also finds the values of its ``parent``, and keeps its own to itself.
    """

    def __init__(self, n_runs: int = 0, n_docs: int = 0, parent: Memo | None = None, limit: int = 0) -> None:
        self._parent = parent
        self._lock = Lock()
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self.nbytes = 0  #: of all values together
        self.limit = limit or _LEAST_BYTES  #: of bytes; beyond it, the least recently used values are evicted
        if n_runs and n_docs:
            self.make_room(n_runs, n_docs)

    def make_room(self, n_runs: int, n_docs: int) -> None:
        """Raise the limit to hold a few tables of runs × documents: all that one measure may use again."""
        self.limit = max(self.limit, _TABLES * 8 * n_runs * n_docs)

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the value of a key, computed if it is missing."""
        value: T | None = self.find(key)
        return self.keep(key, compute()) if value is None else value

    def find(self, key: Hashable) -> Any:
        """Return the value of a key, or None if it is missing."""
        with self._lock:  # another thread may evict the value between the two steps
            value, _ = self._values.get(key, (None, 0))
            if value is not None:
                self._values.move_to_end(key)
        return self._parent.find(key) if value is None and self._parent is not None else value

    def keep(self, key: Hashable, value: T) -> T:
        """Keep a value under a key, in place of an earlier one, and return it."""
        size = value.nbytes if isinstance(value, np.ndarray) else _size(value)
        with self._lock:
            _, freed = self._values.pop(key, (None, 0))
            self._values[key] = value, size
            self.nbytes += size - freed
            while self.nbytes > self.limit and len(self._values) > 1:
                _, (_, freed) = self._values.popitem(last=False)
                self.nbytes -= freed
        return value

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the values, since other libraries' evaluators do not pickle."""
        return Memo, (0, 0, self._parent, self.limit)


def _size(value: Any) -> int:
    """Return the approximate size of a value in bytes: its arrays, or those of its items or attributes."""
    size = getattr(value, "nbytes", None)
    if size is not None:
        return int(size)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return sum(map(_size, value))
    arrays = [item.nbytes for item in getattr(value, "__dict__", {}).values() if isinstance(item, np.ndarray)]
    return sum(arrays) or sys.getsizeof(value)
