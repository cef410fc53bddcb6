"""The page for PyTerrier's site: where its generator looks, runnable, and a page that Sphinx builds."""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from ir_measures_relative.context.measure_strings import registered

#: A line of PyTerrier's ``docs/extensions.txt`` starts with one name, for the distribution and for the package alike.
NAME = "ir_measures_relative"


def page() -> Path:
    """Where ``docs/extras/generate_extensions.py`` of PyTerrier looks."""
    assert importlib.metadata.metadata(NAME)["Name"] == "ir-measures-relative"
    folder = importlib.resources.files(NAME).joinpath("pt_docs")
    return Path(str(folder)) / "index.rst"


def test_its_code_runs() -> None:
    pytest.importorskip("pyterrier", reason="the page is about PyTerrier, the extra [pyterrier]")
    names: dict[str, object] = {}
    text = page().read_text(encoding="utf-8")
    blocks = re.findall(r"^\.\. code-block:: python\n   :caption:.*\n\n((?:   .*\n|\n)+)", text, re.MULTILINE)
    assert len(blocks) == 3
    for block in blocks:
        exec(textwrap.dedent(block), names)


def test_it_has_every_measure() -> None:
    table = page().read_text(encoding="utf-8").split("\nMeasures\n")[1].split("\nAPI")[0]
    assert set(re.findall(r"``(\w+)(?:@k)?``", table)) == set(registered())


def test_sphinx_builds_it(tmp_path: Path) -> None:
    pytest.importorskip("sphinx", reason="needs Sphinx, the group docs")
    options = ["-D", "extensions=sphinx.ext.autodoc,sphinx.ext.napoleon", "-D", "autoclass_content=both"]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "-C", *options, str(page().parent), str(tmp_path)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "pt_relative.Experiment" in (tmp_path / "index.html").read_text(encoding="utf-8")
