"""Campaigns on Dask: the values of one machine to the last bit, however the rows are spread; and bad input."""

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from drawn import examples
from example_measures import PLAIN_EXAMPLES, OfSome
from ir_measures_relative import MED, RunContext
from ir_measures_relative.context.priors import BestOfOtherGroups
from ir_measures_relative.distributed import evaluate_part
from long_campaigns import campaign, frame_of, qrels_frame
from random_campaigns import Labels, Run, contexts, qrels

dask = pytest.importorskip("dask", reason="dask is not installed: pip install 'ir-measures-relative[dask]'")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

from ir_measures_relative.distributed import evaluate  # noqa: E402

# With the absolute measures, a sum, and the two that depend on the grades of all the qrels.
MEASURES = [*PLAIN_EXAMPLES, "nDCG@3", "AP", "NumRet", MED(base="SDCG", gains={-1: 2, 2: 5}) @ 3]
SOME = MEASURES[::3]


@pytest.fixture(autouse=True)
def _in_this_thread() -> Iterator[None]:
    """Dask without a pool, which an active client goes before; and no forecast of its shuffle's speed."""
    with dask.config.set(scheduler="synchronous"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def spread(frame: pd.DataFrame, how: str, n: int = 3) -> Any:
    """A Dask DataFrame with the query as its index, or with the rows of a query all over the place."""
    if how == "by query":
        return dd.from_pandas(frame.set_index("query_id").sort_index(), npartitions=n)
    return dd.from_pandas(frame.sample(frac=1, random_state=7).reset_index(drop=True), npartitions=n)


def assert_same(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, check_exact=True)


@examples(8)
@given(
    runs=contexts,
    labels=qrels,
    how=st.sampled_from(["by query", "mixed"]),
    dask_qrels=st.booleans(),
    reverse=st.booleans(),
    part=st.integers(0, 2),
)
@example(  # in which MED once added the documents of q1 in an order that q2 decided
    runs={"r1": {}, "r2": {"q2": {"c": 3.0, "f": 2.0, "d": 1.0}, "q1": {"f": 3.0, "d": 2.0, "c": 1.0}}},
    labels={"q2": {"x": 3}, "q1": {"d": 1, "c": 1, "f": 1}},
    how="by query",
    dask_qrels=False,
    reverse=False,
    part=None,
)
def test_every_measure_equals_one_machine(
    runs: dict[str, Run], labels: Labels, how: str, dask_qrels: bool, reverse: bool, part: int | None
) -> None:
    measures = MEASURES if part is None else MEASURES[part::3]
    frame, judgments = frame_of(runs), qrels_frame(labels)
    assume(len(frame) > 0)
    judged = [q for q in labels if any(q in run and run[q] for run in runs.values())]
    names = sorted(runs, reverse=reverse)
    options: dict[str, Any] = {"reference": names[0], "num_docs": 50}
    try:
        expected = RunContext({n: runs[n] for n in names}, **options).evaluate(
            labels, measures, perquery=True
        )
    except ValueError as error:
        assume("no query in common" not in str(error))
        raise
    given_qrels = dd.from_pandas(judgments, npartitions=2, sort=False) if dask_qrels else judgments
    found = evaluate(spread(frame, how), given_qrels, measures, names=names, perquery=True, **options)
    assert_same(found, expected)
    assert judged or set(found["query_id"]) == set(labels)  # queries that no run holds count too


@pytest.mark.parametrize(("how", "dask_qrels"), [("by query", False), ("mixed", True)])
def test_means(how: str, dask_qrels: bool) -> None:
    runs, judgments = campaign()
    context = RunContext({n: runs[n] for n in sorted(runs)}, reference="run1", num_docs=200)
    given_qrels = spread(judgments, "by query", 2) if dask_qrels else judgments
    measures = [*SOME, "NumRet"] if dask_qrels else MEASURES
    found = evaluate(spread(frame_of(runs), how), given_qrels, measures, reference="run1", num_docs=200)
    expected = context.evaluate(given_qrels.reset_index().compute() if dask_qrels else judgments, measures)
    assert list(found["NumRet"]) == list(expected["NumRet"]) and found["NumRet"].max() > 100
    assert_same(found, expected)


@pytest.mark.parametrize(
    ("how", "options"),
    [
        ("by query", {"priors": "earlier"}),
        ("mixed", {"priors": ["run2"]}),
        ("by query", {"priors": {f"run{i}": [f"run{(i + 1) % 5}"] for i in range(5)}}),
        ("mixed", {"priors": BestOfOtherGroups(), "groups": {f"run{i}": "xyyzz"[i] for i in range(5)}}),
        (
            "by query",
            {"priors": BestOfOtherGroups("AP@5"), "groups": {f"run{i}": "xxyyz"[i] for i in range(5)}},
        ),
    ],
    ids=str,
)
def test_priors(how: str, options: Any) -> None:
    runs, judgments = campaign(seed=1, n_runs=5)
    runs = {**runs, "run4": runs["run3"]}  # a tie between the runs of a group
    names = ["run4", "run0", "run3", "run2", "run1"]
    measures = ["NRG@10", "NRG(prior='run[12]')@5", "UniqueRel@5", "TaSC(base='nDCG@10')"]
    expected = RunContext({n: runs[n] for n in names}, **options).evaluate(judgments, measures, perquery=True)
    found = evaluate(spread(frame_of(runs), how), judgments, measures, names=names, perquery=True, **options)
    assert_same(found, expected)


def test_a_run_without_rows_counts() -> None:
    """Rareness is over all systems, and the member itself has empty rankings."""
    runs, judgments = campaign()
    names = [*sorted(runs), "withdrawn"]
    measures = ["P_Rareness@10", "AP_Rareness", "nDCG_UE@10"]
    expected = RunContext({**{n: runs[n] for n in sorted(runs)}, "withdrawn": {}}).evaluate(
        judgments, measures
    )
    found = evaluate(spread(frame_of(runs), "by query"), judgments, measures, names=names)
    assert_same(found, expected)
    assert found["nDCG_UE@10"].iloc[-1] == -1.0


def test_pyterrier_columns() -> None:
    runs, judgments = campaign()
    theirs = {"query_id": "qid", "doc_id": "docno", "relevance": "label"}
    frame = frame_of(runs).rename(columns=theirs)
    expected = RunContext({n: runs[n] for n in sorted(runs)}).evaluate(judgments, ["NRG@10"], perquery=True)
    labels = dd.from_pandas(judgments.rename(columns=theirs), npartitions=2)
    for rows in (frame, frame.set_index("qid").sort_index()):
        assert_same(
            evaluate(dd.from_pandas(rows, npartitions=3), labels, ["NRG@10"], perquery=True), expected
        )


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pd.DataFrame, pd.DataFrame]:
    """A campaign in Parquet, one file a query, with columns that nobody asks for; its qrels; its scores."""
    folder = tmp_path_factory.mktemp("campaign")
    runs, judgments = campaign(seed=2, n_queries=8)
    frame = frame_of(runs).assign(rank=1, tag="x", comment="y", iteration="Q0")
    for query, rows in frame.groupby("query_id"):
        rows.to_parquet(folder / f"{query}.parquet")
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        context = RunContext({n: runs[n] for n in sorted(runs)}, reference="run0", num_docs=200)
        return folder, judgments, context.evaluate(judgments, SOME, perquery=True)


