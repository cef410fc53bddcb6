"""``worth``, ``drop`` and ``decide``: the gate, and the answer in every form; and half of a run file at every command."""

import json
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from candidates import write_candidates
from command_line import QRELS, RUNS, error, run, write_run
from ir_measures_relative import RunContext, worth
from ir_measures_relative.cli.output import wrap
from ir_measures_relative.decisions.answer import junit_report

TO = ("--to", "runs")
BY = ("--by", "P@5")


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    return write_candidates(tmp_path)


def gate(campaign: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The answer, which may be any of the gate's exit codes."""
    return run("worth", "qrels.txt", *arguments, *TO, *BY, cwd=campaign)


@pytest.mark.parametrize(
    ("candidate", "verdict", "code"),
    [("strong", "replace all", 0), ("copy", "keep", 1), ("unjudged", None, 3)],
)
def test_the_gate(campaign: Path, candidate: str, verdict: str | None, code: int) -> None:
    path = f"new/{candidate}.run"
    context, qrels = RunContext.from_files(campaign / "runs"), str(campaign / "qrels.txt")
    answer = worth(context, qrels, str(campaign / path), by="P@5")
    assert answer.verdict == verdict
    done = gate(campaign, path, "--gate")
    assert done.returncode == code
    assert (
        done.stderr.count("ranks no judged document") == done.stderr.count("\n") == (candidate == "unjudged")
    )
    assert " ".join(done.stdout.split()).startswith(" ".join(answer.answer.split()))
    assert " ".join(done.stdout.split()).endswith(" ".join(answer.notes[-1].split()))
    assert max(map(len, done.stdout.splitlines())) <= 130
    assert gate(campaign, path).returncode == 0


def test_the_gate_by_the_judgments_as_they_are(campaign: Path) -> None:
    assert gate(campaign, "new/unjudged.run", "--gate", "--labels", "judged").returncode == 1
    assert gate(campaign, "new/strong.run", "--gate", "--labels", "judged").returncode == 0
    found = gate(campaign, "new/unjudged.run", "-o", "junit", "--labels", "judged").stdout
    assert ElementTree.fromstring(found).get("failures") == "1"
    asked = "worth", "qrels.txt", "new/unjudged.run", *TO, *BY
    done = run(*asked, "--labels", "imputed", cwd=campaign)
    assert done.returncode == 2 and "--others RUNS" in done.stderr
    assert "A relevance model needs 1 further run of the collection" in done.stderr
    found = json.loads(run(*asked, "--others", "new", "-o", "json", cwd=campaign).stdout)["candidates"][0]
    assert found["labels"] == "imputed" and found["deployed"] == ["BM25", "QL"]


def test_the_topics_that_the_choice_wins_and_loses(campaign: Path) -> None:
    said = gate(campaign, "new/strong.run", "--by-topic").stdout
    assert said.count("Topics that replace all wins by most:") == 1 and "loses by most" not in said
    assert len(re.findall(r"^  \+0\.\d+  \d+$", said, re.MULTILINE)) == 5
    kept = gate(
        campaign, "new/strong.run", "--by-topic", "--margin", "0.7"
    ).stdout  # so the best other option's
    assert kept.startswith("Keep") and "Topics that replace BM25 wins by most:\n  +0.400  1\n" in kept


def test_the_documents_to_judge_first(campaign: Path) -> None:
    asked = gate(campaign, "new/unjudged.run", "--judge", "3", "--judge-file", "pool.txt")
    told = asked.stdout.split("\n\n")[-1].splitlines()
    assert told[0] == "Judge first (3 of the 140 unjudged documents that could change the verdict):"
    lines = (campaign / "pool.txt").read_text().splitlines()
    assert [line.split() for line in told[1:]] == [line.split() for line in lines] and len(lines) == 3
    assert "pool.txt: 3 of the 140 unjudged documents" in asked.stderr
    found = json.loads(gate(campaign, "new", "--judge", "2", "-o", "json", "--judge-file", "all.txt").stdout)
    assert {one["candidate"]: len(one["judge"]) for one in found["candidates"]}["unjudged"] == 2
    assert len(set((campaign / "all.txt").read_text().splitlines())) == 2
    assert "there is nothing to judge" in gate(campaign, "new/strong.run", "--judge", "5").stdout
    assert "--judge=0 is not allowed" in gate(campaign, "new/strong.run", "--judge", "0").stderr
    assert "such as labels" in gate(campaign, "new/strong.run", "--judge-file", "qrels.txt").stderr


def test_the_worst_of_several_counts(campaign: Path) -> None:
    whole = gate(campaign, "new", "--gate", "-o", "json")
    found = json.loads(whole.stdout)
    verdicts = {one["candidate"]: one["verdict"] for one in found["candidates"]}
    assert verdicts == {"copy": "keep", "strong": "replace all", "unjudged": None}
    assert whole.returncode == 1
    (campaign / "new" / "copy.run").unlink()
    assert gate(campaign, "new", "--gate").returncode == 3
    (campaign / "new" / "unjudged.run").unlink()
    assert gate(campaign, "new", "--gate").returncode == 0


def test_each_candidate_stands_alone(campaign: Path) -> None:
    """A copy of a candidate takes nothing from it."""
    alone = json.loads(gate(campaign, "new/strong.run", "-o", "json").stdout)["candidates"][0]
    write_run(campaign / "new" / "twin.run", "twin", {str(q): {"d2": 2.0, "d3": 1.0} for q in range(1, 31)})
    beside = json.loads(gate(campaign, "new/[st]*.run", "-o", "json").stdout)["candidates"]
    assert [one["candidate"] for one in beside] == ["strong", "twin"]
    assert next(one for one in beside if one["candidate"] == "strong") == alone


def test_a_candidate_in_the_folder_of_the_others(campaign: Path) -> None:
    (campaign / "new" / "strong.run").rename(campaign / "runs" / "strong.run")
    done = gate(campaign, "runs/strong.run", "--gate")
    assert (done.returncode, done.stderr) == (0, "")


def test_markdown_is_a_comment(campaign: Path) -> None:
    text = gate(campaign, "new", "-o", "markdown").stdout
    assert [line for line in text.splitlines() if line.startswith("### ")] == [
        "### copy: keep",
        "### strong: replace all",
        "### unjudged: no verdict (keep, if unjudged documents are not relevant)",
    ]
    assert text.count("<details>") == text.count("</details>") == 3
    assert "| replace all |" in text and "nan" not in text and "**Keep " in text


def test_junit_is_valid(campaign: Path) -> None:
    root = ElementTree.fromstring(gate(campaign, "new", "-o", "junit").stdout)
    cases = {case.get("name"): [kind.tag for kind in case] for case in root.iter("testcase")}
    assert cases == {"copy": ["failure"], "strong": ["system-out"], "unjudged": ["skipped"]}
    for counted in (root, root[0]):
        assert {key: counted.get(key) for key in ("tests", "failures", "skipped", "errors")} == {
            "tests": "3", "failures": "1", "skipped": "1", "errors": "0",
        }  # fmt: skip


HOSTILE = [
    "a|b<img src=x onerror=alert(1)>",
    "@everyone #1 [x](y)",
    "</testcase>\x0b\x1b[2J&\n### add",
    "\ud800z",
]


def test_hostile_names_are_escaped(campaign: Path) -> None:
    pairs = zip(("strong", "copy", "unjudged"), HOSTILE, strict=False)
    (campaign / "names.csv").write_text("".join(f'"{file}","{name}"\n' for file, name in pairs))
    text = gate(campaign, "new", "--names", "names.csv", "-o", "markdown").stdout
    assert "<img" not in text.replace("\\<img", "") and "\x1b" not in text and "\n### add\n" not in text
    assert "\\[x\\](y)" in text and "@everyone" not in text and "#1 " not in text
    cells = {line.count("|") - line.count("\\|") for line in text.splitlines()}
    assert cells <= {0, 3, 11}, text
    junit = gate(campaign, "new", "--names", "names.csv", "-o", "junit").stdout
    shown = {case.get("name") for case in ElementTree.fromstring(junit).iter("testcase")}
    assert shown == {*HOSTILE[:2], "</testcase>\\x0b\\x1b[2J&\\n### add"}
    assert json.loads(gate(campaign, "new/strong.run", "--names", "names.csv", "-o", "json").stdout)


def test_no_line_starts_with_a_per_cent_sign() -> None:
    text = "x" * 98 + " 1 % of its top 10"
    assert wrap(text) == "x" * 98 + "\n1 % of its top 10"


def test_names_that_no_xml_can_hold() -> None:
    runs = {name: RUNS["A"] for name in ("x", HOSTILE[3])}
    answer = worth(RunContext(runs, grades=(0, 2)), QRELS, HOSTILE[3])
    found = ElementTree.fromstring(junit_report({HOSTILE[3]: answer}))
    assert b"\\ud800z" in ElementTree.tostring(found)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["qrels.txt", "new/strong.run"], "new/strong.run has nothing to compare with: pass the deployed runs with --to"),
        (["qrels.txt", "new/strong.run", "--to", "empty"], "the folder holds no file of a run"),
        (["nothing.txt", "new/strong.run", "--to", "runs"], "the qrels hold no judgment"),
        (["qrels.txt", "new/strong.run", "--to", "runs", "--by", "UniqueRel@10"], "set an absolute measure"),
        (["qrels.txt", "new/strong.run", "--to", "runs", "--by", "P(rel=9)@5"], "no judgment has the grade 9"),
    ],
)  # fmt: skip
def test_wrong_input_is_2_with_and_without_the_gate(
    campaign: Path, arguments: list[str], message: str
) -> None:
    (campaign / "empty").mkdir()
    (campaign / "nothing.txt").write_text("")
    for more in ([], ["--gate"]):
        assert message in error("worth", *arguments, *more, cwd=campaign)


