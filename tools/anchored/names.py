"""What one version calls otherwise than another: where a thing lies, arguments, and the columns and words of tables.

Files and comparisons have the new names, whichever version wrote them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

_PACKAGE = "ir_measures_relative"
_ROOMS = ("", ".bounding", ".decisions", ".stats", ".context.priors", ".priors")

#: From new to old: names of things, of arguments, and of a measure's parameters.
_OLD_NAMES = {"from_files": "from_trec"}
_OLD_ARGUMENTS = {"unretrieved_relevant": "elsewhere", "relevance_model": "odds"}
_OLD_PARAMETERS = {"variant": "kind"}

#: From old to new, in the tables of bounds and verdicts.
_COLUMNS = {"lower": "worst", "upper": "best", "verdict": "settled", "open": "n_deciding"}
_WORDS = {"better": "above", "worse": "below", "open": "undecided"}


def public(name: str) -> Any:
    """A function or class, in the package or in the first of its rooms that has it.

    Raises:
        AttributeError: this version has none of this name.
    """
    for room in _ROOMS:
        try:
            return getattr(import_module(_PACKAGE + room), name)
        except (ImportError, AttributeError):
            continue
    raise AttributeError(f"this version has no {name}")


def member(owner: Any, name: str) -> Any:
    """An attribute, by whichever name the version has."""
    return getattr(owner, name if hasattr(owner, name) else _OLD_NAMES[name])


def asked(function: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """Call a function with the names that it has for options, which have their new names here.

    Topics that a run misses count as empty rankings, as they do in every version that does not ask.
    """
    known = inspect.signature(function).parameters
    if "missing" in known:
        options = {"missing": "zero"} | options
    return function(*given, **{n if n in known else _OLD_ARGUMENTS.get(n, n): v for n, v in options.items()})


def written(measure: str) -> str:
    """A measure string as this version writes it; with new names it comes in."""
    name = measure.partition("(")[0].partition("@")[0]
    for new, old in _OLD_PARAMETERS.items():
        if f"{new}=" in measure and new not in public(name).SUPPORTED_PARAMS:
            measure = measure.replace(f"{new}=", f"{old}=")
    return measure


def new_question(name: str) -> str:
    """The name of a table from a file of any version."""
    for new, old in (*_OLD_ARGUMENTS.items(), *_OLD_PARAMETERS.items()):
        name = name.replace(f"{old}=", f"{new}=")
    return name


def renamed(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a table of bounds or verdicts of any version, with the new names and words."""
    return {_COLUMNS.get(name, name): _renamed_words(value) for name, value in columns.items()}


def _renamed_words(column: Any) -> Any:
    if getattr(getattr(column, "dtype", None), "kind", "") != "U":
        return column
    return np.array([_WORDS.get(word, word) for word in column.tolist()], dtype=str)
