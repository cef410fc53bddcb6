"""Batches of topics, and grid search in a context: the values are the same without, or it is an error."""

import threading
import warnings
from itertools import product

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import P, nDCG

from experiments import TREE, Campaign, Given, judged, pt, ranked, topics_of
from ir_measures_relative import MED, NRG, RelativeWarning, RunContext, UniqueRel, demo
from ir_measures_relative.context.priors import BestOfOtherGroups

GRADED = [MED @ 10, MED(base="SDCG") @ 10, MED(base="ERR") @ 5]
PLANS = pytest.mark.parametrize("options", [{}, TREE], ids=str)
pytestmark = pytest.mark.filterwarnings("ignore:There are shared pipeline components")


def made() -> Campaign:
    """Two runs; the first four topics have grades 0 and 1, the others 0 to 3."""
    rng = np.random.default_rng(3)
    queries, docs = [f"q{i}" for i in range(8)], [f"d{i}" for i in range(30)]
    labels = {q: {d: int(rng.integers(0, 2 if q < "q4" else 4)) for d in docs[:12]} for q in queries}
    assert [max(of.values()) for of in labels.values()] == [1] * 4 + [3] * 4
    runs = {
        n: {q: dict(zip(rng.permutation(docs)[:15], range(15), strict=True)) for q in queries} for n in "ab"
    }
    return Campaign(topics_of(*queries), judged(labels), ranked(runs))


CAMPAIGN = made()


def values(measures, campaign=CAMPAIGN, **options) -> pd.DataFrame:
    """Of run "a", by query."""
    system = pt.Transformer.from_df(CAMPAIGN.frames["a"]) >> pt.apply.name(lambda row: "a")
    table = campaign.plain(measures, [system], names=["a"], perquery=True, validate="ignore", **options)
    return table.sort_values(["qid", "measure"], ignore_index=True)


@PLANS
@pytest.mark.parametrize("measure", GRADED, ids=str)
def test_batches_that_disagree_about_the_grades(measure, options) -> None:
    context, graded = (RunContext(CAMPAIGN.frames, reference="b", grades=g) for g in (None, (0, 3)))
    with context:
        whole = values([measure], **options)
    with RunContext(CAMPAIGN.frames, reference="b"), pytest.raises(ValueError, match="the grades are 0 to 3"):
        values([measure], batch_size=4, **options)
    for given, asked in (
        (graded, measure),
        (RunContext(CAMPAIGN.frames, reference="b"), measure(max_grade=3)),
    ):
        with given:
            batches = values([asked], batch_size=4, **options)
        np.testing.assert_array_equal(batches["value"], whole["value"])


@PLANS
def test_it_is_an_error_at_the_first_conflict(options) -> None:
    system = Given(CAMPAIGN.frames["a"])
    with RunContext(CAMPAIGN.frames, reference="b"), pytest.raises(ValueError, match="the grades are"):
        CAMPAIGN.plain([MED @ 10], [system], batch_size=2, validate="ignore", **options)
    assert system.queries[::2] == ["q0", "q2", "q4"]


@PLANS
def test_what_does_not_ask_for_grades_does_not_mind(options) -> None:
    measures = [NRG @ 10, MED(base="AP") @ 5, MED(rel=1) @ 10]
    with RunContext(CAMPAIGN.frames, reference="b"):
        batches, whole = values(measures, batch_size=4, **options), values(measures, **options)
    pd.testing.assert_frame_equal(batches, whole, check_exact=True)


def test_two_whole_qrels_with_one_context() -> None:
    """The same topics with other labels, and other topics: each its own collection, and nothing to warn of."""
    topics, qrels, frames = CAMPAIGN
    binary = qrels.assign(label=(qrels["label"] > 1).astype(int))
    parts = [rows.reset_index(drop=True) for _, rows in qrels.groupby(qrels["qid"] < "q4")]
    context = RunContext(frames, reference="b")
    with warnings.catch_warnings(action="error", category=RelativeWarning), context:
        for labels in (qrels, binary, qrels, *parts):
            ours = labels.rename(columns={"qid": "query_id", "docno": "doc_id", "label": "relevance"})
            run = frames["a"].rename(columns={"qid": "query_id", "docno": "doc_id"}).assign(name="a")
            ir_measures.calc_aggregate([MED @ 10], ours, run)
            values([MED @ 10], Campaign(topics[topics["qid"].isin(labels["qid"])], labels, frames))


class Cut(pt.Transformer):
    depth = 5

    def transform(self, inp):
        found = CAMPAIGN.frames["a"]
        return found[found["qid"].isin(inp["qid"]) & (found["rank"] < self.depth)]


