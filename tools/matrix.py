"""The tests on each Python that is here, with the newest and the lowest versions of what the package needs.

``python -m tools.matrix`` needs ``uv`` on the path. Each cell has a clone of what is committed and an environment of
its own. *newest*: all of ``.ci/run``. *lowest*, on the oldest Python: the tests, with each requirement that
``pyproject.toml`` names at its lower bound (extras and examples included). *lowest, no extras*, there too: the tests
that run where nothing but the package's own requirements is installed. *Colab*: the tests, with the versions of numpy,
pandas, scipy and matplotlib that Google's notebooks have. ``--only FOLDER…`` runs these tests alone, and no style,
types or documentation; the table says so. ``--write`` puts the rows into the table of ``docs/status.md``.
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
from .steps import campaigns

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
#: The extras whose lower bounds are tried.
EXTRAS = ("all", "examples", "dask")
#: What the tests are installed with.
TESTED = (".[all,examples,completion,dask]", "--group", "test")
#: Of the notebooks on Google Colab.
COLAB = {"numpy": "2.0.2", "pandas": "2.2.2", "matplotlib": "3.10.0", "scipy": "1.16.3"}
#: On which Pythons; the others are for all. For newer Pythons there are no wheels of the lowest versions.
ONLY_ON = {"lowest": ("3.10",), "lowest, no extras": ("3.10",), "Colab": ("3.12",)}
NOT_HERE = "not here"
UV = ("uv", "--quiet")


class Cell(NamedTuple):
    """A row of the table."""

    python: str
    versions: str
    ran: str
    result: str
    passes: bool


class Job(NamedTuple):
    """Where a cell runs, by which Python, and what of the tests: all of them where ``only`` is empty."""

    python: Path
    clone: Path
    quick: bool
    only: tuple[str, ...]

    @property
    def ran(self) -> str:
        """For the table."""
        return f"{', '.join(self.only) or 'the tests'}{' that are not slow' if self.quick else ''}"


def interpreter(version: str) -> Path | None:
    """The Python of this version: on the path, or among pyenv's; None where there is none."""
    named = [Path(found)] if (found := shutil.which(f"python{version}")) else []
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for path in [*sorted(root.glob(f"{version}.*/bin/python"), reverse=True), *named]:
        asked = [str(path), "-c", "import sys; print('{}.{}'.format(*sys.version_info))"]
        if subprocess.run(asked, capture_output=True, text=True).stdout.strip() == version:
            return path
    return None


def newest(job: Job) -> tuple[str, str, bool]:
    """All of ``.ci/run``, which makes the environment itself; or the tests that are asked for."""
    if job.only:
        return _in_environment(job, TESTED, "")
    return ("all of `.ci/run`", *_run(["bash", ".ci/run"], job))


def lowest(job: Job) -> tuple[str, str, bool]:
    """The tests with the lower bounds of everything that users install."""
    return _in_environment(job, TESTED, _lower_bounds(job, EXTRAS))


def lowest_without_extras(job: Job) -> tuple[str, str, bool]:
    """The tests with the lower bounds of the package's own requirements, and nothing else."""
    whole = job._replace(only=job.only or ("tests",))
    return _in_environment(whole, (".", "pytest", "pytest-xdist", "hypothesis"), _lower_bounds(job, ()))


def colab(job: Job) -> tuple[str, str, bool]:
    """The tests with the versions of Google's notebooks."""
    return _in_environment(job, TESTED, "\n".join(f"{name}=={version}" for name, version in COLAB.items()))


VERSIONS = {"newest": newest, "lowest": lowest, "lowest, no extras": lowest_without_extras, "Colab": colab}


def _lower_bounds(job: Job, extras: tuple[str, ...]) -> str:
    """The constraints, or what is wrong, in which case the installation fails and says so."""
    asked = [part for extra in extras for part in ("--extra", extra)]
    command = [*UV, "pip", "compile", "--resolution=lowest-direct", f"--python={job.python}", *asked]
    done = subprocess.run([*command, "pyproject.toml"], cwd=job.clone, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else done.stderr


def _in_environment(job: Job, what: tuple[str, ...], constraints: str) -> tuple[str, str, bool]:
    """Installs what the tests need beside the constraints, and runs them."""
    environment = job.clone / ".venv"
    (job.clone / "constraints.txt").write_text(constraints)
    for command in (
        [*UV, "venv", f"--python={job.python}", str(environment)],
        [*UV, "pip", "install", f"--python={environment}", "-c", "constraints.txt", "-e", *what],
    ):
        done = subprocess.run(command, cwd=job.clone, capture_output=True, text=True)
        if done.returncode:
            return job.ran, f"no environment: {done.stderr.strip().splitlines()[-1]}", False
    command = [str(environment / "bin" / "python"), "-m", "pytest", "-q", "-n", "auto", *job.only]
    return (job.ran, *_run(command, job))


def _run(command: list[str], job: Job) -> tuple[str, bool]:
    """What pytest and the other steps said last, and whether all is well."""
    clone = job.clone
    seed = sum(clone.name.encode())  # other examples in each cell
    options = f"--hypothesis-seed={seed} " + ("-m 'not slow'" if job.quick else "")
    env = {
        **os.environ,
        **campaigns(),  # the clone stands elsewhere
        "PATH": f"{job.python.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTEST_ADDOPTS": options,
    }
    env.pop("VIRTUAL_ENV", None)
    done = subprocess.run(command, cwd=clone, env=env, capture_output=True, text=True)
    (clone.parent / f"{clone.name}.log").write_text(done.stdout + done.stderr)
    counts = re.findall(
        r"^(?:\d+ \w+, )*\d+ (?:passed|failed|errors?)\b.* in [\d.]+s.*$", done.stdout, re.MULTILINE
    )
    shown = re.sub(r", \d+ warnings| in .*", "", counts[-1]) if counts else "no tests"
    failed = [line for line in done.stderr.splitlines() if line.startswith("failed: ")]
    return "; ".join([shown, *failed]), done.returncode == 0


def cells(
    pythons: list[str], versions: list[str], quick: bool, only: tuple[str, ...], folder: Path
) -> Iterator[Cell]:
    """Every row that can be had here."""
    for version in pythons:
        python = interpreter(version)
        for name in versions:
            if version not in ONLY_ON.get(name, (version,)):
                continue
            if python is None:
                yield Cell(version, name, "nothing", NOT_HERE, False)
                continue
            clone = folder / f"{version}-{name.replace(', ', '-').replace(' ', '-')}"
            subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
            yield Cell(version, name, *VERSIONS[name](Job(python, clone, quick, only)))


HEADER = ["| Python | versions | system | what ran | passes |", "|---|---|---|---|---|"]


def rows(found: list[Cell]) -> dict[str, str]:
    """The rows as Markdown, for this machine's system, by what they begin with."""
    system = f"{platform.system()} {platform.machine()}"
    starts = [f"| {c.python} | {c.versions} | {system} |" for c in found]
    results = [
        c.result if c.result == NOT_HERE else f"{'yes' if c.passes else 'no'}: {c.result}" for c in found
    ]
    return {
        start: f"{start} {c.ran} | {result} |"
        for start, c, result in zip(starts, found, results, strict=True)
    }


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
    parser.add_argument("--only", nargs="+", default=[], metavar="FOLDER", help="these tests alone")
    parser.add_argument("--logs", type=Path, help="a folder to keep what the cells printed")
    parser.add_argument("--write", action="store_true", help="put the table into docs/status.md")
    asked = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as temporary:
        for cell in cells(asked.python, asked.versions, asked.quick, tuple(asked.only), Path(temporary)):
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
