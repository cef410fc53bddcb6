"""Files that were read as something else than they are: each is read as it is, or refused with its name."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ir_measures_relative import RunContext
from ir_measures_relative.formats import tables
from ir_measures_relative.io.qrels import make_judgments, read_qrels_file
from ir_measures_relative.io.runs import read_run
from read_back import rankings


def labels(path: Path) -> dict[str, int]:
    judged = make_judgments(read_qrels_file(path))
    return dict(zip(judged.ids.strings().tolist(), judged.grade.tolist(), strict=True))


def written(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    "lines", [["q a 30", "q b 20"], ["q a 1", "q b 3"], ["q a 0", "q b 1"], ["q a 1", "q b 1"]]
)
def test_a_third_column_that_is_no_ranks(lines: list[str], tmp_path: Path) -> None:
    file = written(
        tmp_path, "scores.tsv", "".join(line.replace(" ", "\t") + "\n" for line in ["p\tx\t1", *lines])
    )
    with pytest.raises(ValueError, match=r"scores\.tsv.* query 'q' is not the ranks 1 to 2.*header"):
        read_run(file)
    ranked = written(tmp_path, "ranks.tsv", "q\tb\t2\np\tx y\t1\nq\ta\t1\n")
    assert rankings(ranked) == {"q": ["a", "b"], "p": ["x y"]}


@pytest.mark.parametrize("quote", ["", '"'])
def test_blanks_after_commas_are_no_part_of_ids(quote: str, tmp_path: Path) -> None:
    file = written(tmp_path, "run.csv", f"query_id, doc_id , score\nq, {quote}a{quote} , 1.5\nq, b,\t2.5 \n")
    assert rankings(file) == {"q": ["b", "a"]}
    file = written(tmp_path, "qrels.csv", f"query_id, doc_id, relevance\nq, a, {quote}1{quote}\nq, b , 2\n")
    assert labels(file) == {"a": 1, "b": 2}


@pytest.mark.parametrize("read", [read_run, read_qrels_file])
@pytest.mark.parametrize("cell", ["", " ", '""'])
def test_an_empty_cell_is_no_id(read: Any, cell: str, tmp_path: Path) -> None:
    value = "score" if read is read_run else "relevance"
    file = written(tmp_path, "file.csv", f"query_id,doc_id,{value}\nq,a,1\nq,{cell},2\n")
    with pytest.raises(ValueError, match=r"file\.csv.*: row 2 has no 'doc_id'"):
        read(file)
    rows = [{"query_id": "q", "doc_id": doc, value: 1} for doc in ("a", "")]
    file = written(tmp_path, "file.jsonl", "\n".join(map(json.dumps, rows)))
    with pytest.raises(ValueError, match=r"file\.jsonl.*: object 2 has no 'doc_id'"):
        read(file)


def test_a_table_with_ranks_is_a_run(tmp_path: Path) -> None:
    written(tmp_path, "one.csv", "query,docid,rank,score\nq,a,1,3\nq,b,2,2\n")
    written(tmp_path, "two.csv", "query,docid,rank,score\nq,b,1,3\n")
    assert RunContext.from_files(tmp_path).names == ["one", "two"]
    assert rankings(tmp_path / "one.csv") == {"q": ["a", "b"]}


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "object", "int64[pyarrow]"])
def test_a_null_label_of_parquet_is_unjudged(dtype: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    labels_ = pd.Series([1, None, 0], dtype=dtype)
    frame = pd.DataFrame({"query_id": "q", "doc_id": list("abc"), "relevance": labels_})
    frame.to_parquet(tmp_path / "qrels.parquet")
    assert labels(tmp_path / "qrels.parquet") == {"a": 1, "c": 0}


@pytest.mark.parametrize("name", ["p", "map", "score"])
def test_ids_like_names_of_measures_are_ids(name: str, tmp_path: Path) -> None:
    run = {"q": {f"{name}_{i}": 9.0 - i for i in range(3)}}
    for content in (run, run | {"r": run["q"]}, run | {"r": {f"{name}_7": 0.5}}, {"q": {f"{name}_1": 0.5}}):
        assert rankings(written(tmp_path, "run.json", json.dumps(content))) == {
            q: list(d) for q, d in content.items()
        }
    assert labels(written(tmp_path, "qrels.json", json.dumps({"q": {f"{name}_1": 1}, "r": {f"{name}_1": 0}})))
    measured = [
        {"q": {"map": 0.5, "P_10": 0.2}},
        {"q": {"P_10": 0.2}, "r": {"P_10": 0.3}},
        {"NDCG": {"NDCG@1": 0.5}, "Recall": {"Recall@1": 0.2}},
    ]
    for values in measured:
        with pytest.raises(ValueError, match=r"run\.json.* JSON file of measures"):
            read_run(written(tmp_path, "run.json", json.dumps(values)))


@pytest.mark.parametrize("first", ["2.0", "1"])
def test_a_label_is_read_alike_in_every_line(first: str, tmp_path: Path) -> None:
    """TREC's format has whole numbers, others may write them as fractions."""
    both = [first, "1" if first == "2.0" else "2.0"]
    trec = "".join(f"q 0 d{i} {label}\n" for i, label in enumerate(both))
    with pytest.raises(
        ValueError, match=rf"line {both.index('2.0') + 1}: the relevance '2.0' is not a whole number"
    ):
        read_qrels_file(written(tmp_path, "qrels.txt", trec))
    table = "query_id,doc_id,relevance\n" + "".join(f"q,d{i},{label}\n" for i, label in enumerate(both))
    rows = "".join(
        f'{{"query_id": "q", "doc_id": "d{i}", "relevance": {label}}}\n' for i, label in enumerate(both)
    )
    for text in (table, rows, f'{{"q": {{"d0": {both[0]}, "d1": {both[1]}}}}}'):
        assert labels(written(tmp_path, "qrels", text)) == {
            f"d{i}": int(float(x)) for i, x in enumerate(both)
        }


