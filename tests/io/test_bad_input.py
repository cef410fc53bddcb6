"""Bad input gets a message that names the run, query, measure or argument, and says what to do."""

import os
import re
import warnings
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import ScoredDoc, nDCG

from ir_measures_relative import NRG, RunContext
from ir_measures_relative.context.priors import BestOfOtherGroups

QRELS = {"301": {"d1": 1, "d2": 0}}
RUN = {"301": {"d1": 2.0, "d2": 1.0}}


def frame(*rows, columns=("query_id", "doc_id", "score")) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=list(columns))


TWICE = frame(("301", "d1", 3.0), ("301", "d2", 2.0), ("301", "d1", 1.0))
BAD_RUNS = {
    "duplicate": (TWICE, r"query '301' lists document 'd1' more than once.*drop the duplicates"),
    "duplicate far apart": (
        frame(*[("301", f"x{i}", -float(i)) for i in range(5000)], ("301", "x0", -0.5)),
        "lists document 'x0' more than once",
    ),
    "duplicate across batches of rows": (
        frame(("301", "d1", 3.0), ("302", "d1", 2.0), ("301", "d1", 1.0)),
        "query '301' lists document 'd1' more than once",
    ),
    "NaN": (frame(("301", "d1", float("nan"))), r"query '301', document 'd1' has the score nan"),
    "infinite": (frame(("301", "d1", np.inf)), "has the score inf"),
    "None as score": ({"301": {"d1": None}}, "has the score None, a NoneType; scores must be numbers"),
    "string scores": (frame(("301", "d1", "2.5")), "has the score '2.5', a str; scores must be numbers"),
    "no score column": (frame(("301", "d1"), columns=("query_id", "doc_id")), r"no column 'score'"),
    "no columns at all": (pd.DataFrame(), "no column 'query_id'"),
    "int query ids": (frame((301, "d1", 1.0)), "query id 301 is an int; query ids must be strings"),
    "int document ids": (frame(("301", 7, 1.0)), "query '301': document id 7 is an int"),
    "missing document id": (frame(("301", None, 1.0)), "document id None is a missing value"),
    "flat dict": ({"301": 1.0}, r"query '301' holds a float"),
    "dict of lists": ({"301": ["d1", "d2"]}, "query '301' holds a list"),
    "tuples": ([("301", "d1", 1.0)], "whose item 0 is a tuple is not a run; give a dict"),
    "other queries": ({"999": {"d1": 1.0}}, r"no query in common with the qrels: the run has \['999'\]"),
    "text score in ScoredDoc": ([ScoredDoc("301", "d1", "high")], "has the score 'high'"),
}


@pytest.mark.parametrize("name", BAD_RUNS)
def test_bad_runs(name) -> None:
    """The evaluated one, and one of the context."""
    run, message = BAD_RUNS[name]
    with RunContext({}), pytest.raises(ValueError, match=message):
        ir_measures.calc_aggregate([NRG @ 10_000], QRELS, run)
    with pytest.raises(ValueError, match=f"(?s)run 'BM25'.*{message}"):
        RunContext({"BM25": run, "other": RUN}).evaluate(QRELS, [NRG @ 10_000])


@pytest.mark.parametrize("run", [3, None, object()])
def test_no_run_at_all(run) -> None:
    with pytest.raises(TypeError, match="run 'BM25': an? .* is not a run; give a dict"):
        RunContext({"BM25": run})


BAD_QRELS = {
    "ints": ({301: {"d1": 1}}, "the qrels: query id 301 is an int; query ids must be strings"),
    "int frame": (frame((301, "d1", 1), columns=("query_id", "doc_id", "relevance")), "query id 301 is an"),
    "int document ids": ({"301": {1: 1}}, "the qrels: document id 1 is an int"),
    "text label": ({"301": {"d1": "1"}}, "query '301', document 'd1' has the relevance '1'"),
    "half label": ({"301": {"d1": 0.5}}, "has the relevance 0.5"),
    "NaN label": (frame(("301", "d1", np.nan), columns=("qid", "docno", "label")), "has the relevance"),
    "no label": (frame(("301", "d1"), columns=("qid", "docno")), r"no column 'relevance' \(or 'label'\)"),
    "flat": ({"301": 1}, r"query '301' holds an int"),
    "tuples": ([("301", "d1", 1)], "the qrels: .*; give a dict"),
    "a number": (3, "the qrels: .*; give a dict"),
}


