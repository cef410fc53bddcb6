"""ir_measures' own command, as it is once it loads the providers of other packages by their entry points."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import ir_measures
import pytest

from ir_measures_relative import RunContext
from kinds import OF_RUNS, QRELS, RUNS, trec_qrels, trec_run

ROOT = Path(__file__).resolve().parents[2]
CONTEXT = "IR_MEASURES_RELATIVE_CONTEXT"
# In short what it is to do: load the entry points of other packages, and ask their providers after its own.
LOADS_PROVIDERS = """
import importlib.metadata
for _found in importlib.metadata.entry_points(group="ir_measures.provider"):
    _other = providers.register(_found.load()())
    if _other not in DefaultPipeline.providers:
        DefaultPipeline.providers += [_other]
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the front of sys.path: ir_measures with these lines, this package's entry points; and runs."""
    place = tmp_path_factory.mktemp("host")
    shutil.copytree(Path(str(ir_measures.__file__)).parent, place / "ir_measures")
    with (place / "ir_measures" / "__init__.py").open("a", encoding="utf-8") as package:
        package.write(LOADS_PROVIDERS)
    info = place / "ir_measures_relative-99.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ir-measures-relative\nVersion: 99\n")
    (info / "entry_points.txt").write_text(
        "[ir_measures.provider]\nrelative = ir_measures_relative_plugin:provider\n"
    )
    (place / "priors").mkdir()
    (place / "priors" / "bm25-base").write_bytes(trec_run("bm25-base"))
    (place / "priors" / "dense_ü.json").write_bytes(OF_RUNS["dict"].write("dense_ü"))
    (place / "new").write_bytes(trec_run("rerank.v2"))
    (place / "qrels").write_bytes(trec_qrels())
    return place


def run(place: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(place), str(ROOT / "src")])
    return subprocess.run(
        [sys.executable, "-m", "ir_measures", *arguments],
        cwd=place,
        env={k: v for k, v in os.environ.items() if k != CONTEXT} | {"PYTHONPATH": path} | variables,
        capture_output=True,
        text=True,
    )


@pytest.mark.host_strings
def test_the_priors_are_those_of_the_environment(place: Path) -> None:
    done = run(place, "qrels", "new", "NRG@10 nDCG@10 P@5", **{CONTEXT: "priors"})
    with RunContext({name: RUNS[name] for name in ("bm25-base", "dense_ü")}):
        measures = list(map(ir_measures.parse_measure, ("NRG@10", "nDCG@10", "P@5")))
        expected = ir_measures.calc_aggregate(measures, QRELS, RUNS["rerank.v2"])
    assert done.stdout == "".join(f"{m}\t{expected[m]:.4f}\n" for m in measures), done.stderr


@pytest.mark.host_strings
def test_a_run_of_the_folder_is_not_its_own_prior(place: Path) -> None:
    done = run(place, "qrels", "priors/bm25-base", "NRG@10", **{CONTEXT: "priors"})
    context = RunContext({name: RUNS[name] for name in ("bm25-base", "dense_ü")})
    expected = context.evaluate(QRELS, ["NRG@10"]).set_index("name").loc["bm25-base", "NRG@10"]
    assert done.stdout == f"NRG@10\t{expected:.4f}\n", done.stderr
    assert "ranks exactly" not in done.stderr


@pytest.mark.host_strings
def test_without_the_variable_it_is_named(place: Path) -> None:
    done = run(place, "qrels", "new", "NRG@10")
    assert done.returncode and f"In ir_measures' own command set {CONTEXT} to a folder of runs" in done.stderr
    done = run(place, "qrels", "new", "nDCG_UE@10")  # which needs none
    assert done.returncode == 0, done.stderr
    done = run(place, "qrels", "new", "NRG@10", **{CONTEXT: "nowhere"})
    assert done.returncode and "nowhere: no such file or folder" in done.stderr


def test_a_context_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    monkeypatch.setenv(CONTEXT, str(place / "nowhere"))
    measure = ir_measures.parse_measure("NRG@10")
    with RunContext({"bm25-base": RUNS["bm25-base"]}):
        inside = measure.calc_aggregate(QRELS, RUNS["rerank.v2"])
    monkeypatch.setenv(CONTEXT, str(place / "priors" / "bm25-base"))
    assert measure.calc_aggregate(QRELS, RUNS["rerank.v2"]) == inside
