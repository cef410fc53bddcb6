"""RunContext.from_pipelines and RunContext.from_irds."""

import ir_datasets
import ir_measures
import pandas as pd
import pytest
from ir_measures import nDCG

from ir_measures_relative import NRG, RelativeWarning, RunContext, UniqueRel, demo, nDCG_UE


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
