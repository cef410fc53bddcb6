"""Relative measures in LensKit's evaluation, of both kinds of collectors that its versions have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

data = pytest.importorskip("lenskit.data", reason="LensKit is not installed")
from lenskit.data import ItemList, ItemListCollection  # noqa: E402
from lenskit.metrics import MeasurementCollector, RecipRank  # noqa: E402

from ir_measures_relative import RunContext  # noqa: E402
from ir_measures_relative.lenskit import RelativeCollector, RelativeMetric, measure_pairs  # noqa: E402
from kinds import QRELS, RUNS  # noqa: E402

MEASURES = ["NRG@10", "UniqueRel@3", "P_Rareness@5", "rrLP", "sgnLR", "RPP", "RBO@10"]


def lists(run: Any, key: str = "user_id") -> Any:
    found = {
        q: ItemList(item_ids=list(docs), scores=np.array(list(docs.values())), ordered=True)
        for q, docs in run.items()
    }
    return ItemListCollection.from_dict(found, key=key)


#: As LensKit ranks: by the order of the list.
IN_ORDER = {
    name: {q: {d: -float(i) for i, d in enumerate(docs)} for q, docs in run.items()}
    for name, run in RUNS.items()
}
#: A split's test items are those that somebody consumed.
CONSUMED = {q: {d: 1 for d, r in docs.items() if r} for q, docs in QRELS.items()}
TEST = ItemListCollection.from_dict(
    {q: ItemList(item_ids=list(d)) for q, d in CONSUMED.items()}, key="user_id"
)


def measured(collector: Any, run: Any, test: Any) -> pd.DataFrame:
    """The values of each list, by the way that this version of LensKit has."""
    if hasattr(collector, "measure_run"):
        return collector.measure_run(run, test).list_metrics
    for key, output in run:
        collector.measure_list(
            output, test.lookup_projected(key), **dict(zip(run.key_fields, key, strict=True))
        )
    return collector.list_metrics()


@pytest.mark.parametrize("name", RUNS)
def test_the_values_are_those_of_a_context(name: str) -> None:
    others = {other: run for other, run in RUNS.items() if other != name}
    collector = RelativeCollector()
    for measure in MEASURES:
        collector.add_metric(
            RelativeMetric(measure, {n: lists(r) for n, r in others.items()}, reference=next(iter(others)))
        )
    collector.add_metric(RecipRank)
    found = measured(collector, lists(RUNS[name]), TEST)
    assert len(found) == len(RUNS[name]) and "RecipRank" in found
    context = RunContext({n: IN_ORDER[n] for n in (name, *others)}, reference=next(iter(others)))
    values = context.evaluate(CONSUMED, MEASURES, perquery=True)
    expected = values[values["name"] == name].pivot(index="query_id", columns="measure", values="value")
    for query in RUNS[name]:
        assert found.loc[query, MEASURES].tolist() == expected.loc[query, MEASURES].tolist()


def test_ids_that_are_numbers_and_ratings() -> None:
    old = ItemListCollection.from_dict({7: ItemList(item_ids=[10, 11], ordered=True)}, key="user_id")
    new = ItemListCollection.from_dict({7: ItemList(item_ids=[11, 10], ordered=True)}, key="user_id")
    test = ItemListCollection.from_dict({7: ItemList(item_ids=[11, 10], rating=[5.0, 0.0])}, key="user_id")
    collector = RelativeCollector()
    collector.add_metric(RelativeMetric("rrLP", {"old": old}))
    with pytest.warns(UserWarning, match="ratings count as relevance labels"):
        assert measured(collector, new, test)["rrLP"].tolist() == [0.5]


def test_empty_lists_and_no_test_items() -> None:
    collector = RelativeCollector()
    collector.add_metric(RelativeMetric("rrLP", {"old": lists(RUNS["bm25-base"])}))
    add = collector.add_list_measurement
    add(ItemList(item_ids=[], ordered=True), ItemList(item_ids=["d-1"]), user_id="q-1")
    add(ItemList(item_ids=["d-1"], ordered=True), ItemList(item_ids=["d-1"]), user_id="unknown")
    add(ItemList(item_ids=["d-1"], ordered=True), ItemList(item_ids=[]), user_id="q-1")
    found = collector.list_metrics()["rrLP"].tolist()
    assert found[:2] == [-1.0, 1.0] and (
        np.isnan(found[2]) or found[2] == 0
    )  # which 2025 fills with the default


def test_what_is_wrong_is_said() -> None:
    metric = RelativeMetric("rrLP", {"old": lists(RUNS["bm25-base"])})
    plain = MeasurementCollector()
    plain.add_metric(metric)
    with pytest.raises(ValueError, match="rrLP must know whose list it is; add it to a RelativeCollector"):
        measured(plain, lists(RUNS["rerank.v2"]), TEST)
    collector = RelativeCollector()
    collector.add_metric(metric)
    add = collector.add_list_measurement
    with pytest.raises(ValueError, match=r"the keys of the list are \['fold'\], and not \['user_id'\]"):
        add(ItemList(item_ids=["a"], ordered=True), ItemList(item_ids=["a"]), fold=1)
    with pytest.raises(ValueError, match="nDCG@10 is relative to nothing; give LensKit's own"):
        RelativeMetric("nDCG@10", {})
    with pytest.raises(ValueError, match="nDCG@10 is relative to nothing"):
        measure_pairs({"a": RUNS["bm25-base"], "b": RUNS["dense_ü"]}, QRELS, ["nDCG@10"])
    with pytest.raises(ValueError, match="two by two; give at least two, not 1"):
        measure_pairs({"a": RUNS["bm25-base"]}, QRELS, ["rrLP"])
    with pytest.raises(ValueError, match="reference='c' is not a run of the context"):
        measure_pairs({"a": RUNS["bm25-base"], "b": RUNS["dense_ü"]}, QRELS, ["rrLP"], reference="c")


@pytest.mark.parametrize("reference", [None, "dense_ü"])
def test_pairs(reference: str | None) -> None:
    values = measure_pairs({n: lists(r) for n, r in RUNS.items()}, TEST, MEASURES, reference=reference)
    means = values.groupby(level=["run", "reference"]).mean()
    pairs = [(a, b) for a in RUNS for b in RUNS if a != b and reference in (None, b)]
    assert list(values.index.droplevel(2).unique()) == pairs and list(values) == MEASURES
    assert values.index.names == ["run", "reference", "list"] and len(values) == 3 * len(pairs)
    for run, other in pairs:
        pair = RunContext({run: IN_ORDER[run], other: IN_ORDER[other]}, reference=other)
        expected = pair.evaluate(CONSUMED, MEASURES).set_index("name").loc[run]
        for measure in MEASURES:
            assert means.loc[(run, other), measure] == pytest.approx(expected[measure], abs=1e-15)
    if reference is None:  # preferences are antisymmetric
        swapped = values.swaplevel(0, 1).reindex(values.index)
        for measure in ("rrLP", "sgnLR", "RPP"):
            assert (values[measure] == -swapped[measure]).all()
