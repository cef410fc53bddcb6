"""Work grows with the runs, and not faster; what is kept is kept under the right key, within a limit, for several threads."""

import gc
import itertools
import pickle
import random
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from ir_measures import AP, RR, P, nDCG

from ir_measures_relative import MED, NRG, P_Rareness, RunContext, UniqueRel, nDCG_UE, rrLP
from ir_measures_relative.bounding.labelings import with_grades
from ir_measures_relative.context import memo
from ir_measures_relative.context.collection import judged_collection
from ir_measures_relative.context.duplicates import rank_alike
from ir_measures_relative.context.evaluate import score_runs
from ir_measures_relative.context.evaluated import Evaluated
from ir_measures_relative.context.memo import Memo
from ir_measures_relative.context.priors import BestOfOtherGroups
from ir_measures_relative.context.tops import Look
from ir_measures_relative.data import rankings
from ir_measures_relative.data.arrays import FloatArray, IntArray
from ir_measures_relative.data.documents import Documents
from ir_measures_relative.io.runs import read_run
from ir_measures_relative.measures.rareness import n_retrieving
from work import instructions

Run = dict[str, dict[str, float]]


def campaign(n: int) -> dict[str, Run]:
    """Runs of one query that share a document; built as fragile campaigns are: many, and short."""
    return {f"r{i}": {"q": {f"d{i}": 2.0, "a": 1.0}} for i in range(n)}


