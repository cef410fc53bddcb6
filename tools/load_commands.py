"""What :mod:`tools.load` puts on the command line and on long use: many rounds, signals, full disks, dead workers."""

from __future__ import annotations

import itertools
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from ir_measures_relative import RunContext, jobs, verdicts
from ir_measures_relative.unjudged import judge_next

from .load_cases import ROOT, _campaign, _counted

sys.path.append(str(ROOT / "tests" / "helpers"))
COMMAND = [sys.executable, "-m", "ir_measures_relative"]
#: Every command that writes a file: its arguments, and what it writes.
WRITES = {
    "plot": ("plot qrels.txt runs nDCG@5 NRG@5 --output out.png", "out.png"),
    "report --output": ("report qrels.txt runs nDCG@5 UniqueRel@5 --output out.html", "out.html"),
    "report --site": ("report qrels.txt runs nDCG@5 UniqueRel@5 --site out", "out"),
    "audit plan": ("audit plan qrels.txt runs P@5 --budget 60 --pool out.txt", "out.txt out.txt.plan.csv"),
    "worth --plan": (
        "worth qrels.txt new/unjudged.run --to runs --by UniqueRel@5 --judge qrels.txt --budget 60 --plan out.txt",
        "out.txt out.txt.plan.csv",
    ),
}
SIGNALS = (signal.SIGTERM, signal.SIGHUP)


def rounds_of_judging(seconds: float) -> str:
    """300 rounds of `judge_next`; each asks for 5 documents of 8 runs and adds their labels"""
    runs, truth = _campaign(8, 20, 60, 400, seed=7)
    context, measure = RunContext(runs, grades=(0, 3)), "UniqueRel@50"
    every = {q: {d: truth[q].get(d, 0) for run in runs.values() for d in run[q]} for q in truth}
    known = {q: dict(list(labels.items())[:1]) for q, labels in every.items()}
    right = verdicts(context, every, [measure])
    before, asked, slowest = verdicts(context, known, [measure]), 0, 0.0
    for _ in range(300):
        began = time.monotonic()
        found = judge_next(context, known, measure, 5)
        slowest = max(slowest, time.monotonic() - began)
        for q, d in zip(found["query_id"], found["doc_id"], strict=True):
            if d in known[q]:
                raise AssertionError(f"{d} of {q} was judged already")
            known[q][d] = every[q][d]
        asked += len(found)
        after = verdicts(context, known, [measure])
        narrower = (after["worst"] > before["worst"] - 1e-11) & (after["best"] < before["best"] + 1e-11)
        holds = (after["worst"] < right["value"] + 1e-11) & (after["best"] > right["value"] - 1e-11)
        if not (narrower & holds).all():
            raise AssertionError(f"after {asked} labels an interval grew, or lost the value")
        before = after
    fresh = verdicts(RunContext(runs, grades=(0, 3)), known, [measure])
    if not before.equals(fresh):
        raise AssertionError("the same context says otherwise than a new one")
    settled = (before["settled"] != "undecided").sum()
    return (
        f"{asked:,} labels, none asked for twice; no interval grew or lost the true value, {settled} of {len(before)} "
        f"verdicts settled; at the end a new context gives the same to the last bit; {slowest:.1f} s a round at most"
    )


@contextmanager
def _folder() -> Iterator[Path]:
    """Two deployed runs with their judgments, and three candidates, as files."""
    from candidates import write_candidates

    with tempfile.TemporaryDirectory() as name:
        yield write_candidates(Path(name))


