"""What holds for every measure of the package, present and future."""

import random
import re
import warnings
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import ir_measures_relative
from aspect_campaigns import with_aspects
from drawn import examples
from example_measures import EXAMPLES, PLAIN_EXAMPLES, REGISTERED, variants
from ir_measures_relative import MED, RunContext
from ir_measures_relative.context.measure_strings import MISSING, parse_measure, read_measure
from ir_measures_relative.measures.measure import citations
from random_campaigns import Labels, Run, contexts, pytrec_eval_qrels, qrels, runs
from scored import assume_common, per_query, per_query_of_each


@pytest.mark.parametrize("measure", EXAMPLES, ids=str)
def test_repr_round_trips(measure: Any) -> None:
    again = ir_measures.parse_measure(repr(measure))
    assert again == measure
    assert repr(again) == repr(measure)


@pytest.mark.parametrize("name", REGISTERED)
def test_declared_in_full(name: str) -> None:
    measure = REGISTERED[name]
    assert measure.PRETTY_NAME
    assert measure.SHORT_DESC.endswith(".")
    assert measure.FORMULA.isprintable()  # "\\frac" in a string that is not raw starts with a form feed
    doc = type(measure).__doc__
    assert "Source:" in doc
    assert re.search(r"\b[Rr]ange\b", doc)
    assert ">>>" in doc
    assert len(doc.splitlines()) <= 25
    for spec in measure.SUPPORTED_PARAMS.values():
        assert spec.desc
        assert spec.describe()
        assert spec.validate(MISSING) is not spec.required
    assert ir_measures.DefaultPipeline.supports(variants(measure)[0])


def cited(*measures: Any) -> list[str]:
    return [re.findall(r"@\w+\{(\w+),", entry)[0] for entry in citations(map(read_measure, measures))]


def test_papers_are_cited_once_in_the_order_of_the_file_and_with_their_base_or_method() -> None:
    keys = cited(*map(str, REGISTERED.values()))
    assert len(set(keys)) == len(keys) == 14 and keys[0] == "nrg2024"
    for measure in REGISTERED.values():
        entries = citations([measure])
        assert bool(entries) == bool(measure.PAPERS)  # a measure may be of no paper
        assert "note" not in "".join(entries)  # of how a paper was read
        for entry in entries:
            assert re.match(r"@\w+\{\w+,\n(  \w+ = \{.*\},?\n)+\}$", entry)
    assert cited("nDCG@10") == []
    for measure, others in {
        "NRG": ["chapelle2009expected"],
        "NRG(base='ERR')@10": ["chapelle2009expected"],
        "NRG(base='P')@10": [],
    }.items():
        assert cited(measure) == ["nrg2024", *others]


@pytest.mark.parametrize(
    ("alias", "name"), [("MAP_UE", "AP_UE"), ("NDCG_UE", "nDCG_UE"), ("MAP_Rareness", "AP_Rareness")]
)
def test_alias(alias: str, name: str) -> None:
    """A measure with two names, as MAP is AP in ir_measures."""
    measure = getattr(ir_measures_relative, name)
    assert getattr(ir_measures_relative.measures, alias) is measure
    assert ir_measures.measures.registry[alias] is measure
    assert repr(parse_measure(f"{alias}@10")) == f"{name}@10"
    assert alias not in ir_measures_relative.__all__
    assert name in REGISTERED and alias not in REGISTERED


def test_pyterrier_has_aliases() -> None:
    pytest.importorskip("pyterrier", reason="pyterrier is not installed")
    from pyterrier import measures

    assert repr(measures.MAP_UE @ 5) == "AP_UE@5" and repr(measures.MAP_Rareness @ 5) == "AP_Rareness@5"


TEXTS = (
    "P(rel=2)@5",
    "nDCG(gains={0: 0, 1: 5})@3",
    "TaSC(base='P@5')",
    "RBO(p=.8)",
    "IPrec@0.1",
    "SetF(beta=2.0)",
)


@pytest.mark.host_strings
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_string_is_read_as_ir_measures_reads_it() -> None:
    known = [repr(measure) for measure in REGISTERED.values()]
    for text in (*TEXTS, *known, *(f"{name}@10" for name in known)):
        results = []
        for read in (ir_measures.parse_measure, read_measure):
            try:
                results.append(repr(read(text)))
            except (ValueError, AssertionError) as error:  # without a cutoff, or with one
                results.append(str(error))
        assert results[0] == results[1], text


