"""``compare`` and ``--ci``; ``--to``: what runs are compared with, their names and groups; and ``unjudged``."""

import argparse
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from command_line import QRELS, RUNS, error, output, process, run, write_run, write_runs
from ir_measures_relative import RelativeWarning, RunContext, bounds, compare, similarity, verdicts
from ir_measures_relative.cli.tables import print_table
from ir_measures_relative.context import collection
from ir_measures_relative.decisions import mean_intervals
from ir_measures_relative.io import qrels as io_qrels
from ir_measures_relative.io import trec_files

MEASURES = ["nDCG@2", "NRG@2"]


def table(*arguments: object) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(output(*arguments, "-o", "tsv")), sep="\t")


def warned(*arguments: object) -> pd.DataFrame:
    """The table of a command that warns."""
    return pd.read_csv(io.StringIO(run(*arguments, "-o", "tsv").stdout), sep="\t")


def test_compare(files: Path) -> None:
    pytest.importorskip("statsmodels", reason="statsmodels is not installed")
    with pytest.warns(RelativeWarning, match="differs on 2 topics alone"):
        expected = compare(RunContext(RUNS), QRELS, MEASURES)
    found = warned("compare", files / "qrels.txt", files / "runs", *MEASURES, "-p", "-1")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    with pytest.warns(RelativeWarning, match="differs on 2 topics alone"):
        expected = compare(RunContext(RUNS), QRELS, MEASURES, baseline="B")
    for baseline in ("B", files / "runs" / "B.run"):
        found = warned(
            "compare", files / "qrels.txt", files / "runs", *MEASURES, "-p", "-1", "--baseline", baseline
        )
        pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    lines = run(
        "compare", files / "qrels.txt", files / "runs", "NRG@2", "-o", "jsonl", "--baseline", "B"
    ).stdout.splitlines()
    rows = expected[expected["measure"] == "NRG@2"]
    assert [json.loads(line)["p"] for line in lines] == [None if p != p else p for p in rows["p"]]
    assert [json.loads(line)["wins"] for line in lines] == rows["wins"].tolist()


def test_no_p_is_printed_as_0(tmp_path: Path) -> None:
    qrels = "".join(f"{q} 0 a 1\n{q} 0 b {q % 2}\n" for q in range(40))
    (tmp_path / "qrels.txt").write_text(qrels)
    docs = {"good": "a", "bad": "b", "worse": "c"}
    write_runs(tmp_path / "runs", {n: {str(q): {doc: 1.0} for q in range(40)} for n, doc in docs.items()})
    given = "compare", tmp_path / "qrels.txt", tmp_path / "runs", "P@1", "--baseline=bad"
    short, shorter, full = (warned(*given, *more) for more in ((), ("-p", "2"), ("-p", "-1")))
    assert set(short["p"]) == {"<0.0001"} and set(shorter["p"]) == {"<0.01"}
    assert set(full["p"] < 1e-4) == {True} and (full["p"] > 0).all()


def test_what_is_not_valid(files: Path) -> None:
    pytest.importorskip("statsmodels", reason="statsmodels is not installed")
    done = run("compare", files / "qrels.txt", files / "runs", "NRG@2", "--priors", "earlier", "-o", "tsv")
    assert done.returncode == 0
    assert "are different quantities" in done.stderr and done.stderr.count("\n") == 1
    assert pd.read_csv(io.StringIO(done.stdout), sep="\t")["p"].isna().all()


def test_intervals(files: Path) -> None:
    found = table(files / "qrels.txt", files / "runs", *MEASURES, "-p", "-1", "--ci").set_index("name")
    for name, measure, *ends in mean_intervals(RunContext(RUNS), QRELS, MEASURES).itertuples(index=False):
        row = found.loc[name, [measure, f"{measure} ci_lower", f"{measure} ci_upper"]].tolist()
        assert row == pytest.approx(ends, nan_ok=True)
    runs = files / "runs"
    given = files / "qrels.txt", runs / "A.run", "nDCG@2", "-p", "-1", "--ci", "--prior", runs / "B.run"
    row = [*map(float, output(*given).split()[1:])]
    assert row == pytest.approx(found.loc["A"].iloc[:3].tolist())