def test_the_gate_does_not_open_beside_an_empty_file(campaign: Path) -> None:
    """Anything is better than nothing: a step that went wrong must not let a candidate pass."""
    (campaign / "empty.run").write_text("")
    given = "qrels.txt", "new/strong.run", "--to", "empty.run"
    for flags in ((), ("--gate",)):
        said = error("worth", *given, *BY, *flags, cwd=campaign)
        assert said == (
            "empty.run holds no ranking; check the job that wrote it, or set allow_empty=True "
            "(on the command line: --allow-empty)"
        )
    allowed = (*BY, "--allow-empty")
    said = error("worth", *given, *allowed, "--gate", cwd=campaign)
    assert said == "--gate: empty.run holds no ranking; look how it was written"
    assert "empty.run holds no ranking" in error(
        "worth", "qrels.txt", "empty.run", *TO, *allowed, "--gate", cwd=campaign
    )
    assert "no ranking for 30 of the 30 judged topics" in error("worth", *given, *allowed, cwd=campaign)
    assert run("worth", *given, *allowed, "--missing", "zero", cwd=campaign).returncode == 0
    strange = {str(q): {f"x{i}": 9.0 - i for i in range(5)} for q in range(1, 31)}
    write_run(campaign / "strange.run", "strange", strange)
    for command, rest in (
        ("worth", ("new/strong.run", "--to", "strange.run")),
        ("drop", ("*.run", "--margin", "0.1")),
    ):
        (campaign / "empty.run").write_text("1 Q0 d1 1 1.0 empty\n")
        said = error(command, "qrels.txt", *rest, *BY, "--gate", cwd=campaign)
        assert "no document of strange.run is judged" in said