@pytest.mark.parametrize("priors", ["others", "half"])
@pytest.mark.parametrize("measure", ["NRG@3", "UniqueRel@3", "P_Rareness@3", "nDCG_UE@3", "TaSC(base='P@3')"])
def test_work_grows_with_the_number_of_runs(measure: str, priors: Any) -> None:
    def work(n: int) -> int:
        policy = [f"r{i}" for i in range(n // 2)] if priors == "half" else priors
        context = RunContext(campaign(n), priors=policy)
        return instructions(lambda: context.evaluate({"q": {"a": 1, "d1": 2}}, [measure]))

    work(2)  # what is imported when it is first needed
    assert work(40) < 1.15 * 4 * work(10)


@dataclass(frozen=True)
class Halved:
    """A factor below 1 for what a prior holds, which counts the positions that it is asked for."""

    held: float = 0.5
    asked = 0

    def __call__(self, position: IntArray) -> FloatArray:
        Halved.asked += position.size
        return np.where(position > 0, self.held, 1.0)


def product(context: RunContext, name: str, factor: Any) -> list[float]:
    collection = judged_collection(context, {"q": {"a": 1, "d1": 1, "d2": 0}})
    run = Evaluated.of(collection, name)
    values: FloatArray = run.left_by_priors(factor, collection.documents.relevant, Look(3))
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


def test_a_product_is_kept_for_the_runs_with_the_same_priors() -> None:
    collection = labelled(campaign(9), {"q": {"a": 1, "d1": 1}}, priors=["r7", "r8"])
    relevant = collection.documents.relevant
    first, second = (
        Evaluated.of(collection, name).left_by_priors(Halved(), relevant, Look(3)) for name in ("r0", "r2")
    )
    assert first is second and first.tolist() == [0.25, 1.0]


def test_a_policy_may_name_a_run_twice_and_itself() -> None:
    twice, once = (
        RunContext(campaign(3), priors=priors).evaluate({"q": {"a": 1}}, ["NRG@3"])
        for priors in (["r2", "r0", "r2"], ["r0", "r2"])
    )
    pd.testing.assert_frame_equal(twice, once)


def test_what_is_kept_for_one_question_is_no_answer_to_another() -> None:
    """All that a context is asked for, in three orders, beside a context that was asked for nothing else."""
    queries, docs = ("p", "q"), [f"d{i}" for i in range(14)]
    dice = random.Random(3)
    runs = {n: {q: {d: dice.random() for d in docs[: dice.choice([5, 14])]} for q in queries} for n in "ABCD"}
    labels = {q: {d: dice.choice([-1, 0, 0, 1, 2]) for d in docs} for q in queries}
    absolute = [P @ 1, P @ 3, P(rel=2) @ 3, nDCG @ 3]
    absolute += [nDCG(judged_only=True) @ 3, P(judged_only=True) @ 3, AP, RR]
    depths: list[int | None] = [1, 3, None]

    def ask(context: RunContext, what: str, *about: Any) -> Any:
        collection = judged_collection(context, labels)
        if what == "top":
            depth, name = about
            return collection.top(context.runs[name], depth).position.tolist()
        if what == "alike":
            depth, name = about
            return rank_alike(Evaluated.of(collection, "A"), name, depth)
        if what == "absolute":
            return collection.absolute_values_by_run(about[0]).tolist()
        if what == "at once":
            return collection.compute_absolute(absolute[:4], context.runs["B"]).tolist()
        name, whose, depth, judged_only, *rest = about
        run, look = Evaluated.of(collection, name), Look(depth, judged_only)
        rows = getattr(collection.documents, whose, collection.documents)
        if what == "positions":
            return run.positions(rows, look).tolist()
        if what == "held":
            return [np.asarray(n).tolist() for n in n_retrieving(run, rows, look)]
        prior, held = rest
        return run.left_by_priors(Halved(held), rows, look, prior).tolist()

    about = list(itertools.product("AB", ("judgments", "relevant"), depths, (True, False)))
    questions: list[Any] = [
        (what, *of) for what in ("top", "alike") for of in itertools.product(depths, "ABC")
    ]
    questions += [*(("absolute", measure) for measure in absolute), ("at once",)]
    questions += [(what, *of) for what in ("positions", "held") for of in about]
    questions += [("product", *of, p, h) for of in about for p in (None, "A,B", "B,D") for h in (0.5, 0.25)]
    expected = [ask(RunContext(runs), *question) for question in questions]
    assert len({str(value) for value in expected}) > len(expected) / 2  # else it would say little
    for seed in range(2):
        asked = RunContext(runs)
        for i in random.Random(seed).sample(range(len(questions)), len(questions)):
            assert ask(asked, *questions[i]) == expected[i], questions[i]


def test_many_cutoffs_keep_as_much_as_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rankings, "_LEAST_KEPT", 100)
    monkeypatch.setattr(memo, "_LEAST_BYTES", 10_000)
    monkeypatch.setattr(memo, "_TABLES", 1)
    rng = np.random.default_rng(0)
    runs = {
        n: {q: {f"d{d}": float(s) for s, d in enumerate(rng.permutation(90))} for q in "pq"} for n in "abc"
    }
    qrels = {q: {f"d{i}": i % 3 for i in range(60)} for q in "pq"}
    context = RunContext(runs)
    for k in range(1, 40):
        at_k = [measure @ k for measure in (NRG, P_Rareness, MED(base="P", ref="a"))]
        table = context.evaluate(qrels, at_k)
        if k % 13 == 0:
            pd.testing.assert_frame_equal(table, RunContext(runs).evaluate(qrels, at_k))
        assert judged_collection(context, qrels).memo.nbytes <= 10_000
        for run in context.runs.values():
            assert sum(len(top.query) for top in run._top.values()) <= 2 * len(run)
            assert run.top(k) is run.top(k)
    again = {k: run.top(k) for k in (5, 10, 20)}
    assert all(run.top(k) is top for k, top in again.items())


def test_each_thread_has_the_values_of_its_own_priors() -> None:
    """No first or last runs of the context: what is computed is the product over these alone."""
    dice = random.Random(0)
    docs = [f"d{i}" for i in range(30)]
    runs = {f"r{i}": {"q": dict.fromkeys(docs, 0.0) | {d: dice.random() for d in docs}} for i in range(7)}
    labels = {"q": {d: dice.randrange(3) for d in docs}}
    measures = [NRG(prior=prior) @ 10 for prior in ("r1,r4", "r2,r5")]

    def values(measure: Any, context: RunContext, times: int) -> set[float]:
        collection = judged_collection(context, labels)
        return {measure.score(Evaluated.of(collection, "r0"))[0] for _ in range(times)}

    expected = [values(measure, RunContext(runs), 1) for measure in measures]
    assert expected[0] != expected[1]
    context, before = RunContext(runs), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads take turns as often as they can
    try:
        with ThreadPoolExecutor(len(measures)) as pool:
            found = [pool.submit(values, measure, context, 1000) for measure in measures]
            assert [future.result() for future in found] == expected
    finally:
        sys.setswitchinterval(before)


def labelled(runs: Any, qrels: Any, **options: Any) -> Any:
    return judged_collection(RunContext(runs, **options), qrels)


def test_what_is_known_deeper_or_of_more_documents_is_not_looked_up_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_up: list[int | None] = []
    positions_in = Documents.positions_in
    monkeypatch.setattr(
        Documents, "positions_in", lambda d, r, k=None: looked_up.append(k) or positions_in(d, r, k)
    )
    runs = {"a": {"q": {f"d{i}": -float(i) for i in range(9)}}}
    collection = labelled(runs, {"q": {"d1": 1, "d4": 1, "d8": 0}})
    (run,), docs = Evaluated.each(collection), collection.documents
    depths: list[int | None] = [2, 7, 5, None, 7, 3]
    found = [run.positions(docs, Look(k)).tolist() for k in depths]
    assert found == [[2, 0, 0], [2, 5, 0], [2, 5, 0], [2, 5, 9], [2, 5, 0], [2, 0, 0]]
    assert run.positions(docs.relevant, Look(5)).tolist() == [2, 5]
    assert looked_up == [2, 7, None]


def test_a_new_run_is_kept_nowhere_else() -> None:
    """Else a grid search would keep all its runs alive."""
    collection = labelled({"a": {"q": {"d1": 1.0}}}, {"q": {"d1": 1, "d2": 2}})
    (NRG @ 10).score(Evaluated.of(collection, "a"))
    before = len(collection.memo._values)
    run = read_run({"q": {"d2": 1.0}})
    alive, evaluated = weakref.ref(run), Evaluated.of(collection, run)
    for measure in (NRG @ 10, P_Rareness @ 10, MED(ref="a") @ 10, NRG @ 5, rrLP(ref="a"), nDCG_UE @ 10):
        measure.score(evaluated)
    evaluated.absolute(nDCG @ 10)
    kept = {part for key in collection.memo._values for part in np.ravel(np.array(key, dtype=object))}
    assert len(collection.memo._values) > before and run not in kept
    del run, evaluated, kept
    gc.collect()
    assert alive() is None


def test_a_collection_of_other_grades_shares_what_holds() -> None:
    runs = {n: {"q": {d: float(ord(d) % (i + 2)) for d in "abcdef"}} for i, n in enumerate("ABC")}
    whole = labelled(runs, {"q": dict.fromkeys("abc", 1) | {"d": 0}})
    other = with_grades(whole, np.array([0, 2, 0, 1]))
    expected = labelled(runs, {"q": {"a": 0, "b": 2, "c": 0, "d": 1}})
    for name in "ABC":
        for measure in (NRG @ 3, NRG(judged_only=True) @ 2, P_Rareness @ 2, NRG(base="ERR") @ 3):
            values = measure.score(Evaluated.of(other, name))
            assert values.tolist() == measure.score(Evaluated.of(expected, name)).tolist(), measure
            (NRG @ 3).score(Evaluated.of(whole, name))
        assert Evaluated.of(other, name).absolute(nDCG @ 3) == Evaluated.of(expected, name).absolute(nDCG @ 3)


RUNS = {
    name: {"q": {d: -float(i) for i, d in enumerate(docs)}}
    for name, docs in [("a", "AX"), ("b", "AB"), ("c", "BC")]
}
QRELS = {"q": {"A": 1, "B": 2, "C": 0}}


@pytest.mark.parametrize(
    ("priors", "left"),
    [
        ("others", "others"),
        ("earlier", "earlier"),
        (["b", "c"], ["c"]),
        ({"a": ["b"], "b": ["a"], "c": ["a", "b"]}, {"a": [], "c": ["a"]}),
        (BestOfOtherGroups(), BestOfOtherGroups()),
    ],
)
def test_some_runs_are_the_context_that_is_made_of_them(priors, left) -> None:
    groups = {"a": "g", "b": "h", "c": "i"}
    whole = RunContext(RUNS, priors=priors, groups=groups, reference="b", grades=(0, 3))
    some = judged_collection(whole, QRELS).select_runs(["c", "a"])
    made = RunContext({n: RUNS[n] for n in "ac"}, priors=left, groups={"a": "g", "c": "i"}, grades=(0, 3))
    assert some.names == ["a", "c"] and some.groups == made.groups and some.grades == (0, 3)
    assert some.reference is None
    assert judged_collection(RunContext(RUNS, reference="b"), QRELS).select_runs(["b", "a"]).reference == "b"
    for collection in (some, pickle.loads(pickle.dumps(some))):
        scores = score_runs(collection, collection.names, [UniqueRel @ 2])
        assert scores.table().equals(made.evaluate(QRELS, [UniqueRel @ 2]))


def test_parts_keep_the_grades_of_the_whole() -> None:
    """A grade that is left out of a sample is a grade still: what is graded stays on one scale."""
    collection = judged_collection(RunContext(RUNS), QRELS)
    assert collection.grades == (0, 2)
    assert collection.select_runs(["a", "b"]).grades == (0, 2)


def array(value: float, size: int = 100) -> FloatArray:
    return np.full(size, value)


def small(numbers: int) -> Memo:
    memo = Memo()
    memo.limit = 8 * numbers
    return memo


def test_what_was_asked_for_last_stays_longest() -> None:
    memo, computed = small(350), list[str]()

    def get(key: str) -> None:
        memo.get(key, lambda: computed.append(key) or array(0.0))

    for key in "abcabdacd":  # c is the one that nobody asked for longest when d comes
        get(key)
    assert "".join(computed) == "abcdc"
    assert memo.nbytes == 8 * 300


class _Holder:
    def __init__(self, values):
        self.values = values


def test_a_value_is_measured_with_what_is_in_it() -> None:
    memo = small(1000)
    memo.keep("tuple", (array(1.0), [array(2.0)], "text"))
    memo.keep("dict", {"a": array(1.0), "b": array(2.0)})
    text = sys.getsizeof("text")
    assert memo.nbytes == 8 * 400 + text
    memo.keep("other", _Holder(array(4.0)))
    assert memo.nbytes == 8 * 500 + text
    memo.keep("other", object())
    assert memo.nbytes == 8 * 400 + text + sys.getsizeof(object())
    memo.keep("tuple", array(3.0))  # in place of the earlier one
    assert memo.nbytes == 8 * 300 + sys.getsizeof(object()) and memo.find("tuple")[0] == 3.0
    memo.keep("large", array(0.0, 5000))  # more than there is room for: it is kept alone
    assert memo.find("large") is not None and memo.find("dict") is None


def test_there_is_room_for_some_tables_of_all_runs() -> None:
    memo = Memo(1000, 100_000)
    assert memo.limit == 16 * 8 * 1000 * 100_000
    memo.make_room(1, 1)
    assert memo.limit == 16 * 8 * 1000 * 100_000


def test_it_pickles_without_its_values() -> None:
    memo = small(100)
    memo.keep("a", lambda: None)
    again = pickle.loads(pickle.dumps(memo))
    assert again.limit == memo.limit and again.find("a") is None and again.nbytes == 0


def test_what_is_in_a_parent_is_found_and_what_is_computed_stays_below() -> None:
    """Of grades that are drawn by the thousand nothing is left."""
    parent = small(1000)
    parent.keep("above", array(1.0))
    child = Memo(parent=parent)
    assert child.get("above", lambda: array(2.0))[0] == 1.0
    assert child.get("below", lambda: array(3.0))[0] == 3.0
    assert parent.find("below") is None and child.nbytes == 8 * 100


def test_threads_share_it_while_it_evicts() -> None:
    memo, before = small(350), sys.getswitchinterval()

    def ask(seed: int) -> bool:
        dice = random.Random(seed)
        keys = [dice.randrange(8) for _ in range(3000)]
        return all(memo.get(key, lambda key=key: array(key))[0] == key for key in keys)

    sys.setswitchinterval(1e-6)  # threads take turns as often as they can
    try:
        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(ask, range(4)))
    finally:
        sys.setswitchinterval(before)
    assert memo.nbytes == 8 * 100 * len(memo._values) <= 8 * 350