def test_bad_arguments(files: Path) -> None:
    qrels, runs = files / "qrels.txt", files / "runs"
    assert "is one run" in error("compare", qrels, runs / "A.run", "P@2")
    assert error("compare", qrels, runs, "P@2", "--baseline", "Z") == (
        f"--baseline Z is not a run of {runs}; its runs are A, B, C"
    )
    said = run("compare", qrels, runs, "P@2", "--to", runs / "A.run").stderr
    assert "--to holds no run but A, and no run is compared with itself" in said
    assert "--ci does not go with" in error(qrels, runs, "P@2", "--ci", "-q")


def test_fixed_priors_and_a_baseline_that_is_a_file(files: Path) -> None:
    qrels, runs = files / "qrels.txt", files / "runs"
    with pytest.warns(RelativeWarning, match="differs on"):
        expected = compare(RunContext(RUNS), QRELS, MEASURES, names=["A", "B"], priors=["C"], baseline="B")
    given = "compare", qrels, runs / "A.run", *MEASURES, "-p", "-1", "--to", runs / "C.run"
    found = warned(*given, "--baseline", runs / "B.run")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    done = run(*given[:-1], runs, "--baseline", runs / "B.run", "-o", "tsv")
    assert "compare leaves A, B out of --to" in done.stderr
    assert done.stderr.count("--to") == 1, "two warnings of one thing"
    assert "--to" not in run(*given[:-1], runs, "--priors", "others").stderr
    found = pd.read_csv(io.StringIO(done.stdout), sep="\t")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)


def test_one_run_is_compared_with_each_run_of_to(files: Path) -> None:
    given = "compare", files / "qrels.txt", files / "runs" / "A.run", *MEASURES, "-p", "-1"
    with pytest.warns(RelativeWarning, match="differs on"):
        expected = compare(RunContext(RUNS), QRELS, MEASURES, names=["A", "B", "C"], baseline="A")
    RunContext({name: RUNS[name] for name in "BC"}).save_track(files / "bc.track", QRELS)
    # A run of the track with the name of the evaluated run is left out, as ``place`` does.
    RunContext({**RUNS, "A": RUNS["B"]}).save_track(files / "abc.track", QRELS)
    for to in ("--to", files / "runs"), ("--track", files / "bc.track"), ("--track", files / "abc.track"):
        pd.testing.assert_frame_equal(warned(*given, *to), expected, check_dtype=False)
    note = f"left out of --track {files / 'abc.track'}: A, as {given[2]} has a run of the same name"
    assert note in run(*given, "--track", files / "abc.track").stderr
    RunContext({"A": RUNS["B"]}).save_track(files / "a.track", QRELS)
    assert "both hold a run 'A'" in error(*given, "--track", files / "a.track")


def test_two_runs_by_name(files: Path) -> None:
    given = "compare", files / "qrels.txt", files / "runs", *MEASURES, "-p", "-1"
    with pytest.warns(RelativeWarning, match="differs on"):
        expected = compare(RunContext(RUNS), QRELS, MEASURES, names=["C", "A"])
    pd.testing.assert_frame_equal(warned(*given, "--between", "C", "A.run"), expected, check_dtype=False)
    with pytest.warns(RelativeWarning, match="differs on"):
        expected = compare(RunContext(RUNS), QRELS, MEASURES, names=["C", "A"], priors=["B"])
    found = warned(*given, "--to", files / "runs" / "B.run", "--between", "C", "A")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    assert "--between Z is not a run of" in error(*given, "--between", "A", "Z")
    assert "--between names A twice" in error(*given, "--between", "A", "A.run")
    assert "leave one out" in error(*given, "--between", "A", "B", "--baseline", "C")


