"""Mutation testing: does a test notice when a line of the package is wrong?

``python -m tools.mutants --n 300 --seed 1 --out mutants.jsonl`` changes one operator, constant, condition, keyword or
element of a cache key at a time, draws 300 of these changes at random over the modules that every number goes through,
and runs each against the tests that execute the changed line, the quickest first, until one fails. ``--again`` runs the
survivors of such a file once more, with all that execute the line and as many examples as the tests ask for. What is
not killed is to be killed by a new test, or explained in ``tests/mutants.md``. Takes an hour; needs the extra
``release``.

Libraries are imported once; each mutant is compiled in a forked process, so that no file is written.
"""

from __future__ import annotations

import argparse
import functools
import gc
import importlib.machinery
import importlib.util
import json
import os
import random
import signal
import sys
import time
import zlib
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .mutations import PACKAGE, Mutant, compiled, mutants_of

ROOT = Path(__file__).resolve().parents[1]
MODULES = (
    "rankings.py",
    "judgments.py",
    "comparison.py",
    "priors.py",
    "arrays.py",
    "io/formats",
    "io/tokens.py",
    "measures",
    "extremes",
    "stats",
    "unjudged",
    "audit",
    "questions",
)
SLOW = (
    "campaigns",
    "cli",
    "documentation",
    "fuzz",
    "helpers",
    "hosts",
    "oracles",
    "plots",
    "reporting",
    "reproduce",
    "tools",
)
#: Those of the tests that are run: all but the slow, and what is no test.
FOLDERS = sorted(
    path.name for path in (ROOT / "tests").iterdir() if path.name not in SLOW and any(path.glob("test_*.py"))
)
LIMIT = 6  # seconds of processor time for that; a mutant that takes longer does not end, or is noticed by its user
ENOUGH = 8  # seconds of tests a mutant has to survive at first
EXAMPLES = 12  # that hypothesis draws at most, at first


class _Finder(importlib.machinery.SourceFileLoader):
    """Finds and loads the mutant in place of its module."""

    def __init__(self, mutant: Mutant) -> None:
        name = "ir_measures_relative." + mutant.module.removesuffix(".py").replace("/", ".")
        super().__init__(name.removesuffix(".__init__"), str(PACKAGE / mutant.module))
        self.code = compiled(mutant)

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        if name == self.name:
            return importlib.util.spec_from_file_location(name, self.path, loader=self)
        return None

    def get_code(self, name: str) -> Any:
        return self.code


class _Chosen:
    """A plug-in of pytest that keeps these tests, in this order, and says which fails first."""

    def __init__(self, tests: list[str], say: Callable[[str], None]) -> None:
        self.place = {test: i for i, test in enumerate(tests)}
        self.say = say

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = sorted((i for i in items if i.nodeid in self.place), key=lambda i: self.place[i.nodeid])

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.say(report.nodeid)


class _Watching:
    """A plug-in of pytest that notes how long each test takes, which it is, for coverage, and which fail."""

    def __init__(self, coverage: Any) -> None:
        self.coverage, self.seconds, self.failed = coverage, defaultdict(float), set()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.coverage.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.seconds[report.nodeid] += report.duration
        if report.failed:
            self.failed.add(report.nodeid)


