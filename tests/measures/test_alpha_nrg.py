"""alpha_NRG and NewAspects: oracles, ndeval, the reduction to NRG, and what they refuse."""

import random
from functools import partial
from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
import pytest
from ir_measures import Qrel

from aspect_campaigns import as_qrels, by_query, random_aspects, random_run, ranked
from drawn import times
from ir_measures_relative import (
    NewAspects,
    RelativeWarning,
    RunContext,
    alpha_NRG,
    bounds,
    verdicts,
)
from oracles.aspects import alpha_nrg_oracle, new_aspects_oracle

pytestmark = pytest.mark.filterwarnings("ignore:the evaluated run ranks exactly as")

ALPHAS = (0.25, 0.3, 0.5, 0.9, 1)


def drawn(rng: random.Random, highest: int) -> tuple[Any, dict[str, Any], Any]:
    """Labels, prior runs, and a run."""
    labels = random_aspects(rng, highest=highest)
    priors = {f"prior{i}": random_run(rng, labels) for i in range(rng.randint(0, 3))}
    return labels, priors, random_run(rng, labels)


def test_alpha_nrg_is_the_oracle() -> None:
    rng = random.Random("oracle")
    for _ in range(times(100)):
        labels, runs, run = drawn(rng, rng.choice([1, 3]))
        options: dict[str, Any] = {"alpha": rng.choice(ALPHAS), "rel": rng.randint(1, 3)}
        k = rng.choice([1, 3, 10, None])
        measure = alpha_NRG(**options) if k is None else alpha_NRG(**options) @ k
        with RunContext(runs):
            values = by_query(measure.iter_calc(as_qrels(labels, rng), run))
        for query, of_query in labels.items():
            priors = [ranked(prior, query) for prior in runs.values()]
            expected = alpha_nrg_oracle(ranked(run, query), priors, of_query, k=k, **options)
            assert values[query] == pytest.approx(expected, abs=1e-12)


def test_new_aspects_is_the_oracle() -> None:
    rng = random.Random("new aspects")
    for _ in range(times(80)):
        labels, runs, run = drawn(rng, 3)
        k, rel = rng.choice([1, 3, 10]), rng.randint(1, 3)
        gains = rng.choice([None, {}, {1: 2, 3: 5}, {2: 0}])
        measure = NewAspects(rel=rel) @ k if gains is None else NewAspects(rel=rel, gains=gains) @ k
        with RunContext(runs):
            values = by_query(measure.iter_calc(as_qrels(labels, rng), run))
        for query, of_query in labels.items():
            priors = [ranked(prior, query) for prior in runs.values()]
            assert values[query] == new_aspects_oracle(ranked(run, query), priors, of_query, k, rel, gains)


def test_without_priors_it_is_the_alpha_ndcg_of_ndeval() -> None:
    """α is a sum of few powers of 2: of others ndeval takes equal gains for unequal, by how it rounds them."""
    pytest.importorskip("pyndeval")
    rng = random.Random("ndeval")
    for _ in range(times(100)):
        labels, _, run = drawn(rng, rng.choice([1, 3]))
        options: dict[str, Any] = {"alpha": rng.choice([0.25, 0.5, 0.75]), "rel": rng.randint(1, 3)}
        k = rng.choice([1, 3, 10, 20])
        theirs = ir_measures.alpha_nDCG(**options) @ k
        with RunContext({}):
            measure = alpha_NRG(**options) @ k
            ours = by_query(measure.iter_calc(as_qrels(labels), run))
        expected = by_query(theirs.iter_calc(as_qrels(labels, rng), run))
        assert ours == pytest.approx(expected, abs=1e-6)


def of_one_query(answers: dict[str, str]) -> list[Qrel]:
    return [Qrel("q", doc, 1, aspect) for doc, aspects in answers.items() for aspect in aspects]


@pytest.mark.parametrize(
    "answers",
    [
        {"A": "235", "B": "1245", "C": "134", "D": "125", "E": "345"},
        {"A": "34", "B": "124", "C": "235", "D": "234", "E": "1345"},
    ],
)
def test_gains_that_only_rounding_tells_apart_are_equal(answers: dict[str, str]) -> None:
    """0.1 + 0.1 + 0.01 and 0.01 + 0.1 + 0.1, which are two numbers to a computer."""
    labels = {doc: {aspect: 1 for aspect in aspects} for doc, aspects in answers.items()}
    with RunContext({}):
        value = (alpha_NRG(alpha=0.9) @ 4).calc_aggregate(
            of_one_query(answers), {"q": dict.fromkeys("EDCBA", 1.0)}
        )
    assert value == pytest.approx(alpha_nrg_oracle("EDCBA", [], labels, alpha=0.9, k=4), abs=1e-12)


