"""What other tools write is told by its content and read as the TREC files of the same campaign; or refused by name."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tools.pages import PAGE, PLACE, block, filled

from command_line import here
from ir_measures_relative import RunContext
from ir_measures_relative.formats.content import Content, scores_in_order
from ir_measures_relative.formats.foreign_files import formats
from ir_measures_relative.io.qrels import read_qrels_file
from ir_measures_relative.io.runs import read_run
from ir_measures_relative.io.trec_files import read_trec_runs
from kinds import OF_JUDGMENTS, OF_NEITHER, OF_RUNS, QRELS, RUNS, Kind, trec_qrels, trec_run
from read_back import labels, rankings

pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
pytestmark = pytest.mark.filterwarnings("ignore::ir_measures_relative.RelativeWarning")


def expected(name: str, kind: Kind) -> dict[str, list[str]]:
    """The rankings of a run as a file of this kind holds it."""
    run: Any = RUNS[name]
    if not kind.ordered:
        run = read_trec_runs(trec_run(name), "x")[0].to_dict()
    return {q: list(docs)[: kind.depth] for q, docs in run.items()}


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("kind", OF_RUNS)
def test_a_run_has_the_rankings_of_the_trec_file(kind: str, name: str, tmp_path: Path) -> None:
    of = OF_RUNS[kind]
    file = tmp_path / "file"
    file.write_bytes(of.write(name))
    path = f"{file}#{of.part.replace('NAME', name)}" if of.part else file
    assert rankings(path) == expected(name, of)


@pytest.mark.parametrize("kind", OF_JUDGMENTS)
def test_judgments_have_the_labels_of_the_trec_file(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(OF_JUDGMENTS[kind].write(""))
    assert labels(file) == QRELS


ALL = [
    *((kind.format, kind.write("rerank.v2")) for kind in OF_RUNS.values()),
    *((kind.format, kind.write("")) for kind in OF_JUDGMENTS.values()),
    *OF_NEITHER.items(),
]


@pytest.mark.parametrize(("name", "data"), ALL, ids=[name for name, _ in ALL])
def test_a_file_is_of_one_format(name: str, data: bytes) -> None:
    """So that the order in which formats are asked does not matter."""
    assert [f.name for f in formats() if f.holds(Content(data, "x"))] == [name]


def test_every_format_has_a_file_here_and_trec_files_are_of_none() -> None:
    assert {f.name for f in formats()} == {name for name, _ in ALL}
    for data in (trec_run("dense_ü"), trec_qrels(), b"", b"\n \n", b"q\t0\td\t1\n"):
        assert not [f.name for f in formats() if f.holds(Content(data, "x"))]


@pytest.mark.parametrize("name", OF_NEITHER)
def test_what_is_neither_is_refused_by_name(name: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(OF_NEITHER[name])
    with pytest.raises(ValueError, match=f"run 'r' .* does not hold a run: it is {name.split(' (')[0]}"):
        RunContext({"r": file})
    with pytest.raises(
        ValueError, match=f"the qrels .* does not hold judgments: it is {name.split(' (')[0]}"
    ):
        read_qrels_file(file)
    file.write_bytes(OF_RUNS["KILT"].write("rerank.v2"))
    with pytest.raises(ValueError, match=r"file.* holds a run: it is KILT"):  # the other of the two
        read_qrels_file(file)


def test_a_part_is_named_where_there_are_several(tmp_path: Path) -> None:
    file = tmp_path / "predictions.json"
    file.write_bytes(OF_RUNS["MTEB"].write("rerank.v2"))
    with pytest.raises(ValueError, match=r"holds 'deu:dev', 'deu:test', 'eng:dev', 'eng:test'"):
        read_run(file)
    for part in ("test", "fra", "eng:train"):
        with pytest.raises(ValueError, match=rf"such as '#deu:dev', and not '{part}'"):
            read_run(f"{file}#{part}")
    assert RunContext.from_files(f"{file}#eng:test").names == ["x/rerank.v2"]
    file.write_bytes(OF_RUNS["MTEB, one subset"].write("rerank.v2"))
    assert rankings(f"{file}#test") == rankings(file)
    file.write_bytes(OF_RUNS["dict"].write("rerank.v2"))
    with pytest.raises(ValueError, match="holds one run, and no part 'test'; leave out '#test'"):
        read_run(f"{file}#test")
    for data, read in ((trec_run("rerank.v2"), read_run), (trec_qrels(), read_qrels_file)):
        file.write_bytes(data)
        with pytest.raises(ValueError, match="(no part|the tag) 'test'; leave out '#test'"):
            read(f"{file}#test")
    literal = tmp_path / "runs#test"
    literal.write_bytes(trec_run("rerank.v2"))
    assert len(read_run(literal)) == 15  # a file of this name goes before a part


def test_a_folder_of_json(tmp_path: Path) -> None:
    """Named by the files; judgments among them are not taken for a run."""
    for name in RUNS:
        (tmp_path / f"{name}.json").write_bytes(OF_RUNS["dict"].write(name))
    context = RunContext.from_files(tmp_path)
    assert context.names == sorted(RUNS)
    table = context.evaluate(QRELS, ["nDCG@10", "NRG@10"])
    same = RunContext({name: read_trec_runs(trec_run(name), name)[0] for name in sorted(RUNS)})
    assert table.equals(same.evaluate(QRELS, ["nDCG@10", "NRG@10"]))
    (tmp_path / "qrels.json").write_bytes(OF_JUDGMENTS["dict"].write(""))
    with pytest.raises(ValueError, match=r"qrels\.json may be judgments: all its scores are whole numbers"):
        RunContext.from_files(tmp_path)


def test_folders_of_tira(tmp_path: Path) -> None:
    """Names and groups are those of the metadata, beside the run or above it."""
    for name, team in (("bm25-base", "ows"), ("dense_ü", "seupd")):
        folder = tmp_path / team / name / "lag-1"
        folder.mkdir(parents=True)
        (folder / "run.txt").write_bytes(trec_run(name).replace(name.encode(), b"run"))
        (folder.parent / "ir-metadata.yml").write_text(f"tag: {name}\nactor:\n  team: {team}\n", "utf-8")
    context = RunContext.from_files(tmp_path)
    assert dict(context.groups) == {"bm25-base": "ows", "dense_ü": "seupd"}
    assert RunContext.from_files(tmp_path, groups=None).groups == {}
    assert RunContext.from_files(f"{tmp_path}/*/*/lag-1").names == ["bm25-base", "dense_ü"]
    (tmp_path / "ows" / "bm25-base" / "ir-metadata.yml").write_text("a: [", "utf-8")
    with pytest.raises(ValueError, match=r"ir-metadata\.yml is not valid YAML \(.*\); fix or delete it"):
        RunContext.from_files(tmp_path)


@pytest.mark.parametrize("label", ["", " ", None])
def test_no_label_is_unjudged(label: Any, tmp_path: Path) -> None:
    file = tmp_path / "qrels.json"
    file.write_text(json.dumps({"q": {"a": "3.0", "b": label, "c": 0}, "r": {"d": label}}))
    assert labels(file) == {"q": {"a": 3, "c": 0}}


@pytest.mark.parametrize(
    ("label", "message"), [("0.9", "0.9.*by a threshold, such as"), ("high", "'high'; relevance must")]
)
def test_labels_that_are_no_whole_numbers(label: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "qrels.json"
    file.write_text(json.dumps({"q": {"a": 1, "b": label}}))
    with pytest.raises(
        ValueError, match=rf"qrels\.json: query 'q', document 'b' has the relevance {message}"
    ):
        read_qrels_file(file)


BROKEN = {
    "cut": ('{"q": {"a": 1.0', r"the JSON is cut or damaged \(.* in line 1, column 16\)"),
    "cut line": ('{"id": "q", "output": []}\n{"id": "r"', r"line 2: the JSON is cut or damaged"),
    "more": ('{\n"q": {"a": 1.0}}\n{}', "line 1: the JSON is cut or damaged|cut or damaged .extra data in line 3"),
    "twice": ('{"q": {"a": 1.0, "a": 2.0}}', "the key 'a' stands twice in one object"),
    "NaN": ('{"q": {"a": NaN}}', "query 'q', document 'a' has the score nan"),
    "infinite": ('{"q": {"a": 1e999}}', "query 'q', document 'a' has the score inf"),
    "huge": ('{"q": {"a": 1' + "0" * 400 + "}}", "query 'q', document 'a' has a score that is not a float"),
    "digits": ('{"q": {"a": ' + "1" * 10_000 + "}}", "holds a number of thousands of digits|not a float"),
    "text": ('{"q": {"b": 1, "a": "x"}}', "query 'q', document 'a' has the score 'x', a str"),
    "deep": ('{"q": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deep"),
    "list": ("[[1, 2]]", "is JSON of no kind that is read here; give"),
    "objects": ('[{"a": 1, "b": 2}]', r"is JSON of no kind that is read here \(its first keys are \['a', 'b'\]\)"),
    "other": ('{"a": 1, "b": 2}', r"is JSON of no kind that is read here \(its first keys are \['a', 'b'\]\)"),
    "Latin": ('{"q": {"\udce9": 1.0}}', "line 1: not text in UTF-8"),
    "half": ('{"q": {"\\ud800": 1.0}}', "half of a surrogate pair"),
    "output": ('{"id": "q", "output": 7}', r"looks like KILT \(pyserini\), but is not built"),
    "id": ('{"id": "q", "output": [{"provenance": [{}]}]}', "not built like one: it lacks 'wikipedia_id'"),
    "two lists": ('{"id": "q", "output": []}\n{"id": "q", "output": []}', "query 'q' has two lists"),
    "document": (
        '{"topic_id": "q", "references": ["a", "a"]}',
        "query 'q' lists document 'a' more than"
    ),
    "cells": ("query_id,doc_id,score\nq,a,1.0\nq,b\n", "line 3: 2 columns where there should be 3"),
    "score": ("query_id,doc_id,score\nq,a,1_0\n", "query 'q', document 'a' has the score '1_0'"),
    "ranks": ("q\ta\t1\nq\tb\tx\n", "query 'q', document 'b' has the rank 'x'"),
    "columns": ("q\ta\t1\nq\tb\n", "line 2: 2 columns where there should be 3"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_broken_is_refused_in_words(case: str, tmp_path: Path) -> None:
    content, message = BROKEN[case]
    file = tmp_path / "file.json"
    file.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match=rf"(?s)file\.json.*({message})"):
        read_run(file)


def test_scores_that_keep_an_order() -> None:
    """Given scores are kept where they fall, and lie a step of a float lower where they do not."""
    query = np.array([0, 0, 0, 0, 1, 1, 1])
    given = [3.0, 2.0, 2.0, -0.0, -1.5, -1.5, 7.0]
    kept = scores_in_order(query, np.arange(7), given)
    assert kept[[0, 1, 3, 4]].tolist() == [3.0, 2.0, 0.0, -1.5]
    assert kept[2] == np.nextafter(np.float32(2), np.float32(0)) and kept[5] == np.nextafter(
        np.float32(-1.5), np.float32(-2)
    )
    assert (np.diff(kept.astype(np.float32))[[0, 1, 2, 4, 5]] < 0).all()
    assert scores_in_order(query, -np.arange(7), None).tolist() == [-4, -3, -2, -1, -3, -2, -1]
    assert scores_in_order(query, np.arange(7), [1.0] * 6 + [None]).tolist() == [-1, -2, -3, -4, -1, -2, -3]
    assert len(scores_in_order(np.array([], dtype=int), [], [])) == 0
    assert scores_in_order(np.array([0, 1, 1]), np.arange(3), [-1.0, 5.0, 3.0]).tolist() == [-1.0, 5.0, 3.0]


def test_the_command_takes_one_run_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "results").write_bytes(OF_RUNS["references of three"].write(""))
    (tmp_path / "qrels").write_bytes(OF_JUDGMENTS["dict"].write(""))

    several = here("qrels", "results", "nDCG@10", cwd=tmp_path)
    assert several.returncode == 2 and "hold 3 runs" in several.stderr and "FILE#bm25-base" in several.stderr
    one = here("qrels", "results#dense_ü", "nDCG@10", cwd=tmp_path)
    assert one.stdout.startswith("nDCG@10\t"), one.stderr


def test_the_page_has_the_table_of_the_formats() -> None:
    assert filled(PAGE, PLACE) == block(), "run: python -m tools.pages"


HITS = {
    "judgments": [
        {"judgmentRatings": [{"query": 'a "b", c', "ratings": [{"docId": "d-1", "rating": "2.0"}]}]},
    ],
    "results": [
        {"searchConfigurationId": name, "searchText": 'a "b", c', "documentIds": docs}
        for name, docs in {"bm25": ["d-2", "d-1"], "dense": ["d-9"]}.items()
    ],
    "experiment": [
        {
            "results": [
                {
                    "queryText": 'a "b", c',
                    "snapshots": [{"searchConfigurationId": "bm25", "docIds": ["d-2", "d-1"]}],
                }
            ]
        }
    ],
}


def test_the_lines_of_jq_for_opensearch(tmp_path: Path) -> None:
    if shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("jq ")]
    assert len(lines) == len(HITS)
    for (name, documents), line in zip(HITS.items(), lines, strict=True):
        found = {"hits": {"hits": [{"_source": document} for document in documents]}}
        (tmp_path / f"{name}.json").write_text(json.dumps(found))
        subprocess.run(line, shell=True, check=True, cwd=tmp_path)
        if name == "judgments":
            assert labels(tmp_path / "qrels.csv") == {'a "b", c': {"d-1": 2}}
        else:
            assert rankings(tmp_path / "bm25.csv") == {'a "b", c': ["d-2", "d-1"]}
            (tmp_path / "bm25.csv").unlink()


@pytest.mark.parametrize("kind", ["parquet", "trec", "txt", "lz4"])
def test_what_ranx_saves(kind: str, tmp_path: Path) -> None:
    ranx = pytest.importorskip("ranx", reason="ranx is not installed")
    ranx.Run(RUNS["dense_ü"]).save(str(tmp_path / f"run.{kind}"))
    if kind == "lz4":
        with pytest.raises(ValueError, match="is an lz4 file, which is not read here"):
            read_run(tmp_path / "run.lz4")
        return
    ranx.Qrels(QRELS).save(str(tmp_path / f"qrels.{kind}"))
    assert rankings(tmp_path / f"run.{kind}") == expected("dense_ü", OF_RUNS["dict"])
    assert labels(tmp_path / f"qrels.{kind}") == QRELS


@pytest.mark.parametrize("layout", ["native", "flat"])
def test_what_lenskit_saves(layout: str, tmp_path: Path) -> None:
    data = pytest.importorskip("lenskit.data", reason="LensKit is not installed")

    def saved(name: str, lists: Any, **fields: str) -> Path:
        found = {
            7 + i: data.ItemList(item_ids=list(docs), **{f: np.array(list(docs.values()), dtype=float) for f in fields.values()}, ordered=name == "run")
            for i, docs in enumerate(lists.values())
        }  # fmt: skip
        file = tmp_path / f"{name}.parquet"
        data.ItemListCollection.from_dict(found, key="user_id").save_parquet(file, layout=layout)
        return file

    run = saved("run", RUNS["rerank.v2"], values="scores")
    assert rankings(run) == {str(7 + i): list(docs) for i, docs in enumerate(RUNS["rerank.v2"].values())}
    test = saved("test", QRELS, values="rating")
    assert labels(test) == {str(7 + i): docs for i, docs in enumerate(QRELS.values())}


def test_judgments_by_nugget_are_not_taken_for_queries(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("".join(f"{q}_{n} 0 d-1 1\n" for q in QRELS for n in range(3)), "utf-8")
    with pytest.raises(ValueError, match="'q-1_0' may be a nugget of a query: give judgments by query"):
        RunContext({"r": RUNS["rerank.v2"]}, priors=[]).evaluate(tmp_path / "qrels", ["nDCG@10"])


def test_aspects_of_a_table_are_those_of_the_trec_file(tmp_path: Path) -> None:
    rows = [("q", "1", "a", 1), ("q", "2", "a", 0), ("q", "1", "b", 2)]
    (tmp_path / "trec").write_text("".join(f"{q} {n} {d} {r}\n" for q, n, d, r in rows))
    header = "query_id,iteration,doc_id,relevance\n"
    (tmp_path / "csv").write_text(header + "".join(f"{q},{n},{d},{r}\n" for q, n, d, r in rows) + "q,3,c,\n")
    trec, table = (read_qrels_file(tmp_path / name) for name in ("trec", "csv"))
    assert table.aspect_texts().tolist() == trec.aspect_texts().tolist() == ["1", "2", "1"]
    assert [ids.tolist() for ids in table.ids()] == [ids.tolist() for ids in trec.ids()]
    assert table.relevance.tolist() == [1, 0, 2]


@pytest.mark.parametrize("text", ["query_id,doc_id,score\0\n1,a,2\n", f"query_id,{'x' * 200_000}\n1,a\n"])
def test_a_first_line_that_is_no_header_of_a_table(tmp_path: Path, text: str) -> None:
    """Python's reader of CSV gives up on these, and the message is about the file all the same."""
    path = tmp_path / "table.csv"
    path.write_text(text)
    for read in (read_run, read_qrels_file):
        with pytest.raises(ValueError, match=r"table\.csv\)?(, line 1|: the table has no column)"):
            read(str(path))


def test_a_parquet_file_whose_first_bytes_end_as_a_line_of_columns(tmp_path: Path) -> None:
    """An id with white space in it stands in the first bytes as it is."""
    import pandas as pd

    ids = ["1\tP@1\t9.9\n2", "1 P@1 9.9 x\n2", "3"]
    frame = pd.DataFrame({"query_id": ids, "doc_id": ["a", "b", "c"], "score": 1.0, "relevance": 1})
    frame.to_parquet(tmp_path / "file")
    assert list(read_run(tmp_path / "file").to_dict()) == ids
    assert read_qrels_file(tmp_path / "file").ids()[0].tolist() == ids
