"""Messages that say what to write: who writes that gets an answer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
import pytest

import ir_measures_relative as package
from command_line import error
from ir_measures_relative import RunContext

QRELS = {"q1": {"a": 1, "b": 0, "c": 1}, "q2": {"d": 1}}
NEW = {"q1": {"a": 2.0, "c": 1.0}, "q2": {"d": 1.0}}
BM25 = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"e": 2.0, "d": 1.0}}
RELATIVE = {
    "priors": ["NRG@5", "UniqueRel@5", "TaSC", "FusionGain"],
    "systems": ["P_Rareness@5", "AP_Rareness@5", "Shapley@5"],
    "reference": ["MED@5", "MED(base='AP')@5", "RBO", "RBA", "rrLP", "sgnLP", "sgnLR", "RPP"],
    "chance": ["nDCG_UE(pool='corpus')@5", "UE(base='RR',pool='corpus')@5"],
}
MEASURES = [(kind, text) for kind, texts in RELATIVE.items() for text in texts]


def message_of(measure: Any) -> str:
    with pytest.raises(ValueError, match=re.escape(str(measure))) as raised:
        measure.calc_aggregate(QRELS, NEW)
    return str(raised.value)


@pytest.mark.parametrize(("kind", "text"), MEASURES)
def test_the_context_that_a_message_names_is_one(kind: str, text: str) -> None:
    measure = ir_measures.parse_measure(text)
    assert kind == measure.RELATIVE_TO
    written = re.search(r"with (RunContext\(.*\)):", message_of(measure))
    assert written is not None
    with eval(written[1], {"RunContext": RunContext, "bm25_run": BM25}):
        assert measure.calc_aggregate(QRELS, NEW) == pytest.approx(0, abs=10)


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, text in MEASURES if kind != "chance"])
def test_the_experiment_that_a_message_names_is_one(kind: str, text: str) -> None:
    pt = pytest.importorskip("pyterrier", reason="pyterrier is not installed")
    written = re.search(r"pt\.relative\.Experiment\(.*\)", message_of(ir_measures.parse_measure(text)))
    assert written is not None

    def pipeline(run: Any) -> Any:
        rows = [(q, d, s, i) for q, docs in run.items() for i, (d, s) in enumerate(docs.items())]
        return pt.Transformer.from_df(pd.DataFrame(rows, columns=["qid", "docno", "score", "rank"]))

    labels = [(q, d, g) for q, docs in QRELS.items() for d, g in docs.items()]
    names = {
        "pt": pt,
        "bm25": pipeline(BM25),
        "mine": pipeline(NEW),
        "pipelines": [pipeline(BM25), pipeline(NEW)],
        "topics": pd.DataFrame({"qid": list(QRELS), "query": "x"}),
        "qrels": pd.DataFrame(labels, columns=["qid", "docno", "label"]),
    }
    found = eval(written[0], {**vars(package), **names})
    assert len(found) == 2 and text.replace("'", '"') in {str(c).replace("'", '"') for c in found.columns}


def test_arguments_by_almost_their_names() -> None:
    with pytest.raises(TypeError, match="RunContext has no argument 'prior'; did you mean 'priors'"):
        RunContext({"a": NEW}, prior="others")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="RunContext has no argument 'xyz'; its arguments are runs, priors"):
        RunContext({"a": NEW}, xyz=1)  # type: ignore[arg-type]


def test_measures_in_one_string() -> None:
    context = RunContext({"a": NEW, "b": BM25})
    with pytest.raises(ValueError, match=r"such as (.*)") as raised:
        context.evaluate(QRELS, "nDCG@5 NRG(norm='ideal')@5")  # type: ignore[arg-type]
    listed = eval(str(raised.value).partition("such as ")[2])
    assert list(context.evaluate(QRELS, listed).columns) == ["name", "nDCG@5", "NRG(norm='ideal')@5"]


@pytest.mark.parametrize("text", ["NRG(norm=ideal)@5", "NRG(base=RBP, p=0.5)", "NRG(prior=a*,norm=ideal)@5"])
def test_words_without_quotation_marks(text: str) -> None:
    context = RunContext({"a": NEW, "b": BM25})
    with pytest.raises(ValueError, match=r"words need quotation marks, such as") as raised:
        context.evaluate(QRELS, [text])
    said = re.search(r"such as (.*); in a shell", str(raised.value))
    assert said is not None
    assert len(context.evaluate(QRELS, [said[1]])) == 2


def test_run_and_qrels_the_wrong_way_round() -> None:
    frames = [
        pd.DataFrame([(q, d, v) for q, of in given.items() for d, v in of.items()])
        for given in ({"q1": {"a": 0.5}}, QRELS)
    ]
    run, qrels = (
        frames[0].set_axis(["qid", "docno", "score"], axis=1),
        frames[1].set_axis(["qid", "docno", "label"], axis=1),
    )
    with RunContext({"a": BM25}):
        for first, second in (({"q1": {"a": 0.5}}, QRELS), (run, qrels)):
            with pytest.raises(ValueError, match="if it is a run, give the qrels first and then the run"):
                (package.NRG @ 5).calc_aggregate(first, second)
            (package.NRG @ 5).calc_aggregate(second, first)


def test_files_the_wrong_way_round(tmp_path: Path) -> None:
    run, qrels = tmp_path / "run.txt", tmp_path / "qrels.txt"
    run.write_text("q1 Q0 a 1 0.5 t\n")
    qrels.write_text("q1 0 a 1\n")
    assert "looks like a run: the qrels come first, then the run" in error("score", run, qrels, "nDCG@5")
    assert "looks like judgments: the qrels come first" in error("score", qrels, qrels, "nDCG@5")


def test_what_no_command_is(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text("q1 Q0 a 1 0.5 t\n")
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\n")
    files = tmp_path / "qrels.txt", tmp_path / "run.txt"
    assert "the commands are worth, " in error("frobnicate")
    assert "did you mean worth?" in error("wroth", *files)
    said = error("score", *files, "nDCG@5", "--at_least", "0.1")
    assert "unrecognized arguments: --at_least 0.1; see" in said and "--to" not in said
    assert "did you mean --num_docs?" in error("score", *files, "nDCG@5", "--num-docs", "7")
