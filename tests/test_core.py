"""The core imports no wing and names none; what wings add is found in a process that has loaded the core alone."""

import ast
import os
import subprocess
import sys

import pytest

from ir_measures_relative.data import registry
from ir_measures_relative.data.registry import Registry, fill
from ir_measures_relative.measures.med import BASES
from rooms import PACKAGE, imported, is_core, modules

MODULES = modules()
CORE = [module for module in MODULES if module and is_core(module)]
WINGS = {module.split(".")[0] for module in MODULES if module and not is_core(module)}


def test_the_core_imports_no_wing_and_names_none() -> None:
    for module in CORE:
        assert not {(of, name) for of, name in imported(module, MODULES) if of and not is_core(of)}, module
        nodes = ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8")))
        texts = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        paths = [t for t in texts if "\n" not in t and t.startswith((f"{PACKAGE}.", "."))]
        assert not WINGS & {path.removeprefix(PACKAGE).split(".")[1] for path in paths}, module


_LOADED = """
import os, sys
import ir_measures_relative
before = set(sys.modules)
for wing in WINGS:
    child = os.fork()
    if not child:
        __import__(f"PACKAGE.{wing}")
        brought = {name for name in set(sys.modules) - before if name.startswith("PACKAGE.")}
        named = {name.split(".")[1] for name in brought} & set(WINGS)
        own = [name for name in brought if name.startswith(f"PACKAGE.{wing}.")]
        assert named == {wing} and not own, (wing, sorted(brought))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, wing
"""


def test_a_wing_loads_nothing_of_itself_before_it_is_asked() -> None:
    for needed in ("matplotlib", "dask"):
        pytest.importorskip(needed, reason=f"a wing needs {needed}, of the extras")
    wings = sorted(WINGS - {"cli", "pt_relative", "further_measures"})  # the doors, and what is always loaded
    code = _LOADED.replace("PACKAGE", PACKAGE).replace("WINGS", repr(wings))
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


#: Each program in a child of a process that has found no bounds yet; ``os.fork`` spares the imports.
IN_TURN = """
import os, sys
import ir_measures
import ir_measures_relative
from ir_measures_relative import MED, RunContext
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
"""

SCORE = """
with RunContext({"old": runs["old"]}):
    for base in BASES:
        print((MED(base=base) @ 3).calc_aggregate(qrels, runs["new"]))
assert any(".bounding" in name for name in sys.modules)
"""
BOUND = """
from ir_measures_relative import bounds
for measure in MEASURES:
    try:
        found = bounds(RunContext(runs, reference="old"), qrels, [measure])
        print((found["worst"] <= found["best"]).all())
    except ValueError as error:
        print(error)
"""

# One measure of each class, and what a refusal says.
_OF_HOST = "P@2 RBP(rel=1)@2 SDCG(max_rel=1)@2 nDCG@2 RR R@2 Success@2 AP ERR@2"
_OF_PACKAGE = "NRG(norm='ideal')@2 UniqueRel@2 P_Rareness@2 nDCG_UE@2 Shapley@2"
BOUNDED = dict.fromkeys(f"{_OF_HOST} {_OF_PACKAGE}".split(), "True") | {
    name: "has no strict bounds" for name in ("NRG@2", "TaSC", "rrLP", "StRecall@2")
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_searches_and_bounds_are_found() -> None:
    """Whichever is asked for first."""
    turned = list(BOUNDED)[::-1]
    programs = [SCORE.replace("BASES", repr(list(BASES)))]
    programs += [BOUND.replace("MEASURES", repr(measures)) for measures in (list(BOUNDED), turned)]
    code = IN_TURN.replace("PROGRAMS", repr(programs))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert all(0 <= float(value) <= 1 for value in said[: len(BASES)])
    for measure, text in zip([*BOUNDED, *turned], said[len(BASES) :], strict=True):
        assert BOUNDED[measure] in text, (measure, text)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Writes modules of a package ``adds_entries`` that is imported when asked for; all registries are empty."""
    monkeypatch.setattr(registry, "_ENTRIES", {})
    monkeypatch.setattr(registry, "_WAITING", {})
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "adds_entries").mkdir()

    def write(**modules):
        for name, text in {"__init__": "", **modules}.items():
            (tmp_path / "adds_entries" / f"{name}.py").write_text(text)

    yield write
    for name in [name for name in sys.modules if name.partition(".")[0] == "adds_entries"]:
        del sys.modules[name]


def adds(key, value):
    return f"from ir_measures_relative.data.registry import Registry\nRegistry('colours').register({key!r})({value!r})\n"


def test_modules_are_imported_when_the_registry_is_read(package) -> None:
    package(red=adds("red", 1), blue=adds("blue", 2))
    colours: Registry[str, int] = Registry("colours")
    fill({"colours": [".red", ".red"]}, "adds_entries")
    assert not Registry("shapes") and "adds_entries.red" not in sys.modules
    assert list(colours) == ["red"]
    fill({"colours": ["adds_entries.blue", "adds_entries.red"]})  # after the first use, one of them again
    assert dict(colours) == {"red": 1, "blue": 2}
    assert colours.register("green", "lime")(3) == 3
    assert dict(colours) == {"red": 1, "blue": 2, "green": 3, "lime": 3}


@pytest.mark.parametrize("read", [len, list, lambda table: table["red"], lambda table: "red" in table])
def test_every_way_to_read_imports(package, read) -> None:
    package(red=adds("red", 1))
    fill({"colours": ["adds_entries.red"]})
    assert read(Registry("colours"))


def test_what_is_missing_or_fails_is_named_and_tried_again(package) -> None:
    package(red="import no_such_module_anywhere")
    colours: Registry[str, int] = Registry("colours")
    colours.register("red")(1)
    with pytest.raises(KeyError, match=r"colours: no 'green'; there are 'red'"):
        colours["green"]
    with pytest.raises(KeyError, match="shapes: no 'square'; there are none"):
        Registry("shapes")["square"]
    fill({"colours": ["adds_entries.red"]})
    assert colours["red"] == 1  # which is there, so that nothing is imported
    for _ in range(2):
        with pytest.raises(ImportError, match=r"colours: adds_entries.red") as raised:
            colours["green"]
        assert raised.value.name == "adds_entries.red"
