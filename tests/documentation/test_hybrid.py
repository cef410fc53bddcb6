"""The README's first example, as its first command runs it: what it prints is what the README shows."""

from __future__ import annotations

import re

import pytest

from example_scripts import EXAMPLES, run_example

for needed in ("pyterrier", "bm25s", "sklearn"):
    pytest.importorskip(needed, reason=f"the example needs {needed}, of the extra [examples]")

README = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def test_the_readme_shows_what_it_prints() -> None:
    done = run_example("hybrid.py")
    assert (done.returncode, done.stderr) == (0, "")
    shown = README.split("```text\n")[1].split("```")[0]
    said, printed = (" ".join(text.split()) for text in (shown, done.stdout))
    assert NUMBER.sub("#", said) == NUMBER.sub("#", printed)
    # Processors differ in the last digits of a sum, and so may two documents change places.
    values = [[float(number) for number in NUMBER.findall(text)] for text in (said, printed)]
    assert values[0] == pytest.approx(values[1], abs=0.0101)


def test_the_first_command_of_the_readme_runs_it() -> None:
    first = re.findall(r"^```bash\n(.*?)\n```$", README, re.MULTILINE)[0]
    assert first.endswith(".venv/bin/pip install -q -e '.[examples]' && .venv/bin/python examples/hybrid.py")


def test_the_question_is_in_the_first_screen() -> None:
    """Who it is for, the call, its answer and the command: within 60 lines of a file of which the first line asks."""
    lines = README.splitlines()
    assert lines[2].startswith("**Which retriever is worth adding")
    assert "examples/hybrid.py" in "\n".join(lines[:60])


def test_a_wrong_dataset() -> None:
    wrong = run_example("hybrid.py", "--dataset", "no-such-thing")
    assert wrong.returncode == 2
    assert "ir_datasets knows no dataset 'no-such-thing'" in wrong.stderr
