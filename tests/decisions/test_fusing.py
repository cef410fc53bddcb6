"""fuse, and the lists of options: against plain loops, on campaigns in which nothing is to be chosen, by simulation."""

import itertools
import random
from collections.abc import Mapping, Sequence
from typing import Any

import ir_measures
import numpy as np
import pytest
import scipy.stats
from hypothesis import example, given
from hypothesis import strategies as st

import random_campaigns
from ir_measures_relative import RunContext, fuse
from ir_measures_relative.context.collection import judged_collection
from ir_measures_relative.data.arrays import FloatArray
from ir_measures_relative.decisions import fusion as fusion_module
from ir_measures_relative.decisions.decide import decide
from ir_measures_relative.decisions.fuse import Chooser, FusionChoice, interval_margin, split_topics
from ir_measures_relative.decisions.fusion import METHODS, FusedValues, Fusion, RunSet, fused_rankings
from ir_measures_relative.decisions.options import ALL_METHODS, Combination, Option, OptionLists
from ir_measures_relative.decisions.worth import count_new_documents
from ir_measures_relative.io.runs import read_run
from oracles import option_lists as plain
from oracles.fusion import fuse_runs
from oracles.option_lists import Scores
from random_campaigns import Labels, Run
from scored import per_query

MEASURES = [
    *("nDCG@3", "nDCG", "P@2", "P(rel=2)@3", "R@2", "AP", "AP(rel=2)@3", "RR", "RR@2"),
    *("Success@1", "Judged@2", "Rprec"),
]


@given(random_campaigns.contexts.filter(bool), random_campaigns.qrels, st.sampled_from([1, 2, 5, 1000]))
@example(
    {"a": {"q1": {"a": 1.0, "b": 0.5, "c": 0.0}}, "b": {"q1": {"c": 7.0, "d": 7.0}}}, {"q1": {"a": 1}}, 9
)
def test_the_fused_scores_are_the_oracle(priors: dict[str, Run], qrels: Labels, depth: int) -> None:
    collection = judged_collection(RunContext(priors), qrels)
    for method, k in [("rrf", 0), ("rrf", 60), *((m, 60) for m in METHODS)]:
        found = fused_rankings(collection, range(len(priors)), Fusion(method, k, depth)).as_given()
        expected = fuse_runs(list(priors.values()), method, k, depth)
        assert set(found) == set(expected) & set(qrels)
        for query, scores in found.items():
            assert scores == pytest.approx(expected[query], rel=1e-12)


@given(
    st.sampled_from(MEASURES),
    random_campaigns.contexts.filter(lambda runs: len(runs) > 1),
    random_campaigns.pytrec_eval_qrels,
    st.sampled_from(METHODS),
    st.sampled_from([1, 3, 1000]),
    st.sampled_from([1, 128]),
)
def test_values_of_sets_are_those_of_ir_measures(
    measure: str, runs: dict[str, Run], qrels: Labels, method: str, depth: int, first: int
) -> None:
    """Whether they follow from labels alone, or ir_measures computes them; however deep is looked at first."""
    collection, parsed = judged_collection(RunContext(runs), qrels), ir_measures.parse_measure(measure)
    sets = [s for n in range(1, len(runs) + 1) for s in itertools.combinations(range(len(runs)), n)]
    fusion = Fusion(method, 60, depth)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fusion_module, "_FIRST", first)
        got = FusedValues(collection, parsed, fusion)(sets)
    for one, values in zip(sets, got, strict=True):
        alone = list(collection.runs.values())[one[0]]
        rankings = alone if len(one) == 1 else fused_rankings(collection, one, fusion)
        assert values == pytest.approx(collection.compute_absolute([parsed], rankings)[0], abs=1e-12)


