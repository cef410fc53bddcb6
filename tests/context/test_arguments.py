"""What is not a context, and other wrong arguments of the analyses, are told in words."""

from __future__ import annotations

from typing import Any

import pytest

import ir_measures_relative
from ir_measures_relative import RunContext, select_complementary
from ir_measures_relative.bounding import judge_next
from ir_measures_relative.decisions import added_value_curve
from ir_measures_relative.meta import reusability

RUNS = {"a": {"q": {"A": 2.0, "X": 1.0}}, "b": {"q": {"B": 2.0, "A": 1.0}}}
QRELS = {"q": {"A": 1, "B": 1}}
OTHERS: dict[Any, tuple[Any, ...]] = {
    added_value_curve: (QRELS,),
    judge_next: (QRELS, "P@1", 1),
    reusability: (QRELS, ["P@1"]),
}
CALLS: dict[str, tuple[Any, ...]] = {
    "compare": (QRELS, ["nDCG@5"]),
    "select_complementary": (QRELS, 1),
    "explain": ("a", QRELS),
    "bounds": (QRELS, ["P@1"]),
    "verdicts": (QRELS, ["P@1"]),
    "similarity": (QRELS,),
}


@pytest.mark.parametrize(
    ("function", "given"),
    [*((getattr(ir_measures_relative, name), given) for name, given in CALLS.items()), *OTHERS.items()],
)
def test_a_dict_is_not_a_context(function: Any, given: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match=r"the context is a dict; give RunContext\(runs\)"):
        function(RUNS, *given)
    with pytest.raises(TypeError, match="the context is a str; give a RunContext"):
        function("runs/", *given)


@pytest.mark.parametrize("seed", ["x", -1])
def test_sweep(seed: Any) -> None:
    with pytest.raises(ValueError, match=f"seed={seed!r} is not allowed"):
        added_value_curve(RunContext(RUNS), QRELS, seed=seed)


@pytest.mark.parametrize("time_limit", ["x", -1, float("nan"), True])
def test_time_limit(time_limit: Any) -> None:
    with pytest.raises(ValueError, match="time_limit=.* is not allowed"):
        select_complementary(RunContext(RUNS), QRELS, 1, "UniqueRel@1", method="exact", time_limit=time_limit)


def test_groups() -> None:
    with pytest.raises(ValueError, match="groups='x' must be a dict from run name to group name"):
        reusability(RunContext(RUNS), QRELS, ["P@1"], groups="x")  # type: ignore[arg-type]
