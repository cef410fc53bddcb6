"""The notebooks run, and show what they showed when they were last saved."""

from __future__ import annotations

import asyncio
import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat", reason="needs nbformat, of the group test")
nbclient = pytest.importorskip("nbclient", reason="needs nbclient, of the group test")
pytest.importorskip("ipykernel", reason="needs ipykernel, of the group test")

from jupyter_client import AsyncKernelManager  # noqa: E402  (nbclient needs it)

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "examples" / "notebooks").glob("*.ipynb"))
NEEDS = {
    "from-pipelines-to-a-decision": ("pyterrier", "matplotlib"),
    "a-campaign-from-a-folder": ("matplotlib",),
    "without-judgments": ("matplotlib",),
}


def shown(notebook: Any) -> list[list[str]]:
    """What each cell shows, as text; a picture is only told by its kind."""
    return [
        [
            output.get("text") or output["data"].get("text/plain", "") + " ".join(sorted(output["data"]))
            for output in cell.outputs
        ]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def test_there_are_three() -> None:
    assert {path.stem for path in NOTEBOOKS} == set(NEEDS)


@pytest.mark.slow
def test_they_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each in an empty folder, and without what those before it defined; one kernel imports the libraries once."""
    monkeypatch.delenv("ROBUST03", raising=False)
    monkeypatch.delenv("MPLBACKEND", raising=False)
    paths = [path for path in NOTEBOOKS if all(map(importlib.util.find_spec, NEEDS[path.stem]))]
    if not paths:
        pytest.skip("the notebooks need matplotlib, of the extras")
    manager = AsyncKernelManager(kernel_name="python3")
    asyncio.run(_run_all(paths, tmp_path, manager))


async def _run_all(paths: list[Path], folder: Path, manager: AsyncKernelManager) -> None:
    await manager.start_kernel(cwd=str(folder))
    try:
        for path in paths:
            (folder / path.stem).mkdir()
            empty = nbformat.v4.new_code_cell(f"%reset -f\n%cd -q {folder / path.stem}")
            await nbclient.NotebookClient(nbformat.v4.new_notebook(cells=[empty]), km=manager).async_execute()
            saved = nbformat.read(path, as_version=4)
            assert all(
                cell.outputs or not cell.source for cell in saved.cells[-3:] if cell.cell_type == "code"
            )
            again = nbformat.from_dict(saved)
            await nbclient.NotebookClient(again, km=manager, timeout=300).async_execute()
            assert shown(again) == shown(saved)
            outputs = [output for cell in again.cells if cell.cell_type == "code" for output in cell.outputs]
            assert all(output.output_type != "error" and output.get("name") != "stderr" for output in outputs)
    finally:
        await manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_nothing_of_a_machine_is_in_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text) < 250_000
    for cell in nbformat.read(path, as_version=4).cells:
        assert not cell.metadata
        assert not re.search(r"/(tmp|home|root|Users|work)/|0x[0-9a-f]{6}|\d\d:\d\d:\d\d", cell.source)
    assert not re.search(r'"execution"|/(tmp|home|root|Users)/|object at 0x', text)