def test_a_mistake_of_the_package_is_no_answer(
    monkeypatch: pytest.MonkeyPatch, capsys, campaign: Path
) -> None:
    """Python's own exit code for one is 1, which means to keep what is deployed."""
    from ir_measures_relative.cli import main

    monkeypatch.setattr("ir_measures_relative.decisions.options.absolute_measure", lambda *_: 1 / 0)
    monkeypatch.chdir(campaign)
    assert main(["worth", "qrels.txt", "new/strong.run", "--to", "runs", "--gate"]) == 70
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_drop(campaign: Path) -> None:
    shown = run("drop", "qrels.txt", "runs", *BY, "--margin", "0.5", "--gate", cwd=campaign)
    assert shown.returncode == 0 and shown.stdout.startswith("Safe to drop, one at a time: BM25 and QL.")
    found = json.loads(run("drop", "qrels.txt", "runs", *BY, "-o", "json", cwd=campaign).stdout)
    assert found["verdict"] == "needed" and len(found["table"]) == 3 and found["margin"] == 0.02
    assert run("drop", "qrels.txt", "runs", *BY, "--gate", cwd=campaign).returncode == 1
    assert run("drop", "qrels.txt", "runs", *BY, "--margin", "0.07", "--gate", cwd=campaign).returncode == 3
    assert "drop needs two deployed runs" in error("drop", "qrels.txt", "runs/QL.run", *BY, cwd=campaign)


