"""A warning names the line of the user's that it is about, whichever way that line leads here; and comes once."""

import importlib.util
import linecache
import re
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import P, nDCG

from ir_measures_relative import (
    NRG,
    RelativeWarning,
    RunContext,
    UniqueRel,
    explain,
    nDCG_UE,
    rrLP,
    select_complementary,
    verdicts,
)
from ir_measures_relative.context.evaluate import Scores, describe_dominant_topics
from ir_measures_relative.data.arrays import object_array

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
    with warnings.catch_warnings(record=True, action="always") as caught:
        # ir_measures' own measure strings, from Python 3.12 on
        warnings.filterwarnings("ignore", category=DeprecationWarning, module="ir_measures[.]util")
        yield caught


@pytest.mark.parametrize(
    "runs", [AN_EMPTY_PRIOR, {"same": RUN, "old": OTHER}], ids=["when made", "when scoring"]
)
def test_every_function_of_ir_measures(caught, runs) -> None:
    with RunContext(runs):
        for score in (
            lambda: ir_measures.calc_aggregate([NRG @ 10], QRELS, RUN),  # here
            lambda: ir_measures.calc([NRG @ 10, nDCG @ 10], QRELS, RUN),  # here
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
        lambda: select_complementary(context, QRELS, 2, missing="zero"),  # here
    ):
        use()
        once(caught)
        caught.clear()


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
    with warnings.catch_warnings(record=True, action="default") as caught:
        for _ in range(3):
            with RunContext(AN_EMPTY_PRIOR):
                ir_measures.calc_aggregate([NRG @ 10, nDCG @ 10], QRELS, RUN)  # here
    once(caught)


TREE = {"plan": "tree", "verbose": False}
OPTIONS = [{}, {"batch_size": 1}, TREE, TREE | {"batch_size": 1}]


@pytest.fixture
def campaign():
    """Two systems that differ."""
    pytest.importorskip("pyterrier", reason="pyterrier is not installed")
    from experiments import Campaign, judged, ranked, topics_of

    return Campaign(topics_of("q", "r"), judged(QRELS), ranked({"a": RUN, "b": OTHER}))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_experiment(campaign, caught, options) -> None:
    pt, (topics, qrels, _) = pytest.importorskip("pyterrier"), campaign
    systems = campaign.pipelines()
    with RunContext({"same": RUN, "none": {}}):
        pt.Experiment(systems, topics, qrels, [NRG @ 10, nDCG @ 10], validate="ignore", **options)  # here
    ours = sorted((w for w in caught if w.category is RelativeWarning), key=lambda w: str(w.message))
    assert [str(w.message)[:12] for w in ours] == ["run 'none' h", "the evaluate"]  # whatever the batches
    for warning in ours:
        once([warning])


def test_grid_scan(campaign, caught) -> None:
    pt, (topics, qrels, frames) = pytest.importorskip("pyterrier"), campaign
    system = pt.Transformer.from_df(frames["a"]) % 5
    with RunContext(AN_EMPTY_PRIOR):
        pt.GridScan(system, {system[-1]: {"k": [5]}}, topics, qrels, [NRG @ 10])  # here
    once(caught)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_relative_experiment(campaign, caught, options) -> None:
    pt, (topics, qrels, _) = pytest.importorskip("pyterrier"), campaign
    system = {"a": campaign.pipelines()["a"]}
    pt.relative.Experiment(system, topics, qrels, [NRG @ 10, nDCG @ 10], **options)  # here
    assert "holds no run but 'a'" in str(caught[0].message)
    once(caught)


