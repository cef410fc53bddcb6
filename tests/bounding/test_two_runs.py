"""AP, AP_Rareness and ERR: the extremes of one run, and of the difference of two, which takes a search."""

import itertools
import os
import random
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

from all_labelings import check, random_campaign
from ir_measures_relative import RelativeWarning, RunContext, bounds, verdicts
from ir_measures_relative.bounding import judge_next
from ir_measures_relative.bounding.ap import QueryDocuments, even_difference, weighted_difference
from ir_measures_relative.bounding.ap_relaxation import Quadratic, greatest_over_relevant
from ir_measures_relative.bounding.intervals import Clock, End, Interval, TimeLimit, bound_pairs
from oracles.med_exact import labelings

CASES = int(os.environ.get("LABELING_CAMPAIGNS", "24"))
MEASURES = ["AP@5", "AP_Rareness@5", "ERR@5"]


class RunsOnQuery(NamedTuple):
    """Runs on one query, and pairs of them."""

    docs: QueryDocuments
    position: np.ndarray
    a: np.ndarray
    b: np.ndarray

    def interval(self, a: np.ndarray, b: np.ndarray, time_limit: float | None = None) -> Interval:
        """Of some runs less others; a run beyond the last holds nothing."""
        even = (self.docs.weight == 1.0).all()
        solver = partial(even_difference if even else weighted_difference, self.docs)
        position = np.append(self.position, 0 * self.position[:1], axis=0)
        rows, every = [np.arange(position.shape[1])], np.ones(1, dtype=bool)
        found = bound_pairs(lambda q: solver, position, rows, every, a, b, TimeLimit(time_limit))
        return Interval(*(part[:, 0] for part in found))


def random_task(rng: np.random.Generator, even: bool) -> RunsOnQuery:
    """Three runs with some of up to eight documents; weights as rareness has them, or any."""
    n = int(rng.integers(1, 9))
    position = np.zeros((3, n), dtype=np.int64)
    for row in position:
        length = int(rng.integers(0, n + 1))
        row[rng.permutation(n)[:length]] = rng.permutation(10)[:length] + 1
    is_open = rng.random(n) < rng.uniform(0.2, 0.9)
    weight = 2.0 - (position > 0).mean(axis=0) if rng.random() < 0.5 else rng.random(n)
    relevant = int((~is_open).sum() + rng.integers(0, 3))
    docs = QueryDocuments(is_open, np.ones(n) if even else weight, relevant)
    return RunsOnQuery(docs, position, np.array([0, 0, 1]), np.array([1, 2, 2]))


def every_value(task: RunsOnQuery) -> np.ndarray:
    """The values of all runs under every labeling, shape (runs, labelings): from the formula."""
    found = []
    for labels in labelings(np.where(task.docs.open, -1, 1).tolist(), (0, 1)):
        r = task.docs.n_relevant - int((~task.docs.open).sum()) + sum(labels)
        values = []
        for position in task.position:
            relevant = [d for d, label in enumerate(labels) if label and position[d]]
            total = sum(
                sum(task.docs.weight[e] for e in relevant if position[e] <= position[d]) / position[d]
                for d in relevant
            )
            values.append(total / r if r else 0.0)
        found.append(values)
    return np.array(found).T


@pytest.mark.parametrize("even", [True, False])
def test_every_labeling_of_random_runs(even: bool) -> None:
    rng = np.random.default_rng(int(even))
    below = 0
    for _ in range(5 * CASES):
        task = random_task(rng, even)
        values = every_value(task)
        cases = [(task.b, values[task.a] - values[task.b])]
        cases += [] if even else [(np.full(3, 3), values[task.a])]  # less a run that retrieves nothing
        for other, expected in cases:
            lower, upper, exact = task.interval(task.a, other)
            np.testing.assert_allclose(lower, expected.min(axis=1), rtol=0, atol=1e-10)
            np.testing.assert_allclose(upper, expected.max(axis=1), rtol=0, atol=1e-10)
            assert exact.all()
            below += int((upper < 0).sum())
    assert below > CASES


