"""``compare``, and ``--ci``: the tables of compare() and of intervals."""

import io
import json
from pathlib import Path

import pandas as pd
import pytest

from command_line import QRELS, RUNS, error, output, run, write_run
from ir_measures_relative import RelativeWarning, RunContext, compare
from ir_measures_relative.decisions import mean_intervals

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
    (tmp_path / "runs").mkdir()
    for name, doc in (("good", "a"), ("bad", "b"), ("worse", "c")):
        lines = "".join(f"{q} Q0 {doc} 1 1.0 {name}\n" for q in range(40))
        (tmp_path / "runs" / f"{name}.run").write_text(lines)
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
