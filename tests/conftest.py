"""Fixtures that several test modules share."""

import functools
import gc
import os
import signal
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

# Before numpy is imported, here and in what tests start: a worker runs on every core.
for _library in ("OPENBLAS", "MKL", "OMP"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
# What numba compiles for the objects of ranx takes 20 seconds, and nothing here needs it.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")

import pytest  # noqa: E402
from hypothesis import Phase, settings  # noqa: E402

if sys.version_info >= (3, 14):
    # ir_measures up to 0.4.3 reads no measure strings there.
    import ir_measures

    from ir_measures_relative.context.measure_strings import read_measure

    ir_measures.parse_measure = lambda measure: read_measure(measure) if isinstance(measure, str) else measure

# A failing test shows the first example that fails. To look for the smallest, which may take minutes:
# `pytest --hypothesis-profile=shrink tests/…::test_…`, which starts anew.
_ANEW = tuple(phase for phase in Phase if phase is not Phase.reuse)
settings.register_profile("shrink", deadline=None, phases=_ANEW, print_blob=True)
# Before a release: `pytest --hypothesis-profile=thorough`.
settings.register_profile("thorough", deadline=None, max_examples=1000, print_blob=True)
settings.register_profile(
    "default",
    max_examples=14,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.target),
    report_multiple_bugs=False,
    print_blob=True,
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("default")

# What a shell starts in the background ignores Ctrl-C, and so does all that it starts in turn; tests send it.
in_main = threading.current_thread() is threading.main_thread()
if in_main and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Tests that start processes, draw many pictures or run whole experiments.
_SLOW = (
    *("cli", "documentation", "hosts/test_experiment.py", "hosts/test_experiment_runs.py"),
    *("hosts/test_registration.py", "plots/test_odd_input.py", "reporting/test_page.py"),
)


# What libraries warn of in their own code, whatever this package does.
_WARNINGS_OF_OTHERS = ("ignore:The inplace keyword in DataFrame:Warning:dask",)


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--strict-warnings``: any warning that no test expects is an error, the libraries' own among them."""
    parser.addoption("--strict-warnings", action="store_true", help="any warning is an error")


def pytest_configure(config: pytest.Config) -> None:
    """``-W error`` would come after the exceptions in ``pyproject.toml``, and undo them; this comes before."""
    if config.getoption("--strict-warnings"):
        config.getini("filterwarnings")[:0] = ["error", *_WARNINGS_OF_OTHERS]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks as slow the tests of these files, and all on real runs."""
    slow = tuple(str(Path(__file__).parent / name) for name in _SLOW)
    for item in items:
        on_campaign = any(name.startswith(("robust03", "dl")) for name in getattr(item, "fixturenames", ()))
        if on_campaign or str(item.path).startswith(slow):
            item.add_marker(pytest.mark.slow)
        if sys.version_info >= (3, 14) and item.get_closest_marker("host_strings"):
            item.add_marker(
                pytest.mark.skip(reason="ir_measures up to 0.4.3 reads no strings on Python 3.14")
            )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """The tests of a file go to one worker, which makes the fixtures of the file once."""
    from xdist.scheduler import LoadFileScheduling

    return LoadFileScheduling(config, log) if config.getoption("dist") == "load" else None


# How many modules there were when what is imported was last put out of reach of the search for garbage.
_frozen = 0


def _freeze() -> None:
    global _frozen
    gc.collect()
    gc.freeze()
    _frozen = len(sys.modules)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported stays: to look through all of it for garbage took a tenth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        _freeze()
        gc.set_threshold(20_000, 10, 10)
        gc.enable()


def pytest_runtest_setup() -> None:
    """So does what a test imports; the command line searches after each candidate."""
    if len(sys.modules) > _frozen + 50:
        _freeze()


@pytest.fixture(scope="session", autouse=True)
def _once() -> None:
    """The demo is searched once for a topic, and what is frozen is not counted for each experiment."""
    from ir_measures_relative.demo import Retriever
    from ir_measures_relative.hosts import compat

    Retriever.__call__ = functools.cache(Retriever.__call__)  # type: ignore[method-assign]
    compat.gc = SimpleNamespace(get_freeze_count=lambda: True)  # type: ignore[assignment]


def _folder(name: str) -> Path | None:
    """Where real runs are: in the folder that a variable of this name says, else ../shared beside the checkout."""
    named = os.environ.get(name)
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / name.lower()
    return folder if (folder / "qrels.txt.gz").exists() else None


def _runs(name: str) -> Path:
    folder = _folder(name)
    if folder is None:
        pytest.skip(
            f"the runs are not here: set {name} to their folder, or put it at ../shared/{name.lower()}"
        )
    return folder


@pytest.fixture(scope="session")
def dl19_path() -> Path:
    """The folder of the TREC 2019 Deep Learning track's 37 passage runs; skips where it is absent."""
    return _runs("DL19")


@pytest.fixture(scope="session")
def dl21_path() -> Path:
    """The folder of the TREC 2021 Deep Learning track's 63 passage runs; skips where it is absent."""
    return _runs("DL21")


@pytest.fixture(scope="session")
def robust03_path() -> Path:
    """The folder of the Robust runs; skips where it is absent."""
    return _runs("ROBUST03")
