"""The README's decision, as its first command runs it: what it prints is what the README shows."""

from __future__ import annotations

import re
import subprocess

import ir_datasets
import pytest

from example_scripts import EXAMPLES, run_example

for needed in ("pyterrier", "bm25s", "sklearn"):
    pytest.importorskip(needed, reason=f"the example needs {needed}, of the extra [examples]")

README = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def shown_after(command: str) -> str:
    """What the README shows right below a block that ends with a command."""
    return README.split(f"{command}\n```\n\n```text\n")[1].split("```")[0]


def assert_shows(done: subprocess.CompletedProcess[str], shown: str) -> None:
    assert (done.returncode, done.stderr) == (0, "")
    said, printed = (" ".join(text.split()).replace("−", "-") for text in (shown, done.stdout))
    assert NUMBER.sub("#", said) == NUMBER.sub("#", printed)
    # Processors differ in the last digits of a sum, and so may two documents change places.
    values = [[float(number) for number in NUMBER.findall(text)] for text in (said, printed)]
    assert values[0] == pytest.approx(values[1], abs=0.0101, rel=0.05)


def test_the_readme_shows_what_it_prints() -> None:
    assert_shows(run_example("hybrid.py"), shown_after(".venv/bin/python examples/hybrid.py"))


@pytest.mark.parametrize("script", ["quickstart.py", "hybrid.py"])
def test_the_readme_shows_what_it_prints_on_vaswani(script: str) -> None:
    if not (ir_datasets.util.home_path() / "vaswani" / "docs.txt").exists():
        pytest.skip("the collection is fetched from the net; IR_DATASETS_HOME can name a folder that has it")
    shown = shown_after(f"examples/{script} --dataset vaswani")
    assert_shows(run_example(script, "--dataset", "vaswani"), shown)


def test_the_first_command_of_the_readme_runs_it() -> None:
    first = re.findall(r"^```bash\n(.*?)\n```$", README, re.MULTILINE)[0]
    assert first.endswith(".venv/bin/pip install -q -e '.[examples]' && .venv/bin/python examples/hybrid.py")


def test_the_mission_is_in_the_first_screen() -> None:
    """Hosts and families, before the first example, which has a column of each family."""
    before, example = README.split("```python\n")[:2]
    assert len(before.splitlines()) < 40
    for word in ("`ir_measures`", "PyTerrier", "NRG", "Rareness", "UE normalization", "MED", "Lexiprecision"):
        assert word in before, word
    for measure in ("nDCG @ 10", "NRG @ 10", "P_Rareness @ 10", "nDCG_UE @ 10", "MED @ 10", "rrLP"):
        assert measure in example, measure


def test_a_wrong_dataset() -> None:
    wrong = run_example("hybrid.py", "--dataset", "no-such-thing")
    assert wrong.returncode == 2
    assert "ir_datasets knows no dataset 'no-such-thing'" in wrong.stderr
