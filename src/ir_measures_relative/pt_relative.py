"""``pt.relative``: the package for PyTerrier users; its names are imported on first use.

The tables of its functions have PyTerrier's column names: ``qid``, ``docno`` and ``label``. This module must not import
PyTerrier at the top, nor fail or warn if an optional dependency is missing.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ir_measures.measures import registry as _registry

import ir_measures_relative as _package

from .context.measure_strings import is_relative as _is_relative
from .hosts.compat import pyterrier_measures as _pyterrier_measures

if TYPE_CHECKING:
    from .formats.record import record
    from .hosts.pyterrier.experiment import Experiment
    from .hosts.pyterrier.runs import named

__all__ = [*_package.__all__, "Experiment", "named", "record"]

# The names whose modules import PyTerrier.
_PYTERRIER_MODULES = {
    "Experiment": "hosts.pyterrier.experiment",
    "named": "hosts.pyterrier.runs",
    "record": "formats.record",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _PYTERRIER_MODULES:
        from .io.readers import import_pyterrier

        import_pyterrier()
        return getattr(import_module(f".{_PYTERRIER_MODULES[name]}", _package.__name__), name)
    value = getattr(_package, name)
    return _with_pyterrier_columns(value) if inspect.isfunction(value) else value


def __dir__() -> list[str]:
    """Return the public names only."""
    return sorted(__all__)


@functools.cache
def _with_pyterrier_columns(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with PyTerrier's column names in its table, or in the tables of its answer."""

    @functools.wraps(function)
    def renamed(*args: Any, **kwargs: Any) -> Any:
        from .io.frames import NAMES, is_frame

        result = function(*args, **kwargs)
        if is_dataclass(result) and not isinstance(result, type):
            values = {field.name: getattr(result, field.name) for field in fields(result)}
            tables = {name: value.rename(columns=NAMES) for name, value in values.items() if is_frame(value)}
            return replace(result, **tables)
        return result.rename(columns=NAMES) if is_frame(result) else result

    return renamed


def _add_to_pyterrier_measures() -> None:
    """Add the measures to ``pyterrier.measures``, which PyTerrier filled before it loaded this package."""
    module = _pyterrier_measures()
    if module is not None:
        for name, measure in _registry.items():
            if _is_relative(measure):
                setattr(module, name, measure)


_add_to_pyterrier_measures()
