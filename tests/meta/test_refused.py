"""What the statistics and the comparisons of runs refuse, in words: what other tests of bad input do not reach."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from ir_measures import P

from ir_measures_relative import MED, RBO, RunContext, compare, meta, rrLP
from ir_measures_relative.decisions.similarity import similarity

RUNS = {"a": {"q": {"A": 2.0, "B": 1.0}}, "b": {"q": {"B": 2.0, "A": 1.0}}}
QRELS = {"q": {"A": 1, "B": 0}}
BOTH, ALONE = RunContext(RUNS), RunContext({"a": RUNS["a"]})
ROWS = [("a", "b", "q1"), ("a", "c", "q1"), ("b", "c", "q1"), ("a", "b", "q2"), ("a", "c", "q2")]
PAIRS = pd.DataFrame(ROWS, columns=["name", "other", "query_id"]).assign(measure="rrLP", value=0.5)

REFUSED: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: meta.locality(BOTH, QRELS, levels=3),
        r"levels=3 is more than any topic has, which is 1; give fewer",
    ),
    (
        lambda: meta.separation(BOTH, QRELS, MED @ 10),
        r"MED.*@10 does not compare recall levels; give rrLP, sgnLP",
    ),
    (lambda: meta.ties_by_level(ALONE, QRELS), r"the context holds 1 run; give two or more to compare"),
    (
        lambda: meta.system_subsets(ALONE, QRELS, [P @ 1]),
        r"the context holds 1 run; give two or more to rank",
    ),
    (lambda: meta.ties(PAIRS), r"rrLP of runs 'b' and 'c' on query 'q2' is not in the table; every pair"),
    (
        lambda: meta.percentage_absolute_difference(
            BOTH.evaluate(QRELS, [P @ 1], perquery=True), families=["P@1"]
        ),
        r"families is a list; give a dict from label to a list of measures",
    ),
    (
        lambda: compare(BOTH, QRELS, [P @ 1], names=["a", 1]),
        r"1 is an int; give the name of a run of the context",
    ),
    (
        lambda: similarity(RunContext({"a": RUNS["a"], "b": {"other": {"A": 1.0}}}), measures=[RBO]),
        r"no query is in two of the runs, so there is nothing to compare: 'a' has \['q'\], 'b' has \['other'\]",
    ),
    (lambda: similarity(RunContext({"a": {}, "b": {}}), measures=[RBO]), r"the runs hold no ranking"),
    (lambda: similarity(BOTH, measures=[rrLP]), r"rrLP needs judgments; give qrels, or one of "),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[message[:30] for _, message in REFUSED])
def test_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
