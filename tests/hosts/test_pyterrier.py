"""pt.Experiment inside a context, with each of its options: the numbers are the same in all of them."""

from __future__ import annotations

import inspect
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from ir_measures import nDCG

import ir_measures_relative
from ir_measures_relative import NRG, AP_Rareness, P_Rareness, RunContext, UniqueRel

pt = pytest.importorskip("pyterrier", reason="pyterrier is not installed")

MEASURES = [nDCG @ 10, NRG @ 10, P_Rareness @ 10, AP_Rareness @ 20, UniqueRel @ 5]
NAMES = ["one", "two", "three"]


@pytest.fixture(scope="module")
def campaign():
    """Topics with and without judgments, judgments without topics, and three runs that lack some queries."""
    rng = np.random.default_rng(7)
    docs = [f"d{i}" for i in range(60)]
    topics = pd.DataFrame({"qid": [f"q{i}" for i in range(23)], "query": "x"})
    judged = [f"q{i}" for i in range(3, 26)]  # q0-q2 have no judgments, q23-q25 no topic
    qrels = pd.DataFrame(
        [(q, d, int(rng.integers(-1, 3))) for q in judged for d in rng.choice(docs, 25, replace=False)],
        columns=["qid", "docno", "label"],
    )
    frames = []
    for missing in (["q4"], [], ["q9", "q10"]):
        rows = [
            (q, d, float(np.round(rng.normal(), 1)))
            for q in topics.qid
            if q not in missing
            for d in rng.choice(docs, 30, replace=False)
        ]
        frame = pd.DataFrame(rows, columns=["qid", "docno", "score"]).assign(query="x")
        frames.append(pt.model.add_ranks(frame))
    return topics, qrels, dict(zip(NAMES, frames, strict=True))


def named(frames):
    return [frame.assign(name=name) for name, frame in frames.items()]


def transformers(frames):
    return [
        pt.Transformer.from_df(frame) >> pt.apply.name(lambda row, n=name: n)
        for name, frame in frames.items()
    ]


@pytest.fixture(scope="module")
def expected(campaign):
    """The per-query values by RunContext.evaluate, {(name, qid, measure): value}, of the judged topics."""
    topics, qrels, frames = campaign
    rows = RunContext(frames).evaluate(qrels[qrels.qid.isin(topics.qid)], MEASURES, perquery=True)
    return {(r.name, r.query_id, r.measure): r.value for r in rows.itertuples(index=False)}


def experiment(campaign, systems, **options):
    topics, qrels, frames = campaign
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*topic.s. not found in qrels.*")
        warnings.filterwarnings("ignore", message="Experiment Pipeline Validation Report(.|\n)*")
        warnings.filterwarnings("ignore", message="the qrels hold no judgment.*")
        with RunContext(frames):
            return pt.Experiment(
                systems, topics, qrels, MEASURES, names=options.pop("names", NAMES), **options
            )


def check_means(table, expected) -> None:
    for name in NAMES:
        for measure in map(str, MEASURES):
            values = [v for (n, _, m), v in expected.items() if n == name and m == measure]
            mean = table.set_index("name").loc[name, measure]
            assert mean == pytest.approx(np.mean(values), abs=1e-12), (name, measure)


@pytest.mark.parametrize("systems", [named, transformers])
@pytest.mark.parametrize(
    "options",
    [{}, {"batch_size": 7}, {"batch_size": 5}, {"plan": "tree", "verbose": False}, {"filter_by_qrels": True}],
)
def test_means(campaign, expected, systems, options) -> None:
    if systems is named and options.get("batch_size"):
        options = {
            "plan": "tree",
            "verbose": False,
            **options,
        }  # PyTerrier ignores batch_size for plain frames
    check_means(experiment(campaign, systems(campaign[2]), **options), expected)


@pytest.mark.parametrize("options", [{}, {"batch_size": 7}, {"plan": "tree", "verbose": False}])
def test_per_query(campaign, expected, options) -> None:
    table = experiment(campaign, transformers(campaign[2]), perquery=True, **options)
    found = {
        (r[0], r[1], r[2]): r[3] for r in table[["name", "qid", "measure", "value"]].itertuples(index=False)
    }
    for key, value in expected.items():
        assert found[key] == pytest.approx(value, abs=0), key
    extra = {q for _, q, _ in set(found) - set(expected)}
    assert extra == {"q0", "q1", "q2"}  # topics without judgments: NaN
    assert all(np.isnan(v) for (_, q, _), v in found.items() if q in extra)


