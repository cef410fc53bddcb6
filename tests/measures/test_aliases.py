"""Measures with two names, as ir_measures' own have them: ``MAP`` is ``AP``, and ``MAP_UE`` is ``AP_UE``."""

from __future__ import annotations

import subprocess
import sys

import ir_measures
import pytest

import ir_measures_relative
from ir_measures_relative.context.measure_strings import parse_measure, registered

ALIASES = {"MAP_UE": "AP_UE", "NDCG_UE": "nDCG_UE", "MAP_Rareness": "AP_Rareness"}


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_alias(alias: str, name: str) -> None:
    measure = getattr(ir_measures_relative, name)
    assert getattr(ir_measures_relative.measures, alias) is measure
    assert ir_measures.measures.registry[alias] is measure
    for parse in (ir_measures.parse_measure, parse_measure):
        assert repr(parse(f"{alias}@10")) == f"{name}@10"
    assert alias not in ir_measures_relative.__all__
    assert name in registered() and alias not in registered()


def test_values_are_the_same() -> None:
    qrels, run = {"q": {"a": 2, "b": 0, "c": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    with ir_measures_relative.RunContext({}):
        for alias, name in ALIASES.items():
            one, other = (ir_measures.parse_measure(f"{each}@3") for each in (alias, name))
            assert ir_measures.calc_aggregate([one], qrels, run) == ir_measures.calc_aggregate(
                [other], qrels, run
            )


def test_pyterrier_has_them() -> None:
    pytest.importorskip("pyterrier", reason="pyterrier is not installed")
    program = "import pyterrier; from pyterrier.measures import *; print(MAP_UE@5, NDCG_UE@5, MAP_Rareness@5, MAP@5)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "AP_UE@5 nDCG_UE@5 AP_Rareness@5 AP@5\n"
