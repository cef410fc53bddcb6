"""The examples: what they print, and what the README shows of it."""

import contextlib
import importlib.util
import io
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from unittest.mock import patch

import ir_datasets
import pandas as pd
import pytest

if not all(map(importlib.util.find_spec, ("pyterrier", "bm25s", "sklearn"))):
    pytest.skip("the examples need the extra [examples]", allow_module_level=True)

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCRIPTS = sorted(p.name for p in EXAMPLES.glob("[a-z]*.py"))
README = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
IDEAL = "NRG(norm='ideal')@10"
COLUMNS = ["nDCG@10", IDEAL, "P_Rareness@10", "nDCG_UE(pool='corpus')@10", "MED@10", "rrLP"]


def run_example(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What ``python -W error::UserWarning:ir_measures_relative examples/SCRIPT ARGUMENTS`` writes and returns."""
    path = str(EXAMPLES / script)
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
        patch.object(sys, "argv", [path, *arguments]),
        patch.object(sys, "path", [str(EXAMPLES), *sys.path]),
    ):
        warnings.filterwarnings("error", category=UserWarning, module=r"ir_measures_relative\Z")
        try:
            runpy.run_path(path, run_name="__main__")
        except SystemExit as leave:
            code = leave.code if isinstance(leave.code, int) else int(leave.code is not None)
    return subprocess.CompletedProcess(sys.argv, code, out.getvalue(), err.getvalue())


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


def test_quickstart() -> None:
    """The table, and the three sentences about it."""
    text = output("quickstart.py")
    (table,) = tables(text)[:1]
    assert list(table.columns) == COLUMNS and list(table.index) == ["BM25", "BM25+", "n-grams", "LSI"]
    assert (table.loc["BM25", ["MED@10", "rrLP"]] == 0).all()  # the reference
    assert table["nDCG@10"].idxmax() != table[IDEAL].idxmax()
    # BM25+ ranks nearly as BM25 does, so each takes all that the other could add.
    assert table.loc["BM25+", "MED@10"] < 0.01
    assert table.loc[["BM25", "BM25+"], IDEAL].max() < table.loc[["n-grams", "LSI"], IDEAL].min()
    first, second, third = re.split(r" (?=[23]\. )", " ".join(text.split("\n\n")[2].split()))
    assert f"{table['nDCG@10'].idxmax()} is best" in first
    assert f"{table[IDEAL].idxmax()} adds most ({IDEAL} {table[IDEAL].max():.3f})" in first
    assert f"{table['P_Rareness@10'].idxmax()} is first" in second
    largest = table["MED@10"]
    assert f"{largest.idxmax()} differs most from BM25: by at most {largest.max():.3f}" in third


def shown_after(command: str) -> str:
    """What the README shows right below a block that ends with a command."""
    return README.split(f"{command}\n```\n\n```text\n")[1].split("```")[0]


def assert_shows(done: subprocess.CompletedProcess[str], shown: str) -> None:
    assert (done.returncode, done.stderr) == (0, "")
    said, printed = (" ".join(text.split()).replace("−", "-") for text in (shown, done.stdout))
    assert NUMBER.sub("#", said) == NUMBER.sub("#", printed)
    # Processors differ in the last digits of a sum, and so may two documents change places.
    values = [[float(number) for number in NUMBER.findall(text)] for text in (said, printed)]
    assert values[0] == pytest.approx(values[1], abs=0.0101, rel=0.05)


def test_a_ranker_beside_a_track() -> None:
    """It is BM25 with other parameters, and is said to be."""
    text = output("beside_a_track.py")
    assert re.search(r"\n\s*mine +0\.\d+", text) and "ranks most like BM25 (0.9" in " ".join(text.split())


def test_the_readme_shows_what_it_prints() -> None:
    assert_shows(run_example("hybrid.py"), shown_after(".venv/bin/python examples/hybrid.py"))


def test_the_readme_shows_what_it_prints_on_vaswani() -> None:
    if not (ir_datasets.util.home_path() / "vaswani" / "docs.txt").exists():
        pytest.skip("the collection is fetched from the net; IR_DATASETS_HOME can name a folder that has it")
    shown = shown_after("examples/beside_a_track.py --dataset vaswani")
    assert_shows(run_example("beside_a_track.py", "--dataset", "vaswani"), shown)


def test_the_first_command_of_the_readme_runs_it() -> None:
    first = re.findall(r"^```bash\n(.*?)\n```$", README, re.MULTILINE)[0]
    assert first.endswith(".venv/bin/pip install -q -e '.[examples]' && .venv/bin/python examples/hybrid.py")


def test_the_mission_is_in_the_first_screen() -> None:
    """Hosts and families, before the first example, which has a column of each family."""
    before, example = README.split("```python\n")[:2]
    assert len(before.splitlines()) < 40
    for word in ("`ir_measures`", "PyTerrier", "NRG", "Rareness", "UE normalization", "MED", "Lexiprecision"):
        assert word in before, word
    for measure in ("nDCG @ 10", "NRG @ 10", "P_Rareness @ 10", "nDCG_UE @ 10", "MED @ 10", "rrLP"):
        assert measure in example, measure


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
    given = (str(tmp_path / "runs"), "--qrels", str(tmp_path / "qrels"))
    for arguments, message in ((given, "four, line 1: 3 columns where"), (given[:1], "needs --qrels")):
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


@pytest.mark.parametrize("script", ["hybrid.py", "quickstart.py", "tune_to_complement.py"])
def test_unknown_dataset(script: str) -> None:
    wrong = run_example(script, "--dataset", "vaswanni")
    assert wrong.returncode == 2 and f"usage: {script} [-h] [--dataset ID]" in wrong.stderr
    assert "knows no dataset 'vaswanni'; did you mean 'vaswani'" in wrong.stderr
    assert "Traceback" not in wrong.stderr


def check_vaswani(text: str) -> None:
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


# Examples in one process, whose imports take longer than they do; ir_datasets asks once where its files are.
IN_TURN = """
import contextlib, json, os, runpy, sys
examples, home, found = sys.argv[1], os.getcwd(), {}
sys.path.insert(0, examples)
for folder, script, arguments, program in json.loads(sys.argv[2]):
    script = os.path.join(examples, script)
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
        found.setdefault(folder, []).append((code, out.read(), err.read()))
print(json.dumps(found))
"""
# Collections without a first stage, with one without scores (as MS MARCO's), and without a field "text".
REGISTERED = """
import collections, ir_datasets
from ir_measures_relative import demo
class WithoutScores(demo._ScoredDocs):
    def scoreddocs_iter(self):
        return (row._replace(score=0.0) for row in super().scoreddocs_iter())
class WithoutText(demo._Docs):
    def docs_cls(self):
        return collections.namedtuple("Document", ["doc_id", "body"])
rest = demo._Queries(), demo._Qrels()
for name, parts in {
    "plain": (demo._Docs(), *rest),
    "unscored": (demo._Docs(), *rest, WithoutScores()),
    "textless": (WithoutText(), *rest),
}.items():
    ir_datasets.registry.register(name, ir_datasets.Dataset(*parts))
"""


def test_trec_dl_and_vaswani(tmp_path: Path) -> None:
    """All in one process: the first indexes once, refuses, and downloads nothing unasked."""
    pytest.importorskip("pyterrier_pisa", reason="the example needs pyterrier-pisa")
    ngrams, rerank = ["--reranker", "ngrams"], importlib.util.find_spec("fastembed") is not None
    calls: list[tuple[str, list[str], str]] = [
        ("plain", ["--dataset", "plain", *ngrams], REGISTERED),
        ("plain", ["--dataset", "plain", *ngrams], ""),
        ("unscored", ["--dataset", "unscored", "--index", "demo.pisa", *ngrams], ""),
        ("relative-demo", ["--dataset", "relative-demo", "--index", "../unscored/demo.pisa", *ngrams], ""),
        ("textless", ["--dataset", "textless", *ngrams], ""),
        ("vaswanni", ["--dataset", "vaswanni", *ngrams], ""),
        ("not asked", ngrams, ""),
        *([] if rerank else [("no extra", ["--dataset", "relative-demo"], "")]),
    ]
    cases = [(folder, "trec_dl.py", *call) for folder, *call in calls]
    named = os.environ.get("VASWANI")
    vaswani = Path(named) if named else EXAMPLES.parents[1] / "shared" / "ir_datasets" / "vaswani"
    if (vaswani / "docs.txt").exists():
        shutil.copytree(vaswani, tmp_path / "vaswani")
        cases.append(("of vaswani", "vaswani.py", ["--dimensions", "30"], ""))
    done = subprocess.run(
        [sys.executable, "-c", IN_TURN, str(EXAMPLES), json.dumps(cases)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "IR_DATASETS_HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    for code, text, said in found.get("of vaswani", ()):
        assert code == 0, said
        check_vaswani(text)
    (code, first, said), (_, again, _) = found["plain"]
    assert code == 0 and "indexing into plain.pisa" in said, said
    table, answer = first.split("\n\n", 1)
    rows = [re.split(r"\s{2,}| (?=0)", line.strip()) for line in table.splitlines()]
    assert [row[0] for row in rows] == ["name", "BM25", "BM25 >> re-ranker"]
    unique = float(rows[2][rows[0].index("UniqueRel@10")])
    assert "BM25 >> re-ranker" in answer.splitlines()[0] and f"{unique:.2f}" in answer
    assert "the index in plain.pisa is there already" in again
    assert again.split("already")[1].split() == first.split()

    values = {}
    for dataset in ("relative-demo", "unscored"):
        ((code, out, err),) = found[dataset]
        assert code == 0 and "Warning" not in err, err
        row = next(line for line in out.splitlines() if line.lstrip().startswith("first stage"))
        values[dataset] = float(row.split()[2])
        assert "UniqueRel(rel=" not in row and "UniqueRel" in out
    # The order of the document ids is worth 0.1; that of query likelihood far more.
    assert 0.4 < values["relative-demo"] != values["unscored"] > 0.4

    refused = {
        "vaswanni": "knows no dataset 'vaswanni'",
        "textless": "textless: topics need one field, and documents a field text",
        "not asked": "1.1 GB",
    } | ({} if rerank else {"no extra": "needs fastembed"})
    for folder, message in refused.items():
        ((code, _, err),) = found[folder]
        assert code == 2 and message in err and "Traceback" not in err, err
    assert "nothing was downloaded; --yes goes on without asking" in found["not asked"][0][2]
    assert not list(tmp_path.glob("textless/*.pisa"))
    assert not (tmp_path / "msmarco-passage" / "collection.tsv").exists()


def test_fusing() -> None:
    printed = output("fuse.py")
    alone, fused = tables(printed)[:2]
    assert "BM25" not in alone.index and (alone["UniqueRel@10"] > 0).all()
    assert {"in_sample", "held_out", "ci_lower", "ci_upper"} <= set(fused.columns)
    assert "1. Best on queries that did not choose:" in printed
