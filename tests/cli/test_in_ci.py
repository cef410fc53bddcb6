"""In continuous integration: the page from an empty folder, the action's steps, and the fixture of pytest."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import scipy.stats  # noqa: F401  (what it loads cannot be loaded twice in a process, and pytester forgets it)

import ir_measures_relative.decisions.worth  # noqa: F401  (neither can this)
from candidates import write_candidates
from command_line import here
from ir_measures_relative.demo.__main__ import main as write_campaign

pytest_plugins = ["pytester"]
ROOT = Path(__file__).resolve().parents[2]
bash = pytest.mark.skipif(sys.platform == "win32", reason="needs bash")


@pytest.fixture
def commands(tmp_path: Path) -> dict[str, str]:
    """The environment with the command, which need not be installed, and python as this one."""
    (tmp_path / "bin").mkdir()
    script = f'#!/bin/sh\nexec {sys.executable} -m ir_measures_relative "$@"\n'
    python = f'#!/bin/sh\nexec {sys.executable} "$@"\n'
    for name, text in (("ir_measures_relative", script), ("python", python)):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    return os.environ | {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}


def run_bash(script: str, folder: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """As GitHub runs a step whose shell is bash."""
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)


@bash
@pytest.mark.slow
def test_the_page_from_an_empty_folder(
    tmp_path: Path, commands: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML reads the workflow")
    text = (ROOT / "docs" / "in-ci.md").read_text(encoding="utf-8")
    folder = tmp_path / "repository"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for kind, block in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if kind == "console":  # which test_docs.py runs
            write_campaign(["demo"])
        elif kind == "bash" and " > " in block:
            for command, file in re.findall(r"^\w+ (.*) > (.*)$", block, re.MULTILINE):
                Path(file).write_text(here(*command.split()).stdout)
        elif kind == "bash":
            script = block
            if not _is_installed():
                script = script.replace("pytest -q", "pytest -q -p ir_measures_relative_pytest")
                commands |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
            done = run_bash(script, folder, commands)
            assert done.returncode == 0, (script, done.stdout, done.stderr)
            if "echo" in script:
                assert done.stdout.startswith("Replace BM25-long with 3-grams. It gains at least ")
                assert done.stdout.endswith("exit code 0\n")
            if "pytest" in script:
                assert "1 passed" in done.stdout
        elif kind == "py":
            (folder / "test_candidate.py").write_text(block)
        elif "jobs:" in block:
            *_, last = yaml.safe_load(block)["jobs"]["worth"]["steps"]
            summary = tmp_path / "summary.md"
            done = run_bash(last["run"], folder, commands | {"GITHUB_STEP_SUMMARY": str(summary)})
            assert done.returncode == 0 and summary.read_text().startswith("### 3-grams: replace BM25-long\n")
        elif kind == "yaml":
            (step,) = yaml.safe_load(block)
            inputs = yaml.safe_load((ROOT / ".github/actions/worth/action.yml").read_text())["inputs"]
            needed = {name for name, one in inputs.items() if one.get("required")}
            assert step["uses"] == "./.github/actions/worth" and needed <= set(step["with"]) <= set(inputs)
    assert ElementTree.parse(folder / "worth.xml").getroot().get("tests") == "1"
    assert json.loads((folder / "worth.json").read_text())["candidates"][0]["verdict"] == "replace BM25-long"


def _is_installed() -> bool:
    from importlib.metadata import entry_points

    return "ir_measures_relative" in entry_points(group="pytest11").names


def act(folder: Path, env: dict[str, str], **given: str) -> tuple[int, str, str]:
    """Runs the steps of the action as GitHub does: exit code, the summary of the job, and the output."""
    yaml = pytest.importorskip("yaml", reason="PyYAML reads the action")
    action: dict[str, Any] = yaml.safe_load((ROOT / ".github/actions/worth/action.yml").read_text())
    assert action["runs"]["using"] == "composite"
    inputs = {name: one.get("default") for name, one in action["inputs"].items()} | given
    assert None not in inputs.values() and set(inputs) == set(action["inputs"])
    summary, output = folder / "summary", folder / "output"
    env = env | {"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(output)}
    code = 0
    for step in action["runs"]["steps"]:
        assert step["shell"] == "bash" and "${{" not in step["run"]
        of_step = {
            name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: inputs[found[1]], value)
            for name, value in step.get("env", {}).items()
        }
        done = run_bash(step["run"], folder, env | of_step)
        code = done.returncode
        if code:
            break
    texts = [path.read_text() if path.exists() else "" for path in (summary, output)]
    return code, texts[0], texts[1]


@bash
def test_the_action(tmp_path: Path, commands: dict[str, str]) -> None:
    write_candidates(tmp_path)
    given = {"qrels": "qrels.txt", "candidate": "new/unjudged.run", "to": "runs/BM25.run\nruns/QL.run\n"}
    code, summary, output = act(tmp_path, commands, **given, by="P@5", labels="judged")
    assert (code, output) == (1, "code=1\n")
    assert summary.startswith("### unjudged: ") and "| option | runs |" in summary


@bash
def test_the_action_that_only_reports_and_wrong_input(tmp_path: Path, commands: dict[str, str]) -> None:
    write_candidates(tmp_path)
    given = {"qrels": "qrels.txt", "to": "runs", "by": "P@5", "gate": "false"}
    code, summary, output = act(tmp_path, commands, candidate="new", **given)
    assert (code, output, summary.count("### ")) == (0, "code=1\n", 3)
    (tmp_path / "output").unlink()
    assert act(tmp_path, commands, candidate="nix; touch harmed $(touch harmed)", **given)[::2] == (
        2,
        "code=2\n",
    )
    assert not (tmp_path / "harmed").exists()


def test_the_action_names_no_host() -> None:
    text = (ROOT / ".github/actions/worth/action.yml").read_text() + (ROOT / "docs/in-ci.md").read_text()
    assert "://" not in text and "pypi" not in text.lower()


TEST = """
def test_it(relative_worth):
    assert relative_worth("new/{}.run", to="runs", qrels="qrels.txt", by="P@5").verdict != "keep"
