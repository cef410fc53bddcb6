"""RBO, and preferences by recall: against plain oracles, extremes, and the laws that they keep."""

import itertools
import random
from fractions import Fraction
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import random_campaigns
from drawn import examples
from ir_measures_relative import (
    RBO,
    RPP,
    RunContext,
    bounds,
    explain,
    rrLP,
    sgnLP,
    sgnLR,
    similarity,
    verdicts,
)
from ir_measures_relative.bounding import judge_next
from ir_measures_relative.further_measures import rbo as rank_biased
from oracles import rank_biased as oracles
from oracles.lexiprecision import recall_positions, rpp_oracle, rrlp_oracle, sgnlr_oracle
from oracles.rankings import trec_order
from random_campaigns import Labels, Run
from scored import assume_common, in_order, per_query, ranking

VARIANTS = [RBO(variant=kind) for kind in ("ext", "min", "max")]
QRELS = {q: {"nobody": 0} for q in random_campaigns.QUERIES}
small = st.lists(st.sampled_from("abcde"), unique=True, max_size=3)


def value(x: Any, y: Any, measure: Any) -> float:
    context = RunContext({"y": {"q": in_order(y)}})
    return per_query(measure(ref="y"), {"q": {"nobody": 0}}, {"q": in_order(x)}, context)["q"]


@examples(40)
@given(
    random_campaigns.runs,
    random_campaigns.runs,
    st.sampled_from(VARIANTS),
    st.none() | random_campaigns.cutoffs,
    st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(999, 1000)]),
)
def test_all_are_the_oracle(run: Run, reference: Run, measure: Any, k: int | None, p: Fraction) -> None:
    """And the same, to the last bit, with the two exchanged."""
    chosen = measure(p=float(p), ref="R", **({} if k is None else {"cutoff": k}))
    got = per_query(chosen, QRELS, run, RunContext({"R": reference}))
    assert list(got) == list(QRELS)
    assert per_query(chosen, QRELS, reference, RunContext({"R": run})) == got
    for q in QRELS:
        x, y = (ranking(r, q)[:k] for r in (run, reference))
        want = oracles.rbo_oracle(x, y, p, chosen.get("variant"))
        assert got[q] == pytest.approx(min(max(want, 0.0), 1.0), abs=1e-12)


@examples(25)
@given(small, small)
def test_rbo_is_between_the_extremes_of_all_that_may_follow(x: list[str], y: list[str]) -> None:
    low, ext, high = (value(x, y, RBO(variant=kind, p=0.5)) for kind in ("min", "ext", "max"))
    followed = list(oracles.continuations(x, y))
    least, most = ([oracles.infinite_rbo(a, b, 0.5, alike) for a, b in followed] for alike in (False, True))
    assert low == pytest.approx(min(least), abs=1e-12)
    assert high == pytest.approx(max(most), abs=1e-12)
    assert low - 1e-12 <= ext <= high + 1e-12


@pytest.mark.parametrize(
    ("other", "want"), [("karfvodcjmwgzlypebunq", 0.468431), ("okpbvjldiaysze", 0.329846)]
)
def test_webbers_program_on_two_lengths(other: str, want: float) -> None:
    assert value("abcdefghijklmnopqrstuvwxyz", other, RBO) == pytest.approx(want, abs=5.1e-7)


@pytest.mark.parametrize(
    ("docs", "rbo"), [("abcdefghij", 0.969), ("badcfehgji", 0.699), ("jihgfedcba", 0.216)]
)
def test_printed_values(docs: str, rbo: float) -> None:
    """Ten documents at p = .8, by Moffat et al., SIGIR-AP 2024: in order, neighbours swapped, reversed."""
    assert value(docs, "abcdefghij", RBO(p=0.8, variant="min")) == pytest.approx(rbo, abs=5.1e-4)


