"""MED: the paper's numbers, every labeling tried, properties, corner cases, and the ways to call it."""

import itertools
import json
import random
import re
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import AP, RR, P, nDCG

from ir_measures_relative import MED, RunContext
from ir_measures_relative.context.checks import check_queries
from ir_measures_relative.context.collection import judged_collection, new_collection
from ir_measures_relative.context.evaluated import Evaluated
from ir_measures_relative.data.arrays import object_array
from ir_measures_relative.data.documents import Judgments
from ir_measures_relative.io.runs import read_run
from oracles.med import med_oracle, rbp_oracle
from scored import per_query

Ranked = dict[str, list[str]]

BASES = ["P", "RBP", "SDCG", "nDCG", "RR", "SSP", "AP", "mean_nDCG", "ERR"]
X3, X4 = "ABCDEFGHJK", "ADBECGFJLH"
EQ6 = {"A": 1, "E": 0}


def as_run(rankings: dict[str, Any]) -> dict[str, dict[str, float]]:
    return {q: {d: -float(i) for i, d in enumerate(ranking)} for q, ranking in rankings.items()}


def med(
    run: Any, reference: Any, qrels: Any = None, base: str = "nDCG", cutoff: int | None = 10, **params: Any
) -> pd.DataFrame:
    """The value of each query; without qrels every document is open, and the queries of both runs count."""
    measure = MED(base=base, **params) if cutoff is None else MED(base=base, cutoff=cutoff, **params)
    measure.validate_params()
    rankings, context = read_run(run), RunContext({"reference": reference})
    against = context.runs["reference"]
    if qrels is None:
        query_ids = object_array(dict.fromkeys([*rankings.query_ids, *against.query_ids]))
        collection = new_collection(context, Judgments.empty(query_ids))
    else:
        collection = judged_collection(context, qrels)
        check_queries(collection, rankings)
        check_queries(collection, against)
    values = measure.score(Evaluated.of(collection, rankings))
    return pd.DataFrame({"query_id": collection.documents.query_ids, "value": values})


def one(
    run: Any, reference: Any, labels: dict[str, int] | None, base: str, cutoff: int | None, **params: Any
) -> Any:
    """The row of med() for one query."""
    qrels = None if labels is None else {"q": labels}
    table = med(as_run({"q": run}), as_run({"q": reference}), qrels, base, cutoff, **params)
    assert len(table) == 1
    return table.iloc[0]


@pytest.mark.parametrize(
    ("base", "params", "value", "relevant"),
    [
        *(("SDCG", {}, 0.1282, "BCFHK"), ("nDCG", {}, 0.2352, "DL"), ("SSP", {}, 0.1611, "BCFGHJK")),
        *(("AP", {}, 0.2833, "BCK"), ("AP", {"norm": "min"}, 0.2833, "BCK"), ("P", {}, 0.1, "K")),
        *(("RBP", {"residual": False}, 0.1331, "BCFHK"), ("RBP", {}, 0.1331 + 0.8**10, "BCFHK")),
        ("RR", {}, 0.0, ""),
    ],
)
def test_equation_6(base: str, params: dict[str, Any], value: float, relevant: str) -> None:
    row = one(X3, X4, EQ6, base, 10, **params)
    assert row.value == pytest.approx(value, abs=6e-5)
    attained = dict.fromkeys("BCDFGHJKL", 0) | dict.fromkeys(relevant, 1) | EQ6
    assert one(X3, X4, attained, base, 10, **params).value == pytest.approx(row.value)
    assert one(X4, X3, EQ6, base, 10, **params).value == pytest.approx(row.value, abs=1e-15)


def test_the_highest_grade_is_not_always_best() -> None:
    """Where the paper slips: F at grade 3 gives .6052, at grade 1 .7039."""
    labels = {"A": 1, "C": 1, "D": 1, "B": 0, "E": 0}
    row = one("BCE", "DAF", labels, "nDCG", 3, max_grade=3)
    assert round(row.value, 4) == 0.7039
    assert round(one("BCE", "DAF", {**labels, "F": 3}, "nDCG", 3).value, 4) == 0.6052
    assert round(one("BCE", "DAF", {**labels, "F": 1}, "nDCG", 3).value, 4) == 0.7039


