"""How far it is from an evaluator to a value: the marks, and what the page on the design says of them."""

import re
from pathlib import Path

from tools import trace

PAGE = Path(__file__).resolve().parents[2] / "docs" / "design.md"


def test_a_second_value_takes_few_calls_in_few_files() -> None:
    found = trace.second_value()
    numbers = len(found.calls), len(found.files), found.switches
    assert all(number <= most for number, most in zip(numbers, (120, 19, 60), strict=True)), numbers
    said = re.search(
        r"takes (\d+) calls of the package's functions, in (\d+) files, with (\d+) switches", PAGE.read_text()
    )
    assert said is not None
    # A version of Python more or less calls a comprehension a function.
    assert all(
        abs(int(shown) - number) <= 10 for shown, number in zip(said.groups(), numbers, strict=True)
    ), numbers
