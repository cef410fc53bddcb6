"""The package makes itself known to its hosts, whoever imports whom first, and never keeps them from being imported."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import ir_measures
import pytest

tomllib = pytest.importorskip("tomllib", reason="pyproject.toml is read by Python's own parser, from 3.11 on")

ROOT = Path(__file__).resolve().parents[2]
HOSTS = ["installed", "with entry points"]

# What ir_measures' branch "entry-points" adds, in its places.
LOADS_PROVIDERS = """
import ir_measures
from importlib.metadata import entry_points
registry.update({ep.name: ep.load()() for ep in entry_points(group='ir_measures.provider')})
"""
SORTS_PROVIDERS = """
DefaultPipeline = providers.FallbackProvider(
    sorted([p for p in providers.registry.values() if p.PRIORITY is not None], key=lambda x: x.PRIORITY)
)
evaluator"""

WORKS = """
import ir_measures, ir_measures_relative as package
assert str(ir_measures.parse_measure("NRG(base='RBP')@10")) == "NRG(base='RBP')@10"
provider = ir_measures.providers.registry["relative"]
assert provider is package.relative
assert [p.NAME for p in ir_measures.DefaultPipeline.providers].count("relative") == 1
assert ir_measures.DefaultPipeline.providers[-1] is provider
assert [m.NAME for m in provider.SUPPORTED_MEASURES].count("NRG") == 1 and len(provider.SUPPORTED_MEASURES) >= 12
with package.RunContext({"old": {"q": {"a": 2.0}}}):
    measures = [package.NRG @ 10, package.UniqueRel @ 10, ir_measures.nDCG @ 10]
    values = ir_measures.calc_aggregate(measures, {"q": {"a": 1, "b": 1}}, {"q": {"b": 1.0}})
assert values[package.UniqueRel @ 10] == 1 and values[ir_measures.nDCG @ 10] > 0.6, values
print("works")
"""


@pytest.fixture(scope="module")
def places(tmp_path_factory) -> dict[str, Path]:
    """What goes to the front of sys.path: the declared entry points; and ir_measures as it may be one day."""
    installed, branch = tmp_path_factory.mktemp("installed"), tmp_path_factory.mktemp("branch")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    for place in (installed, branch):
        info = place / "ir_measures_relative-99.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ir-measures-relative\nVersion: 99\n")
        (info / "entry_points.txt").write_text("\n".join(lines))
    copy = branch / "ir_measures"
    shutil.copytree(Path(ir_measures.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    edit(copy / "providers" / "base.py", "    NAME: str\n", "    NAME: str\n    PRIORITY = 0.0\n")
    edit(copy / "providers" / "__init__.py", "\n__all__", LOADS_PROVIDERS + "\n__all__")
    edit(copy / "__init__.py", "\nevaluator", SORTS_PROVIDERS)
    return {"installed": installed, "with entry points": branch}


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{file} is not what it was"
    file.write_text(text.replace(old, new), encoding="utf-8")


def run(program: str, *path: Path, flags: tuple[str, ...] = ()) -> tuple[str, str]:
    """The output of a program, with some folders at the front of its path."""
    inherited = [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*map(str, path), *inherited])}
    done = subprocess.run(
        [sys.executable, *flags, "-c", program], capture_output=True, text=True, env=environment, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


FIRST = [
    "import ir_measures",
    "import ir_measures_relative",
    "import ir_measures_relative.pt_relative",
    "import ir_measures_relative_plugin",
    "import pyterrier",
]
# A process for each, which has nothing of the hosts; what all of them need is imported once.
EACH_FIRST = """
import os, sys, traceback, warnings
import numpy, pandas
warnings.filterwarnings("ignore", ".*use of fork")  # of Python 3.12, where a library has started a thread
for program in {programs}:
    assert not [m for m in sys.modules if m.startswith(("ir_", "pyterrier"))]
    child = os.fork()
    if not child:
        try:
            exec(compile(program, "<string>", "exec"), {{"__name__": "__main__"}})
            code = 0
        except BaseException:
            traceback.print_exc()
            code = 1
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(code)
    assert os.waitpid(child, 0)[1] == 0, program
