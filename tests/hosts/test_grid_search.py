"""pt.GridScan, pt.GridSearch and pt.KFoldGridSearch with a relative measure, inside a context."""

from __future__ import annotations

import threading

import ir_measures
import pandas as pd
import pytest
from ir_measures import nDCG

from ir_measures_relative import NRG, RunContext, UniqueRel, demo

pt = pytest.importorskip("pyterrier", reason="pyterrier is not installed")


class Fusion(pt.Transformer):
    """A weighted sum of two runs' reciprocal ranks; ``depth`` cuts both."""

    def __init__(self, first: pd.DataFrame, second: pd.DataFrame) -> None:
        self.runs = first, second
        self.weight = 0.5
        self.depth = 100

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        parts = []
        for run, weight in zip(self.runs, (self.weight, 1 - self.weight), strict=True):
            run = run[run["qid"].isin(inp["qid"]) & (run["rank"] < self.depth)]
            parts.append(run.assign(score=weight / (60 + run["rank"])))
        fused = pd.concat(parts).groupby(["qid", "docno"], as_index=False)["score"].sum()
        return pt.model.add_ranks(fused)


@pytest.fixture(scope="module")
def collection():
    """Topics, qrels, a deployed run, and two others, by how many words of a topic, or letters, a document has."""
    data = demo.generate()
    topics = pd.DataFrame([(q.query_id, q.text) for q in data.queries], columns=["qid", "query"])
    qrels = pd.DataFrame(
        [(r.query_id, r.doc_id, r.relevance) for r in data.qrels], columns=["qid", "docno", "label"]
    )
    deployed = pd.DataFrame(
        [(r.query_id, r.doc_id, r.score) for r in data.scoreddocs], columns=["qid", "docno", "score"]
    )
    judged = qrels.assign(score=qrels["docno"].str[-2:].astype(float) * (qrels["label"] + 1))
    return topics, qrels, *(pt.model.add_ranks(run[["qid", "docno", "score"]]) for run in (deployed, judged))


@pytest.fixture
def search(collection):
    topics, qrels, deployed, other = collection
    fusion = Fusion(deployed, other)
    return fusion, {fusion: {"weight": [0.0, 0.3, 0.9], "depth": [5, 100]}}, topics, qrels


@pytest.fixture
def context(collection):
    return RunContext({"deployed": collection[2]})


@pytest.fixture
def expected(collection, context):
    """{(weight, depth): NRG@10}, without pt.GridScan and without PyTerrier's evaluation."""
    topics, qrels, deployed, other = collection
    values = {}
    for weight in (0.0, 0.3, 0.9):
        for depth in (5, 100):
            fusion = Fusion(deployed, other)
            fusion.weight, fusion.depth = weight, depth
            run = fusion(topics).rename(columns={"qid": "query_id", "docno": "doc_id"})
            judged = qrels.rename(columns={"qid": "query_id", "docno": "doc_id", "label": "relevance"})
            with context:
                values[weight, depth] = ir_measures.calc_aggregate([NRG @ 10], judged, run)[NRG @ 10]
    assert len(set(values.values())) == 6
    return values


@pytest.mark.parametrize("options", [{}, {"batch_size": 7}], ids=str)
def test_grid_scan(search, context, expected, options) -> None:
    with context:
        table = pt.GridScan(*search, [NRG @ 10, nDCG @ 10], **options)
    found = {
        (r.tran_0_weight, r.tran_1_depth): value
        for r, value in zip(table.itertuples(), table["NRG@10"], strict=True)
    }
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("return_type", ["opt_pipeline", "best_setting", "both"])
def test_grid_search(search, context, expected, return_type) -> None:
    fusion = search[0]
    with context:
        outcome = pt.GridSearch(*search, NRG @ 10, return_type=return_type)
    best = max(expected, key=expected.__getitem__)
    if return_type == "opt_pipeline":
        assert outcome is fusion
    else:
        value, setting = outcome[-2:]
        assert value == pytest.approx(expected[best], abs=1e-12)
        assert {(name, v) for _, name, v in setting} == {("weight", best[0]), ("depth", best[1])}
    tuned = (fusion.weight, fusion.depth)
    assert tuned == (best if return_type != "best_setting" else (0.5, 100))


def test_the_context_decides_what_is_best(search, collection) -> None:
    """Beside the first run, the second complements; beside the second, the first does."""
    settings = {}
    for name, run in zip(("first", "second"), collection[2:], strict=True):
        with RunContext({name: run}):
            _, setting = pt.GridSearch(*search, UniqueRel @ 10, return_type="best_setting")
            settings[name] = {parameter: value for _, parameter, value in setting}
    assert settings["first"]["weight"] == 0.0
    assert settings["second"]["weight"] == 0.9


def test_k_fold_grid_search(search, context, collection) -> None:
    fusion, parameters, topics, qrels = search
    folds = [topics[i::3] for i in range(3)]
    with context:
        results, settings = pt.KFoldGridSearch(fusion, parameters, folds, qrels, NRG @ 10)
    assert (fusion.weight, fusion.depth) == (0.5, 100)  # as it was
    parts = []
    for fold, setting in zip(folds, settings, strict=True):
        values = {}
        for weight in (0.0, 0.3, 0.9):
            for depth in (5, 100):
                fusion.weight, fusion.depth = weight, depth
                rest = topics[~topics["qid"].isin(fold["qid"])]
                with context:
                    table = pt.Experiment([fusion], rest, qrels, [NRG @ 10], validate="ignore")
                values[weight, depth] = table["NRG@10"][0]
        best = max(values, key=values.__getitem__)
        assert {(name, v) for _, name, v in setting} == {("weight", best[0]), ("depth", best[1])}
        fusion.weight, fusion.depth = best
        parts.append(fusion(fold))
    pd.testing.assert_frame_equal(results, pd.concat(parts))


def test_without_a_context(search) -> None:
    with pytest.raises(ValueError, match="NRG@10 needs the runs to compare with"):
        pt.GridSearch(*search, NRG @ 10)


@pytest.mark.filterwarnings("ignore:resource_tracker")
def test_other_processes_and_threads_do_not_see_the_context(search, context) -> None:
    pytest.importorskip("pyterrier_alpha.parallel", reason="PyTerrier's jobs need pyterrier-alpha[parallel]")
    pytest.importorskip("joblib", reason="PyTerrier's jobs need pyterrier-alpha[parallel]")
    message = r"(?s)no RunContext is active.*does not reach the threads and processes.*jobs=1"
    with context, pytest.raises(ValueError, match=message):
        pt.GridScan(*search, [NRG @ 10], jobs=2)
    errors = []

    def score() -> None:
        try:
            (NRG @ 10).calc_aggregate({"q": {"a": 1}}, {"q": {"a": 1.0}})
        except ValueError as error:
            errors.append(str(error))

    with context:
        thread = threading.Thread(target=score)
        thread.start()
        thread.join()
    assert "does not reach the threads" in errors[0]