def campaign() -> tuple[dict[str, Any], list[Qrel]]:
    rng = random.Random("campaign")
    labels = {
        f"q{i:02d}": of for i in range(25) for of in random_aspects(rng, highest=3, n_queries=1).values()
    }
    return {f"run{i}": random_run(rng, labels) for i in range(5)}, as_qrels(labels, rng)


MEASURES = [
    alpha_NRG(rel=1) @ 10,
    alpha_NRG(alpha=0.3, rel=2),
    alpha_NRG(alpha=0.7, rel=1) @ 3,
    NewAspects(rel=1) @ 3,
    NewAspects(gains={}) @ 5,
]


def values_of(table: pd.DataFrame) -> dict[tuple[str, str, str], float]:
    keys = zip(table["name"], table["query_id"], table["measure"], strict=True)
    return dict(zip(keys, table["value"], strict=True))


def test_values_depend_on_their_query_alone_to_the_last_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor on how many queries share a table of answers."""
    runs, qrels = campaign()
    whole = values_of(RunContext(runs).evaluate(qrels, MEASURES, perquery=True))
    monkeypatch.setattr("ir_measures_relative.further_measures.alpha_nrg._CELLS", 50)
    rng = random.Random(1)
    shuffled = list(qrels)
    rng.shuffle(shuffled)
    turned = {name: dict(reversed(run.items())) for name, run in runs.items()}
    assert values_of(RunContext(turned).evaluate(shuffled, MEASURES, perquery=True)) == whole
    queries = sorted({q.query_id for q in qrels})
    for part in (queries[:1], queries[1:9], queries[9:]):
        some = {name: {q: run[q] for q in part if q in run} for name, run in runs.items()}
        values = values_of(
            RunContext(some).evaluate([q for q in qrels if q.query_id in part], MEASURES, perquery=True)
        )
        assert values == {key: value for key, value in whole.items() if key[1] in part}


@pytest.mark.parametrize("form", ["frame", "pyterrier", "numbers", "dicts", "file", "parquet", "ir_datasets"])
def test_every_form_of_qrels(form: str, tmp_path: Path) -> None:
    runs, qrels = campaign()
    context = RunContext(runs)
    expected = context.evaluate(qrels, MEASURES)
    frame: Any = pd.DataFrame(qrels)
    if form == "pyterrier":
        frame = frame.rename(columns={"query_id": "qid", "doc_id": "docno", "relevance": "label"})
    elif form == "ir_datasets":
        from ir_datasets.formats import TrecSubQrel

        frame = [TrecSubQrel(q.query_id, q.doc_id, q.relevance, q.iteration) for q in qrels]
    elif form == "numbers":
        frame["iteration"] = frame["iteration"].str[1:].astype(int)  # from 0 up, which names an aspect here
    elif form == "dicts":
        frame = frame.rename(columns={"iteration": "subtopic_id"}).to_dict("records")
    elif form == "file":
        path = tmp_path / "qrels.txt"
        rows = (f"{q.query_id} {q.iteration} {q.doc_id} {q.relevance}\n" for q in qrels)
        path.write_text("".join(rows), encoding="utf-8")
        frame = path
    elif form == "parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(tmp_path / "qrels.parquet")
        frame = tmp_path / "qrels.parquet"
    pd.testing.assert_frame_equal(context.evaluate(frame, MEASURES), expected, check_exact=True)


NO_ASPECTS: list[Any] = [
    {"q": {"A": 1}},
    [Qrel("q", "A", 1)],
    [Qrel("q", "A", 1, "Q0"), Qrel("q", "B", 1, "0")],
    pd.DataFrame({"qid": ["q"], "docno": ["A"], "label": [1]}),
    pd.DataFrame({"query_id": ["q"], "doc_id": ["A"], "relevance": [1], "iteration": [None]}),
]


@pytest.mark.parametrize("qrels", NO_ASPECTS)
def test_qrels_without_aspects_are_refused(qrels: Any) -> None:
    for measure in ("alpha_NRG@10", "NewAspects@10", "alpha_nDCG@10"):
        with pytest.raises(
            ValueError, match=f"{measure} needs the aspects .* the qrels name none.*iteration"
        ):
            RunContext({"old": {"q": {"A": 1.0}}}).evaluate(qrels, [measure])


def test_a_label_without_an_aspect_is_refused_among_others() -> None:
    qrels = pd.DataFrame(
        {"query_id": ["q", "p"], "doc_id": ["A", "B"], "relevance": [1, 1], "iteration": ["1", None]}
    )
    context = RunContext({"old": {"q": {"A": 1.0}}, "other": {"q": {"X": 1.0}}})
    with pytest.raises(ValueError, match="query 'p', document 'B' has a label without an aspect"):
        context.evaluate(qrels, [NewAspects @ 10])
    assert context.evaluate(qrels, ["P@1"])["P@1"].tolist() == [0.5, 0.0]  # which looks at none


def test_labels_that_draw_a_warning() -> None:
    of_none = [Qrel("q", "A", 1, "1"), Qrel("q", "B", 2, "0"), Qrel("q", "C", 0, "0")]
    twice = [Qrel("q", "A", 0, "1"), Qrel("q", "A", 1, "1"), Qrel("q", "A", 1, "2")]
    graded = [Qrel("q", "A", 3, "1"), Qrel("q", "A", 1, "2")]
    run = {"q": {"A": 2.0, "B": 1.0}}
    with RunContext({}):
        for qrels, measure, message in [
            (
                of_none,
                NewAspects(rel=1) @ 10,
                r"1 relevant documents whose labels name no aspect.*document 'B'",
            ),
            (twice, NewAspects @ 10, r"1 \(query, document, aspect\) twice.*document 'A'"),
            (graded, NewAspects @ 10, r"from rel=1 on alike, and the qrels hold labels up to 3"),
            (graded, alpha_NRG @ 10, r"from rel=1 on alike, and the qrels hold labels up to 3"),
        ]:
            with pytest.warns(RelativeWarning, match=message):
                measure.calc_aggregate(qrels, run)
        # Judged, and for no aspect; and a threshold that was set.
        (NewAspects @ 10).calc_aggregate([q for q in of_none if q.doc_id != "B"], run)
        (NewAspects(rel=1) @ 10).calc_aggregate(graded, run)


def test_a_plain_measure_sees_the_last_label_as_in_ir_measures() -> None:
    qrels = [Qrel("q", "A", 2, "1"), Qrel("q", "A", 0, "2"), Qrel("q", "B", 0, "1"), Qrel("q", "B", 1, "2")]
    run = {"q": {"A": 2.0, "B": 1.0}}
    expected = ir_measures.calc_aggregate([ir_measures.nDCG @ 10], qrels, run)
    context = RunContext({"old": run, "other": {"q": {"X": 1.0}}})
    with pytest.warns(RelativeWarning, match=r"nDCG@10, UniqueRel@10 look at no aspects.*last label"):
        table = context.evaluate(qrels, ["nDCG@10", "UniqueRel@10", "NewAspects(rel=1)@10"])
    assert [table["nDCG@10"][0]] == list(expected.values()) == [pytest.approx(0.6309, abs=1e-4)]
    assert table["UniqueRel@10"].tolist() == [1.0, 0.0]
    assert table["NewAspects@10"].tolist() == [2.0, 0.0]


def test_what_is_refused() -> None:
    for alpha in (0, -0.1, 1.1, float("nan"), "0.5", True):
        with pytest.raises(ValueError, match="alpha=.*a number above 0 and at most 1"):
            alpha_NRG(alpha=alpha)
    with pytest.raises(ValueError, match="NewAspects needs cutoff, .*: write NewAspects@10"):
        NewAspects.validate_params()
    runs, qrels = campaign()
    for question in (bounds, partial(verdicts, missing="zero")):
        for measure in (alpha_NRG @ 3, NewAspects @ 3):
            with pytest.raises(ValueError, match="has no strict bounds"):
                question(RunContext(runs), qrels, [measure(rel=1)])


HOST_MEASURES = ["alpha_nDCG@10", "alpha_nDCG(alpha=0.3)@5", "alpha_DCG(rel=2)@10", "ERR_IA@10", "nERR_IA@20"]
HOST_MEASURES += ["NRBP", "nNRBP(alpha=0.9)", "AP_IA", "P_IA@5", "StRecall@10"]


def test_what_ndeval_computes_stands_in_the_same_table() -> None:
    """Each by itself: of measures with several alphas ir_measures computes the first alone."""
    pytest.importorskip("pyndeval")
    runs, qrels = campaign()
    table = values_of(
        RunContext(runs).evaluate(qrels, [*HOST_MEASURES, "NewAspects(rel=1)@10"], perquery=True)
    )
    for name, run in runs.items():
        for measure in HOST_MEASURES:
            theirs = by_query(ir_measures.parse_measure(measure).iter_calc(qrels, run))
            ours = {query: table[name, query, measure] for query in theirs}
            assert ours == pytest.approx(theirs, abs=1e-12, nan_ok=True), measure


def test_measures_of_aspects_are_bases() -> None:
    pytest.importorskip("pyndeval")
    measure = "TaSC(base='alpha_nDCG@10')"
    runs, qrels = campaign()
    values = RunContext(runs).evaluate(qrels, [measure, "alpha_nDCG@10"])
    assert values[measure].nunique() == len(runs)
    with pytest.raises(ValueError, match="alpha_nDCG@10.* needs the aspects"):
        RunContext(runs).evaluate({q.query_id: {"d1": 1} for q in qrels}, [measure])