@pytest.mark.parametrize("at", [0, 1])
def test_a_comment_is_no_row(at: int, tmp_path: Path) -> None:
    """As in trec_eval 10; a line that begins with # and is a row to ir_measures is refused."""
    qrels, run = ["q 0 d 1"], ["q Q0 d 1 2.0 tag"]
    for comment in ("# made by x", "#made by x with words", "#"):
        text = "\n".join([*qrels[:at], comment, "", comment, *qrels[at:]])
        assert labels(written(tmp_path, "qrels", text)) == {"d": 1}
        text = "\n".join([*run[:at], comment, "", comment, *run[at:]])
        assert rankings(written(tmp_path, "run", text)) == {"q": ["d"]}
        with pytest.raises(ValueError, match=r"line 5: the score '1_0'"):
            read_run(written(tmp_path, "run", text + "\nq Q0 e 1 1_0 tag"))
    qrels.insert(at, "# all labels: 3")
    with pytest.raises(
        ValueError, match=rf"qrels, line {at + 1}: it begins with '#'.*; delete the line, or rename"
    ):
        read_qrels_file(written(tmp_path, "qrels", "\n".join(qrels)))
    for row in ("# Q0 d 1 2.0 tag", "#1 Q0 d 1 2.0 tag"):
        with pytest.raises(ValueError, match=rf"line {at + 1}: it begins with '#'"):
            read_run(written(tmp_path, "run", "\n".join([*run[:at], row, *run[at:]])))


@pytest.mark.parametrize(
    "line", ["q Q0 a b 1 2.0 t", "q Q0 a 7 1 2.0 t", "q r Q0 a 1 2.0 t", "q Q0 a 1 2.0 t q Q0 b 1 1.0 t", "q Q0 a 1 2.0 tq Q0 b 1 1.0 t"]
)  # fmt: skip
def test_a_line_with_more_than_six_columns(line: str, tmp_path: Path) -> None:
    """Blanks in ids move the columns; two rows in a line are not one; trec_eval passes over words behind the tag."""
    with pytest.raises(
        ValueError,
        match=r"line 2: \d+ columns where a TREC run has six.*no id may hold a blank, and no word may",
    ):
        read_run(written(tmp_path, "run", f"q Q0 d 1 3.0 t\n{line}\n"))


LARGE = {
    "csv": lambda q, d, s: f"{q},{d},{s}\n",
    "jsonl": lambda q, d, s: f'{{"query_id": "{q}", "doc_id": "{d}", "score": {s}}}\n',
    "msmarco": lambda q, d, s: f"{q}\t{d}\t{int(d)}\n",
}


@pytest.mark.parametrize("kind", LARGE)
def test_large_files_are_read_by_columns(kind: str, tmp_path: Path) -> None:
    """In a few bytes a row: Python's objects would take hundreds."""
    pytest.importorskip("pyarrow")
    rows = [(q, d, round(1 / d, 9)) for q in range(60) for d in range(1, 1001)]
    head = "query_id,doc_id,score\n" if kind == "csv" else ""
    file = written(tmp_path, f"run.{kind}", head + "".join(LARGE[kind](*row) for row in rows))
    expected = {str(q): [str(d) for d in range(1, 1001)] for q in range(60)}
    assert rankings(file) == expected
    tracemalloc.start()
    read_run(file)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 200 * len(rows)


def test_arrow_reads_as_python_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(5)
    ids = ["a", "ü", "文", "x y", "0007", "-", "'", "#", "1e3", "nan", "2020-01-01"]
    scores = ["1", "-2", "3.25", "1e3", "-0.0", "7", str(2**60 + 1), "0.1"]
    for case in range(40):
        chosen = rng.choice(scores, 3)
        rows = [
            (rng.choice(ids[:3]), d, s)
            for d, s in zip(rng.choice(ids, 3, replace=False), chosen, strict=True)
        ]
        text = "".join(LARGE["jsonl"](*row) for row in rows)
        file = written(tmp_path, f"{case}.jsonl", text)
        fast = read_run(file)
        with monkeypatch.context() as patch:
            patch.setattr(tables, "_lines_by_arrow", lambda content: None)
            slow = read_run(file)
        assert fast.as_given() == slow.as_given(), text
