"""Guesses about the hosts: behaviour of ir_measures, PyTerrier and pandas that they do not promise.

Each was observed in ir_measures 0.4.3 or PyTerrier 1.1.2, or the version that it names. "Ends with" names the change of
the host that would make it unnecessary; a patch is one of ``studies/upstream``. The test of the same name in
``tests/hosts/test_compat.py`` checks it against the installed host. Guesses in lower modules are in comments that start
with ``Guess:`` and the name of their test.
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
    """Return the providers that ir_measures tries in turn, as no function adds one; none while it is being imported.

    Ends with: entry points (``ir_measures-entry-points.patch``).
    """
    pipeline = getattr(ir_measures, "DefaultPipeline", None)
    return [] if pipeline is None else pipeline.providers


PRIORITY = 1000
"""Sorts our provider behind those of ir_measures, in its branch "entry-points", which orders them by ``PRIORITY``.

Ends with: entry points, in a release (``ir_measures-entry-points.patch``).
"""

# --- PyTerrier

PACKAGES_OF_HOSTS = frozenset(
    {"ir_measures", "pyterrier", "pyterrier_alpha", "dask", "distributed", "joblib", "matplotlib", "pandas"}
    | {"tqdm", "concurrent", "contextlib", "functools", "importlib", "threading"}
)
"""Packages between the user's code and ours: a warning names the line in the user's code.

Ends with: hosts that pass warnings on with ``skip_file_prefixes``.
"""

messages.NOT_THE_USERS |= PACKAGES_OF_HOSTS


def asked_by_pyterrier() -> bool:
    """Return whether PyTerrier, through ir_measures, asks for the columns of a run before it retrieves.

    Unless ``validate="ignore"``. Ends with: a provider's own check of measures, called before the host retrieves.
    """
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and messages.package_name(frame) == "ir_measures":
        frame = frame.f_back
    return frame is not None and messages.package_name(frame) == "pyterrier"


def may_be_batch(qrels: Any) -> bool:
    """Return whether qrels may be one batch: a frame cut out of another, whose rows do not count from 0.

    Ends with: one evaluator for all batches.
    """
    from ..io.frames import is_frame

    if not is_frame(qrels):
        return False
    index = qrels.index.to_numpy()
    return not (len(index) and np.array_equal(index, np.arange(len(index))))


def pyterrier_measures() -> ModuleType | None:
    """Return ``pyterrier.measures``, which is filled before entry points are loaded; None without PyTerrier.

    Ends with: entry points in ir_measures (``ir_measures-entry-points.patch``).
    """
    return sys.modules.get("pyterrier.measures")


RETRIEVAL_OPTIONS = (
    *("precompute_prefix", "validate", "verbose", "plan"),
    *("batch_size", "save_mode", "save_format"),
)
"""The options of ``pt.Experiment`` for running pipelines, which do not matter for evaluating results.

Ends with: functions of PyTerrier for the two halves of an experiment.
"""

TABLE_OPTIONS = ("perquery", "dataframe", "highlight")
"""The options of ``pt.Experiment`` for showing results. Ends with: functions for the two halves."""

COMPARISON_COLUMNS = ("+", "-", "p-value", "reject", "p-value corrected")
"""The endings of the columns that a ``baseline`` adds for each measure; the last two with a ``correction``.

Ends with: the system's name given to ``test=``.
"""

SUMMARIES = ("aggregated.csv", "perquery.csv")
"""The tables in ``save_dir``, which keep the rows of other systems. Ends with: functions for the two halves."""


def run_suffix(save_format: Any) -> str | None:
    """Return the suffix of a run in ``save_dir``; None for a format that ``pt.Experiment`` rejects.

    Ends with: functions for the two halves.
    """
    if isinstance(save_format, ModuleType):
        return "mod"
    if isinstance(save_format, tuple) and len(save_format) == 2:
        return "custom"
    return "res.gz" if save_format == "trec" else None


@contextmanager
def brief_garbage_collections() -> Iterator[None]:
    """Limit garbage collections, as in each correction of statsmodels 0.14.6, to objects made inside the block.

    Ends with: no collection there, which takes the time of a whole experiment.
    """
    is_unused = not gc.get_freeze_count()  # else the objects that somebody else froze must stay
    if is_unused:
        gc.freeze()
    try:
        yield
    finally:
        if is_unused:
            gc.unfreeze()


def highlight_only(styled: Any, columns: set[str]) -> None:
    """Limit the highlights of a styled table to these columns, by ``col_type`` in the export of pandas 3.1.

    Ends with: highlights in PyTerrier that skip columns without a number.
    """
    for _, _, options in styled.export()["apply"]:
        for column in set(options.get("col_type", ())) - columns:
            del options["col_type"][column]
