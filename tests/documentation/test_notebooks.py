"""The notebooks run, and show what they showed when they were last saved."""

import contextlib
import importlib.util
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat", reason="needs nbformat, of the group test")
pytest.importorskip("ipykernel", reason="needs ipykernel, of the group test")

import pandas as pd  # noqa: E402
from IPython.core.displayhook import DisplayHook  # noqa: E402
from IPython.core.interactiveshell import InteractiveShell  # noqa: E402
from IPython.utils.capture import capture_output  # noqa: E402

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "examples" / "notebooks").glob("*.ipynb"))
NEEDS = {
    "from-pipelines-to-a-decision": ("pyterrier", "matplotlib"),
    "a-campaign-from-a-folder": ("matplotlib",),
    "without-judgments": ("matplotlib",),
}


class Hook(DisplayHook):
    """Keeps the value of a cell, as a notebook would show it."""

    kept: list[dict[str, Any]] = []

    def __call__(self, result: Any = None) -> None:
        if result is not None and not self.quiet():
            self.kept.append(self.compute_format_data(result)[0])


class Shell(InteractiveShell):
    displayhook_class = Hook

    def enable_gui(self, gui: str | None = None) -> None:
        """There is none."""


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """IPython in this process, which has the libraries already; afterwards nothing is left of it."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.delenv("ROBUST03", raising=False)
    monkeypatch.chdir(tmp_path)
    main = sys.modules["__main__"]
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")  # those of other tests
    found = Shell.instance()
    # As in a notebook; and what the notebooks set is taken back.
    with pd.option_context("display.max_columns", 20, "display.float_format", None, "display.width", 80):
        yield found
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
        sys.modules["matplotlib.pyplot"].switch_backend("agg")
        sys.modules["matplotlib_inline.config"].InlineBackend.clear_instance()
    found.history_manager.end_session()
    Shell.clear_instance()
    sys.modules["__main__"] = main


def kinds(data: dict[str, Any]) -> str:
    """What is shown as text; a picture is only told by its kind."""
    return data.get("text/plain", "") + " ".join(sorted(data))


@pytest.mark.slow
def test_they_run(shell: Shell) -> None:
    """Each in an empty folder, and without what those before it defined; the last three cells show something."""
    paths = [path for path in NOTEBOOKS if all(map(importlib.util.find_spec, NEEDS[path.stem]))]
    if not paths:
        pytest.skip("the notebooks need matplotlib, of the extras")
    shell.run_line_magic("matplotlib", "inline")
    for path in paths:
        shell.reset()
        os.mkdir(path.stem)
        cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        assert all(cell.outputs for cell in cells[-3:] if cell.source)
        with contextlib.chdir(path.stem):
            for cell in cells:
                Hook.kept.clear()
                with capture_output() as found:
                    result = shell.run_cell(cell.source, store_history=True)
                assert result.success and not found.stderr, found.stderr
                assert found.stdout == "".join(o.text for o in cell.outputs if "text" in o)
                shown = [*Hook.kept, *(o.data for o in found.outputs)]
                assert sorted(map(kinds, shown)) == sorted(kinds(o.data) for o in cell.outputs if "data" in o)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_nothing_of_a_machine_is_in_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text) < 250_000
    for cell in nbformat.read(path, as_version=4).cells:
        assert not cell.metadata
        assert not re.search(r"/(tmp|home|root|Users|work)/|0x[0-9a-f]{6}|\d\d:\d\d:\d\d", cell.source)
    assert not re.search(r'"execution"|/(tmp|home|root|Users)/|object at 0x', text)