"""


@pytest.mark.host_strings
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be copied on this system")
@pytest.mark.parametrize("host", HOSTS)
def test_whichever_is_imported_first(places, host) -> None:
    firsts = FIRST if host == "installed" else FIRST[::2]
    programs = [first + WORKS for first in firsts if "pyterrier" not in first or find_spec("pyterrier")]
    out, err = run(EACH_FIRST.format(programs=repr(programs)), places[host])
    assert out == "works\n" * len(programs)
    assert "Warning" not in err


@pytest.mark.host_strings
def test_ir_measures_alone_loads_the_provider_by_its_entry_point(places) -> None:
    program = "import sys, ir_measures; print(ir_measures.parse_measure('NRG@10'), 'numpy' in sys.modules)"
    assert run(program, places["with entry points"])[0] == "NRG@10 True\n"


@pytest.fixture
def broken(tmp_path, places):
    """A package that cannot be imported, in front of everything; the module of entry points is the real one."""
    (tmp_path / "ir_measures_relative").mkdir()
    (tmp_path / "ir_measures_relative" / "__init__.py").write_text("raise TypeError('of no use here')")
    return tmp_path


SCORES = "print(ir_measures.calc_aggregate([ir_measures.nDCG], {'q': {'a': 1}}, {'q': {'a': 1.0}}))"


@pytest.mark.parametrize("host", HOSTS)
def test_a_package_that_cannot_be_imported_does_not_break_pyterrier(places, broken, host) -> None:
    pytest.importorskip("pyterrier", reason="pyterrier is not installed")
    program = f"""
import pyterrier as pt, ir_measures
from pyterrier.measures import *
try: pt.relative.RunContext
except AttributeError as error: print(error)
print(nDCG)
{SCORES}
"""
    out, err = run(program, broken, places[host])
    assert "pt.relative is not there" in out and "TypeError: of no use here" in out
    assert out.endswith("nDCG\n{nDCG: 1.0}\n")
    assert err.count("pt.relative is not there") == 1


def test_a_package_that_cannot_be_imported_does_not_break_ir_measures(places, broken) -> None:
    out, err = run(f"import ir_measures\n{SCORES}", broken, places["with entry points"])
    assert out == "{nDCG: 1.0}\n"
    assert "the provider 'relative' is not there" in err and "TypeError: of no use here" in err


TAKEN = """
import sys, warnings, ir_measures
class Other(ir_measures.Measure):
    __name__ = NAME = "MED"
ir_measures.measures.register(Other())
with warnings.catch_warnings(record=True, action="always") as caught:
    {imported}
said = [w for w in caught if "MED" in str(w.message)]
assert len(said) == 1, caught
assert said[0].category.__name__ == "RelativeWarning" and (said[0].filename, said[0].lineno) == ("<string>", 7), said[0]
import ir_measures_relative as package
assert type(ir_measures.parse_measure("MED")) is Other
assert type(ir_measures.parse_measure("NRG@10")) is type(package.NRG)
assert "MED" not in [m.NAME for m in package.relative.SUPPORTED_MEASURES]
with package.RunContext({{"old": {{"q": {{"a": 2.0}}}}}}):
    value = ir_measures.calc_aggregate([package.MED @ 10], {{"q": {{"a": 1, "b": 1}}}}, {{"q": {{"b": 1.0}}}})
print(value)
"""


@pytest.mark.host_strings
@pytest.mark.parametrize("module", ["ir_measures_relative", "pyterrier"])
def test_a_name_that_is_taken(places, module) -> None:
    pytest.importorskip(module, reason=f"{module} is not installed")
    imported = f"import {module}" + ("; pyterrier.relative.NRG" if module == "pyterrier" else "")
    assert run(TAKEN.format(imported=imported), places["installed"])[0] == "{MED@10: 0.0}\n"


@pytest.mark.host_strings
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be copied on this system")
def test_ir_measures_reads_measure_strings_after_import_pyterrier(places) -> None:
    """Without waiting for the package, or for what is optional."""
    pytest.importorskip("pyterrier", reason="pyterrier is not installed")
    befores = ["", "import ir_measures_relative; ", "from ir_measures.measures import registry; "]
    program = """
import sys
for name in ("matplotlib", "dask", "distributed", "pyarrow.dataset", "pyspark", "bm25s", "sklearn"):
    sys.modules[name] = None