def test_a_document_just_below_the_tops_may_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusion_module, "_FIRST", 1)
    runs = {name: {"q": {f"{name}0": 1.0, "X": 0.9, f"{name}1": 0.1, f"{name}2": 0.0}} for name in "ab"}
    collection = judged_collection(RunContext(runs), {"q": {"X": 1}})
    measure = ir_measures.parse_measure("P@1")
    assert FusedValues(collection, measure, Fusion("combsum", 60, 1000))([(0, 1)])[0] == 1


@pytest.mark.parametrize("scores", [{"X": 5.0}, {"X": 3.0, "Y": 3.0}])
@pytest.mark.parametrize(("method", "first"), [("combsum", "A"), ("combmnz", "A"), ("rrf", "X")])
def test_a_list_of_one_document_or_of_equal_scores_gives_it_0(
    scores: dict[str, float], method: str, first: str
) -> None:
    """As the page on fusing says: with min-max scores only lists of several scores count."""
    runs = {"one": {"q": scores}, "several": {"q": {"A": 9.0, "X": 5.0, "B": 4.9, "C": 4.0}}}
    collection = judged_collection(RunContext(runs), {"q": {first: 1}})
    measure = ir_measures.parse_measure("P@1")
    assert FusedValues(collection, measure, Fusion(method, 60, 1000))([(0, 1)])[0] == 1


def campaign(
    n_runs: int, n_topics: int, seed: int, *, good: Sequence[float] = (), docs: int = 60
) -> tuple[dict[str, Run], Labels]:
    """Runs that find relevant documents with luck, each as well as ``good`` says, all alike without it."""
    rng = np.random.default_rng(seed)
    runs: dict[str, Run] = {f"r{i}": {} for i in range(n_runs)}
    qrels: Labels = {}
    for topic in map(str, range(n_topics)):
        relevant = rng.random(docs) < 0.2
        relevant[0] = True
        qrels[topic] = {f"d{j}": int(x) for j, x in enumerate(relevant)}
        for i, run in enumerate(runs.values()):
            scores = rng.normal(size=docs) + relevant * (good[i] if good else 1.0)
            run[topic] = {f"d{j}": float(s) for j, s in enumerate(scores)}
    return runs, qrels


def test_a_table_worked_through_by_hand() -> None:
    """Four runs, three topics, and the strategies in plain loops over the splits."""
    runs, qrels = campaign(4, 7, 1, good=(0.5, 1.0, 1.5, 1.0))
    strategies = ("single", "top", "greedy", "exact", "all")
    table = fuse(RunContext(runs), qrels, 2, "P@5", strategies=strategies, folds=3, repeats=4, seed=5)
    names = list(runs)

    def value(chosen: Sequence[str]) -> dict[str, float]:
        fused = runs[chosen[0]] if len(chosen) == 1 else fuse_runs([runs[name] for name in chosen])
        return per_query("P@5", qrels, fused)

    values = {s: value(s) for n in (1, 2, 4) for s in itertools.combinations(names, n)}

    def mean(one: tuple[str, ...], topics: Sequence[str]) -> float:
        return round(sum(values[one][t] for t in topics) / len(topics), 12)

    def choose(strategy: str, topics: Sequence[str]) -> tuple[str, ...]:
        singles = sorted(names, key=lambda name: -mean((name,), topics))
        if strategy == "single":
            return (singles[0],)
        if strategy == "top":
            return tuple(sorted(singles[:2]))
        if strategy == "all":
            return tuple(names)
        pairs = list(itertools.combinations(names, 2))
        if strategy == "greedy":
            pairs = [pair for pair in pairs if singles[0] in pair]
        return max(pairs, key=lambda pair: mean(pair, topics))

    topics = list(qrels)
    splits = [np.flatnonzero(held_out) for held_out in split_topics(7, 3, 4, 5).held_out]
    assert sorted(np.concatenate(splits)) == sorted([*range(7)] * 4)
    assert {len(part) for part in splits} == {2, 3}
    for row in table.itertuples(index=False):
        assert row.names == choose(row.strategy, topics)
        assert row.in_sample == pytest.approx(mean(row.names, topics))
        scored, count = [], dict.fromkeys(names, 0)
        for part in splits:
            chosen = choose(row.strategy, [t for i, t in enumerate(topics) if i not in part])
            scored += [values[chosen][topics[i]] for i in part]
            for name in chosen:
                count[name] += 1
        assert row.held_out == pytest.approx(np.mean(scored))
        assert row.chosen == pytest.approx({name: n / 12 for name, n in count.items() if n})
    single = table["held_out"][0]
    assert table["difference"].tolist() == pytest.approx((table["held_out"] - single).tolist())
    assert ((table["ci_lower"] <= table["difference"]) & (table["difference"] <= table["ci_upper"])).all()
    assert table.loc[0, ["difference", "ci_lower", "ci_upper"]].tolist() == [0.0, 0.0, 0.0]


