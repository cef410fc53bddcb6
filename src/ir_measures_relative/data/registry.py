"""Registries of what wings and other packages add to the core, imported at first use.

In the core, in the package's ``__init__``, and in ``formats/csv.py``::

    READERS: Registry[str, Reader] = Registry("readers")
    fill({"readers": [".formats.csv"]}, __name__)
    READERS.register("csv")(CsvReader())
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from importlib.util import resolve_name
from typing import Any, TypeVar

_K = TypeVar("_K")
_V = TypeVar("_V")

# By the name of a registry, so that they outlast a reload of the module that declares it.
_ENTRIES: dict[str, dict[Any, Any]] = {}
_WAITING: dict[str, dict[str, None]] = {}  # the modules that were not imported yet


def fill(modules: Mapping[str, Iterable[str]], package: str | None = None) -> None:
    """Name the modules that add to a registry; ``package`` is where a path such as ".a.b" starts."""
    for name, paths in modules.items():
        _WAITING.setdefault(name, {}).update(dict.fromkeys(resolve_name(path, package) for path in paths))


def load(name: str, until: Callable[[], bool] = lambda: False) -> None:
    """Import the modules that add to a registry, as long as ``until`` is false; after an error, the rest again."""
    for module in list(_WAITING.get(name, ())):
        if until():
            return
        try:
            import_module(module)
        except Exception as error:
            raise ImportError(f"{name}: {module} cannot be imported: {error}", name=module) from error
        _WAITING[name].pop(module, None)  # another thread may have been here


class Registry(Mapping[_K, _V]):
    """The entries of one name. Reading it imports the modules that :func:`fill` gave it, as far as they are needed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._entries: dict[_K, _V] = _ENTRIES.setdefault(name, {})

    def register(self, *keys: _K) -> Callable[[_V], _V]:
        """Return a decorator that adds an entry under each of these keys; a later one replaces an earlier one."""

        def add(value: _V) -> _V:
            self._entries.update(dict.fromkeys(keys, value))
            return value

        return add

    def __getitem__(self, key: _K) -> _V:
        if key not in self._entries:
            load(self.name, until=lambda: key in self._entries)
        if key not in self._entries:
            raise KeyError(
                f"{self.name}: no {key!r}; there are {', '.join(map(repr, self._entries)) or 'none'}"
            )
        return self._entries[key]

    def __iter__(self) -> Iterator[_K]:
        load(self.name)
        return iter(self._entries)

    def __len__(self) -> int:
        load(self.name)
        return len(self._entries)


def imported_later(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package, from the names that it exports to the modules that have them."""

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{modules[name]}")
        return getattr(module, name, module)  # a name in it, or itself

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *modules})

    return get, names
