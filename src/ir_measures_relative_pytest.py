"""What pytest loads of this package, by its entry point: the fixture ``worth``.

It stands beside the package, and imports it when a test asks for the fixture: pytest's start does not wait for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def worth() -> Callable[..., Any]:
    """Is a candidate worth it? ``assert worth(candidate, to=…, qrels=…).verdict == "add"``.

    A function of the candidate (the path of a run file, or what else :class:`ir_measures_relative.RunContext` takes
    as a run), ``to=`` (the runs that it is compared with: a path, folder, glob, a list of these, or a dict from name to
    run), ``qrels=``, and the options of :func:`ir_measures_relative.worth`. It returns what that does, and prints it,
    which pytest shows where the test fails. A candidate that lies in the folder of ``to`` is not compared with itself.
    """

    def ask(candidate: Any, *, to: Any, qrels: Any, **options: Any) -> Any:
        from ir_measures_relative import RunContext
        from ir_measures_relative import worth as answered
        from ir_measures_relative.io.runs import run_files

        if isinstance(to, Mapping):
            context = RunContext(to)
        else:
            own = None
            if isinstance(candidate, (str, os.PathLike)):
                with suppress(ValueError):  # no file can have such a name
                    own = Path(candidate).resolve()
            context = RunContext.from_files([file for file in run_files(to) if file.resolve() != own])
        answer = answered(context, qrels, candidate, **options)
        print(answer)
        return answer

    return ask