def test_complementary_is_what_select_complementary_names() -> None:
    from ir_measures_relative import select_complementary

    runs, qrels = campaign(5, 10, 4)
    context = RunContext(runs)
    table = fuse(context, qrels, 3, strategies=["complementary"])
    assert set(table["names"][0]) == set(select_complementary(context, qrels, 3)["name"])


class Table:
    """Values of sets, as the numbers that they are."""

    def __init__(self, values: dict[RunSet, FloatArray]) -> None:
        self.values = values

    def __call__(self, sets: Sequence[RunSet]) -> FloatArray:
        return np.array([self.values[s] for s in sets])


@pytest.mark.slow
@pytest.mark.parametrize(("folds", "repeats", "equal"), [(2, 10, True), (5, 4, False)])
def test_the_interval_holds_the_true_difference(folds: int, repeats: int, equal: bool) -> None:
    """Simulated campaigns whose topics are drawn anew each time; 8 runs, pairs of them, 40 topics."""
    rng = np.random.default_rng(8)
    n_runs, n_topics, n_campaigns = 8, 40, 100
    singles = [(i,) for i in range(n_runs)]
    pairs = list(itertools.combinations(range(n_runs), 2))
    truth_of_runs = np.zeros(n_runs) if equal else np.linspace(0, 0.12, n_runs)
    truth = {s: 0.03 * (len(s) - 1) + float(truth_of_runs[list(s)].mean()) for s in [*singles, *pairs]}

    def draw(n: int) -> dict[RunSet, FloatArray]:
        topic, run = rng.normal(0, 0.2, n), rng.normal(0, 0.15, (n_runs, n))
        return {
            s: truth[s] + topic + run[list(s)].mean(axis=0) + rng.normal(0, 0.05, n)
            for s in [*singles, *pairs]
        }

    true_choices: list[float] = []
    for _ in range(400):
        means = {s: values.mean() for s, values in draw(n_topics - n_topics // folds).items()}
        true_choices.append(
            truth[max(pairs, key=means.__getitem__)] - truth[max(singles, key=means.__getitem__)]
        )
    expected = float(np.mean(true_choices))
    held, naive = 0, 0
    for seed in range(n_campaigns):
        splits = split_topics(n_topics, folds, repeats, seed)
        chooser = Chooser(Table(draw(n_topics)), n_runs, splits)
        single, exact = chooser.choose("single", 1), chooser.choose("exact", 2)
        reach = interval_margin(exact, single, splits, 0.95)
        difference = exact.held_out - single.held_out
        held += abs(difference - expected) <= reach
        means_of = ((exact.values - single.values)[: len(splits.held_out)] * splits.held_out).sum(
            axis=1
        ) / splits.held_out.sum(axis=1)
        naive += abs(difference - expected) <= 2 * means_of.std(ddof=1) / len(means_of) ** 0.5
    assert held / n_campaigns >= 0.92
    assert naive / n_campaigns < 0.8  # the interval that takes the splits for independent


def test_the_reach_is_nadeau_and_bengios_where_that_is_the_wider() -> None:
    """As of splits that differ alone: no topic moves the mean of all."""
    splits = split_topics(6, 2, 3, 0)
    of_division = np.random.default_rng(1).normal(size=6)
    rows = np.concatenate([of_division, [0.0], of_division[splits.split]])
    chosen, other = (FusionChoice((0,), 0.0, 0.0, np.tile(v[:, None], 6), {}) for v in (rows, 0 * rows))
    variance = (1 / 6 + 1) * np.var(of_division, ddof=1)
    expected = scipy.stats.t(5).ppf(0.975) * np.sqrt(variance)
    assert interval_margin(chosen, other, splits, 0.95) == pytest.approx(expected)


def test_a_fixed_choice_has_about_students_interval() -> None:
    """Where every division chooses the same, there is nothing but the topics to be unsure of."""
    rng = np.random.default_rng(9)
    values = {(0,): rng.normal(0, 0.1, 60), (1,): rng.normal(-5, 0.1, 60), (0, 1): rng.normal(1, 0.1, 60)}
    splits = split_topics(60, 2, 20, 0)
    chooser = Chooser(Table(values), 2, splits)
    reach = interval_margin(chooser.choose("exact", 2), chooser.choose("single", 1), splits, 0.95)
    student = 2.0 * (values[0, 1] - values[0,]).std(ddof=1) / 60**0.5
    assert 0.9 * student < reach < 1.6 * student


ONE = {"a": {"1": {"A": 1.0}}, "b": {"1": {"B": 1.0}}}
TWO = {name: {"1": docs["1"], "2": docs["1"]} for name, docs in ONE.items()}
QRELS = {"1": {"A": 1}, "2": {"B": 1}}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        *(({"n": n}, f"n={n}") for n in (0, 3)),
        ({"n": []}, "n is empty"),
        ({"measure": "NRG@10"}, "measure='NRG@10'"),
        ({"measure": 3}, "^measure=3 is not a measure; give one such as 'nDCG@10'$"),
        ({"method": "borda"}, "method='borda'"),
        ({"k": -1}, "k=-1"),
        ({"k": 1, "method": "isr"}, "goes with method='rrf', not 'isr'"),
        ({"depth": [10]}, r"depth=\[10\]"),
        ({"depth": 0}, "depth=0"),
        ({"strategies": "exact"}, "strategies='exact'"),
        ({"strategies": ["best"]}, "'best'"),
        *(({"folds": folds}, f"folds={folds}") for folds in (1, 3)),
        ({"repeats": 0}, "repeats=0"),
        ({"max_sets": 0}, "max_sets=0"),
        ({"confidence": 1.0}, "confidence=1.0"),
    ],
)
def test_bad_input(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fuse(RunContext(TWO), QRELS, **{"n": 1} | options)


def test_bad_campaigns() -> None:
    with pytest.raises(ValueError, match="the qrels hold one topic"):
        fuse(RunContext(ONE), {"1": {"A": 1}}, 1)
    apart = {"a": {"1": {"A": 1.0}}, "b": {"2": {"B": 1.0}}}
    with pytest.raises(ValueError, match=r"'a' and 'b' have no judged topic in common"):
        fuse(RunContext(apart), QRELS, 2, missing="zero")
    with pytest.raises(ValueError, match="run 'c' ranks no judged topic; leave it out"):
        fuse(RunContext(apart | {"c": {}}), QRELS, 2, missing="zero")
    with pytest.raises(TypeError, match="RunContext"):
        fuse(TWO, QRELS, 1)  # type: ignore[arg-type]


def test_too_many_sets_are_refused_with_their_number() -> None:
    runs, qrels = campaign(6, 2, 12, docs=5)
    with pytest.raises(ValueError, match=r"would try 20 sets of runs.*max_sets"):
        fuse(RunContext(runs), qrels, 3, max_sets=19)
    assert len(fuse(RunContext(runs), qrels, 3, max_sets=20)) == 5
    assert len(fuse(RunContext(runs), qrels, 3, strategies=["greedy"], max_sets=1)) == 1


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
