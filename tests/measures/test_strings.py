"""Measure strings: this package reads them where ir_measures cannot, and as ir_measures does where it can."""

from __future__ import annotations

import ir_measures
import pytest

from ir_measures_relative.context.measure_strings import read_measure, registered

TEXTS = (
    "NRG(base='RBP')@10",
    "P(rel=2)@5",
    "nDCG(gains={0: 0, 1: 5})@3",
    "TaSC(base='P@5')",
    "RBO(p=.8)",
    "IPrec@0.1",
    "AP(judged_only=True)",
    "SetF(beta=2.0)",
)


@pytest.mark.host_strings
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_string_is_read_as_ir_measures_reads_it() -> None:
    known = [repr(measure) for measure in registered().values()]
    for text in (*TEXTS, *known, *(f"{name}@10" for name in known)):
        results = []
        for read in (ir_measures.parse_measure, read_measure):
            try:
                results.append(repr(read(text)))
            except (
                ValueError,
                AssertionError,
            ) as error:  # a measure without a cutoff, or one that must have it
                results.append(str(error))
        assert results[0] == results[1], text


@pytest.mark.parametrize(
    "text", ["NRG@", "NRG(1)@2", "a.b@3", "[1]", "NRG;NRG", "x=1", "NRG(p=f())@3", "NRG@10@10", "NRG(p=1+1)"]
)
def test_what_is_no_measure_string_says_how_to_write_one(text: str) -> None:
    with pytest.raises(ValueError, match=r"^must be in format Measure\(k1=v1, k2=v2\)@c; values are "):
        read_measure(text)