@pytest.mark.parametrize(
    "text", ["NRG@", "NRG(1)@2", "a.b@3", "[1]", "NRG;NRG", "x=1", "NRG(p=f())@3", "NRG@10@10", "NRG(p=1+1)"]
)
def test_what_is_no_measure_string_says_how_to_write_one(text: str) -> None:
    with pytest.raises(ValueError, match=r"^must be in format Measure\(k1=v1, k2=v2\)@c; values are "):
        read_measure(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((f"{m}@0", "is not allowed") for m in ("NRG", "MED", "UniqueRel", "rrLP", "nDCG_UE", "P_Rareness")),
        ("NRG@2147483648", "cutoff=2147483648 is not allowed"),
        ("UniqueRel(rel=0)@3", "rel=0 is not allowed"),
        ("UniqueRel", "needs cutoff"),
        *((m, f"{m} needs a cutoff from 1 to 20") for m in ("alpha_nDCG", "alpha_nDCG@21", "StRecall")),
        ("UE(base='Success')", "needs a cutoff"),
        ("Shapley(base='nDCG',rel=2)@3", "rel goes with base 'P', 'RBP', 'SDCG', not 'nDCG'"),
        ("Shapley(base='RR')@3", "base='RR' is not allowed; it must be one of 'nDCG', 'P', 'RBP'"),
        ("Shapley(base='ERR')@3", "base='ERR' is not allowed"),
        ("Shapley", "Shapley needs a cutoff: write Shapley@10"),
        ("Shapley(dcg='exp-log2')@10", "dcg goes with base 'nDCG', not 'P'"),
        ("TaSC@7", r"TaSC has no cutoff; give it to the base: TaSC\(base='nDCG@7'\)"),
        ("TaSC(priors='a')", "has no parameter 'priors'; did you mean 'prior'"),
        ("TaSC(base=10)", "base=10 is not allowed"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RunContext({"r": {"1": {"a": 1.0}}}).evaluate({"1": {"a": 1}}, [text])


# What a value of RBP once depended on: with the third position alone, and beside the first of another query.
THIRD: Run = {"q1": {"a": 0.0, "b": 1.0, "c": 2.0}}
THIRD_AND_FIRST: Run = {**THIRD, "q2": {"a": 1.0}}


@pytest.mark.parametrize("name", REGISTERED)
@examples(10)
@given(context=contexts, run=runs, labels=qrels)
@example(context={"r1": THIRD_AND_FIRST}, run={}, labels={"q1": {"a": 1, "b": 3}, "q2": {"a": 2}})
@example(context={"r1": {"q1": {"b": 1.0}}}, run=THIRD_AND_FIRST, labels={"q1": {"a": 1}, "q2": {"a": 1}})
@example(context={"r1": {}}, run=THIRD_AND_FIRST, labels={"q1": {"a": 1, "b": -1}, "q2": {"a": 3}})
@example(  # MED once added the documents of q1 in an order that q2 decided
    context={"r1": {}},
    run={"q2": {"c": 3.0, "f": 2.0, "d": 1.0}, "q1": {"f": 3.0, "d": 2.0, "c": 1.0}},
    labels={"q2": {"e": 3}, "q1": {"d": 1, "c": 1, "f": 1}},
)
def test_a_query_does_not_depend_on_the_others(
    name: str, context: dict[str, Run], run: Run, labels: Labels
) -> None:
    """Not in the last bit: PyTerrier scores in batches, and a campaign may be split over machines."""
    assume_common(run, labels)
    options: dict[str, Any] = {"num_docs": 50, "reference": next(iter(context), None), "grades": (-1, 3)}
    measures = [e for e in EXAMPLES if name == e.NAME]
    if "ref" in measures[0].SUPPORTED_PARAMS and not context:
        return
    judged = with_aspects(labels) if measures[0].looks_at_aspects else labels
    together = per_query_of_each(measures, judged, run, RunContext(context, **options))
    for values in together.values():
        assert set(values) == set(labels)
        assert all(np.isfinite(list(values.values())))
    for query, docs in labels.items():
        alone = RunContext({n: {q: r[q] for q in r if q == query} for n, r in context.items()}, **options)
        own = {q: run[q] for q in run if q == query}
        expected = {measure: {query: values[query]} for measure, values in together.items()}
        own_judged = with_aspects({query: docs}) if measures[0].looks_at_aspects else {query: docs}
        assert per_query_of_each(measures, own_judged, own, alone) == expected


# Beside the examples, measures that share with them all but a gain, a threshold or a set of documents.
OTHERS = """
    NRG@5 NRG(gains={0:1,1:2,2:3})@5 NRG(gains={1:2,2:3})@5 NRG(base='RBP',p=0.5)@3 NRG(base='RBP',rel=2)@3
    NRG(base='P',judged_only=True)@3 NRG(gains={0:1},judged_only=True)@3 NRG(norm='whole')@3
    NRG(base='ERR',max_grade=5)@3 NRG(base='ERR',judged_only=True)@3 UniqueRel(rel=2)@3 UniqueRel@5
    P_Rareness(alpha=0.5)@3 P_Rareness(rel=2)@3 AP_Rareness(judged_only=True) nDCG_UE(gains={0:1,2:5})@3
    nDCG_UE(gains={2:5})@3 AP_UE(rel=2)@3 UE(base='P')@5 UE(base='P',rel=2)@3 UE(base='RBP',p=0.5)@3
    UE(base='RBP',p=0.5,version='z')@3 UE(base='ERR',max_grade=5)@3 MED(rel=1)@3 MED(rel=2)@3 MED(max_grade=5)@3
    MED(base='SDCG',gains={2:5})@3 MED(base='AP',rel=2)@3
    MED(base='RBP',p=0.5)@3 MED(judged=False)@3 RPP(rel=2)@3 rrLP@1 rrLP(rel=2) rrLP(rel=2)@2 rrLP(judged_only=True)@2 RBO@5 RBO(p=0.5)@3 TaSC(base='P@3')
    TaSC(base='P(rel=2)@3') nDCG@3 nDCG(judged_only=True)@3 P@3 P(rel=2)@3 RR
"""
ALIKE: list[Any] = [
    *PLAIN_EXAMPLES,
    MED(gains={-1: 2, 2: 5}) @ 3,
    *(ir_measures.parse_measure(text) for text in OTHERS.split()),
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@examples(2)
@given(context=contexts.filter(bool), labels=pytrec_eval_qrels, order=st.randoms(use_true_random=False))
@example(
    context={"r1": {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}}, "r2": {"q1": {"c": 3.0, "a": 2.0, "z": 1.0}}},
    labels={"q1": {"a": 1, "b": 0, "c": 2, "d": -1}},
    order=random.Random(1),
)
def test_a_measure_does_not_depend_on_those_in_the_same_call(
    context: dict[str, Run], labels: Labels, order: random.Random
) -> None:
    """One context keeps what it computed for the next measure; no two share what is not the same."""
    for run in context.values():
        assume_common(run, labels)
    options: dict[str, Any] = {"num_docs": 50, "reference": next(iter(context))}
    shuffled = order.sample(ALIKE, len(ALIKE))
    together = RunContext(context, **options).evaluate(labels, shuffled, perquery=True).set_index("measure")
    for measure in ALIKE:
        alone = RunContext(context, **options).evaluate(labels, [measure], perquery=True)
        assert together.loc[[str(measure)], "value"].tolist() == alone["value"].tolist(), measure


#: Those by which a ranking is like itself: the least RBO that there could be says less.
TELL_ALIKE = [
    e for e in EXAMPLES if "ref" in e.SUPPORTED_PARAMS and not (e.SIMILARITY and e.get("variant") == "min")
]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({e.NAME for e in TELL_ALIKE}))
@examples(16)
@given(run=runs, other=runs, labels=qrels)
def test_a_reference_scored_against_itself(name: str, run: Run, other: Run, labels: Labels) -> None:
    """0 for a difference, 1 for a similarity."""
    assume_common(run, labels)
    context = RunContext({"ref": run, "other": other, "third": {}}, reference="ref")
    measures = [e for e in TELL_ALIKE if name == e.NAME]
    with context.evaluating("ref"), warnings.catch_warnings(action="ignore", category=UserWarning):
        values = list(ir_measures.iter_calc(measures, labels, run))
    same = 1.0 if measures[0].SIMILARITY else 0.0
    assert {m.value for m in values} == {same}
    assert {m.measure for m in values} == set(measures)
    of_a_new_run = per_query_of_each(measures, labels, run, context)
    assert [set(of_measure.values()) for of_measure in of_a_new_run.values()] == [{same}] * len(measures)


@pytest.mark.parametrize("measure", [e for e in EXAMPLES if "ref" in e.SUPPORTED_PARAMS], ids=str)
def test_the_choice_of_the_reference(measure: Any) -> None:
    labels = {"q": {"a": 1, "b": 1}}
    a, b = {"q": {"a": 2.0, "x": 1.0}}, {"q": {"x": 2.0, "y": 1.0}}
    one, two = RunContext({"A": a}), RunContext({"A": a, "B": b})
    expected = per_query(measure, labels, b, one)
    assert per_query(measure(ref="A"), labels, b, two) == expected
    assert per_query(measure, labels, b, RunContext({"A": a, "B": b}, reference="A")) == expected
    with two.evaluating("B"):
        assert {m.query_id: m.value for m in ir_measures.iter_calc([measure], labels, b)} == expected
    with pytest.raises(ValueError, match=r"which run is the reference\? The context holds \['A', 'B'\]"):
        per_query(measure, labels, {"q": {"z": 1.0}}, two)
    with pytest.raises(ValueError, match=r"The context holds \['A'\], and 'A' is evaluated"):
        one.evaluate(labels, [measure])
    with pytest.raises(ValueError, match=r"ref='C' is not a run of the context; its runs are \['A', 'B'\]"):
        per_query(measure(ref="C"), labels, b, two)
    with pytest.raises(ValueError, match=r"which run is the reference\?"):
        per_query(measure, labels, b, RunContext({}))
