"""pt.Experiment with a relative measure and no context: it fails before it retrieves, and says what to write."""

from __future__ import annotations

from typing import Any

import ir_measures
import pandas as pd
import pytest
from ir_measures import nDCG

from ir_measures_relative import NRG, RunContext, UniqueRel, demo, nDCG_UE

pt = pytest.importorskip("pyterrier", reason="pyterrier is not installed")

TREE = {"plan": "tree", "verbose": False}


class Counting(pt.Transformer):
    """BM25 over the generated collection, which counts the topics that it is given."""

    def __init__(self) -> None:
        self.bm25 = demo.pipelines()["BM25"]
        self.topics = 0

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        self.topics += len(inp)
        return self.bm25(inp)


@pytest.fixture
def arguments() -> tuple[Counting, Any, Any]:
    dataset = pt.get_dataset(f"irds:{demo.register()}")
    return Counting(), dataset.get_topics().head(5), dataset.get_qrels()


@pytest.mark.parametrize("options", [{}, TREE, {"batch_size": 2}, {"validate": "error"}], ids=str)
def test_nothing_is_retrieved(arguments, options) -> None:
    pipeline, *rest = arguments
    with pytest.raises(ValueError) as error:
        pt.Experiment([pipeline], *rest, [nDCG @ 10, NRG @ 10, UniqueRel @ 5], **options)
    assert pipeline.topics == 0
    (
        first,
        second,
        *_,
    ) = str(error.value).splitlines()
    assert first.startswith(("NRG@10, UniqueRel@5 needs", "UniqueRel@5, NRG@10 needs"))
    assert "pt.relative.Experiment(pipelines, topics, qrels, [" in second
    assert "RunContext({'BM25': bm25_run})" in str(error.value)


def test_without_validation_pyterrier_asks_nobody(arguments) -> None:
    """As of PyTerrier 1.1; a host that asks earlier makes this fail, and the page is to be changed."""
    pipeline, *rest = arguments
    with pytest.raises(ValueError, match=r"no RunContext is active. In PyTerrier, write"):
        pt.Experiment([pipeline], *rest, [NRG @ 10], validate="ignore")
    assert pipeline.topics == 5


def test_what_does_not_fail(arguments) -> None:
    pipeline, *rest = arguments
    assert len(pt.Experiment([pipeline], *rest, [nDCG_UE @ 10, nDCG @ 10])) == 1  # which need no context
    with RunContext({}):
        assert len(pt.Experiment([pipeline], *rest, [nDCG @ 10])) == 1
    with RunContext.from_pipelines({"deployed": demo.pipelines()["4-grams"]}, rest[0]):
        assert len(pt.Experiment([pipeline], *rest, [NRG @ 10])) == 1
    assert (
        len(pt.relative.Experiment({"one": pipeline, "two": demo.pipelines()["4-grams"]}, *rest, [NRG @ 10]))
        == 2
    )


def test_who_asks_for_columns_gets_them() -> None:
    columns = {"query_id", "doc_id", "score"}
    assert set(ir_measures.run_inputs([NRG @ 10, nDCG @ 10])) == columns
    assert set(ir_measures.providers.registry["relative"].run_inputs([NRG @ 10])) == columns