"""


def asked(pytester: pytest.Pytester, *, alone: bool = False) -> pytest.RunResult:
    loaded = [] if _is_installed() else ["-p", "ir_measures_relative_pytest"]
    pytester.makeini("[pytest]")  # or it takes that of a project around the temporary folder
    run = pytester.runpytest_subprocess if alone else pytester.runpytest_inprocess
    return run("-q", "-p", "no:cacheprovider", *loaded)


def test_the_fixture(pytester: pytest.Pytester) -> None:
    write_candidates(pytester.path)
    pytester.makepyfile(test_strong=TEST.format("strong"), test_copy=TEST.format("copy"))
    result = asked(pytester)
    result.assert_outcomes(passed=1, failed=1)
    text = result.stdout.str()
    assert re.search(r"Captured stdout call -*\nKeep BM25 and QL\. Neither adding copy nor", text)
    assert "Add strong" not in text


def test_a_candidate_among_the_others_and_runs_as_dicts(pytester: pytest.Pytester) -> None:
    write_candidates(pytester.path)
    (pytester.path / "new" / "strong.run").rename(pytester.path / "runs" / "strong.run")
    pytester.makepyfile("""
        import pytest

        def test_files(relative_worth):
            answer = relative_worth("runs/strong.run", to="runs", qrels="qrels.txt", by="P@5")
            assert answer.verdict != "keep" and answer.settings["deployed"] == ["BM25", "QL"]

        def test_dicts(relative_worth):
            runs = {"a": {"1": {"A": 1.0}, "2": {"B": 1.0}}}
            assert relative_worth(runs["a"], to=runs, qrels={"1": {"A": 1}, "2": {"B": 1}}, by="P@1").choice == "keep"

        def test_empty(relative_worth):
            with pytest.raises(ValueError, match="to= holds a, without a ranking"):
                relative_worth({"1": {"A": 1.0}}, to={"a": {}}, qrels={"1": {"A": 1}}, by="P@1")

        def test_a_missing_topic(relative_worth):
            runs = {"a": {str(q): {"A": 1.0} for q in range(30)}}
            given = {"to": runs, "qrels": {str(q): {"A": 1} for q in range(30)}, "by": "P@1"}
            candidate = {str(q): {"A": 1.0} for q in range(29)}
            with pytest.raises(ValueError, match="no ranking for 1 of the 30 judged topics"):
                relative_worth(candidate, **given)
            assert relative_worth(candidate, **given, missing="drop").verdict == "keep"

        def test_neither_true_nor_false(relative_worth):
            with pytest.raises(TypeError, match="verdict"):
                assert relative_worth("runs/strong.run", to="runs", qrels="qrels.txt", by="P@5")
    """)
    asked(pytester).assert_outcomes(passed=5)


def test_pytest_does_not_wait_for_the_package(pytester: pytest.Pytester) -> None:
    """Nothing is imported before a test asks, and nothing is said."""
    pytester.makepyfile("""
        import sys

        def test_light():
            assert not {"ir_measures", "pandas", "ir_measures_relative"} & set(sys.modules)
    """)
    result = asked(pytester, alone=True)
    result.assert_outcomes(passed=1)
    assert "relative" not in result.stdout.str() + result.stderr.str()
