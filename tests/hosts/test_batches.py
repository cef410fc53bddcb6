"""Batches of topics: every value is what it is without them, or it is an error; never a table on two scales."""

from __future__ import annotations

import warnings

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import P

from ir_measures_relative import MED, NRG, RelativeWarning, RunContext, UniqueRel
from ir_measures_relative.context.priors import BestOfOtherGroups

pt = pytest.importorskip("pyterrier", reason="pyterrier is not installed")

GRADED = [MED @ 10, MED(base="SDCG") @ 10, MED(base="ERR") @ 5]
TREE = {"plan": "tree", "verbose": False}
PLANS = [{}, TREE]


def pipelines(runs: dict[str, pd.DataFrame]) -> dict[str, object]:
    return {name: pt.Transformer.from_df(pt.model.add_ranks(run)) for name, run in runs.items()}


@pytest.fixture(scope="module")
def campaign():
    """Two runs; the first four topics have grades 0 and 1, the others 0 to 3."""
    rng = np.random.default_rng(3)
    topics = pd.DataFrame({"qid": [f"q{i}" for i in range(8)], "query": "x"})
    docs = [f"d{i}" for i in range(30)]
    qrels = pd.DataFrame(
        [(q, d, int(rng.integers(0, 2 if q < "q4" else 4))) for q in topics["qid"] for d in docs[:12]],
        columns=["qid", "docno", "label"],
    )
    assert qrels.groupby("qid")["label"].max().tolist() == [1] * 4 + [3] * 4
    runs = {
        name: pd.DataFrame(
            [(q, d, float(s)) for q in topics["qid"] for s, d in enumerate(rng.permutation(docs)[:15])],
            columns=["qid", "docno", "score"],
        )
        for name in ("a", "b")
    }
    return topics, qrels, runs


@pytest.fixture(autouse=True)
def shared_components_are_no_news():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="There are shared pipeline components")
        yield


def experiment(campaign, measures, runs=None, **options):
    topics, qrels, given = campaign
    return pt.Experiment(
        [pt.Transformer.from_df(pt.model.add_ranks(given["a"])) >> pt.apply.name(lambda row: "a")],
        options.pop("topics", topics), options.pop("qrels", qrels), measures, names=["a"], perquery=True,
        validate="ignore", **options,
    ).sort_values(["qid", "measure"]).reset_index(drop=True)  # fmt: skip


@pytest.mark.parametrize("options", PLANS, ids=str)
@pytest.mark.parametrize("measure", GRADED, ids=str)
def test_batches_that_disagree_about_the_grades(campaign, measure, options) -> None:
    runs = campaign[2]
    with RunContext(runs, reference="b"):
        whole = experiment(campaign, [measure], **options)
    message = r"the grades are 0 to 3 in these qrels, and 0 to 1 in those of other topics(.|\n)*batches(.|\n)*grades="
    with RunContext(runs, reference="b"), pytest.raises(ValueError, match=message):
        experiment(campaign, [measure], batch_size=4, **options)
    for context, asked in (
        (RunContext(runs, reference="b", grades=(0, 3)), measure),
        (RunContext(runs, reference="b"), measure(max_grade=3)),
    ):
        with context:
            batches = experiment(campaign, [asked], batch_size=4, **options)
        np.testing.assert_array_equal(batches["value"], whole["value"])


@pytest.mark.parametrize("options", PLANS, ids=str)
def test_it_is_an_error_at_the_first_conflict(campaign, options) -> None:
    topics, qrels, runs = campaign
    seen = []

    def note(inp):
        seen.append(inp["qid"].tolist())
        return inp

    system = pt.apply.generic(note) >> pt.Transformer.from_df(pt.model.add_ranks(runs["a"]))
    with RunContext(runs, reference="b"), pytest.raises(ValueError, match="the grades are"):
        pt.Experiment([system], topics, qrels, [MED @ 10], batch_size=2, validate="ignore", **options)
    assert [q[0] for q in seen] == ["q0", "q2", "q4"]