def test_judgments_without_topics_count_as_empty_rankings(campaign) -> None:
    _topics, qrels, frames = campaign
    for options in ({}, {"batch_size": 7}, {"batch_size": 7, "plan": "tree", "verbose": False}):
        table = experiment(campaign, transformers(frames), filter_by_topics=False, **options).set_index(
            "name"
        )
        rows = RunContext(frames).evaluate(qrels, MEASURES).set_index("name")
        for measure in map(str, MEASURES):
            assert table[measure].tolist() == pytest.approx(rows[measure].tolist(), abs=1e-12)


def test_run_tags_name_the_members(campaign, expected, tmp_path) -> None:
    """pt.io.read_results makes the name column from the run tag."""
    for name, frame in campaign[2].items():
        pt.io.write_results(frame, str(tmp_path / f"{name}.res"), run_name=name)
    frames = [pt.io.read_results(str(tmp_path / f"{n}.res")) for n in NAMES]
    check_means(experiment(campaign, frames), expected)


def test_import_pyterrier_is_enough() -> None:
    code = (
        "import pyterrier as pt; from pyterrier.measures import *; "
        "print(NRG@10, P_Rareness@10, UniqueRel@5, AP_Rareness(alpha=0.5), pt.relative.RunContext.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        "NRG@10",
        "P_Rareness@10",
        "UniqueRel@5",
        "AP_Rareness(alpha=0.5)",
        "RunContext",
    ]
    assert "arning" not in done.stderr


# ---- pt.relative -----------------------------------------------------------------------------------------


def test_tables_of_pt_relative_have_pyterriers_column_names(campaign) -> None:
    _, qrels, frames = campaign
    context = RunContext(frames)
    theirs = pt.relative.explain(context, "one", qrels, NRG @ 10)
    assert list(theirs.columns)[:3] == ["qid", "docno", "label"]
    ours = ir_measures_relative.explain(context, "one", qrels, NRG @ 10)
    assert list(ours.columns)[:3] == ["query_id", "doc_id", "relevance"]
    assert theirs.set_axis(ours.columns, axis=1).equals(ours)
    new_run = pt.relative.explain(context, frames["one"], qrels)
    assert new_run["docno"].tolist() == theirs["docno"].tolist()

    theirs = pt.relative.bounds(context, qrels, [NRG @ 10], perquery=True)
    assert "qid" in theirs.columns
    assert "query_id" in ir_measures_relative.bounds(context, qrels, [NRG @ 10], perquery=True).columns
    chosen = pt.relative.select_complementary(context, qrels, 2)
    assert chosen.equals(ir_measures_relative.select_complementary(context, qrels, 2))
    assert inspect.signature(pt.relative.bounds) == inspect.signature(ir_measures_relative.bounds)
    merged = qrels.merge(pt.relative.explain(context, "one", qrels), on=["qid", "docno", "label"])
    assert len(merged)


def test_tables_of_an_answer_have_pyterriers_column_names(campaign) -> None:
    _, qrels, frames = campaign
    context = RunContext(frames, grades=(-1, 2))
    theirs = pt.relative.worth(
        context, qrels[::8], "one", margin=0.05
    )  # few labels, so that some are to be judged
    ours = ir_measures_relative.worth(context, qrels[::8], "one", margin=0.05)
    assert len(ours.judge) and ours.judge.columns.tolist()[:2] == ["query_id", "doc_id"]
    assert theirs.judge.columns.tolist()[:2] == ["qid", "docno"]
    assert theirs.judge.to_numpy().tolist() == ours.judge.to_numpy().tolist()
    pd.testing.assert_frame_equal(theirs.table, ours.table)
    assert theirs.text == ours.text and theirs.verdict == ours.verdict


def test_pt_relative_holds_what_the_package_holds() -> None:
    assert set(pt.relative.__all__) == {*ir_measures_relative.__all__, "Experiment", "named"}
    assert pt.relative.RunContext is RunContext
    assert pt.relative.NRG is NRG


def test_dir_shows_what_is_public_and_nothing_else() -> None:
    pt.relative.Experiment, pt.relative.named  # noqa: B018  (which load modules of the folder)
    shown = dir(pt.relative)
    assert set(shown) == {*pt.relative.__all__, "audit", "meta"}
    assert all(getattr(pt.relative, name) is not None for name in shown)


def test_a_missing_pyterrier_names_the_extra() -> None:
    program = """
import sys
sys.modules["pyterrier"] = None
import ir_measures_relative, ir_measures_relative.pt_relative as relative
for use in (
    lambda: relative.Experiment({}, None, None, []),
    lambda: relative.named({}),
    lambda: relative.RunContext.from_pipelines({}, None),
):
    try: use()
    except ImportError as error: print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    message = (
        "to run pipelines needs more than the base install: pip install 'ir-measures-relative[pyterrier]'\n"
    )
    assert done.stdout == message * 3