def random_queries(
    seed: int, n: int, *, most_open: int, cutoff: int | None, labels: list[int]
) -> tuple[Ranked, Ranked, dict[str, dict[str, int]]]:
    """Rankings of unequal lengths, some alike, partly judged, with relevant documents that neither holds."""
    rng = np.random.default_rng(seed)
    run: Ranked = {}
    reference: Ranked = {}
    qrels: dict[str, dict[str, int]] = {}
    for i in range(n):
        q = f"q{i}"
        docs = [f"d{j}" for j in range(rng.integers(2, 15))]
        run[q] = rng.permutation(docs)[: rng.integers(0, len(docs) + 1)].tolist()
        if rng.random() < 0.4:  # a near copy of the run
            reference[q] = list(run[q])
            for _ in range(rng.integers(0, 4)):
                if len(reference[q]) > 1:
                    j = rng.integers(1, len(reference[q]))
                    reference[q][j - 1 : j + 1] = reference[q][j - 1 : j + 1][::-1]
        else:
            reference[q] = rng.permutation(docs)[: rng.integers(0, len(docs) + 1)].tolist()
        share = rng.choice([0.0, 0.2, 0.5, 0.9])
        qrels[q] = {d: int(rng.choice(labels)) for d in docs if rng.random() < share}
        left_open = sorted(({*run[q][:cutoff]} | {*reference[q][:cutoff]}) - {*qrels[q]})
        for d in rng.permutation(left_open)[most_open:]:
            qrels[q][str(d)] = int(rng.choice(labels))
        qrels[q]["unretrieved_relevant"] = int(rng.choice(labels))  # so that every query is in the qrels
    return run, reference, qrels


def check(
    run: Ranked,
    reference: Ranked,
    qrels: Any,
    base: str,
    cutoff: int | None,
    oracle: dict[str, Any],
    **params: Any,
) -> pd.DataFrame:
    """Every query of one call against all its labelings."""
    table = med(as_run(run), as_run(reference), qrels, base, cutoff, **params)
    assert table["query_id"].tolist() == list(qrels)
    for row in table.itertuples():
        args = run[row.query_id], reference[row.query_id]
        expected = med_oracle(*args, qrels[row.query_id], base, cutoff, **oracle)
        assert row.value == pytest.approx(expected, abs=1e-12), row
    return table


@pytest.mark.slow
@pytest.mark.parametrize(
    ("base", "cutoff"),
    [*itertools.product(BASES[:-1], [1, 3, 5, 10]), ("RBP", None), ("nDCG", None), ("RR", None)],
)
def test_every_binary_labeling(base: str, cutoff: int | None) -> None:
    slow = base in ("SSP", "AP")  # their solver has tests of its own
    rel = 2 if cutoff == 5 else 1
    run, reference, qrels = random_queries(
        cutoff or 0, 30 if slow else 120, most_open=10, cutoff=cutoff, labels=[-1, 0, 0, 1, 2]
    )
    params: dict[str, Any] = {"rel": rel}
    oracle: dict[str, Any] = {"rel": rel, "grades": (0, rel)}
    if base == "RBP":
        params |= {"residual": False, "p": 0.7}
        oracle |= {"p": 0.7}
    for norm in ("R", "min") if base == "AP" else (None,):
        both = {} if norm is None else {"norm": norm}
        check(run, reference, qrels, base, cutoff, oracle | both, **params, **both)


GAINS = [{1: 2, 2: 3, 3: 7}, {1: 3, 2: 1, 3: 1}]
GRADED_PARAMS = [{}, {"dcg": "exp-log2"}, *({"gains": gains} for gains in GAINS)]
GRADED_PARAMS += [{"gains": {-1: 1, 0: 2, 2: 0}, "dcg": "exp-log2"}]


@pytest.mark.parametrize("base", ["SDCG", "nDCG"])
@pytest.mark.parametrize("params", GRADED_PARAMS, ids=json.dumps)
def test_every_assignment_of_grades(base: str, params: dict[str, Any]) -> None:
    for cutoff in (1, 2, 4, 8) if base == "SDCG" else (1, 2, 4, 8, None):
        run, reference, qrels = random_queries(
            7 + (cutoff or 0), 40, most_open=5, cutoff=cutoff, labels=[-1, 0, 0, 1, 1, 2, 3]
        )
        oracle = {"rel": None, "grades": (-1, 0, 1, 2, 3), **params}
        check(run, reference, qrels, base, cutoff, oracle, **params)


