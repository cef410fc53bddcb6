"""RBO and RBA: against plain oracles, against what they are the extremes and the means of, and the laws they keep."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import random_campaigns
from drawn import examples
from ir_measures_relative import (
    RBA,
    RBO,
    RunContext,
    bounds,
    explain,
    similarity,
    verdicts,
)
from ir_measures_relative.bounding import judge_next
from ir_measures_relative.further_measures import rbo as rank_biased
from oracles import rank_biased as oracles
from oracles.rank_biased import Groups
from random_campaigns import Run
from scored import per_query

RBO_VARIANTS = [
    RBO(variant=kind, ties=ties) for kind in ("ext", "min", "max") for ties in ("broken", "w", "a", "b")
]
VARIANTS = RBO_VARIANTS + [
    RBA(variant=kind, ties=ties) for kind in ("min", "max") for ties in ("broken", "mean")
]
QRELS = {q: {"nobody": 0} for q in random_campaigns.QUERIES}
#: Documents in their order, and whether each is tied to the one before.
small = st.integers(0, 4).flatmap(
    lambda n: st.tuples(
        st.lists(st.sampled_from("abcde"), unique=True, min_size=n, max_size=n),
        st.lists(st.booleans(), min_size=n, max_size=n),
    )
)


def groups(ranked: tuple[list[str], list[bool]]) -> Groups:
    """A ranking, from documents and whether each is tied to the one before."""
    result: Groups = []
    for doc, tied in zip(*ranked, strict=True):
        if tied and result:
            result[-1].append(doc)
        else:
            result.append([doc])
    return result


def as_run(ranking: Groups) -> Run:
    return {"q": {d: -float(i) for i, group in enumerate(ranking) for d in group}}


def parsed(text: str) -> Groups:
    """A ranking as Corsi and Urbano write it, such as "red (blue green) pink"."""
    found: Groups = []
    for part in text.replace("(", " ( ").replace(")", " ) ").split():
        if part == "(":
            found.append([])
            inside = True
        elif part == ")":
            inside = False
        elif found and inside:
            found[-1].append(part)
        else:
            found.append([part])
            inside = False
    return found


def values(sides: list[tuple[Groups, Groups]], measure: Any) -> list[float]:
    """A value for each pair, each as a query of its own."""
    runs = {
        name: {str(q): as_run(pair[side])["q"] for q, pair in enumerate(sides)}
        for side, name in enumerate("xy")
    }
    qrels = {str(q): {"nobody": 0} for q in range(len(sides))}
    found = per_query(measure(ref="y"), qrels, runs["x"], RunContext({"y": runs["y"]}))
    return [found[q] for q in qrels]


def value(x: Groups, y: Groups, measure: Any) -> float:
    return values([(x, y)], measure)[0]


# ---- against the oracles ---------------------------------------------------------------------------------


@examples(40)
@given(
    random_campaigns.runs,
    random_campaigns.runs,
    st.sampled_from(VARIANTS),
    st.none() | random_campaigns.cutoffs,
    st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(999, 1000)]),
)
def test_all_are_the_oracle(run: Run, reference: Run, measure: Any, k: int | None, p: Fraction) -> None:
    chosen = measure(p=float(p), ref="R", **({} if k is None else {"cutoff": k}))
    got = per_query(chosen, QRELS, run, RunContext({"R": reference}))
    assert list(got) == list(QRELS)
    tied = chosen.get("ties") != "broken"
    for q in QRELS:
        x, y = (oracles.groups_of(r.get(q, {}), k, tied) for r in (run, reference))
        if measure.NAME == "RBO":
            want = oracles.rbo_oracle(x, y, p, chosen.get("variant"), chosen.get("ties"))
        else:
            want = oracles.rba_oracle(x, y, float(p), chosen.get("variant"))
        assert got[q] == pytest.approx(min(max(want, 0.0), 1.0), abs=1e-12)


# ---- what they are the means and the extremes of ----------------------------------------------------------


@examples(40)
@given(small, small, st.sampled_from(["min", "ext", "max"]))
def test_a_is_the_mean_over_the_orders_of_the_ties(one: Any, other: Any, kind: str) -> None:
    if kind != "min":  # which alone is such a mean where the lengths differ
        length = min(len(one[0]), len(other[0]))
        one, other = ((docs[:length], tied[:length]) for docs, tied in (one, other))
    x, y = groups(one), groups(other)
    each = values(list(itertools.product(oracles.orders(x), oracles.orders(y))), RBO(variant=kind))
    assert value(x, y, RBO(variant=kind, ties="a")) == pytest.approx(np.mean(each), abs=1e-12)


@examples(25)
@given(small, small, st.sampled_from(["broken", "w", "a", "b"]))
def test_rbo_is_between_the_extremes_of_all_that_may_follow(one: Any, other: Any, ties: str) -> None:
    x, y = ([docs[:3], tied[:3]] for docs, tied in (one, other))
    if ties == "broken":
        x[1], y[1] = [False] * len(x[0]), [False] * len(y[0])
    x, y = groups(x), groups(y)  # type: ignore[arg-type]
    low, ext, high = (value(x, y, RBO(variant=kind, ties=ties, p=0.5)) for kind in ("min", "ext", "max"))
    followed = list(oracles.continuations(x, y))
    least, most = (
        [oracles.infinite_rbo(a, b, 0.5, "w" if ties == "broken" else ties, alike) for a, b in followed]
        for alike in (False, True)
    )
    assert low == pytest.approx(min(least), abs=1e-12)
    assert high == pytest.approx(max(most), abs=1e-12)
    assert low - 1e-12 <= ext <= high + 1e-12


@examples(25)
@given(small, small, st.booleans())
def test_rba_is_between_the_extremes_of_all_that_may_follow(one: Any, other: Any, tied: bool) -> None:
    x, y = (groups((docs[:3], [t and tied for t in ties[:3]])) for docs, ties in (one, other))
    low, high = (
        value(x, y, RBA(variant=kind, ties="mean" if tied else "broken", p=0.5)) for kind in ("min", "max")
    )
    found = []
    for a, b in oracles.continuations(x, y):
        tails = [ranking[len(seen) :] for ranking, seen in ((a, x), (b, y))]
        for cut_a, cut_b in itertools.product(*(oracles.groupings(tail, tied) for tail in tails)):
            found.append(oracles.rba_oracle(x + cut_a, y + cut_b, 0.5, "min") + 0.5 ** oracles.size(a))
    assert low <= min(found) - 0.5 ** oracles.size(a) + 1e-12
    assert high == pytest.approx(max(found), abs=1e-12)


# ---- published numbers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ties", "ext", "least", "most"),
    [
        ("a", 0.6922853, 0.3310519, 0.8930692),
        ("w", 0.7068257, 0.3429684, 0.9049857),
        ("b", 0.7207131, 0.3509163, 0.9129336),
    ],
)
def test_corsi_and_urbanos_example(ties: str, ext: float, least: float, most: float) -> None:
    x = parsed("red (blue green) yellow pink")
    y = parsed("(blue red) white (yellow black purple) green")
    for kind, want in [("ext", ext), ("min", least), ("max", most)]:
        for one, other in [(x, y), (y, x)]:
            assert value(one, other, RBO(p=0.95, variant=kind, ties=ties)) == pytest.approx(want, abs=5.1e-8)


@pytest.mark.parametrize(
    ("other", "want"), [("karfvodcjmwgzlypebunq", 0.468431), ("okpbvjldiaysze", 0.329846)]
)
def test_webbers_program_on_two_lengths(other: str, want: float) -> None:
    alphabet = [[d] for d in "abcdefghijklmnopqrstuvwxyz"]
    assert value(alphabet, [[d] for d in other], RBO) == pytest.approx(want, abs=5.1e-7)


@pytest.mark.parametrize(
    ("ranking", "rbo", "rba"),
    [("abcdefghij", 0.969, 0.893), ("badcfehgji", 0.699, 0.887), ("jihgfedcba", 0.216, 0.733)],
)
def test_the_paper_of_rba(ranking: str, rbo: float, rba: float) -> None:
    """Ten documents at p = .8: in order, neighbours swapped, reversed. The base scores; to them RBA adds at most
    p^10 (the authors' program says 1 for all three: it overwrites the one ranking's weights by the other's)."""
    x, y = ([[d] for d in documents] for documents in (ranking, "abcdefghij"))
    assert value(x, y, RBO(p=0.8, variant="min")) == pytest.approx(rbo, abs=5.1e-4)
    base = value(x, y, RBA(p=0.8))
    assert base == pytest.approx(rba, abs=5.1e-4)
    assert value(x, y, RBA(p=0.8, variant="max")) == pytest.approx(base + 0.8**10, abs=1e-12)


# ---- laws ------------------------------------------------------------------------------------------------


@examples(40)
@given(random_campaigns.runs, random_campaigns.runs, st.sampled_from(VARIANTS), st.none() | st.integers(1, 5))
@example(
    {
        "q2": dict(
            zip(
                ["d9", "é", "e", "d10", "A", "a", "f", "b", "c", "d"],
                [1, 8, -1, 8, 2, 8, 1, 8, 2, 0],
                strict=True,
            )
        )
    },
    {
        "q2": dict(
            zip(
                ["d", "b", "d9", "d10", "e", "f", "A", "é", "c", "a"],
                [1, 8, 8, 8, 8, 2, 8, 1, 8, 8],
                strict=True,
            )
        )
    },
    RBA(ties="mean"),
    None,
)  # the order of the sum showed
def test_symmetric_to_the_last_bit(run: Run, other: Run, measure: Any, k: int | None) -> None:
    chosen = measure(ref="R") if k is None else measure(ref="R") @ k
    there, back = (per_query(chosen, QRELS, a, RunContext({"R": b})) for a, b in [(run, other), (other, run)])
    assert there == back


@examples(40)
@given(random_campaigns.runs, st.sampled_from(VARIANTS))
def test_a_ranking_and_itself(run: Run, measure: Any) -> None:
    found = per_query(measure(ref="R"), QRELS, run, RunContext({"R": run}))
    for q, got in found.items():
        if measure.get("variant") == "min":
            assert got < 1
        elif measure.get("ties") == "a":
            ties = len(oracles.groups_of(run.get(q, {}))) < len(run.get(q, {}))
            assert got < 1 if ties else got == 1
        else:
            assert got == 1.0


@pytest.mark.parametrize("measure", VARIANTS, ids=str)
def test_missing_and_empty_rankings(measure: Any) -> None:
    run, reference = {"1": {"a": 1.0}, "2": {"a": 1.0}, "5": {}}, {"1": {"a": 1.0}, "3": {"a": 1.0}}
    qrels = {q: {"nobody": -1} for q in "12345"}  # judged, and not relevant, or worse
    got = per_query(measure(ref="R"), qrels, run, RunContext({"R": reference}))
    most, empty = measure.get("variant") == "max", measure.get("variant") != "min"
    assert got["2"] == got["3"] == (1.0 if most else 0.0)
    assert got["4"] == got["5"] == (1.0 if empty else 0.0)
    assert got["1"] == (
        1.0 if empty else pytest.approx(0.1 if measure.NAME == "RBA" else 0.2558428, abs=1e-7)
    )


def long_runs(n_queries: int) -> dict[str, pd.DataFrame]:
    """Two runs of rankings of many lengths, with ties."""
    rng = np.random.default_rng(5)
    runs = {}
    for name in "xy":
        frames = []
        for q in range(n_queries):
            n = int(rng.integers(1, 300))
            docs = [f"d{d}" for d in rng.permutation(400)[:n]]
            scores = rng.integers(0, int(rng.integers(1, 300)), n)
            frames.append(pd.DataFrame({"query_id": f"q{q}", "doc_id": docs, "score": scores.astype(float)}))
        runs[name] = pd.concat(frames, ignore_index=True)
    return runs


def test_neither_the_order_of_rows_nor_other_queries_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some queries alone, few looked at together, and the rows shuffled: the same to the last bit."""
    runs = long_runs(12)
    shuffled = {name: frame.sample(frac=1.0, random_state=3) for name, frame in runs.items()}
    chosen = [f"q{q}" for q in (2, 7)]
    some = {name: frame[frame["query_id"].isin(chosen)] for name, frame in runs.items()}
    qrels = pd.DataFrame({"query_id": [f"q{q}" for q in range(12)], "doc_id": "nobody", "relevance": 0})
    tables = []
    for campaign, together in ((runs, 1 << 16), (shuffled, 1000), (some, 1 << 16)):
        monkeypatch.setattr(rank_biased, "_TOGETHER", together)
        context = RunContext(campaign, reference="y")
        of_queries = qrels[qrels["query_id"].isin(campaign["x"]["query_id"])]
        table = context.evaluate(of_queries, VARIANTS, perquery=True)
        tables.append(table.set_index(["name", "query_id", "measure"])["value"])
    assert tables[0].equals(tables[1])
    assert tables[2].equals(tables[0].loc[tables[2].index])


def test_ties_are_of_32_bit_scores() -> None:
    run = {"q": {"a": 16777217.0, "b": 16777216.0, "c": 1.0}}
    reference = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    context = RunContext({"R": reference})
    qrels = {"q": {"nobody": 0}}
    broken, tied = (per_query(RBO(ties=t), qrels, run, context)["q"] for t in ("broken", "a"))
    assert broken == pytest.approx(0.9)  # b before a, by their ids
    assert tied == pytest.approx(0.95)  # half of the time


def test_persistence_near_its_ends() -> None:
    x, y = [[str(d)] for d in range(1000)], [[str(d)] for d in range(999, -1, -1)]
    for p in (1e-9, 0.5, 0.9, 0.999, 1 - 1e-9):
        low, ext, high = (value(x, y, RBO(p=p, variant=kind)) for kind in ("min", "ext", "max"))
        assert 0 <= low <= ext + 1e-12 and ext <= high + 1e-12 and high <= 1
        assert 0 <= value(x, y, RBA(p=p)) <= value(x, y, RBA(p=p, variant="max")) + 1e-12 <= 1 + 1e-12


# ---- beside another program ------------------------------------------------------------------------------


def test_what_is_other_in_pyterrier_alpha() -> None:
    """pyterrier-alpha's RBO stops at depth 1000 and divides by the weight down to there. So it takes a short ranking for
    one that goes on with nothing, not even for itself; and ties are in the order in which pandas leaves the rows."""
    rbo = pytest.importorskip("pyterrier_alpha", reason="compares with pyterrier-alpha").rbo

    def frame(docs: Any, scores: Any) -> pd.DataFrame:
        return pd.DataFrame({"query_id": "q", "doc_id": list(docs), "score": list(scores)})

    def both(x: pd.DataFrame, y: pd.DataFrame, **params: Any) -> tuple[float, float]:
        ours = per_query(RBO(**params), {"q": {"nobody": 0}}, x, RunContext({"R": y}))["q"]
        return ours, dict(rbo(x, y, p=0.9))["q"]

    generator = random.Random(1)
    documents = [f"d{i}" for i in range(1000)]
    deep = [frame(generator.sample(documents, 1000), range(1000)) for _ in range(2)]
    assert both(*deep)[0] == pytest.approx(both(*deep)[1], abs=1e-12)
    short = frame("abc", [3, 2, 1])
    assert both(short, short) == (1.0, pytest.approx(both(short, short, variant="min")[0], abs=1e-12))
    assert both(short, short)[1] < 0.53
    tied, turned = frame("ab", [1, 1]), frame("ba", [1, 1])
    assert both(tied, turned)[0] == 1.0 and both(tied, turned)[1] < both(tied, tied)[1]


# ---- where judgments are asked for -----------------------------------------------------------------------

CONTEXT = RunContext(
    {
        name: {q: {d: -float(i) for i, d in enumerate(docs)} for q in "12"}
        for name, docs in {"one": "abcd", "two": "bacd", "three": "wxyz"}.items()
    },
    reference="one",
    grades=(0, 1),
)


def test_similarity_without_judgments() -> None:
    measures = ["RBO", "RBA(variant='max')", "MED(base='P')@2"]
    found = similarity(CONTEXT, measures=measures)
    judged = similarity(CONTEXT, {"1": {"nobody": 0}, "2": {"nobody": 0}}, measures)
    pd.testing.assert_frame_equal(found, judged)
    of_rbo = found[found["measure"] == "RBO"]
    assert of_rbo["value"].tolist() == pytest.approx([0.9, 0.0, 0.0])
    assert of_rbo["distance"].tolist() == pytest.approx([0.1, 1.0, 1.0])
    assert found[found["measure"] == "MED(base='P')@2"]["distance"].tolist() == [0.0, 1.0, 1.0]
    long = similarity(CONTEXT, measures=["RBO"], perquery=True)
    assert sorted(set(long["query_id"])) == ["1", "2"]
    with pytest.raises(ValueError, match=r"rrLP needs judgments; give qrels, or one of MED, RBA, RBO"):
        similarity(CONTEXT, measures=["RBO", "rrLP"])
    with pytest.raises(ValueError, match="hold no ranking"):
        similarity(RunContext({"a": {}, "b": {}}), measures=["RBO"])


def test_the_picture_shows_distances() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from ir_measures_relative import plots

    axes = plots.similarity(CONTEXT, measure="RBO")
    shown = axes.images[0].get_array().compressed()
    assert sorted(shown) == pytest.approx([0.1, 0.1, 1, 1, 1, 1])
    assert axes.figure.axes[-1].get_ylabel() == "mean 1 - RBO"
    matplotlib.pyplot.close("all")


def test_what_asks_for_judgments_refuses() -> None:
    qrels = {"1": {"a": 1}, "2": {"a": 0}}
    for measure in (RBO, RBA @ 3):
        for analysis in (bounds, verdicts):
            with pytest.raises(ValueError, match="looks at no judgment, so that none can change it"):
                analysis(CONTEXT, qrels, [measure])
        with pytest.raises(ValueError, match="looks at no judgment"):
            judge_next(CONTEXT, qrels, measure, 1)
        with pytest.raises(ValueError, match="looks at no judgment, so it cannot be explained"):
            explain(CONTEXT, "two", qrels, measure)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("RBA(variant='ext')", r"RBA: variant='ext' is not allowed; it must be one of 'min', 'max'"),
        ("RBA(ties='w')", r"RBA: ties='w' is not allowed; it must be one of 'broken', 'mean'"),
        ("RBO(ties='mean')", r"RBO: ties='mean' is not allowed; it must be one of 'broken', 'w', 'a', 'b'"),
        ("RBO(p=1.0)", r"RBO: p=1.0 is not allowed; it must be a number between 0 and 1, both excluded"),
        ("RBO(rel=2)", r"RBO has no parameter 'rel'"),
    ],
)
def test_what_is_not_defined_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ir_measures.parse_measure(text)
