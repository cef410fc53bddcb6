"""RunContext: who is evaluated, which runs are priors, nesting, threads, evaluators that outlive the block."""

import contextvars
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import ir_measures
import pandas as pd
import pytest
from ir_measures import nDCG

from ir_measures_relative import NRG, P_Rareness, RelativeWarning, RunContext, UniqueRel
from ir_measures_relative.context.priors import BestOfOtherGroups

QRELS = {"q": {d: 1 for d in "ABCDEF"}}
A, B, C = ({"q": {d: -float(i) for i, d in enumerate(docs)}} for docs in ("ABX", "ACX", "DEX"))
RUNS = {"A": A, "B": B, "C": C}
U = UniqueRel @ 3
NEW = {"q": {"A": 3.0, "F": 2.0, "E": 1.0}}


def frame(run: Any, name: str | None = None) -> pd.DataFrame:
    rows = pd.DataFrame(
        [(q, d, s) for q, docs in run.items() for d, s in docs.items()],
        columns=["query_id", "doc_id", "score"],
    )
    return rows if name is None else rows.assign(name=name)


def unique(context: Any, run: Any, measure: Any = U) -> float:
    with context:
        return ir_measures.calc_aggregate([measure], QRELS, run)[measure]


def test_a_member_is_not_its_own_prior() -> None:
    context = RunContext(RUNS)
    assert unique(context, frame(A, "A")) == 1
    with context.evaluating("A"):
        assert ir_measures.calc_aggregate([U], QRELS, A)[U] == 1
    assert context.evaluate(QRELS, [U])["UniqueRel@3"].tolist() == [1, 1, 2]


def test_evaluating_counts_when_scoring_and_when_creating() -> None:
    context = RunContext(RUNS)
    with context.evaluating("A"):
        evaluator = ir_measures.evaluator([U], QRELS)
    assert evaluator.calc_aggregate(A)[U] == 1
    with context:
        evaluator = ir_measures.evaluator([U], QRELS)
        with context.evaluating("C"):
            assert evaluator.calc_aggregate(C)[U] == 2


def test_a_new_run_has_every_run_as_prior() -> None:
    for policy in ("others", "earlier", {"A": []}, BestOfOtherGroups()):
        context = RunContext(RUNS, priors=policy, groups={"A": "g", "B": "g", "C": "h"})
        assert unique(context, NEW) == 1
        assert unique(context, frame(NEW, "somebody")) == 1
    assert unique(RunContext(RUNS, priors=["A"]), NEW) == 2


def test_an_unnamed_copy_of_a_member_draws_a_warning_that_says_how_to_name_it() -> None:
    context = RunContext(RUNS)
    for score in (1, 10):
        with pytest.warns(UserWarning, match=r"ranks exactly as .* 'B'.*name='B'.*evaluating\('B'\)"):
            assert unique(context, frame(B).assign(score=lambda f, by=score: f.score * by)) == 0
    with warnings.catch_warnings(action="error"):
        unique(context, {"q": {"A": 3.0, "C": 2.0, "Y": 1.0}})
        unique(context, frame(B, "B"))


def test_who_ranks_alike_is_told_by_every_document() -> None:
    """However far two runs agree, to the end of the shorter, and whichever was looked at before."""

    def ranking(*last: str) -> dict[str, dict[str, float]]:
        return {"q": {d: -float(i) for i, d in enumerate([*"ABCDEFGHIJKL", *last])}}

    context = RunContext({"A": ranking("x"), "B": ranking("y"), "C": ranking("y", "z")})
    for last, told in [("y", "'B'"), ("yz", "'C'"), ("x", "'A'"), ("yzx", "'B'"), ("", "'A'"), ("w", "")]:
        with warnings.catch_warnings(record=True, action="always") as caught:
            unique(context, ranking(*last))
        assert [told in str(w.message) for w in caught] == [True] * bool(told), last


def test_a_run_for_other_topics_than_the_qrels_is_an_error_or_a_batch_without_results() -> None:
    """A batch, if both topics are known: the context holds runs for them."""
    context = RunContext({"A": {"q": {"A": 2.0}, "p": {"B": 1.0}}, "B": {"q": {"A": 1.0}}})
    with pytest.warns(UserWarning, match="no query in common with the qrels"):
        assert unique(context, frame({"p": {"A": 1.0}})) == 0
    with pytest.raises(ValueError, match="no query in common with the qrels: .*; is one of them numbered"):
        unique(context, frame({"z": {"A": 1.0}}))


