"""What the pages say of ir_measures and PyTerrier; where one of these fails, a page is to be changed."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ir_measures import AP, nDCG

from ir_measures_relative import NRG, RunContext, demo


@pytest.mark.host_strings
def test_the_command_of_ir_measures_does_not_load_plug_ins(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 A 1\n", encoding="utf-8")
    (tmp_path / "run").write_text("1 Q0 A 1 1.0 run\n", encoding="utf-8")
    command = [sys.executable, "-m", "ir_measures", "qrels", "run", "nDCG_UE@10"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode != 0
    assert "unknown measure: nDCG_UE@10" in done.stdout + done.stderr


@pytest.fixture(scope="module")
def search() -> Any:
    """One of PyTerrier's searches over two settings, by a metric, inside a context."""
    pt = pytest.importorskip("pyterrier", reason="needs PyTerrier, the extra [pyterrier]")
    dataset = pt.get_dataset(f"irds:{demo.register()}")
    topics, qrels = dataset.get_topics().head(4), dataset.get_qrels()
    pipelines = demo.pipelines()
    candidate, context = pipelines["prefixes"], RunContext.from_pipelines({"d": pipelines["BM25"]}, topics)

    def search(name: str, metric: Any) -> Any:
        with context:
            return getattr(pt, name)(candidate, {candidate: {"b": [0.0, 0.75]}}, topics, qrels, metric)

    return search


@pytest.mark.parametrize("metric", ["map", "ndcg_cut_10", NRG @ 10], ids=str)
def test_grid_search_knows(search: Any, metric: Any, capsys: pytest.CaptureFixture[str]) -> None:
    search("GridSearch", metric)
    assert f"Best {metric} is 0." in capsys.readouterr().out


@pytest.mark.parametrize("metric", [nDCG @ 10, AP], ids=str)
def test_grid_search_does_not_know_objects_of_ir_measures(search: Any, metric: Any) -> None:
    with pytest.raises(KeyError):
        search("GridSearch", metric)


@pytest.mark.parametrize("metric", ["nDCG@10", "NRG@10"])
def test_grid_search_does_not_know_strings_of_ir_measures(search: Any, metric: str) -> None:
    with pytest.raises(ValueError, match=metric):
        search("GridSearch", metric)


def test_grid_scan_knows_objects(search: Any) -> None:
    table = search("GridScan", [nDCG @ 10, NRG @ 10])
    assert {"nDCG@10", "NRG@10"} <= set(table.columns) and len(table) == 2
