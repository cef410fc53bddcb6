"""The core imports no wing and names none; what wings add is found in a process that has loaded the core alone."""

from __future__ import annotations

import ast
import os
import subprocess
import sys

import pytest

from ir_measures_relative.bounding.model_builder import BOUNDS
from ir_measures_relative.measures.med import BASES
from ir_measures_relative.measures.med_pairs import SEARCHES
from rooms import PACKAGE, imported, is_core, modules

MODULES = modules()
CORE = [module for module in MODULES if module and is_core(module)]
WINGS = {module.split(".")[0] for module in MODULES if module and not is_core(module)}


@pytest.mark.parametrize("module", CORE)
def test_the_core_imports_no_wing(module: str) -> None:
    found = {(of, name) for of, name in imported(module, MODULES) if of and not is_core(of)}
    assert not found


@pytest.mark.parametrize("module", CORE)
def test_the_core_names_no_wing(module: str) -> None:
    nodes = ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8")))
    texts = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    paths = [t for t in texts if "\n" not in t and t.startswith((f"{PACKAGE}.", "."))]
    assert not WINGS & {path.removeprefix(PACKAGE).split(".")[1] for path in paths}


#: Each program in a child of a process that has found no bounds yet; ``os.fork`` spares the imports.
IN_TURN = """
import os, sys
import ir_measures
import ir_measures_relative
from ir_measures_relative import RunContext
qrels = {"q": {"A": 1, "B": 0, "E": 1}}
runs = {"old": {"q": {"A": 3.0, "X": 2.0, "B": 1.0}}, "new": {"q": {"E": 3.0, "Y": 2.0, "A": 1.0}}}
for program in PROGRAMS:
    child = os.fork()
    if not child:
        assert not [name for name in sys.modules if ".bounding" in name]
        exec(program)
        sys.stdout.flush()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, program
    print("\f", flush=True)
"""
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")


def fresh(programs: list[str]) -> list[str]:
    """What each program prints in a process of its own."""
    code = IN_TURN.replace("PROGRAMS", repr(programs))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\f\n")[:-1]


@forks
def test_med_finds_its_search() -> None:
    score = """
with RunContext({"old": runs["old"]}):
    print(ir_measures.parse_measure("MED(base='BASE')@3").calc_aggregate(qrels, runs["new"]))
print(any(".bounding" in name for name in sys.modules))
"""
    for base, said in zip(BASES, fresh([score.replace("BASE", base) for base in BASES]), strict=True):
        value, searched = said.split()
        assert 0 <= float(value) <= 1
        assert searched == str(base in SEARCHES), base


# One measure of each class whose bounds are registered, and what a refusal says.
BOUNDED = {
    **dict.fromkeys(
        ["P@2", "RBP(rel=1)@2", "SDCG(max_rel=1)@2", "nDCG@2", "RR", "R@2", "Success@2", "AP", "ERR@2"], ""
    ),
    **dict.fromkeys(
        ["NRG@2", "UniqueRel@2", "TaSC", "P_Rareness@2", "nDCG_UE@2", "Shapley@2", "FusionGain"], ""
    ),
    **dict.fromkeys(["rrLP", "sgnLP", "sgnLR", "RPP"], ""),
    "StRecall@2": "name none",
}


@forks
def test_bounds_are_found() -> None:
    bound = """
from ir_measures_relative import bounds
try:
    found = bounds(RunContext(runs, reference="old"), qrels, ["MEASURE"])
    print((found["worst"] <= found["best"]).all())
except ValueError as error:
    print(error)
"""
    said = fresh([bound.replace("MEASURE", measure) for measure in BOUNDED])
    for (measure, words), found in zip(BOUNDED.items(), said, strict=True):
        assert (words or "True") in found, (measure, found)


def test_every_class_with_bounds_is_in_the_list() -> None:
    import ir_measures

    kinds = {kind for name in BOUNDED for kind in type(ir_measures.parse_measure(name)).__mro__}
    ours = {
        kind for kind in BOUNDS if kind.__module__.split(".")[0] in ("ir_measures", PACKAGE)
    }  # not a test's own
    assert ours <= kinds
