"""The page "From 0.2 to 0.3": what 0.2's examples do now, and that what the page says to write instead runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ir_measures_relative as relative
from command_line import here
from ir_measures_relative import RunContext, adds, explain, meta
from ir_measures_relative.demo.__main__ import main as write_campaign

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "from-0.2.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(.+?)` \| `(.+?)` \|$", PAGE, re.MULTILINE)
COMMANDS = [row for row in ROWS if row[0].startswith(("QRELS", "--"))]
EXPRESSIONS = [row for row in ROWS if row[0].startswith(("context.", "meta.", "adds("))]
#: Commands of which no more is tried than that they are named, since others try them and they take seconds.
SLOW = ("plot", "report", "unjudged")

#: The README's and the guide's of 0.2, as they stood there.
EXAMPLES = """
$ ir_measures_relative campaign/qrels.txt campaign/runs/ 'nDCG@10 NRG@10 UniqueRel@10'
name	nDCG@10	NRG@10	UniqueRel@10
3-grams	0.5323	0.0726	0.1667
4-grams	0.5142	0.0585	0.0278
BM25-long	0.4705	0.0442	0.1667
BM25	0.4933	0.0461	0.0556
feedback-20	0.5182	0.0857	0.3056
feedback-5	0.5011	0.0626	0.3889
prefixes	0.5107	0.0579	0.2500
$ ir_measures_relative campaign/qrels.txt campaign/runs/3-grams.run nDCG@10 NRG@10 UniqueRel@10 --prior campaign/runs/BM25.run --prior campaign/runs/feedback-20.run
nDCG@10	0.5323
NRG@10	0.1979
UniqueRel@10	1.4444
$ ir_measures_relative campaign/qrels.txt campaign/runs/ NGR@10
ir_measures_relative: error: 'NGR@10': no measure is called 'NGR'; the nearest is 'NRG', that is NRG@10
$ ir_measures_relative --cite P_Rareness@10
$ ir_measures_relative campaign/qrels.txt campaign/runs/ nDCG@10 NRG@10 UniqueRel@10 --groups campaign/groups.csv --plot campaign.png
$ ir_measures_relative campaign/qrels.txt campaign/runs/ NRG@10 -p 3 --compare=feedback-20
$ ir_measures_relative campaign/qrels.txt campaign/runs/ UniqueRel@10 --judge 10
"""


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that 0.2's examples begin with."""
    folder = tmp_path_factory.mktemp("from_0_2")
    write_campaign([str(folder / "campaign")])
    return folder


@pytest.mark.parametrize(
    ("command", "shown"), re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", EXAMPLES, re.MULTILINE)
)
def test_the_commands_of_0_2(command: str, shown: str, campaign: Path) -> None:
    """What they print is the same; those that the page names say what to type, and that runs."""
    done = here(*shlex.split(command)[1:], cwd=campaign)
    flags = {word.split("=")[0] for word in command.split() if word.startswith("--")}
    if not flags & {flag for old, _ in COMMANDS for flag in re.findall(r"--\w+", old)}:
        assert done.stderr + done.stdout == shown
        return
    assert (done.returncode, done.stdout) == (2, "")
    *_, instead = done.stderr.rstrip("\n").partition("; type: ")
    program, *words = shlex.split(instead)
    assert program == "ir_measures_relative"
    if words[0] not in SLOW:
        assert here(*words, cwd=campaign).returncode == 0


@pytest.mark.parametrize(("old", "new"), COMMANDS)
def test_what_to_type_instead(old: str, new: str, campaign: Path) -> None:
    """As the page has it, and as the error says."""
    places = {"QRELS": "campaign/qrels.txt", "RUNS": "campaign/runs/"}
    given, instead = ([places.get(word, word) for word in shlex.split(text)] for text in (old, new))
    done = here(*given, cwd=campaign)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(
        f" is a command now; type: {shlex.join(['ir_measures_relative', *instead])}\n"
    )
    if instead[0] not in SLOW:
        assert here(*instead, cwd=campaign).returncode == 0


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What the expressions of the page are about."""
    qrels = {f"q{i}": {f"d{i}": 1, f"e{i}": i % 2} for i in range(12)}
    runs = {
        f"r{n}": {q: {f"d{i}": 3.0 - (i * n) % 4, f"x{n}": 2.0, f"e{i}": 1.0} for i, q in enumerate(qrels)}
        for n in range(6)
    }
    context, measures = RunContext(runs), ["NRG@2"]
    table = context.evaluate(qrels, ["P@2", "NRG@2"], perquery=True)
    run = {"q0": {"d0": 1.0}}
    return locals() | {"explain": explain, "adds": adds, "meta": meta, "pd": pd}


@pytest.mark.parametrize(("old", "new"), EXPRESSIONS, ids=lambda text: text.split("(")[0])
@pytest.mark.filterwarnings("ignore::ir_measures_relative.RelativeWarning")
def test_what_to_write_instead(old: str, new: str, names: dict[str, Any]) -> None:
    with pytest.raises((TypeError, KeyError, AttributeError)):
        eval(old, dict(names))
    assert eval(new, dict(names)) is not None


def test_the_modules_of_authors_are_there() -> None:
    table = PAGE.split("## For authors of measures")[1]
    for new in re.findall(r"^\| .+? \| (.+) \|$", table, re.MULTILINE):
        for module in re.findall(r"`((?:measures|extremes)[.\w]*)", new):
            parts = module.split(".")
            __import__(f"{relative.__name__}.{'.'.join(parts[:2])}")


def test_every_page_of_defaults_says_what_gives_the_old_one() -> None:
    for argument in ("elsewhere=0", 'correction="holm", family="measure"', "time_limit=60", "spread=0.8"):
        assert argument in PAGE
