"""What each argument takes or refuses, what runs are called, and what is said: at most one warning of a kind."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import COMMAND, QRELS, RUNS, output, run, write_run, write_runs

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX streams")


def bash(folder: Path, command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command line as a shell runs it, where $R stands for ours."""
    env = os.environ | environment | {"R": " ".join(COMMAND)}
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=env, capture_output=True, timeout=120)
    encoding = environment.get("PYTHONIOENCODING", "utf-8")
    return subprocess.CompletedProcess(
        command, done.returncode, done.stdout.decode(encoding), done.stderr.decode(encoding)
    )


@posix
@pytest.mark.parametrize(
    ("command", "pipe"),
    [
        ("compare qrels.txt runs/A.run P@1 UniqueRel@2 -o jsonl --baseline", "<(cat runs/B.run)"),
        ("score qrels.txt runs/A.run UniqueRel@2 --to", "- < <(cat runs/B.run)"),
        ("score qrels.txt runs/A.run rrLP --reference", "- < runs/B.run"),
    ],
)
def test_a_run_from_a_pipe_is_as_one_from_its_file(files: Path, command: str, pipe: str) -> None:
    done = bash(files, f"$R {command} {pipe}")
    expected = run(*command.split(), "runs/B.run", cwd=files).stdout
    assert (done.returncode, done.stdout) == (0, expected), done.stderr


@posix
def test_a_closed_standard_input_is_no_empty_run(files: Path) -> None:
    done = bash(files, "$R score qrels.txt runs/A.run UniqueRel@1 --to - <&-")
    assert (done.returncode, done.stdout) == (2, "")
    assert "- is the standard input, which is closed" in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        "score qrels.txt int.json NRG@2 --to runs/B.run",
        "score qrels.txt runs/B.run NRG@2 --to int.json",
        "score qrels.txt runs/B.run rrLP --reference int.json",
        "compare qrels.txt runs/B.run P@1 --baseline int.json",
        "worth qrels.txt int.json --to runs/B.run --to runs/C.run",
        "explain qrels.txt int.json --to runs/B.run",
        "similar qrels.txt int.json --to runs/B.run",
    ],
)
def test_the_argument_decides_what_a_file_is(command: str, files: Path) -> None:
    """As with the same scores as fractions."""
    whole = {"1": {"d": 2, "b": 1}, "2": {"e": 1}}
    (files / "int.json").write_text(json.dumps(whole))
    found = run(*command.split(), "-o", "jsonl", cwd=files)
    fractions = {q: {d: float(s) for d, s in docs.items()} for q, docs in whole.items()}
    (files / "int.json").write_text(json.dumps(fractions))
    expected = run(*command.split(), "-o", "jsonl", cwd=files)
    assert (found.returncode, found.stdout) == (0, expected.stdout), found.stderr


def test_an_answer_says_whose_the_names_are(files: Path) -> None:
    write_run(files / "new.run", "my-system-name", RUNS["A"])
    note = "ir_measures_relative: note: runs are named by their tags: my-system-name is new.run; --names sets other names\n"
    for command in (
        "worth qrels.txt new.run --to runs/B.run",
        "compare qrels.txt new.run P@1 --baseline runs/B.run",
    ):
        done = run(*command.split(), cwd=files)
        assert done.stderr.startswith(note) and "my-system-name" in done.stdout
    assert run("qrels.txt", "new.run", "P@1", cwd=files).stderr == ""  # which shows no name
    (files / "names.csv").write_text("new.run,new\n")
    given = "worth", "qrels.txt", "new.run", "--to", "runs/B.run", "--names", "names.csv"
    assert "note" not in run(*given, cwd=files).stderr
    folder = files / "input.dense"
    folder.mkdir()
    for file, tag in (("input.bm25.gz.run", "bm25.gz"), ("x.run", "input.dense"), ("run-c-1.txt", "C")):
        write_run(folder / file, tag, RUNS["A"])
    done = run("qrels.txt", "input.dense", "P@1", cwd=files)
    assert "note" not in done.stderr  # the names of files and folders say it
    for place in ("mine", "theirs"):  # two files of one tag are named by their paths
        (files / place).mkdir()
        write_run(files / place / "x.run", "tag", RUNS["A"])
    done = run("worth", "qrels.txt", "mine", "--to", "theirs", "--others", "runs", cwd=files)
    assert "mine/x" in done.stdout and "note" not in done.stderr


