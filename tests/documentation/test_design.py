"""docs/design.md names only what is there, its table of rooms is CI's, and a second value takes the calls that it says."""

import re
import tomllib
from pathlib import Path

from tools import trace

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "src" / "ir_measures_relative"


def test_each_path_exists() -> None:
    paths = set(re.findall(r"`((?:[\w.]+/)*[\w]+(?:/|\.py|\.toml))`", PAGE))
    assert len(paths) > 10
    for path in paths:
        assert any((place / path).exists() for place in (PACKAGE, ROOT)), path


def test_each_room_is_in_the_picture() -> None:
    picture = next(block for block in re.findall(r"(?s)```text\n(.*?)```", PAGE) if "src/" in block)
    drawn = {name.rstrip("/") for name in re.findall(r"([\w]+/)", picture)} - {"src", "ir_measures_relative"}
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert drawn - {"bases", "pyterrier"} == rooms


def test_the_table_is_that_of_the_contracts() -> None:
    rows = dict(
        re.findall(r"(?m)^\| ([\w, ]+) \| ([\w, –]+) \|$", PAGE.partition("| room |")[2].partition("\n\n")[0])
    )
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    forbidden = {
        c["source_modules"][0].partition(".")[2]: {m.partition(".")[2] for m in c["forbidden_modules"]}
        for c in contracts
        if c["type"] == "forbidden"
        and len(c["source_modules"]) == 1
        and c["name"].split()[1:2] == ["imports"]
    }
    assert forbidden.keys() == {"bounding", "decisions", "plots", "reporting"}
    for room, names in forbidden.items():
        assert not names & set(rows[room].split(", ")), room


def test_a_second_value_takes_few_calls_in_few_files() -> None:
    found = trace.second_value()
    numbers = len(found.calls), len(found.files), found.switches
    assert all(number <= most for number, most in zip(numbers, (120, 19, 60), strict=True)), numbers
    said = re.search(
        r"takes (\d+) calls of the package's functions, in (\d+) files, with (\d+) switches", PAGE
    )
    assert said is not None
    # A version of Python more or less calls a comprehension a function.
    assert all(
        abs(int(shown) - number) <= 10 for shown, number in zip(said.groups(), numbers, strict=True)
    ), numbers