@pytest.mark.parametrize("name", BAD_QRELS)
def test_bad_qrels(name) -> None:
    qrels, message = BAD_QRELS[name]
    with RunContext({}), pytest.raises(ValueError, match=message):
        ir_measures.providers.registry["relative"].calc_aggregate([NRG @ 10], qrels, RUN)
    with pytest.raises(ValueError, match=message):
        RunContext({"r": RUN}).evaluate(qrels, [NRG @ 10])


@pytest.mark.parametrize("empty", [frame(columns=("query_id", "doc_id", "relevance")), {}, []])
def test_empty_qrels_are_nan_as_for_ir_measures_own(empty) -> None:
    """PyTerrier makes such frames of batches."""
    with RunContext({}), pytest.warns(UserWarning, match="the qrels hold no judgment"):
        assert np.isnan((NRG @ 10).calc_aggregate(empty, RUN))
    with pytest.raises(ValueError, match="the qrels hold no judgment"):
        RunContext({"r": RUN}).evaluate(empty, [NRG @ 10])


def test_contradicting_labels_warn_and_the_last_counts() -> None:
    labels = frame(("q", "a", 0), ("q", "b", 1), ("q", "a", 2), columns=("query_id", "doc_id", "relevance"))
    run = {"q": {"a": 2.0, "b": 1.0}}
    with RunContext({}):
        with pytest.warns(UserWarning, match="have 1 .query, document. pair.s. twice .* query 'q'"):
            value = (NRG @ 10).calc_aggregate(labels, run)
        assert value == pytest.approx((nDCG @ 10).calc_aggregate(labels, run), abs=1e-12)
        same = pd.concat([labels.iloc[1:], labels.iloc[1:]])
        with warnings.catch_warnings(action="error"):
            assert (NRG @ 10).calc_aggregate(same, run) == pytest.approx(1.0)


BAD_MEASURES = {
    "NRG(base='foo')@10": r"NRG: base='foo' is not allowed; it must be one of 'ERR', 'nDCG', 'P', 'RBP', 'RR', 'SDCG'",
    "NRG(base='P')": r"NRG\(base='P'\) needs a cutoff: write NRG\(base='P'\)@10",
    "NRG(bass='P')@10": "NRG has no parameter 'bass'; did you mean 'base'",
    "NRG(base='RBP',p=1)": "p=1 is not allowed; it must be a number between 0 and 1",
    "NRG(prior='')@10": "prior='' is not allowed; it must be names or globs",
    "NRG@2.5": "cutoff=2.5 is not allowed",
    "P_Rareness": r"P_Rareness needs cutoff, a whole number of at least 1 and below 2\^31: write P_Rareness@10",
    "P_Rareness(alpha=1.5,bounded=True)@10": "alpha=1.5 is not allowed with bounded=True; it must be a number from 0",
}


@pytest.mark.parametrize("measure", BAD_MEASURES)
def test_bad_parameters(measure) -> None:
    with RunContext({}), pytest.raises(ValueError, match=BAD_MEASURES[measure]):
        ir_measures.calc_aggregate([ir_measures.parse_measure(measure)], QRELS, RUN)
    with pytest.raises(ValueError, match=BAD_MEASURES[measure]):
        RunContext({"r": RUN}).evaluate(QRELS, [measure])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"priors": "other"}, "priors='other' is not a policy; give 'others', 'earlier'"),
        ({"priors": 3}, "priors=3 is not a policy"),
        ({"priors": ["BM52"]}, r"priors names \['BM52'\], which the context does not hold"),
        ({"priors": {"BM25": ["x"]}}, r"priors\['BM25'\] names \['x'\]"),
        ({"priors": {"BM25": "BM25"}}, r"must be a list of run names, such as \['BM25'\]"),
        ({"priors": BestOfOtherGroups()}, r"needs the group of every run; groups= lacks \['BM25'\]"),
        ({"groups": {"x": "g"}}, r"groups names \['x'\]"),
        ({"reference": "x"}, r"reference='x' is not a run of the context; its runs are \['BM25'\]"),
        ({"num_docs": 0}, "num_docs=0 is not allowed"),
        *(({"num_docs": n}, f"num_docs={n} is not allowed") for n in (2.5, 2**53)),
    ],
)
def test_bad_contexts(options, message) -> None:
    with pytest.raises(ValueError, match=message):
        RunContext({"BM25": RUN}, **options)