def test_decide(campaign: Path) -> None:
    (campaign / "new" / "strong.run").rename(campaign / "runs" / "strong.run")
    asked = "decide", "qrels.txt", "runs", *BY, "--option", "now=BM25,QL"
    done = run(*asked, "--option", "new=runs/strong.run", "--gate", cwd=campaign)
    assert done.returncode == 0 and done.stdout.startswith("Choose new. It gains at least 0.")
    lines = run(*asked, "--option", "new=strong", "-o", "csv", cwd=campaign).stdout.splitlines()
    assert lines[0].startswith("option,runs,mean") and len(lines) == 3
    case = ElementTree.fromstring(run(*asked, "--option", "old=QL", "-o", "junit", cwd=campaign).stdout)
    assert case.get("tests") == case.get("failures") == "1"
    few = (campaign / "qrels.txt").read_text().splitlines(keepends=True)[: 4 * 12]
    (campaign / "few.txt").write_text("".join(few))  # of four topics, by which all is open
    options = "--option", "now=strong", "--option", "new=BM25"
    for qrels, code in (("qrels.txt", 1), ("few.txt", 3)):
        assert run("decide", qrels, "runs", *BY, *options, "--gate", cwd=campaign).returncode == code


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give at least two options, each of one run or more"),
        (["--option", "new"], "write NAME=RUN,RUN"),
        (["--option", "now=QL"], "two options are called 'now'"),
        (["--option", "new=nothing"], "--option nothing is not a run of runs"),
    ],
)
def test_options_that_are_none(campaign: Path, options: list[str], message: str) -> None:
    said = error("decide", "qrels.txt", "runs", "--option", "now=BM25", *options, cwd=campaign)
    assert message in said


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
def half_a_file(tmp_path: Path) -> Path:
    """30 topics; all of them for new/strong.run, half for BM25, and 29 for QL."""
    write_candidates(tmp_path)
    for name, topics in (("BM25", 15), ("QL", 29)):
        path = tmp_path / "runs" / f"{name}.run"
        rows = path.read_text().splitlines(keepends=True)
        path.write_text("".join(row for row in rows if int(row.split()[0]) <= topics))
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_verbs_refuse_and_take_the_remedy(half_a_file: Path, command: str) -> None:
    missing = 15 if command == "worth" else 14  # a topic counts where another run of the call has it
    given = command, "qrels.txt", *COMMANDS[command]
    said = error(*given, cwd=half_a_file)
    counts = f"{missing} of the {15 + missing} judged topics that other runs rank"
    assert f"run 'BM25' has no ranking for {counts}" in said and "the file ends with topic '15'" in said
    assert said.endswith("(on the command line: --missing zero|drop)")
    for how, words, more in (
        ("zero", "A missing topic counts as an empty ranking.", ()),
        ("drop", "are left out for all runs.", ("-o", "csv")),
    ):
        done = run(*given, "--missing", how, *more, cwd=half_a_file)
        in_the_answer = command in ("worth", "drop", "decide") and not more
        text = " ".join((done.stdout if in_the_answer else done.stderr).split())
        assert done.returncode == 0 and words in text, done.stderr
        assert f"no ranking for {missing} of the" in text


def test_gates_refuse_a_single_topic(half_a_file: Path) -> None:
    given = "worth", "qrels.txt", "new/strong.run", "--to", "runs/QL.run", "--by", "P@5"
    first = run(*given, cwd=half_a_file).stdout.split("\n\n")[0]
    assert "Run 'QL' has no ranking for 1 of the 30 judged topics" in " ".join(first.split())
    for gate in ("--gate", "--output_format=junit"):
        assert "'QL' has no ranking for 1 of the 30 judged topics" in error(*given, gate, cwd=half_a_file)
    assert run(*given, "--gate", "--missing", "drop", cwd=half_a_file).returncode in (0, 1, 3)
    assert "--missing is about verdicts" in error(
        "unjudged", "qrels.txt", "runs", "P@5", "--bounds", "--missing", "zero", cwd=half_a_file
    )


def test_scores_and_reports_warn_once(half_a_file: Path) -> None:
    for given in (
        ("score", "qrels.txt", "new/strong.run", "P@5", "NRG@5", "--to", "runs"),
        ("report", "qrels.txt", "runs/*.run", "P@5", "--output", "report.html"),
    ):
        if given[0] == "report":
            pytest.importorskip("vl_convert", reason="the report needs the extra [report]")
        done = run(*given, cwd=half_a_file)
        assert done.returncode == 0 and done.stderr.count("has no ranking for") == 2 - (given[0] == "report")
        assert done.stderr.count("warning") == 1 and "run 'BM25' has no ranking for 1" in done.stderr
    page = (half_a_file / "report.html").read_text(encoding="utf-8")
    assert "No verdict, test or choice in this report is about BM25." in page
    assert page.count(": too many topics are missing from BM25.") == 3
    assert '"decisions":null' in page and '"intervals":[[null],' in page and '"incomplete":[0]' in page
