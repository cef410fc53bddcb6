"""pt.Experiment inside a context, with each of its options: the numbers are the same in all of them; and without one."""

import inspect
import subprocess
import sys

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import nDCG

import ir_measures_relative
from experiments import NAMES, TREE, Given, campaign, judged, pt, ranked, topics_of
from ir_measures_relative import NRG, AP_Rareness, P_Rareness, RunContext, UniqueRel, nDCG_UE

MEASURES = [nDCG @ 10, NRG @ 10, P_Rareness @ 10, AP_Rareness @ 20, UniqueRel @ 5]
CAMPAIGN = campaign()
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*topic.s. not found in qrels",
    "ignore:Experiment Pipeline Validation",
    "ignore:the qrels hold no judgment",
)


def transformers() -> list:
    return [s >> pt.apply.name(lambda row, n=name: n) for name, s in CAMPAIGN.pipelines().items()]


def experiment(systems, **options):
    with RunContext(CAMPAIGN.frames):
        return CAMPAIGN.plain(MEASURES, systems, names=NAMES, **options)


@pytest.fixture(scope="module")
def expected() -> pd.DataFrame:
    """The values by RunContext.evaluate, of the judged topics."""
    qrels = CAMPAIGN.qrels[CAMPAIGN.qrels.qid.isin(CAMPAIGN.topics.qid)]
    return RunContext(CAMPAIGN.frames).evaluate(qrels, MEASURES, perquery=True)


def check_means(table, expected) -> None:
    means = expected.groupby(["name", "measure"])["value"].mean()
    for name, row in table.set_index("name").iterrows():
        for measure in map(str, MEASURES):
            assert row[measure] == pytest.approx(means[name, measure], abs=1e-12), (name, measure)


@pytest.mark.parametrize("as_frames", [False, True])
@pytest.mark.parametrize("options", [{}, {"batch_size": 5}, TREE, {"filter_by_qrels": True}], ids=str)
def test_means(expected, as_frames, options) -> None:
    frames = [frame.assign(name=name) for name, frame in CAMPAIGN.frames.items()]
    if as_frames and "batch_size" in options:
        options = TREE | options  # PyTerrier ignores batch_size for plain frames
    check_means(experiment(frames if as_frames else transformers(), **options), expected)


@pytest.mark.parametrize("options", [{}, {"batch_size": 7}, TREE], ids=str)
def test_per_query(expected, options) -> None:
    columns = ["name", "qid", "measure"]
    found = experiment(transformers(), perquery=True, **options).set_index(columns)["value"]
    for row in expected.itertuples(index=False):
        assert found[row.name, row.query_id, row.measure] == row.value
    rest = found.drop([(r.name, r.query_id, r.measure) for r in expected.itertuples(index=False)])
    assert set(rest.index.get_level_values("qid")) == {"q0", "q1"} and rest.isna().all()  # without judgments


@pytest.mark.parametrize("options", [{}, {"batch_size": 7, **TREE}], ids=str)
def test_judgments_without_topics_count_as_empty_rankings(options) -> None:
    table = experiment(transformers(), filter_by_topics=False, **options).set_index("name")
    rows = RunContext(CAMPAIGN.frames).evaluate(CAMPAIGN.qrels, MEASURES).set_index("name")
    pd.testing.assert_frame_equal(table[rows.columns], rows, rtol=0, atol=1e-12)


def test_run_tags_name_the_members(expected, tmp_path) -> None:
    """pt.io.read_results makes the name column from the run tag."""
    for name, frame in CAMPAIGN.frames.items():
        pt.io.write_results(frame, str(tmp_path / f"{name}.res"), run_name=name)
    check_means(experiment([pt.io.read_results(str(tmp_path / f"{n}.res")) for n in NAMES]), expected)


