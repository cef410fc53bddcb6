"""The lists of options against plain Python: ties, short and missing rankings, pools, fates."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from ir_measures_relative import RunContext
from ir_measures_relative.context.collection import judged_collection
from ir_measures_relative.decisions import fusion as fusion_module
from ir_measures_relative.decisions.decide import decide
from ir_measures_relative.decisions.options import ALL_METHODS, Combination, Option, OptionLists
from ir_measures_relative.decisions.worth import count_new_documents
from ir_measures_relative.io.runs import read_run
from oracles import option_lists as plain
from oracles.option_lists import Scores

QUERIES = ["q1", "q2", "q3", "q4"]
DOCS = [f"d{i}" for i in range(14)] + ["é", "Z"]
_SCORES = [0.0, 1.0, -1.0, 2.5, 3.0, 16777216.0, 16777217.0]


def some_runs(rng: random.Random, n: int = 4) -> dict[str, dict[str, Scores]]:
    """Runs with many ties; rankings may be short or missing."""
    runs: dict[str, dict[str, Scores]] = {}
    for i in range(n):
        run = {}
        for query in QUERIES:
            docs = rng.sample(DOCS, rng.randint(0, len(DOCS)))
            if docs or rng.random() < 0.5:
                run[query] = {doc: rng.choice(_SCORES) for doc in docs}
        runs[f"r{i}"] = run if any(run.values()) else {"q1": {"d0": 1.0}}
    return runs


def some_qrels(rng: random.Random) -> dict[str, dict[str, int]]:
    return {query: {doc: rng.choice([0, 0, 1, 2]) for doc in rng.sample(DOCS, 9)} for query in QUERIES}


def some_options(rng: random.Random, names: Sequence[str]) -> dict[str, list[str]]:
    return {
        f"option {i}": rng.sample(list(names), rng.randint(1, len(names))) for i in range(rng.randint(2, 4))
    }


def made(
    runs: Mapping[str, Any],
    qrels: Any,
    options: Mapping[str, Sequence[str]],
    combine: Combination,
    length: int,
) -> tuple[OptionLists, dict[str, dict[str, list[str]]]]:
    """The lists by this package, also as strings."""
    collection = judged_collection(RunContext(dict(runs)), qrels)
    chosen = [Option(name, tuple(of)) for name, of in options.items()]
    reranker = None if combine.rerank is None else read_run(combine.rerank)
    lists = OptionLists(collection, chosen, combine, length, reranker)
    rankings = {
        option.name: {q: list(docs) for q, docs in one.to_dict().items()}
        for option, one in zip(lists.options, lists.rankings(), strict=True)
    }
    return lists, rankings


@pytest.mark.parametrize("first", [1, 128])
def test_fused_and_interleaved_lists_are_those_of_plain_python(
    first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However deep the rankings are looked at first."""
    monkeypatch.setattr(fusion_module, "_FIRST", first)
    rng, compared = random.Random(1), 0
    for _ in range(30):
        runs, qrels = some_runs(rng), some_qrels(rng)
        options = some_options(rng, list(runs))
        method, length, depth = rng.choice(ALL_METHODS), rng.choice([1, 3, 5, 20]), rng.choice([2, 5, 1000])
        _, found = made(runs, qrels, options, Combination(method=method, depth=depth), length)
        for name, of in options.items():
            for query in QUERIES:
                expected = plain.combined(of, runs, query, method, 60, depth, length)
                assert found[name].get(query, []) == expected, (method, length, depth, of, query)
                compared += len(expected)
    assert compared > 1000


def test_pools_ceilings_and_fates() -> None:
    rng, compared = random.Random(2), 0
    for _ in range(20):
        runs, qrels = some_runs(rng), some_qrels(rng)
        options = some_options(rng, list(runs))
        reranker = {q: {doc: rng.choice(_SCORES) for doc in DOCS} for q in QUERIES}
        pool, length = rng.choice([1, 3, 6, 20]), rng.choice([1, 3, 5])
        lists, found = made(runs, qrels, options, Combination(rerank=reranker, pool=pool), length)
        best = lists.best_orders()
        where = lists.count_fates(1)
        expected_fates = np.zeros((len(options), 4), dtype=np.int64)
        for query in QUERIES:
            pools = plain.pools(options, runs, query, pool)
            for i, (name, of) in enumerate(options.items()):
                shown = plain.reranked(pools[name], reranker[query], length)
                assert found[name].get(query, []) == shown
                relevant = {doc for doc, grade in qrels[query].items() if grade >= 1}
                expected_fates[i] += plain.fates(relevant, of, runs, query, pools[name], shown)
                order = list(best[i].to_dict().get(query, {}))
                assert set(order) <= set(pools[name]) and len(order) == min(length, len(pools[name]))
                best_grades = sorted((qrels[query].get(doc, 0) for doc in pools[name]), reverse=True)
                grades = [qrels[query].get(doc, 0) for doc in order]
                assert grades == best_grades[:length]
                compared += len(order) + len(shown) + 4
        assert (where == expected_fates).all()
        n_relevant = sum(grade >= 1 for docs in qrels.values() for grade in docs.values())
        assert (where.sum(axis=1) == n_relevant).all()
    assert compared > 1000


def test_a_document_without_a_score_of_the_reranker_is_rejected() -> None:
    context = RunContext({"a": {"q1": {"x": 2.0, "y": 1.0}}, "b": {"q1": {"z": 1.0}}})
    with pytest.raises(ValueError, match=r"no score for 1 of the 3 pooled documents.*y \(query q1\)"):
        options = {"keep": ["a"], "add": ["a", "b"]}
        combine = Combination(rerank={"q1": {"x": 1.0, "z": 1.0}}, pool=2)
        decide(context, {"q1": {"x": 1}}, options, combine=combine)


def test_new_documents_and_the_next_page() -> None:
    rng = random.Random(6)
    compared = 0
    for _ in range(25):
        runs, qrels = some_runs(rng), some_qrels(rng)
        deployed, k = rng.sample(["r0", "r1", "r2"], rng.randint(1, 3)), rng.choice([1, 2, 4])
        collection = judged_collection(RunContext(dict(runs)), qrels)
        options = [Option("all", tuple(runs))]
        lists = OptionLists(collection, options, Combination(depth=rng.choice([1, 1000])), k)
        values = count_new_documents(lists, deployed, "r3", k, 1)
        for t, query in enumerate(QUERIES):
            for value, docs in zip(values, plain.new_and_next(deployed, "r3", runs, query, k), strict=True):
                assert value[t] == sum(qrels[query].get(doc, 0) > 0 for doc in docs)
                compared += 1
    assert compared == 200
