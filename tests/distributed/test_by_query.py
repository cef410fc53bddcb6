"""Run files written anew query by query: the values of the files themselves, and no half result."""

from __future__ import annotations

import gzip
import lzma
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from example_measures import PLAIN_EXAMPLES
from ir_measures_relative import RunContext
from ir_measures_relative.distributed import by_query, evaluate, evaluate_part
from ir_measures_relative.distributed.__main__ import main
from long_campaigns import Campaign, campaign

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'ir-measures-relative[dask]'")
dask = pytest.importorskip("dask", reason="dask is not installed: pip install 'ir-measures-relative[dask]'")
dd = pytest.importorskip("dask.dataframe")

MEASURES = [*PLAIN_EXAMPLES[::5], "nDCG@3", "AP"]


def write(runs: Campaign, folder: Path, *, tag: str | None = None, pack: bool = False) -> Path:
    """A file a run, tagged by its name if not by ``tag``; with ``pack`` of several kinds."""
    folder.mkdir()
    for i, (name, run) in enumerate(runs.items()):
        text = "".join(
            f"{q} Q0 {d} 0 {s} {tag or name}\n" for q, docs in run.items() for d, s in docs.items()
        ).encode()
        kind = i % 4 if pack else 0
        if kind == 3:
            rows = [(q, d, s, tag or name) for q, docs in run.items() for d, s in docs.items()]
            frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score", "name"])
            frame.to_parquet(folder / f"{name}.parquet")
        else:
            suffix, packed = [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress)][kind]
            (folder / f"{name}{suffix}").write_bytes(packed(text))
    return folder


def partitions(folder: Path) -> list[pd.DataFrame]:
    return [pd.read_parquet(path) for path in sorted(folder.iterdir())]


@pytest.mark.parametrize(
    ("size", "pack"),
    [
        ({"rows_per_file": 150, "buffer": 3000}, False),
        ({"rows_per_file": 150, "buffer": 3000}, True),
        ({"rows_per_file": 1, "buffer": 1}, False),
        ({}, True),
    ],
)
def test_values_are_those_of_the_files(tmp_path: Path, size: Any, pack: Any) -> None:
    runs, judgments = campaign(n_runs=6)
    source = write(runs, tmp_path / "runs", pack=pack)
    names = by_query(source, tmp_path / "by-query", **size)
    context = RunContext.from_files(source, reference="run1", num_docs=200)
    assert names == context.names == list(runs)

    parts = partitions(tmp_path / "by-query")
    queries = [q for part in parts for q in part["query_id"].unique()]
    assert len(queries) == len(set(queries))  # of which none stands in two files
    assert (len(parts) > 2) == bool(size)
    assert [*parts[0].columns] == ["name", "query_id", "doc_id", "score"]

    expected = context.evaluate(judgments, MEASURES, perquery=True)
    with dask.config.set(scheduler="synchronous"):
        table = dd.read_parquet(tmp_path / "by-query")
        assert table.npartitions == len(parts)
        found = evaluate(
            table, judgments, MEASURES, names=names, reference="run1", num_docs=200, perquery=True
        )
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, check_exact=True)


def test_no_shuffle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs, judgments = campaign()
    names = by_query(write(runs, tmp_path / "runs"), tmp_path / "by-query", rows_per_file=100)
    monkeypatch.setattr(dd.DataFrame, "set_index", None)
    with dask.config.set(scheduler="synchronous"):
        evaluate(dd.read_parquet(tmp_path / "by-query"), judgments, ["NRG@10"], names=names)


