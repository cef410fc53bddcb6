"""Readers of other tools' files, objects and folders are found when they are needed, and not loaded before."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from ir_measures_relative import RelativeWarning, RunContext
from ir_measures_relative.io.qrels import read_qrels_file
from ir_measures_relative.io.readers import OBJECTS, Given
from ir_measures_relative.io.runs import read_run
from kinds import OF_JUDGMENTS, OF_NEITHER, OF_RUNS, QRELS, RUNS, trec_qrels, trec_run

#: One small campaign as many tools wrote it, where it is at hand.
CAMPAIGN = Path(os.environ.get("CAMPAIGN_OF_TOOLS") or Path(__file__).parents[3] / "shared" / "formats")
SETUP = """
import sys, warnings
from ir_measures_relative import RunContext
from ir_measures_relative.io.qrels import judge, qrels_columns, read_qrels_file
from ir_measures_relative.io.runs import read_run
warnings.simplefilter("ignore")

def others():
    parts = ("content", "order", "folders", "campaign_folders", "formats")
    return [m for m in sys.modules if m.startswith(tuple(f"ir_measures_relative.io.{part}" for part in parts))]

assert not others(), others()
"""


def fresh(program: str, folder: Path) -> str:
    """What a program prints in a process of its own."""
    done = subprocess.run([sys.executable, "-c", SETUP + program], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two runs and the judgments as TREC files, plain and with tabs."""
    for name in ("bm25-base", "rerank.v2"):
        (tmp_path / name).write_bytes(trec_run(name))
    (tmp_path / "tabs").write_bytes(trec_run("dense_ü").replace(b" ", b"\t"))
    (tmp_path / "qrels").write_bytes(trec_qrels())
    (tmp_path / "qrels.tabs").write_bytes(b"\n" + trec_qrels().replace(b" ", b"\t"))
    return tmp_path


def test_trec_files_and_dicts_load_no_other_reader(folder: Path) -> None:
    program = """
context = RunContext({name: name for name in ("bm25-base", "rerank.v2", "tabs")})
assert context.evaluate("qrels", ["nDCG@10", "NRG@10"]).equals(context.evaluate("qrels.tabs", ["nDCG@10", "NRG@10"]))
read_run({"q": {"d": 1.0}})
judge(qrels_columns({"q": {"d": 1}}))
print(others())
"""
    assert fresh(program, folder) == "[]\n"


def test_frames_and_tables_load_no_other_reader(tmp_path: Path) -> None:
    program = """
import ir_measures, pandas as pd
columns = {"query_id": ["q"], "doc_id": ["d"], "score": [1.0]}
runs = [pd.DataFrame(columns), columns, [ir_measures.ScoredDoc("q", "d", 1.0)], iter([ir_measures.ScoredDoc("q", "d", 1.0)])]
labels = {"qid": ["q"], "docno": ["d"], "label": [1]}
judged = [pd.DataFrame(labels), labels, [ir_measures.Qrel("q", "d", 1)], iter([ir_measures.Qrel("q", "d", 1)])]
try:
    import pyarrow
    runs.append(pyarrow.table(columns))
    judged.append(pyarrow.table(labels))
except ImportError:
    pass
assert all(list(read_run(run).to_dict()["q"]) == ["d"] for run in runs)
assert all(len(judge(qrels_columns(qrels))) == 1 for qrels in judged)
print(others())
"""
    assert fresh(program, tmp_path) == "[]\n"


def test_a_folder_of_trec_files_loads_no_format(folder: Path) -> None:
    (folder / "runs").mkdir()
    for name in ("bm25-base", "rerank.v2"):
        (folder / "runs" / name).write_bytes(trec_run(name))
    program = """
print(RunContext.from_files("runs").names, [m for m in others() if "formats" in m or "content" in m])
"""
    assert fresh(program, folder) == "['bm25-base', 'rerank.v2'] []\n"


SMALLEST = [
    *((kind, of, False) for kind, of in OF_JUDGMENTS.items()),
    *((kind, of, True) for kind, of in OF_RUNS.items()),
]


#: Each program in a child of a process that has loaded no reader; ``os.fork`` spares the imports.
IN_TURN = """
import os
for program in PROGRAMS:
    child = os.fork()
    if not child:
        assert not others()
        exec(program)
        sys.stdout.flush()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, program
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_format_is_found(tmp_path: Path) -> None:
    programs, expected = [], []
    for i, (kind, of, as_run) in enumerate(SMALLEST):
        if of.format == "Parquet" and importlib.util.find_spec("pyarrow") is None:
            continue
        (tmp_path / f"file{i}").write_bytes(of.write("rerank.v2" if as_run else ""))
        name = f"file{i}" + (f"#{of.part.replace('NAME', 'rerank.v2')}" if of.part else "")
        read = f"len(read_run({name!r}))" if as_run else f"read_qrels_file({name!r}).columns.n_rows"
        programs.append(f"print({kind!r}, {read})")
        n_rows = sum(len(docs) if of.depth is None else of.depth for docs in RUNS["rerank.v2"].values())
        expected.append(f"{kind} {n_rows if as_run else sum(map(len, QRELS.values()))}")
    assert fresh(IN_TURN.replace("PROGRAMS", repr(programs)), tmp_path).splitlines() == expected


@pytest.mark.parametrize("name", OF_NEITHER)
def test_what_holds_neither_is_found(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(OF_NEITHER[name])
    program = """
