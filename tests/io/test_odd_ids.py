"""Ids that no file can hold, and columns that hold the same under two names."""

from __future__ import annotations

import pandas as pd
import pytest

from ir_measures_relative import NRG, RunContext

QRELS = {"q": {"A": 1}}


@pytest.mark.parametrize("dtype", [object, str])
def test_a_nul_in_an_id_is_refused(dtype: type) -> None:
    rows = pd.DataFrame({"query_id": ["q", "q"], "doc_id": ["A", "A\0"], "score": [1.0, 1.0]})
    run = rows.astype({"query_id": dtype, "doc_id": dtype})
    with pytest.raises(ValueError, match=r"run 'a': query 'q': document id 'A\\x00' is a string with a NUL"):
        RunContext({"a": run, "b": {"q": {"A": 1.0}}}).evaluate(QRELS, [NRG @ 10])
    with pytest.raises(ValueError, match=r"document id 'A\\x00' is a string with a NUL"):
        RunContext({"a": {"q": {"A": 1.0}}, "b": {}}).evaluate({"q": {"A": 1, "A\0": 1}}, [NRG @ 10])


def test_one_column_under_two_names_may_have_two_dtypes() -> None:
    run = pd.DataFrame({"query_id": ["q"], "doc_id": ["A"], "score": [1.0]})
    both = run.assign(qid=run["query_id"].astype("category"), docno=run["doc_id"].astype(object))
    table = RunContext({"a": both, "b": run}).evaluate(QRELS, [NRG @ 10])
    assert table["NRG@10"].tolist() == [0.0, 0.0]
