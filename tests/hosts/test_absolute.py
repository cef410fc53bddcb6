"""``RunContext(…, absolute=True)``: the host's own table, from this package's positions."""

from __future__ import annotations

import ir_datasets
import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import AP, RR, Judged, P, nDCG

from ir_measures_relative import RunContext, demo
from ir_measures_relative.context.view import View

MEASURES = [nDCG @ 10, AP(rel=2), P @ 5, RR, RR @ 10, Judged @ 10, nDCG(dcg="exp-log2") @ 10]


@pytest.fixture
def computed(monkeypatch) -> list[object]:
    """What the package computes."""
    seen: list[object] = []
    absolute = View.absolute

    def counting(view, measures, *rest, **options):
        seen.extend(measures)
        return absolute(view, measures, *rest, **options)

    monkeypatch.setattr(View, "absolute", counting)
    return seen


def campaign() -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    runs = {n: run.assign(score=run["score"].round(1)) for n, run in list(demo.runs().items())[:3]}
    qrels = pd.DataFrame(ir_datasets.load(demo.register()).qrels_iter())
    return runs, qrels[["query_id", "doc_id", "relevance"]]


@pytest.mark.parametrize("ids", ["str", "object"])
def test_equal_to_the_host(computed, ids) -> None:
    runs, qrels = campaign()
    qrels = qrels.astype({"query_id": ids, "doc_id": ids})
    name, run = next(iter(runs.items()))
    measures = MEASURES[:-1]
    expected = ir_measures.calc(measures, qrels, run)
    assert not computed
    with RunContext(runs, absolute=True):
        found = ir_measures.calc(measures, qrels, run.astype({"query_id": ids, "doc_id": ids}))
        dicts = ir_measures.calc_aggregate(
            measures, ir_measures.util.QrelsConverter(qrels).as_dict_of_dict(), run
        )
    assert {*computed} == {nDCG @ 10, AP(rel=2), P @ 5, RR}
    assert found.aggregated == dicts == expected.aggregated and name
    assert sorted(map(str, found.per_query)) == sorted(map(str, expected.per_query))


def test_only_where_it_is_asked_for(computed) -> None:
    runs, qrels = campaign()
    run = next(iter(runs.values()))
    with RunContext(runs):
        (nDCG @ 10).calc_aggregate(qrels, run)
    with RunContext(runs, absolute=True):
        with RunContext(runs):
            (nDCG @ 10).calc_aggregate(qrels, run)
        assert not computed
        ir_measures.pytrec_eval.calc_aggregate([nDCG @ 10], qrels, run)
    (nDCG @ 10).calc_aggregate(qrels, run)
    assert not computed


@pytest.mark.parametrize("change", ["twice", "nan", "labels"])
def test_what_this_package_refuses_is_the_hosts(change) -> None:
    runs, qrels = campaign()
    run = next(iter(runs.values()))
    if change == "twice":
        run = pd.concat([run, run.head(3).assign(score=-1.0)])
    elif change == "nan":
        run = run.assign(score=run["score"].mask(run.index == 5, np.inf))
    else:
        qrels = qrels.assign(query_id=qrels["query_id"].astype(object).mask(qrels.index == 0, 7))
    measures = [nDCG @ 10, AP]
    expected = ir_measures.calc_aggregate(measures, qrels, run) if change != "labels" else None
    with RunContext(runs, absolute=True):
        if expected is not None:
            assert ir_measures.calc_aggregate(measures, qrels, run) == expected
        else:
            with pytest.raises(TypeError):  # pytrec_eval's
                ir_measures.calc_aggregate(measures, qrels, run)
