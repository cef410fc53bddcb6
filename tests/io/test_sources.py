"""RunContext.from_pipelines and RunContext.from_irds; and the generated test collection, as hosts serve it."""

import gzip
import hashlib
import json

import ir_datasets
import ir_measures
import pandas as pd
import pytest
from ir_measures import nDCG

from ir_measures_relative import NRG, RelativeWarning, RunContext, UniqueRel, demo, nDCG_UE
from ir_measures_relative.demo import Index, Retriever, words
from ir_measures_relative.demo.__main__ import main as write_campaign
from tools import demo_collection


@pytest.fixture(scope="module")
def demo_id() -> str:
    return demo.register()


def part(*parts):
    """A dataset with some of the parts of the demo collection."""
    known = {
        "docs": demo._Docs(), "queries": demo._Queries(), "qrels": demo._Qrels(), "scoreddocs": demo._ScoredDocs()
    }  # fmt: skip
    return ir_datasets.Dataset(*(known[p] for p in parts))


def test_the_scoreddocs_are_a_prior(demo_id) -> None:
    data = demo.generate()
    context = RunContext.from_irds(demo_id)
    assert context.names == ["scoreddocs"]
    assert context.num_docs == 1200
    new_run = [ir_measures.ScoredDoc(r.query_id, r.doc_id, -r.score) for r in data.scoreddocs]
    by_hand = RunContext({"scoreddocs": data.scoreddocs}, num_docs=1200)
    measures = [NRG @ 10, UniqueRel @ 5, nDCG_UE(pool="corpus") @ 10, nDCG @ 10]
    values = []
    for each in (context, by_hand):
        with each:
            values.append(ir_measures.calc_aggregate(measures, data.qrels, new_run))
    assert values[0] == values[1]
    assert 0 < values[0][NRG @ 10] != values[0][nDCG @ 10] > 0


class _WithoutScores(demo._ScoredDocs):
    """As those of MS MARCO: which documents to re-rank, and no scores."""

    def scoreddocs_iter(self):
        return (row._replace(score=0.0) for row in super().scoreddocs_iter())


def test_scoreddocs_without_scores_are_no_ranking() -> None:
    dataset = ir_datasets.Dataset(demo._Docs(), demo._Qrels(), _WithoutScores())
    with pytest.warns(RelativeWarning, match="all have the same score") as said:
        context = RunContext.from_irds(dataset)
    assert len(said) == 1 and said[0].filename == __file__
    assert len(context.runs["scoreddocs"]) == len(demo.generate().scoreddocs)
    RunContext.from_irds(dataset, name=None)  # which draws no warning


def test_every_way_to_name_a_dataset(demo_id) -> None:
    pt = pytest.importorskip("pyterrier", reason="pyterrier is not installed")
    expected = RunContext.from_irds(demo_id).runs["scoreddocs"].to_dict()
    for dataset in (f"irds:{demo_id}", ir_datasets.load(demo_id), pt.get_dataset(f"irds:{demo_id}")):
        assert RunContext.from_irds(dataset).runs["scoreddocs"].to_dict() == expected


def test_the_judgments_of_the_dataset(demo_id) -> None:
    context = RunContext.from_irds(demo_id)
    theirs = context.evaluate(list(demo.generate().qrels), ["nDCG@10", "P@5"])
    pd.testing.assert_frame_equal(context.evaluate(None, ["nDCG@10", "P@5"]), theirs)
    assert context.dataset.qrels_defs()[2] == "about both concepts of the topic"
    with pytest.raises(ValueError, match="qrels=None stands for those of"):
        RunContext({"a": {"q": {"d": 1.0}}}).evaluate(None, ["nDCG@10"])


def test_a_dataset_without_scoreddocs() -> None:
    dataset = part("docs", "queries", "qrels")
    message = r"has docs, queries, qrels, but no scoreddocs.*name=None"
    with pytest.raises(ValueError, match=message):
        RunContext.from_irds(dataset)
    context = RunContext.from_irds(dataset, name=None)
    assert (context.names, context.num_docs) == ([], 1200)
    with context:
        value = ir_measures.calc_aggregate(
            [nDCG_UE(pool="corpus") @ 10], context.dataset.qrels_iter(), demo.generate().scoreddocs
        )
    assert 0 < value[nDCG_UE(pool="corpus") @ 10] < 1


