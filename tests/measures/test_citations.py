"""The papers behind the measures."""

from __future__ import annotations

import re

import ir_measures
import pytest

from ir_measures_relative.measures.declaration import citations
from ir_measures_relative.measures.strings import registered


@pytest.mark.parametrize("name", sorted(registered()))
def test_every_measure_has_one(name: str) -> None:
    for entry in citations([registered()[name]]):
        assert entry.count("{") == entry.count("}")
        assert re.match(r"@\w+\{\w+,\n(  \w+ = \{.*\},?\n)+\}$", entry), entry
    assert citations([registered()[name]])


def test_each_once_in_the_order_of_the_file() -> None:
    keys = [re.findall(r"@\w+\{(\w+),", entry)[0] for entry in citations(list(registered().values()))]
    assert len(set(keys)) == len(keys) == 20
    assert keys[0] == "nrg2024"


def test_measures_of_ir_measures_have_none_here() -> None:
    assert citations([ir_measures.nDCG @ 10]) == []