def test_a_name_column_of_another_run_or_of_several_values() -> None:
    with pytest.warns(UserWarning, match="named 'A', but ranks differently"):
        unique(RunContext(RUNS), frame(C, "A"))
    run = frame(NEW).assign(name=["A", "B", "A"])
    with pytest.raises(
        ValueError, match=r"holds 2 runs, by its column 'name': A, B; choose one, such as frame\["
    ):
        unique(RunContext(RUNS), run)


def test_earlier() -> None:
    table = RunContext(RUNS, priors="earlier").evaluate(QRELS, [U])
    assert table["UniqueRel@3"].tolist() == [2, 1, 2]
    turned = RunContext(dict(reversed(RUNS.items())), priors="earlier").evaluate(QRELS, [U])
    assert turned.values.tolist() == [["C", 2], ["B", 2], ["A", 1]]


def test_list_and_dict() -> None:
    assert RunContext(RUNS, priors=["A"]).evaluate(QRELS, [U])["UniqueRel@3"].tolist() == [2, 1, 2]
    policy = {"A": [], "B": ["C"], "C": ["A", "B", "C"]}
    assert RunContext(RUNS, priors=policy).evaluate(QRELS, [U])["UniqueRel@3"].tolist() == [2, 2, 2]
    with pytest.raises(ValueError, match="say nothing of 'B'"):
        RunContext(RUNS, priors={"A": []}).evaluate(QRELS, [U])


def test_best_of_other_groups() -> None:
    labels = {"q": {"A": 2, "B": 1, "C": 1, "D": 1, "E": 1}}
    runs = {"B": B, "A": {"q": {"X": 2.0, "A": 1.0}}, "C": C}
    policy = BestOfOtherGroups(by="nDCG@3")
    context = RunContext(runs, priors=policy, groups={"A": "g", "B": "g", "C": "h"})
    table = context.evaluate(labels, [U, "nDCG@3"]).set_index("name")
    assert table.loc["B", "nDCG@3"] > table.loc["A", "nDCG@3"]
    expected = RunContext(runs, priors={"A": ["C"], "B": ["C"], "C": ["B"]}).evaluate(labels, [U])
    assert table["UniqueRel@3"].tolist() == expected["UniqueRel@3"].tolist()


def test_prior_in_the_measure_by_name_and_glob() -> None:
    runs = {"bm25": A, "bm25[k1=2]": B, "neural-1": C}
    context = RunContext(runs, priors="earlier")
    priors = ("bm25", "bm25*", "neural*", "bm25[k1=2]", "bm25, neural-?")
    measures = [UniqueRel(prior=prior) @ 3 for prior in priors]
    table = context.evaluate(QRELS, measures).set_index("name")
    assert table.loc["neural-1"].tolist()[:2] == [2, 2]
    assert table.loc["bm25"].tolist()[1:] == [1, 2, 1, 2]
    assert table.loc["bm25[k1=2]"].tolist() == [1, 1, 2, 2, 1]


def test_the_innermost_context_counts_and_entering_again_is_legal() -> None:
    outer, inner = RunContext({"A": A}), RunContext({"C": C})
    with outer:
        assert U.calc_aggregate(QRELS, NEW) == 2
        with inner, outer, inner:
            assert (UniqueRel(prior="C") @ 3).calc_aggregate(QRELS, NEW) == 2
        with outer:
            pass
        assert (UniqueRel(prior="A") @ 3).calc_aggregate(QRELS, NEW) == 2
    with pytest.raises(ZeroDivisionError), outer:
        _ = 1 / 0
    with pytest.raises(ValueError, match="no RunContext is active"):
        U.calc_aggregate(QRELS, NEW)