def in_child(work: Callable[[Callable[[Any], None]], Any], limit: float | None = None) -> Any:
    """What the function says first, or else returns, in a forked process; "timeout" beyond the limit."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        if limit:  # of processor time, so that a busy machine kills nobody, and of patience
            signal.setitimer(signal.ITIMER_PROF, limit)
            signal.alarm(int(10 * limit))

        def say(what: Any) -> None:
            with os.fdopen(write, "w") as pipe:
                json.dump(what, pipe)
            os._exit(0)

        say(work(say))
    os.close(write)
    with os.fdopen(read) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return json.loads(said) if said else "timeout"


#: What makes a start of pytest quick.
_OPTIONS = [
    "-q",
    "-x",
    "-m",
    "not slow",
    "-o",
    "addopts=--import-mode=importlib",
    "--assert=plain",
    "--tb=no",
]
_OPTIONS += ["-p", "_hypothesis_pytestplugin"]
for _name in ("cacheprovider", "doctest", "unraisableexception", "threadexception", "faulthandler"):
    _OPTIONS += ["-p", f"no:{_name}"]


def pytest_in(files: list[str], plugin: Any) -> int:
    import pytest

    return int(pytest.main([*_OPTIONS, *files], plugins=[plugin]))


def few_examples() -> None:
    """hypothesis draws few examples, always the same."""
    from hypothesis import settings

    make = settings.__init__

    @functools.wraps(make)
    def made(self: Any, *args: Any, **named: Any) -> None:
        if named.get("max_examples", EXAMPLES) is not None:
            named["max_examples"] = min(named.get("max_examples", EXAMPLES), EXAMPLES)
        make(self, *args, **named)

    settings.__init__ = made  # type: ignore[method-assign]


def who_runs_what(folder: str) -> dict[str, Any]:
    """The tests of a folder that pass, the seconds of each, for each line the tests that execute it, and which fail."""
    import coverage

    few_examples()
    watched = coverage.Coverage(data_file=None, config_file=False, source=[str(PACKAGE)])
    watching = _Watching(watched)
    watched.start()
    pytest_in([f"tests/{folder}", "--maxfail=0"], watching)
    watched.stop()
    data = watched.get_data()
    seconds = {test: s for test, s in watching.seconds.items() if test not in watching.failed}
    lines = {
        str(Path(path).relative_to(PACKAGE)): {
            line: [context for context in contexts if context in seconds]
            for line, contexts in data.contexts_by_lineno(path).items()
        }
        for path in data.measured_files()
    }
    return {"seconds": seconds, "lines": lines, "failed": sorted(watching.failed)}


def tests_for(mutant: Mutant, known: list[dict[str, Any]]) -> dict[str, float]:
    """The tests that execute the line, else, where it is run on import, any of the module; the quickest first."""
    seconds = {test: s for of_folder in known for test, s in of_folder["seconds"].items()}
    of_module = [of_folder["lines"].get(mutant.module, {}) for of_folder in known]
    tests = {t for lines in of_module for t in lines.get(str(mutant.line), [])} or {
        t for lines in of_module for of_line in lines.values() for t in of_line
    }
    return {test: seconds[test] for test in sorted(tests, key=lambda t: (seconds[t], t))}


def fate(mutant: Mutant, known: list[dict[str, Any]], thorough: bool) -> tuple[str, int]:
    """The test that kills a mutant, "timeout", or "" where it survives; and how many tests there were."""
    seconds = tests_for(mutant, known)
    tests = list(seconds)
    if not thorough:
        spent = 0.0
        for i, test in enumerate(tests):
            spent += seconds[test]
            if spent > ENOUGH:
                tests = tests[:i]
                break
    by_file: dict[str, list[str]] = defaultdict(list)
    for test in tests:
        by_file[test.split("::")[0]].append(test)
    files = sorted(by_file, key=lambda file: -len(by_file[file]))
    for group in [files[:1], files[1:]] if not thorough else [files]:
        chosen = [test for file in group for test in by_file[file]]
        if not chosen:
            continue

        def trial(say: Callable[[str], None], group: list[str] = group, chosen: list[str] = chosen) -> str:
            if not thorough:
                few_examples()
            sys.meta_path.insert(0, _Finder(mutant))
            return "" if pytest_in(group, _Chosen(chosen, say)) in (0, 5) else "on import"

        said = in_child(trial, LIMIT * (10 if thorough else 1))
        if said:
            return said, len(tests)
    return "", len(tests)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("modules", nargs="*", default=MODULES, help="paths below the package")
    parser.add_argument("--n", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--out", type=Path, default=Path("mutants.jsonl"), help="one line a mutant; goes on with it"
    )
    parser.add_argument(
        "--again", action="store_true", help="the survivors in the file once more, thoroughly"
    )
    given = parser.parse_args()
    os.chdir(ROOT)
    os.environ |= {
        "CI": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }  # hypothesis draws the same examples each time
    sys.dont_write_bytecode = False
    _import_libraries()
    paths = [
        p
        for m in given.modules
        for p in ([PACKAGE / m] if m.endswith(".py") else sorted((PACKAGE / m).rglob("*.py")))
    ]
    every = [mutant for path in paths for mutant in mutants_of(str(path.relative_to(PACKAGE)))]
    chosen = random.Random(given.seed).sample(every, min(given.n, len(every)))
    done = [json.loads(line) for line in given.out.read_text().splitlines()] if given.out.exists() else []
    survivors = [Mutant(*d["mutant"]) for d in done if not d["killed"]]
    todo = survivors if given.again else [m for m in chosen if list(m) not in [d["mutant"] for d in done]]
    known = _known()
    print(f"{len(every)} mutants, {len(chosen)} drawn, {len(todo)} to run", flush=True)
    out = given.out.with_suffix(".again.jsonl") if given.again else given.out
    for mutant in todo:
        start = time.time()
        killed, n = fate(mutant, known, given.again)
        with out.open("a") as file:
            file.write(
                json.dumps(
                    {"mutant": mutant, "killed": killed, "tests": n, "s": round(time.time() - start, 1)}
                )
                + "\n"
            )
        print(
            f"{'killed  ' if killed else 'SURVIVED'} {mutant.module}:{mutant.line}  {mutant.change}",
            flush=True,
        )


def _known() -> list[dict[str, Any]]:
    """What the tests of each folder execute, as it was found last for the package and these tests as they are."""
    package = sorted(PACKAGE.rglob("*.py"))
    found = []
    for folder in FOLDERS:
        files = [
            path
            for name in (folder, "helpers", "oracles")
            for path in sorted((ROOT / "tests" / name).rglob("*.py"))
        ]
        sign = zlib.crc32(b"".join(path.read_bytes() for path in package + files))
        kept = ROOT / "build" / f"tests-by-line-{folder}-{sign:08x}.json"
        if not kept.exists():
            start = time.time()
            known = in_child(lambda _, folder=folder: who_runs_what(folder))
            print(f"tests/{folder}: {len(known['seconds'])} tests in {time.time() - start:.0f} s", flush=True)
            for test in known["failed"]:
                print(f"  left out, as it fails: {test}", flush=True)
            kept.parent.mkdir(exist_ok=True)
            kept.write_text(json.dumps(known))
        found.append(json.loads(kept.read_text()))
    return found


def _import_libraries() -> None:
    """All that takes long to import and is not to be mutated."""
    for name in (
        "pytest",
        "hypothesis.strategies",
        "pandas",
        "scipy.stats",
        "scipy.optimize",
        "ir_measures",
        "coverage",
        "_hypothesis_pytestplugin",
    ):
        importlib.import_module(name)
    gc.freeze()  # the processes need not look for garbage in them


if __name__ == "__main__":
    main()
