"""explain(): rows that sum to the score, document by document."""

import warnings
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from drawn import examples
from ir_measures_relative import NRG, RunContext, explain
from ir_measures_relative.context.priors import BestOfOtherGroups
from oracles.rankings import only_judged
from random_campaigns import Labels, Run, contexts, qrels
from scored import assume_common, ranking

EXPLAINED = [
    *("NRG@3", "NRG", "NRG(gains={0:1,1:2})@3", "NRG(base='P')@3", "NRG(base='RR')@5", "NRG(base='RBP')"),
    *("NRG(judged_only=True)@3", "UniqueRel@3", "UniqueRel(rel=2,judged_only=True)@3", "P_Rareness@3"),
    *(
        "AP_Rareness(bounded=True,alpha=0.5)@5",
        "AP_Rareness(judged_only=True)",
        "Shapley@3",
        "NRG(base='ERR')@3",
    ),
    *("Shapley(base='nDCG',judged_only=True)", "Shapley(base='RBP')@5"),
]


@pytest.mark.slow
@pytest.mark.parametrize("measure", EXPLAINED)
@examples(8)
@given(context=contexts, labels=qrels, data=st.data())
def test_contributions_sum_to_the_score(
    measure: Any, context: dict[str, Run], labels: Labels, data: st.DataObject
) -> None:
    """And a topic alone has the rows that it has among all, whatever the priors are."""
    assume(context)
    for run in context.values():
        assume_common(run, labels)
    names = list(context)
    policies = ["others", "earlier", names[:2], BestOfOtherGroups("nDCG@3")]
    groups = {name: name[:1] + str(i % 2) for i, name in enumerate(names)}
    chosen, name = data.draw(st.sampled_from(policies)), data.draw(st.sampled_from(names))
    members, with_policy = RunContext(context), RunContext(context, priors=chosen, groups=groups)
    run = data.draw(st.sampled_from([name, context[name]]))  # a member, or a new run that ranks as it does
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        table, whole = explain(members, name, labels, measure), explain(with_policy, run, labels, measure)
        scores = members.evaluate(labels, [measure], perquery=True)
        parts = {query: explain(with_policy, run, labels, measure, query_id=query) for query in labels}
    scores = scores[scores["name"] == name].set_index("query_id")["value"]
    parsed = ir_measures.parse_measure(measure)
    for query in labels:
        expected = whole[whole["query_id"] == query].reset_index(drop=True)
        pd.testing.assert_frame_equal(parts[query], expected, check_exact=True)
        rows = table[table["query_id"] == query]
        assert rows["contribution"].sum() == pytest.approx(scores[query], abs=1e-12)
        docs = ranking(context[name], query)
        if parsed.get("judged_only"):
            docs = only_judged(docs, labels[query])
        assert rows["doc_id"].tolist() == docs[: parsed.get("cutoff")]
        assert rows["position"].tolist() == list(range(1, len(rows) + 1))
        assert known(rows["relevance"]) == [labels[query].get(doc) for doc in docs[: len(rows)]]
        for other in set(context) - {name}:
            prior = ranking(context[other], query)
            if parsed.get("judged_only"):
                prior = only_judged(prior, labels[query])
            top = prior[: parsed.get("cutoff")]
            positions = [top.index(d) + 1 if d in top else None for d in rows["doc_id"]]
            assert known(rows[f"position in {other}"]) == positions


def known(column: pd.Series) -> list[Any]:
    """The values, and None for NA."""
    return column.astype(object).where(column.notna(), None).tolist()


def test_explain_one_query_of_table_1() -> None:
    runs = {
        n: {"q": {d: -i for i, d in enumerate(r)}}
        for n, r in {"R1": "ABCDEFGHIJ", "R2": "EDCBAFGHIJ"}.items()
    }
    table = explain(
        RunContext(runs), "R1", {"q": dict.fromkeys("AEFJ", 1), "p": {"A": 1}}, NRG @ 10, query_id="q"
    )
    columns = ["query_id", "doc_id", "relevance", "position", "position in R2", "gain", "contribution"]
    assert list(table.columns) == columns
    row = table.set_index("doc_id").loc["A"]
    assert (row["position"], row["position in R2"]) == (1, 5)
    assert row["gain"] == pytest.approx(1 - 1 / np.log2(6))
    assert table["contribution"].sum() == pytest.approx(0.7361, abs=5e-5)


def test_explain_bad_input() -> None:
    context = RunContext({"a": {"q": {"A": 1.0}}, "b": {"q": {"B": 1.0}}})
    labels = {"q": {"A": 1}}
    with pytest.raises(ValueError, match=r"explain\('c'\): the context holds no such run"):
        explain(context, "c", labels)
    with pytest.raises(ValueError, match="query_id='z' is not in the qrels"):
        explain(context, "a", labels, query_id="z")
    with pytest.raises(ValueError, match="is not relative to other runs"):
        explain(context, "a", labels, "nDCG@10")
    with pytest.raises(ValueError, match="is not a sum over documents"):
        explain(context, "a", labels, "rrLP(ref='b')")
    other = RunContext({"a": {"q": {"A": 1.0}}, "b": {"z": {"A": 1.0}}})
    with pytest.raises(ValueError, match="run 'b' has no query in common with the qrels"):
        explain(other, "a", labels)
