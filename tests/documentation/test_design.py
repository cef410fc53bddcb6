"""The page on the design shows the files that there are."""

from __future__ import annotations

from tools.pages import filled
from tools.tree import PAGE, PLACE, block


def test_the_tree_is_that_of_the_source() -> None:
    assert filled(PAGE, PLACE) == block(), "run: python -m tools.tree --write"