def gate_processes(seconds: float) -> str:
    """`worth --gate` in 1,000 processes, four at a time"""
    n, anew, codes = 1000, 20, {"strong": 0, "copy": 1, "unjudged": 3, "missing": 2}
    answers = Counter[tuple[str, int, bytes, bytes]]()
    with _folder() as folder:
        os.chdir(folder)
        for number in range(n // len(codes)):
            started = []
            for candidate in codes:
                words = f"worth qrels.txt new/{candidate}.run --to runs --by UniqueRel@5 --gate".split()
                start = _anew if number < anew // len(codes) else _forked
                started.append(
                    (candidate, start(words, folder / f"{candidate}.out", folder / f"{candidate}.err"))
                )
            for candidate, ended in started:
                code = ended()
                if code != codes[candidate]:
                    raise AssertionError(f"{candidate}: exit code {code}, not {codes[candidate]}")
                out, err = ((folder / f"{candidate}.{name}").read_bytes() for name in ("out", "err"))
                answers[candidate, code, out, err] += 1
        os.chdir(ROOT)
    if len(answers) != len(codes):
        raise AssertionError("two processes printed different bytes for one candidate")
    return (
        f"each of 4 candidates {n // len(codes)} times: exit codes 0, 1, 3 and 2, always with the same bytes "
        f"({anew} processes import the package themselves, the others are forks of one that has)"
    )


def _anew(words: list[str], out: Path, err: Path) -> Callable[[], int]:
    """The command as a process of its own."""
    with out.open("wb") as stdout, err.open("wb") as stderr:
        return subprocess.Popen([*COMMAND, *words], stdout=stdout, stderr=stderr).wait


def _forked(words: list[str], out: Path, err: Path) -> Callable[[], int]:
    """The command as a fork of this process, which spares the import."""
    from ir_measures_relative.cli import main

    child = os.fork()
    if child == 0:
        code = 70
        try:
            sys.stdout, sys.stderr = (path.open("w", encoding="utf-8") for path in (out, err))
            code = main(words)
            sys.stdout.flush(), sys.stderr.flush()
        finally:
            os._exit(code)
    return lambda: os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _kept(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def _in_child(work: Callable[[], int]) -> int:
    """The exit code of a fork of this process, as of Popen: negative where a signal ended it."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1), os.dup2(quiet, 2)
            code = work()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _signalled(words: list[str], number: int, at: int) -> int:
    """The command, which gets a signal before the line of that number of those that write files."""
    from ir_measures_relative.cli import main

    left = at

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if frame.f_code.co_name not in ("write_whole", "_mode", "write_plan"):
            return None if event == "call" else trace
        if event == "line":
            left -= 1
            if left == 0:
                os.kill(os.getpid(), number)
        return trace

    sys.settrace(trace)
    code = main(words)
    sys.settrace(None)
    return 100 if left > 0 else code  # 100: there are not so many lines


def _check_whole(folder: Path, before: dict[str, bytes], whole: dict[str, bytes], at: str) -> bool:
    """Raises AssertionError for a file that is neither as before nor whole, or another one; says if all are new."""
    found = _kept(folder)
    for name, content in found.items():
        if content not in (before.get(name), whole.get(name)):
            raise AssertionError(f"{at}: {name} is left, and is neither what was there nor the whole file")
    if lost := before.keys() - found.keys():
        raise AssertionError(f"{at}: {lost} is lost")
    return found == before | whole


def _made(folder: Path, words: list[str]) -> dict[str, bytes]:
    """What a command writes that goes well."""
    from ir_measures_relative.cli import main

    before = _kept(folder)
    if _in_child(lambda: main(words)):
        raise AssertionError(f"{words} does not work here")
    return {name: content for name, content in _kept(folder).items() if before.get(name) != content}


def _remove(folder: Path, names: str) -> None:
    for name in names.split():
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).unlink(missing_ok=True)


def signals_while_writing(seconds: float) -> str:
    """SIGTERM and SIGHUP during `plot`, `report`, `report --site`, `audit plan`, `worth --plan`: which write files"""
    moments, lines, outcomes = 0, 0, Counter[str]()
    with _folder() as folder:
        os.chdir(folder)
        for name, (text, made) in WRITES.items():
            words = text.split()
            whole = _made(folder, words)
            _remove(folder, made)
            before = _kept(folder)
            for at in itertools.count(1):
                number = SIGNALS[at % 2]
                code = _in_child(lambda words=words, number=number, at=at: _signalled(words, number, at))
                all_new = _check_whole(folder, before, whole, f"{name}, line {at}")
                _remove(folder, made)
                if code == 100:
                    break
                if code != 128 + number and not (code == 0 and all_new):
                    raise AssertionError(f"{name}, line {at}: exit code {code} after signal {number}")
                lines += 1
            began = time.monotonic()
            subprocess.run([*COMMAND, *words], capture_output=True, check=True)
            takes = time.monotonic() - began
            for number, share in itertools.product(SIGNALS, (0.5, 0.8, 0.95)):
                _remove(folder, made)
                process = subprocess.Popen(
                    [*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
                )
                time.sleep(takes * share)
                process.send_signal(number)
                _, said = process.communicate(timeout=300)
                _check_whole(folder, before, whole, f"{name} after {share:.0%}")
                if process.returncode not in (0, 128 + number, -number) or "Traceback" in said:
                    raise AssertionError(
                        f"{name} after {share:.0%}: exit code {process.returncode}: {said[-200:]}"
                    )
                outcomes["done before" if process.returncode == 0 else "ended"] += 1
                moments += 1
            _remove(folder, made)
        os.chdir(ROOT)
    return (
        f"before each line that writes ({lines} times) and at {moments} moments of whole processes "
        f"({_counted(outcomes)}): no half file, no temporary file; exit codes 143 and 129"
    )


def full_disk(seconds: float) -> str:
    """A full disk, for every command that writes, and as the standard output of every command"""
    from ir_measures_relative.cli import COMMANDS

    tries, said_so, is_disk = 0, 0, False
    with _folder() as folder:
        os.chdir(folder)
        place = folder / "place"
        place.mkdir()
        for name, (text, _) in WRITES.items():
            words = [re.sub("^out", "place/out", word) for word in text.split()]
            whole = _made(place, words)
            for path in place.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            size = sum(map(len, whole.values()))
            for share in (0, 0.3, 0.6, 0.9):
                with _small_disk(place, int(size * share)) as is_disk:
                    before = _kept(place)
                    limit = None if is_disk else int(max(map(len, whole.values())) * share)
                    done = _with_limit([*COMMAND, *words], limit)
                    _check_whole(place, before, whole, f"{name} with {share:.0%} of the room")
                    for path in place.iterdir():
                        shutil.rmtree(path) if path.is_dir() else path.unlink()
                tries += 1
                if done.returncode == 0 and is_disk:
                    continue  # a disk is given in pages
                lines = done.stderr.splitlines()
                if done.returncode != 2 or len(lines) != 1 or "place/out" not in lines[0]:
                    raise AssertionError(
                        f"{name}, {share:.0%}: exit code {done.returncode}: {done.stderr[-300:]}"
                    )
                said_so += 1
        prints = {name: ["--help"] for name in COMMANDS} | {
            "worth": ["qrels.txt", "new/copy.run", "--to", "runs", "--by", "UniqueRel@5"],
            "score": ["qrels.txt", "runs", "nDCG@5"],
            "compare": ["qrels.txt", "runs", "nDCG@5"],
            "fuse": ["qrels.txt", "runs", "nDCG@5"],
            "select": ["qrels.txt", "runs", "--number", "1"],
            "unjudged": ["qrels.txt", "runs", "P@5", "--bounds"],
            "explain": ["qrels.txt", "new/strong.run", "--to", "runs"],
            "similar": ["none", "runs"],
            "sweep": ["qrels.txt", "runs"],
            "cite": ["all"],
        }
        for name, words in prints.items():
            with open("/dev/full", "w") as full:
                done = subprocess.run(
                    [*COMMAND, name, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False
                )
            if done.returncode != 2 or "No space left" not in done.stderr or "Traceback" in done.stderr:
                raise AssertionError(f"{name} > /dev/full: exit code {done.returncode}: {done.stderr[-300:]}")
        os.chdir(ROOT)
    kind = "a small tmpfs" if is_disk else "a limit to the size of files"
    fitted = ", else it fitted" if said_so < tries else ""
    return (
        f"{tries} times too little room ({kind}): {said_so} times one line that names the file{fitted}; "
        f"no half file, no temporary file. {len(prints)} commands print to `/dev/full`: exit code 2"
    )


@contextmanager
def _small_disk(place: Path, size: int) -> Iterator[bool]:
    """A disk of that many bytes at a folder, where one may be mounted; else says that it is none."""
    options = ["-o", f"size={max(size // 4096, 1) * 4096}"]
    mounted = not subprocess.run(
        ["mount", "-t", "tmpfs", *options, "tmpfs", place], capture_output=True
    ).returncode
    if mounted and not size:
        (place / "filler").write_bytes(b"x" * 4096)
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", place], check=True)


def _with_limit(command: list[str], limit: int | None) -> subprocess.CompletedProcess[str]:
    def restrict() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    env = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, env=env, capture_output=True, text=True, preexec_fn=restrict, timeout=300)


def _dies(task: tuple[int, str]) -> int:
    """A task that ends its process."""
    number, how = task
    if number == 3 and how == "os._exit":
        os._exit(9)
    if number == 3 and how == "SIGKILL":
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def crashing_workers(seconds: float) -> str:
    """A worker of `jobs=` that ends in the middle (`os._exit`, SIGKILL)"""
    took = []
    for how in ("os._exit", "SIGKILL") * 5:
        tasks, began = [(number, how) for number in range(8)], time.monotonic()
        try:
            list(jobs.map_tasks(_dies, tasks, 2, total=8, desc=how))
        except RuntimeError as error:
            if "jobs=2: a process ended before its work was done" not in str(error):
                raise
        else:
            raise AssertionError(f"{how} was not noticed")
        took.append(time.monotonic() - began)
        again = list(jobs.map_tasks(_dies, [(number, "") for number in range(8)], 2, total=8, desc="again"))
        if again != list(range(8)):
            raise AssertionError("the next call is wrong")
    return f"{len(took)} times an error that names `jobs=` and how it ended, within {max(took):.1f} s; then all is well"


CASES: dict[str, Callable[[float], str]] = {
    case.__name__: case
    for case in (rounds_of_judging, gate_processes, signals_while_writing, full_disk, crashing_workers)
}
