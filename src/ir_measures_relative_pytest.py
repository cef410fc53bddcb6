"""The fixture ``relative_worth``, which pytest loads by its entry point without importing the package."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def relative_worth() -> Callable[..., Any]:
    """Return a function that decides whether a candidate is worth it.

    ``assert relative_worth(candidate, to=…, qrels=…).verdict == "add"``. The candidate is a path, or another run as in
    RunContext; ``to=`` a path, folder, glob, list of these, track, or dict from name to run. ``others=`` gives further
    runs of the collection in these forms, for the relevance model. Options are those of ``worth``, whose answer is
    returned, and printed. A candidate in the folder of ``to`` is not compared with itself. A run that misses a topic is
    an error, unless ``missing=`` says what it counts.
    """

    def ask(
        candidate: Any, *, to: Any, qrels: Any, others: Any = None, drop_self: bool = False, **options: Any
    ) -> Any:
        from ir_measures_relative import RunContext, worth
        from ir_measures_relative.formats.run_paths import read_runs, run_files
        from ir_measures_relative.formats.track_file import is_track

        own = None
        if isinstance(candidate, (str, os.PathLike)):
            with suppress(ValueError):  # no file can have such a name
                own = Path(candidate).resolve()

        def read(runs: Any) -> dict[str, Any]:
            if isinstance(runs, (str, os.PathLike)) and is_track(os.fspath(runs)):
                runs = RunContext.from_track(runs).runs
            elif not isinstance(runs, Mapping):
                runs = read_runs([file for file in run_files(runs) if file.resolve() != own], runs)
            return dict(RunContext(runs, drop_self=drop_self).runs)

        deployed = read(to)
        if empty := [name for name, run in deployed.items() if not len(run)]:  # which any candidate beats
            raise ValueError(f"to= holds {', '.join(empty)}, without a ranking; look how it was written")
        further = {} if others is None else read(others)
        context = RunContext({**further, **deployed}, drop_self=drop_self)
        answer = worth(context, qrels, candidate, list(deployed), **{"missing": "raise", **options})
        print(answer)
        return answer

    return ask
