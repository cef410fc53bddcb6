"""The examples: what they print. As their readers start them, as a process, start the quickstart and Vaswani."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest

from example_scripts import EXAMPLES, run_example

for needed in ("pyterrier", "bm25s", "sklearn"):
    pytest.importorskip(needed, reason=f"the examples need {needed}, of the extra [examples]")

SCRIPTS = sorted(p.name for p in EXAMPLES.glob("[a-z]*.py"))


def output(script: str, *arguments: str) -> str:
    done = run_example(script, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def tables(text: str) -> list[pd.DataFrame]:
    """The tables that an example prints: blocks that start with a line of column names."""
    blocks = [b for b in text.split("\n\n") if re.match(r" *(name|by) ", b.lstrip("\n"))]
    return [
        pd.read_csv(io.StringIO(re.sub(r"tuned by ", "tuned-by-", b)), sep=r"\s+").set_index(b.split()[0])
        for b in blocks
    ]


def test_help() -> None:
    scripts = [s for s in SCRIPTS if s not in ("vaswani.py", "trec_dl.py") or _has_pisa()]
    assert {"campaign.py", "complement_production.py", "tune_to_complement.py"} <= set(scripts)
    for script in scripts:
        done = run_example(script, "--help")
        assert (done.returncode, done.stderr) == (0, ""), script
        assert f"usage: {script}" in done.stdout and done.stdout.count("show this help message") == 1


def _has_pisa() -> bool:
    return importlib.util.find_spec("pyterrier_pisa") is not None


def test_campaign(tmp_path) -> None:
    pytest.importorskip("matplotlib", reason="the picture needs the extra [plot]")
    text = output("campaign.py", "--plot", str(tmp_path / "picture.png"))
    runs, chosen = tables(text)
    assert len(runs) == 6
    assert runs["nDCG@10"].is_monotonic_decreasing
    most = runs["NRG(norm='ideal')@10"].idxmax()
    assert f"The one that adds most to all others is {most}, " in text
    assert chosen["cumulative"].tolist() == pytest.approx(chosen["marginal"].cumsum().tolist(), abs=0.02)
    assert f"take {', '.join(chosen.index)} rather than {', '.join(runs.index[:3])}" in text
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_campaign_of_a_folder(tmp_path) -> None:
    (tmp_path / "runs").mkdir()
    for name, docs in (("one", "AB"), ("two", "AC"), ("three", "XY")):
        lines = [f"q Q0 {d} {i} {-i} {name}\n" for i, d in enumerate(docs)]
        (tmp_path / "runs" / name).write_text("".join(lines), encoding="utf-8")
    (tmp_path / "qrels").write_text("q 0 A 1\nq 0 B 1\nq 0 C 0\n", encoding="utf-8")
    text = output("campaign.py", str(tmp_path / "runs"), "--qrels", str(tmp_path / "qrels"), "--select", "9")
    runs, chosen = tables(text)
    assert runs.loc["one", "UniqueRel@10"] == 1
    assert len(chosen) == 3
    (tmp_path / "runs" / "four").write_text("not a run\n", encoding="utf-8")
    for arguments, message in (
        (
            (str(tmp_path / "runs"), "--qrels", str(tmp_path / "qrels")),
            "four, line 1: 3 columns where a TREC run has six",
        ),
        ((str(tmp_path / "runs"),), "needs --qrels"),
        ((str(tmp_path / "none"), "--qrels", "x"), "no such file or folder"),
    ):
        wrong = run_example("campaign.py", *arguments)
        assert wrong.returncode == 2
        assert message in wrong.stderr


def test_complement_production() -> None:
    text = output("complement_production.py")
    blind, judged = tables(text)
    assert list(blind.index) == ["BM25+", "n-grams", "LSI"]
    assert list(judged.index) == ["production", *blind.index]
    med, rbo = blind["MED(base='RBP',p=0.9,judged=False)@100"], blind["RBO"]
    assert (
        med >= judged.loc[blind.index, "MED(base='RBP',p=0.9)@100"] - 1e-4
    ).all()  # judgments only narrow it
    assert med.rank().tolist() == rbo.rank(ascending=False).tolist()
    assert f"1. {med.idxmin()} is nearest to production" in text
    nrg = judged["NRG@10"].drop("production")
    assert f"2. {nrg.idxmax()} adds most to production" in text
    assert f"{nrg.idxmin()} adds least" in text


def test_tune_to_complement() -> None:
    text = output("tune_to_complement.py")
    best, tuned = tables(text)
    settings = ["k1", "b", "weight"]
    assert best.loc["NRG@10", settings].tolist() != best.loc["nDCG@10", settings].tolist()
    assert best.loc["NRG@10", "NRG@10"] > best.loc["nDCG@10", "NRG@10"]
    assert best.loc["NRG@10", "nDCG@10"] < best.loc["nDCG@10", "nDCG@10"]
    assert text.count("Best setting is") == 4
    assert list(tuned.index) == ["deployed", "tuned-by-nDCG@10", "tuned-by-NRG@10"]
    assert "1. nDCG@10 prefers" in text


def test_unknown_dataset() -> None:
    wrong = run_example("tune_to_complement.py", "--dataset", "vaswanni")
    assert wrong.returncode == 2
    assert "knows no dataset 'vaswanni'; did you mean 'vaswani'" in wrong.stderr
    assert "Traceback" not in wrong.stderr


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home of ir_datasets that holds Vaswani; skips where the collection is not on this machine."""
    pytest.importorskip("pyterrier_pisa", reason="the example needs pyterrier-pisa")
    named = os.environ.get("VASWANI")
    folder = Path(named) if named else EXAMPLES.parents[1] / "shared" / "ir_datasets" / "vaswani"
    if not (folder / "docs.txt").exists():
        pytest.skip("the Vaswani collection is not here: set VASWANI to its folder in a home of ir_datasets")
    shutil.copytree(folder, tmp_path / "vaswani")
    return tmp_path


