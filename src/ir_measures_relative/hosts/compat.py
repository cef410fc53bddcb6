"""Guesses about the hosts: what ir_measures, PyTerrier and pandas do, but do not promise.

Each was seen in ir_measures 0.4.3 or PyTerrier 1.1.2, or the version that it names, and says which change of the host
would end it: a patch is one of ``studies/upstream``. The test of that name in ``tests/hosts/test_compat.py`` checks it
against the installed host. A guess of a lower module stands there, in a comment that starts with ``Guess:`` and the
name of its test.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any

import ir_measures
import numpy as np
from ir_measures.providers import Provider

from .. import messages

# --- ir_measures


def default_providers() -> list[Provider]:
    """The providers that ir_measures asks in turn, which no function adds to; none while it is being imported.

    Ends with: entry points (``ir_measures-entry-points.patch``).
    """
    pipeline = getattr(ir_measures, "DefaultPipeline", None)
    return [] if pipeline is None else pipeline.providers


PRIORITY = 1000
"""Behind ir_measures' own providers, in a version that orders providers by ``PRIORITY``: its branch "entry-points".

Ends with: entry points, in a release (``ir_measures-entry-points.patch``).
"""

# --- PyTerrier

PACKAGES_OF_HOSTS = frozenset(
    {"ir_measures", "pyterrier", "pyterrier_alpha", "dask", "distributed", "joblib", "matplotlib", "pandas"}
    | {"tqdm", "concurrent", "contextlib", "importlib", "threading"}
)
"""Packages whose lines stand between the user's line and this package: a warning names the user's.

Ends with: hosts that pass warnings on with ``skip_file_prefixes``.
"""

messages.NOT_THE_USERS |= PACKAGES_OF_HOSTS


def asked_by_pyterrier() -> bool:
    """Whether PyTerrier called the caller, through ir_measures: for the columns of a run, before it retrieves.

    Unless ``validate="ignore"``. Ends with: a provider's own check of measures, called before the host retrieves.
    """
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and messages.package_name(frame) == "ir_measures":
        frame = frame.f_back
    return frame is not None and messages.package_name(frame) == "pyterrier"


def may_be_batch(qrels: Any) -> bool:
    """Whether qrels may be those of one batch: a frame cut out of another, so that its rows do not count from 0.

    Ends with: one evaluator for all batches.
    """
    from ..io.frames import is_frame

    if not is_frame(qrels):
        return False
    index = qrels.index.to_numpy()
    return not (len(index) and np.array_equal(index, np.arange(len(index))))


def pyterrier_measures() -> ModuleType | None:
    """``pyterrier.measures``, filled before modules are loaded by their entry points; None without PyTerrier.

    Ends with: entry points in ir_measures (``ir_measures-entry-points.patch``).
    """
    return sys.modules.get("pyterrier.measures")


def has_progress_bar(pt: Any) -> bool:
    """Whether somebody sees ``pt.tqdm``: in a terminal or a notebook, where PyTerrier takes ``tqdm.notebook``.

    Ends with: ``verbose="auto"`` that does this for ``plan="linear"``.
    """
    return sys.stderr.isatty() or pt.tqdm.__module__ == "tqdm.notebook"


RETRIEVAL_OPTIONS = (
    "precompute_prefix",
    "validate",
    "verbose",
    "plan",
    "batch_size",
    "save_mode",
    "save_format",
)
"""The options of ``pt.Experiment`` that matter where pipelines run, and not where results are evaluated.

Ends with: functions of PyTerrier for the two halves of an experiment.
"""

TABLE_OPTIONS = ("perquery", "dataframe", "highlight")
"""The options of ``pt.Experiment`` that matter where results are shown. Ends with: functions for the two halves."""

COMPARISON_COLUMNS = ("+", "-", "p-value", "reject", "p-value corrected")
"""What ``pt.Experiment`` adds to the name of a measure for a ``baseline``; the last two with a ``correction``.

Ends with: the system's name given to ``test=``.
"""

SUMMARIES = ("aggregated.csv", "perquery.csv")
"""The tables in ``save_dir``, whose rows of other systems stay there. Ends with: functions for the two halves."""


def suffix_of_saved(save_format: Any) -> str | None:
    """The suffix of a run in ``save_dir``; None for a format that ``pt.Experiment`` does not take.

    Ends with: functions for the two halves.
    """
    if isinstance(save_format, ModuleType):
        return "mod"
    if isinstance(save_format, tuple) and len(save_format) == 2:
        return "custom"
    return "res.gz" if save_format == "trec" else None


@contextmanager
def collections_of_garbage_spared() -> Iterator[None]:
    """Inside, a collection of garbage, as in each correction of statsmodels 0.14.6, looks at what is made there alone.

    Ends with: no collection there, which takes the time of a whole experiment.
    """
    mine = not gc.get_freeze_count()  # else somebody else has something there that must stay
    if mine:
        gc.freeze()
    try:
        yield
    finally:
        if mine:
            gc.unfreeze()


def highlight_only(styled: Any, columns: set[str]) -> None:
    """Leaves out of a styled table's highlights what is not in ``columns``, by ``col_type`` as pandas 3.1 exports it.

    Ends with: highlights in PyTerrier that pass over columns without a number.
    """
    for _, _, options in styled.export()["apply"]:
        for column in set(options.get("col_type", ())) - columns:
            del options["col_type"][column]
