"""Fixtures of the command line's tests."""

from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import QRELS, RUNS, here, write_qrels, write_runs


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with qrels.txt, and the folder runs/ with A.run, B.run, C.run."""
    write_qrels(tmp_path / "qrels.txt", QRELS)
    write_runs(tmp_path / "runs", RUNS)
    return tmp_path


@pytest.fixture
def call(files: Path) -> Callable[..., tuple[int, str, str]]:
    """Runs the command in this process and that folder: exit code, stdout, stderr."""

    def called(*arguments: str) -> tuple[int, str, str]:
        done = here(*arguments, cwd=files)
        return done.returncode, done.stdout, done.stderr

    return called
