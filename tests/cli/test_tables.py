"""``-o``, ``--sort``, and columns that are aligned on a terminal."""

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

from command_line import COMMAND, QRELS, RUNS, error, output, run, write_run
from ir_measures_relative import RunContext

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
    """fuse names several runs in one: text in a table, a list in JSON; a short list for people."""
    for i in range(4):
        (files / "runs" / f"more{i}.run").write_text((files / "runs" / "A.run").read_text())
    given = "fuse", files / "qrels.txt", files / "runs", "P@2", "--strategies", "single,all"
    row = output(*given, "-o", "tsv").splitlines()[2].split("\t")
    plain = json.loads(output(*given, "-o", "jsonl").splitlines()[1])
    assert row[2] == ", ".join(plain["names"]) and len(plain["names"]) == 7 and "more3 1.0" in row[-1]
    assert output(*given, "--columns", "names,chosen").count(" and 4 more") == 3  # one in the answer


ANSWERS = {
    "compare": ("runs", "P@2", "--test", "sign"),
    "unjudged": ("runs", "P@2"),
    "similar": ("runs", "RBO"),
    "fuse": ("runs", "P@2", "--strategies", "single,all"),
    "select": ("runs", "--number", "2"),
    "explain": ("runs/C.run", "UniqueRel(rel=1)@2", "--to", "runs"),
}


@pytest.mark.parametrize("verb", ANSWERS)
def test_an_answer_and_a_few_columns(files: Path, verb: str) -> None:
    """The sentence of the whole table, at most eight columns in 100 characters, and the names of the others."""
    given = verb, "qrels.txt", *ANSWERS[verb]
    whole = run(*given, "-o", "csv", cwd=files)
    columns = whole.stdout.splitlines()[0].split(",")
    said, table, *hidden = run(*given, cwd=files).stdout.split("\n\n")
    header, *rows = table.rstrip().splitlines()
    assert said.endswith(".") and len(rows) == len(whole.stdout.splitlines()) - 1
    assert max(map(len, [*said.splitlines(), header, *rows])) <= 100
    shown = re.split(r"  +", header)
    left_out = [name for name in columns if name not in shown]
    assert shown == [name for name in columns if name in shown] and len(shown) <= 8
    assert bool(left_out) == bool(hidden) and all(name in hidden[0] for name in left_out)
    chosen = run(*given, "--columns", f"{columns[-1]},{columns[0]}", "-o", "csv", cwd=files).stdout
    assert chosen.splitlines()[0].split(",") == [columns[-1], columns[0]]
    assert "--columns x: the columns are" in error(*given, "--columns", "x", cwd=files)


def test_names_too_long_for_a_line(files: Path) -> None:
    (files / "names.csv").write_text(f"A,{'a' * 70}\nB,{'b' * 20}\nC,{'c' * 60}\n")
    shown = run("similar", "none", "runs", "--names", "names.csv", cwd=files).stdout.split("\n\n")[1]
    assert re.split(r"  +", shown.splitlines()[0]) == ["name"]


def test_a_matrix(files: Path) -> None:
    """A row a run, a column a measure, and a letter for each run that it is significantly above."""
    qrels = "".join(f"{q} 0 a 1\n{q} 0 b {q % 2}\n" for q in range(40))
    (files / "many.txt").write_text(qrels)
    (files / "many").mkdir()
    for name, doc in (("bad", "b"), ("worse", "c"), ("good", "a"), ("copy", "a")):
        rankings = {str(q): {"a": 1.0, doc: 2.0} for q in range(40)}
        write_run(files / "many" / f"{name}.run", name, rankings)
    given = "compare", files / "many.txt", files / "many", "P@1", "nDCG@1", "--matrix", "--test", "sign"
    said, table, letters = output(*given, "--sort", "P@1").split("\n\n")
    assert said.split(".")[0] == "copy and good have the highest P@1 (1"
    assert [line.split() for line in table.splitlines()] == [
        ["name", "P@1", "nDCG@1"],
        ["a", "copy", "1.0000ᶜᵈ", "1.0000ᶜᵈ"],
        ["b", "good", "1.0000ᶜᵈ", "1.0000ᶜᵈ"],
        ["c", "bad", "0.5000ᵈ", "0.5000ᵈ"],
        ["d", "worse", "0.0000", "0.0000"],
    ]
    assert letters == "Letters: the runs that a run is significantly above (corrected p < 0.05).\n"
    comment, *lines = output(*given, "-o", "latex").splitlines()
    assert comment == f"% {letters.rstrip()}"
    assert lines[4].split() == ["a", "&", "bad", "&", "0.5000$^{d}$", "&", "0.5000$^{d}$", r"\\"]
    assert "one for each pair" in error(*given[:3], "rrLP", *given[5:])


def test_sort(files: Path, expected: pd.DataFrame) -> None:
    by_number = [line.split("\t")[0] for line in written(files, "--sort", "NRG@2").splitlines()[1:]]
    assert by_number == expected.sort_values("NRG@2", ascending=False)["name"].tolist()
    (files / "names.csv").write_text("A,z\nB,y\nC,x\n")
    names = written(files, "--names", files / "names.csv", "--sort", "name").splitlines()[1:]
    assert [line[0] for line in names] == ["x", "y", "z"]


def test_what_has_no_value_comes_last(files: Path) -> None:
    given = "explain", files / "qrels.txt", files / "runs" / "C.run", "UniqueRel@2", "--to", files / "runs"
    found = run(*given, "--sort", "relevance", "-o", "tsv").stdout.splitlines()[1:]
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