def test_an_evaluator_keeps_its_context() -> None:
    with RunContext({"A": A}):
        evaluator = ir_measures.evaluator([U, nDCG @ 3], QRELS)
        lazy = ir_measures.iter_calc([U], QRELS, NEW)
    with RunContext({"C": C, "A": A}):
        assert evaluator.calc_aggregate(NEW)[U] == 2
        assert [m.value for m in lazy] == [2]
    assert evaluator.calc_aggregate(NEW)[U] == 2


def test_threads_have_their_own_contexts() -> None:
    shared = RunContext({"A": A})
    results: dict[int, list[float]] = {}
    barrier = threading.Barrier(4)

    def work(i: int) -> None:
        own = RunContext({"C": C}) if i % 2 else shared
        measure = UniqueRel(prior="C" if i % 2 else "A") @ 3
        barrier.wait()
        results[i] = []
        for _ in range(20):
            with own, own:
                results[i].append(measure.calc_aggregate(QRELS, NEW))

    with RunContext(RUNS):
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert results == {i: [2.0] * 20 for i in range(4)}


def test_empty_runs_are_legal() -> None:
    qrels = {"q1": {"a": 1}}
    context = RunContext({"r": {}, "s": pd.DataFrame([], columns=["query_id", "doc_id", "score"])})
    for run in ({}, [], {"q1": {}}, pd.DataFrame([], columns=["qid", "docno", "score"])):
        with context, warnings.catch_warnings(record=True, action="always") as caught:
            values = ir_measures.calc_aggregate([NRG @ 3, U, P_Rareness @ 3, NRG(base="RBP")], qrels, run)
        assert set(values.values()) == {0.0}
        assert [str(w.message).split(";")[0] for w in caught] == [
            "run 'r', run 's' hold no ranking",
            "the run holds no ranking",
        ]


def test_generators_that_wait_inside_their_blocks() -> None:
    """Each scores against the other's context, which no code of ours can see; that they cross is said."""

    def inside(block: Any) -> Iterator[None]:
        with block:
            yield

    context, other = RunContext({"A": A}), RunContext({"C": C})
    for blocks in ((context, other), (context.evaluating("A"), context)):
        first, second = map(inside, blocks)
        assert [next(first), next(second)] == [None, None]
        with pytest.warns(RelativeWarning, match="entered later, is active") as caught:
            assert next(first, "end") == "end"
        assert len(caught) == 1
        assert next(second, "end") == "end"
        with pytest.raises(ValueError, match="no RunContext is active"):
            U.calc_aggregate(QRELS, NEW)
    waiting = inside(context)
    next(waiting)
    assert U.calc_aggregate(QRELS, NEW) == (UniqueRel(prior="A") @ 3).calc_aggregate(QRELS, NEW)
    with pytest.warns(RelativeWarning, match="is left in another thread or task"):
        contextvars.Context().run(waiting.close)
    with warnings.catch_warnings(action="error"):
        context.__exit__(None, None, None)


def test_entering_again_or_evaluating_another_context_does_not_forget_who_is_evaluated() -> None:
    context, other = RunContext(RUNS), RunContext({"C": C})
    with context.evaluating("A"), context:
        assert U.calc_aggregate(QRELS, A) == 1
    with context.evaluating("A"):
        evaluator = ir_measures.evaluator([U], QRELS)
    with other.evaluating("C"):
        assert evaluator.calc_aggregate(A)[U] == 1


def test_a_member_scored_with_another_ranking_counts_as_itself() -> None:
    context = RunContext({"A": A, "B": B})
    with context.evaluating("A"), pytest.warns(UserWarning, match="ranks differently"):
        value = (P_Rareness @ 1).calc_aggregate(QRELS, {"q": {"F": 1.0}})
    assert value == 1 + (1 - 1 / 2)  # F is held by one of two systems: the A that is scored
    with context.evaluating("A"), pytest.warns(UserWarning, match="ranks differently"):
        assert (P_Rareness @ 2).calc_aggregate(QRELS, {"q": {"B": 2.0, "Z": 1.0}}) == (1 + (1 - 1 / 2)) / 2


def test_no_warning_for_a_copy_where_only_a_reference_counts() -> None:
    with RunContext({"A": A, "B": B}, reference="A"), warnings.catch_warnings(action="error"):
        ir_measures.calc_aggregate([ir_measures.parse_measure("rrLP")], QRELS, B)