@pytest.mark.parametrize("base", ["SDCG", "nDCG"])
@pytest.mark.parametrize(
    "gains", [{0: 1}, {0: 2, 1: 1}, {0: 3, 1: 2, 2: 1}, {0: 1, 1: 1, 2: 1}], ids=json.dumps
)
def test_every_assignment_where_each_grade_gains(base: str, gains: dict[int, int]) -> None:
    """An open document has one of the grades, each of which gains something."""
    for cutoff in (1, 2, 4, 8):
        run, reference, qrels = random_queries(cutoff, 40, most_open=5, cutoff=cutoff, labels=[0, 0, 1, 2])
        oracle = {"rel": None, "grades": (0, 1, 2), "gains": gains}
        check(run, reference, qrels, base, cutoff, oracle, gains=gains)


def test_every_assignment_of_grades_err() -> None:
    run, reference, qrels = random_queries(3, 60, most_open=5, cutoff=6, labels=[-1, 0, 0, 1, 2])
    check(run, reference, qrels, "ERR", 6, {"grades": (0, 1, 2)})
    check(run, reference, qrels, "ERR", 6, {"grades": (0, 1, 2, 3)}, max_grade=3)


def test_many_levels_and_documents_fit_algorithm_1() -> None:
    """Binary nDCG, two hundred open documents: the greedy algorithm as the paper prints it."""
    rng = np.random.default_rng(5)
    docs = [f"d{i}" for i in range(250)]
    for cutoff in (20, 100, 150):
        run, reference = (rng.permutation(docs)[:150].tolist() for _ in range(2))
        labels = {d: int(rng.random() < 0.3) for d in docs if rng.random() < 0.2}
        expected = algorithm_1(run[:cutoff], reference[:cutoff], labels, cutoff)
        assert one(run, reference, labels, "nDCG", cutoff).value == pytest.approx(expected, abs=1e-13)


def algorithm_1(y: list[str], z: list[str], labels: dict[str, int], k: int) -> float:
    """MED(NDCG@k, Y, Z), step by step."""
    discount = [1 / np.log2(i + 1) for i in range(1, k + 1)]
    weights = [dict(zip(r, discount, strict=False)) for r in (y, z)]
    diff = {d: weights[0].get(d, 0) - weights[1].get(d, 0) for d in {*y, *z}}
    judged = sum(diff[d] for d in diff if labels.get(d) == 1)
    biggest = 0.0
    for sign in (1, -1):
        numerator, relevant = sign * judged, sum(labels.values())
        denominator = sum(discount[:relevant])
        biggest = max(biggest, numerator / denominator if denominator else 0.0)
        for gain in sorted(
            (sign * diff[d] for d in diff if d not in labels and sign * diff[d] > 0), reverse=True
        ):
            numerator += gain
            relevant += 1
            denominator += discount[relevant - 1] if relevant <= k else 0
            biggest = max(biggest, numerator / denominator)
    return biggest


