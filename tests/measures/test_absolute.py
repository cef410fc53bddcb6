"""Absolute measures in a table of this package: ir_measures' values to the last bit, and words where there are none."""

import re
from collections.abc import Callable
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import AP, RR, Accuracy, Compat, Judged, P, R, Rprec, Success, nDCG

from example_measures import OfSome
from ir_measures_relative import NRG, RunContext
from ir_measures_relative.context.evaluate import aggregate
from ir_measures_relative.context.priors import BestOfOtherGroups
from ir_measures_relative.distributed import evaluate_part
from long_campaigns import frame_of, qrels_frame

LABELS = {"q": {"a": 1, "z1": 1, "z2": 1, "z3": 1}}
OWN = ir_measures.define_byquery(lambda _, run: run.score.max(), name="Highest")
LAST = ir_measures.define_byquery(
    lambda _, run: run.score.to_numpy()[-1] + run.doc_id.iloc[0].count("a"), name="P"
)
LOWEST_LABEL = ir_measures.define_byquery(lambda qrels, _: qrels.relevance.min(), name="Lowest")


def check(measures: list[Any], labels: Any, run: Any) -> None:
    """The values by this package are those by ir_measures."""
    row = RunContext({"r": run, "s": run}).evaluate(labels, [NRG @ 2, *measures]).iloc[0]
    assert {m: row[str(m)] for m in measures} == ir_measures.calc_aggregate(measures, labels, run)


@pytest.mark.parametrize(
    "run",
    [
        {"a": 12.0, "b": 11.0},
        {"a": 0.1, "b": -0.3, "z1": -2.0},
        {"a": 1 + 1e-12, "z3": 1.0, "b": 1 + 1e-13},  # one 32-bit float
        {"b": 5.0, "z1": 5.0, "a": 5.0, "z2": 7.0},  # tied
        {"a": 1e-200, "z2": 2e-200},
    ],
)
def test_a_measure_that_looks_at_scores_gets_those_of_the_run(run: dict[str, float]) -> None:
    check([Compat(p=0.95), OWN(), OWN @ 1, LAST()], LABELS, {"q": run})


def test_a_measure_of_ones_own_sees_the_labels() -> None:
    check([LOWEST_LABEL()], {"q": {"a": -2, "b": -1}}, {"q": {"a": 1.0}})


def test_it_changes_nothing_for_those_beside_it() -> None:
    """What looks at places alone has trec_eval's order, in which the last id of those tied comes first."""
    run = {"q": {"b": 5.0, "z1": 5.0, "a": 5.0, "c": 4.0}}
    beside = [Accuracy(), Judged @ 1, P @ 1, AP(), nDCG @ 2]
    alone = RunContext({"r": run}).evaluate(LABELS, beside)
    together = RunContext({"r": run}).evaluate(LABELS, [*beside, Compat(), OWN()])
    assert together[alone.columns].equals(alone)


def test_the_scores_are_those_when_the_context_was_made() -> None:
    frame = pd.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [0.7, 0.3]})
    context = RunContext({"r": frame})
    frame["score"] = 9.0
    assert context.evaluate(LABELS, [OWN()])["Highest"].item() == 0.7


def test_gains_of_a_query_with_negative_labels_only() -> None:
    labels = {"q": {"a": -1, "b": -1}, "p": {"a": 1, "b": -1}}
    run = {q: {"x": 3.0, "a": 2.0, "b": 1.0} for q in labels}
    measures = [nDCG(gains={-1: 1}), nDCG(gains={-1: 1}) @ 2, nDCG(gains={-1: 2, 1: 5})]
    ours = RunContext({"r": run}).evaluate(labels, measures, perquery=True)
    for measure in measures:
        theirs = {m.query_id: m.value for m in ir_measures.iter_calc([measure], labels, run)}
        mine = ours[ours["measure"] == str(measure)].set_index("query_id")["value"]
        assert mine.to_dict() == theirs, measure


@pytest.mark.parametrize("gains", [{0: 1, 1: 2}, {0: 1, -1: -3}, {2: 1}, {1: -1, 0: 5}])
@pytest.mark.parametrize("judged_only", [False, True])
def test_where_gains_reward_no_label_the_value_is_0(gains: dict[int, int], judged_only: bool) -> None:
    """ir_measures lets pytrec_eval write outside its arrays."""
    measure = nDCG(gains=gains, judged_only=judged_only)
    run = {"q": {"a": 2.0, "b": 1.0}}
    assert RunContext({"r": run}).evaluate({"q": {"a": -1, "b": -1}}, [measure])[str(measure)].item() == 0.0


def broken(*_: Any) -> float:
    raise KeyError("no such column")


