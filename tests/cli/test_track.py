"""``track``, ``place`` and ``cite``: a track made, shown and checked, the place of a run in it, and BibTeX."""

import io
import re
from pathlib import Path

import pandas as pd
import pytest

from command_line import RUNS, error, output, run, write_run
from ir_measures_relative import RelativeWarning, RunContext, place
from ir_measures_relative.cli.cite import entries
from ir_measures_relative.context.measure_strings import registered
from ir_measures_relative.measures.measure import citations


@pytest.fixture
def track(files: Path) -> Path:
    (files / "groups.csv").write_text("run,group\nA,first\nB,first\n")
    path = files / "abc.track"
    given = "make", files / "qrels.txt", files / "runs", "-o", path, "--depth", "10", "--name", "abc"
    done = run("track", *given, "--groups", files / "groups.csv", "--citation", "Somebody (2026)")
    assert done.returncode == 0 and done.stdout == output("track", "show", path)
    return path


def test_what_was_made_is_shown_and_matches_its_files(files: Path, track: Path) -> None:
    read = RunContext.from_track(track)
    facts = dict(line.split(": ", 1) for line in output("track", "show", track).splitlines())
    assert facts["sha256"] == read.track.sha256 and facts["track"] == str(read.track)
    assert facts["runs"] == "A, B, C" and facts["topics"] == "3" and facts["judged"] == "5 documents"
    assert facts["depth"].startswith("10 of ") and facts["citation"] == "Somebody (2026)"
    assert read.groups == {"A": "first", "B": "first", "C": "other"} and facts["groups"] == "2"
    assert "is the track of these files" in output(
        "track", "check", track, files / "qrels.txt", files / "runs"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: write_run(f / "runs" / "A.run", "A", {**RUNS["A"], "2": {"d": 1.0}}), "A differs"),
        (lambda f: (f / "runs" / "C.run").unlink(), "only one of both has C"),
        (lambda f: (f / "qrels.txt").write_text("1 0 a 1\n2 0 c 1\n3 0 z 1\n"), "differ"),
        (lambda f: (f / "groups.csv").write_text("run,group\nA,first\nC,first\n"), "--groups differs"),
    ],
    ids=["run", "runs", "judgments", "groups"],
)
def test_other_files_are_named(files: Path, track: Path, change, message: str) -> None:
    change(files)
    given = "check", track, files / "qrels.txt", files / "runs", "--groups", files / "groups.csv"
    assert re.search(rf"abc\.track is not the track of these files: .*{message}", error("track", *given))


def test_unusable_commands(files: Path, track: Path) -> None:
    qrels, runs = files / "qrels.txt", files / "runs"
    assert "track make QRELS RUNS… -o FILE" in error("track", "make", qrels, "-o", files / "x.track")
    assert "track show TRACK" in error("track", "show", track, track)
    assert "track check TRACK QRELS RUNS…" in error("track", "check", track, qrels)
    assert "name the file to write, such as -o dl19.track" in error("track", "make", qrels, runs)
    before = qrels.read_bytes()
    assert "qrels.txt" in error("track", "make", qrels, runs, "-o", qrels) and qrels.read_bytes() == before


def test_a_run_has_its_place_as_in_python(files: Path, track: Path) -> None:
    pytest.importorskip("matplotlib")
    write_run(files / "mine.run", "mine", {"1": {"d": 2.0, "a": 1.0}, "2": {"c": 1.0}, "3": {"z": 1.0}})
    with pytest.warns(RelativeWarning, match="only 4 documents are judged relevant"):
        expected = place(RunContext.from_track(track), None, files / "mine.run")
    done = run("place", files / "mine.run", "--track", track, "--output", files / "mine.svg")
    assert " ".join(done.stdout.split()) == " ".join(str(expected).split())
    assert "mine" in (files / "mine.svg").read_text()
    tsv = run(
        "place", files / "mine.run", "--track", track, "--qrels", files / "qrels.txt", "-o", "tsv", "-p", "-1"
    )
    table = pd.read_csv(io.StringIO(tsv.stdout), sep="\t")
    pd.testing.assert_frame_equal(table, expected.table, check_dtype=False)


@pytest.mark.parametrize("name", sorted(registered()))
def test_a_measure_by_name_or_with_parameters(name: str) -> None:
    expected = citations([registered()[name]])
    assert entries([name]) == entries([f"{name}(base='x'"]) == expected != []
    assert set(entries([f"{name}@10"])) <= set(expected)


def test_the_paper_of_a_base_with_that_base() -> None:
    plain, cascade, every = (
        len(entries([text])) for text in ("NRG(norm='ideal')@10", "NRG(base='ERR')@10", "NRG")
    )
    assert (plain, cascade) == (1, 2) and every >= 2


def test_several_and_all() -> None:
    assert entries(["all"]) == citations(registered().values())
    both = entries(["UniqueRel", "TaSC", "NRG"])
    assert len(both) == len(set(both)) and set(both) == set(entries(["NRG"])) | set(entries(["TaSC"]))


def test_as_a_command() -> None:
    assert output("cite", "all") == "\n\n".join(entries(["all"])) + "\n"
    text = output("cite", "TaSC(base='nDCG(rel=1)@10') NRG", "rrLP")
    assert text == "\n\n".join(entries(["TaSC", "NRG", "rrLP"])) + "\n"
    beside = output("cite", "NRG@10", "--track", "demo")
    assert beside.startswith("NRG@10 beside demo v1 (7 runs, sha256 ") and beside.endswith(
        output("cite", "NRG@10")
    )
    done = run("cite", "nDCG@10", "NRG", "AP")
    assert done.stdout == output("cite", "NRG") and "the papers of nDCG@10, AP" in done.stderr
    keys = re.findall(r"^@\w+\{(\w+),$", text, re.MULTILINE)
    assert keys[0] == "nrg2024" and len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["NGR"], "cite: no measure is called 'NGR'; the nearest is 'NRG'"),
        (["foo"], "cite: no measure is called 'foo'; there are alpha_NRG, AP_Rareness, AP_UE, MED, "),
        (
            ["nDCG@10", "AP"],
            "cite: see the documentation of ir_measures for the papers of nDCG@10, AP; here give one of",
        ),
        ([" "], "cite: no measure is named; give one such as NRG, or all"),
        ([], "the following arguments are required: MEASURE; see ir_measures_relative cite --help"),
    ],
)
def test_wrong(arguments: list[str], message: str) -> None:
    assert message in error("cite", *arguments)