def test_a_copy_of_a_run_is_no_prior_of_it(files: Path) -> None:
    """As if it had the name of the run in the folder; refused where nothing is left, and where one file is named."""
    qrels, runs = files / "qrels.txt", files / "runs"
    write_run(files / "copy.run", "copy", RUNS["B"])
    given = "compare", qrels, runs / "A.run", *MEASURES, "-p", "-1", "--to"
    with pytest.warns(RelativeWarning, match="differs on"):
        expected = compare(RunContext(RUNS), QRELS, MEASURES, names=["A", "B"], priors=["C"], baseline="B")
    done = run(*given, runs, "--baseline", files / "copy.run", "-o", "tsv")
    assert "compare leaves A, B out of --to" in done.stderr
    found = pd.read_csv(io.StringIO(done.stdout), sep="\t")
    pd.testing.assert_frame_equal(found, expected.assign(other="copy"), check_dtype=False)
    assert "no run is compared with itself" in error(*given, runs / "B.run", "--baseline", files / "copy.run")
    for command in ("score", "unjudged", "explain"):
        said = error(command, qrels, files / "copy.run", "UniqueRel(rel=1)@2", "--to", runs)
        assert "'B' ranks exactly as the evaluated run" in said, command


@pytest.fixture
def later(files: Path) -> Path:
    """A and a run like it in later/, B and C in runs/."""
    (files / "later").mkdir()
    (files / "runs" / "A.run").rename(files / "later" / "A.run")
    write_run(files / "later" / "D.run", "D", RUNS["A"] | {"3": {"z": 1.0}})
    return files


D = RUNS["A"] | {"3": {"z": 1.0}}
DEPLOYED = {name: RUNS[name] for name in "BC"}


def alone(name: str, run: object, **options: object) -> RunContext:
    return RunContext({name: run} | DEPLOYED, **options)  # type: ignore[dict-item, arg-type]


def printed(*arguments: object) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(run(*arguments, "-p", "-1", "-o", "tsv").stdout), sep="\t")


def test_each_run_of_a_folder_is_a_new_run(later: Path) -> None:
    """Though A and D show the same, neither takes anything from the other; also by what is relative to all systems."""
    measures = ["NRG@2", "UniqueRel(rel=1)@2", "P_Rareness@2", "Shapley@2", "rrLP"]
    options = "--to", later / "runs", "--reference", "B"
    found = printed(later / "qrels.txt", later / "later", *measures, *options).set_index("name")
    for name, ranking in (("A", RUNS["A"]), ("D", D)):
        context = alone(name, ranking, reference="B")
        expected = context.evaluate(QRELS, measures).set_index("name").loc[name]
        assert found.loc[name].to_dict() == pytest.approx(expected.to_dict(), abs=1e-15), name
    one = run(later / "qrels.txt", later / "later" / "D.run", *measures, *options, "-p", "-1")
    assert [float(line.split("\t")[1]) for line in one.stdout.splitlines()] == found.loc["D"].tolist()
    assert "'B' has no ranking for 1 of the 3 judged topics that other runs rank ('3'" in one.stderr


@pytest.mark.parametrize("policy", ["others", "earlier"])
def test_unless_a_policy_is_given(later: Path, policy: str) -> None:
    """By date the runs of --to are earlier."""
    given = later / "qrels.txt", later / "later", "NRG@2", "--priors", policy
    found = printed(*given, "--to", later / "runs").set_index("name")["NRG@2"]
    expected = RunContext(DEPLOYED | {"A": RUNS["A"], "D": D}, priors=policy).evaluate(QRELS, ["NRG@2"])
    assert found.to_dict() == pytest.approx(expected.set_index("name")["NRG@2"].loc[["A", "D"]].to_dict())