@pytest.mark.parametrize("place", [0, 3])
def test_a_message_names_the_measure_that_fails_and_not_those_beside_it(place: int) -> None:
    measures = [OWN(), Compat(), nDCG()]
    measures.insert(place, ir_measures.define_byquery(broken, name="Broken")())
    with pytest.raises(ValueError, match=r"cannot compute Broken here \('no such column'\)"):
        RunContext({"r": {"q": {"a": 1.0}}}).evaluate(LABELS, measures)


@pytest.mark.parametrize("text", ["Bpref", "SetP"])
def test_a_message_names_the_one_that_has_no_evaluator(text: str, monkeypatch: Any) -> None:
    provider = ir_measures.providers.registry["pytrec_eval"]
    made = provider.evaluator

    def evaluator(measures: Any, qrels: Any) -> Any:
        if text in map(str, measures):
            raise TypeError("not this one")
        return made(measures, qrels)

    monkeypatch.setattr(provider, "evaluator", evaluator)
    with pytest.raises(ValueError, match=f"cannot compute {text} here"):
        RunContext({"r": {"q": {"a": 1.0}}}).evaluate(LABELS, ["AP", "Bpref", "SetP", "Accuracy", "Judged@3"])


def test_aspects_to_a_cutoff_and_of_the_whole_ranking_at_once() -> None:
    pytest.importorskip("pyndeval")
    qrels = [ir_measures.Qrel("q", "a", 1, "1"), ir_measures.Qrel("q", "b", 1, "2")]
    run = {"q": {"x": 3.0, "a": 2.0, "b": 1.0}}
    measures = [ir_measures.parse_measure(name) for name in ("P_IA@2", "MAP_IA")]
    found = RunContext({"r": run}).evaluate(qrels, measures).set_index("name").loc["r"]
    expected = ir_measures.calc_aggregate(measures, qrels, run)
    assert [found[str(m)] for m in measures] == pytest.approx([expected[m] for m in measures])


REFUSED = [
    f"{n}@{k}" for n in ("nDCG", "P", "R", "AP", "Success", "RR", "Judged") for k in (0, 2**31, 10**20)
]
REFUSED += ["nDCG(judged_only=True)@0", "nDCG(cutoff=0)", "ERR@0", "nDCG(dcg='exp-log2')@0"]
REFUSED += [m.format(rel) for m in ("AP(rel={})", "RR(rel={})", "P(rel={})@5") for rel in (0, 2**31)]
REFUSED += ["Rprec(rel=0)", "Bpref(rel=0)", "SetP(rel=0)", "infAP(rel=0)", "nDCG(gains={1:99999999999})@3"]

RUNS_OF_TWO = {"r": {"1": {"a": 2.0, "b": 1.0}}, "s": {"1": {"b": 1.0}}}
OF_TWO = frame_of(RUNS_OF_TWO)
DOORS: dict[str, Callable[[str, Any], Any]] = {
    "evaluate": lambda m, q: RunContext(RUNS_OF_TWO).evaluate(q, [m]),
    "TaSC": lambda m, q: RunContext(RUNS_OF_TWO).evaluate(q, [f"TaSC(base={m!r})"]),
    "by": lambda m, q: RunContext(
        RUNS_OF_TWO, priors=BestOfOtherGroups(by=m), groups={"r": "g", "s": "h"}
    ).evaluate(q, ["NRG@3"]),
    "part": lambda m, q: evaluate_part(OF_TWO, qrels_frame(q), [m], names=list("rs"), grades=(0, 9)),
}


@pytest.mark.parametrize("door", DOORS)
def test_what_takes_the_process_down_is_refused(door: str) -> None:
    """And grades above 4, which gdeval does not take: the message names the measure."""
    for measure in REFUSED:
        with pytest.raises(ValueError, match=r"is not allowed; .*2\^31"):
            DOORS[door](measure, {"1": {"a": 1, "b": 2}})
    for measure in ("ERR@10", "nDCG(dcg='exp-log2')@10"):
        message = re.escape(f"ir_measures cannot compute {measure} here (its script failed")
        with pytest.raises(ValueError, match=f"^{message}"):
            DOORS[door](measure, {"1": {"a": 5, "b": 2}})
    DOORS[door]("ERR@10", {"1": {"a": 4, "b": 2}})


def test_gdeval_takes_numbers_as_query_ids() -> None:
    with pytest.raises(ValueError, match="numbers as query ids"):
        RunContext({"r": {"q": {"a": 1.0}}}).evaluate({"q": {"a": 1}}, ["ERR@10"])


@pytest.mark.parametrize("text", ["nDCG@2147483647", "P@2147483647", "AP(rel=2147483647)", "RR@1"])
def test_the_largest_and_smallest_that_are_allowed(text: str) -> None:
    assert RunContext({"r": {"1": {"a": 1.0}}}).evaluate({"1": {"a": 1}}, [text])[text].notna().all()