def test_vaswani(home: Path) -> None:
    done = subprocess.run(  # ir_datasets asks once in a process where its files are
        [sys.executable, str(EXAMPLES / "vaswani.py"), "--dimensions", "30"],
        capture_output=True,
        text=True,
        env={**os.environ, "IR_DATASETS_HOME": str(home)},
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    text = done.stdout
    assert "vaswani: 11429 documents, 93 queries, 2083 judgments" in text
    two, four = tables(text)
    assert list(two.index) == ["BM25", "LSI"]
    assert two.loc["BM25", "nDCG@10"] > 0.4
    assert two.loc["BM25", "rrLP"] == -two.loc["LSI", "rrLP"] > 0
    assert (two["NRG@10"] < two["nDCG@10"]).all()
    assert (
        f"BM25 finds more of what LSI misses than the other way round: NRG@10 {two.loc['BM25', 'NRG@10']:.4f}"
        in text
    )
    lines = re.search(r"on (\d+) of 93 queries.*wins (\d+) queries and BM25 (\d+)", text, re.S)
    assert lines is not None
    assert int(lines[2]) + int(lines[3]) <= 93
    assert list(four.index) == ["BM25", "DPH", "QLD", "LSI"]
    assert (four.loc[["BM25", "LSI"], "UniqueRel@10"] <= two["UniqueRel@10"]).all()


# Runs of the example in one process, whose imports take longer than they do; ir_datasets asks once where its files are.
IN_TURN = """
import contextlib, json, os, runpy, sys
script, home, found = sys.argv[1], os.getcwd(), []
sys.path.insert(0, os.path.dirname(script))
for folder, arguments, program in json.loads(sys.argv[2]):
    os.makedirs(os.path.join(home, folder), exist_ok=True)
    os.chdir(os.path.join(home, folder))
    exec(program, {})
    sys.argv, code = [script, *arguments], 0
    with open("out", "w+") as out, open("err", "w+") as err:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                runpy.run_path(script, run_name="__main__")
            except SystemExit as leave:
                code = leave.code
        out.seek(0), err.seek(0)
        found.append((code, out.read(), err.read()))
print(json.dumps(found))
"""
NGRAMS = ["--reranker", "ngrams"]


class Ran(NamedTuple):
    """One run of the example."""

    returncode: int
    stdout: str
    stderr: str


def trec_dl(home: Path, *cases: tuple[str, list[str], str]) -> list[Ran]:
    """The example in a home of ir_datasets: for each case a folder in it, arguments, and a program to run before."""
    pytest.importorskip("pyterrier_pisa", reason="the example needs pyterrier-pisa")
    done = subprocess.run(
        [sys.executable, "-c", IN_TURN, str(EXAMPLES / "trec_dl.py"), json.dumps(cases)],
        capture_output=True,
        text=True,
        cwd=home,
        env={**os.environ, "IR_DATASETS_HOME": str(home)},
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    return [Ran(*one) for one in json.loads(done.stdout.splitlines()[-1])]


def test_trec_dl_on_vaswani(home: Path) -> None:
    """Twice: the second time from the index that is there."""
    first, again = trec_dl(home, *[("vaswani-index", ["--dataset", "vaswani", *NGRAMS], "")] * 2)
    assert first.returncode == 0, first.stderr
    assert "indexing into vaswani.pisa" in first.stderr
    table, answer = first.stdout.split("\n\n", 1)
    rows = [re.split(r"\s{2,}| (?=0)", line.strip()) for line in table.splitlines()]
    assert [row[0] for row in rows] == ["name", "BM25", "BM25 >> re-ranker"]
    ndcg, unique = (float(rows[i][rows[0].index(m)]) for i, m in ((1, "nDCG@10"), (2, "UniqueRel@10")))
    assert 0.4 < ndcg < 0.6
    assert "BM25 >> re-ranker" in answer.splitlines()[0] and f"{unique:.2f}" in answer
    assert "the index in vaswani.pisa is there already" in again.stdout
    assert again.stdout.split("already")[1].split() == first.stdout.split()


# The scoreddocs of the generated collection as MS MARCO has them: without scores.
WITHOUT_SCORES = """
import ir_datasets
from ir_measures_relative import demo
class WithoutScores(demo._ScoredDocs):
    def scoreddocs_iter(self):
        return (row._replace(score=0.0) for row in super().scoreddocs_iter())
parts = demo._Docs(), demo._Queries(), demo._Qrels(), WithoutScores()
ir_datasets.registry.register("unscored", ir_datasets.Dataset(*parts))
"""
# A collection whose documents have no field "text".
WITHOUT_TEXT = """
import collections, ir_datasets
from ir_measures_relative import demo
class WithoutText(demo._Docs):
    def docs_cls(self):
        return collections.namedtuple("Document", ["doc_id", "body"])
ir_datasets.registry.register("textless", ir_datasets.Dataset(WithoutText(), demo._Queries(), demo._Qrels()))
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Ran]]:
    """The home, and the runs that need no collection, by their folders."""
    home = tmp_path_factory.mktemp("home")
    cases = [
        ("relative-demo", ["--dataset", "relative-demo", "--index", "demo.pisa", *NGRAMS], ""),
        ("unscored", ["--dataset", "unscored", "--index", "demo.pisa", *NGRAMS], WITHOUT_SCORES),
        ("not asked", NGRAMS, ""),
        ("vaswanni", ["--dataset", "vaswanni", *NGRAMS], ""),
        ("textless", ["--dataset", "textless", *NGRAMS], WITHOUT_TEXT),
    ]
    if importlib.util.find_spec("fastembed") is None:
        cases.append(("no extra", ["--dataset", "relative-demo"], ""))
    return home, dict(zip((folder for folder, *_ in cases), trec_dl(home, *cases), strict=True))


def test_trec_dl_with_a_first_stage(small: tuple[Path, dict[str, Ran]]) -> None:
    values = {}
    for dataset in ("relative-demo", "unscored"):
        done = small[1][dataset]
        assert done.returncode == 0, done.stderr
        assert "Warning" not in done.stderr
        row = next(line for line in done.stdout.splitlines() if line.lstrip().startswith("first stage"))
        values[dataset] = float(row.split()[2])
        assert "UniqueRel(rel=" not in row and "UniqueRel" in done.stdout
    # The order of the document ids is worth 0.1; that of query likelihood far more.
    assert values["relative-demo"] > 0.4 and values["unscored"] > 0.4
    assert values["unscored"] != values["relative-demo"]


def test_trec_dl_says_what_it_takes_and_downloads_nothing_unasked(
    small: tuple[Path, dict[str, Ran]],
) -> None:
    home, done = small[0], small[1]["not asked"]
    assert done.returncode == 2
    for said in ("1.1 GB", "nothing was downloaded; --yes goes on without asking", "minutes"):
        assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (home / "msmarco-passage" / "collection.tsv").exists()


def test_trec_dl_refuses(small: tuple[Path, dict[str, Ran]]) -> None:
    home, found = small
    for folder, message in (
        ("vaswanni", "knows no dataset 'vaswanni'"),
        ("textless", "textless: topics need one field, and documents a field text"),
        ("no extra", "needs fastembed"),
    ):
        if folder in found:
            done = found[folder]
            assert done.returncode == 2 and message in done.stderr, done.stderr
            assert not list((home / folder).glob("*.pisa"))


# Documents of 1 kB that are made one by one; what is held at the most at one time, in MB.
STREAMED = """
import sys, tracemalloc, types
from pathlib import Path
sys.path.insert(0, {examples!r})
import trec_dl
def documents(verbose):
    for i in range(15_000):
        yield {{"docno": str(i), "text": f"{{'word' * 15}}{{i % 97}} " * 20}}
dataset = types.SimpleNamespace(get_corpus_iter=documents)
tracemalloc.start()
index = trec_dl.index_of(dataset, Path("many.pisa"))
texts = trec_dl.texts_of(dataset, {{"3", "14999", "x"}})
print(len(index), len(texts), tracemalloc.get_traced_memory()[1] / 1e6)
"""


def test_trec_dl_never_holds_the_corpus(tmp_path: Path) -> None:
    pytest.importorskip("pyterrier_pisa", reason="the example needs pyterrier-pisa")
    done = subprocess.run(
        [sys.executable, "-c", STREAMED.format(examples=str(EXAMPLES))],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    documents, texts, megabytes = map(float, done.stdout.split())
    assert (documents, texts) == (15_000, 2)
    assert megabytes < 8  # all of them are more than 15


def test_fusing() -> None:
    printed = output("fuse.py")
    alone, fused = tables(printed)[:2]
    assert "BM25" not in alone.index and (alone["FusionGain"] < alone["nDCG@10"]).all()
    assert {"in_sample", "held_out", "ci_lower", "ci_upper"} <= set(fused.columns)
    assert "1. Best on queries that did not choose:" in printed
