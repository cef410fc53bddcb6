"""All steps of a release, one after the other: ``python -m tools.release --all``. CONTRIBUTING.md has them in words.

A step that cannot be run here is left out, and the end says which and why; one that fails holds up no other. What the
steps print is kept, a file a step.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from .address import repository

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = (
    "python3 -m venv .venv && .venv/bin/python -m pip install -q 'pip>=25.1' && "
    ".venv/bin/pip install -q -e '.[all,examples,completion,dask]' --group dev --group interop --group release"
)


CAMPAIGNS = ("ROBUST03", "DL19", "DL21")


class Step(NamedTuple):
    """What is run, in which folder, and why it cannot be; ``lacks`` is empty where it can."""

    name: str
    commands: tuple[tuple[str, ...], ...]
    folder: Path = ROOT
    lacks: str = ""


class Outcome(NamedTuple):
    """``failed`` is the command that failed, or empty."""

    step: Step
    failed: str = ""


def steps(clone: Path, *, seed: int, ir_measures: Path | None, pyterrier: Path | None) -> list[Step]:
    """Of a release, in their order; those of tests run in a fresh clone, in an environment of its own."""
    python = str(clone / ".venv" / "bin" / "python")
    pytest = (python, "-m", "pytest", "-q", "-n", "auto")
    tool = (python, "-m")
    random_order = ("--random-order", "--random-order-bucket=global", "--strict-warnings")
    hosts = [
        f"--{name}={path}" for name, path in (("ir-measures", ir_measures), ("pyterrier", pyterrier)) if path
    ]
    values = max((ROOT / "tools" / "anchored").glob("*.json.gz"), key=_number)
    return [
        Step("tests", (("bash", ".ci/run"),), clone),
        Step("seeds", tuple((*pytest, f"--hypothesis-seed={one}") for one in (1, 2, 3)), clone),
        Step("order", ((*pytest, *random_order),), clone),
        Step("thorough", ((*pytest, "--hypothesis-profile=thorough"),), clone),
        Step(
            "matrix",
            ((*tool, "tools.matrix", "--write"),),
        ),
        Step(
            "hosts",
            ((*tool, "tools.hosts", *hosts),),
            lacks=""
            if len(hosts) == 2
            else "give --ir-measures FOLDER and --pyterrier FOLDER, checkouts of both",
        ),
        Step(
            "values",
            ((*tool, "tools.anchored", "compare", str(values)),),
            lacks="" if campaigns() else "no runs of Robust 2003 or of the Deep Learning tracks are there",
        ),
        Step(
            "coverage",
            (
                (python, "-m", "coverage", "run", "-m", "pytest", "-q", "-n", "0"),
                (python, "-m", "coverage", "combine"),
                (python, "-m", "coverage", "report", "--fail-under=95"),
            ),
            clone,
        ),
        Step(
            "mutants", ((*tool, "tools.mutants", "--n=300", f"--seed={seed}", "--out=mutants.jsonl"),), clone
        ),
        Step("load", ((*tool, "tools.load", "--write"),)),
        Step("audit", (("uvx", "pip-audit", "."),)),
        Step("wheel", ((*tool, "tools.release"),), clone),
        Step("publish", (), lacks=_not_published()),
    ]


def _number(path: Path) -> list[int]:
    return [int(part) for part in path.name.removesuffix(".json.gz").split(".")]


def campaigns() -> dict[str, str]:
    """The folders of real campaigns that are there, as the variables by which a clone elsewhere finds them."""
    named = {name: os.environ.get(name, str(ROOT.parent / "shared" / name.lower())) for name in CAMPAIGNS}
    return {name: folder for name, folder in named.items() if Path(folder).is_dir()}


def _not_published() -> str:
    first = "" if repository() else "set the address of the repository (python -m tools.address), then "
    return f"{first}push the tag v<version>; the workflow `release` publishes it"


def run(found: Iterable[Step], logs: Path, path: Path | None = None) -> Iterator[Outcome]:
    """Runs the steps that can be run, and says of each what came of it; ``path`` has commands that they call."""
    logs.mkdir(parents=True, exist_ok=True)
    env = os.environ | campaigns()
    if (
        path is not None
    ):  # behind all others, since .ci/run makes its environment with the python3 that is first
        env["PATH"] = os.pathsep.join([env["PATH"], str(path)])
    for step in found:
        if step.lacks:
            yield Outcome(step)
            continue
        started, failed = time.monotonic(), ""
        with (logs / f"{step.name}.log").open("w", encoding="utf-8") as log:
            for command in step.commands:
                try:
                    code = subprocess.run(
                        command,
                        cwd=step.folder,
                        env=env,
                        stdin=subprocess.DEVNULL,
                        stdout=log,
                        stderr=subprocess.STDOUT,
                    ).returncode
                except OSError as error:
                    log.write(f"{error}\n")
                    code = 1
                if code:
                    failed = " ".join(command)
                    break
        minutes = (time.monotonic() - started) / 60
        print(f"{step.name}: {'FAILED' if failed else 'good'}, {minutes:.1f} min", flush=True)
        yield Outcome(step, failed)


def summary(outcomes: list[Outcome], logs: Path) -> str:
    """What failed, and what could not be run and why."""
    good = [o.step.name for o in outcomes if not o.failed and not o.step.lacks]
    lines = [f"good: {', '.join(good) or 'nothing'}"]
    lines += [
        f"failed: {o.step.name}: {o.failed}; see {logs / o.step.name}.log" for o in outcomes if o.failed
    ]
    lines += [f"not run: {o.step.name}: {o.step.lacks}" for o in outcomes if o.step.lacks]
    return "\n".join(lines)


def make_clone(folder: Path) -> Path:
    """What is committed, with an environment that has all that the steps need.

    Raises:
        subprocess.CalledProcessError: git or pip failed.
    """
    clone = folder / "clone"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    subprocess.run(["bash", "-c", ENVIRONMENT], cwd=clone, check=True)
    return clone


def run_all(asked: argparse.Namespace) -> int:
    """All steps, or those of ``--only``: 1 where one failed."""
    folder = Path(asked.logs).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    known = steps(folder / "clone", seed=asked.seed, ir_measures=asked.ir_measures, pyterrier=asked.pyterrier)
    names = [step.name for step in known]
    if strangers := sorted(set(asked.only or ()) - set(names)):
        raise SystemExit(f"--only {' '.join(strangers)}: the steps are {', '.join(names)}")
    chosen = [step for step in known if not asked.only or step.name in asked.only]
    if any(not step.lacks for step in chosen):
        make_clone(folder)
    outcomes = list(run(chosen, folder, folder / "clone" / ".venv" / "bin"))
    print(summary(outcomes, folder))
    return int(any(outcome.failed for outcome in outcomes))
