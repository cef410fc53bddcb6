"""The papers behind the measures."""

from __future__ import annotations

import re

import ir_measures
import pytest

from ir_measures_relative.context.measure_strings import parse_measure, registered
from ir_measures_relative.measures.measure import citations


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


@pytest.mark.parametrize(("base", "key"), [("ERR", "chapelle2009expected")])
def test_the_paper_of_a_base_is_cited_with_the_base(base: str, key: str) -> None:
    def is_cited(measure: str) -> bool:
        return any(key in entry for entry in citations([parse_measure(measure)]))

    assert is_cited("NRG") and is_cited(f"NRG(base='{base}')@10")
    assert not is_cited("NRG@10") and not is_cited("NRG(base='P')@10")


@pytest.mark.parametrize(
    ("measure", "keys"),
    [
        ("FusionGain", ["fox1993combination", "cormack2009reciprocal", "mourao2015multimodal"]),
        ("FusionGain(base='P@5')", ["cormack2009reciprocal"]),
        ("FusionGain(method='combsum')", ["fox1993combination"]),
        ("FusionGain(method='isr')", ["mourao2015multimodal"]),
    ],
)
def test_the_paper_of_a_method_is_cited_with_the_method(measure: str, keys: list[str]) -> None:
    found = citations([parse_measure(measure)])
    assert [re.findall(r"@\w+\{(\w+),", entry)[0] for entry in found] == keys


def test_how_a_paper_was_read_is_no_part_of_its_entry() -> None:
    found = "\n".join(citations(list(registered().values())))
    assert "note" not in found and found.count("{") == found.count("}")
