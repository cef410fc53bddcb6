"""Half of a run file at every command: refused, told of, counted or left out."""

from pathlib import Path

import pytest

from candidates import write_candidates
from command_line import error, run

COMMANDS = {
    "worth": ("new/strong.run", "--to", "runs", "--by", "P@5"),
    "drop": ("runs", "--margin", "0.1"),
    "decide": ("runs", "--option", "now=BM25", "--option", "new=QL"),
    "compare": ("runs", "P@5"),
    "fuse": ("runs", "P@5"),
    "select": ("runs", "--number", "2"),
    "unjudged": ("runs", "P@5"),
}


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """30 topics; all of them for new/strong.run, half for BM25, and 29 for QL."""
    write_candidates(tmp_path)
    for name, topics in (("BM25", 15), ("QL", 29)):
        path = tmp_path / "runs" / f"{name}.run"
        rows = path.read_text().splitlines(keepends=True)
        path.write_text("".join(row for row in rows if int(row.split()[0]) <= topics))
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_verbs_refuse_and_take_the_remedy(campaign: Path, command: str) -> None:
    missing = 15 if command == "worth" else 14  # a topic counts where another run of the call has it
    given = command, "qrels.txt", *COMMANDS[command]
    said = error(*given, cwd=campaign)
    counts = f"{missing} of the {15 + missing} judged topics that other runs rank"
    assert f"run 'BM25' has no ranking for {counts}" in said and "the file ends with topic '15'" in said
    assert said.endswith("(on the command line: --missing zero|drop)")
    for how, words, more in (
        ("zero", "A missing topic counts as an empty ranking.", ()),
        ("drop", "are left out for all runs.", ("-o", "csv")),
    ):
        done = run(*given, "--missing", how, *more, cwd=campaign)
        in_the_answer = command in ("worth", "drop", "decide") and not more
        text = " ".join((done.stdout if in_the_answer else done.stderr).split())
        assert done.returncode == 0 and words in text, done.stderr
        assert f"no ranking for {missing} of the" in text


def test_gates_refuse_a_single_topic(campaign: Path) -> None:
    given = "worth", "qrels.txt", "new/strong.run", "--to", "runs/QL.run", "--by", "P@5"
    first = run(*given, cwd=campaign).stdout.split("\n\n")[0]
    assert "Run 'QL' has no ranking for 1 of the 30 judged topics" in " ".join(first.split())
    for gate in ("--gate", "--output_format=junit"):
        assert "'QL' has no ranking for 1 of the 30 judged topics" in error(*given, gate, cwd=campaign)
    assert run(*given, "--gate", "--missing", "drop", cwd=campaign).returncode in (0, 1, 3)
    assert "--missing is about verdicts" in error(
        "unjudged", "qrels.txt", "runs", "P@5", "--bounds", "--missing", "zero", cwd=campaign
    )


def test_scores_and_reports_warn_once(campaign: Path) -> None:
    for given in (
        ("score", "qrels.txt", "new/strong.run", "P@5", "NRG@5", "--to", "runs"),
        ("report", "qrels.txt", "runs/*.run", "P@5", "--output", "report.html"),
    ):
        if given[0] == "report":
            pytest.importorskip("vl_convert", reason="the report needs the extra [report]")
        done = run(*given, cwd=campaign)
        assert done.returncode == 0 and done.stderr.count("has no ranking for") == 2 - (given[0] == "report")
        assert done.stderr.count("warning") == 1 and "run 'BM25' has no ranking for 1" in done.stderr
    page = (campaign / "report.html").read_text(encoding="utf-8")
    assert "No verdict, test or choice in this report is about BM25." in page
    assert page.count(": too many topics are missing from BM25.") == 3
    assert '"decisions":null' in page and '"intervals":[[null],' in page and '"incomplete":[0]' in page
