"""``--to``: what runs are compared with; names, groups, a run from the standard input; and the flags that are gone."""

import io
from pathlib import Path

import pandas as pd
import pytest

from command_line import QRELS, RUNS, process, run, write_run
from ir_measures_relative import RunContext, bounds, similarity, verdicts


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


def table(*arguments: object) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(run(*arguments, "-p", "-1", "-o", "tsv").stdout), sep="\t")


def test_each_run_of_a_folder_is_a_new_run(later: Path) -> None:
    """Though A and D show the same, neither takes anything from the other; also by what is relative to all systems."""
    measures = ["NRG@2", "UniqueRel(rel=1)@2", "P_Rareness@2", "Shapley@2", "rrLP"]
    options = "--to", later / "runs", "--reference", "B"
    found = table(later / "qrels.txt", later / "later", *measures, *options).set_index("name")
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
    found = table(*given, "--to", later / "runs").set_index("name")["NRG@2"]
    expected = RunContext(DEPLOYED | {"A": RUNS["A"], "D": D}, priors=policy).evaluate(QRELS, ["NRG@2"])
    assert found.to_dict() == pytest.approx(expected.set_index("name")["NRG@2"].loc[["A", "D"]].to_dict())


def test_the_other_commands_hold_each_candidate_against_them_alone(later: Path) -> None:
    given = later / "qrels.txt", later / "later", "UniqueRel(rel=1)@2", "--to", later / "runs"
    both = {"A": RUNS["A"], "D": D}
    of_bounds = [bounds(alone(n, r), QRELS, ["UniqueRel(rel=1)@2"]) for n, r in both.items()]
    expected = pd.concat([t[t["name"] == n] for n, t in zip(both, of_bounds, strict=True)], ignore_index=True)
    pd.testing.assert_frame_equal(table("unjudged", *given, "--bounds"), expected, check_dtype=False)
    zero = {"missing": "zero"}
    pairs = [verdicts(alone(n, r), QRELS, ["UniqueRel(rel=1)@2"], **zero) for n, r in both.items()]
    expected = pd.concat([t[t["name"] == n] for n, t in zip(both, pairs, strict=True)], ignore_index=True)
    found = table("unjudged", *given, "--missing", "zero")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    given = later / "qrels.txt", later / "later", "P@3", "--to", later / "runs"
    asked = run("unjudged", *given, "--judge", "9").stdout.splitlines()
    assert set(asked) == {"1 b", "2 e"}
    among = run("unjudged", later / "qrels.txt", later / "runs" / "B.run", *given[2:], "--judge", "9")
    assert (among.returncode, among.stderr) == (0, "")


def test_similar_with_and_without_judgments(later: Path) -> None:
    found = table("similar", "none", later / "later", "RBO", "--to", later / "runs")
    everything = similarity(RunContext({"A": RUNS["A"], "D": D} | DEPLOYED), None, ["RBO"])
    between = everything[everything["name"].isin(["A", "D"]) & everything["other"].isin(["B", "C"])]
    pd.testing.assert_frame_equal(found, between.reset_index(drop=True), check_dtype=False)
    assert len(table("similar", "none", later / "runs")) == 1
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
