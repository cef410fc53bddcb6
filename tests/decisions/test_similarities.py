"""Every two runs of a context: the table, its values, several processes."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from ir_measures import nDCG

from ir_measures_relative import MED, RelativeWarning, RunContext, UniqueRel, rrLP, similarity
from ir_measures_relative.decisions.similarity import inner_range

GENERATOR = np.random.default_rng(20)


def campaign(n_runs: int = 5, n_queries: int = 6, depth: int = 12) -> tuple[RunContext, pd.DataFrame]:
    runs = {}
    for i in range(n_runs):
        rows = []
        for q in range(n_queries):
            docs = GENERATOR.permutation(40)[:depth]
            rows += [(f"q{q}", f"d{d}", float(depth - p)) for p, d in enumerate(docs)]
        runs[f"run {i}"] = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    judged = [
        (f"q{q}", f"d{d}", int(GENERATOR.integers(0, 3)))
        for q in range(n_queries)
        for d in GENERATOR.permutation(40)[:15]
    ]
    return RunContext(runs), pd.DataFrame(judged, columns=["query_id", "doc_id", "relevance"])


def test_values_are_those_of_evaluate_with_each_run_for_reference() -> None:
    context, qrels = campaign()
    measures = [MED @ 10, rrLP]
    found = similarity(context, qrels, measures, perquery=True)
    assert len(found) == 10 * 6 * 2
    for other in context.names:
        expected = context.evaluate(qrels, [m(ref=other) for m in measures], perquery=True)
        bare = {str(m(ref=other)): str(m) for m in measures}
        expected["measure"] = expected["measure"].map(bare)
        both = found[found["other"] == other].merge(expected, on=["name", "query_id", "measure"])
        assert len(both) == (found["other"] == other).sum()
        assert (both["value_x"] == both["value_y"]).all()


def test_means_and_distances() -> None:
    context, qrels = campaign()
    table = similarity(context, qrels, ["rrLP"])
    long = similarity(context, qrels, ["rrLP"], perquery=True)
    for row in table.itertuples():
        values = long[(long["name"] == row.name) & (long["other"] == row.other)]["value"]
        assert row.value == pytest.approx(values.mean(), abs=1e-15)
        assert row.distance == pytest.approx(values.abs().mean(), abs=1e-15)
    assert (table["distance"] > table["value"].abs() + 0.01).any()


@pytest.mark.parametrize("measure", ["MED(base='AP')@10", "rrLP"])
def test_several_processes_give_the_same_values(measure: str) -> None:
    pytest.importorskip("joblib")
    context, qrels = campaign()
    one = similarity(context, qrels, [measure], perquery=True)
    pd.testing.assert_frame_equal(
        one, similarity(context, qrels, [measure], perquery=True, jobs=2), check_exact=True
    )


def test_several_processes_warn_once_of_what_each_of_them_would() -> None:
    pytest.importorskip("joblib")
    context, qrels = campaign(n_runs=3, n_queries=3, depth=30)
    hard = "MED(base='AP',judged=False,time_limit=0.000001)@30"
    with pytest.warns(RelativeWarning, match="not enough for"):
        similarity(context, qrels, [hard], jobs=2)


def test_a_script_without_a_main_guard_may_use_several_processes(tmp_path) -> None:
    pytest.importorskip("joblib")
    script = tmp_path / "pairs.py"
    script.write_text(
        "from ir_measures_relative import RunContext, similarity\n"
        "run = lambda ranking: {'q': {d: -float(i) for i, d in enumerate(ranking)}}\n"
        "context = RunContext({'a': run('ABC'), 'b': run('BAC'), 'c': run('CDE')})\n"
        "print(similarity(context, {'q': {'A': 1}}, ['rrLP'], jobs=2)['value'].tolist())\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[0.5, 1.0, 0.5]\n", "")


@pytest.mark.parametrize("jobs", [0, -2, 1.5, True, "two", None])
def test_no_number_of_processes(jobs: object) -> None:
    context, qrels = campaign()
    with pytest.raises(ValueError, match=r"jobs=.* is not allowed"):
        similarity(context, qrels, jobs=jobs)  # type: ignore[arg-type]


@pytest.mark.parametrize("measure", [nDCG @ 10, UniqueRel @ 10])
def test_measures_that_compare_no_two_runs(measure: object) -> None:
    context, qrels = campaign()
    with pytest.raises(ValueError, match="does not compare two runs; use one of"):
        similarity(context, qrels, [measure])  # type: ignore[list-item]


def test_one_run() -> None:
    context, qrels = campaign(n_runs=1)
    with pytest.raises(ValueError, match="give it two runs or more"):
        similarity(context, qrels)


def test_a_scale_of_colours_where_all_but_one_are_equal_holds_all() -> None:
    assert inner_range(np.array([0.4] * 9 + [0.9])) == (0.0, 0.9, "neither")
    assert inner_range(np.array([0.4, 0.5, 0.6, 0.5, 0.4, 9.0])) == (0.4, 0.6, "max")


def test_a_scale_of_colours_has_values_below_0_where_they_are() -> None:
    values = np.array([-0.5, -0.3, 0.1, 0.2])
    assert inner_range(values) == (-0.5, 0.2, "neither")
    assert inner_range(values, signed=True) == (-0.5, 0.5, "neither")
