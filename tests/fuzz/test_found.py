"""What fuzzing and load found, each as the smallest input that showed it."""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
from pathlib import Path

import pandas as pd
import pytest

from audited import CONTEXT, JUDGE, labels_of
from candidates import write_candidates
from command_line import error, here
from ir_measures_relative import RunContext, audit, work, worth
from ir_measures_relative.io.qrels import read_qrels_file
from ir_measures_relative.io.runs import read_run

MEASURES = ["P(rel=2)@5"]
PLAN = audit.plan(CONTEXT, JUDGE, MEASURES, 30)


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    write_candidates(tmp_path)
    (tmp_path / "groups.csv").write_text("BM25,x\nQL,y\n")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("worth qrels.txt new/strong.run --to nix", "--to: nix: no such file or folder"),
        ("worth qrels.txt \x01 --to runs", "CANDIDATE: ' ': no such file or folder"),
        ("audit estimate qrels.txt runs P@5 --pool p --labels nix", "--labels 'nix' is no file"),
        ("audit estimate qrels.txt runs P@5 --pool p --labels runs", "--labels 'runs' is no file"),
        ("select qrels.txt nix", "RUNS: nix: no such file or folder"),
        ("worth qrels.txt new/strong.run --to=--", "argument --to: -- is not a value"),
        ("select qrels.txt runs --number 9", "(on the command line: --number)"),
        ("fuse qrels.txt runs --number 9", "(on the command line: --number)"),
        ("unjudged qrels.txt runs P@5 --judge 0", "--judge=0 is not allowed"),
        ("audit plan qrels.txt runs P@5 --budget 9 --pool p -o csv", "audit plan prints no table"),
        ("audit plan qrels.txt runs P@5 --budget 9 --pool qrels.txt", "--pool qrels.txt is the qrels"),
        ("audit plan qrels.txt runs P@5 --budget 9 --pool runs/QL.run", "--pool runs/QL.run is the run"),
        ("audit plan qrels.txt runs P@5 --budget 9 --pool groups.csv", "exists and is not a plan"),
        ("audit plan qrels.txt runs P@5 --budget 9 --pool no/p", "--pool no/p: there is no folder"),
        ("worth qrels.txt new/strong.run --to runs --rerank nix", "nix"),
        ("decide qrels.txt runs --option a=QL --option b=nix", "--option nix is not a run of runs"),
    ],
)
def test_the_message_names_the_argument_and_no_file_is_lost(
    campaign: Path, arguments: str, message: str
) -> None:
    before = {p: p.read_bytes() for p in campaign.rglob("*") if p.is_file()}
    given = [" " if argument == "\x01" else argument for argument in arguments.split()]
    assert message in error(*given, cwd=campaign)
    assert {p: p.read_bytes() for p in campaign.rglob("*") if p.is_file()} == before


def test_a_plan_is_written_again_and_an_estimate_that_cannot_be_sorted_prints_nothing(campaign: Path) -> None:
    plan = ["audit", "plan", "qrels.txt", "runs", "P@5", "--budget", "999", "--pool", "pool.txt"]
    for _ in range(2):
        assert here(*plan, cwd=campaign).returncode == 0
    rows = [line.split() for line in (campaign / "qrels.txt").read_text().splitlines()]
    asked = {tuple(line.split()) for line in (campaign / "pool.txt").read_text().splitlines()}
    labels = "".join(f"{q} 0 {d} {g}\n" for q, _, d, g in rows if (q, d) in asked)
    (campaign / "labels.txt").write_text(labels)
    estimate = [
        "audit",
        "estimate",
        "qrels.txt",
        "runs",
        "P@5",
        "--pool",
        "pool.txt",
        "--labels",
        "labels.txt",
        "--sort",
    ]
    assert here(*estimate, "name", cwd=campaign).stdout.startswith("These topics, with human judgments")
    assert "--sort nix: there is no such column" in error(*estimate, "nix", cwd=campaign)


HEAD = '# {"measures": ["P(rel=2)@5"], "budget": 30}\n'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff", "is not a plan that audit.plan"),
        (b"# {", "is not a plan that audit.plan"),
        (b"# {" + b'"a":[' * 90_000, "is not a plan that audit.plan"),
        (b"# {}", "is not a plan that audit.plan"),
        (HEAD + "query_id,doc_id,probability,ask\nq,d,x,True", "must hold a number from 0 to 1 as each"),
        (HEAD + "query_id,doc_id,probability,ask\nq,d,2,True", "must hold a number from 0 to 1 as each"),
        (HEAD + "query_id,doc_id,probability,ask\nq,d,1,Flase", "True or False as each ask"),
        ("# {}\nquery_id,doc_id,probability,ask\n", "the plan says that it was made with {}, and none is"),
        (HEAD.replace("30", '"a"') + "query_id,doc_id,probability,ask\n", "made with .*'budget': 'a'"),
        (HEAD.replace("}", ', "seed": 1.5}') + "query_id,doc_id,probability,ask\n", "made with .*'seed'"),
        (HEAD.replace("}", ', "between": 5}') + "query_id,doc_id,probability,ask\n", "between=5 must be"),
    ],
)
def test_hostile_plans(tmp_path: Path, content: bytes | str, message: str) -> None:
    path = tmp_path / "pool.txt.plan.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=message):
        audit.estimate(CONTEXT, path, labels_of(PLAN), JUDGE, MEASURES)


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
    assert read_qrels_file(path).iterations.tolist() == ["\ud800"]
    path.write_text(json.dumps([{"query_id": "q", "doc_id": "A", "\ud800": 1, "relevance": 1}]))
    try:
        assert read_qrels_file(path).columns.n_rows == 1
    except ValueError as error:  # of pandas 3
        assert "qrels.json: the name of a column is not text in UTF-8" in str(error)


def _ends(number: int) -> int:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on this system")
def test_a_worker_that_is_killed_is_named() -> None:
    pytest.importorskip("joblib")
    with pytest.raises(
        RuntimeError, match=r"jobs=2: a process ended before its work was done \(SIGKILL\(-9\)\)"
    ):
        list(work.map_tasks(_ends, range(3), 2, total=3, desc="a task"))


def test_a_return_within_a_table_is_no_end_of_a_line(tmp_path: Path) -> None:
    path = tmp_path / "test.tsv"
    path.write_bytes(b"query-id\tcorpus-id\tscore\r\nq\ta\t0\r\n\r\tb\t1\r\n")
    with pytest.raises(ValueError, match="test.tsv: it holds a carriage return"):
        read_qrels_file(path)
