"""Readers of other tools' files, objects and folders are found when they are needed, and not loaded before."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from ir_measures_relative import RelativeWarning, RunContext
from ir_measures_relative.io.qrels import read_qrels_file
from ir_measures_relative.io.readers import OBJECTS, RawData
from ir_measures_relative.io.runs import read_run
from kinds import trec_qrels, trec_run

#: One small campaign as many tools wrote it, where it is at hand.
CAMPAIGN = Path(os.environ.get("CAMPAIGN_OF_TOOLS") or Path(__file__).parents[3] / "shared" / "formats")


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
import sys
from ir_measures_relative import RunContext
from ir_measures_relative.io.qrels import make_judgments, qrels_columns
context = RunContext({name: name for name in ("bm25-base", "rerank.v2", "tabs")} | {"dict": {"2": {"d": 1.0}}})
assert context.evaluate("qrels", ["nDCG@10", "NRG@10"]).equals(context.evaluate("qrels.tabs", ["nDCG@10", "NRG@10"]))
make_judgments(qrels_columns({"q": {"d": 1}}))
print([m for m in sys.modules if m.startswith("ir_measures_relative.formats") and not m.endswith("objects")])
"""
    command = [sys.executable, "-W", "ignore", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.stdout == "[]\n", (done.stdout, done.stderr)


class Held:
    """An object of a library that nobody has heard of."""

    held = {"q": {"d": 1}}


def test_another_package_adds_a_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(value: object, source: str, *, as_run: bool) -> RawData | None:
        return RawData(value.held, tag="held" if as_run else None) if isinstance(value, Held) else None

    with pytest.raises(TypeError, match="a Held is not a run"):
        read_run(Held())
    monkeypatch.setitem(OBJECTS._entries, "held", read)
    assert read_run(Held()).tag == "held"
    context = RunContext({"r": Held()}, priors=[])
    assert context.evaluate(Held(), ["P@1"])["P@1"].tolist() == [1.0]


SCORED = (
    *("beir/results/{}.json", "beir/results/{}.run.trec", "pytrec_eval/{}.json", "ranx/{}.json"),
    *("ranx/{}.parquet", "ranx/{}.trec", "ranx/{}.txt"),
    *("trec-archive/trec99/adhoc/input.{}.gz", "trectools/{}.run"),
)
LISTED = (
    "castorini/rank_llm_candidates.{}.jsonl",
    "castorini/ragnarok.{}.jsonl",
    "lenskit/2025.8.1/{}.native.parquet",
    "lenskit/2026.4.0/{}.flat.parquet",
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
    """The documents of each query that has some."""
    with warnings.catch_warnings(action="ignore", category=RelativeWarning):
        read = read_run(path).to_dict()
    return {query: list(docs) for query, docs in read.items() if docs}


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
        columns = read_qrels_file(path)
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