def test_the_other_commands_hold_each_candidate_against_them_alone(later: Path) -> None:
    given = later / "qrels.txt", later / "later", "UniqueRel(rel=1)@2", "--to", later / "runs"
    both = {"A": RUNS["A"], "D": D}
    of_bounds = [bounds(alone(n, r), QRELS, ["UniqueRel(rel=1)@2"]) for n, r in both.items()]
    expected = pd.concat([t[t["name"] == n] for n, t in zip(both, of_bounds, strict=True)], ignore_index=True)
    pd.testing.assert_frame_equal(printed("unjudged", *given, "--bounds"), expected, check_dtype=False)
    zero = {"missing": "zero"}
    pairs = [verdicts(alone(n, r), QRELS, ["UniqueRel(rel=1)@2"], **zero) for n, r in both.items()]
    expected = pd.concat([t[t["name"] == n] for n, t in zip(both, pairs, strict=True)], ignore_index=True)
    found = printed("unjudged", *given, "--missing", "zero")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    given = later / "qrels.txt", later / "later", "P@3", "--to", later / "runs"
    asked = run("unjudged", *given, "--judge", "9").stdout.splitlines()
    assert set(asked) == {"1 b", "2 e"}
    among = run("unjudged", later / "qrels.txt", later / "runs" / "B.run", *given[2:], "--judge", "9")
    assert (among.returncode, among.stderr) == (0, "")


def test_similar_with_and_without_judgments(later: Path) -> None:
    found = printed("similar", "none", later / "later", "RBO", "--to", later / "runs")
    everything = similarity(RunContext({"A": RUNS["A"], "D": D} | DEPLOYED), None, ["RBO"])
    between = everything[everything["name"].isin(["A", "D"]) & everything["other"].isin(["B", "C"])]
    pd.testing.assert_frame_equal(found, between.reset_index(drop=True), check_dtype=False)
    assert len(printed("similar", "none", later / "runs")) == 1
    (later / "none").write_text((later / "qrels.txt").read_text())
    assert run("similar", "none", "runs", cwd=later).returncode == 0  # of a file with that name


def test_a_copy_in_a_folder_is_told_of(later: Path) -> None:
    write_run(later / "later" / "E.run", "E", RUNS["B"])
    done = run(later / "qrels.txt", later / "later", "NRG@2", "--to", later / "runs")
    assert done.returncode == 0 and "'B' of --to ranks exactly as 'E'" in done.stderr


@pytest.mark.parametrize("key", ["A", "A.run", "runs/A.run"])
def test_names_by_tag_or_file(files: Path, key: str) -> None:
    (files / "names.csv").write_text(f"run,name\n{key},BM25 (tuned)\n")
    done = run("qrels.txt", "runs", "NRG(prior='BM25*')@2", "--names", "names.csv", cwd=files)
    assert done.stdout.splitlines()[1].startswith("BM25 (tuned)\t")
    reference = ["MED@2", "--names", "names.csv", "--reference"]
    for name in ("BM25 (tuned)", "runs/A.run", "A.run"):
        assert run("qrels.txt", "runs", *reference, name, cwd=files).returncode == 0


def test_groups_of_some_runs(files: Path) -> None:
    (files / "groups.csv").write_text("A,x\n")
    given = "qrels.txt", "runs", "NRG@2", "--priors", "best-of-other-groups", "--groups"
    done = run(*given, "groups.csv", cwd=files)
    warning = "--groups groups.csv has no group for B, C: in the group 'other'; add a line for each"
    assert (done.returncode, done.stderr) == (0, f"ir_measures_relative: warning: {warning}\n")
    (files / "all.csv").write_text("A,x\nB,other\nC,other\n")
    assert run(*given, "all.csv", cwd=files).stdout == done.stdout


def test_a_run_from_the_standard_input(files: Path) -> None:
    content = (files / "runs" / "A.run").read_text()
    to = "--to", "runs/B.run"
    done = process("qrels.txt", "-", "NRG@2", *to, cwd=files, input=content)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == run("qrels.txt", "runs/A.run", "NRG@2", *to, cwd=files).stdout
    other = process("qrels.txt", "runs/B.run", "NRG@2", "--to", "-", cwd=files, input=content)
    assert other.stdout == run("qrels.txt", "runs/B.run", "NRG@2", "--to", "runs/A.run", cwd=files).stdout


@pytest.fixture
def campaign(tmp_path: Path) -> list[str]:
    runs = {"a": {"q": {"A": 2.0, "B": 1.0}}, "b": {"q": {"B": 2.0, "X": 1.0}}}
    (tmp_path / "qrels.txt").write_text("q 0 A 1\n")
    return [str(tmp_path / "qrels.txt"), str(write_runs(tmp_path / "runs", runs))]


