"""``python -m tools.hosts`` finds a host's test that comes to something else once the package is there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

SAME = """
import unittest

def test_same():
    import ir_measures
    assert "relative" not in ir_measures.__name__

class TestParts(unittest.TestCase):
    def test_parts(self):
        for part in range(2):
            with self.subTest(part=part):
                self.skipTest("as it is")
"""
SEEING = """
import sys
from importlib.metadata import entry_points

def test_seeing():
    assert "ir_measures_relative" not in sys.modules

def test_not_seeing():
    import ir_measures_relative

def test_entry_points():
    assert not any("relative" in point.value for point in entry_points(group="ir_measures.provider"))
"""


def hosts(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.hosts", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


def suite(folder: Path, text: str) -> Path:
    (folder / "tests").mkdir()
    (folder / "tests" / "__init__.py").touch()
    (folder / "tests" / "test_it.py").write_text(text)
    return folder


@pytest.mark.slow
def test_what_differs(tmp_path: Path) -> None:
    done = hosts("--ir-measures", str(suite(tmp_path, SAME + SEEING)))
    assert done.returncode == 1, done.stderr
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert lines[0].endswith("1 failed, 3 passed, 1 skipped without the plug-in; with the plug-in: 3 differ")
    for test, before, after in (
        ("entry_points", "passed", "failed"),
        ("not_seeing", "failed", "passed"),
        ("seeing", "passed", "failed"),
    ):
        assert f"tests/test_it.py::test_{test}: {before} without, {after} with the plug-in" in lines


def test_arguments(tmp_path: Path) -> None:
    done = hosts()
    assert done.returncode == 2 and "give --ir-measures FOLDER, --pyterrier FOLDER, or both" in done.stderr
    done = hosts("--pyterrier", str(tmp_path))
    assert done.returncode == 2 and "holds no folder 'tests'" in done.stderr
