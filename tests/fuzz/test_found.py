"""What fuzzing and load found, each as the smallest input that showed it."""

import itertools
import json
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from candidates import write_candidates
from command_line import error
from fuzzing import OF_FORMATS, TARGETS, outcome
from ir_measures_relative import RunContext, worth
from ir_measures_relative.io.qrels import read_qrels_file
from ir_measures_relative.io.runs import read_run


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    write_candidates(tmp_path)
    (tmp_path / "groups.csv").write_text("BM25,x\nQL,y\n")
    (tmp_path / "empty.run").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("worth qrels.txt new/strong.run --to nix", "--to: nix: no such file or folder"),
        ("worth qrels.txt \x01 --to runs", "CANDIDATE: ' ': no such file or folder"),
        ("select qrels.txt nix", "RUNS: nix: no such file or folder"),
        ("worth qrels.txt new/strong.run --to=--", "argument --to: -- is not a value"),
        ("select qrels.txt runs --number 9", "(on the command line: --number)"),
        ("fuse qrels.txt runs --number 9", "(on the command line: --number)"),
        ("worth qrels.txt new/strong.run --to runs --rerank nix", "nix"),
        ("score qrels.txt new/strong.run NRG@5 --track runs", "runs is a folder, and no track"),
        ("place nix --track demo", "is neither a run of the context nor"),
        ("place BM25 --track demo --sort runs", "--sort and --places are about the table; add -o tsv"),
        ("track show demo --name x --depth 0", "track show takes no --depth, --name"),
        ("track check demo qrels.txt runs --grades 0 1", "track check takes no --grades"),
        ("track make qrels.txt runs -o x.track --name=", "name='' is not allowed"),
        ("track make qrels.txt runs -o x/x.track", "--output x/x.track: there is no folder"),
        (
            "track make qrels.txt runs empty.run -o x.track",
            "run 'empty' has no ranking for a topic of the track",
        ),
        ("worth qrels.txt new/strong.run --to runs --judge 2 -o csv", "prints the table, without --judge"),
        ("unjudged qrels.txt runs P@5 --judge 2 --sort weight", "--sort goes with a table"),
    ],
)
def test_the_message_names_the_argument_and_no_file_is_lost(
    campaign: Path, arguments: str, message: str
) -> None:
    before = {p: p.read_bytes() for p in campaign.rglob("*") if p.is_file()}
    given = [" " if argument == "\x01" else argument for argument in arguments.split()]
    if "--output" in given:
        pytest.importorskip("matplotlib")
    assert message in error(*given, cwd=campaign)
    assert {p: p.read_bytes() for p in campaign.rglob("*") if p.is_file()} == before


def test_numbers_that_no_double_holds() -> None:
    context, qrels = RunContext({"a": {"q": {"A": 1.0}}, "b": {"q": {"B": 1.0}}}), {"q": {"A": 1}}
    with pytest.raises(ValueError, match="margin=1000.* is not allowed"):
        worth(context, qrels, "a", margin=10**400)
    assert context.runs["a"].top(10**30).position.tolist() == [1]


def test_parquet_whose_ids_are_no_text(tmp_path: Path) -> None:
    """pandas 3 reads them, and fails where somebody looks at them; any pandas where Arrow keeps the column."""
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "x.parquet"
    whole = {"query_id": ["1"], "doc_id": ["A"], "iteration": ["0"]}
    for kind, column in itertools.product((object, pd.ArrowDtype(pyarrow.large_string())), whole):
        for value, reader in {"score": read_run, "relevance": read_qrels_file}.items():
            frame = pd.DataFrame(whole | {column: ["dXYZd"], value: [1]}).astype({column: kind})
            frame.to_parquet(path, compression=None)
            path.write_bytes(path.read_bytes().replace(b"dXYZd", b"d\xff\xfe\xffd"))
            with pytest.raises(ValueError, match="x.parquet.*the Parquet file is truncated or damaged"):
                reader(path)


def test_json_whose_subtopic_is_no_text(tmp_path: Path) -> None:
    """pandas 3 would not make text of it."""
    path = tmp_path / "qrels.json"
    path.write_text(json.dumps([{"query_id": "q", "doc_id": "A", "iteration": "\ud800", "relevance": 1}]))
    assert read_qrels_file(path).aspect_texts().tolist() == ["\ud800"]
    path.write_text(json.dumps([{"query_id": "q", "doc_id": "A", "\ud800": 1, "relevance": 1}]))
    try:
        assert len(read_qrels_file(path).relevance) == 1
    except ValueError as error:  # of pandas 3
        assert "qrels.json: the name of a column is not text in UTF-8" in str(error)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query-id\tcorpus-id\tscore\r\nq\ta\t0\r\n\r\tb\t1\r\n", "file, line 3: it holds a carriage return"),
        (
            '{"qid": "1", "docno": "b", "label": ""}\n{"qid": [[]], "docno": "c", "label": 2}',
            "query id .* is a list",
        ),
    ],
    ids=["a return within a table", "a list as an id, beside a row without a label"],
)
def test_judgments_refused_in_words(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(text.encode())
    with pytest.raises(ValueError, match=message):
        RunContext({"r": {"1": {"a": 1.0}}}).evaluate(path, ["nDCG@3"])


@pytest.mark.parametrize("target", TARGETS)
def test_read_or_refused_in_words(target: str, tmp_path: Path) -> None:
    found = Counter(outcome(target, seed, tmp_path) for seed in range(50))
    assert found["read"] > 6 and found.total() - found["read"] > 12, found


@pytest.mark.parametrize("target", OF_FORMATS)
def test_files_of_other_tools_are_read_or_refused_in_words(target: str, tmp_path: Path) -> None:
    if "Parquet" in target or "LensKit" in target:
        pytest.importorskip("pyarrow")
    found = Counter(outcome(target, seed, tmp_path) for seed in range(25))
    assert found.total() - found["read"] > 2, found
    assert found["read"] > 2 or target.startswith("neither"), found
