"""A plug-in of pytest for the hosts' own tests: whether this package is there, and what each test came to.

``tools.hosts`` loads it in a process of its own. It takes two environment variables: ``HOST_SESSION_MODE``, one of
:data:`MODES`, and ``HOST_SESSION_OUTCOMES``, the JSON file that it writes.
"""

from __future__ import annotations

import functools
import importlib.metadata
import json
import os
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any
from unittest import SkipTest

import pytest

#: Without this package; with it; and with ``pt.relative.Experiment`` in the place of ``pt.Experiment``.
MODES = ("without", "with", "replayed")

_PACKAGE = "ir_measures_relative"
_MODE = os.environ.get("HOST_SESSION_MODE", "with")
_ORDER = ("passed", "xfailed", "skipped", "failed", "error")  # a test with parts is what its worst part is

_outcomes: dict[str, tuple[str, str]] = {}


class _Absent:
    """Finds no module of this package."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name.startswith(_PACKAGE):
            raise ModuleNotFoundError(f"{name} is hidden", name=name)
        return None


def _hide() -> None:
    """Makes this process one in which the package is not installed: no module of it, and no entry point."""
    distributions = importlib.metadata.distributions

    def others(**context: Any) -> Iterator[importlib.metadata.Distribution]:
        for found in distributions(**context):
            if found.metadata["Name"].replace("-", "_") != _PACKAGE:
                yield found

    importlib.metadata.distributions = others  # type: ignore[assignment]
    sys.meta_path.insert(0, _Absent())


def _replay() -> None:
    """Puts ``pt.relative.Experiment`` where PyTerrier's tests look for ``pt.Experiment``, which it calls in turn."""
    import pyterrier as pt

    theirs, ours = pt.Experiment, pt.relative.Experiment

    @functools.wraps(theirs)
    def experiment(*args: Any, **kwargs: Any) -> Any:
        pt.Experiment = theirs
        try:
            return ours(*args, **_by_keyword(kwargs))
        finally:
            pt.Experiment = experiment

    pt.Experiment = experiment


def _by_keyword(kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments, the first by the name that it has with us."""
    return {"systems" if name == "retr_systems" else name: value for name, value in kwargs.items()}


def _do_without_java() -> None:
    """Where Terrier cannot be started, skips the tests that need it."""
    import pyterrier as pt
    import pyterrier.java._utils as java

    try:
        pt.java.init()
        return
    except Exception as error:
        reason = f"Terrier cannot be started ({type(error).__name__}: {error})"

    def needs_terrier(*args: Any, **kwargs: Any) -> Any:
        raise SkipTest(reason)

    pt.java.init = lambda: None  # every test of theirs begins with it
    java._init = needs_terrier  # what a function that needs it begins with
    for name in ("autoclass", "cast"):
        setattr(java, name, needs_terrier)
        setattr(pt.java, name, needs_terrier)


def _read_vaswani_from_a_copy() -> None:
    """Where PyTerrier's copy of the Vaswani collection cannot be fetched, takes that of ir_datasets, if it is there."""
    import pyterrier as pt

    def can_be_read(name: str) -> bool:
        try:
            return len(pt.get_dataset(name).get_qrels()) > 0
        except Exception:
            return False

    # The folder alone says nothing: a copy that cannot be fetched leaves one behind.
    if can_be_read("vaswani") or not can_be_read("irds:vaswani"):
        return
    theirs = pt.get_dataset

    def no_index(*args: Any, **kwargs: Any) -> Any:
        raise SkipTest("the index of Vaswani cannot be fetched")

    def get_dataset(name: str, *args: Any, **kwargs: Any) -> Any:
        if name != "vaswani":
            return theirs(name, *args, **kwargs)
        copy = theirs("irds:vaswani", *args, **kwargs)
        copy.get_index = no_index
        return copy

    pt.get_dataset = pt.datasets.get_dataset = get_dataset


def pytest_sessionstart(session: pytest.Session) -> None:
    """Prepares the process, before a test is looked for."""
    if _MODE == "without":
        _hide()
    else:
        import ir_measures_relative  # noqa: F401  (also where the host would not load it by itself)
    if session.config.rootpath.name == "pyterrier":
        _do_without_java()
        _read_vaswani_from_a_copy()
        if _MODE == "replayed":
            _replay()


def _note(name: str, outcome: str, text: str) -> None:
    known = _outcomes.get(name, ("passed", ""))
    if name not in _outcomes or _ORDER.index(outcome) > _ORDER.index(known[0]):
        _outcomes[name] = outcome, text


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """A file that cannot be imported, or is skipped whole."""
    if report.outcome != "passed":
        _note(report.nodeid, "error" if report.failed else "skipped", _last_line(report))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """A test, or a part of one."""
    outcome = str(report.outcome)
    if outcome == "failed" and report.when != "call":
        outcome = "error"
    if outcome == "skipped" and hasattr(report, "wasxfail"):
        outcome = "xfailed"
    if outcome != "passed" or report.when == "call":
        _note(report.nodeid, outcome, _last_line(report))


def _last_line(report: Any) -> str:
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else report.longreprtext
    return text.strip().splitlines()[0] if text.strip() else ""


def pytest_sessionfinish() -> None:
    """Writes what became of each test."""
    Path(os.environ["HOST_SESSION_OUTCOMES"]).write_text(json.dumps(_outcomes), encoding="utf-8")