@pytest.mark.parametrize("absolute", [P @ 5, RR @ 5, nDCG @ 5, AP @ 5], ids=repr)
def test_fully_judged_is_the_difference(absolute: Any) -> None:
    rng = np.random.default_rng(2)
    docs = list("abcdefgh")
    run, reference = ({f"q{i}": rng.permutation(docs).tolist() for i in range(40)} for _ in range(2))
    qrels = {q: {d: int(rng.integers(-1, 3)) for d in docs} for q in run}
    table = med(as_run(run), as_run(reference), qrels, absolute.NAME, 5)
    scores = [per_query(absolute, qrels, as_run(r)) for r in (run, reference)]
    for row in table.itertuples():
        difference = scores[0][row.query_id] - scores[1][row.query_id]
        assert row.value == pytest.approx(abs(difference), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("cutoff", [1, 3, 5, 10, None])
def test_what_may_follow_a_ranking(residual: Any, cutoff: int | None) -> None:
    """Against the definition: every labeling, and the tail as the sum of its weights."""
    run, reference, qrels = random_queries(
        20 + (cutoff or 0), 100, most_open=7, cutoff=cutoff, labels=[-1, 0, 1, 2]
    )
    table = med(as_run(run), as_run(reference), qrels, "RBP", cutoff, p=0.7, residual=residual)
    for row in table.itertuples():
        args = run[row.query_id], reference[row.query_id], qrels[row.query_id]
        assert row.value == pytest.approx(rbp_oracle(*args, cutoff, p=0.7, residual=residual), abs=1e-12), row
    turned = med(as_run(reference), as_run(run), qrels, "RBP", cutoff, p=0.7, residual=residual)
    np.testing.assert_allclose(turned["value"], table["value"], atol=1e-15)
    assert (med(as_run(run), as_run(run), qrels, "RBP", cutoff, p=0.7, residual=residual)["value"] == 0).all()


def test_queries_are_told_apart_by_their_own_tails() -> None:
    """Also beside one whose rankings do not even start alike; the same to the last document, nothing follows."""
    run = as_run({"q1": "ABC", "q2": "ABC", "q3": "ABCD", "q4": "AB", "q5": "AB"})
    reference = as_run({"q4": "AB", "q2": "ABD", "q3": "ABC", "q1": "ABC", "q5": "Z"})
    values = med(run, reference, base="RBP", cutoff=2).set_index("query_id")["value"].to_dict()
    assert values.pop("q5") > 0
    assert values == pytest.approx({"q1": 0, "q2": 0.64, "q3": 0.64, "q4": 0})


@pytest.mark.parametrize("base", BASES)
def test_missing_queries_and_nothing_relevant(base: str) -> None:
    run = as_run({"q1": "AB", "only run": "AB", "not judged": "A"})
    reference = as_run({"q1": "BA", "only reference": "AB"})
    two = {"A": 1, "B": 0}
    qrels = {"q1": {"Z": 0}, "only run": two, "only reference": two, "neither": {"A": 1}}
    options: dict[str, Any] = {"residual": False} if base == "RBP" else {}
    table = med(run, reference, qrels, base, 2, **options)
    values = table.set_index("query_id")["value"].to_dict()
    assert list(values) == list(qrels)
    alone = med_oracle(list("AB"), [], qrels["only run"], base, 2)
    assert alone > 0
    assert values["only run"] == values["only reference"] == pytest.approx(alone)
    assert values["neither"] == 0
    assert values["q1"] == pytest.approx(med_oracle(list("AB"), list("BA"), {"Z": 0}, base, 2))
    # Nothing relevant and nothing open is 0/0: nothing.
    assert one("AB", "BA", {"A": 0, "B": -1}, base, 2, **options).value == 0
    # An empty run has an empty ranking for every query.
    empty = med({}, reference, qrels, base, 2).set_index("query_id")["value"]
    assert empty["only run"] == 0 and empty["only reference"] > 0
    assert med({}, {}, qrels, base, 2)["value"].tolist() == [0] * 4
    assert med({}, {}, None, base, 2).empty


def test_judged_false_ignores_the_labels_but_not_the_highest_grade() -> None:
    labels = {"A": 0, "B": 3}
    row = one("AB", "BC", labels, "SDCG", 2, judged=False)
    assert row.value == pytest.approx(1 / (1 + 1 / np.log2(3)))
    assert one("AB", "BC", labels, "nDCG", 2, judged=False).value == 1  # A alone is relevant
    assert one("AB", "BC", labels, "AP", 2, judged=False).value == 1
    assert one("AB", "BC", {"B": 1}, "P", 2).value == pytest.approx(0.5)
    assert one("AB", "CD", {"A": 0, "B": 0, "C": 0, "D": 0}, "P", 2, judged=False).value == 1


def test_time_limit_is_never_silent() -> None:
    """Too little time: an interval that holds the true value, and one warning with its width."""
    rng = np.random.default_rng(1)
    docs = [f"d{i}" for i in range(14)]
    run, reference = ({f"q{i}": rng.permutation(docs).tolist() for i in range(30)} for _ in range(2))
    message = r"1e-09 s were not enough for \d+ of 30 queries; .* may be larger by up to (0\.\d{4})"
    with pytest.warns(UserWarning, match=message) as caught:
        table = med(as_run(run), as_run(reference), base="AP", cutoff=14, time_limit=1e-9)
    assert len(caught) == 1
    short = med(as_run(run), as_run(reference), base="AP", cutoff=14)["value"] - table["value"]
    widest = float(re.search(message, str(caught[0].message))[1])  # type: ignore[index]
    assert (short >= -1e-12).all() and short.max() <= widest + 5e-5 and widest > 0
    context = RunContext({"b": as_run(reference)})
    with context, pytest.warns(UserWarning, match="were not enough"):
        (MED(base="AP", time_limit=1e-9) @ 14).calc_aggregate({q: {"other": 0} for q in run}, as_run(run))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MED(base='P')", "needs a cutoff: write MED(base='P')@10"),
        ("MED(base='SSP')", "needs a cutoff"),
        ("MED(base='mean_nDCG')", "needs a cutoff"),
        ("MED(base='DCG')@10", "base='DCG' is not allowed; it must be one of 'AP', 'SSP'"),
        ("MED(p=0.8)@10", "p goes with base 'RBP', not 'nDCG'"),
        ("MED(residual=False)@10", "residual goes with base 'RBP'"),
        ("MED(norm='min')@10", "norm goes with base 'AP', not 'nDCG'"),
        ("MED(base='AP',max_grade=3)@10", "max_grade goes with base 'ERR', 'nDCG', 'SDCG', not 'AP'"),
        ("MED(time_limit=1)@10", "time_limit goes with base 'AP', 'SSP', 'ERR'"),
        ("MED(base='AP',time_limit='1')@10", "it must be a number of seconds from 0 up"),
        ("MED(rel=1,dcg='exp-log2')@10", "rel makes nDCG binary, and dcg does nothing then"),
        ("MED(rel=0)@10", "rel=0 is not allowed; it must be a whole number of at least 1"),
        ("MED(base='RBP',p=1.0)@10", "between 0 and 1"),
        ("MED(judged='no')@10", "judged='no' is not allowed; it must be True or False"),
        ("MED(base='RBP',residual=1)@10", "it must be True or False"),
        ("MED(max_grade=1)@10", "the qrels hold the grade 2, of query"),
        ("MED(ref='C')@10", r"ref='C' is not a run of the context; its runs are \['B'\]"),
    ],
)
def test_bad_parameters(text: str, message: str) -> None:
    with (
        pytest.raises(ValueError, match=message.replace("(", r"\(").replace(")", r"\)")),
        RunContext({"B": {}}),
    ):
        ir_measures.calc_aggregate([ir_measures.parse_measure(text)], {"q": {"A": 2}}, as_run({"q": "A"}))