def test_neither_the_order_of_rows_nor_other_queries_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some queries alone, few looked at together, and the rows shuffled: the same to the last bit."""
    rng, queries = np.random.default_rng(5), [f"q{q}" for q in range(12)]
    runs: dict[str, pd.DataFrame] = {}
    for name in "xy":
        frames = []
        for query in queries:
            n = int(rng.integers(1, 300))
            docs = [f"d{d}" for d in rng.permutation(400)[:n]]
            frames.append(
                pd.DataFrame({"query_id": query, "doc_id": docs, "score": rng.integers(0, 99.0, n)})
            )
        runs[name] = pd.concat(frames, ignore_index=True).astype({"score": float})
    shuffled = {name: frame.sample(frac=1.0, random_state=3) for name, frame in runs.items()}
    some = {name: frame[frame["query_id"].isin(["q2", "q7"])] for name, frame in runs.items()}
    qrels = pd.DataFrame({"query_id": queries, "doc_id": "nobody", "relevance": 0})
    tables = []
    for campaign, together in ((runs, 1 << 16), (shuffled, 1000), (some, 1 << 16)):
        monkeypatch.setattr(rank_biased, "_TOGETHER", together)
        of_queries = qrels[qrels["query_id"].isin(campaign["x"]["query_id"])]
        table = RunContext(campaign, reference="y").evaluate(of_queries, VARIANTS, perquery=True)
        tables.append(table.set_index(["name", "query_id", "measure"])["value"])
    assert tables[0].equals(tables[1])
    assert tables[2].equals(tables[0].loc[tables[2].index])


def test_persistence_near_its_ends() -> None:
    x, y = [str(d) for d in range(1000)], [str(d) for d in range(999, -1, -1)]
    for p in (1e-9, 0.5, 0.999, 1 - 1e-9):
        low, ext, high = (value(x, y, RBO(p=p, variant=kind)) for kind in ("min", "ext", "max"))
        assert 0 <= low <= ext + 1e-12 and ext <= high + 1e-12 and high <= 1


def test_what_is_other_in_pyterrier_alpha() -> None:
    """pyterrier-alpha's RBO stops at depth 1000, and takes a short ranking for one that goes on with nothing."""
    rbo = pytest.importorskip("pyterrier_alpha", reason="compares with pyterrier-alpha").rbo

    def both(*docs: Any) -> tuple[float, float]:
        x, y = (pd.DataFrame({"query_id": "q", "doc_id": d, "score": [*in_order(d).values()]}) for d in docs)
        ours = per_query(RBO, {"q": {"nobody": 0}}, x, RunContext({"R": y}))["q"]
        return ours, dict(rbo(x, y, p=0.9))["q"]

    generator, documents = random.Random(1), [f"d{i}" for i in range(1000)]
    ours, theirs = both(*(generator.sample(documents, 1000) for _ in range(2)))
    assert ours == pytest.approx(theirs, abs=1e-12)
    ours, theirs = both(list("abc"), list("abc"))
    assert ours == 1.0 and theirs < 0.53


CONTEXT = RunContext(
    {n: {q: in_order(d) for q in "12"} for n, d in {"one": "abcd", "two": "bacd", "three": "wxyz"}.items()},
    reference="one",
    grades=(0, 1),
)


def test_similarity_without_judgments() -> None:
    measures = ["RBO", "MED(base='P')@2"]
    found = similarity(CONTEXT, measures=measures)
    judged = similarity(CONTEXT, {"1": {"nobody": 0}, "2": {"nobody": 0}}, measures)
    pd.testing.assert_frame_equal(found, judged)
    of_rbo = found[found["measure"] == "RBO"]
    assert of_rbo["value"].tolist() == pytest.approx([0.9, 0.0, 0.0])
    assert of_rbo["distance"].tolist() == pytest.approx([0.1, 1.0, 1.0])
    assert found[found["measure"] == "MED(base='P')@2"]["distance"].tolist() == [0.0, 1.0, 1.0]
    long = similarity(CONTEXT, measures=["RBO"], perquery=True)
    assert sorted(set(long["query_id"])) == ["1", "2"]
    with pytest.raises(ValueError, match="rrLP needs judgments"):
        similarity(CONTEXT, measures=["RBO", "rrLP"])
    with pytest.raises(ValueError, match="hold no ranking"):
        similarity(RunContext({"a": {}, "b": {}}), measures=["RBO"])


