"""What is computed of the runs and the judgments of a context, kept for the next that asks."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")
_MISSING: Any = object()

# How much is kept: so many bytes, or tables of (runs × documents) numbers, whichever is more.
_LEAST_BYTES, _TABLES = 3 << 24, 16


class Store:
    """Values by keys. A key is a tuple of all that its value depends on, as values; a value never changes.

    So threads need no lock: at worst two compute the same value. Where all is more than ``most`` bytes, the oldest
    goes, one after the other.
    """

    def __init__(self, n_runs: int = 0, n_docs: int = 0) -> None:
        self.most = _LEAST_BYTES
        self.make_room(n_runs, n_docs)
        self._values: dict[Hashable, Any] = {}
        self._sizes: dict[Hashable, int] = {}
        self._total = 0  #: of the sizes; threads may lose some of it until the next is evicted

    def make_room(self, n_runs: int, n_docs: int) -> None:
        """Keeps some tables of so many runs and documents: all that one measure may ask for again and again."""
        self.most = max(self.most, _TABLES * 8 * n_runs * n_docs)

    def __getstate__(self) -> dict[str, Any]:
        """Without the values: other libraries' evaluators do not pickle."""
        return self.__dict__ | {"_values": {}, "_sizes": {}, "_total": 0}

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The value of a key; computed if it is not here."""
        value: T = self._values.get(key, _MISSING)  # in one step: another thread may evict it
        if value is _MISSING:
            value = compute()
            size = _size(value)
            if size:
                self.evict(size)
                self._sizes[key] = size
            self._values[key] = value
        return value

    def known(self, key: Hashable) -> Any:
        """The value of a key; None if it is not here."""
        return self._values.get(key)

    def evict(self, size: int) -> None:
        """Makes place for a value of that size."""
        self._total += size
        if self._total <= self.most:
            return
        kept = list(self._sizes.items())
        self._total = sum(size for _, size in kept) + size
        for key, freed in kept:
            if self._total <= self.most:
                break
            self._values.pop(key, None)
            self._sizes.pop(key, None)
            self._total -= freed


def _size(value: Any) -> int:
    """The bytes of an array, of documents, or of those in a list, tuple or dict."""
    if isinstance(value, dict) and isinstance(next(iter(value.values()), None), np.ndarray):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return sum(map(_size, value))
    size = getattr(value, "nbytes", 0)
    return size if isinstance(size, int) else 0