def test_files_that_are_there_and_pipelines_without_results(campaign, caught, tmp_path) -> None:
    pt, (topics, qrels, frames) = pytest.importorskip("pyterrier"), campaign
    (tmp_path / "a.res.gz").write_bytes(b"")
    pt.relative.Experiment(frames, topics, qrels, [NRG @ 10], save_dir=str(tmp_path))  # here
    once(caught)
    caught.clear()
    RunContext.from_pipelines({"a": frames["a"], "b": frames["a"].head(0)}, topics)  # here
    assert "pipeline 'b' gave no result" in str(caught[0].message)
    once(caught)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_topics_without_results_are_no_empty_run(campaign, caught, options) -> None:
    """PyTerrier scores the judged topics that it was not asked for as an empty frame, in batches."""
    fewer = campaign._replace(topics=campaign.topics.head(1))
    with RunContext({"old": {"q": {"a": 1.0}}}):
        fewer.plain([NRG @ 10], filter_by_topics=False, validate="ignore", **options)
    assert [str(w.message) for w in caught if w.category is RelativeWarning] == []


def scores(values: Any, measure: Any = UniqueRel @ 2) -> Scores:
    values = np.array(values, dtype=np.float64)
    names, queries = [f"r{i}" for i in range(len(values))], [f"q{i}" for i in range(values.shape[1])]
    return Scores(names, [measure], object_array(queries), values[:, None, :])


@pytest.mark.parametrize(
    ("values", "measure", "said"),
    [
        ([[3] + [1] * 9], UniqueRel @ 2, None),  # a quarter
        ([[3.1] + [1] * 9], UniqueRel @ 2, r"26 % of the mean UniqueRel@2 of 'r0' over 10 topics comes from"),
        ([[9] + [1] * 8], UniqueRel @ 2, None),  # nine topics
        ([[9] + [1] * 9], P @ 10, None),  # not relative
        ([[9] + [1] * 9, [-0.1] * 10], rrLP, None),  # no share of what can be below 0
        ([[9] + [1] * 8 + [np.nan]], NRG @ 10, None),
        ([[0] * 10], NRG @ 10, None),
        ([[4] + [0] * 9, [2] * 10], UniqueRel @ 2, None),  # hardly adds anything
        ([[5] + [0] * 9, [2] * 10], UniqueRel @ 2, r"100 % of the mean UniqueRel@2 of 'r0'"),
        ([[9] + [1] * 9, [1] * 10, [4] + [1] * 9], NRG @ 10, r"'r0' .* mean of 2 of 3 runs by NRG@10;"),
    ],
)
def test_one_topic(values: Any, measure: Any, said: str | None) -> None:
    found = describe_dominant_topics(scores(values, measure))
    assert found is None if said is None else re.search(said, found or "")


@pytest.mark.parametrize("options", [{}, {"batch_size": 5}], ids=str)
def test_experiments_warn_of_one_topic_in_means(caught, options: dict[str, Any]) -> None:
    pytest.importorskip("pyterrier", reason="pyterrier is not installed")
    from experiments import Campaign, judged, ranked, topics_of

    topics = [f"t{i}" for i in range(12)]
    # One finds a document of its own on five topics, two on one topic alone.
    one = {t: {"B" if i < 5 else "X": 2.0, "Y": 1.0} for i, t in enumerate(topics)}
    two = {t: {"A": 2.0, "B": 1.0} if i == 7 else {"Z": 2.0} for i, t in enumerate(topics)}
    qrels = judged({t: {"A": 1, "B": 1} for t in topics})
    campaign = Campaign(topics_of(*topics), qrels, ranked({"one": one, "two": two}))
    campaign.relative([UniqueRel @ 2, P @ 2], validate="ignore", **options)
    (ours,) = (w for w in caught if w.category is RelativeWarning)
    assert "100 % of the mean UniqueRel@2 of 'two' over 12 topics" in str(ours.message)
    caught.clear()
    campaign.relative([UniqueRel @ 2], validate="ignore", perquery=True)
    assert not [w for w in caught if w.category is RelativeWarning]


IDS = r"under 1% of the documents .* are in any run, .*: for query 'q0' (the )?run.* has \['v2-0', .*, the qrels have \['d0', "
JUDGED = {f"q{q}": {f"d{i}": i % 2 for i in range(30)} for q in range(4)}


def strange(prefix: str = "v2-", known: int = 0, depth: int = 30) -> dict[str, Any]:
    """Two runs, of which the second holds some judged documents, behind all others."""
    one = {q: {f"{prefix}{i}": -float(i) for i in range(depth)} for q in JUDGED}
    behind = {f"{prefix}0": -1.5} | {f"d{i}": -100.0 - i for i in range(known)}
    return {"one": one, "two": {q: docs | behind for q, docs in one.items()}}