def test_every_row_is_there_once(tmp_path: Path) -> None:
    """With the order within a query of each run, ids that are not ASCII, and scores beyond a 32-bit float."""
    runs = {
        "b": {"q1": {"d\u00e9j\u00e0-vu": 1e300, "x" * 40: 3.5, "y": -1e300}, "q2": {"z": 16777217.0}},
        "a": {"q2": {"z": 2.0, "longer-than-eight-bytes": 2.0}, "\u00e9": {"z": 1.0}},
    }
    names = by_query(write(runs, tmp_path / "runs"), tmp_path / "by-query", rows_per_file=2, buffer=1)
    rows = pd.concat(partitions(tmp_path / "by-query"))
    assert names == ["a", "b"]
    again = {
        name: {q: dict(zip(g["doc_id"], g["score"], strict=True)) for q, g in own.groupby("query_id")}
        for name, own in rows.groupby("name")
    }
    assert again == runs
    assert rows["query_id"].unique().tolist() == ["q2", "\u00e9", "q1"]  # as they came


def test_shared_tags_and_a_run_without_rows(tmp_path: Path) -> None:
    runs, judgments = campaign()
    runs = {**runs, "empty": {}}
    source = write(runs, tmp_path / "runs", tag="ours")
    names = by_query([source / name for name in reversed(list(runs))], tmp_path / "by-query")
    assert names == ["empty", "run3", "run2", "run1", "run0"]
    (part,) = partitions(tmp_path / "by-query")
    assert sorted(part["name"].unique()) == ["run0", "run1", "run2", "run3"]
    grades = int(judgments["relevance"].min()), int(judgments["relevance"].max())
    found = evaluate_part(part, judgments, ["P_Rareness@10"], names=names, grades=grades)
    expected = RunContext({n: runs[n] for n in names}).evaluate(judgments, ["P_Rareness@10"], perquery=True)
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


def test_nothing_is_left_where_a_file_is_wrong(tmp_path: Path) -> None:
    runs, _ = campaign()
    source = write(runs, tmp_path / "runs")
    (source / "zz").write_text("q1 Q0 d1 0 1.0 tag\nq1 Q0 d2 0 nan tag\n")
    with pytest.raises(ValueError, match=r"zz, line 2: .* has the score nan"):
        by_query(source, tmp_path / "by-query", buffer=1)
    assert [p.name for p in tmp_path.iterdir()] == ["runs"]


def test_nothing_is_left_after_an_interrupt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object) -> None:
        assert any(tmp_path.glob(".by-query.*"))
        raise KeyboardInterrupt

    source = write(campaign()[0], tmp_path / "runs")
    monkeypatch.setattr(sys.modules[by_query.__module__], "_write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        by_query(source, tmp_path / "by-query", buffer=1)
    assert [p.name for p in tmp_path.iterdir()] == ["runs"]


def test_what_is_there_is_not_touched(tmp_path: Path) -> None:
    source = write(campaign()[0], tmp_path / "runs")
    with pytest.raises(FileExistsError, match="is there already"):
        by_query(source, source)
    (tmp_path / "empty").mkdir()
    assert by_query(source, tmp_path / "empty")
    assert len(list((tmp_path / "empty").iterdir())) == 1


@pytest.mark.parametrize("size", [{"rows_per_file": 0}, {"buffer": 0}])
def test_sizes(tmp_path: Path, size: Any) -> None:
    with pytest.raises(ValueError, match="must be at least 1"):
        by_query(tmp_path, tmp_path / "by-query", **size)


def test_runs_without_a_row(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing to write"):
        by_query(write({"a": {}}, tmp_path / "runs"), tmp_path / "by-query")
    assert [p.name for p in tmp_path.iterdir()] == ["runs"]


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = write(campaign()[0], tmp_path / "runs")
    assert main([str(source), str(tmp_path / "by-query"), "--rows", "100"]) == 0
    assert "4 runs" in capsys.readouterr().out
    assert len(partitions(tmp_path / "by-query")) > 2
    assert main([str(source), str(tmp_path / "by-query")]) == 2
    assert "is there already" in capsys.readouterr().err


def test_command_as_a_process(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "ir_measures_relative.distributed",
        str(tmp_path / "none"),
        str(tmp_path / "new"),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and not done.stdout
    assert done.stderr.count("\n") == 1 and "no such file or folder" in done.stderr