def test_a_mean_leaves_out_what_has_no_value() -> None:
    measure, context = OfSome(), RunContext({"r": {"1": {"a": 1.0}, "2": {"a": 1.0}}})
    two, none = {"1": {"a": 1, "b": 0}, "2": {"a": 0}}, {"1": {"a": 0}}
    assert context.evaluate(two, [measure])["OfSome"].tolist() == [2.0]
    assert context.evaluate(none, [measure])["OfSome"].isna().all()
    values = context.evaluate(two, [measure], perquery=True)["value"]
    assert values.isna().tolist() == [False, True]
    assert aggregate(measure, values.to_numpy()) == 2.0


def test_a_mean_that_is_no_number_is_never_the_best() -> None:
    nan = float("nan")
    groups = {"a": "g", "b": "g", "c": "h", "d": "h", "e": "i", "f": "i"}
    means = {"a": nan, "b": 0.1, "c": 0.2, "d": nan, "e": nan, "f": nan}
    chosen = BestOfOtherGroups.choose(means, groups)
    assert chosen["a"] == ["c", "e"] and chosen["c"] == ["b", "e"] and chosen["f"] == ["b", "c"]
    with pytest.raises(ValueError, match=r"by='NRG@10' is itself relative"):
        RunContext({"r": {"1": {"a": 1.0}}}, priors=BestOfOtherGroups(by="NRG@10"), groups={"r": "g"})


PLAIN = [nDCG, nDCG @ 10, AP, AP @ 5, P @ 1, P @ 20, R @ 10, R @ 1000, RR, Rprec, Success @ 3]
OF_REL = [AP(rel=2), AP(rel=2) @ 7, P(rel=2) @ 5, R(rel=2) @ 3, RR(rel=2), Rprec(rel=2), Success(rel=3) @ 5]
OTHERS = [nDCG(gains={0: 1, 1: 3, 2: 0}) @ 10, nDCG(gains={2: 7}), nDCG(gains={0: 2}, judged_only=True)]
JUDGED = [m(judged_only=True) for m in (nDCG @ 5, nDCG, AP, P @ 5, R @ 2, RR, Rprec, Success @ 1)]
EVERY = [*PLAIN, *OF_REL, *OTHERS, *JUDGED]


def check_by_pytrec_eval(runs, qrels, measures) -> None:
    table = RunContext(runs).evaluate(qrels, measures, perquery=True)
    ours = table.set_index(["name", "measure", "query_id"])["value"].to_dict()
    for name, run in runs.items():
        for measure in measures:  # one alone: of several, ir_measures mixes up some
            for metric in ir_measures.pytrec_eval.iter_calc([measure], qrels, run):
                assert ours.pop((name, str(measure), metric.query_id)) == metric.value, (name, metric)
    assert not ours


@pytest.mark.parametrize("seed", range(6))
def test_random_campaigns(seed) -> None:
    """With ties, queries that a run lacks or that are unjudged, judged queries of no run, and labels below 0."""
    rng = np.random.default_rng(seed)
    docs = [f"d{i}" for i in range(rng.integers(3, 60))]

    def some() -> list[str]:
        return rng.choice(docs, rng.integers(1, len(docs) + 1), replace=False).tolist()

    qrels = {f"q{i}": {d: int(rng.integers(-1, 4)) for d in some()} for i in range(1, 8)}
    for labels in qrels.values():  # pytrec_eval writes outside its arrays where all are below 0
        labels[next(iter(labels))] = 0
    queries = [[f"q{i}" for i in range(7) if i == 1 or rng.random() < 0.8] for _ in range(2)]
    runs = {
        name: {q: {d: float(np.round(rng.normal(), 1)) for d in some()} for q in of_run}
        for name, of_run in zip(("one", "two"), queries, strict=True)
    }
    check_by_pytrec_eval(runs, qrels, EVERY)


def test_labels_below_0_alone() -> None:
    """Where pytrec_eval has no value, or ends the process."""
    table = RunContext({"r": {"1": {"a": 1.0}}}).evaluate({"1": {"a": -1}, "2": {"b": 1}}, EVERY)
    assert (table.drop(columns="name") == 0).all(axis=None)


def test_a_part_of_the_measures() -> None:
    runs = {"one": {"1": {"a": 2.0, "b": 1.0}}, "two": {"1": {"c": 2.0, "b": 1.0}}}
    qrels = {"1": {"b": 2, "c": 1}}
    for measures in ([R @ 1], [nDCG @ 2, ir_measures.SetP, ir_measures.NumRet]):
        check_by_pytrec_eval(runs, qrels, measures)
