"""Threads that ask one context for values relative to other priors."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ir_measures_relative import NRG, RunContext
from ir_measures_relative.context.view import view_of

# No first or last runs of the context: what is computed is the product over these alone.
PRIORS = ["r1,r4", "r2,r5"]


@pytest.fixture
def switching() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_each_thread_has_the_values_of_its_own_priors(switching: None) -> None:
    dice = random.Random(0)
    docs = [f"d{i}" for i in range(30)]
    runs = {f"r{i}": {"q": dict.fromkeys(docs, 0.0) | {d: dice.random() for d in docs}} for i in range(7)}
    labels = {"q": {d: dice.randrange(3) for d in docs}}
    measures = [NRG(prior=prior) @ 10 for prior in PRIORS]

    def values(measure: Any, context: RunContext, times: int) -> set[float]:
        view = view_of(context, labels)
        return {measure.score(view.of("r0"))[0] for _ in range(times)}

    expected = [values(measure, RunContext(runs), 1) for measure in measures]
    assert expected[0] != expected[1]
    context = RunContext(runs)
    with ThreadPoolExecutor(len(measures)) as pool:
        found = [pool.submit(values, measure, context, 3000) for measure in measures]
        assert [future.result() for future in found] == expected