def test_parquet_by_query(parquet: Any) -> None:
    """Dask merges partitions of which it reads few columns; their numbers must not shift under us."""
    folder, judgments, expected = parquet
    for options in ({}, {"filesystem": "arrow"}):
        runs = dd.read_parquet(folder, **options)
        assert runs.npartitions == 8
        assert_same(evaluate(runs, judgments, SOME, reference="run0", num_docs=200, perquery=True), expected)


def test_parquet_in_hive_folders(parquet: Any, tmp_path: Path) -> None:
    import pyarrow as pa

    folder, judgments, expected = parquet
    pd.read_parquet(folder).to_parquet(tmp_path, partition_cols=["query_id"])
    hive = {"partitioning": {"flavor": "hive", "schema": pa.schema([("query_id", pa.string())])}}
    runs = dd.read_parquet(tmp_path, dataset=hive)
    assert_same(evaluate(runs, judgments, SOME, reference="run0", num_docs=200, perquery=True), expected)


class Recording(distributed.Client):
    """A client that adds up the size of what it gets."""

    received = 0

    async def _gather(self, *args: Any, **kwargs: Any) -> Any:
        result = await super()._gather(*args, **kwargs)
        Recording.received += dask.sizeof.sizeof(result)
        return result


@pytest.mark.slow
def test_a_cluster_keeps_the_rows() -> None:
    """Nothing is collected on the client but the result, whether the rows are shuffled or not."""
    runs, judgments = campaign(seed=3, n_runs=6, n_queries=40, depth=50)
    frame = frame_of(runs)
    expected = RunContext({n: runs[n] for n in sorted(runs)}).evaluate(
        judgments, ["NRG@10", "MED(ref='run1')@5"]
    )
    settings = {"processes": False, "n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**settings) as cluster, Recording(cluster):
        for how in ("by query", "mixed"):
            Recording.received = 0
            found = evaluate(spread(frame, how, 8), judgments, ["NRG@10", "MED(ref='run1')@5"])
            assert_same(found, expected)
            assert 0 < Recording.received < frame.memory_usage(deep=True).sum() / 4


def mutated(column: str, value: Any) -> pd.DataFrame:
    frame = frame_of(campaign()[0])
    frame[column] = frame[column].astype(object)
    frame.loc[frame.index[40], column] = value
    return frame


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (frame_of(campaign()[0]).drop(columns="name"), r"no column 'name'; its columns are .*'score'\]"),
        (frame_of(campaign()[0]).assign(query_id=7), r"the query id 7 is of type int"),
        (mutated("name", None), "the name None is of type NoneType"),
        (frame_of(campaign()[0]).assign(query_id="x"), r"run 'run0' has no query in common with the qrels"),
        (frame_of(campaign()[0]).assign(doc_id="d1"), r"run 'run\d': query 'q\d' lists document 'd1' more"),
        (mutated("score", float("nan")).astype({"score": float}), r"run 'run0': query 'q\d'"),
    ],
)
def test_bad_runs_are_refused_by_name(frame: Any, message: str) -> None:
    with dask.config.set({"dataframe.convert-string": False}), pytest.raises(ValueError, match=message):
        evaluate(dd.from_pandas(frame, npartitions=3), campaign()[1], ["NRG@10"])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"names": ["run0", "run1"]}, ValueError, r"holds \['run2', 'run3'\], which names="),
        ({"priors": "earlier"}, ValueError, r"needs the order of the runs: give names="),
        ({"reference": "nobody"}, ValueError, r"reference='nobody' is not a run of the context"),
        ({"priors": BestOfOtherGroups()}, ValueError, r"groups= lacks \['run0'"),
        ({"runs": frame_of(campaign()[0])}, TypeError, r"runs is a DataFrame; give a Dask DataFrame"),
        ({"qrels": campaign()[1].iloc[:0]}, ValueError, r"hold no judgment"),
    ],
)
def test_bad_arguments(options: Any, error: Any, message: str) -> None:
    runs, judgments = campaign()
    arguments = {
        "runs": spread(frame_of(runs), "by query"),
        "qrels": judgments,
        "measures": ["NRG@10"],
        **options,
    }
    with pytest.raises(error, match=message):
        evaluate(**arguments)


