"""The order of rows, and whether two runs hold the same rows."""

from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ir_measures_relative.data.arrays import order_by_score
from ir_measures_relative.data.rankings import hold_same_rows
from ir_measures_relative.io.runs import read_run

odd_scores = st.sampled_from([0.0, -0.0, 1e-45, -1e-45, 3.4e38, -3.4e38, 1.0, -1.0])
rows = st.lists(st.tuples(st.integers(0, 3), odd_scores | st.floats(-1e3, 1e3, width=32)), max_size=40)


@given(rows)
def test_rows_are_ordered_as_by_two_keys(rows: list[tuple[int, float]]) -> None:
    group = np.array([g for g, _ in rows], dtype=np.int64)
    score = np.array([s for _, s in rows], dtype=np.float32)
    assert order_by_score(group, score).tolist() == np.lexsort((-score, group)).tolist()


NEEDS_PYARROW = pytest.mark.skipif(not find_spec("pyarrow"), reason="pyarrow is not installed")
SCORES = {"q1": {"a": 3.0, "b": 4.0}, "q2": {"c": 1.0}}
ROWS = [("q1", "b", 4.0), ("q1", "a", 3.0), ("q2", "c", 1.0)]


def frame_of(rows: list[tuple[Any, ...]], dtype: Any = object) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    return frame.astype({"query_id": dtype, "doc_id": dtype})


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (SCORES, True),
        (frame_of(ROWS), True),
        pytest.param("pyarrow", True, marks=NEEDS_PYARROW),
        ({**SCORES, "q2": {"d": 1.0}}, False),
        ({**SCORES, "q2": {"c": 2.0}}, False),
        ({**SCORES, "q3": {"c": 1.0}}, False),
        ({"q1": SCORES["q1"], "q3": SCORES["q2"]}, False),
        ({**SCORES, "q2": {pd.NA: 1.0}}, False),
    ],
)
def test_runs_hold_the_same_rows(other: Any, same: bool) -> None:
    other = frame_of(ROWS, "string[pyarrow]") if isinstance(other, str) else other
    run = read_run(SCORES)
    assert hold_same_rows(run, read_run(other)) is same
    assert hold_same_rows(read_run(other), run) is same
