"""The tests on each Python that is here, at the newest and at the lowest versions of what the package needs.

``python -m tools.matrix`` needs ``uv`` on the path for the lowest versions. Each cell has a clone of what is
committed and an environment of its own. *newest*: all of ``.ci/run``. *lowest*, on the oldest Python: the tests, with
each requirement that ``pyproject.toml`` names at its lower bound (extras and examples included). *lowest, no extras*,
there too: the tests that run where nothing but the package's own requirements is installed. ``--write`` puts the rows
into the table of ``docs/status.md``.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .pages import fill, filled

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
#: The extras whose lower bounds are tried; those of linters and of Sphinx are nobody's business but ours.
EXTRAS = ("all", "examples", "dask")
NOT_HERE = "not here"


class Cell(NamedTuple):
    """A row of the table."""

    python: str
    versions: str
    result: str
    passes: bool


def interpreter(version: str) -> Path | None:
    """The Python of this version: on the path, or among pyenv's; None where there is none."""
    named = [Path(found)] if (found := shutil.which(f"python{version}")) else []
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for path in [*sorted(root.glob(f"{version}.*/bin/python"), reverse=True), *named]:
        asked = [str(path), "-c", "import sys; print('{}.{}'.format(*sys.version_info))"]
        if subprocess.run(asked, capture_output=True, text=True).stdout.strip() == version:
            return path
    return None


def newest(python: Path, clone: Path, quick: bool) -> tuple[str, bool]:
    """All of ``.ci/run``, which makes the environment itself."""
    return _run(["bash", ".ci/run"], clone, python, quick)


def lowest(python: Path, clone: Path, quick: bool) -> tuple[str, bool]:
    """The tests with the lower bounds of everything that users install."""
    return _at_lower_bounds(python, clone, quick, EXTRAS, ".[test]")


def lowest_without_extras(python: Path, clone: Path, quick: bool) -> tuple[str, bool]:
    """The tests with the lower bounds of the package's own requirements, and nothing else."""
    runner = ("pytest", "pytest-xdist", "hypothesis")
    return _at_lower_bounds(python, clone, quick, (), ".", *runner, tests=("tests",))


VERSIONS = {"newest": newest, "lowest": lowest, "lowest, no extras": lowest_without_extras}


def _at_lower_bounds(
    python: Path,
    clone: Path,
    quick: bool,
    extras: tuple[str, ...],
    *what: str,
    tests: tuple[str, ...] = (),
) -> tuple[str, bool]:
    bounds, environment = clone / "lowest.txt", clone / ".venv"
    asked = [part for extra in extras for part in ("--extra", extra)]
    uv = ["uv", "--quiet", "pip"]
    resolution = ["--resolution", "lowest-direct", "--python", str(python)]
    for command in (
        [*uv, "compile", *resolution, *asked, "pyproject.toml", "-o", str(bounds)],
        ["uv", "--quiet", "venv", "--python", str(python), str(environment)],
        [*uv, "install", "--python", str(environment), "-e", *what, "-c", str(bounds)],
    ):
        done = subprocess.run(command, cwd=clone, capture_output=True, text=True)
        if done.returncode:
            return f"no environment: {done.stderr.strip().splitlines()[-1]}", False
    return _run(
        [str(environment / "bin" / "python"), "-m", "pytest", "-q", "-n", "auto", *tests],
        clone,
        python,
        quick,
    )


def _run(command: list[str], clone: Path, python: Path, quick: bool) -> tuple[str, bool]:
    """What pytest and the other steps said last, and whether all is well."""
    seed = sum(clone.name.encode())  # other examples in each cell
    options = f"--hypothesis-seed={seed} " + ("-m 'not slow'" if quick else "")
    env = {
        **os.environ,
        "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTEST_ADDOPTS": options,
    }
    env.pop("VIRTUAL_ENV", None)
    for name in ("ROBUST03", "DL19"):  # the clone stands elsewhere
        env.setdefault(name, str(ROOT.parent / "shared" / name.lower()))
    done = subprocess.run(command, cwd=clone, env=env, capture_output=True, text=True)
    (clone.parent / f"{clone.name}.log").write_text(done.stdout + done.stderr)
    counts = re.findall(
        r"^(?:\d+ \w+, )*\d+ (?:passed|failed|errors?)\b.* in [\d.]+s.*$", done.stdout, re.MULTILINE
    )
    shown = re.sub(r", \d+ warnings| in .*", "", counts[-1]) if counts else "no tests"
    failed = [line for line in done.stderr.splitlines() if line.startswith("failed: ")]
    return "; ".join([shown, *failed]), done.returncode == 0


def cells(pythons: list[str], versions: list[str], quick: bool, folder: Path) -> Iterator[Cell]:
    """Every row that can be had here."""
    for version in pythons:
        python = interpreter(version)
        for name in versions:
            if name != "newest" and version != pythons[0]:
                continue  # there are no wheels of versions so old for newer Pythons
            if python is None:
                yield Cell(version, name, NOT_HERE, False)
                continue
            clone = folder / f"{version}-{name.replace(', ', '-').replace(' ', '-')}"
            subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
            yield Cell(version, name, *VERSIONS[name](python, clone, quick))


HEADER = ["| Python | versions | system | passes |", "|---|---|---|---|"]


def rows(found: list[Cell]) -> dict[str, str]:
    """The rows as Markdown, for this machine's system, by what they begin with."""
    system = f"{platform.system()} {platform.machine()}"
    starts = [f"| {c.python} | {c.versions} | {system} |" for c in found]
    results = [
        c.result if c.result == NOT_HERE else f"{'yes' if c.passes else 'no'}: {c.result}" for c in found
    ]
    return {start: f"{start} {result} |" for start, result in zip(starts, results, strict=True)}


def write(found: list[Cell]) -> None:
    """Puts the rows into the page, in the place of those of the same cells; others stay as they are."""
    page = ROOT / "docs" / "status.md"
    old = filled(page, "matrix").splitlines()
    kept = {"|".join(line.split("|")[:4]) + "|": line for line in old if line.startswith("| 3")}
    table = "\n".join([*HEADER, *(text for _, text in sorted((kept | rows(found)).items()))])
    fill(page, "matrix", f"\n{table}\n")


def main() -> None:
    """Runs the cells, prints the table, and exits with 1 where one fails that could be run."""
    parser = argparse.ArgumentParser(prog="python -m tools.matrix", description=__doc__)
    parser.add_argument("--python", nargs="+", default=list(PYTHONS), metavar="X.Y")
    parser.add_argument("--versions", nargs="+", default=list(VERSIONS), choices=list(VERSIONS))
    parser.add_argument("--quick", action="store_true", help="without the tests that are marked slow")
    parser.add_argument("--logs", type=Path, help="a folder to keep what the cells printed")
    parser.add_argument("--write", action="store_true", help="put the table into docs/status.md")
    asked = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as temporary:
        for cell in cells(asked.python, asked.versions, asked.quick, Path(temporary)):
            print(*cell[:3], "passes" if cell.passes else "FAILS", sep=" · ", flush=True)
            found.append(cell)
            if asked.logs:
                asked.logs.mkdir(parents=True, exist_ok=True)
                for log in Path(temporary).glob("*.log"):
                    shutil.copy(log, asked.logs)
    print("\n".join([*HEADER, *rows(found).values()]))
    if asked.write:
        write(found)
    if any(not cell.passes and cell.result != NOT_HERE for cell in found):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