try:
    read_run("file")
except ValueError as error:
    print(error)
"""
    assert name in fresh(program, tmp_path)


@pytest.mark.parametrize("first", ["run.txt", "runs.md", "input.bm25-base"])
def test_a_layout_of_folders_is_found(first: str, tmp_path: Path) -> None:
    page = "#### rerank.v2\n- :x: **Participant:** A\n\n#### bm25-base\n- :x: **Participant:** A\n"
    if first == "run.txt":
        (tmp_path / "ir-metadata.yml").write_text("tag: bm25-base\nactor:\n  team: A\n")
    if first == "runs.md":
        (tmp_path / first).write_text(page)
    (tmp_path / (first if first != "runs.md" else "bm25-base")).write_bytes(
        trec_run("bm25-base").replace(b"bm25-base", b"x")
    )
    assert fresh("print(RunContext.from_files('.').names)", tmp_path) == "['bm25-base']\n"


class Held:
    """An object of a library that nobody has heard of."""

    held = {"q": {"d": 1}}


def test_another_package_adds_a_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(value: object, source: str, *, as_run: bool) -> Given | None:
        return Given(value.held, tag="held" if as_run else None) if isinstance(value, Held) else None

    with pytest.raises(TypeError, match="a Held is not a run"):
        read_run(Held())
    monkeypatch.setitem(OBJECTS._entries, "held", read)
    assert read_run(Held()).tag == "held"
    context = RunContext({"r": Held()}, priors=[])
    assert context.evaluate(Held(), ["P@1"])["P@1"].tolist() == [1.0]


# ---- the campaign as many tools wrote it -----------------------------------------------------------------------


SCORED = (
    "beir/results/{}.json",
    "beir/results/{}.run.trec",
    "pytrec_eval/{}.json",
    "ranx/{}.json",
    "ranx/{}.parquet",
    "ranx/{}.trec",
    "ranx/{}.txt",
    "trec-archive/trec99/adhoc/input.{}.gz",
    "trectools/{}.run",
)
LISTED = (
    "castorini/rank_llm_candidates.{}.jsonl",
    "castorini/ragnarok.{}.jsonl",
    "lenskit/2025.8.1/{}.native.parquet",
    "lenskit/2026.4.0/{}.flat.parquet",
    "opensearch-srw/evaluation_results.ndjson#{}",
    "pyserini/{}.kilt",
    "pyserini/{}.msmarco",
)
LABELS = (
    "beir/qrels/test.tsv",
    "pytrec_eval/qrels.json",
    "ranx/qrels.json",
    "ranx/qrels.parquet",
    "ranx/qrels.txt",
)


def rankings(path: Path) -> dict[str, list[str]]:
    """The documents of each query, which OpenSearch names by its text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelativeWarning)
        read = read_run(path).to_dict()
    return {query.removeprefix("query "): list(docs) for query, docs in read.items() if docs}


@pytest.mark.skipif(not CAMPAIGN.is_dir(), reason="the campaign as other tools wrote it is not at hand")
@pytest.mark.parametrize("name", ["bm25-base", "dense_ü", "rerank.v2"])
@pytest.mark.parametrize("file", [*SCORED, *LISTED])
def test_the_campaign_as_a_tool_wrote_it(file: str, name: str) -> None:
    if file.endswith("parquet"):
        pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    trec = CAMPAIGN / "campaign" / f"{name}.run"
    expected = rankings(trec)
    if file in LISTED:  # in the order of the lines, and not of the scores
        expected = {}
        for line in trec.read_text("utf-8").splitlines():
            expected.setdefault(line.split()[0], []).append(line.split()[2])
    found = rankings(CAMPAIGN / file.format(name))
    assert {query: docs[: len(found[query])] for query, docs in expected.items()} == found


@pytest.mark.skipif(not CAMPAIGN.is_dir(), reason="the campaign as other tools wrote it is not at hand")
@pytest.mark.parametrize("file", LABELS)
def test_the_judgments_as_a_tool_wrote_them(file: str) -> None:
    if file.endswith("parquet"):
        pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")

    def labels(path: Path) -> set[tuple[str, str, int]]:
        columns = read_qrels_file(path).columns
        return set(zip(*(ids.tolist() for ids in columns.ids()), columns.relevance.tolist(), strict=True))

    assert labels(CAMPAIGN / file) == labels(CAMPAIGN / "campaign" / "qrels.txt")


@pytest.mark.skipif(not CAMPAIGN.is_dir(), reason="the campaign as other tools wrote it is not at hand")
def test_folders_as_tools_wrote_them() -> None:
    expected = RunContext.from_files(str(CAMPAIGN / "campaign" / "*.run"))
    archive = CAMPAIGN / "trec-archive" / "trec99" / "adhoc"
    read = [RunContext.from_files(CAMPAIGN / "tira" / "longeval-sci-2025")]
    read += [RunContext.from_files(archive, task=task) for task in ("passages", "documents")]
    names = [name for context in read for name in context.names]
    assert sorted(names) == sorted([*expected.names, *expected.names])
    for context in read:
        assert set(context.groups) == set(context.names)
        for name in context.names:
            assert context.runs[name].to_dict() == expected.runs[name].to_dict()