BEFORE
import ir_measures, pyterrier
print("ir_measures_relative" in sys.modules, hasattr(pyterrier.measures, "Other"))
print(ir_measures.parse_measure("nDCG_UE@10"), ir_measures.parse_measure("P@5"))
from pyterrier.measures import *
print(NRG @ 10, nDCG @ 5, pyterrier.relative.RunContext.__name__)
try:
    ir_measures.parse_measure("Nobody@3")
except NameError as error:
    print(error)
"""
    programs = [program.replace("BEFORE", before) for before in befores]
    out, err = run(EACH_FIRST.format(programs=repr(programs)), places["installed"])
    shown = " False\nnDCG_UE@10 P@5\nNRG@10 nDCG@5 RunContext\nmeasure not found: Nobody\n"
    assert out == "".join(f"{'relative' in before}{shown}" for before in befores)
    assert "elative" not in err


def test_a_provider_name_and_an_alias_that_are_taken() -> None:
    program = """
import warnings, ir_measures
class Other(ir_measures.Provider):
    NAME = "relative"
other = ir_measures.providers.register(Other())
with warnings.catch_warnings(record=True, action="always") as caught:
    import ir_measures_relative as package
print(len(caught), ir_measures.providers.registry["relative"] is other, package.relative in ir_measures.DefaultPipeline.providers)
from ir_measures_relative.measures.measure import RelativeMeasure, register
class New(RelativeMeasure):
    __name__ = NAME = "New"
    RELATIVE_TO = "chance"
with warnings.catch_warnings(record=True, action="always") as caught:
    register(New(), aliases=["Newer", "AP", "Newest"])
print(*(type(ir_measures.parse_measure(n)).__name__ for n in ("New", "Newer", "AP", "Newest")), len(caught))
"""
    assert run(program)[0] == "1 True True\nNew New _AP New 1\n"


@pytest.mark.host_strings
def test_reloading_is_idempotent() -> None:
    program = f"""
import importlib, pkgutil, sys, warnings
warnings.simplefilter("error")
warnings.filterwarnings("ignore", "", DeprecationWarning, "ir_measures[.]util")  # its strings, from Python 3.12 on
import ir_measures, ir_measures_relative
old = ir_measures_relative.NRG @ 10, ir_measures_relative.MED @ 10
names = list(ir_measures.measures.registry)
measures = ir_measures_relative.measures
modules = [m.name for m in pkgutil.walk_packages(measures.__path__, measures.__name__ + ".")]
for _ in range(2):
    for name in [*modules, "ir_measures_relative.hosts.provider", "ir_measures_relative", "ir_measures_relative.pt_relative"]:
        importlib.reload(importlib.import_module(name))
        assert list(ir_measures.measures.registry) == names, name
        assert [p.NAME for p in ir_measures.DefaultPipeline.providers].count("relative") == 1, name
        with ir_measures_relative.RunContext({{"old": {{"q": {{"a": 2.0}}}}}}):
            ir_measures.calc_aggregate(old, {{"q": {{"a": 1, "b": 1}}}}, {{"q": {{"b": 1.0}}}})
    assert type(ir_measures.parse_measure("NRG@10")) is type(ir_measures_relative.NRG)
{WORKS}"""
    assert run(program)[0] == "works\n"


def test_importing_is_cheap() -> None:
    heavy = ("pandas", "scipy", "matplotlib", "pyterrier", "dask", "pyarrow", "tqdm", "ir_datasets")
    program = f"""
import sys, ir_measures_relative_plugin, ir_measures_relative, ir_measures_relative.pt_relative
ir_measures_relative_plugin.relative, ir_measures_relative.relative
print([m for m in {heavy} if m in sys.modules])
"""
    assert run(program, flags=("-W", "error::UserWarning"))[0] == "[]\n"


@pytest.mark.host_strings
def test_the_command_of_ir_measures_does_not_load_plug_ins(tmp_path: Path) -> None:
    """As the pages say, which are to be changed where this fails."""
    (tmp_path / "qrels").write_text("1 0 A 1\n", encoding="utf-8")
    (tmp_path / "run").write_text("1 Q0 A 1 1.0 run\n", encoding="utf-8")
    command = [sys.executable, "-m", "ir_measures", "qrels", "run", "nDCG_UE@10"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode != 0
    assert "unknown measure: nDCG_UE@10" in done.stdout + done.stderr
