"""pt.relative.named: plain pt.Experiment knows the members of a context, whatever they are called and made of."""

from __future__ import annotations

import pickle
from typing import Any

import pandas as pd
import pytest
from ir_measures import nDCG

from ir_measures_relative import NRG, RelativeWarning, RunContext, UniqueRel, demo

pt = pytest.importorskip("pyterrier", reason="pyterrier is not installed")

MEASURES = [nDCG @ 10, NRG @ 10, UniqueRel @ 10]
HOSTILE = [
    "BM25 'k1=\"0.9\"'",
    "\\n {0} %s $x",
    "a\tb\nc",
    "日本語 🙂",
    " blank ",
    "name",
    "None",
    "<script>",
    "1,2*",
]


@pytest.fixture(scope="module")
def collection() -> tuple[pd.DataFrame, pd.DataFrame]:
    dataset = pt.get_dataset(f"irds:{demo.register()}")
    return dataset.get_topics().head(12), dataset.get_qrels()


@pytest.fixture(scope="module")
def pipelines() -> dict[str, Any]:
    retrievers = demo.pipelines()
    bm25 = retrievers["BM25"]
    reverse = pt.apply.doc_score(lambda row: -row["score"])
    return {"BM25": bm25, "4-grams": retrievers["4-grams"], "BM25 >> reverse": bm25 % 20 >> reverse}


def values(table: pd.DataFrame) -> pd.DataFrame:
    return table.set_index("name")[list(map(str, MEASURES))]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"batch_size": 5},
        {"plan": "tree", "verbose": False},
        {"plan": "tree", "batch_size": 5, "verbose": False},
    ],
    ids=str,
)
def test_values_are_those_of_the_members(collection, pipelines, options) -> None:
    topics, qrels = collection
    context = RunContext.from_pipelines(pipelines, topics)
    expected = context.evaluate(qrels[qrels["qid"].isin(topics["qid"])], MEASURES)
    with context:
        table = pt.Experiment(pt.relative.named(pipelines), topics, qrels, MEASURES, **options)
    pd.testing.assert_frame_equal(values(table), values(expected), check_exact=True)


def test_names_of_the_table_may_be_others(collection, pipelines) -> None:
    topics, qrels = collection
    systems = pt.relative.named(pipelines)
    with RunContext.from_pipelines(pipelines, topics):
        table = pt.Experiment(systems, topics, qrels, MEASURES)
        other = pt.Experiment(systems, topics, qrels, MEASURES, names=["x", "y", "z"])
        one = pt.Experiment(systems[1:2], topics, qrels, MEASURES)
    assert table["name"].tolist() == list(pipelines)
    assert other["name"].tolist() == ["x", "y", "z"]
    assert values(other).to_numpy().tolist() == values(table).to_numpy().tolist()
    assert values(one).loc["4-grams"].tolist() == values(table).loc["4-grams"].tolist()


def test_without_names_they_would_be_their_own_priors(collection, pipelines) -> None:
    topics, qrels = collection
    with (
        RunContext.from_pipelines(pipelines, topics),
        pytest.warns(RelativeWarning, match="ranks exactly as the context's run 'BM25'"),
    ):
        table = pt.Experiment([pipelines["BM25"]], topics, qrels, [UniqueRel @ 10])
    assert table["UniqueRel@10"].tolist() == [0.0]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(collection, pipelines, name) -> None:
    topics, qrels = collection
    others = {name: pipelines["BM25"], "other": pipelines["4-grams"]}
    with RunContext.from_pipelines(others, topics) as context:
        table = pt.Experiment(pt.relative.named(others), topics, qrels, MEASURES)
        expected = context.evaluate(qrels[qrels["qid"].isin(topics["qid"])], MEASURES)
    assert table["name"].tolist() == [name, "other"]
    pd.testing.assert_frame_equal(values(table), values(expected), check_exact=True)


def test_what_is_put_behind(collection, pipelines) -> None:
    """It keeps the name, until the longer pipeline is named itself; and shares its start with the others."""
    topics, _ = collection
    bm25, *_ = pt.relative.named(pipelines)
    longer = bm25 >> pt.apply.doc_score(lambda row: -row["score"])
    assert set(longer(topics)["name"]) == {"BM25"}
    (renamed,) = pt.relative.named({"longer": longer})
    assert set(renamed(topics)["name"]) == {"longer"}
    assert str(renamed) == "longer" and str(longer).startswith("(") and "name('BM25')" in str(longer)
    assert renamed[0] is bm25[0] is pipelines["BM25"]
    assert set((bm25 % 2)(topics)["name"]) == {"BM25"}


def test_a_shared_start_runs_once(collection) -> None:
    topics, qrels = collection
    bm25, ran = demo.pipelines()["BM25"], []
    start = pt.apply.generic(lambda frame: (ran.append(len(frame)), frame)[1]) >> bm25
    systems = {"all": start, "ten": start % 10, "two": start % 2}
    context = RunContext.from_pipelines(systems, topics)
    ran.clear()
    with context:
        pt.Experiment(pt.relative.named(systems), topics, qrels, MEASURES, plan="tree", verbose=False)
    assert sum(ran) == len(topics)  # PyTerrier looks at the columns of an empty frame, too


def test_frames_of_results(collection, pipelines) -> None:
    topics, qrels = collection
    frames = {name: pipeline(topics) for name, pipeline in pipelines.items()}
    before = {name: frame.copy() for name, frame in frames.items()}
    with RunContext(frames) as context:
        table = pt.Experiment(pt.relative.named(frames), topics, qrels, MEASURES, batch_size=5)
        expected = context.evaluate(qrels[qrels["qid"].isin(topics["qid"])], MEASURES)
    pd.testing.assert_frame_equal(values(table), values(expected), check_exact=True)
    for name, frame in frames.items():
        pd.testing.assert_frame_equal(frame, before[name])


def test_of_two_names_the_last_counts(collection, pipelines) -> None:
    topics, _ = collection
    (inner,) = pt.relative.named({"inner": pipelines["BM25"]})
    (outer,) = pt.relative.named({"outer": inner})
    assert set(outer(topics)["name"]) == {"outer"}
    assert outer(topics).columns.tolist().count("name") == 1
    assert pt.inspect.transformer_outputs(outer, ["qid", "query"]).count("name") == 1


def test_copied_drawn_and_listed(collection, pipelines) -> None:
    topics, _ = collection
    bm25, *_ = pt.relative.named({"<b>BM25": pipelines["BM25"]})
    again = pickle.loads(pickle.dumps(bm25))
    assert str(again) == "<b>BM25" and set(again(topics)["name"]) == {"<b>BM25"}
    assert bm25[-1].schematic == {
        "label": "name"
    }  # PyTerrier asks its site for more, so nothing is drawn here
    of_dicts = bm25(topics.to_dict(orient="records"))
    assert {row["name"] for row in of_dicts} == {"<b>BM25"}


def test_a_topic_without_results_has_no_name(pipelines) -> None:
    (bm25,) = pt.relative.named({"BM25": pipelines["BM25"]})
    found = bm25(pd.DataFrame({"qid": ["1"], "query": ["qqqqqq"]}))
    assert found.empty and "name" in found.columns


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
