"""The page for PyTerrier's site: where its generator looks, and runnable."""

import importlib.metadata
import importlib.resources
import re
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
