"""The generated test collection, as ir_datasets and PyTerrier serve it."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from itertools import groupby

import ir_datasets
import ir_measures
import pytest

from ir_measures_relative import RunContext, UniqueRel, demo


@pytest.fixture(scope="module")
def dataset():
    return ir_datasets.load(demo.register())


def test_register_is_idempotent(dataset):
    assert demo.register() == demo.register() == "relative-demo"
    assert ir_datasets.load("relative-demo") is dataset


def test_nothing_is_registered_or_generated_by_the_import():
    code = (
        "import ir_measures_relative.demo as d, ir_datasets; "
        "print('relative-demo' in set(ir_datasets.registry), d.generate.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "0"]


def test_the_same_on_every_machine_and_twice(dataset):
    # By ir_datasets' own hashes: a change here changes every number that users have seen.
    assert dataset.docs_hash() == "7a03c4aafec8927b5765db116efb46fc"
    assert dataset.queries_hash() == "0624b9f2e4e4d0218aedc1c00618189f"
    assert dataset.qrels_hash() == "5476b9a8ba8ec2c01a78df3e185c1f0b"
    assert demo.generate.__wrapped__() == demo.generate()
    assert demo.generate.__wrapped__(seed=7).docs != demo.generate().docs


def test_ir_datasets_serves_it(dataset):
    for kind in ("docs", "queries", "qrels", "scoreddocs"):
        assert dataset.has(kind)
    assert not dataset.has_docpairs()
    docs = list(dataset.docs_iter())
    assert dataset.docs_count() == len(docs) == len({d.doc_id for d in docs}) == 1200
    assert dataset.queries_count() == len(list(dataset.queries_iter())) == 36
    assert dataset.qrels_count() == len(list(dataset.qrels_iter()))
    assert dataset.scoreddocs_count() == len(list(dataset.scoreddocs_iter()))
    assert list(dataset.docs_iter()[10:20:3]) == docs[10:20:3]
    assert dataset.docs_iter()[-1] == docs[-1]
    assert dataset.docs_store().get("d0042") == docs[41]
    assert set(dataset.docs_store().get_many(["d0001", "d0003", "d9999"])) == {"d0001", "d0003"}
    with pytest.raises(KeyError):
        dataset.docs_store().get("d9999")
    assert dataset.docs.lookup("d0001").default_text() == docs[0].text
    assert dataset.queries.lookup("1").text == next(dataset.queries_iter()).text
    assert "both concepts" in dataset.qrels_defs()[2]
    assert "vocabulary mismatch" in dataset.documentation()["desc"]


def test_judgments_are_sane(dataset):
    docs = {d.doc_id for d in dataset.docs_iter()}
    queries = {q.query_id for q in dataset.queries_iter()}
    qrels = list(dataset.qrels_iter())
    assert {q.query_id for q in qrels} == queries
    assert {q.doc_id for q in qrels} <= docs
    assert len({(q.query_id, q.doc_id) for q in qrels}) == len(qrels)
    of_query = {q: Counter(r.relevance for r in qrels if r.query_id == q) for q in queries}
    assert set().union(*of_query.values()) == set(dataset.qrels_defs())
    for grades in of_query.values():  # every query has something to find, to find less of, and to avoid
        assert all(grades[grade] >= 5 for grade in (0, 1, 2))
        assert grades[1] + grades[2] <= 60


def test_words_do_not_find_everything(dataset):
    """Vocabulary mismatch: a good part of what is relevant shares no word with the query."""
    docs = {d.doc_id: set(d.text.lower().replace(".", "").split()) for d in dataset.docs_iter()}
    queries = {q.query_id: set(q.text.split()) - {"and"} for q in dataset.queries_iter()}
    shares = [bool(docs[q.doc_id] & queries[q.query_id]) for q in dataset.qrels_iter() if q.relevance == 2]
    assert 0.4 < sum(shares) / len(shares) < 0.8


def test_the_first_stage_run(dataset):
    run = list(dataset.scoreddocs_iter())
    assert max(Counter(r.query_id for r in run).values()) <= 100
    qrels = list(dataset.qrels_iter())
    assert 0.3 < (ir_measures.nDCG @ 10).calc_aggregate(qrels, run) < 0.7
    head = [r for _, rows in groupby(run, key=lambda r: r.query_id) for r in list(rows)[:5]]
    with RunContext({"first stage": run}):  # a part of it finds nothing that it does not
        assert (UniqueRel @ 10).calc_aggregate(qrels, head) == 0.0


def test_pyterrier_serves_it():
    pt = pytest.importorskip("pyterrier", reason="needs PyTerrier, the extra [pyterrier]")
    dataset = pt.get_dataset(f"irds:{demo.register()}")
    topics, qrels, run = dataset.get_topics(), dataset.get_qrels(), dataset.get_results()
    assert list(topics.columns) == ["qid", "query"] and len(topics) == 36
    assert {"qid", "docno", "label"} <= set(qrels.columns) and sorted(set(qrels["label"])) == [0, 1, 2]
    assert {"qid", "docno", "score", "query"} <= set(run.columns) and set(run["qid"]) == set(topics["qid"])
    corpus = list(dataset.get_corpus_iter(verbose=False))
    assert len(corpus) == 1200 and set(corpus[0]) == {"docno", "text"}
    part = list(dataset.get_corpus_iter(verbose=False, start=5, count=3))
    assert part == corpus[5:8]
    texts = dataset.text_loader()(run.head(3))
    assert texts["text"].str.len().min() > 20
