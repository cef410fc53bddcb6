"""Fixtures that several test modules share."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Generator
from pathlib import Path

# Before numpy is imported, here, in the workers and in what tests start: more threads of linear algebra than one only
# wait for each other where a worker runs on every core.
for _library in ("OPENBLAS", "MKL", "OMP"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
# Nor does anything that is tested here need what numba compiles for 20 seconds to make the objects of ranx.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")

import pandas as pd  # noqa: E402
import pytest  # noqa: E402
from hypothesis import Phase, settings  # noqa: E402

if sys.version_info >= (3, 14):
    # ir_measures up to 0.4.3 reads no measure strings there, which is no reason to test nothing that is written as one.
    import ir_measures

    from ir_measures_relative.context.measure_strings import read_measure

    ir_measures.parse_measure = lambda measure: read_measure(measure) if isinstance(measure, str) else measure

# A failing test shows the first example that fails, and stops there: to look for a smaller one may take minutes a
# test, and a suite in which many fail should say so as soon as one in which none does. To look for the smallest:
# `pytest --hypothesis-profile=shrink tests/…::test_…`, which starts anew, since what was found before is taken for
# the smallest.
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
if (
    threading.current_thread() is threading.main_thread()
    and signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Tests that start processes, draw many pictures or run whole experiments.
_SLOW = (
    "cli",
    "documentation",
    "hosts/test_experiment.py",
    "hosts/test_experiment_runs.py",
    "hosts/test_registration.py",
    "plots/test_labels.py",
    "plots/test_odd_input.py",
    "reporting/test_page.py",
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
    """Marks as slow, besides those that say so themselves, the tests of these files and all on real campaigns.

    What is left, ``pytest -n auto -m "not slow"``, takes a minute or two.
    """
    folder = Path(__file__).parent
    slow = tuple(folder / name for name in _SLOW)
    for item in items:
        on_campaign = any(name.startswith(("robust03", "dl")) for name in getattr(item, "fixturenames", ()))
        if on_campaign or any(item.path.is_relative_to(path) for path in slow):
            item.add_marker(pytest.mark.slow)
        if sys.version_info >= (3, 14) and item.get_closest_marker("host_strings"):
            item.add_marker(
                pytest.mark.skip(reason="ir_measures up to 0.4.3 reads no strings on Python 3.14")
            )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported stays: to look through all of it for garbage again and again took a tenth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        # Nor is there much in what a test makes: looked for after every 700 objects, a twentieth of its time.
        gc.set_threshold(20_000, 10, 10)
        gc.enable()


def _deep_learning_track(name: str) -> Path:
    named = os.environ.get(name)
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / name.lower()
    if not (folder / "qrels.txt.gz").exists():
        pytest.skip(
            f"the Deep Learning runs are not here: set {name} to their folder, or put it at ../shared/{name.lower()}"
        )
    return folder


@pytest.fixture(scope="session")
def dl19_path() -> Path:
    """The folder of the TREC 2019 Deep Learning track's 37 passage runs; skips where it is absent."""
    return _deep_learning_track("DL19")


@pytest.fixture(scope="session")
def dl21_path() -> Path:
    """The folder of the TREC 2021 Deep Learning track's 63 passage runs; skips where it is absent."""
    return _deep_learning_track("DL21")


def robust03_folder() -> Path | None:
    """Where the TREC 2003 Robust runs are: $ROBUST03, else ../shared/robust03 beside the checkout."""
    named = os.environ.get("ROBUST03")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "robust03"
    return folder if (folder / "qrels.txt.gz").exists() else None


@pytest.fixture(scope="session")
def robust03_path() -> Path:
    """The folder of the Robust runs; skips where it is absent."""
    folder = robust03_folder()
    if folder is None:
        pytest.skip(
            "the Robust runs are not here: set ROBUST03 to their folder, or put it at ../shared/robust03"
        )
    return folder


@pytest.fixture(scope="session")
def robust03(robust03_path: Path) -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    """(runs by tag, qrels) as plain frames in ir_measures' columns."""
    runs = {}
    for path in sorted((robust03_path / "runs").glob("*.gz")):
        frame = pd.read_csv(
            path,
            sep=r"\s+",
            header=None,
            names=["query_id", "q0", "doc_id", "rank", "score", "tag"],
            dtype={"query_id": str, "doc_id": str, "tag": str},
        )
        runs[str(frame["tag"].iloc[0])] = frame[["query_id", "doc_id", "score"]]
    qrels = pd.read_csv(
        robust03_path / "qrels.txt.gz",
        sep=r"\s+",
        header=None,
        names=["query_id", "iteration", "doc_id", "relevance"],
        dtype={"query_id": str, "doc_id": str, "iteration": str},
    )
    return runs, qrels