@pytest.mark.parametrize("options", PLANS, ids=str)
def test_what_does_not_ask_for_grades_does_not_mind(campaign, options) -> None:
    measures = [NRG @ 10, MED(base="AP") @ 5, MED(rel=1) @ 10]
    with RunContext(campaign[2], reference="b"):
        batches = experiment(campaign, measures, batch_size=4, **options)
        whole = experiment(campaign, measures, **options)
    pd.testing.assert_frame_equal(batches, whole, check_exact=True)


def test_two_whole_qrels_with_one_context(campaign) -> None:
    """The same topics with other labels, and other topics: each its own collection, and nothing to warn of."""
    topics, qrels, runs = campaign
    binary = qrels.assign(label=(qrels["label"] > 1).astype(int))
    first, second = qrels["qid"] < "q4", qrels["qid"] >= "q4"
    parts = [qrels[rows].reset_index(drop=True) for rows in (first, second)]
    context = RunContext(runs, reference="b")
    with warnings.catch_warnings(), context:
        warnings.simplefilter("error", RelativeWarning)
        for judged in (qrels, binary, qrels, *parts):
            ours = judged.rename(columns={"qid": "query_id", "docno": "doc_id", "label": "relevance"})
            run = runs["a"].rename(columns={"qid": "query_id", "docno": "doc_id"}).assign(name="a")
            ir_measures.calc_aggregate([MED @ 10], ours, run)
            experiment(campaign, [MED @ 10], qrels=judged, topics=topics[topics["qid"].isin(judged["qid"])])
    for judged in (qrels, binary, *parts):
        context.evaluate(judged, [MED @ 10])


def tuned(campaign):
    topics, qrels, runs = campaign

    class Cut(pt.Transformer):
        depth = 5

        def transform(self, inp):
            ranked = pt.model.add_ranks(runs["a"])
            return ranked[ranked["qid"].isin(inp["qid"]) & (ranked["rank"] < self.depth)]

    cut = Cut()
    folds = [topics.iloc[:4], topics.iloc[4:]]
    judged = [qrels[qrels["qid"].isin(fold["qid"])] for fold in folds]
    return cut, {cut: {"depth": [5, 10]}}, folds, judged


def test_folds_that_disagree_about_the_grades(campaign, capfd) -> None:
    with (
        RunContext({"b": campaign[2]["b"]}),
        pytest.raises(ValueError, match=r"batches or folds(.|\n)*grades="),
    ):
        pt.KFoldGridSearch(*tuned(campaign), MED @ 10)
    with RunContext({"b": campaign[2]["b"]}, grades=(0, 3)):
        _, settings = pt.KFoldGridSearch(*tuned(campaign), MED @ 10)
    assert len(settings) == 2


def test_a_grid_scan_in_batches(campaign) -> None:
    cut, parameters, _, _ = tuned(campaign)
    topics, qrels, runs = campaign
    with RunContext({"b": runs["b"]}), pytest.raises(ValueError, match="the grades are 0 to 3"):
        pt.GridScan(cut, parameters, topics, qrels, [MED @ 10], batch_size=4)
    with RunContext({"b": runs["b"]}, grades=(0, 3)):
        batches = pt.GridScan(cut, parameters, topics, qrels, [MED @ 10], batch_size=4)
        whole = pt.GridScan(cut, parameters, topics, qrels, [MED @ 10])
    np.testing.assert_allclose(batches["MED@10"], whole["MED@10"], rtol=1e-15)


