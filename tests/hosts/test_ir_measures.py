"""ir_measures' door: files given to a measure's own methods; evaluators that travel; names that are misspelt."""

from __future__ import annotations

import copy
import pickle
import pickletools
import re
import subprocess
import sys
from pathlib import Path

import ir_measures
import pandas as pd
import pytest

from ir_measures_relative import (
    MED,
    NRG,
    P_Rareness,
    RunContext,
    UniqueRel,
    demo,
    explain,
    nDCG_UE,
)

QRELS = {"1": {"a": 1, "b": 0, "c": 2}, "2": {"a": 1}}
RUN = {"1": {"a": 1.0, "b": 2.0, "c": 0.5}, "2": {"x": 2.0, "a": 1.0}}
OTHER = {"1": {"b": 2.0, "x": 1.0}, "2": {"a": 1.0}}


# ---- files -----------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A qrels file and a run, in the current folder."""
    (tmp_path / "q.txt").write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, docs in QRELS.items() for d, g in docs.items())
    )
    (tmp_path / "a.run").write_text(
        "".join(f"{q} Q0 {d} 0 {s} tag\n" for q, docs in RUN.items() for d, s in docs.items())
    )
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "measure", [NRG @ 10, UniqueRel @ 10, MED @ 10, P_Rareness @ 10, nDCG_UE @ 10], ids=str
)
@pytest.mark.parametrize("kind", [str, Path])
@pytest.mark.usefixtures("files")
def test_a_measure_takes_paths(measure, kind) -> None:
    qrels, run = kind("q.txt"), kind("a.run")
    with RunContext({"old": OTHER}):
        assert measure.calc_aggregate(qrels, run) == measure.calc_aggregate(QRELS, RUN)
        assert list(measure.iter_calc(qrels, run)) == list(measure.iter_calc(QRELS, RUN))
        assert measure.calc(qrels, run) == measure.calc(QRELS, RUN)
        assert measure.evaluator(qrels).calc_aggregate(run) == measure.evaluator(QRELS).calc_aggregate(RUN)
        assert measure.calc_aggregate(QRELS, run) == measure.calc_aggregate(qrels, RUN)


@pytest.mark.usefixtures("files")
def test_several_relative_measures_take_paths_where_ir_measures_hands_them_on() -> None:
    measures = [NRG @ 10, UniqueRel @ 10]
    with RunContext({"old": OTHER}):
        values = ir_measures.calc_aggregate(measures, Path("q.txt"), "a.run")
        assert values == ir_measures.calc_aggregate(measures, QRELS, RUN)


@pytest.mark.parametrize(
    ("qrels", "run", "message"),
    [("no.txt", "a.run", "no.txt"), ("q.txt", "no.run", "no.run"), ("a.run", "a.run", "a.run")],
)
@pytest.mark.usefixtures("files")
def test_wrong_paths(qrels, run, message) -> None:
    with RunContext({"old": OTHER}), pytest.raises((FileNotFoundError, ValueError), match=message):
        (NRG @ 10).calc_aggregate(qrels, run)


# ---- contexts and evaluators travel ----------------------------------------------------------------------


def copies(value):
    return [pickle.loads(pickle.dumps(value)), copy.deepcopy(value), copy.copy(value)]


def test_contexts_travel_without_pandas() -> None:
    """The columns of a frame are pickled once, as bytes, which any version of pandas, or none, can load."""
    pyarrow = pytest.importorskip("pyarrow")
    pyarrow.table({"a": ["x"]}).to_pandas()  # it asks once for the version of pandas, and keeps the answer
    rows = [(f"q{i % 9}", f"document {i}", float(i)) for i in range(9000)]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    frame["doc_id"] = frame["doc_id"].astype("string[pyarrow]")
    context = RunContext({"one": frame, "two": frame.iloc[::-1].reset_index(drop=True)})
    context.evaluate({"q1": {"document 1": 1}}, [NRG @ 10])
    pickled = pickle.dumps(context)
    assert not [
        a for _, a, _ in pickletools.genops(pickled) if isinstance(a, str) and re.search("pandas|arrow", a)
    ]
    assert pickled.count(b"document 8999") == len(context.names)
    assert (
        pickle.loads(pickled).fingerprint() == copy.deepcopy(context).fingerprint() == context.fingerprint()
    )


def test_a_context_of_a_dataset_travels() -> None:
    context = RunContext.from_irds(demo.register(), name="first stage")
    expected = context.evaluate(None, [nDCG_UE(pool="corpus") @ 10])
    for other in copies(context):
        assert other.num_docs == context.num_docs and other.grades == context.grades
        assert other.evaluate(None, [nDCG_UE(pool="corpus") @ 10]).equals(expected)


def test_a_context_of_a_dataset_that_is_not_known_where_it_arrives(tmp_path) -> None:
    context = RunContext.from_irds(demo.register(), name="first stage")
    (tmp_path / "context").write_bytes(pickle.dumps(context))
    program = (
        "import pickle; from ir_measures_relative import NRG\n"
        f"context = pickle.load(open({str(tmp_path / 'context')!r}, 'rb'))\n"
        "print(context.names, context.num_docs, context.dataset)\n"
        "try: context.evaluate(None, [NRG @ 10])\n"
        "except ValueError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert first == f"['first stage'] {context.num_docs} None"
    assert second.endswith("give the qrels")


# ---- words -----------------------------------------------------------------------------------------------


def test_a_misspelt_measure() -> None:
    with pytest.raises(
        ValueError, match="'NGR@10': no measure is called 'NGR'; the nearest is 'NRG', that is NRG@10"
    ):
        RunContext({"old": OTHER}).evaluate(QRELS, ["NGR@10"])
    with pytest.raises(ValueError, match="no measure is given"):
        RunContext({"old": OTHER}).evaluate(QRELS, [])


def test_a_reference_that_is_a_run() -> None:
    with pytest.raises(ValueError, match="reference is a dict; give the name of a run of the context"):
        RunContext({"old": OTHER}, reference=RUN)


def test_parameters_that_do_not_go_together_are_refused_when_the_measure_is_used() -> None:
    """Not when it is made: a measure is made in steps, such as NRG(rel=2)(base='P')@10."""
    assert str(NRG(rel=2)(base="P") @ 10) == "NRG(rel=2,base='P')@10"
    wrong = NRG(rel=2) @ 10
    message = "rel goes with base"
    context = RunContext({"old": OTHER})
    with pytest.raises(ValueError, match=message):
        context.evaluate(QRELS, [wrong])
    with context, pytest.raises(ValueError, match=message):
        ir_measures.evaluator([wrong], QRELS)


def test_an_explanation_of_a_new_run() -> None:
    context = RunContext({"old": OTHER})
    rows = explain(context, RUN, QRELS, "NRG@10", query_id="1")
    assert rows["doc_id"].tolist() == ["b", "a", "c"]
    with context:
        value = {m.query_id: m.value for m in (NRG @ 10).iter_calc(QRELS, RUN)}["1"]
    assert rows["contribution"].sum() == pytest.approx(value, abs=1e-15)
