"""pt.relative.Experiment asks of a pipeline's results what pt.Experiment asks: the columns of the measures."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
import pytest

from ir_measures_relative import UniqueRel

pt = pytest.importorskip("pyterrier", reason="pyterrier is not installed")

TOPICS = pd.DataFrame({"qid": ["1", "2"], "query": ["tea", "coffee"]})
QRELS = pd.DataFrame({"qid": ["1", "2"], "docno": ["a", "b"], "label": [1, 1]})
QUERY = {"qid": "1", "query": "tea"}
DOCUMENT = {"docno": "a", "score": 1.0, "rank": 0}
LENGTH = ir_measures.define_byquery(
    lambda qrels, run: len(run.iloc[0]["context"]), name="length", run_inputs=["context"]
)
ANYTHING = ir_measures.define_byquery(lambda qrels, run: 0.0, name="anything")

pytestmark = pytest.mark.filterwarnings("ignore:Experiment Pipeline Validation", "ignore:There are shared")


def giving(**row: Any) -> Any:
    """A pipeline that answers the first topic by one row."""
    return pt.Transformer.from_df(pd.DataFrame([row]), uniform=True)


@pytest.mark.parametrize("plan", ["linear", "tree"])
def test_results_without_documents(plan: str) -> None:
    systems = {"one": giving(**QUERY, context="here"), "two": giving(**QUERY, context="there")}
    arguments = [TOPICS, QRELS, [LENGTH]]
    options = {"validate": "error", "plan": plan, "verbose": False}
    theirs = pt.Experiment(systems, *arguments, **options)
    ours = pt.relative.Experiment(systems, *arguments, **options)
    pd.testing.assert_frame_equal(ours, theirs)
    assert ours["length"].tolist() == [2.0, 2.5]  # a mean over two topics


@pytest.mark.parametrize("experiment", ["Experiment", "relative.Experiment"])
def test_what_the_results_lack(experiment: str) -> None:
    run = pt.Experiment if experiment == "Experiment" else pt.relative.Experiment
    without_documents = giving(**QUERY, context="here")
    with pytest.raises(ValueError, match=r"do not produce the required outputs"):
        run([without_documents], TOPICS, QRELS, ["map"], validate="error")
    with pytest.raises(ValueError, match=r"do not produce the required outputs"):
        run([giving(**QUERY)], TOPICS, QRELS, [LENGTH], validate="error")
    with pytest.raises(KeyError, match="context"):
        run([giving(**QUERY)], TOPICS, QRELS, [LENGTH], validate="ignore")


def test_columns_that_a_measure_beside_a_relative_one_needs() -> None:
    full, lacking = giving(**QUERY, **DOCUMENT, context="here"), giving(**QUERY, **DOCUMENT)
    measures = [LENGTH, UniqueRel @ 1]
    table = pt.relative.Experiment({"one": full, "two": full}, TOPICS, QRELS, measures, validate="error")
    assert table.columns.tolist() == ["name", "length", "UniqueRel@1"]
    assert table["length"].tolist() == [2.0, 2.0]
    with pytest.raises(ValueError, match=r"(?s)required outputs.*context.*Pipeline #1: two"):
        pt.relative.Experiment({"one": full, "two": lacking}, TOPICS, QRELS, measures, validate="error")


def test_saved_as_pyterrier_saves(tmp_path: Path) -> None:
    systems = {"t": giving(**QUERY, context="here")}
    with pytest.raises(TypeError, match=r"missing \['docno', 'score', 'rank'\]"):
        pt.relative.Experiment(systems, TOPICS, QRELS, [ANYTHING], save_dir=str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    pt.relative.Experiment(systems, TOPICS, QRELS, [ANYTHING], save_dir=str(tmp_path), save_format=pickle)
    assert sorted(f.name for f in tmp_path.iterdir()) == ["aggregated.csv", "perquery.csv", "t.mod"]
    with open(tmp_path / "t.mod", "rb") as file:
        assert pickle.load(file)["context"].tolist() == ["here"]