@pytest.mark.parametrize("how", ["by query", "mixed"])
def test_a_mean_leaves_out_what_has_no_value(how: str) -> None:
    runs, judgments = campaign()
    judgments = judgments.drop(index=judgments.index[judgments["query_id"].isin(["q1", "q4"])][::2])
    context = RunContext({n: runs[n] for n in sorted(runs)})
    expected = context.evaluate(judgments, [OfSome(), "nDCG@10"])
    assert expected["OfSome"].notna().all()
    assert context.evaluate(judgments, [OfSome()], perquery=True)["value"].isna().any()
    assert_same(evaluate(spread(frame_of(runs), how), judgments, [OfSome(), "nDCG@10"]), expected)


def test_a_partition_refuses_what_it_cannot_know() -> None:
    runs, judgments = campaign()
    frame = frame_of(runs)
    with pytest.raises(ValueError, match=r"BestOfOtherGroups.choose\(means, groups\)"):
        evaluate_part(
            frame,
            judgments,
            ["NRG@10"],
            names=list(runs),
            grades=(-1, 2),
            priors=BestOfOtherGroups(),
            groups=dict.fromkeys(runs, "g"),
        )
    with pytest.raises(ValueError, match=r"holds run 'run3', which names=.* lacks"):
        evaluate_part(frame, judgments, ["NRG@10"], names=["run0", "run1", "run2"], grades=(-1, 2))
    empty = evaluate_part(frame, judgments.iloc[:0], ["NRG@10"], names=list(runs), grades=(-1, 2))
    assert list(empty.columns) == ["name", "query_id", "measure", "value"] and not len(empty)


@pytest.mark.parametrize("dtype", ["object", "string[python]", "string[pyarrow]", "category", "arrow"])
def test_every_kind_of_string_column(dtype: str) -> None:
    import pyarrow as pa

    runs, judgments = campaign()
    expected = RunContext(runs).evaluate(judgments, ["NRG@10", "nDCG@10"], perquery=True)
    kind = pd.ArrowDtype(pa.string()) if dtype == "arrow" else dtype
    frames = {
        name: frame_of({name: run}).astype({"query_id": kind, "doc_id": kind}) for name, run in runs.items()
    }
    labels = judgments.astype({"query_id": kind, "doc_id": kind})
    assert_same(RunContext(frames).evaluate(labels, ["NRG@10", "nDCG@10"], perquery=True), expected)
    together = pd.concat([f.assign(name=n) for n, f in frames.items()]).astype({"name": kind})
    found = evaluate_part(together, labels, ["NRG@10", "nDCG@10"], names=list(runs), grades=(-1, 2))
    assert_same(found, expected)


def test_the_page(parquet: Any, tmp_path: Path) -> None:
    """The first example of docs/past-one-machine.md, as it stands there, without its client."""
    folder, judgments, _ = parquet
    (tmp_path / "runs").symlink_to(folder)
    judgments.to_parquet(tmp_path / "qrels.parquet")
    page = (Path(__file__).resolve().parents[2] / "docs" / "past-one-machine.md").read_text(encoding="utf-8")
    block = re.search(r"^```py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert block
    code = (
        block[1].replace("s3://campaign", str(tmp_path)).replace("BM25", "run0").replace("Client()", "None")
    )
    names: dict[str, Any] = {}
    exec(code, names)
    assert list(names["table"]) == ["name", "nDCG@10", "NRG(norm='ideal')@10", "P_Rareness@100", "rrLP"]
    scores = pd.read_parquet(tmp_path / "scores")
    means = scores.groupby("name")["value"].mean()
    np.testing.assert_allclose(means[names["table"]["name"]], names["table"]["NRG(norm='ideal')@10"])
