"""Whether ir_measures and PyTerrier are the same with this package installed: their own tests, compared one by one.

    python -m tools.hosts --ir-measures FOLDER --pyterrier FOLDER

Neither host's wheel holds its tests, so each folder is a checkout or an unpacked sdist of the version that is
installed, of which only ``tests`` is used; nothing is fetched. Each suite runs in a process that does not see this
package, and in one that has it imported. PyTerrier's tests of ``pt.Experiment`` run a third time, on
``pt.relative.Experiment``. Where Terrier cannot be started, the tests that need it are skipped, all three times.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

Outcomes: TypeAlias = dict[str, tuple[str, str]]  # of each test, what it came to and what it said

# What pt.relative.Experiment does otherwise, and why.
_DELIBERATE = {
    "::test_differing_order": "two systems have one name there, and priors are known by name: deliberate",
}


def main(arguments: list[str] | None = None) -> int:
    """Runs the suites of the folders that are given, and prints each difference; 1 where there is one."""
    parser = argparse.ArgumentParser(prog="python -m tools.hosts", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--ir-measures", type=Path, metavar="FOLDER", help="a checkout of ir_measures")
    parser.add_argument("--pyterrier", type=Path, metavar="FOLDER", help="a checkout of PyTerrier")
    given = parser.parse_args(arguments)
    if given.ir_measures is None and given.pyterrier is None:
        parser.error("give --ir-measures FOLDER, --pyterrier FOLDER, or both")
    for folder in (given.ir_measures, given.pyterrier):
        if folder is not None and not (folder / "tests").is_dir():
            parser.error(f"{folder} holds no folder 'tests'; give a checkout or an unpacked sdist")
    found = 0
    if given.ir_measures is not None:
        without, with_ours = (_run(given.ir_measures, "ir_measures", mode) for mode in ("without", "with"))
        found += _compare("ir_measures", without, with_ours)
    if given.pyterrier is not None:
        without, with_ours = (_run(given.pyterrier, "pyterrier", mode) for mode in ("without", "with"))
        found += _compare("pyterrier", without, with_ours)
        replayed = _run(given.pyterrier, "pyterrier", "replayed", "test_experiment_*.py")
        of_experiments = {name: without[name] for name in without if "test_experiment_" in name}
        found += _compare("pyterrier", of_experiments, replayed, "on pt.relative.Experiment", _DELIBERATE)
    return int(found > 0)


def _run(folder: Path, host: str, mode: str, files: str = "test_*.py") -> Outcomes:
    """What each test of a host comes to in one of the modes, beside the host that is installed and not the checkout."""
    root = Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as temporary:
        tests = Path(temporary) / host / "tests"
        shutil.copytree(folder / "tests", tests)
        outcomes = Path(temporary) / "outcomes.json"
        environment = os.environ | {
            "HOST_SESSION_MODE": mode,
            "HOST_SESSION_OUTCOMES": str(outcomes),
            "PYTHONPATH": os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])]),
        }
        chosen = sorted(map(str, tests.glob(files)))
        command = [sys.executable, "-m", "pytest", "-q", "-p", "tools.host_session", "-p", "no:cacheprovider"]
        done = subprocess.run(
            [*command, f"--rootdir={tests.parent}", *chosen],
            cwd=tests.parent,
            env=environment,
            capture_output=True,
            text=True,
        )
        if not outcomes.exists():
            raise SystemExit(f"{host} ({mode}): pytest did not run\n{done.stdout}\n{done.stderr}")
        return {name: (what, said) for name, (what, said) in json.loads(outcomes.read_text()).items()}


def _compare(
    host: str,
    plain: Outcomes,
    other: Outcomes,
    how: str = "with the plug-in",
    known: dict[str, str] | None = None,
) -> int:
    """Prints what differs; returns how many differences are not known ones."""
    counts = Counter(what for what, _ in plain.values())
    summary = ", ".join(f"{n} {what}" for what, n in sorted(counts.items()))
    differing = [name for name in plain.keys() | other.keys() if _what(plain, name) != _what(other, name)]
    surprising = 0
    lines = []
    for name in sorted(differing):
        reason = next((why for test, why in (known or {}).items() if name.endswith(test)), None)
        surprising += reason is None
        lines.append(f"  {name}: {_what(plain, name)} without, {_what(other, name)} {how}")
        lines.append(f"    {reason or other.get(name, plain.get(name, ('', '')))[1]}")
    verdict = f"{len(differing)} differ" if differing else "the same test for test"
    print(
        f"{host} {version(host)}: {summary} without the plug-in; {how}: {verdict}",
        *lines,
        sep="\n",
        flush=True,
    )
    return surprising


def _what(outcomes: Outcomes, name: str) -> str:
    return outcomes.get(name, ("not run", ""))[0]


if __name__ == "__main__":
    sys.exit(main())