def test_folds_and_scans_that_disagree_about_the_grades(capfd) -> None:
    topics, qrels, frames = CAMPAIGN
    cut = Cut()
    parameters = {cut: {"depth": [5, 10]}}
    folds = [topics.iloc[:4], topics.iloc[4:]]
    parts = [qrels[qrels["qid"].isin(fold["qid"])] for fold in folds]
    arguments = cut, parameters, topics, qrels, [MED @ 10]
    context, graded = (RunContext({"b": frames["b"]}, grades=g) for g in (None, (0, 3)))
    with context, pytest.raises(ValueError, match=r"batches or folds(.|\n)*grades="):
        pt.KFoldGridSearch(cut, parameters, folds, parts, MED @ 10)
    with RunContext({"b": frames["b"]}), pytest.raises(ValueError, match="the grades are 0 to 3"):
        pt.GridScan(*arguments, batch_size=4)
    with graded:
        assert len(pt.KFoldGridSearch(cut, parameters, folds, parts, MED @ 10)[1]) == 2
        batches, whole = pt.GridScan(*arguments, batch_size=4), pt.GridScan(*arguments)
    np.testing.assert_allclose(batches["MED@10"], whole["MED@10"], rtol=1e-15)


@pytest.mark.parametrize("labels", [[1.5, 0.0], [np.nan, 1.0], ["1", "0"], [2**40, 0]], ids=str)
def test_labels_that_are_none_are_told_before_anything_runs(labels) -> None:
    wrong = CAMPAIGN.qrels.assign(label=pd.Series(labels * (len(CAMPAIGN.qrels) // 2)))
    systems = CAMPAIGN.pipelines()
    with pytest.raises(ValueError, match="document 'd[01]' has the relevance"):
        CAMPAIGN.relative([NRG @ 10], systems, qrels=wrong)
    assert not any(system.queries for system in systems.values())


# The best of g is g1 on the first topic, and g2 on the others and on all.
BY_GROUPS = {
    "g1": {"1": "ab", "2": "xy", "3": "xy"},
    "g2": {"1": "xy", "2": "ac", "3": "ac"},
    "h1": {"1": "ax", "2": "cx", "3": "cx"},
}
OF_GROUPS = Campaign(
    topics_of(*"123"),
    judged({q: dict.fromkeys("abc", 1) for q in "123"}),
    ranked({n: {q: {a: 2.0, b: 1.0} for q, (a, b) in run.items()} for n, run in BY_GROUPS.items()}),
)
POLICY = {"priors": BestOfOtherGroups(by=P @ 2), "groups": {name: name[0] for name in BY_GROUPS}}


@pytest.mark.parametrize("batch_size", [1, 2])
def test_the_best_of_a_group_is_that_of_all_batches(batch_size) -> None:
    whole, batches = (
        OF_GROUPS.relative([UniqueRel @ 2], perquery=True, **POLICY, **options).set_index(["name", "qid"])[
            "value"
        ]
        for options in ({}, {"batch_size": batch_size})
    )
    assert whole["h1", "1"] == 1  # g1 shows the document, and is not the best of its group
    assert batches.to_dict() == whole.to_dict()


@pytest.mark.parametrize("group", [None, "h"])
def test_batches_whose_means_choose_other_priors(group) -> None:
    name = "h1" if group is None else "new"
    new = Given(OF_GROUPS.frames["h1"]) >> pt.apply.name(lambda row: name)

    def by_query(context, **batches):
        with context if group is None else context.evaluating(group=group):
            table = OF_GROUPS.plain([UniqueRel @ 2], [new], perquery=True, **batches)
        return table.set_index("qid")["value"].to_dict()

    whole = by_query(RunContext(OF_GROUPS.frames, **POLICY))
    assert whole == {"1": 1, "2": 0, "3": 0}
    with pytest.raises(ValueError, match=r"(?s)make other runs the priors.*batches.*choose\(means, groups\)"):
        by_query(RunContext(OF_GROUPS.frames, **POLICY), batch_size=1)
    if group is None:
        chosen = RunContext(OF_GROUPS.frames, priors={"h1": ["g2"], "g1": ["h1"], "g2": ["h1"]})
        assert by_query(chosen, batch_size=1) == whole


def test_batches_do_not_matter_to_a_new_run_of_no_group() -> None:
    new = ranked({"new": {q: {"b": 1.0} for q in "123"}})["new"]
    with RunContext(OF_GROUPS.frames, **POLICY):
        for batches in ({}, {"batch_size": 1}):
            table = OF_GROUPS.plain([UniqueRel @ 2], [Given(new)], perquery=True, **batches)
            assert table.sort_values("qid")["value"].tolist() == [0, 1, 1]


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
