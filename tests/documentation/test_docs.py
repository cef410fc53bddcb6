"""README and documentation: their examples run, their tables are complete, their commands are those of CI."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any
from unittest.mock import patch

import ir_measures
import pytest

from ir_measures_relative.measures.declaration import registered
from ir_measures_relative.measures.parameters import MISSING

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
@pytest.mark.filterwarnings("error::UserWarning")
def test_examples_run(page: Path) -> None:
    """Blocks marked python are run, pycon ones are doctests; py marks code that needs more around it."""
    text = page.read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": page.stem.replace("-", "_")}
    runner = doctest.DocTestRunner()
    with patch.dict(ir_measures.measures.registry):  # a page may register a measure
        for block in re.finditer(r"^```(pycon|python)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            line = text.count("\n", 0, block.start()) + 1
            if block[1] == "python":
                exec(compile("\n" * line + block[2], str(page), "exec"), names)
                continue
            example = doctest.DocTestParser().get_doctest(block[2], names, page.name, str(page), line)
            failures: list[str] = []
            runner.run(example, out=failures.append, clear_globs=False)
            names = example.globs
            assert not failures, "".join(failures)


#: What the README calls each thing that a measure may be relative to.
WORDS = {
    "priors": "prior runs",
    "systems": "all systems",
    "reference": "a reference run",
    "chance": "a random ranking",
}


def test_readme_table_of_measures() -> None:
    """A row for every measure: with parameters that it has, their defaults, every base, and what it is relative to."""
    table = README.read_text(encoding="utf-8").split("## The measures")[1].split("\n## ")[0]
    rows = [row.strip("| ").split(" | ") for row in table.splitlines() if row.startswith("| `")]
    listed = []
    for written, _, relative_to in rows:
        for code in re.findall(r"`(.*?)`", written):
            name = re.split(r"[(@]", code)[0]
            measure = registered()[name]
            params = measure.SUPPORTED_PARAMS
            listed.append(name)
            assert relative_to == WORDS[measure.RELATIVE_TO], code
            assert "cutoff" in params or "@k" not in code, code
            assert "@k" in code or not ("cutoff" in params and params["cutoff"].required), code
            for parameter, value in re.findall(r"(\w+)=([^,)]+)", code):
                default = params[parameter].default
                assert value == ("…" if default is MISSING else repr(default)), code
            if ", base " in written:
                bases = written.split(", base ")[1].replace(" or ", ", ").split(", ")
                assert sorted(bases) == sorted(params["base"].choices), code
    assert sorted(listed) == sorted(registered())


def test_readme_links_exist() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", README.read_text(encoding="utf-8"))
    assert links and [link for link in links if not (ROOT / link).exists()] == []


def test_ci_runs_the_command_of_the_readme() -> None:
    commands = re.findall(r"^```bash\n(.*?)\n```$", README.read_text(encoding="utf-8"), re.MULTILINE)
    tests = [c for c in commands if "pytest" in c]
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert len(tests) == 1 and tests[0] in map(str.strip, run.splitlines())
