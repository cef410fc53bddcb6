"""What the package withstands: ``python -m tools.load``.

Each case runs in a process of its own, whose time and peak memory are measured, and compares what comes of it with
what is right. ``--minutes`` is shared by the two cases that last as long as they are told; ``--write`` puts the table
into ``docs/withstands.md``. Exits with 1 where a case fails.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from . import load_cases, load_commands
from .pages import fill, filled

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "withstands.md"
CASES = load_cases.CASES | load_commands.CASES


class Row(NamedTuple):
    """A row of the table."""

    what: str
    result: str
    seconds: float
    megabytes: float
    passes: bool


def measured(name: str, seconds: float) -> Row:
    """Runs a case as a process."""
    began = time.monotonic()
    command = [sys.executable, "-m", "tools.load", "--case", name, "--seconds", str(seconds)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, err = process.communicate()
    took = time.monotonic() - began
    lines = out.splitlines()
    if process.returncode:
        said = (err.strip().splitlines() or ["nothing said"])[-1]
        return Row(str(CASES[name].__doc__), f"FAILS: {said[:200]}", took, 0.0, False)
    (what, result), megabytes = json.loads(lines[-2]), float(lines[-1])
    return Row(what, result, took, megabytes, True)


def run_case(name: str, seconds: float) -> None:
    """Runs a case in this process; prints what it says, and the result, as a line of JSON."""
    case = CASES[name]
    with contextlib.redirect_stdout(sys.stderr):
        result = case(seconds)
    print(json.dumps([str(case.__doc__), result]))


def _peak() -> float:
    """The most memory that this process, or any one that it started, has had, in MB."""
    import resource

    unit = 1 if platform.system() == "Darwin" else 1024
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(one).ru_maxrss for one in whose) * unit / 1e6


HEADER = ["| what | result | time | peak memory of a process |", "|---|---|---|---|"]


def lines(rows: list[Row]) -> dict[str, str]:
    """The rows as Markdown, by what they are of."""
    return {r.what: f"| {r.what} | {r.result} | {r.seconds:.0f} s | {r.megabytes:,.0f} MB |" for r in rows}


def write(rows: list[Row]) -> None:
    """Puts the rows into the page; those of cases that were not asked for stay as they are."""
    old = filled(PAGE, "load").splitlines()
    known = {line.split(" | ")[0].removeprefix("| "): line for line in old if line.startswith("| ")}
    known |= lines(rows)
    table = "\n".join(
        [*HEADER, *(known[what] for case in CASES.values() if (what := str(case.__doc__)) in known)]
    )
    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    fill(PAGE, "load", f"\n{table}\n\n{system}.\n")


def main() -> None:
    """Runs the cases, prints the table, and exits with 1 where one fails."""
    parser = argparse.ArgumentParser(prog="python -m tools.load", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="of the threads and the processes together")
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--write", action="store_true", help="put the table into docs/withstands.md")
    parser.add_argument("--case", choices=list(CASES), help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=1, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.case:
        run_case(asked.case, asked.seconds)
        print(_peak())
        return
    rows = []
    for name in asked.cases:
        row = measured(name, asked.minutes * 60 / 2)
        print(name, row.result, f"{row.seconds:.0f} s", sep=" · ", flush=True)
        rows.append(row)
    print("\n".join([*HEADER, *lines(rows).values()]))
    if asked.write:
        write(rows)
    if not all(row.passes for row in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
