"""pt.relative.named: plain pt.Experiment knows the members of a context, whatever they are called and made of."""

import pickle
from typing import Any

import pandas as pd
import pytest
from ir_measures import nDCG

from experiments import TREE, Campaign, pt
from ir_measures_relative import NRG, RelativeWarning, RunContext, UniqueRel, demo

MEASURES = [nDCG @ 10, NRG @ 10, UniqueRel @ 10]
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


def check(collection: Campaign, context: RunContext, systems: dict[str, Any], **options: Any) -> None:
    """The values of named systems are those of the members."""
    expected = context.evaluate(collection.qrels, MEASURES)
    with context:
        table = collection.plain(MEASURES, pt.relative.named(systems), **options)
    assert table["name"].tolist() == list(systems)
    pd.testing.assert_frame_equal(table[expected.columns], expected, check_exact=True, check_dtype=False)


@pytest.mark.parametrize("options", [{}, {"batch_size": 5}, TREE, TREE | {"batch_size": 5}], ids=str)
def test_values_are_those_of_the_members(collection, pipelines, options) -> None:
    check(collection, RunContext.from_pipelines(pipelines, collection.topics), pipelines, **options)


def test_hostile_names(collection, pipelines) -> None:
    systems = {name: pipelines["BM25"] % (5 + i) for i, name in enumerate(HOSTILE)}
    check(collection, RunContext.from_pipelines(systems, collection.topics), systems)


def test_frames_of_results(collection, pipelines) -> None:
    frames = {name: pipeline(collection.topics) for name, pipeline in pipelines.items()}
    before = {name: frame.copy() for name, frame in frames.items()}
    check(collection, RunContext(frames), frames, batch_size=5)
    for name, frame in frames.items():
        pd.testing.assert_frame_equal(frame, before[name])


def test_names_of_the_table_may_be_others(collection, pipelines) -> None:
    systems = pt.relative.named(pipelines)
    with RunContext.from_pipelines(pipelines, collection.topics):
        table = collection.plain(MEASURES, systems)
        other = collection.plain(MEASURES, systems, names=["x", "y", "z"])
        one = collection.plain(MEASURES, systems[1:2])
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
        collection.plain(MEASURES, pt.relative.named(systems), **TREE)
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
