"""Tables as people have them, and what was once misread: each is read as it is, or refused with its name."""

import json
import random
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.helpers import fuzzed_tables

from ir_measures_relative import RelativeWarning, RunContext
from ir_measures_relative.formats import tables
from ir_measures_relative.io.qrels import make_judgments, qrels_columns, read_qrels_file
from ir_measures_relative.io.runs import read_run
from read_back import labels, rankings

SCORES = [("q1", "d1", "2.5"), ("q1", "d2", "1.5"), ("q2", "d1", "0.5")]
RUN = {"q1": ["d1", "d2"], "q2": ["d1"]}
LABELS = {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 1}}


def written(folder: Path, text: str) -> Path:
    path = folder / "file"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def table(header: str, rows: Any, mark: str, end: str = "\n") -> str:
    return end.join(mark.join(cells) for cells in [header.split(), *rows]) + end


@pytest.mark.parametrize("mark", [",", "\t", ";", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("above", ["", "\n \n", "sep={mark}\r\n", '"sep={mark}"\n'])
def test_any_delimiter(mark: str, end: str, above: str, tmp_path: Path) -> None:
    """What Excel writes above included."""
    above = above.format(mark=mark)
    assert rankings(written(tmp_path, above + table("qid docno score", SCORES, mark, end))) == RUN
    judged = [(q, d, str(label)) for q, docs in LABELS.items() for d, label in docs.items()]
    assert labels(written(tmp_path, above + table("qid docno label", judged, mark, end))) == LABELS


@pytest.mark.parametrize("mark", [",", "\t"])
def test_the_index_of_pandas_is_a_column(mark: str, tmp_path: Path) -> None:
    frame = pd.DataFrame(SCORES, columns=["qid", "docno", "score"])
    frame.to_csv(tmp_path / "file", sep=mark)
    assert rankings(tmp_path / "file") == RUN
    frame.assign(score=[2, 0, 1]).rename(columns={"score": "label"}).to_csv(tmp_path / "file", sep=mark)
    assert labels(tmp_path / "file") == LABELS


QUERIES = ["query_id", "qid", "query-id", "q_id", "topic_id", "topic", "query", "user_id"]
DOCS = ["doc_id", "docno", "corpus-id", "docid", "pid", "did", "document", "item_id"]


@pytest.mark.parametrize(("query", "doc"), list(zip(QUERIES, [*DOCS[1:], DOCS[0]], strict=True)))
def test_names_of_two_conventions(query: str, doc: str, tmp_path: Path) -> None:
    assert rankings(written(tmp_path, table(f"{query} {doc} score", SCORES, ","))) == RUN
    rows = [dict(zip((query, doc, "score"), (q, d, float(s)), strict=True)) for q, d, s in SCORES]
    assert rankings(written(tmp_path, json.dumps(rows))) == RUN
    assert rankings(pd.DataFrame(rows)) == rankings(rows) == RUN


NO_COLUMN = {
    "document": ("qid,passage,score\n1,2,3\n", r"no column 'doc_id' \(or 'docno'\); its columns are \['qid', 'passage'"),
    "semicolons": ("qid;passage;score\n1;2;3\n", r"no column 'doc_id' .*\['qid', 'passage', 'score'\]"),
    "score": ("qid|docno|rank\n1|2|3\n", r"no column 'score'; its columns are \['qid', 'docno', 'rank'\]"),
    "query": ("session\tdocid\tscore\n1\t2\t3\n", r"no column 'query_id' \(or 'qid'\)"),
    "rows": ('[{"qid": "1", "passage": "d", "score": 1}]', r"no column 'doc_id' .*\['qid', 'passage', 'score'\]"),
}  # fmt: skip


@pytest.mark.parametrize("case", NO_COLUMN)
def test_a_column_that_is_not_there(case: str, tmp_path: Path) -> None:
    text, message = NO_COLUMN[case]
    with pytest.raises(ValueError, match=message):
        read_run(written(tmp_path, text))


WITHOUT_HEADER = {
    "q\td\t0.5\n": "the header 'query_id<TAB>doc_id<TAB>score'",
    "q;d;1\n": "the header 'query_id;doc_id;score'",
    "q,d,1\n": "the header 'query_id,doc_id,score'",
    "q\td\t5\n": "the header 'query_id<TAB>doc_id<TAB>score'",
}


@pytest.mark.parametrize("text", WITHOUT_HEADER)
def test_a_table_without_a_header(text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=WITHOUT_HEADER[text]):
        read_run(written(tmp_path, text))
    header = WITHOUT_HEADER[text].replace("score", "relevance")
    with pytest.raises(ValueError, match=header):
        read_qrels_file(written(tmp_path, text))


@pytest.mark.parametrize("score", ["0,5", "1,234.5", "", "high"])
def test_scores_that_are_no_numbers(score: str, tmp_path: Path) -> None:
    remedy = r"write them as 1234\.5, without commas"
    with pytest.raises(ValueError, match=f"query 'q', document 'd' has the score '{score}', a str.*{remedy}"):
        read_run(written(tmp_path, f"qid;docno;score\nq;d;{score}\n"))
    with pytest.raises(ValueError, match=r"convert them with float\(\)"):
        read_run({"q": {"d": "2.5"}})


HIDDEN = {
    "in ids": 'query-id\tcorpus-id\tscore\nq1\t"A\t1\nq1\tB\t1\nq2\tC\t1\nq2\tD"\t1\n',
    "in texts": 'qid,docno,score,text\nq1,A,1,"hello\nq1,B,1,world"\n',
    "in a first column": 'text,qid,docno,score\n"hello,q1,A,1\nworld",q1,B,1\n',
    "with two texts": 'qid\tdocno\tscore\ttext\nq1\tA\t1\t"hello\nq1\tB\t1\t"world\nq2\tC\t3\tx\n',
    "without a last line feed": 'qid,docno,score,text\nq1,A,1,"open\nq1,B,1,"open\nq1,C,1,x',
    "behind which a cell goes on": 'qid,docno,score,text,more\nq1,A,1,"open,x\nq1,B,"1,open\nq1,C,1,x,y\n',
    "in the header": 'qid,docno,"score\nq1,A,8\n"\n',
    "to the end": 'qid,docno,score\nq1,"A,1\nq1,B,1\n',
    "in labels": 'qid,docno,label\nq1,A,"1\nq1,B,"\n',
}


@pytest.mark.parametrize("case", HIDDEN)
def test_a_stray_quotation_mark_hides_no_row(case: str, tmp_path: Path) -> None:
    for text in (HIDDEN[case], HIDDEN[case].replace("label", "score")):
        for read in (read_run, read_qrels_file):
            with pytest.raises(
                ValueError, match=r"file\)?(, line [12]: |: query 'q1', document 'A' has|: the table has no)"
            ):
                read(written(tmp_path, text))


def test_texts_over_several_lines_are_read(tmp_path: Path) -> None:
    text = 'qid,docno,score,text\nq1,d1,2.5,"so, long\nand, thanks"\nq1,"d2",1.5,"a ""word"""\nq2,d1,1,\n'
    assert rankings(written(tmp_path, text)) == RUN


@pytest.mark.parametrize("space", ["\n", "\t", "\v", "\x1c", "\x85", "\u00a0", "\u2003", "\u2028", "\u3000"])
@pytest.mark.parametrize("column", [0, 1])
def test_ids_with_white_space_other_than_blanks(space: str, column: int, tmp_path: Path) -> None:
    row = ["q", "d", "1"]
    row[column] = f'"a{space}b"'
    text = "qid,docno,score\n\nq,a b,2\n" + ",".join(row) + "\n"
    with pytest.raises(
        ValueError, match=r"file\), line 4: the id 'a.*b' holds white space other than blanks"
    ):
        read_run(written(tmp_path, text))
    if space in "\u00a0\u2003":  # at the end, too
        with pytest.raises(ValueError, match="line 4: the id"):
            read_run(written(tmp_path, text.replace(f"{space}b", space)))
    if space not in "\n\t":
        with pytest.raises(ValueError, match="line 2: the id 'a.*b' holds white space"):
            read_run(written(tmp_path, "q\ta b\t1\n" + "\t".join(row).replace('"', "") + "\n"))


@pytest.mark.parametrize("mark", [",", "\t"])
def test_judgments_that_are_cut_in_their_last_line(mark: str, tmp_path: Path) -> None:
    """Where the judgment is gone; in the middle of an id, too."""
    text = table("query-id corpus-id score", [("q1", "d1", "1"), ("q2", "d3", "1")], mark)
    last = text.rindex("q2")
    for cut in range(last + 1, len(text) - 2):
        with pytest.raises(
            ValueError, match=r"the last line is cut: it has no 'score'|line 3: \d columns where there"
        ):
            read_qrels_file(written(tmp_path, text[:cut]))
    assert labels(written(tmp_path, text[:-1])) == {"q1": {"d1": 1}, "q2": {"d3": 1}}
    with pytest.warns(
        RelativeWarning, match=r"no document of \['q2'\] has a label"
    ):  # unjudged, in a whole line
        assert labels(written(tmp_path, text[:-2] + "\n")) == {"q1": {"d1": 1}}


@pytest.mark.parametrize(
    "text", ["q\td\t1\n" + "x\t" * 2**21, "qid,docno,score\n" + "a," * 2**21, "q Q0 d 1 2 t\n" + "x " * 2**21]
)
def test_a_line_without_end(text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="line 2: it has more than 1,048,576 characters"):
        read_run(written(tmp_path, text))


@pytest.mark.parametrize("blank", ["\n", " \r\n"])
def test_millions_of_blank_lines(blank: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"at least 5,000,000 blank lines"):
        read_run(written(tmp_path, "q1 Q0 d1 1 2.0 A\n" + blank * 10_000_000))


OF_TWO = [("q1", "d1", "1", "2.0", "A"), ("q1", "d2", "2", "1.0", "A"), ("q1", "d3", "1", "2.0", "B"), ("q1", "d2", "2", "1.0", "B")]  # fmt: skip
TWO = {"A": {"q1": ["d1", "d2"]}, "B": {"q1": ["d3", "d2"]}}
TREC = "".join(f"{q} Q0 {d} {rank} {score} {tag}\n" for q, d, rank, score, tag in OF_TWO)
SEVERAL = {"TREC": TREC} | {
    column: table(f"qid docno rank score {column}", OF_TWO, ",")
    for column in ("name", "system", "system_id", "run", "run_id", "model", "tag")
}


@pytest.mark.parametrize("case", SEVERAL)
def test_several_runs_in_a_file_are_split_or_named(case: str, tmp_path: Path) -> None:
    file = written(tmp_path, SEVERAL[case])
    context = RunContext.from_files(file)
    assert {name: rankings(run) for name, run in context.runs.items()} == TWO
    assert rankings(f"{file}#B") == TWO["B"] and read_run(f"{file}#B").tag == "B"
    with pytest.raises(
        ValueError, match="the file holds the runs 'A', 'B'; say which behind the path, such as"
    ):
        read_run(file)
    with pytest.raises(ValueError, match=r"no run in the file has the tag 'C'|and not 'C'"):
        read_run(f"{file}#C")


@pytest.mark.parametrize("column", ["name", "run_id", "model"])
def test_several_runs_in_a_frame_are_named(column: str) -> None:
    frame = pd.DataFrame(OF_TWO, columns=["qid", "docno", "rank", "score", column]).astype({"score": float})
    message = (
        rf"run 'x': the DataFrame holds 2 runs, by its column '{column}': A, B; choose one, such as frame\["
    )
    with pytest.raises(ValueError, match=message):
        RunContext({"x": frame})
    assert rankings(frame[frame[column] == "A"]) == TWO["A"]


@pytest.mark.parametrize("rows", [
    [("q1", "d1", "1", "2.0", "R"), ("q1", "d2", "2", "1.0", "NR"), ("q1", "d3", "3", "0.5", "R")],
    [("q1", "d1", "1", "2.0", "A"), ("q1", "d2", "2", "1.0", "A"), ("q2", "d1", "1", "1.0", "B")],
])  # fmt: skip
def test_tags_of_rows_or_of_topics_are_of_one_run(rows: Any, tmp_path: Path) -> None:
    expected: dict[str, list[str]] = {}
    for query, doc, *_ in rows:
        expected.setdefault(query, []).append(doc)
    trec = "".join(f"{q} Q0 {d} {rank} {score} {tag}\n" for q, d, rank, score, tag in rows)
    for text in (trec, table("qid docno rank score tag", rows, ",")):
        with pytest.warns(RelativeWarning, match=r"tag'? names .*, and .*: they count as one run") as warned:
            assert rankings(written(tmp_path, text)) == expected
        assert len(warned) == 1


def test_a_document_twice_in_one_of_several_runs(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match="line 5: query 'q1' lists document 'd3' more than once, before in line 3"
    ):
        RunContext.from_files(written(tmp_path, TREC + "q1 Q0 d3 3 0.5 B\n"))


MEASURES = {
    "trec_eval": "runid                 \tall\tA\nnum_q                 \tall\t50\nmap                   \tall\t0.25\n",
    "one measure of trec_eval": "num_ret\tall\t1000\n",
    "topics of trec_eval": "num_ret               \t301\t1000\nnum_rel               \t301\t12\n",
    "topics of ir_measures": "301\tnDCG@10\t0.5000\n301\tNRG(norm='ideal')@10\t0.2500\n302\tnDCG@10\t1.0000\n",
    "ir_measures": "nDCG@10\t0.25\nAP\t0.1\n",
    "a table": "name,nDCG@10,AP\nx,0.5,0.2\n",
    "RAG": '{"q1": {"faithfulness": 0.9, "context_recall": 0.4}}',
    "rows of RAG": '[{"user_input": "x", "faithfulness": 0.5}]',
    "MTEB": '{"task_name": "T", "scores": {"test": [{"ndcg_at_1": 0.5, "hf_subset": "default"}]}, "evaluation_time": 3.2}',
    "MTEB 1": '{"mteb_dataset_name": "x", "test": {"evaluation_time": 3.5, "map_at_1": 0.2, "ndcg_at_1": 0.4}}',
}  # fmt: skip


@pytest.mark.parametrize("case", MEASURES)
def test_measures_are_no_rankings(case: str, tmp_path: Path) -> None:
    for read in (read_run, read_qrels_file):
        with pytest.raises(ValueError, match="measures.*give the file of the rankings, not of their scores"):
            read(written(tmp_path, MEASURES[case]))


def test_ids_like_measures_in_three_columns_are_ids(tmp_path: Path) -> None:
    assert rankings(written(tmp_path, "P_1\td1\t1\nP_1\td2\t2\n")) == {"P_1": ["d1", "d2"]}
    assert rankings(written(tmp_path, "q\tP_1\t1\nq\tmap\t2\n")) == {"q": ["P_1", "map"]}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("a\0", "is a string with a NUL, which no file in UTF-8 can hold; replace it"),
        ("\ud800", "holds half of a surrogate pair, which no file in UTF-8 can hold; replace it"),
        (None, "None is a missing value; give every row an id"),
        (7, r"7 is an int; .* ids must be strings.*convert them with str\(\)"),
    ],
)
def test_ids_that_are_none(value: Any, message: str) -> None:
    for run in ({value: {"d": 1.0}}, {"q": {value: 1.0}}):
        with pytest.raises(ValueError, match=message):
            read_run(run).top()
        with pytest.raises(ValueError, match=message):
            make_judgments(qrels_columns({q: dict.fromkeys(docs, 1) for q, docs in run.items()}))


