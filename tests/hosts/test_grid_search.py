"""pt.GridScan, pt.GridSearch and pt.KFoldGridSearch with a relative measure, inside a context."""

import threading
from itertools import product

import ir_measures
import pandas as pd
import pytest
from ir_measures import nDCG

from experiments import pt
from ir_measures_relative import NRG, RunContext, demo

WEIGHTS, DEPTHS = [0.0, 0.3, 0.9], [5, 100]
SETTINGS = list(product(WEIGHTS, DEPTHS))


class Fusion(pt.Transformer):
    """A weighted sum of two runs' reciprocal ranks; ``depth`` cuts both."""

    def __init__(self, first: pd.DataFrame, second: pd.DataFrame) -> None:
        self.runs = first, second
        self.weight, self.depth = 0.5, 100

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        parts = []
        for run, weight in zip(self.runs, (self.weight, 1 - self.weight), strict=True):
            run = run[run["qid"].isin(inp["qid"]) & (run["rank"] < self.depth)]
            parts.append(run.assign(score=weight / (60 + run["rank"])))
        fused = pd.concat(parts).groupby(["qid", "docno"], as_index=False)["score"].sum()
        return pt.model.add_ranks(fused)


@pytest.fixture(scope="module")
def collection():
    """Topics, qrels, a deployed run, and another one that knows the labels."""
    dataset = pt.get_dataset(f"irds:{demo.register()}")
    topics, names = dataset.get_topics().head(12), {"query_id": "qid", "doc_id": "docno"}
    qrels = dataset.get_qrels()[["qid", "docno", "label"]]
    qrels = qrels[qrels["qid"].isin(topics["qid"])].reset_index(drop=True)
    deployed = pd.DataFrame(demo.generate().scoreddocs).rename(columns=names)
    other = qrels.assign(score=qrels["docno"].str[-2:].astype(float) * (qrels["label"] + 1))
    runs = (pt.model.add_ranks(run[["qid", "docno", "score"]]) for run in (deployed, other))
    return topics, qrels, *runs


@pytest.fixture
def search(collection):
    topics, qrels, *runs = collection
    fusion = Fusion(*runs)
    return fusion, {fusion: {"weight": WEIGHTS, "depth": DEPTHS}}, topics, qrels


@pytest.fixture
def context(collection):
    return RunContext({"deployed": collection[2]})


@pytest.fixture(scope="module")
def expected(collection):
    """NRG@10 by setting, without pt.GridScan and without PyTerrier's evaluation."""
    topics, qrels, *runs = collection
    fusion, values = Fusion(*runs), {}
    judged = qrels.rename(columns={"qid": "query_id", "docno": "doc_id", "label": "relevance"})
    for fusion.weight, fusion.depth in SETTINGS:
        run = fusion(topics).rename(columns={"qid": "query_id", "docno": "doc_id"})
        with RunContext({"deployed": collection[2]}):
            values[fusion.weight, fusion.depth] = (NRG @ 10).calc_aggregate(judged, run)
    assert len(set(values.values())) == 6
    return values


@pytest.mark.parametrize("options", [{}, {"batch_size": 7}], ids=str)
def test_grid_scan(search, context, expected, options) -> None:
    with context:
        table = pt.GridScan(*search, [NRG @ 10, nDCG @ 10], **options)
    found = table.set_index(["tran_0_weight", "tran_1_depth"])["NRG@10"].to_dict()
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
    assert (fusion.weight, fusion.depth) == (best if return_type != "best_setting" else (0.5, 100))


def test_k_fold_grid_search(search, context) -> None:
    fusion, parameters, topics, qrels = search
    folds = [topics[i::3] for i in range(3)]
    with context:
        results, settings = pt.KFoldGridSearch(fusion, parameters, folds, qrels, NRG @ 10)
    assert (fusion.weight, fusion.depth) == (0.5, 100)  # as it was
    parts = []
    for fold, setting in zip(folds, settings, strict=True):
        rest, values = topics[~topics["qid"].isin(fold["qid"])], {}
        for fusion.weight, fusion.depth in SETTINGS:
            with context:
                table = pt.Experiment([fusion], rest, qrels, [NRG @ 10], validate="ignore")
            values[fusion.weight, fusion.depth] = table["NRG@10"][0]
        fusion.weight, fusion.depth = best = max(values, key=values.__getitem__)
        assert {(name, v) for _, name, v in setting} == {("weight", best[0]), ("depth", best[1])}
        parts.append(fusion(fold))
    pd.testing.assert_frame_equal(results, pd.concat(parts))


@pytest.mark.filterwarnings("ignore:resource_tracker")
def test_other_processes_and_threads_do_not_see_the_context(search, context) -> None:
    with pytest.raises(ValueError, match="NRG@10 needs the runs to compare with"):
        pt.GridSearch(*search, NRG @ 10)
    errors = []

    def score() -> None:
        try:
            ir_measures.calc_aggregate([NRG @ 10], {"q": {"a": 1}}, {"q": {"a": 1.0}})
        except ValueError as error:
            errors.append(str(error))

    with context:
        thread = threading.Thread(target=score)
        thread.start()
        thread.join()
    assert "does not reach the threads" in errors[0]
    pytest.importorskip("pyterrier_alpha.parallel", reason="PyTerrier's jobs need pyterrier-alpha[parallel]")
    pytest.importorskip("joblib", reason="PyTerrier's jobs need pyterrier-alpha[parallel]")
    with (
        context,
        pytest.raises(ValueError, match=r"(?s)no RunContext is active.*threads and processes.*jobs=1"),
    ):
        pt.GridScan(*search, [NRG @ 10], jobs=2)
