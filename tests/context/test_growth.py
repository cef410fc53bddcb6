"""Work grows with the number of runs, and not faster; and what is kept for it is kept under the right key."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from ir_measures import AP, RR, P, nDCG

from ir_measures_relative import MED, NRG, P_Rareness, RunContext
from ir_measures_relative.context import view as views
from ir_measures_relative.context.view import view_of
from ir_measures_relative.data import rankings
from ir_measures_relative.data.arrays import FloatArray, IntArray
from work import instructions

Run = dict[str, dict[str, float]]


def campaign(n: int) -> dict[str, Run]:
    """Runs of one query that share a document; built as fragile campaigns are: many, and short."""
    return {f"r{i}": {"q": {f"d{i}": 2.0, "a": 1.0}} for i in range(n)}


@pytest.mark.parametrize("priors", ["others", "earlier", "half"])
@pytest.mark.parametrize("measure", ["NRG@3", "UniqueRel@3", "P_Rareness@3", "nDCG_UE@3", "TaSC(base='P@3')"])
def test_work_grows_with_the_number_of_runs(measure: str, priors: Any) -> None:
    def work(n: int) -> int:
        policy = [f"r{i}" for i in range(n // 2)] if priors == "half" else priors
        context = RunContext(campaign(n), priors=policy)
        return instructions(lambda: context.evaluate({"q": {"a": 1, "d1": 2}}, [measure]))

    work(2)  # what is imported when it is first needed
    small, large = work(30), work(120)
    assert large < 1.15 * 4 * small


@dataclass(frozen=True)
class Halved:
    """A factor below 1 for what a prior holds, which counts the positions that it is asked for."""

    held: float = 0.5
    asked = 0

    def __call__(self, position: IntArray) -> FloatArray:
        Halved.asked += position.size
        return np.where(position > 0, self.held, 1.0)


def product(context: RunContext, name: str | None, factor: Any, prior: str | None = None) -> list[float]:
    whole = view_of(context, {"q": {"a": 1, "d1": 1, "d2": 0}})
    view = whole.of(name) if name else whole.with_run(context.runs["r0"])
    values: FloatArray = view.at(3).prior_product(factor, view.relevant, prior)
    return values.tolist()


@pytest.mark.parametrize("priors", ["others", "earlier", [f"r{i}" for i in range(3, 40)]])
def test_a_factor_is_asked_for_once(priors: Any) -> None:
    """And not once a run: 40 runs of 2 relevant documents, forwards and backwards."""
    context = RunContext(campaign(40), priors=priors)
    Halved.asked = 0
    for name in context.names:
        held = {"others": 39, "earlier": context.names.index(name)}.get(str(priors), 37 - (name in priors))
        assert product(context, name, Halved())[0] == 0.5**held
    assert 0 < Halved.asked <= 2 * 40 * 2


class Multiplied(np.ndarray):
    """An array that counts the numbers that it multiplies."""

    count = 0

    def prod(self, *args: Any, **kwargs: Any) -> Any:
        Multiplied.count += self.size
        return np.asarray(self).prod(*args, **kwargs)


def counted(position: IntArray) -> Any:
    return np.where(position > 0, 0.5, 1.0).view(Multiplied)


def test_a_product_is_kept_for_the_runs_with_the_same_priors() -> None:
    """As the candidates of a step of a greedy selection have: 30 of them, and 10 chosen runs of 2 documents."""
    context = RunContext(campaign(41), priors=[f"r{i}" for i in range(31, 41)])
    for i in range(30):
        assert product(context, f"r{i}", counted) == [0.5**10, 1.0]
    assert Multiplied.count == 10 * 2


def test_factors_that_differ_share_nothing() -> None:
    """Two of a kind, and two kinds of one look; a factor is its own key."""
    context = RunContext(campaign(4))
    expected = {held: held**3 for held in (0.5, 0.25, 0.0, 0.75)}
    for _ in range(2):
        for held, value in expected.items():
            assert product(context, "r0", Halved(held)) == [value, held if held else 0.0]

    def missed(position: IntArray) -> FloatArray:
        return np.where(position > 0, 0.1, 1.0)

    first = missed

    def missed(position: IntArray) -> FloatArray:  # type: ignore[no-redef]  # of the same name
        return np.where(position > 0, 0.2, 1.0)

    for factor, held in ((first, 0.1), (missed, 0.2), (first, 0.1)):
        assert product(context, "r0", factor) == pytest.approx([held**3, held])


def test_a_policy_may_name_a_run_twice_and_itself() -> None:
    runs = campaign(3)
    twice = RunContext(runs, priors=["r2", "r0", "r2"]).evaluate({"q": {"a": 1}}, ["NRG@3"])
    once = RunContext(runs, priors=["r0", "r2"]).evaluate({"q": {"a": 1}}, ["NRG@3"])
    pd.testing.assert_frame_equal(twice, once)


def test_what_is_kept_for_one_question_is_no_answer_to_another() -> None:
    """All that a context is asked for, in three orders, beside a context that was asked for nothing else."""
    queries, docs = ("p", "q"), [f"d{i}" for i in range(14)]
    dice = random.Random(3)
    runs = {n: {q: {d: dice.random() for d in docs[: dice.choice([5, 14])]} for q in queries} for n in "ABCD"}
    labels = {q: {d: dice.choice([-1, 0, 0, 1, 2]) for d in docs} for q in queries}
    absolute = [
        P @ 1,
        P @ 3,
        P(rel=2) @ 3,
        nDCG @ 3,
        nDCG(judged_only=True) @ 3,
        P(judged_only=True) @ 3,
        AP,
        RR,
    ]
    depths: list[int | None] = [1, 3, None]

    def questions(context: RunContext) -> dict[Any, Callable[[], Any]]:
        view = view_of(context, labels)
        ask: dict[Any, Callable[[], Any]] = {}
        for depth, name in itertools.product(depths, "ABC"):
            ask["top", depth, name] = lambda d=depth, n=name: (
                view.at(d).top(context.runs[n]).position.tolist()
            )
            ask["alike", depth, name] = lambda d=depth, n=name: view.of("A").starts_as(n, d)
        for measure in absolute:
            ask[measure] = lambda m=measure: view.absolute_of_runs(m).tolist()
        ask["at once"] = lambda: view.absolute(absolute[:4], context.runs["B"]).tolist()
        for name in "AB":
            one = view.of(name)
            for whose, depth, alone in itertools.product(("judgments", "relevant"), depths, (True, False)):
                rows = view.documents.relevant if whose == "relevant" else view.documents
                ask["positions", name, whose, depth, alone] = lambda o=one.at(depth, alone), r=rows: (
                    o.positions(r).tolist()
                )
                ask["held", name, whose, depth, alone] = lambda o=one.at(depth, alone), r=rows: [
                    n.tolist() for n in map(np.asarray, o.n_retrieving(r))
                ]
                for prior, held in itertools.product((None, "A,B", "B,D"), (0.5, 0.25)):
                    ask["product", name, whose, depth, alone, prior, held] = (
                        lambda o=one.at(depth, alone), r=rows, p=prior, h=held: o.prior_product(
                            Halved(h), r, p
                        ).tolist()
                    )
        return ask

    expected = {question: questions(RunContext(runs))[question]() for question in questions(RunContext(runs))}
    assert len({str(value) for value in expected.values()}) > len(expected) / 2  # else it would say little
    for seed in range(3):
        asked = questions(RunContext(runs))
        for question in random.Random(seed).sample(list(asked), len(asked)):
            assert asked[question]() == expected[question], question


def test_many_cutoffs_keep_as_much_as_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rankings, "_LEAST_KEPT", 100)
    monkeypatch.setattr(views, "_LEAST_BYTES", 10_000)
    monkeypatch.setattr(views, "_TABLES", 1)
    rng = np.random.default_rng(0)
    runs = {
        name: {q: {f"d{d}": float(s) for s, d in enumerate(rng.permutation(90))} for q in ("q1", "q2")}
        for name in "abc"
    }
    qrels = {q: {f"d{i}": i % 3 for i in range(60)} for q in ("q1", "q2")}
    context = RunContext(runs)
    measures = [NRG, P_Rareness, MED(base="P", ref="a")]
    sizes = []
    for k in range(1, 80):
        at_k = [measure @ k for measure in measures]
        table = context.evaluate(qrels, at_k)
        if k % 13 == 0:
            pd.testing.assert_frame_equal(table, RunContext(runs).evaluate(qrels, at_k))
        (_, view), *_ = context._views
        sizes += [sum(store._sizes.values()) for store in (view.ranks, view.labels)]
        for run in context.runs.values():
            assert sum(len(top.query) for top in run._top.values()) <= 2 * len(run)
            assert run.top(k) is run.top(k)
    assert max(sizes) <= 10_000
    again = {k: run.top(k) for k in (5, 10, 20)}
    assert all(run.top(k) is top for k, top in again.items())