def outcome(data: bytes, folder: Path) -> tuple[Any, list[str]]:
    """The rows that are read, or the error; and the warnings."""
    path = folder / "plain"
    path.write_bytes(data)
    with warnings.catch_warnings(record=True, action="always") as caught:
        try:
            run = RunContext.from_files(folder).runs
            result: Any = {name: (run[name].tag, run[name].as_given()) for name in run}
        except Exception as error:
            result = type(error), str(error)
    return result, [str(warning.message) for warning in caught]


def test_rows_are_read_as_cells_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same rows, error and warnings, of files as people damage them, and of MS MARCO's."""
    rng = random.Random(51)
    files = [fuzzed_tables.file(rng, as_run=True) for _ in range(60)]
    for _ in range(60):
        rows = [f"q{q}\td{d}\t{d}\n" for q in range(1, 4) for d in range(1, rng.randrange(2, 8))]
        text = "".join(rows if rng.random() < 0.7 else rng.sample(rows, len(rows)))
        for damage in rng.sample(["\t1\n", "d2", "q1", "\n", "\t"], rng.choice([0, 0, 1])):
            text = text.replace(damage, rng.choice(["\t+1\n", '"d"', "é", " ", "", "\t\n", "#x", "\t7\n"]), 1)
        files.append(text.encode()[: rng.randrange(1, len(text) + 1) if rng.random() < 0.2 else None])
    files.append(b"q1\td1\t1\t")  # a fourth cell, which is empty
    fast = [outcome(data, tmp_path) for data in files]
    read = sum(isinstance(result, dict) for result, _ in fast)
    assert 40 < read < 110  # some are refused, and many are not
    monkeypatch.setattr(tables, "_plain_ranks", lambda _: None)
    for data, expected in zip(files, fast, strict=True):
        assert outcome(data, tmp_path) == expected, data