def test_bad_run_names() -> None:
    with pytest.raises(TypeError, match="runs is a list; give a dict"):
        RunContext([RUN])
    for name in (3, ""):
        with pytest.raises(ValueError, match=f"the run name {name!r} is (not a string|empty)"):
            RunContext({name: RUN})
    with (
        pytest.raises(ValueError, match=r"evaluating\('x'\): the context holds no such run"),
        RunContext({}).evaluating("x"),
    ):
        pass


TREC_NAMES = {
    "ndcg_cut.10": "trec_eval's is nDCG@10",
    "ndcg_cut_10": "trec_eval's is nDCG@10",
    "P.5": "trec_eval's is P@5",
    "P_5,10": "trec_eval's are P@5, P@10",
    "set_F.0.5": "trec_eval's is SetF(beta=0.5)",
    "iprec_at_recall.0.1": "trec_eval's is IPrec@0.1",
    "official": "trec_eval's are P@5, P@10, P@15",
    "gm_map": "trec_eval's is one that ir_measures does not compute",
    "relstring.10": "trec_eval's is one that ir_measures does not compute",
    "nDCG.10": "a cutoff follows @, such as nDCG@10",
    "rrLP.x": "a cutoff follows @, such as rrLP@10",
}


@pytest.mark.parametrize("name", TREC_NAMES)
def test_the_spellings_of_trec_eval_are_answered_by_those_of_ir_measures(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(repr(name))}: .*{re.escape(TREC_NAMES[name])}"):
        RunContext({"r": RUN}).evaluate(QRELS, [name])
    assert capsys.readouterr() == ("", "")  # in which ir_measures says what it does not have


@pytest.mark.parametrize(
    ("measures", "example"),
    [
        ("nDCG@3 NRG@3", "['nDCG@3', 'NRG@3']"),
        ("nDCG@3, NRG(p=0.5, base='RBP')@3", "['nDCG@3', \"NRG(p=0.5, base='RBP')@3\"]"),
        ("ndcg_cut.3,5 map", "['nDCG@3', 'nDCG@5', 'AP']"),
        (NRG @ 3, "[NRG@3]"),
        ("no measure", "['NRG@10']"),
        (None, "['NRG@10']"),
    ],
)
def test_what_is_no_list_of_measures_is_answered_by_one_that_works(measures: Any, example: str) -> None:
    pt = pytest.importorskip("pyterrier", reason="pyterrier is not installed")
    with pytest.raises(ValueError, match=re.escape(f"must be a list, such as {example}")):
        RunContext({"r": RUN}).evaluate(QRELS, measures)
    with pytest.raises(ValueError, match=re.escape(f"must be a list, such as {example}")):
        pt.relative.Experiment([], None, None, measures)


def test_missing_files(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match="run 'BM25' .*nowhere.run.*: no such file"):
        RunContext({"BM25": tmp_path / "nowhere.run"})
    with pytest.raises(FileNotFoundError, match="no such file or folder, and no file matches it as a glob"):
        RunContext.from_files(tmp_path / "*.run")
    with pytest.raises(FileNotFoundError, match="the folder holds no file of a run"):
        RunContext.from_files(tmp_path)
    with pytest.raises(FileNotFoundError, match="no run file is given"):
        RunContext.from_files([])
    with pytest.raises(IsADirectoryError, match=r"is a folder; give a file"):
        RunContext({"BM25": tmp_path})
    if os.path.exists("/dev/zero"):
        with pytest.raises(ValueError, match=r"is a device; give a regular file or a pipe"):
            RunContext({"BM25": "/dev/zero"})


@pytest.mark.parametrize("text", ["", " \n\n", "{}", '{"301": {}}', "# nothing\n", "qid,docno,score\n"])
def test_a_file_without_a_ranking(text: str, tmp_path) -> None:
    """A job that failed may have written it; what a pipeline returned may be empty."""
    path = tmp_path / "empty.run"
    path.write_text(text)
    with pytest.raises(
        ValueError, match=r"run 'empty' .*holds no ranking; check the job that wrote it, or pass {}"
    ):
        RunContext({"empty": path})
    with pytest.raises(ValueError, match=r"empty\.run holds no ranking; .*set allow_empty=True"):
        RunContext.from_files(tmp_path)
    allowed = RunContext.from_files(tmp_path, allow_empty=True)
    for context in (allowed, RunContext({"empty": {}}), RunContext({"empty": frame().iloc[:0]})):
        with context:
            assert (NRG @ 10).calc_aggregate(QRELS, RUN) == pytest.approx(1.0)


