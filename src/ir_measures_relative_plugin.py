"""What ``import pyterrier`` loads of this package by its entry point; and ir_measures, in versions to come.

It stands beside the package, so that ``import pyterrier`` need not wait for it. If the package cannot be imported, the
users of the hosts get a warning, and no error.
"""

from __future__ import annotations

import sys
import warnings
from functools import cache, partial
from importlib import import_module
from types import ModuleType
from typing import Any

_PACKAGE = "ir_measures_relative"


def __getattr__(name: str) -> ModuleType:
    """``relative``, which becomes ``pt.relative``, and imports the package when something in it is asked for."""
    if name != "relative":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    measures = sys.modules.get("pyterrier.measures")  # which is filled by now
    if measures is not None:
        vars(measures).update(__getattr__=partial(_find_measure, measures), __dir__=partial(_names, measures))
    if _PACKAGE not in sys.modules:
        base = import_module("ir_measures.measures.base")
        base.registry = sys.modules["ir_measures.measures"].registry = _ByName(base.registry)  # type: ignore[attr-defined]
    return _Later("ir_measures_relative.pt_relative", "``pt.relative``: its names are in its ``__all__``.")


class _ByName(dict[str, Any]):
    """ir_measures' measures by name. A name that is not there may be one of the package's, which is then imported.

    Seen: ``parse_measure`` of ir_measures 0.4.3 asks ``name in ir_measures.measures.registry``, and ``register`` adds
    to the same dict by its name in ``base``. Ends with: entry points in ir_measures.
    """

    def __contains__(self, name: object) -> bool:
        if not super().__contains__(name) and _PACKAGE not in sys.modules:
            _relative()
        return super().__contains__(name)


class _Later(ModuleType):
    """Stands for ``pt.relative``: most programs that import PyTerrier do not use it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_relative(), name)

    def __dir__(self) -> list[str]:
        return dir(_relative())


@cache
def _relative() -> ModuleType:
    try:
        return import_module("ir_measures_relative.pt_relative")
    except Exception as error:
        return _Absent(_warn("pt.relative", error))


def _names(module: ModuleType) -> list[str]:
    """Return the names in ``pyterrier.measures`` once the package is imported, which puts its measures there."""
    _relative()
    return sorted(vars(module))


def _find_measure(module: ModuleType, name: str) -> Any:
    """Return what ``pyterrier.measures`` does not define itself; ``import *`` asks for ``__all__``."""
    if name == "__all__":
        return [public for public in _names(module) if not public.startswith("_")]
    if name.startswith("__") or name not in _names(module):
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
    return vars(module)[name]


def provider() -> Any:
    """Return the provider of the relative measures, registered with ir_measures."""
    try:
        return import_module("ir_measures_relative.hosts.provider").registered_provider()
    except Exception as error:
        from ir_measures.providers.base import Provider

        _warn("the provider 'relative'", error)
        absent = Provider()  # supports nothing
        absent.NAME, absent.PRIORITY = "relative", None
        return absent


class _Absent(ModuleType):
    """Stands where ``pt.relative`` would be, and says why it is not there."""

    def __init__(self, why: str) -> None:
        super().__init__("relative", why)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(self.__doc__)


def _warn(what: str, error: Exception) -> str:
    message = (
        f"{what} is not there, since the package ir_measures_relative could not be imported: "
        f"{type(error).__name__}: {error}; install versions that fit"
    )
    warnings.warn(message, stacklevel=4)
    return message
