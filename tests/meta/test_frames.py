"""What every function returns: plain columns that print, and a measure of its own in each row."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import pandas as pd
import pytest
from ir_measures import RR, P

from ir_measures_relative import NRG, P_Rareness, RunContext, meta, nDCG_UE, rrLP
from oracles import meta as oracle

RUNS, QRELS = oracle.campaign(7, runs=5, topics=8)
CONTEXT = RunContext(RUNS)
MEASURES = [P @ 3, P_Rareness @ 3, NRG @ 3, RR]
TABLE = CONTEXT.evaluate(QRELS, MEASURES, perquery=True)

FUNCTIONS: dict[str, Callable[[], pd.DataFrame]] = {
    "asl_curve": partial(meta.asl_curve, TABLE, resamples=99),
    "conflicts": partial(meta.conflicts, TABLE),
    "correlation": partial(meta.correlation, TABLE),
    "degrade": partial(meta.degrade, CONTEXT, QRELS, [*MEASURES, rrLP], levels=[0.5, 1], samples=2),
    "degrade, groups": partial(meta.degrade, CONTEXT, QRELS, [*MEASURES, rrLP], "groups"),
    "discriminative_power": partial(meta.discriminative_power, TABLE, swaps=9),
    "discriminative_power, levels": partial(meta.discriminative_power, TABLE, level=[0.01, 0.05], swaps=9),
    "locality": partial(meta.locality, CONTEXT, QRELS, levels=3, ahead=1),
    "percentage_absolute_difference": partial(meta.percentage_absolute_difference, TABLE),
    "query_sets": partial(meta.query_sets, CONTEXT, QRELS, nDCG_UE @ 3),
    "reliability": partial(meta.reliability, TABLE, samples=9),
    "rescaling_test": partial(meta.rescaling_test, TABLE, {"ties": meta.ties}),
    "separation": partial(meta.separation, CONTEXT, QRELS),
    "stability": partial(meta.stability, TABLE, samples=9),
    "swap_rate": partial(meta.swap_rate, TABLE, samples=9, width=0.1),
    "system_subsets": partial(meta.system_subsets, CONTEXT, QRELS, [*MEASURES, rrLP], samples=9),
    "ties": partial(meta.ties, TABLE),
    "ties, by": partial(meta.ties, TABLE, dict.fromkeys(QRELS, "one")),
    "ties_by_level": partial(meta.ties_by_level, CONTEXT, QRELS),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_frames_are_plain_and_print(name: str) -> None:
    found = FUNCTIONS[name]()
    assert len(found) and list(found.index) == list(range(len(found)))
    for column in found.columns:
        values: list[Any] = found[column].tolist()
        assert len({type(v) for v in values}) == 1 and type(values[0]) in (str, int, float, bool), column
    assert found["measure"].map(type).eq(str).all()
    if find_spec("jinja2"):  # pandas needs it for that
        lines = found.round(3).to_latex(index=False).splitlines()
        assert lines[0].startswith(r"\begin{tabular}") and len(lines) == len(found) + 6


def test_every_function_is_looked_at() -> None:
    assert {name.split(",")[0] for name in FUNCTIONS} == set(meta.__all__) - {
        "reusability"
    }  # which takes a context