def grades_of(path: Path) -> dict[str, int]:
    judged = make_judgments(read_qrels_file(path))
    return dict(zip(judged.ids.strings().tolist(), judged.grade.tolist(), strict=True))


def file_of(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    "lines", [["q a 30", "q b 20"], ["q a 1", "q b 3"], ["q a 0", "q b 1"], ["q a 1", "q b 1"]]
)
def test_a_third_column_that_is_no_ranks(lines: list[str], tmp_path: Path) -> None:
    file = file_of(
        tmp_path, "scores.tsv", "".join(line.replace(" ", "\t") + "\n" for line in ["p\tx\t1", *lines])
    )
    with pytest.raises(ValueError, match=r"scores\.tsv.* query 'q' is not the ranks 1 to 2.*header"):
        read_run(file)
    ranked = file_of(tmp_path, "ranks.tsv", "q\tb\t2\np\tx y\t1\nq\ta\t1\n")
    assert rankings(ranked) == {"q": ["a", "b"], "p": ["x y"]}


@pytest.mark.parametrize("quote", ["", '"'])
def test_blanks_after_commas_are_no_part_of_ids(quote: str, tmp_path: Path) -> None:
    file = file_of(tmp_path, "run.csv", f"query_id, doc_id , score\nq, {quote}a{quote} , 1.5\nq, b,\t2.5 \n")
    assert rankings(file) == {"q": ["b", "a"]}
    file = file_of(tmp_path, "qrels.csv", f"query_id, doc_id, relevance\nq, a, {quote}1{quote}\nq, b , 2\n")
    assert grades_of(file) == {"a": 1, "b": 2}


