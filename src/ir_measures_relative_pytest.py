"""The fixture ``worth``, which pytest loads by its entry point without importing the package."""

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

    The candidate is a path, or another run as in RunContext; ``to=`` a path, folder, glob, list of these, or dict from
    name to run. Options are those of ``worth``, whose answer is returned, and printed. A candidate in the folder of
    ``to`` is not compared with itself.
    """

    def ask(candidate: Any, *, to: Any, qrels: Any, drop_self: bool = False, **options: Any) -> Any:
        from ir_measures_relative import RunContext
        from ir_measures_relative import worth as answered
        from ir_measures_relative.io.runs import run_files

        if isinstance(to, Mapping):
            context = RunContext(to, drop_self=drop_self)
        else:
            own = None
            if isinstance(candidate, (str, os.PathLike)):
                with suppress(ValueError):  # no file can have such a name
                    own = Path(candidate).resolve()
            others = [file for file in run_files(to) if file.resolve() != own]
            context = RunContext.from_files(others, drop_self=drop_self)
        if empty := [name for name, run in context.runs.items() if not len(run)]:  # which any candidate beats
            raise ValueError(f"to= holds {', '.join(empty)}, without a ranking; look how it was written")
        answer = answered(context, qrels, candidate, **options)
        print(answer)
        return answer

    return ask
