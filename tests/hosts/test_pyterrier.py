"""pt.Experiment inside a context, with each of its options, of named systems, and without a context."""

import inspect
import pickle
import subprocess
import sys
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import nDCG

import ir_measures_relative
from experiments import NAMES, TREE, Campaign, Given, campaign, judged, pt, ranked, topics_of
from ir_measures_relative import (
    NRG,
    AP_Rareness,
    P_Rareness,
    RelativeWarning,
    RunContext,
    UniqueRel,
    demo,
    nDCG_UE,
)

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


THREE = [nDCG @ 10, NRG @ 10, UniqueRel @ 10]
HOSTILE = ["BM25 'k1=\"0.9\"'", "\\n {0} %s $x", "a\tb\nc", "日本語 🙂", " blank ", "name", "<i>", "1,2*"]


@pytest.fixture(scope="module")
def collection() -> Campaign:
    dataset = pt.get_dataset(f"irds:{demo.register()}")
    topics, qrels = dataset.get_topics().head(12), dataset.get_qrels()
    return Campaign(topics, qrels[qrels["qid"].isin(topics["qid"])].reset_index(drop=True), {})


@pytest.fixture(scope="module")
def pipelines() -> dict[str, Any]:
    retrievers = demo.pipelines()
    bm25 = retrievers["BM25"]
    reverse = pt.apply.doc_score(lambda row: -row["score"])
    return {"BM25": bm25, "4-grams": retrievers["4-grams"], "BM25 >> reverse": bm25 % 20 >> reverse}


def check_members(collection: Campaign, context: RunContext, systems: dict[str, Any], **options: Any) -> None:
    """The values of named systems are those of the members."""
    expected = context.evaluate(collection.qrels, THREE)
    with context:
        table = collection.plain(THREE, pt.relative.named(systems), **options)
    assert table["name"].tolist() == list(systems)
    pd.testing.assert_frame_equal(table[expected.columns], expected, check_exact=True, check_dtype=False)


@pytest.mark.parametrize("options", [{}, {"batch_size": 5}, TREE, TREE | {"batch_size": 5}], ids=str)
def test_values_are_those_of_the_members(collection, pipelines, options) -> None:
    check_members(collection, RunContext.from_pipelines(pipelines, collection.topics), pipelines, **options)


@pytest.mark.filterwarnings("ignore:There are shared pipeline components")
def test_hostile_names(collection, pipelines) -> None:
    systems = {name: pipelines["BM25"] % (5 + i) for i, name in enumerate(HOSTILE)}
    check_members(collection, RunContext.from_pipelines(systems, collection.topics), systems)


def test_frames_of_results(collection, pipelines) -> None:
    frames = {name: pipeline(collection.topics) for name, pipeline in pipelines.items()}
    before = {name: frame.copy() for name, frame in frames.items()}
    check_members(collection, RunContext(frames), frames, batch_size=5)
    for name, frame in frames.items():
        pd.testing.assert_frame_equal(frame, before[name])


def test_names_of_the_table_may_be_others(collection, pipelines) -> None:
    systems = pt.relative.named(pipelines)
    with RunContext.from_pipelines(pipelines, collection.topics):
        table = collection.plain(THREE, systems)
        other = collection.plain(THREE, systems, names=["x", "y", "z"])
        one = collection.plain(THREE, systems[1:2])
        with pytest.warns(RelativeWarning, match="ranks exactly as the context's run 'BM25'"):
            unnamed = collection.plain([UniqueRel @ 10], [pipelines["BM25"]])
    assert other["name"].tolist() == ["x", "y", "z"]
    assert other.drop(columns="name").equals(table.drop(columns="name"))
    assert one[table.columns].values.tolist() == table[1:2].values.tolist()
    assert unnamed["UniqueRel@10"].tolist() == [0.0]  # its own prior


def test_what_is_put_behind(collection, pipelines) -> None:
    """It keeps the name, until the longer pipeline is named itself; and shares its start with the others."""
    topics, bm25 = collection.topics, pt.relative.named(pipelines)[0]
    longer = bm25 >> pt.apply.doc_score(lambda row: -row["score"])
    assert set(longer(topics)["name"]) == {"BM25"} == set((bm25 % 2)(topics)["name"])
    (renamed,) = pt.relative.named({"longer": longer})
    found = renamed(topics)
    assert set(found["name"]) == {"longer"} and found.columns.tolist().count("name") == 1
    assert pt.inspect.transformer_outputs(renamed, ["qid", "query"]).count("name") == 1
    assert str(renamed) == "longer" and str(longer).startswith("(") and "name('BM25')" in str(longer)
    assert renamed[0] is bm25[0] is pipelines["BM25"]


def test_a_shared_start_runs_once(collection) -> None:
    ran = []
    start = pt.apply.generic(lambda frame: (ran.append(len(frame)), frame)[1]) >> demo.pipelines()["BM25"]
    systems = {"all": start, "ten": start % 10, "two": start % 2}
    context = RunContext.from_pipelines(systems, collection.topics)
    ran.clear()
    with context:
        collection.plain(THREE, pt.relative.named(systems), **TREE)
    assert sum(ran) == len(collection.topics)  # PyTerrier looks at the columns of an empty frame, too


def test_copied_drawn_and_listed(collection, pipelines) -> None:
    (bm25,) = pt.relative.named({"<b>BM25": pipelines["BM25"]})
    again = pickle.loads(pickle.dumps(bm25))
    assert str(again) == "<b>BM25" and set(again(collection.topics)["name"]) == {"<b>BM25"}
    assert bm25[-1].schematic == {"label": "name"}  # PyTerrier asks its site for more, so nothing is drawn
    assert {row["name"] for row in bm25(collection.topics.to_dict(orient="records"))} == {"<b>BM25"}
    nothing = bm25(pd.DataFrame({"qid": ["1"], "query": ["qqqqqq"]}))
    assert nothing.empty and "name" in nothing.columns


def test_mistakes(pipelines) -> None:
    bm25 = pipelines["BM25"]
    with pytest.raises(TypeError, match="systems is a list; give a dict from name"):
        pt.relative.named([bm25])
    with pytest.raises(TypeError, match="the system 'x' is a function; give a transformer"):
        pt.relative.named({"BM25": bm25, "x": lambda frame: frame})
    for name in (None, 7, ""):
        with pytest.raises(ValueError, match=f"the run name {name!r} is (not a string|empty)"):
            pt.relative.named({name: bm25})
    assert pt.relative.named({}) == []