@pytest.mark.filterwarnings("ignore:the context holds no run but")
def test_judgments_given_more_than_once_count_once() -> None:
    rows = [("q", "A", 1), ("q", "B", 0), ("q", "C", 0), ("q", "D", 1)]
    again = [rows[0], rows[1], rows[1], rows[1], *rows[2:]]
    columns = ("query_id", "doc_id", "relevance")
    run = {"q": {"B": 2.0, "A": 1.0, "C": 0.5}}
    measures = ["nDCG_UE@2", "AP_UE@2", "AP_UE(expected='exact')@2", "NRG(judged_only=True)@2"]
    context = RunContext({"r": run}, priors=[])
    once, twice = (context.evaluate(frame(*r, columns=columns), measures) for r in (rows, again))
    pd.testing.assert_frame_equal(once, twice, check_exact=True)
    clash = frame(("q", "A", 1), ("q", "B", -1), ("q", "B", 0), columns=columns)
    with RunContext({}), pytest.warns(UserWarning, match="query 'q', document 'B'; the last label counts"):
        assert (NRG(judged_only=True) @ 2).calc_aggregate(clash, run) == pytest.approx(0.6309, abs=5e-5)


def test_a_prior_for_other_topics_draws_a_warning() -> None:
    other = {"1": {"d1": 1.0}, "2": {"d1": 1.0}}
    with (
        RunContext({"BM25": other}),
        pytest.warns(
            UserWarning,
            match=r"run 'BM25' of the context has no query in common with the qrels: run 'BM25' has \['1', '2'\]",
        ),
    ):
        (NRG @ 10).calc_aggregate(QRELS, RUN)
    # the judged query of this batch is not the prior's, but it is one of the campaign's
    with (
        RunContext({"a": {"300": {"d1": 1.0}}, "b": {"300": {"d1": 1.0}, "301": {"d1": 1.0}}}),
        warnings.catch_warnings(action="error"),
    ):
        (NRG @ 10).calc_aggregate(QRELS, RUN)


@pytest.mark.parametrize("label", [10**400, 2**63, 2**31, 1e19, -(2**40), b"1"])
def test_labels_out_of_range(label) -> None:
    with RunContext({}), pytest.raises(ValueError, match="query '301', document 'd2' has the relevance"):
        (NRG @ 10).calc_aggregate({"301": {"d1": 1, "d2": label}}, RUN)


LABELLED = {"q": {"A": 1}}


@pytest.mark.parametrize("dtype", [object, str])
def test_a_nul_in_an_id_is_refused(dtype: type) -> None:
    rows = pd.DataFrame({"query_id": ["q", "q"], "doc_id": ["A", "A\0"], "score": [1.0, 1.0]})
    run = rows.astype({"query_id": dtype, "doc_id": dtype})
    with pytest.raises(ValueError, match=r"run 'a': query 'q': document id 'A\\x00' is a string with a NUL"):
        RunContext({"a": run, "b": {"q": {"A": 1.0}}}).evaluate(LABELLED, [NRG @ 10])
    with pytest.raises(ValueError, match=r"document id 'A\\x00' is a string with a NUL"):
        RunContext({"a": {"q": {"A": 1.0}}, "b": {}}).evaluate({"q": {"A": 1, "A\0": 1}}, [NRG @ 10])


def test_one_column_under_two_names_may_have_two_dtypes() -> None:
    run = pd.DataFrame({"query_id": ["q"], "doc_id": ["A"], "score": [1.0]})
    both = run.assign(qid=run["query_id"].astype("category"), docno=run["doc_id"].astype(object))
    table = RunContext({"a": both, "b": run}).evaluate(LABELLED, [NRG @ 10])
    assert table["NRG@10"].tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="'query_id' and 'qid' differ"):
        RunContext({"a": run.assign(qid="r"), "b": run})