@pytest.mark.parametrize("labels", [[1.5, 0.0], [np.nan, 1.0], ["1", "0"], [2**40, 0]], ids=str)
def test_labels_that_are_none_are_told_before_anything_runs(campaign, labels) -> None:
    topics, qrels, runs = campaign
    wrong = qrels.assign(label=pd.Series(labels * (len(qrels) // 2), index=qrels.index))
    system = pt.apply.generic(
        lambda inp: pytest.fail("the pipeline runs"), transform_outputs=lambda columns: columns
    )
    with pytest.raises(ValueError, match="document 'd[01]' has the relevance"):
        pt.relative.Experiment({"a": runs["a"], "b": system}, topics, wrong, [NRG @ 10])


def test_whole_labels_that_are_floats(campaign) -> None:
    topics, qrels, runs = campaign
    floats = pt.relative.Experiment(
        pipelines(runs), topics, qrels.assign(label=qrels["label"] * 1.0), [NRG @ 10]
    )
    pd.testing.assert_frame_equal(floats, pt.relative.Experiment(pipelines(runs), topics, qrels, [NRG @ 10]))


# ---- priors that means over the topics choose ---------------------------------------------------------------

# The best of g is g1 on the first topic, and g2 on the others and on all.
BY_GROUPS = {
    "g1": {"1": "ab", "2": "xy", "3": "xy"},
    "g2": {"1": "xy", "2": "ac", "3": "ac"},
    "h1": {"1": "ax", "2": "cx", "3": "cx"},
}


@pytest.fixture(scope="module")
def campaign_of_groups():
    frames = {
        name: pd.DataFrame(
            [(q, d, -float(i)) for q, docs in run.items() for i, d in enumerate(docs)],
            columns=["qid", "docno", "score"],
        )
        for name, run in BY_GROUPS.items()
    }
    qrels = pd.DataFrame([(q, d, 1) for q in "123" for d in "abc"], columns=["qid", "docno", "label"])
    options = {"priors": BestOfOtherGroups(by=P @ 2), "groups": {name: name[0] for name in BY_GROUPS}}
    return pd.DataFrame({"qid": list("123"), "query": "x"}), qrels, frames, options


@pytest.mark.parametrize("batch_size", [1, 2])
def test_the_best_of_a_group_is_that_of_all_batches(campaign_of_groups, batch_size) -> None:
    topics, qrels, frames, options = campaign_of_groups

    def values(**batches):
        table = pt.relative.Experiment(
            pipelines(frames), topics, qrels, [UniqueRel @ 2], perquery=True, **options, **batches
        )
        return table.set_index(["name", "qid"])["value"].to_dict()

    whole = values()
    assert whole["h1", "1"] == 1  # g1 shows the document, and is not the best of its group
    assert values(batch_size=batch_size) == whole


@pytest.mark.parametrize("group", [None, "h"])
def test_batches_whose_means_choose_other_priors(campaign_of_groups, group) -> None:
    topics, qrels, frames, options = campaign_of_groups
    new = pt.Transformer.from_df(frames["h1"]) >> pt.apply.name(lambda row: "h1" if group is None else "new")

    def values(context, **batches):
        with context if group is None else context.evaluating(group=group):
            table = pt.Experiment([new], topics, qrels, [UniqueRel @ 2], perquery=True, **batches)
        return table.set_index("qid")["value"].to_dict()

    whole = values(RunContext(frames, **options))
    assert whole == {"1": 1, "2": 0, "3": 0}
    message = (
        r"make other runs the priors than those over other topics(.|\n)*batches(.|\n)*choose\(means, groups\)"
    )
    with pytest.raises(ValueError, match=message):
        values(RunContext(frames, **options), batch_size=1)
    if group is None:
        chosen = RunContext(frames, priors={"h1": ["g2"], "g1": ["h1"], "g2": ["h1"]})
        assert values(chosen, batch_size=1) == whole


def test_batches_do_not_matter_to_a_new_run_of_no_group(campaign_of_groups) -> None:
    topics, qrels, _, options = campaign_of_groups
    frame = pd.DataFrame({"qid": list("123"), "docno": list("bbb"), "score": 1.0})
    with RunContext(campaign_of_groups[2], **options):
        tables = [
            pt.Experiment(
                [pt.Transformer.from_df(frame)], topics, qrels, [UniqueRel @ 2], perquery=True, **batches
            )
            for batches in ({}, {"batch_size": 1})
        ]
    assert [t.sort_values("qid")["value"].tolist() for t in tables] == [[0, 1, 1]] * 2