def test_strange_ids_are_told_of_once(caught) -> None:
    context = RunContext(strange())
    table = context.evaluate(JUDGED, [NRG @ 10, nDCG @ 10])
    assert (table[["NRG@10", "nDCG@10"]] == 0).all(axis=None)
    with context:
        ir_measures.calc_aggregate([NRG @ 10], JUDGED, {"q0": {"d1": 1.0}})
    with RunContext({}):
        assert (nDCG_UE @ 10).calc_aggregate(JUDGED, strange()["one"]) == -1.0
    assert [bool(re.search(IDS, str(w.message))) for w in caught] == [True] * 3


NO_JUDGED = (
    r"run 'one'.* ranks? no judged document: for query 'q0' run 'one' has \['v2-0', .*, the qrels have \['d0'"
)


@pytest.mark.parametrize(("known", "message"), [(0, IDS), (1, IDS), (2, NO_JUDGED)])  # 2 of 200 are 1 %
def test_one_in_a_hundred_at_any_depth_is_enough(caught, known: int, message: str) -> None:
    many = {q: {f"d{i}": 1 for i in range(n)} for q, n in zip(JUDGED, (200, 200, 0, 0), strict=True)}
    runs = {n: {q: run[q] for q in ("q0", "q1")} for n, run in strange(known=known, depth=300).items()}
    for qrels in (many, many | {"not held by a run": {"d0": 1}}):
        caught.clear()
        RunContext(runs).evaluate(qrels, [NRG @ 10])
        assert [bool(re.search(message, str(w.message))) for w in caught] == [True]


NO_RELEVANT = "no documents are judged relevant, so measures are 0"
BOTH = NO_JUDGED.replace(".* ranks?", ", run 'two' rank")


@pytest.mark.parametrize(
    ("given", "qrels", "messages"),
    [
        (strange(depth=2), JUDGED, [BOTH]),
        (strange(), {"q0": {f"d{i}": 1 for i in range(19)}}, [BOTH]),
        (strange(known=1), {q: {f"d{i}": 1 for i in range(500)} for q in JUDGED}, [NO_JUDGED]),  # short
        (strange(), {q: dict.fromkeys(docs, 0) for q, docs in JUDGED.items()}, [NO_RELEVANT, BOTH]),
        (strange("d"), JUDGED, []),
        (strange("d"), {"q0": {"d0": 0}, "q1": {"d1": -1}}, [NO_RELEVANT]),
    ],
)
@pytest.mark.parametrize("by_host", [False, True])
def test_few_documents_may_be_others(caught, by_host: bool, given, qrels, messages: list[str]) -> None:
    """A warning of a kind at most, of all runs that it is about, whatever is asked and however."""
    context = RunContext(given)
    with context:
        if by_host:
            ir_measures.calc_aggregate([NRG @ 10, UniqueRel @ 5], qrels, given["two"] | {"q0": {"d0": 1.0}})
        else:
            context.evaluate(qrels, [NRG @ 10, UniqueRel @ 5, nDCG @ 10])
    said = [str(w.message) for w in caught]
    assert [bool(re.search(m, s)) for m, s in zip(messages, said, strict=True)] == [True] * len(messages), (
        said
    )


def test_an_id_that_no_measure_reads_is_not_read_here(caught) -> None:
    docs = [f"v2-{i}" for i in range(50)] + [None]
    context = RunContext({"one": pd.DataFrame({"query_id": "q0", "doc_id": docs, "score": range(51, 0, -1)})})
    context.evaluate(JUDGED, [NRG @ 10])
    assert not any("under 1%" in str(w.message) for w in caught)


def test_a_warning_from_a_cached_property_names_the_users_line(caught) -> None:
    context = RunContext({"run": RUN, "other": OTHER})
    verdicts(context, QRELS, [nDCG @ 2])  # here
    once(caught)
