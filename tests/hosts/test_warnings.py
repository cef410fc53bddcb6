"""A warning names the line of the user's that it is about, whichever way that line leads here; and comes once."""

from __future__ import annotations

import importlib.util
import linecache
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import ir_measures
import pandas as pd
import pytest
from ir_measures import nDCG

from ir_measures_relative import NRG, RelativeWarning, RunContext, explain, select_complementary

QRELS = {"q": {"a": 1, "b": 0}, "r": {"a": 1}}
RUN = {"q": {"a": 1.0, "b": 2.0}, "r": {"a": 1.0}}
OTHER = {"q": {"b": 2.0, "x": 1.0}, "r": {"x": 1.0}}
AN_EMPTY_PRIOR = {"old": OTHER, "none": {}}


def once(caught: list[warnings.WarningMessage], filename: str = __file__) -> None:
    """One warning, of our category, at a line that is marked."""
    assert len(caught) == 1, [str(w.message) for w in caught]
    (warning,) = caught
    assert warning.category is RelativeWarning
    assert warning.filename == filename
    assert "# here" in linecache.getline(warning.filename, warning.lineno)


@pytest.fixture
def caught():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # ir_measures' own measure strings, from Python 3.12 on
        warnings.filterwarnings("ignore", category=DeprecationWarning, module="ir_measures[.]util")
        yield caught


@pytest.mark.parametrize("measures", [[NRG @ 10], [NRG @ 10, nDCG @ 10]], ids=str)
@pytest.mark.parametrize(
    "runs", [AN_EMPTY_PRIOR, {"same": RUN, "old": OTHER}], ids=["when made", "when scoring"]
)
def test_ir_measures(caught, runs, measures) -> None:
    with RunContext(runs):
        ir_measures.calc_aggregate(measures, QRELS, RUN)  # here
    once(caught)


@pytest.mark.parametrize(
    "runs", [AN_EMPTY_PRIOR, {"same": RUN, "old": OTHER}], ids=["when made", "when scoring"]
)
def test_every_function_of_ir_measures(caught, runs) -> None:
    with RunContext(runs):
        for score in (
            lambda: ir_measures.calc([NRG @ 10], QRELS, RUN),  # here
            lambda: list(ir_measures.iter_calc([NRG @ 10], QRELS, RUN)),  # here
            lambda: pd.DataFrame(ir_measures.iter_calc([NRG @ 10], QRELS, RUN)),  # here
            lambda: (NRG @ 10).calc_aggregate(QRELS, RUN),  # here
            lambda: list((NRG @ 10).iter_calc(QRELS, RUN)),  # here
            lambda: (NRG @ 10).evaluator(QRELS).calc_aggregate(RUN),  # here
            lambda: ir_measures.DefaultPipeline.evaluator([NRG @ 10, nDCG], QRELS).calc(RUN),  # here
        ):
            score()
            once(caught)
            caught.clear()


def test_functions_of_the_package(caught) -> None:
    context = RunContext(AN_EMPTY_PRIOR)
    for use in (
        lambda: context.evaluate(QRELS, [NRG @ 10, nDCG @ 10]),  # here
        lambda: explain(context, "old", QRELS),  # here
        lambda: explain(context, RUN, QRELS),  # here
        lambda: select_complementary(context, QRELS, 2),  # here
    ):
        use()
        once(caught)
        caught.clear()


@pytest.mark.parametrize(
    "qrels", [{}, [], pd.DataFrame(columns=["query_id", "doc_id", "relevance"])], ids=type
)
def test_empty_qrels_are_answered_as_by_ir_measures_own_measures(caught, qrels) -> None:
    with RunContext({"old": OTHER}):
        values = ir_measures.calc_aggregate([NRG @ 10, nDCG @ 10], qrels, RUN)  # here
    assert values[NRG @ 10] != values[NRG @ 10] and values[nDCG @ 10] != values[nDCG @ 10]  # NaN
    assert "the qrels hold no judgment" in str(caught[0].message)
    once(caught)


@pytest.mark.parametrize(
    "run", [{}, [], {"q": {}}, pd.DataFrame(columns=["query_id", "doc_id", "score"])], ids=type
)
def test_an_empty_run(caught, run) -> None:
    with RunContext({"old": OTHER}):
        value = ir_measures.calc_aggregate([NRG @ 10], QRELS, run)[NRG @ 10]  # here
    assert value == 0
    assert "the run holds no ranking" in str(caught[0].message)
    once(caught)


