"""Any run becomes the ranking that trec_eval sees; and whether two runs hold the same rows."""

import gzip
import itertools
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, ScoredDoc

from drawn import examples
from ir_measures_relative.data.arrays import order_by_score
from ir_measures_relative.data.rankings import hold_same_rows
from ir_measures_relative.io.runs import read_run
from oracles.rankings import trec_order
from random_campaigns import cutoffs, runs

RUN = {"q2": {"a": 1.0, "b": 2.0, "c": 2.0}, "q1": {"x": 0.5}}


def as_lists(rankings, cutoff=None) -> dict[str, list[str]]:
    top = rankings.top(cutoff)
    result: dict[str, list[str]] = {}
    for query, position, doc in zip(top.query, top.position, top.doc_ids, strict=True):
        docs = result.setdefault(rankings.query_ids[query], [])
        docs.append(doc)
        assert position == len(docs)
    return result


def frame(run, query="query_id", doc="doc_id") -> pd.DataFrame:
    rows = [(q, d, s) for q, docs in run.items() for d, s in docs.items()]
    return pd.DataFrame(rows, columns=[query, doc, "score"]).astype({"score": float})


def trec_lines(run, tag="t") -> str:
    return "".join(f"{q} Q0 {d} 7 {s!r} {tag}\n" for q, docs in run.items() for d, s in docs.items())


def formats(run, folder):
    plain, packed = folder / "run.txt", folder / "run.gz"
    plain.write_text(trec_lines(run))
    packed.write_bytes(gzip.compress(trec_lines(run).encode()))
    yield run
    yield frame(run)
    yield frame(run, "qid", "docno")
    yield frame(run).astype({"query_id": object, "doc_id": object})
    yield frame(run).astype({"query_id": "category", "doc_id": "category"})
    yield frame(run).sample(frac=1, random_state=3)
    yield frame(run).astype({"score": "float32"})
    yield [ScoredDoc(q, d, s) for q, docs in run.items() for d, s in docs.items()]
    yield iter([ScoredDoc(q, d, s) for q, docs in run.items() for d, s in docs.items()])
    yield str(plain)
    yield packed


def test_every_format_gives_the_same_rankings(tmp_path) -> None:
    for run in formats(RUN, tmp_path):
        assert as_lists(read_run(run)) == {"q2": ["c", "b", "a"], "q1": ["x"]}


@examples(40)
@given(run=runs, cutoff=st.one_of(st.none(), cutoffs), seed=st.integers(0, 10))
def test_trec_eval_order(run, cutoff, seed) -> None:
    shuffled = frame(run).sample(frac=1, random_state=seed)
    expected = {q: trec_order(docs)[:cutoff] for q, docs in run.items() if docs}
    assert as_lists(read_run(shuffled), cutoff) == expected
    assert as_lists(read_run(run), cutoff) == expected


@examples(40)
@given(run=runs)
def test_order_is_pytrec_evals(run) -> None:
    """With each document in turn the only relevant one, RR is one over its position."""
    rankings = read_run(run)
    for query, docs in as_lists(rankings).items():
        for position, doc in enumerate(docs, start=1):
            value = RR.calc_aggregate({query: {doc: 1}}, {query: run[query]})
            assert value == pytest.approx(1 / position, abs=1e-12)


def test_scores_are_compared_as_32_bit_floats() -> None:
    run = {"q": {"a": 16777217.0, "b": 16777216.0, "c": 3e38, "d": 2.9999999999e38}}
    assert as_lists(read_run(run)) == {"q": ["d", "c", "b", "a"]}


def test_rank_column_and_row_order_are_ignored(tmp_path) -> None:
    rows = frame(RUN).assign(rank=[9, 1, 3, 0])
    for order in itertools.permutations(range(4)):
        assert as_lists(read_run(rows.iloc[list(order)])) == {"q2": ["c", "b", "a"], "q1": ["x"]}


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
