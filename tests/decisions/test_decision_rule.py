"""The rule of decisions: its intervals, its verdicts against a plain reading of the rule, and all judgments tried."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ir_measures_relative import RunContext
from ir_measures_relative.decisions.compared import _moved_ends, _reach
from ir_measures_relative.decisions.decide import decide
from ir_measures_relative.decisions.decision_rule import (
    KEEP,
    OPEN,
    UNSETTLED,
    Ends,
    Rivals,
    possible,
    verdict_of,
)
from ir_measures_relative.stats.families import simultaneous_intervals
from ir_measures_relative.stats.intervals import student_interval
from ir_measures_relative.stats.paired_tests import PairedTestOptions
from ir_measures_relative.stats.power import topics_for_power, topics_if_some_are_unlike
from oracles.option_lists import combined

FAST = PairedTestOptions(resamples=999)


def plain_verdict(
    gain: Sequence[tuple[float, float]],
    means: Sequence[float],
    between: Sequence[tuple[float, float]],
    margin: float,
) -> int:
    """The rule for a candidate: the gains of add and of each replace, and of add less each replace."""
    if all(upper <= margin for _, upper in gain):
        return KEEP
    if not any(lower > margin for lower, _ in gain):
        return OPEN
    if gain[0][0] > margin and all(lower > margin for lower, _ in between):
        return 1
    replaces = [i for i in range(1, len(gain)) if gain[i][0] > margin and between[i - 1][1] <= margin]
    if replaces:
        return 1 + max(replaces, key=lambda i: means[i])
    return UNSETTLED


def test_the_verdict_on_a_candidate_is_the_rule() -> None:
    rng, seen = random.Random(1), set()
    for _ in range(5000):
        n, margin = rng.randint(1, 4), rng.choice([0.0, 0.1])

        def interval() -> tuple[float, float]:
            one, other = sorted(rng.choice([-0.3, -0.1, 0.0, 0.1, 0.2, 0.4]) for _ in range(2))
            return one, other

        gain, between = [interval() for _ in range(n + 1)], [interval() for _ in range(n)]
        means = [rng.uniform(*ends) for ends in gain]
        rivals = [Rivals(1, 2 + i) for i in range(n)]
        ends = [Ends(*map(np.array, zip(*some, strict=True))) for some in (gain, between)]
        verdict = verdict_of(ends[0], np.array(means), rivals, ends[1], margin)
        assert verdict == plain_verdict(gain, means, between, margin)
        may = possible(verdict, ends[0], rivals, ends[1], margin)
        if verdict >= 0:
            assert may == [verdict]
        elif verdict == OPEN:
            assert may[0] == 0 and len(may) > 1
        else:
            assert 0 not in may
        seen.add(min(verdict, 2))
    assert seen == {KEEP, OPEN, UNSETTLED, 1, 2}


def test_of_two_options_that_need_the_same_neither_may_be_above_the_other_by_more_than_the_margin() -> None:
    gain, means = Ends(np.array([0.2, 0.3]), np.array([0.4, 0.5])), np.array([0.3, 0.4])
    rivals = [Rivals(1, 2, equal=True)]
    settled, open_ = Ends(np.array([-0.2]), np.array([-0.05])), Ends(np.array([-0.2]), np.array([0.05]))
    assert verdict_of(gain, means, rivals, settled, 0.0) == 2
    assert verdict_of(gain, means, rivals, open_, 0.0) == UNSETTLED
    assert possible(UNSETTLED, gain, rivals, open_, 0.0) == [1, 2]


# ---- intervals


def test_rows_of_zeros_have_no_interval_and_no_part() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(0.1, 0.2, (3, 40))
    with_zeros = np.vstack([values[:2], np.zeros(40), values[2:]])
    alone, together = (simultaneous_intervals(v, (-1.0, 1.0), FAST) for v in (values, with_zeros))
    for one, other in zip(alone, together, strict=True):
        assert other[2] == 0 and (other[[0, 1, 3]] == one).all()


def test_simultaneous_intervals_are_no_narrower_than_students() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(0.1, 0.2, (5, 30))
    lower, upper = simultaneous_intervals(values, (-1.0, 1.0), FAST)
    own = student_interval(values, 0.95)
    assert (lower <= own[0]).all() and (upper >= own[1]).all()
    values[1, 4:] = 0  # few topics differ
    lower, upper = simultaneous_intervals(values, (-1.0, 1.0), FAST)
    assert upper[1] > 0.1


@pytest.mark.parametrize("values", [[0.3, -1.0, 0.1, 0.0, -0.1], [0.5] * 4 + [0.0] * 4])
def test_the_interval_of_the_other_direction_is_the_same(values: list[float]) -> None:
    """Also where no value, or two, are the most frequent."""
    for sign in (1, -1):
        lower, upper = simultaneous_intervals(np.array([values]) * sign, (-1.0, 1.0), FAST)
        other = simultaneous_intervals(np.array([values]) * -sign, (-1.0, 1.0), FAST)
        assert (lower, upper) == (pytest.approx(-other[1]), pytest.approx(-other[0]))


def test_simultaneous_intervals_cover() -> None:
    rng, held = np.random.default_rng(2), 0
    for _ in range(100):
        values = rng.normal(0, 0.1, (4, 30))
        lower, upper = simultaneous_intervals(values, (-1.0, 1.0), FAST)
        held += bool(((lower <= 0) & (upper >= 0)).all())
    assert held >= 89


# ---- how many topics


def test_so_many_topics_have_the_power_that_was_asked_for() -> None:
    rng = np.random.default_rng(3)
    pilot = rng.normal(0.0, 0.2, 50)
    pilot = (pilot - pilot.mean()) / pilot.std(ddof=1) * 0.2 + 0.05
    found = topics_for_power(pilot, 0.0, 0.95)
    assert found is not None and found.fewest < found.needed < found.most
    above = [student_interval(rng.normal(0.05, 0.2, (1, found.needed)), 0.95)[0][0] > 0 for _ in range(2000)]
    assert np.mean(above) == pytest.approx(0.8, abs=0.03)
    assert topics_for_power(pilot, float(pilot.mean()), 0.95) is None


def test_more_topics_are_needed_where_one_in_five_is_unlike_the_others() -> None:
    rng = np.random.default_rng(4)

    def drawn(n: int) -> NDArray[np.float64]:
        return np.where(rng.random(n) < 0.2, -0.05, 0.1) + rng.normal(0, 0.02, n)

    values = drawn(400)
    found = topics_for_power(values, 0.0, 0.95)
    assert found is not None and found.needed < 11
    more = topics_if_some_are_unlike(found, values, 0.0, 0.0, 0.95)
    assert more.fewest <= more.needed <= more.most
    below = [simultaneous_intervals(drawn(more.needed)[None], (-1.0, 1.0), FAST)[0][0] for _ in range(200)]
    assert np.mean(np.array(below) > 0) > 0.75
    even = rng.normal(0.05, 0.1, 400)
    usual = topics_for_power(even, 0.0, 0.95)
    assert usual is not None
    assert topics_if_some_are_unlike(usual, even, 0.0, 0.0, 0.95).needed < 1.5 * usual.needed


# ---- all judgments of the unjudged documents, tried


def _values(
    runs: dict[str, dict[str, dict[str, float]]], qrels: dict[str, dict[str, int]], by: str
) -> NDArray[np.float64]:
    table = RunContext(runs, grades=(0, 1)).evaluate(qrels, [by], perquery=True)
    return table["value"].to_numpy().reshape(len(runs), -1)


@pytest.mark.parametrize("by", ["nDCG@3", "P@3", "RR@3", "AP@3"])
def test_worst_and_best_are_those_of_all_judgments(by: str) -> None:
    rng, docs = random.Random(4), "abcdefg"
    for _ in range(2):
        queries = [f"q{i}" for i in range(4)]
        runs = {
            name: {q: {d: -float(i) for i, d in enumerate(rng.sample(docs, 5))} for q in queries}
            for name in ("old", "new")
        }
        qrels = {q: {d: rng.choice([0, 1]) for d in rng.sample(docs, 5)} for q in queries}
        options = {"keep": ["old"], "add": ["old", "new"], "replace": ["new"]}
        context = RunContext(runs, grades=(0, 1))
        found = decide(
            context, qrels, options, by=by, method="interleave", resamples=99, unretrieved_relevant=0
        ).table
        lists = {name: {} for name in options}  # type: ignore[var-annotated]

        for name, of in options.items():
            lists[name] = {
                q: {d: -float(i) for i, d in enumerate(combined(of, runs, q, "interleave", 60, 1000, 3))}
                for q in queries
            }
        low, high = np.zeros((2, 3))
        for q in queries:
            free = sorted({d for one in lists.values() for d in one[q]} - set(qrels[q]))
            gains = []
            for labels in itertools.product([0, 1], repeat=len(free)):
                labeled = {q: qrels[q] | dict(zip(free, labels, strict=True))}
                values = _values({n: {q: one[q]} for n, one in lists.items()}, labeled, by)
                gains.append(values[:, 0] - values[0, 0])
            low += np.min(gains, axis=0) / len(queries)
            high += np.max(gains, axis=0) / len(queries)
        assert found["worst"].to_numpy() == pytest.approx(low, abs=1e-9)
        assert found["best"].to_numpy() == pytest.approx(high, abs=1e-9)
        assert (found["lower"] <= found["ci_lower"]).all() and (found["upper"] >= found["ci_upper"]).all()
        assert (found["lower"] <= found["worst"] + 1e-12).all()


def test_by_the_same_labels_an_interval_stays_where_it_is() -> None:
    values, (down, up) = (
        np.random.default_rng(0).normal(size=(3, 8)),
        np.array([[0.1, 0.2, 0.3], [0.3, 0.1, 0.2]]),
    )
    mean = values.mean(axis=1)
    found: Any = SimpleNamespace(ci_lower=mean - down, ci_upper=mean + up)
    lower, upper = _moved_ends(values[:, None], *_reach(values, found))
    assert lower[:, 0] == pytest.approx(mean - down) and upper[:, 0] == pytest.approx(mean + up)