@pytest.mark.parametrize("read", [read_run, read_qrels_file])
@pytest.mark.parametrize("cell", ["", " ", '""'])
def test_an_empty_cell_is_no_id(read: Any, cell: str, tmp_path: Path) -> None:
    value = "score" if read is read_run else "relevance"
    file = file_of(tmp_path, "file.csv", f"query_id,doc_id,{value}\nq,a,1\nq,{cell},2\n")
    with pytest.raises(ValueError, match=r"file\.csv.*: row 2 has no 'doc_id'"):
        read(file)
    rows = [{"query_id": "q", "doc_id": doc, value: 1} for doc in ("a", "")]
    file = file_of(tmp_path, "file.jsonl", "\n".join(map(json.dumps, rows)))
    with pytest.raises(ValueError, match=r"file\.jsonl.*: object 2 has no 'doc_id'"):
        read(file)


def test_a_table_with_ranks_is_a_run(tmp_path: Path) -> None:
    file_of(tmp_path, "one.csv", "query,docid,rank,score\nq,a,1,3\nq,b,2,2\n")
    file_of(tmp_path, "two.csv", "query,docid,rank,score\nq,b,1,3\n")
    assert RunContext.from_files(tmp_path).names == ["one", "two"]
    assert rankings(tmp_path / "one.csv") == {"q": ["a", "b"]}


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "object", "int64[pyarrow]"])
def test_a_null_label_of_parquet_is_unjudged(dtype: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    labels_ = pd.Series([1, None, 0], dtype=dtype)
    frame = pd.DataFrame({"query_id": "q", "doc_id": list("abc"), "relevance": labels_})
    frame.to_parquet(tmp_path / "qrels.parquet")
    assert grades_of(tmp_path / "qrels.parquet") == {"a": 1, "c": 0}


@pytest.mark.parametrize("name", ["p", "map", "score"])
def test_ids_like_names_of_measures_are_ids(name: str, tmp_path: Path) -> None:
    run = {"q": {f"{name}_{i}": 9.0 - i for i in range(3)}}
    for content in (run, run | {"r": run["q"]}, run | {"r": {f"{name}_7": 0.5}}, {"q": {f"{name}_1": 0.5}}):
        assert rankings(file_of(tmp_path, "run.json", json.dumps(content))) == {
            q: list(d) for q, d in content.items()
        }
    assert grades_of(
        file_of(tmp_path, "qrels.json", json.dumps({"q": {f"{name}_1": 1}, "r": {f"{name}_1": 0}}))
    )
    measured = [
        {"q": {"map": 0.5, "P_10": 0.2}},
        {"q": {"P_10": 0.2}, "r": {"P_10": 0.3}},
        {"NDCG": {"NDCG@1": 0.5}, "Recall": {"Recall@1": 0.2}},
    ]
    for values in measured:
        with pytest.raises(ValueError, match=r"run\.json.* JSON file of measures"):
            read_run(file_of(tmp_path, "run.json", json.dumps(values)))


@pytest.mark.parametrize("first", ["2.0", "1"])
def test_a_label_is_read_alike_in_every_line(first: str, tmp_path: Path) -> None:
    """TREC's format has whole numbers, others may write them as fractions."""
    both = [first, "1" if first == "2.0" else "2.0"]
    trec = "".join(f"q 0 d{i} {label}\n" for i, label in enumerate(both))
    with pytest.raises(
        ValueError, match=rf"line {both.index('2.0') + 1}: the relevance '2.0' is not a whole number"
    ):
        read_qrels_file(file_of(tmp_path, "qrels.txt", trec))
    table = "query_id,doc_id,relevance\n" + "".join(f"q,d{i},{label}\n" for i, label in enumerate(both))
    rows = "".join(
        f'{{"query_id": "q", "doc_id": "d{i}", "relevance": {label}}}\n' for i, label in enumerate(both)
    )
    for text in (table, rows, f'{{"q": {{"d0": {both[0]}, "d1": {both[1]}}}}}'):
        assert grades_of(file_of(tmp_path, "qrels", text)) == {
            f"d{i}": int(float(x)) for i, x in enumerate(both)
        }


@pytest.mark.parametrize("at", [0, 1])
def test_a_comment_is_no_row(at: int, tmp_path: Path) -> None:
    """As in trec_eval 10; a line that begins with # and is a row to ir_measures is refused."""
    qrels, run = ["q 0 d 1"], ["q Q0 d 1 2.0 tag"]
    for comment in ("# made by x", "#made by x with words", "#"):
        text = "\n".join([*qrels[:at], comment, "", comment, *qrels[at:]])
        assert grades_of(file_of(tmp_path, "qrels", text)) == {"d": 1}
        text = "\n".join([*run[:at], comment, "", comment, *run[at:]])
        assert rankings(file_of(tmp_path, "run", text)) == {"q": ["d"]}
        with pytest.raises(ValueError, match=r"line 5: the score '1_0'"):
            read_run(file_of(tmp_path, "run", text + "\nq Q0 e 1 1_0 tag"))
    qrels.insert(at, "# all grades_of: 3")
    with pytest.raises(
        ValueError, match=rf"qrels, line {at + 1}: it begins with '#'.*; delete the line, or rename"
    ):
        read_qrels_file(file_of(tmp_path, "qrels", "\n".join(qrels)))
    for row in ("# Q0 d 1 2.0 tag", "#1 Q0 d 1 2.0 tag"):
        with pytest.raises(ValueError, match=rf"line {at + 1}: it begins with '#'"):
            read_run(file_of(tmp_path, "run", "\n".join([*run[:at], row, *run[at:]])))


@pytest.mark.parametrize(
    "line", ["q Q0 a b 1 2.0 t", "q Q0 a 7 1 2.0 t", "q r Q0 a 1 2.0 t", "q Q0 a 1 2.0 t q Q0 b 1 1.0 t", "q Q0 a 1 2.0 tq Q0 b 1 1.0 t"]
)  # fmt: skip
def test_a_line_with_more_than_six_columns(line: str, tmp_path: Path) -> None:
    """Blanks in ids move the columns; two rows in a line are not one; trec_eval passes over words behind the tag."""
    with pytest.raises(
        ValueError,
        match=r"line 2: \d+ columns where a TREC run has six.*no id may hold a blank, and no word may",
    ):
        read_run(file_of(tmp_path, "run", f"q Q0 d 1 3.0 t\n{line}\n"))


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
    file = file_of(tmp_path, f"run.{kind}", head + "".join(LARGE[kind](*row) for row in rows))
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
        file = file_of(tmp_path, f"{case}.jsonl", text)
        fast = read_run(file)
        with monkeypatch.context() as patch:
            patch.setattr(tables, "_lines_by_arrow", lambda content: None)
            slow = read_run(file)
        assert fast.as_given() == slow.as_given(), text