def test_what_asks_for_judgments_refuses() -> None:
    qrels = {"1": {"a": 1}, "2": {"a": 0}}
    for measure in (RBO, RBO @ 3):
        for ask in (
            lambda m: bounds(CONTEXT, qrels, [m]),
            lambda m: verdicts(CONTEXT, qrels, [m]),
            lambda m: judge_next(CONTEXT, qrels, m, 1),
            lambda m: explain(CONTEXT, "two", qrels, m),
        ):
            with pytest.raises(ValueError, match="looks at no judgment"):
                ask(measure)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("RBO(variant='w')", r"RBO: variant='w' is not allowed; it must be one of 'ext', 'min', 'max'"),
        ("RBO(p=1.0)", r"RBO: p=1.0 is not allowed; it must be a number between 0 and 1, both excluded"),
        ("RBO(rel=2)", r"RBO has no parameter 'rel'"),
    ],
)
def test_what_is_not_defined_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ir_measures.parse_measure(text)


PREFERENCES = [rrLP, sgnLP, sgnLR, RPP, RPP(weight="inverse"), RPP(weight="dcg")]
labelled = st.dictionaries(st.sampled_from(random_campaigns.DOCS), st.integers(-1, 3), min_size=1)
rankings = st.lists(st.sampled_from(random_campaigns.DOCS), unique=True)


@pytest.mark.slow
@given(
    random_campaigns.runs,
    random_campaigns.runs,
    random_campaigns.qrels,
    st.none() | random_campaigns.cutoffs,
    st.integers(1, 3),
    st.booleans(),
)
def test_all_preferences_are_the_oracle(
    run: Run, reference: Any, qrels: Labels, k: int | None, rel: int, judged_only: bool
) -> None:
    assume_common(run, qrels)
    params = {"rel": rel, "judged_only": judged_only, "ref": "R"}
    if k is not None:
        params["cutoff"] = k
    with RunContext({"R": reference, "self": run}) as context, context.evaluating("self"):
        got = {m: per_query(m(**params), qrels, run) for m in PREFERENCES}
    for q, labels in qrels.items():
        mine, theirs = (
            recall_positions(trec_order(r.get(q, {})), labels, k, rel, judged_only) for r in (run, reference)
        )
        rrlp = rrlp_oracle(mine, theirs)
        want = [rrlp, (rrlp > 0) - (rrlp < 0), sgnlr_oracle(mine, theirs)]
        want += [rpp_oracle(mine, theirs, w) for w in ("uniform", "inverse", "dcg")]
        assert [got[m][q] for m in PREFERENCES] == pytest.approx(want, abs=1e-12)


def table_of_preferences(measure: Any, labels: dict[str, int], orders: list[list[str]]) -> dict[Any, float]:
    """The preference of every ranking over every other and itself, {(i, j): value}."""
    names = [str(i) for i in range(len(orders))]
    context = RunContext({n: {"q": in_order(o)} for n, o in zip(names, orders, strict=True)})
    frame = context.evaluate({"q": labels}, [measure(ref=n) for n in names])
    return {
        (i, j): frame.iloc[i][str(measure(ref=b))]
        for (i, _), (j, b) in itertools.product(enumerate(names), repeat=2)
    }


def test_the_binary_number_and_the_sign_on_deep_rankings() -> None:
    """As whole numbers the equivalence holds at any depth."""
    generator = random.Random(3)
    for _ in range(40):
        labels = {f"d{i}": int(generator.random() < 0.1) for i in range(200)}
        orders = [generator.sample(sorted(labels), generator.randint(0, 200)) for _ in range(2)]
        mine, theirs = (sum(labels[d] << (200 - i) for i, d in enumerate(o)) for o in orders)
        sign = table_of_preferences(sgnLP, labels, orders)[0, 1]
        assert sign == (1 if mine > theirs else -1 if mine < theirs else 0)