@pytest.mark.parametrize(
    "paths",
    [
        ["runs/x/run.txt", "runs/y/run.txt"],
        ["x/run.txt", "./runs/y/run.txt"],
        ["runs/x/run", "y/run"],
        ["FOLDER/runs/x/run.txt", "FOLDER/runs/y/run"],
    ],
)
def test_names_and_groups_by_paths(paths: list[str], files: Path) -> None:
    (files / "runs").rename(files / "old")
    for name in "xy":
        (files / "runs" / name).mkdir(parents=True)
        write_run(files / "runs" / name / "run.txt", "same", RUNS["A" if name == "x" else "B"])
    x, y = (path.replace("FOLDER", str(files)) for path in paths)
    (files / "names.csv").write_text(f"run,name\n{x},first\n{y},second\n")
    rows = output(files / "qrels.txt", files / "runs", "P@1", "--names", files / "names.csv").splitlines()
    assert [row.split("\t")[0] for row in rows] == ["name", "first", "second"]


def strict(text: str) -> object:
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_json_is_strict(files: Path) -> None:
    """Infinite effects, no intervals, means over no topic, in each command that writes JSON."""
    (files / "qrels.txt").write_text("1 0 a 1\n2 0 c 1\n3 0 z 1\n")
    write_run(files / "runs" / "A.run", "A", RUNS["A"] | {"3": {"y": 1.0}})
    write_run(files / "runs" / "B.run", "B", {"1": {"b": 1.0}, "2": {"b": 1.0}, "3": {"b": 1.0}})
    write_run(files / "runs" / "C.run", "C", {"1": {"a": 1.0}, "2": {"c": 1.0}, "3": {"z": 1.0}})
    for command in (
        "compare qrels.txt runs P@1 NRG@2 --missing zero -o jsonl",
        "score qrels.txt runs P@1 NRG@2 -o jsonl",
        "score qrels.txt runs P@1 --ci -o jsonl",
        "unjudged qrels.txt runs P@1 -o jsonl",
        "explain qrels.txt runs/A.run --to runs/B.run -o jsonl",
        "worth qrels.txt runs/C.run --to runs/B.run -o jsonl",
        "worth qrels.txt runs/C.run --to runs/B.run -o json",
    ):
        done = run(*command.split(), cwd=files)
        assert done.returncode == 0, done.stderr
        for text in [done.stdout] if command.endswith("json") else done.stdout.splitlines():
            assert strict(text)
    lines = run("compare", "qrels.txt", "runs", "P@1", "-o", "jsonl", cwd=files).stdout.splitlines()
    assert None in [json.loads(line)["effect"] for line in lines]


@posix
def test_signs_that_an_encoding_lacks(files: Path) -> None:
    given = "worth qrels.txt runs/A.run --to runs/B.run"
    done = bash(files, f"$R {given}", PYTHONIOENCODING="cp1252")
    assert done.returncode == 0 and "\\u" not in done.stdout
    assert done.stdout == run(*given.split(), cwd=files).stdout.replace("\N{MINUS SIGN}", "-")


def test_one_warning_of_a_kind(files: Path) -> None:
    """Several runs that are empty, of another collection, or copies; and judgments without a relevant document."""
    for name in ("E", "F"):
        (files / "runs" / f"{name}.run").write_text("")
        write_run(files / "runs" / f"X{name}.run", f"X{name}", {q: {f"x{name}": 1.0} for q in "12"})
    qrels = files / "qrels.txt"
    qrels.write_text("".join(f"{q} 0 {d} 0\n" for q, docs in QRELS.items() for d in docs))
    done = run("score", "qrels.txt", "runs", "nDCG@2 NRG@2 UniqueRel@2", "--allow-empty", cwd=files)
    said = [line.removeprefix("ir_measures_relative: warning: ") for line in done.stderr.splitlines()]
    assert [text.split(";")[0] for text in said] == [
        "run 'E', run 'F' hold no ranking",
        "no documents are judged relevant, so measures are 0 or undefined for every run",
        "run 'XE', run 'XF' rank no judged document: for query '1' run 'XE' has ['xE'], the qrels have ['a', 'd', 'x']",
    ]
    write_runs(files / "later", dict.fromkeys(("one", "two", "three"), RUNS["B"]))
    done = run("score", "qrels.txt", "later", "NRG@2", "--to", "runs/B.run", cwd=files)
    assert done.stderr.count("ranks exactly as") == 1 and "(and 2 more such)" in done.stderr
