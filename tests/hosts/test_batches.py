"""Batches of topics: every value is what it is without them, or it is an error; never a table on two scales."""

import warnings

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import P

from experiments import TREE, Campaign, Given, judged, pt, ranked, topics_of
from ir_measures_relative import MED, NRG, RelativeWarning, RunContext, UniqueRel
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


def test_whole_labels_that_are_floats() -> None:
    floats = CAMPAIGN.relative([NRG @ 10], qrels=CAMPAIGN.qrels.assign(label=CAMPAIGN.qrels["label"] * 1.0))
    pd.testing.assert_frame_equal(floats, CAMPAIGN.relative([NRG @ 10]))


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