def test_num_docs_is_known_without_the_files(demo_id) -> None:
    class Docs(demo._Docs):
        def docs_count(self):
            raise RuntimeError("All download sources failed", [])

    class Known(Docs):
        def docs_metadata(self):
            return {"count": 5}

    assert RunContext.from_irds(ir_datasets.Dataset(Known()), name=None).num_docs == 5
    with pytest.raises(ConnectionError, match="could not be fetched .All download sources failed"):
        RunContext.from_irds(ir_datasets.Dataset(Docs()), name=None)
    assert RunContext.from_irds(ir_datasets.Dataset(Docs()), name=None, num_docs=8).num_docs == 8
    assert RunContext.from_irds("vaswani", name=None).num_docs == 11429
    context = RunContext.from_irds("msmarco-passage/trec-dl-2019/judged", name=None)
    assert context.num_docs == 8841823
    assert context.dataset.qrels_defs()[3].startswith("Perfectly relevant")


def test_unknown_datasets(demo_id) -> None:
    with pytest.raises(ValueError, match=r"knows no dataset 'relative-dmo'"):
        RunContext.from_irds("relative-dmo")
    with pytest.raises(ValueError, match=r"knows no dataset '%%%'; the ids are listed"):
        RunContext.from_irds("%%%")
    with pytest.raises(TypeError, match="an int is not a dataset; give an ir_datasets id"):
        RunContext.from_irds(3)


@pytest.fixture
def pt():
    return pytest.importorskip("pyterrier", reason="pyterrier is not installed")


def test_pipelines_run_once_each(pt, tmp_path) -> None:
    topics = pd.DataFrame({"qid": ["1", "2"], "query": ["x", "y"]})
    results = pd.DataFrame(
        {"qid": [1, 1, 2], "docno": ["a", "b", "a"], "score": [2, 1, 1], "rank": [0, 1, 0]}
    )
    calls = []

    def retrieve(queries):
        calls.append(queries["query"].tolist())
        return results.copy()

    pipeline = pt.apply.generic(retrieve)
    context = RunContext.from_pipelines({"one": pipeline, "two": results.head(2)}, topics, reference="two")
    assert calls == [["x", "y"]]
    assert context.reference == "two"
    expected = {"one": {"1": {"a": 2, "b": 1}, "2": {"a": 1}}, "two": {"1": {"a": 2, "b": 1}}}
    for name, run in expected.items():
        assert context.runs[name].to_dict().keys() == run.keys()
        assert {q: list(d) for q, d in context.runs[name].to_dict().items()} == {
            q: list(d) for q, d in run.items()
        }
    assert results["qid"].tolist() == [1, 1, 2]
    (tmp_path / "topics").write_text("<top>\n<num>7</num>\n<title>z</title>\n</top>\n", encoding="utf-8")
    RunContext.from_pipelines({"one": pipeline}, tmp_path / "topics")
    assert calls[1:] == [["z"]]


def test_wrong_pipelines(pt) -> None:
    topics = pd.DataFrame({"qid": ["1"], "query": ["x"]})
    with pytest.raises(TypeError, match="pipeline 'b' is a str; give a transformer"):
        RunContext.from_pipelines({"b": "bm25"}, topics)
    empty = pd.DataFrame({"qid": [], "docno": [], "score": []})
    with pytest.warns(UserWarning, match="pipeline 'e' gave no result for any topic"):
        context = RunContext.from_pipelines({"e": pt.apply.generic(lambda t: empty)}, topics)
    assert len(context.runs["e"]) == 0


@pytest.fixture(scope="module")
def dataset():
    return ir_datasets.load(demo.register())


def test_register_is_idempotent(dataset):
    assert demo.register() == demo.register() == "relative-demo"
    assert ir_datasets.load("relative-demo") is dataset