def test_bounds(campaign: list[str]) -> None:
    rows = run("unjudged", *campaign, "P@2", "--bounds", "-o", "tsv").stdout.splitlines()
    assert rows[0].split("\t") == ["name", "measure", "worst", "value", "best", "exact"]
    assert rows[1].split("\t") == ["a", "P@2", "0.5000", "0.5000", "1.0000", "True"]


def test_verdicts(campaign: list[str]) -> None:
    asked = "unjudged", *campaign, "P@2", "--probability"
    assert "at least 4 runs to learn from, and there are 2" in run(*asked).stderr
    for name in "cd":
        (Path(campaign[1]) / f"{name}.run").write_text(f"q Q0 A 0 1 {name}\nq Q0 B 1 0 {name}\n")
    row = json.loads(run(*asked, "-o", "jsonl").stdout.splitlines()[0])
    assert (row["name"], row["other"], row["settled"], row["n_deciding"]) == ("a", "b", "undecided", 1)
    assert row["worst"] == 0.0 and row["best"] == 0.5 and 0 < row["probability"] < 1
    said = run(*asked, "--llm-judgments", campaign[0]).stderr
    assert "People judged 1 of the documents that the language model" in said


def test_judge(campaign: list[str]) -> None:
    asked = *campaign, "P@2", "--judge", "5"
    assert run("unjudged", *asked).stdout == "q X\n"
    assert run("unjudged", *campaign, "AP@2", "--judge", "5").stdout == "q B\nq X\n"
    Path(campaign[0]).write_text("q 0 A 1\nq 0 B 0\nq 0 X 0\n")
    assert "no judgment can change an order by P@2" in run("unjudged", *asked).stderr


@pytest.mark.parametrize(
    "flags", [["unjudged", "--bounds"], ["unjudged"], ["unjudged", "--judge=3"], ["compare"]]
)
def test_judgments_and_runs_are_read_once(
    campaign: list[str], monkeypatch: pytest.MonkeyPatch, flags: list[str]
) -> None:
    if flags == ["compare"]:
        pytest.importorskip("statsmodels", reason="statsmodels is not installed")
    read: list[str] = []

    def counted(module: Any, name: str) -> None:
        function = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *args, **more: read.append(name) or function(*args, **more))

    counted(trec_files, "read_trec_runs")
    counted(trec_files, "read_trec_qrels")
    counted(collection, "make_judgments")
    monkeypatch.setattr(io_qrels, "QrelsConverter", None)  # which takes judgments as tuples
    assert run(*flags[:1], *campaign, "P@2", *flags[1:]).returncode == 0
    assert sorted(read) == ["make_judgments", "read_trec_qrels", *["read_trec_runs"] * 2]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--bounds", "--probability"], "not allowed with argument --bounds"),
        (["--probability", "-q"], "does not go with --probability"),
        (["--llm-judgments", "x.qrels"], "--llm-judgments goes with --probability"),
        (["--judge", "0"], "--judge=0 is not allowed"),
    ],
)
def test_what_does_not_go_together(campaign: list[str], flags: list[str], words: str) -> None:
    done = run("unjudged", *campaign, "P@2", *flags)
    assert done.returncode == 2 and words in done.stderr


def test_what_is_not_certain_is_not_printed_as_certain(capsys: pytest.CaptureFixture[str]) -> None:
    """No -0.00; and no open chance of 0 or 1, which a proof alone has."""
    args = argparse.Namespace(output_format="tsv", places=3, sort=None)
    table = pd.DataFrame(
        {"value": [-1e-9, -0.5, np.nan, 0.25], "settled": ["undecided", "undecided", "undecided", "above"]}
    )
    table["probability"] = [0.99999, 0.00001, 0.5, 1.0]
    print_table(table, args, header=False)
    assert capsys.readouterr().out.replace("\t", " ").splitlines() == [
        "0.000 undecided >0.999",
        "-0.500 undecided <0.001",
        "nan undecided 0.500",
        "0.250 above 1.000",
    ]
