"""Runs whose documents are others than the judged ones: 0 everywhere, which draws a warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import ir_measures
import pandas as pd
import pytest
from ir_measures import nDCG

from ir_measures_relative import NRG, RelativeWarning, RunContext, nDCG_UE

SAID = r"under 1% of the documents .* are in any run, at any depth: for query 'q0' (the )?run.* has \['v2-0', 'v2-1', 'v2-2'\] …, the qrels have \['d0', "
QRELS = {f"q{q}": {f"d{i}": i % 2 for i in range(30)} for q in range(4)}


def runs(prefix: str = "v2-", known: int = 0, depth: int = 30) -> dict[str, Any]:
    """Two runs, of which the second holds some judged documents, behind all others."""
    one = {q: {f"{prefix}{i}": -float(i) for i in range(depth)} for q in QRELS}
    return {
        "one": one,
        "two": {
            q: docs | {f"{prefix}0": -1.5} | {f"d{i}": -100.0 - i for i in range(known)}
            for q, docs in one.items()
        },
    }


def warned(call: Callable[[], Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(w.message) for w in caught if issubclass(w.category, RelativeWarning)]


def test_it_is_said_once() -> None:
    context = RunContext(runs())
    with pytest.warns(RelativeWarning, match=SAID) as caught:
        table = context.evaluate(QRELS, [NRG @ 10, nDCG @ 10])
    assert len(caught) == 1 and (table[["NRG@10", "nDCG@10"]] == 0).all(axis=None)
    with context, pytest.warns(RelativeWarning, match=SAID) as caught:
        ir_measures.calc_aggregate([NRG @ 10], QRELS, {"q0": {"d1": 1.0}})
    assert len(caught) == 1
    with RunContext({}), pytest.warns(RelativeWarning, match=SAID) as caught:
        assert ir_measures.calc_aggregate([nDCG_UE @ 10], QRELS, runs()["one"]) == {nDCG_UE @ 10: -1.0}
    assert len(caught) == 1


def test_one_in_a_hundred_at_any_depth_is_enough() -> None:
    many = {q: {f"d{i}": 1 for i in range(n)} for q, n in zip(QRELS, (200, 200, 0, 0), strict=True)}
    for known, n_warnings in ((0, 1), (1, 1), (2, 0)):  # of each query, so that 2 of 200 are 1 %
        context = RunContext(
            {n: {q: r[q] for q in ("q0", "q1")} for n, r in runs(known=known, depth=300).items()}
        )
        assert len(warned(lambda context=context: context.evaluate(many, [NRG @ 10]))) == n_warnings
        more = many | {"not held by a run": {"d0": 1}}
        assert (
            len(warned(lambda context=context, more=more: context.evaluate(more, [NRG @ 10]))) == n_warnings
        )


def test_few_documents_may_be_others() -> None:
    for given, qrels in [
        (runs(depth=2), QRELS),
        (runs(), {"q0": {f"d{i}": 1 for i in range(19)}}),
        (
            runs(known=1),
            {q: {f"d{i}": 1 for i in range(500)} for q in QRELS},
        ),  # short, of many judged documents
        (runs(), {q: dict.fromkeys(docs, 0) for q, docs in QRELS.items()}),  # nothing to find
        (runs("d"), QRELS),
    ]:
        assert warned(lambda given=given, qrels=qrels: RunContext(given).evaluate(qrels, [NRG @ 10])) == []


def test_an_id_that_no_measure_reads_is_not_read_here() -> None:
    deep = pd.DataFrame(
        {"query_id": "q0", "doc_id": [f"v2-{i}" for i in range(50)] + [None], "score": range(51, 0, -1)}
    )
    context = RunContext({"one": deep, "two": {}})
    assert not any("under 1%" in m for m in warned(lambda: context.evaluate(QRELS, [NRG @ 10])))
