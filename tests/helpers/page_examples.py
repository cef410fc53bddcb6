"""The examples of a page, run."""

import contextlib
import doctest
import io
import re
import runpy
import shlex
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import ir_measures
import pytest

from command_line import here

#: The heading of a page from which on another test runs the examples.
ELSEWHERE = {"formats": "\n## ranx"}
BLOCK = re.compile(
    r"^```(pycon|python|console)\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL
)


def run_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page from its top, in an empty folder: python blocks are run, and what they print compared with a text block
    right below; pycon ones are doctests, and of console ones each command is run and what it prints compared. py and
    bash mark what needs more: the page says what."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    text = page.read_text(encoding="utf-8")
    if heading := ELSEWHERE.get(page.stem):
        text = text.split(heading)[0]
    names: dict[str, Any] = {"__name__": page.stem.replace("-", "_")}
    runner = doctest.DocTestRunner()
    with patch.dict(ir_measures.measures.registry):  # a page may register a measure
        for block in BLOCK.finditer(text):
            line = text.count("\n", 0, block.start()) + 1
            if block[1] == "python":
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    exec(compile("\n" * line + block[2], str(page), "exec"), names)
                assert block[3] in (None, printed.getvalue()), block[2]
            elif block[1] == "console":
                _run_commands(block[2])
            else:
                example = doctest.DocTestParser().get_doctest(block[2], names, page.name, str(page), line)
                failures: list[str] = []
                runner.run(example, out=failures.append, clear_globs=False)
                names = example.globs
                assert not failures, "".join(failures)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def _run_commands(block: str) -> None:
    """Runs what follows each ``$``, and compares what it prints, on stdout or stderr, with the lines below it."""
    for command, shown in re.findall(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
        program, *arguments = shlex.split(command.replace("\\\n", ""))
        if program == "ir_measures_relative":  # in this process; stdout is a pipe to readers, and comes last
            done = here(*arguments)
            printed = done.stderr + done.stdout
        else:
            assert (program, arguments[0]) == ("python", "-m"), command
            written = io.StringIO()
            with patch.object(sys, "argv", arguments[1:]), contextlib.redirect_stdout(written):
                try:
                    runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
                except SystemExit as leave:
                    assert not leave.code, command
            printed = written.getvalue()
        assert printed.strip() == shown.strip(), command