def test_any_quadratic_function_over_the_number_of_relevant_documents() -> None:
    """Also those that no rankings have, where the search has to branch."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        n, relevant, outside = int(rng.integers(0, 8)), int(rng.integers(1, 4)), int(rng.integers(0, 3))
        pairs = np.triu(rng.normal(size=(n, n)), 1) * rng.choice([0.2, 1.0])
        function = Quadratic(float(rng.normal()), rng.normal(size=n), pairs + pairs.T, np.arange(n))
        every = [np.array(labels) for labels in itertools.product((0, 1), repeat=n)]
        value = [function.constant + x @ function.linear + x @ function.pairs @ x / 2 for x in every]
        best = max(
            v / (relevant + x.sum() + more)
            for v, x in zip(value, every, strict=True)
            for more in range(outside + 1)
        )
        found = greatest_over_relevant(function, relevant, outside, Clock())
        assert found.reached == pytest.approx(best, abs=1e-10)
        assert found.bound == pytest.approx(best, abs=1e-10)


@pytest.mark.parametrize("no_time", [0.0, None])
def test_the_interval_is_sound_without_time(no_time: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """With no time, and weights without a search."""
    monkeypatch.setattr("ir_measures_relative.bounding.ap_relaxation._WORK", 0)
    rng = np.random.default_rng(5)
    inexact = 0
    for _ in range(2 * CASES):
        task = random_task(rng, no_time is not None)
        values = every_value(task)
        lower, upper, exact = task.interval(task.a, task.b, no_time)
        apart_by = values[task.a] - values[task.b]
        assert (lower <= apart_by.min(axis=1) + 1e-10).all() and (upper >= apart_by.max(axis=1) - 1e-10).all()
        tight = (np.abs(lower - apart_by.min(axis=1)) < 1e-9) & (np.abs(upper - apart_by.max(axis=1)) < 1e-9)
        assert (tight | (exact == 0)).all()
        inexact += int((exact == 0).sum())
    assert inexact > CASES / 10


@pytest.mark.parametrize("seed", range(CASES // 8))
@pytest.mark.parametrize("unretrieved_relevant", [0, 2])
def test_all_of_them_are_exact(seed: int, unretrieved_relevant: int) -> None:
    campaign = random_campaign(random.Random(3000 + seed), 1, 4 if unretrieved_relevant else 6)
    at = "" if campaign.cutoff is None else f"@{campaign.cutoff}"
    measures = [f"AP{at}", f"AP_Rareness{at}", f"AP_Rareness(bounded=True,alpha=0.5){at}"]
    found = check(campaign, [*measures, f"ERR{at}"] if at else measures, unretrieved_relevant)
    for measure, tally in found.items():
        for kind, (n, exact, excess) in tally.items():
            if kind == "one" or not measure.startswith("ERR"):  # whose difference is that of two intervals
                assert exact == n and abs(excess) < 3e-5 * n, measure


def long_campaign() -> tuple[RunContext, dict[str, dict[str, int]]]:
    """Four runs on three queries, of which the first few documents are judged."""
    rng = random.Random(1)
    docs = [f"d{i}" for i in range(40)]
    runs: dict[str, Any] = {}
    for name in "abcd":
        runs[name] = {f"{q}": {d: float(-i) for i, d in enumerate(rng.sample(docs, 25))} for q in range(1, 4)}
    qrels = {f"{q}": {d: rng.randint(0, 1) for d in rng.sample(docs, 12)} for q in range(1, 4)}
    return RunContext(runs, grades=(0, 1)), qrels


def seconds_left(retrieved: Any, x: Any, y: Any, limit: TimeLimit) -> End:
    """Return as the end of a pair the seconds that it has."""
    return End(limit.remaining(), 0.0)


def test_a_time_limit_is_divided_among_the_searches_that_are_left() -> None:
    one, position, some = np.array([0]), np.ones((1, 5), dtype=np.int64), np.arange(5) != 2
    rows = [np.array([q]) for q in range(5)]
    found = bound_pairs(lambda q: seconds_left, position, rows, some, one, one, TimeLimit(400))
    assert found.upper[0, 2] == np.inf == -found.lower[0, 2]  # which is left out
    # Searches get what earlier ones did not use.
    assert found.upper[0, some] == pytest.approx([400 / left for left in (8, 6, 4, 2)], abs=30)
    assert -found.lower[0, some] == pytest.approx([400 / left for left in (7, 5, 3, 1)], abs=60)
    assert TimeLimit(300).share(3).remaining() == pytest.approx(100, abs=50)
    assert TimeLimit().share(3).remaining() == np.inf


def test_time_limits_are_checked() -> None:
    context, qrels = long_campaign()
    for function, measures in ((verdicts, MEASURES), (bounds, MEASURES), (judge_next, MEASURES[0])):
        options = {"n": 1} if function is judge_next else {}
        with pytest.raises(ValueError, match="time_limit=-1 is not allowed"):
            function(context, qrels, measures, time_limit=-1, **options)  # type: ignore[operator]


def test_a_third_run_does_not_widen_what_two_were_proved() -> None:
    """What two runs are said to be, with as many relevant documents that neither retrieves as one more run could bring."""
    narrower = 0
    for seed in range(5):
        campaign = random_campaign(random.Random(7000 + seed), 3, 6)
        measure = f"nDCG@{campaign.cutoff or 3}"
        names = list(campaign.runs)[:2]
        grades = (-1, 3)
        alone = RunContext({name: campaign.runs[name] for name in names}, grades=grades)
        three = RunContext(campaign.runs, grades=grades)
        options: dict[str, Any] = {"perquery": True, "missing": "zero"}
        two = verdicts(alone, campaign.qrels, [measure], **options)
        of_three = verdicts(three, campaign.qrels, [measure], **options)
        kept = of_three[of_three["name"].eq(names[0]) & of_three["other"].eq(names[1])]
        joined = two.merge(kept, on=["name", "other", "query_id"])
        assert len(joined) == len(two)
        assert (joined["worst_x"] <= joined["worst_y"] + 1e-12).all()
        assert (joined["best_x"] >= joined["best_y"] - 1e-12).all()
        without = verdicts(alone, campaign.qrels, [measure], unretrieved_relevant=0, **options)
        narrower += int((without["worst"] > two["worst"] + 1e-12).sum())
    assert narrower  # where there is a difference to be made


def test_a_measure_without_a_cutoff_asks_for_the_documents_elsewhere() -> None:
    runs = {"a": {"q": {"A": 2.0, "X": 1.0}}, "b": {"q": {"Y": 2.0, "A": 1.0}}}
    with pytest.warns(RelativeWarning, match=r"AP: relevant documents that none of \['a', 'b'\] retrieves"):
        verdicts(RunContext(runs, grades=(0, 1)), {"q": {"A": 1}}, ["AP"])
    verdicts(RunContext(runs, grades=(0, 1)), {"q": {"A": 1}}, ["RR", "AP@2"])
    verdicts(RunContext(runs, grades=(0, 1)), {"q": {"A": 1}}, ["AP"], unretrieved_relevant=1)
    verdicts(RunContext({**runs, "c": {"q": {"A": 1.0}}}, grades=(0, 1)), {"q": {"A": 1}}, ["AP"])


def test_the_share_that_nobody_judged() -> None:
    runs = {"a": {"q": {"A": 3.0, "X": 2.0, "B": 1.0}, "p": {"A": 1.0}}, "b": {"q": {"Y": 2.0}}}
    qrels = {"q": {"A": 1, "B": 0}, "p": {"A": 1}}
    context = RunContext(runs, grades=(0, 1))
    by_query = verdicts(context, qrels, ["P@2"], perquery=True, missing="zero").set_index("query_id")
    assert by_query.loc["q", ["unjudged", "other_unjudged"]].tolist() == [0.5, 1.0]
    assert by_query.loc["p", ["unjudged", "other_unjudged"]].tolist() == [0.0, 0.0]
    (row,) = verdicts(context, qrels, ["P@2"], missing="zero").itertuples()
    assert (row.unjudged, row.other_unjudged) == (0.25, 0.5)