def test_tables_of_pt_relative_have_pyterriers_column_names() -> None:
    qrels, frames = CAMPAIGN.qrels, CAMPAIGN.frames
    context = RunContext(frames)
    theirs = pt.relative.explain(context, "one", qrels, NRG @ 10)
    ours = ir_measures_relative.explain(context, "one", qrels, NRG @ 10)
    assert list(theirs.columns)[:3] == ["qid", "docno", "label"]
    assert list(ours.columns)[:3] == ["query_id", "doc_id", "relevance"]
    assert theirs.set_axis(ours.columns, axis=1).equals(ours)
    assert "qid" in pt.relative.bounds(context, qrels, [NRG(norm="ideal") @ 10], perquery=True).columns
    chosen = pt.relative.select_complementary(context, qrels, 2, missing="zero")
    assert chosen.equals(ir_measures_relative.select_complementary(context, qrels, 2, missing="zero"))
    assert inspect.signature(pt.relative.bounds) == inspect.signature(ir_measures_relative.bounds)


def test_tables_of_an_answer_have_pyterriers_column_names() -> None:
    context = RunContext(CAMPAIGN.frames, grades=(-1, 2))
    few = CAMPAIGN.qrels[::8]
    theirs, ours = (
        where.worth(context, few, "one", margin=0.05, missing="zero")
        for where in (pt.relative, ir_measures_relative)
    )
    assert len(ours.judge) and ours.judge.columns.tolist()[:2] == ["query_id", "doc_id"]
    assert theirs.judge.columns.tolist()[:2] == ["qid", "docno"]
    assert theirs.judge.to_numpy().tolist() == ours.judge.to_numpy().tolist()
    pd.testing.assert_frame_equal(theirs.table, ours.table)
    assert theirs.text == ours.text and theirs.verdict == ours.verdict


def test_pt_relative_holds_what_the_package_holds() -> None:
    assert set(pt.relative.__all__) == {*ir_measures_relative.__all__, "Experiment", "named", "record"}
    pt.relative.Experiment, pt.relative.named, pt.relative.record  # noqa: B018  (which load modules of the folder)
    assert set(dir(pt.relative)) == set(pt.relative.__all__)
    assert all(getattr(pt.relative, name) is not None for name in dir(pt.relative))


def test_a_missing_pyterrier_names_the_extra() -> None:
    program = """
import sys
sys.modules["pyterrier"] = None
import ir_measures_relative, ir_measures_relative.pt_relative as relative
for use in (
    lambda: relative.Experiment({}, None, None, []),
    lambda: relative.named({}),
    lambda: relative.RunContext.from_pipelines({}, None),
):
    try: use()
    except ImportError as error: print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.count("pip install 'ir-measures-relative[pyterrier]'\n") == 3


TWO = CAMPAIGN._replace(topics=topics_of("1", "2"), qrels=judged({"1": {"a": 1}, "2": {"b": 1}}))


@pytest.fixture
def pipeline() -> Given:
    return Given(ranked({"it": {"1": {"a": 1.0}, "2": {"a": 2.0, "b": 1.0}}})["it"])


@pytest.mark.parametrize("options", [{}, TREE, {"batch_size": 2}, {"validate": "error"}], ids=str)
def test_nothing_is_retrieved(pipeline, options) -> None:
    with pytest.raises(ValueError, match="needs the runs to compare with") as error:
        TWO.plain([nDCG @ 10, NRG @ 10, UniqueRel @ 5], [pipeline], **options)
    assert pipeline.queries == []
    assert "NRG@10" in str(error.value) and "UniqueRel@5" in str(error.value)


def test_without_validation_pyterrier_asks_nobody(pipeline) -> None:
    """As of PyTerrier 1.1; a host that asks earlier makes this fail, and the page is to be changed."""
    with pytest.raises(ValueError, match=r"no RunContext is active. In PyTerrier, write"):
        TWO.plain([NRG @ 10], [pipeline], validate="ignore")
    assert len(pipeline.queries) == 2


def test_what_does_not_fail(pipeline) -> None:
    assert len(TWO.plain([nDCG_UE @ 10, nDCG @ 10], [pipeline])) == 1  # which need no context
    with RunContext({}):
        assert len(TWO.plain([nDCG @ 10], [pipeline])) == 1
    columns = {"query_id", "doc_id", "score"}
    assert set(ir_measures.run_inputs([NRG @ 10, nDCG @ 10])) == columns
    assert set(ir_measures.providers.registry["relative"].run_inputs([NRG @ 10])) == columns
    assert np.isfinite(
        TWO.relative([NRG @ 10], {"one": pipeline, "two": pipeline.frame.head(2)})["NRG@10"]
    ).all()
