"""``-o``, ``--sort``, and columns that are aligned on a terminal."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from ir_measures import P

from command_line import COMMAND, QRELS, RUNS, output, run, write_run
from ir_measures_relative import RunContext
from ir_measures_relative.cli import fuse

GIVEN = ("qrels.txt", "runs", "nDCG@2", "NRG@2")


def written(files: Path, *arguments: object) -> str:
    done = run(*GIVEN, *arguments, cwd=files)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture
def expected() -> pd.DataFrame:
    return RunContext(RUNS).evaluate(QRELS, list(GIVEN[2:]))


def test_csv(files: Path, expected: pd.DataFrame) -> None:
    found = pd.read_csv(io.StringIO(written(files, "-o", "csv", "-p", "-1")))
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)


def test_csv_quotes_what_it_must(files: Path) -> None:
    (files / "names.csv").write_text('A,"x, ""y"""\n')
    rows = list(csv.reader(io.StringIO(written(files, "-o", "csv", "--names", files / "names.csv"))))
    assert [row[0] for row in rows] == ["name", 'x, "y"', "B", "C"] and {len(row) for row in rows} == {3}


def test_markdown(files: Path) -> None:
    lines = written(files, "-o", "markdown").splitlines()
    assert [[cell.strip() for cell in line.split("|")[1:-1]] for line in (lines[0], lines[2])] == [
        ["name", "nDCG@2", "NRG@2"],
        ["A", "0.4600", "0.4600"],
    ]
    assert re.fullmatch(r"\| :-+ \| -+: \| -+: \|", lines[1])


def test_latex(files: Path) -> None:
    (files / "names.csv").write_text("A,50%_of #1 & $x^2~\\{}\n")
    lines = written(files, "-o", "latex", "--names", files / "names.csv").splitlines()
    assert lines[0] == r"\begin{tabular}{lrr}" and lines[-1] == r"\end{tabular}"
    name = r"50\%\_of \#1 \& \$x\textasciicircum{}2\textasciitilde{}\textbackslash{}\{\}"
    assert re.split(r" +& +", lines[4].strip()) == [name, "0.4600", r"0.4600 \\"]
    assert [lines[i] for i in (1, 3, -2)] == [r"\toprule", r"\midrule", r"\bottomrule"]


def test_lists_in_cells(files: Path) -> None:
    """fuse names several runs in one: text in a table, a list in JSON."""
    given = "fuse", files / "qrels.txt", files / "runs", "P@2"
    row = output(*given).splitlines()[2].split("\t")
    plain = json.loads(output(*given, "-o", "jsonl").splitlines()[1])
    assert row[2] == ", ".join(plain["names"]) and len(plain["names"]) == 2
    assert set(plain["chosen"]) <= set(RUNS)


def fused(*rows: tuple) -> pd.DataFrame:
    columns = ["strategy", "names", "held_out", "difference", "ci_lower", "ci_upper"]
    return pd.DataFrame([("single", ("A",), 0.4, 0.0, 0.0, 0.0), *rows], columns=columns)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], ""),
        (
            [("top", ("A", "B"), 0.5, 0.1, -0.05, 0.25), ("greedy", ("A", "B", "C"), 0.45, 0.05, 0.01, 0.09)],
            "Fuse A, B, C (greedy). They gain 0.05 P@2 on held-out topics (95 % interval 0.01 to 0.09) over the best single run.",
        ),
        (
            [("top", ("A", "B"), 0.5, 0.1, -0.05, 0.25)],
            "The fusion (top) is not significantly above the best single run: it gains 0.10 P@2",
        ),
        (
            [("top", ("A", "B"), 0.38, -0.02, -0.06, 0.02), ("all", ("A", "B", "C"), 0.3, -0.1, -0.2, 0.0)],
            "The fusion (top) is not significantly above the best single run: it loses 0.02 P@2",
        ),
    ],
)
def test_which_runs_to_fuse_in_words(rows, said) -> None:
    assert fuse._which(fused(*rows), P @ 2, 2).startswith(said)


def test_words_and_short_lists_are_for_people(files: Path) -> None:
    for i in range(4):
        (files / "runs" / f"more{i}.run").write_text((files / "runs" / "A.run").read_text())
    given = "fuse", files / "qrels.txt", files / "runs", "P@2", "--strategies", "single,all"
    lines = output(*given).splitlines()
    assert lines[2].count(" and 4 more") == 2 and " ".join(lines[3:]).startswith(
        "The fusion (all) is not significantly"
    )
    for form in ("tsv", "csv"):
        lines = output(*given, "-o", form).splitlines()
        assert len(lines) == 3 and "more3 1.0" in lines[2] and " and " not in lines[2]


def test_sort(files: Path, expected: pd.DataFrame) -> None:
    by_number = [line.split("\t")[0] for line in written(files, "--sort", "NRG@2").splitlines()[1:]]
    assert by_number == expected.sort_values("NRG@2", ascending=False)["name"].tolist()
    (files / "names.csv").write_text("A,z\nB,y\nC,x\n")
    names = written(files, "--names", files / "names.csv", "--sort", "name").splitlines()[1:]
    assert [line[0] for line in names] == ["x", "y", "z"]


def test_what_has_no_value_comes_last(files: Path) -> None:
    given = "explain", files / "qrels.txt", files / "runs" / "C.run", "UniqueRel@2", "--to", files / "runs"
    found = run(*given, "--sort", "relevance").stdout.splitlines()[1:]
    assert [line.split("\t")[2] for line in found] == ["1", "1", "0", "nan"]


pty = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")


def on_a_terminal(files: Path, *arguments: str) -> tuple[int, str]:
    """What the command shows on a terminal, with its exit code."""
    import pty

    ours, theirs = pty.openpty()
    with subprocess.Popen([*COMMAND, *arguments], cwd=files, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 65536):
                shown += part
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    return process.returncode, shown.decode().replace("\r\n", "\n")


@pty
def test_aligned_on_a_terminal(files: Path) -> None:
    write_run(files / "runs" / "long.run", "a-long-name", RUNS["A"] | {"3": {"z": 1.0}})
    code, text = on_a_terminal(files, *GIVEN, "-p", "2")
    assert code == 0
    lines = [line for line in text.splitlines() if "|" not in line and "reading" not in line and line]
    start = next(i for i, line in enumerate(lines) if line.startswith("name "))
    assert lines[start : start + 2] == ["name         nDCG@2  NRG@2", "A              0.46   0.00"]
    code, text = on_a_terminal(files, *GIVEN, "-o", "tsv")
    assert "name\tnDCG@2\tNRG@2\n" in text