def test_mean_ndcg_stays_within_its_range() -> None:
    for k in range(1, 31):  # summed without care, the weights of two disjoint rankings come to more than 1
        row = one([f"y{i}" for i in range(k)], [f"z{i}" for i in range(k)], {"x": 0}, "mean_nDCG", k)
        assert row.value == pytest.approx(1.0) and row.value <= 1.0


def test_what_a_further_relevant_document_raises() -> None:
    """One in neither ranking makes mean_nDCG larger at times, and no other base."""
    found = [one("A", "BAC", {"A": 1, "B": 0, "C": 1, "X": x}, "mean_nDCG", 3).value for x in (0, 1)]
    assert found == pytest.approx([0.38201, 0.38828], abs=5e-6)
    rng = random.Random(0)
    for _ in range(8):
        y, z = (rng.sample("ABCDE", rng.randint(1, 3)) for _ in range(2))
        labels = {d: rng.randint(0, 2) for d in "ABCDE" if rng.random() < 0.6} | {"X": 0}
        for base in set(BASES) - {"mean_nDCG"}:
            options = {"max_grade": 2} if base in ("SDCG", "nDCG", "ERR") else {}
            now, then = (one(y, z, labels | {"X": x}, base, 3, **options).value for x in (0, 1))
            assert then <= now + 1e-12, (base, y, z, labels)
