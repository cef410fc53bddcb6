"""Where one topic supplies much of a mean, who speaks to people says so: once a call, and with the numbers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from ir_measures import P

from ir_measures_relative import NRG, RelativeWarning, UniqueRel, rrLP
from ir_measures_relative.context.evaluate import Scores, one_topic_counts, shares_of_topics
from ir_measures_relative.data.arrays import object_array

TOPICS = [f"t{i}" for i in range(12)]
# One finds a document of its own on five topics; the other two on one topic alone.
ONE = {t: {"B" if i < 5 else "X": 2.0, "Y": 1.0} for i, t in enumerate(TOPICS)}
TWO = {t: {"A": 2.0, "B": 1.0} if i == 7 else {"Z": 2.0} for i, t in enumerate(TOPICS)}
RUNS = {"one": ONE, "two": TWO}
SAID = (
    "100 % of the mean UniqueRel@2 of 'two' over 12 topics comes from topic 't7' alone; one topic supplies more than a "
    "quarter of the mean of 1 of 2 runs by UniqueRel@2"
)


def scores(values: Any, measure: Any = UniqueRel @ 2) -> Scores:
    values = np.array(values, dtype=np.float64)
    names, queries = [f"r{i}" for i in range(len(values))], [f"q{i}" for i in range(values.shape[1])]
    return Scores(names, [measure], object_array(queries), values[:, None, :])


def test_shares() -> None:
    shares = shares_of_topics(np.array([[1.0, 3.0], [0.0, 0.0]]))
    assert shares[0].tolist() == [0.25, 0.75] and np.isnan(shares[1]).all()
    assert np.isnan(shares_of_topics(np.array([[1.0, 3.0], [1.0, -1.0]]))).all()
    assert np.isnan(shares_of_topics(np.array([[1.0, 3.0], [1.0, np.nan]]))).all()


@pytest.mark.parametrize(
    ("values", "measure", "said"),
    [
        ([[3] + [1] * 9], UniqueRel @ 2, None),  # a quarter
        ([[3.1] + [1] * 9], UniqueRel @ 2, r"26 % of the mean UniqueRel@2 of 'r0' over 10 topics comes from"),
        ([[9] + [1] * 8], UniqueRel @ 2, None),  # nine topics
        ([[9] + [1] * 9], P @ 10, None),  # not relative
        ([[9] + [1] * 9, [-0.1] * 10], rrLP, None),  # no share of what can be below 0
        ([[0] * 10], NRG @ 10, None),
        ([[4] + [0] * 9, [2] * 10], UniqueRel @ 2, None),  # hardly adds anything
        ([[5] + [0] * 9, [2] * 10], UniqueRel @ 2, r"100 % of the mean UniqueRel@2 of 'r0'"),
        ([[9] + [1] * 9, [1] * 10, [4] + [1] * 9], NRG @ 10, r"'r0' .* mean of 2 of 3 runs by NRG@10:"),
    ],
)
def test_what_is_told(values: Any, measure: Any, said: str | None) -> None:
    found = one_topic_counts(scores(values, measure))
    assert found is None if said is None else re.search(said, found or "")


@pytest.mark.parametrize("options", [{}, {"batch_size": 5}], ids=str)
def test_experiment(options: dict[str, Any]) -> None:
    pt = pytest.importorskip("pyterrier", reason="pyterrier is not installed")
    topics = pd.DataFrame({"qid": TOPICS, "query": "x"})
    qrels = pd.DataFrame([(t, d, 1) for t in TOPICS for d in "AB"], columns=["qid", "docno", "label"])
    systems = {}
    for name, run in RUNS.items():
        rows = [(t, d, s) for t, docs in run.items() for d, s in docs.items()]
        frame = pt.model.add_ranks(pd.DataFrame(rows, columns=["qid", "docno", "score"]))
        systems[name] = pt.Transformer.from_df(frame) if options else frame
    with pytest.warns(RelativeWarning) as caught:
        pt.relative.Experiment(systems, topics, qrels, [UniqueRel @ 2, P @ 2], validate="ignore", **options)
    assert [str(w.message).startswith(SAID) for w in caught if w.category is RelativeWarning] == [True]
    assert caught[0].filename == __file__
    pt.relative.Experiment(
        systems, topics, qrels, [UniqueRel @ 2], validate="ignore", perquery=True
    )  # in silence
