"""Fixtures of the command line's tests."""

from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import QRELS, RUNS, here, write_run


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with qrels.txt, and the folder runs/ with A.run, B.run, C.run."""
    lines = [f"{q} 0 {d} {label}\n" for q, docs in QRELS.items() for d, label in docs.items()]
    (tmp_path / "qrels.txt").write_text("".join(lines), encoding="utf-8")
    (tmp_path / "runs").mkdir()
    for name, rankings in RUNS.items():
        write_run(tmp_path / "runs" / f"{name}.run", name, rankings)
    return tmp_path


@pytest.fixture
def call(files: Path) -> Callable[..., tuple[int, str, str]]:
    """Runs the command in this process and that folder: exit code, stdout, stderr."""

    def called(*arguments: str) -> tuple[int, str, str]:
        done = here(*arguments, cwd=files)
        return done.returncode, done.stdout, done.stderr

    return called