def test_the_same_on_every_machine_and_twice(dataset):
    # By ir_datasets' own hashes: a change here changes every number that users have seen.
    assert dataset.docs_hash() == "7a03c4aafec8927b5765db116efb46fc"
    assert dataset.queries_hash() == "0624b9f2e4e4d0218aedc1c00618189f"
    assert dataset.qrels_hash() == "5476b9a8ba8ec2c01a78df3e185c1f0b"


def test_the_file_is_what_the_generator_writes():
    packed = json.loads(gzip.decompress(demo_collection.FILE.read_bytes()))
    assert packed == json.loads(json.dumps(demo_collection.generate()))
    assert packed["docs"] != demo_collection.generate(seed=7)["docs"]


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


def test_the_runs_are_the_same_everywhere():
    runs = demo.runs()
    assert list(runs) == list(demo.GROUPS)
    written = "".join(
        f"{name} {q} {d} {s}\n" for name, run in runs.items() for q, d, s in run.itertuples(index=False)
    )
    assert hashlib.md5(written.encode()).hexdigest() == "54a00da1f092e13e39a0f70234e9ed24"
    assert [tuple(row) for row in runs["BM25"].itertuples(index=False)] == list(demo.generate().scoreddocs)
    runs["BM25"]["score"] = 0.0  # a frame of one's own
    assert demo.runs()["BM25"]["score"].min() > 0


def test_retrieval_by_hand():
    texts = {"a": "red red fox", "b": "red hen", "c": "blue hen blue hen"}
    docs = [ir_datasets.formats.GenericDoc(*item) for item in texts.items()]
    index = Index(docs, words)
    # idf of red: ln(1 + 1.5 / 2.5); a: tf 2 of length 3, b: tf 1 of length 2, the mean length is 3
    assert Retriever(index)("Red") == [
        ("a", round(0.4700036292 * 2 / (2 + 0.9 * (0.6 + 0.4)), 6)),
        ("b", round(0.4700036292 * 1 / (1 + 0.9 * (0.6 + 0.4 * 2 / 3)), 6)),
    ]
    assert [d for d, _ in Retriever(index, k1=0.0)("red")] == ["a", "b"]  # how often does not matter: a tie
    assert Retriever(index)("green") == Retriever(index, feedback=5)("green") == []
    assert [d for d, _ in Retriever(index, feedback=2)("red")] == ["a", "b", "c"]  # by the hen of b


def test_the_campaign_as_files(tmp_path, capsys):
    for _ in range(2):
        write_campaign([str(tmp_path / "campaign")])
    groups = dict(pd.read_csv(tmp_path / "campaign" / "groups.csv").itertuples(index=False))
    assert groups == demo.GROUPS
    context = RunContext.from_files(tmp_path / "campaign" / "runs", groups=groups)
    measures = ["nDCG@10", "NRG@10", "AP_Rareness"]
    files = context.evaluate(str(tmp_path / "campaign" / "qrels.txt"), measures).set_index("name")
    memory = RunContext(demo.runs()).evaluate(demo.generate().qrels, measures).set_index("name")
    assert (files - memory).abs().max().max() < 1e-12
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit, match="2"):
        write_campaign([str(tmp_path / "file")])
    assert "error: " in capsys.readouterr().err


def test_pipelines():
    pt = pytest.importorskip("pyterrier", reason="needs PyTerrier, the extra [pyterrier]")
    topics = pt.get_dataset(f"irds:{demo.register()}").get_topics()
    pipelines = demo.pipelines()
    for name, run in demo.runs().items():
        found = pipelines[name](topics)
        pd.testing.assert_frame_equal(
            pt.model.to_ir_measures(found)[list(run.columns)], run, check_dtype=False
        )
        assert list(found["rank"].head(3)) == [0, 1, 2]
        empty = pipelines[name](topics.head(0))
        assert empty.empty and list(empty.dtypes) == list(found.dtypes)
    bm25 = pipelines["BM25"]
    bm25.set_parameter("k1", 2.0)
    bm25.set_parameter("b", 1.0)
    assert bm25(topics)["docno"].tolist() == pipelines["BM25-long"](topics)["docno"].tolist()
    assert demo.pipelines()["BM25"].k1 == 0.9
