"""Lexiprecision, lexirecall, recall-paired preference: against the plain oracle, and the laws they keep."""

import itertools
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import random_campaigns
from ir_measures_relative import RPP, RunContext, rrLP, sgnLP, sgnLR
from oracles.lexiprecision import recall_positions, rpp_oracle, rrlp_oracle, sgnlr_oracle
from oracles.rankings import trec_order
from random_campaigns import Labels, Run
from scored import assume_common, in_order, per_query

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
def test_all_are_the_oracle(
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