def test_a_module_of_the_users(caught, tmp_path) -> None:
    file = tmp_path / "ir_measures_of_mine.py"
    file.write_text(
        "import ir_measures\n"
        "def score(context, measure, qrels, run):\n"
        "    with context:\n"
        "        return ir_measures.calc_aggregate([measure], qrels, run)  # here\n"
    )
    spec = importlib.util.spec_from_file_location("ir_measures_of_mine", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.score(RunContext(AN_EMPTY_PRIOR), NRG @ 10, QRELS, RUN)
    once(caught, str(file))


def test_a_thread(caught) -> None:
    context = RunContext(AN_EMPTY_PRIOR)

    def score() -> None:
        context.evaluate(QRELS, [NRG @ 10])  # here

    thread = threading.Thread(target=score)
    thread.start()
    thread.join()
    once(caught)
    caught.clear()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(context.evaluate, QRELS, [NRG @ 10]).result()  # no line of the user's at all
    assert [w.category for w in caught] == [RelativeWarning]


def test_a_line_that_runs_often_warns_once() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            with RunContext(AN_EMPTY_PRIOR):
                ir_measures.calc_aggregate([NRG @ 10, nDCG @ 10], QRELS, RUN)  # here
    once(caught)


# ---- PyTerrier -------------------------------------------------------------------------------------------


@pytest.fixture
def experiment():
    """Topics, qrels, and two systems that differ."""
    pt = pytest.importorskip("pyterrier", reason="pyterrier is not installed")
    topics = pd.DataFrame({"qid": ["q", "r"], "query": "x"})
    qrels = pd.DataFrame(
        [(q, d, g) for q, docs in QRELS.items() for d, g in docs.items()], columns=["qid", "docno", "label"]
    )
    systems = []
    for run in (RUN, OTHER):
        rows = [(q, d, s) for q, docs in run.items() for d, s in docs.items()]
        systems.append(pt.model.add_ranks(pd.DataFrame(rows, columns=["qid", "docno", "score"])))
    return pt, topics, qrels, systems


OPTIONS = [
    {},
    {"batch_size": 1},
    {"plan": "tree", "verbose": False},
    {"plan": "tree", "verbose": False, "batch_size": 1},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_experiment(experiment, caught, options) -> None:
    pt, topics, qrels, frames = experiment
    systems = [pt.Transformer.from_df(frame) for frame in frames]
    options = options | {"names": ["a", "b"], "validate": "ignore"}
    with RunContext({"same": RUN, "none": {}}):
        pt.Experiment(systems, topics, qrels, [NRG @ 10, nDCG @ 10], **options)  # here
    ours = sorted((w for w in caught if w.category is RelativeWarning), key=lambda w: str(w.message))
    assert [str(w.message)[:12] for w in ours] == ["run 'none' h", "the evaluate"]  # whatever the batches
    for warning in ours:
        once([warning])


def test_grid_scan(experiment, caught) -> None:
    pt, topics, qrels, frames = experiment

    class Cut(pt.Transformer):
        depth = 5

        def transform(self, inp):
            return frames[0][frames[0]["qid"].isin(inp["qid"]) & (frames[0]["rank"] < self.depth)]

    cut = Cut()
    with RunContext(AN_EMPTY_PRIOR):
        pt.GridScan(cut, {cut: {"depth": [5]}}, topics, qrels, [NRG @ 10])  # here
    once(caught)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_relative_experiment(experiment, caught, options) -> None:
    pt, topics, qrels, frames = experiment
    system = {"one": pt.Transformer.from_df(frames[0])}
    pt.relative.Experiment(system, topics, qrels, [NRG @ 10, nDCG @ 10], **options)  # here
    assert "holds no run but 'one'" in str(caught[0].message)
    once(caught)


def test_relative_experiment_with_files_that_are_there(experiment, caught, tmp_path) -> None:
    pt, topics, qrels, frames = experiment
    (tmp_path / "a.res.gz").write_bytes(b"")
    systems = dict(zip("ab", frames, strict=True))
    pt.relative.Experiment(systems, topics, qrels, [NRG @ 10], save_dir=str(tmp_path))  # here
    once(caught)


def test_from_pipelines(experiment, caught) -> None:
    _, topics, _, frames = experiment
    RunContext.from_pipelines({"a": frames[0], "b": frames[0].head(0)}, topics)  # here
    assert "pipeline 'b' gave no result" in str(caught[0].message)
    once(caught)


def test_topics_without_results_are_no_empty_run(experiment, caught) -> None:
    """PyTerrier scores the judged topics that it was not asked for as an empty frame, in batches."""
    pt, topics, qrels, frames = experiment
    systems = [pt.Transformer.from_df(frame) for frame in frames]
    for options in OPTIONS:
        with RunContext({"old": {"q": {"z": 1.0}}}):
            pt.Experiment(
                systems,
                topics.head(1),
                qrels,
                [NRG @ 10],
                filter_by_topics=False,
                validate="ignore",
                **options,
            )
    assert [str(w.message) for w in caught if w.category is RelativeWarning] == []
