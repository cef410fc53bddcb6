"""The command line, in this process or as one of its own, and small files to give it."""

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path

COMMAND = [sys.executable, "-m", "ir_measures_relative"]
QRELS = {"1": {"a": 1, "d": 2, "x": 0}, "2": {"c": 1}, "3": {"z": 1}}
RUNS = {
    "A": {"1": {"a": 3.0, "b": 2.0}, "2": {"c": 1.0}},
    "B": {"1": {"b": 3.0, "d": 2.0, "a": 1.5}, "2": {"e": 1.0}},
    "C": {"1": {"x": 3.0, "a": 2.0}, "2": {"e": 2.0, "c": 1.0}, "9": {"q": 1.0}},
}


def unmeasured() -> dict[str, str]:
    """The environment without what has coverage measure every process, for tests of what a process alone does.

    coverage imports modules before the first line and writes a file after the last.
    """
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}


def process(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    """Runs the command as a process of its own, whose start takes longer than all that most tests ask of it."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        **options,  # type: ignore[call-overload]
    )


def here(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the command in this process, as the interpreter would: with streams of UTF-8, and bytes as they come."""
    from ir_measures_relative.cli import main

    given = [os.fsdecode(a) if isinstance(a, bytes) else str(a) for a in arguments]
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")
    before = Path.cwd()
    os.chdir(cwd or before)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(given)
    finally:
        os.chdir(before)
    written = [stream.detach().getvalue().decode(errors="surrogateescape") for stream in (out, err)]  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(given, code, *written)


def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    """Runs the command; an error must be one line and nothing else. As a process only where it has options of one."""
    done = (process if set(options) - {"cwd"} else here)(*arguments, **options)  # type: ignore[arg-type]
    if done.returncode:
        assert "Traceback" not in done.stderr, done.stderr
    return done


def output(*arguments: object) -> str:
    """What a command prints that goes well."""
    done = run(*arguments)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def error(*arguments: object, **options: object) -> str:
    """What a command says that goes wrong."""
    done = run(*arguments, **options)
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    assert done.stdout == ""
    start = "ir_measures_relative: error: "
    assert done.stderr.startswith(start) and done.stderr.count("\n") == 1, done.stderr
    return done.stderr.removeprefix(start).rstrip("\n")


def write_run(path: Path, tag: str, rankings: dict[str, dict[str, float]]) -> Path:
    rows = [(q, d, s) for q, docs in rankings.items() for d, s in docs.items()]
    path.write_text("".join(f"{q} Q0 {d} 0 {s} {tag}\n" for q, d, s in rows), encoding="utf-8")
    return path


def write_runs(folder: Path, runs: dict[str, dict[str, dict[str, float]]]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, rankings in runs.items():
        write_run(folder / f"{name}.run", name, rankings)
    return folder


def write_qrels(path: Path, labels: dict[str, dict[str, int]]) -> Path:
    rows = [f"{q} 0 {d} {label}\n" for q, docs in labels.items() for d, label in docs.items()]
    path.write_text("".join(rows), encoding="utf-8")
    return path
