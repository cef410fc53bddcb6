"""ir_measures' door: paths, evaluators that travel; and messages: who writes what one says gets an answer."""

import copy
import pickle
import pickletools
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
import pytest

import ir_measures_relative as package
from command_line import error
from ir_measures_relative import MED, NRG, P_Rareness, RunContext, UniqueRel, demo, nDCG_UE, rrLP
from ir_measures_relative.messages import brief, few, kind_of, not_an_id
from ir_measures_relative.writing import markdown_text

QRELS = {"1": {"a": 1, "b": 0, "c": 2}, "2": {"a": 1}}
RUN = {"1": {"a": 1.0, "b": 2.0, "c": 0.5}, "2": {"x": 2.0, "a": 1.0}}
OTHER = {"1": {"b": 2.0, "x": 1.0}, "2": {"a": 1.0}}


@pytest.fixture
def files(tmp_path, monkeypatch) -> None:
    """A qrels file and a run, in the current folder."""
    for name, row, given in (("q.txt", "{} 0 {} {}\n", QRELS), ("a.run", "{} Q0 {} 0 {} tag\n", RUN)):
        (tmp_path / name).write_text(
            "".join(row.format(q, d, v) for q, docs in given.items() for d, v in docs.items())
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
        expected = measure.calc(QRELS, RUN)
        assert measure.calc(qrels, run) == expected
        assert list(measure.iter_calc(qrels, run)) == list(measure.iter_calc(QRELS, RUN))
        assert measure.evaluator(qrels).calc_aggregate(run) == measure.evaluator(QRELS).calc_aggregate(RUN)
        assert measure.calc_aggregate(QRELS, run) == measure.calc_aggregate(qrels, RUN) == expected.aggregated
        several = [measure, UniqueRel @ 5]
        assert ir_measures.calc_aggregate(several, Path("q.txt"), "a.run")[measure] == expected.aggregated


@pytest.mark.parametrize(
    ("qrels", "run", "message"),
    [("no.txt", "a.run", "no.txt"), ("q.txt", "no.run", "no.run"), ("a.run", "a.run", "a.run")],
)
@pytest.mark.usefixtures("files")
def test_wrong_paths(qrels, run, message) -> None:
    with RunContext({"old": OTHER}), pytest.raises((FileNotFoundError, ValueError), match=message):
        (NRG @ 10).calc_aggregate(qrels, run)


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
    texts = [text for _, text, _ in pickletools.genops(pickled) if isinstance(text, str)]
    assert not [text for text in texts if re.search("pandas|arrow", text)]
    assert pickled.count(b"document 8999") == len(context.names)
    for again in (pickle.loads(pickled), copy.deepcopy(context)):
        assert again.fingerprint() == context.fingerprint()


def test_a_context_of_a_dataset_travels(tmp_path) -> None:
    context = RunContext.from_irds(demo.register(), name="first stage")
    expected = context.evaluate(None, [nDCG_UE(pool="corpus") @ 10])
    pickled = pickle.dumps(context)
    for other in (pickle.loads(pickled), copy.deepcopy(context), copy.copy(context)):
        assert other.num_docs == context.num_docs and other.grades == context.grades
        assert other.evaluate(None, [nDCG_UE(pool="corpus") @ 10]).equals(expected)
    (tmp_path / "context").write_bytes(pickled)
    where_it_is_not_known = (
        "import pickle; from ir_measures_relative import NRG\n"
        f"context = pickle.load(open({str(tmp_path / 'context')!r}, 'rb'))\n"
        "print(context.names, context.num_docs, context.dataset)\n"
        "try: context.evaluate(None, [NRG @ 10])\n"
        "except ValueError as error: print(error)\n"
    )
    program = [sys.executable, "-c", where_it_is_not_known]
    first, second = subprocess.run(program, capture_output=True, text=True, check=True).stdout.splitlines()
    assert first == f"['first stage'] {context.num_docs} None" and second.endswith("give qrels")


RELATIVE = {
    "priors": ["NRG@5", "UniqueRel@5", "TaSC"],
    "systems": ["P_Rareness@5", "AP_Rareness@5", "Shapley@5"],
    "reference": ["MED@5", "MED(base='AP')@5", "RBO", "rrLP", "sgnLP", "sgnLR", "RPP"],
    "chance": ["nDCG_UE(pool='corpus')@5", "UE(base='RR',pool='corpus')@5"],
}
MEASURES = [(kind, text) for kind, texts in RELATIVE.items() for text in texts]


def said_of(measure: Any) -> str:
    with pytest.raises(ValueError, match=re.escape(str(measure))) as raised:
        measure.calc_aggregate(QRELS, RUN)
    return str(raised.value)


@pytest.mark.parametrize(("kind", "text"), MEASURES)
def test_the_context_that_a_message_names_is_one(kind: str, text: str) -> None:
    measure = ir_measures.parse_measure(text)
    assert kind == measure.RELATIVE_TO
    written = re.search(r"with (RunContext\(.*\)):", said_of(measure))
    with eval(written[1], {"RunContext": RunContext, "bm25_run": OTHER}):
        assert measure.calc_aggregate(QRELS, RUN) == pytest.approx(0, abs=10)


@pytest.mark.parametrize("measure", [NRG @ 5, P_Rareness @ 5, rrLP], ids=str)
def test_the_experiment_that_a_message_names_is_one(measure) -> None:
    pytest.importorskip("pyterrier", reason="pyterrier is not installed")
    from experiments import Given, judged, pt, ranked, topics_of

    written = re.search(r"pt\.relative\.Experiment\(.*\)", said_of(measure))
    bm25, mine = map(Given, ranked({"bm25": OTHER, "mine": RUN}).values())
    names = {"pt": pt, "bm25": bm25, "mine": mine, "pipelines": {"one": bm25, "two": mine}}
    found = eval(written[0], {**vars(package), **names, "topics": topics_of(*QRELS), "qrels": judged(QRELS)})
    assert len(found) == 2 and str(measure) in found.columns


@pytest.mark.parametrize("text", ["NRG(norm=ideal)@5", "NRG(base=RBP, p=0.5)", "NRG(prior=a*,norm=ideal)@5"])
def test_words_without_quotation_marks(text: str) -> None:
    context = RunContext({"a": RUN, "b": OTHER})
    with pytest.raises(ValueError, match=r"words need quotation marks, such as") as raised:
        context.evaluate(QRELS, [text])
    said = re.search(r"such as (.*); in a shell", str(raised.value))
    assert len(context.evaluate(QRELS, [said[1]])) == 2


def test_run_and_qrels_the_wrong_way_round(tmp_path: Path) -> None:
    given, frames = {"q1": {"a": 0.5}}, []
    for value, of in (("score", given), ("label", QRELS)):
        rows = [(q, d, v) for q, docs in of.items() for d, v in docs.items()]
        frames.append(pd.DataFrame(rows, columns=["qid", "docno", value]))
    with RunContext({"a": OTHER}):
        for run, qrels in ((given, {"q1": {"a": 1}}), (frames[0], frames[1].assign(qid="q1"))):
            with pytest.raises(ValueError, match="if it is a run, give the qrels first and then the run"):
                (NRG @ 5).calc_aggregate(run, qrels)
    run, qrels = tmp_path / "run.txt", tmp_path / "qrels.txt"
    run.write_text("q1 Q0 a 1 0.5 t\n")
    qrels.write_text("q1 0 a 1\n")
    assert "looks like a run: the qrels come first, then the run" in error("score", run, qrels, "nDCG@5")
    assert "looks like judgments: the qrels come first" in error("score", qrels, qrels, "nDCG@5")
    assert "the commands are worth, " in error("frobnicate")
    said = error("score", qrels, run, "nDCG@5", "--at_least", "0.1")
    unknown = "--at_least" if sys.version_info >= (3, 14) else "--at_least 0.1"
    assert f"unrecognized arguments: {unknown}; see" in said and "--to" not in said
    assert "did you mean --num_docs?" in error("score", qrels, run, "nDCG@5", "--num-docs", "7")


def test_measures_and_parameters_that_are_none() -> None:
    context = RunContext({"old": OTHER})
    said = "'NGR@10': no measure is called 'NGR'; the nearest is 'NRG', that is NRG@10"
    for measures, message in ((["NGR@10"], said), ([], "no measure is given")):
        with pytest.raises(ValueError, match=message):
            context.evaluate(QRELS, measures)
    with pytest.raises(ValueError, match="reference=.* is not a run of the context"):
        RunContext({"old": OTHER}, reference=RUN)  # type: ignore[arg-type]
    # A measure is made in steps: parameters that do not go together are refused when it is used.
    assert str(NRG(rel=2)(base="P") @ 10) == "NRG(rel=2,base='P')@10"
    with pytest.raises(ValueError, match="rel goes with base"):
        context.evaluate(QRELS, [NRG(rel=2) @ 10])
    with context, pytest.raises(ValueError, match="rel goes with base"):
        ir_measures.evaluator([NRG(rel=2) @ 10], QRELS)


def test_words_of_messages() -> None:
    assert [kind_of(7), kind_of({}), kind_of(None)] == ["an int", "a dict", "a NoneType"]
    assert brief("x") == "'x'" and len(brief("x" * 10**6)) == 122
    assert few("abc") == "a, b, c" and few(["a", "b"], most=1) == "a and 1 more"
    assert not_an_id(7, "query", "the run").startswith(
        "query id 7 is an int; query ids must be strings, as in"
    )
    assert markdown_text("a|b <img> @me\t") == r"a\|b \<img\> @<!-- -->me\\t"
