"""What ``import pyterrier`` loads of this package, by its entry point ``relative`` in the group ``pyterrier.modules``.

ir_measures reads no entry points as of 0.4.3: there, ``import ir_measures_relative`` makes the measures known. The
entry point in the group ``ir_measures.provider`` is for versions that will read it.

This module stands beside the package, since to import a module of a package is to import the package first. A package
that cannot be imported, say with a version of ir_measures that it does not know, must not keep the hosts from being
imported. Their users get a warning instead.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from types import ModuleType
from typing import Any


def __getattr__(name: str) -> ModuleType:
    """``relative``, the module that becomes ``pt.relative``."""
    if name != "relative":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return import_module("ir_measures_relative.pt_relative")
    except Exception as error:
        return _Absent(_warn("pt.relative", error))


def provider() -> Any:
    """The provider of the relative measures, registered with ir_measures."""
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
    warnings.warn(message, stacklevel=3)
    return message
