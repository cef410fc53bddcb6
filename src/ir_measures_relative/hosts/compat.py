"""Every guess about a host: what ir_measures, PyTerrier and pandas do, but do not promise.

Each says in which version it was seen, which test of ``tests/hosts/test_compat.py`` checks it against the installed
host, and which change of the host would end it: a patch is one of ``studies/upstream``. A guess that a lower module
makes is a constant here, named in capitals after what it is about: its value is the code that makes it.
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
from ..context import absolute, measure_strings
from ..measures.measure import RelativeMeasure, path_if_string

# --- ir_measures


def default_providers() -> list[Provider]:
    """The providers that ir_measures asks in turn; none while it is still being imported.

    Seen: ir_measures 0.4.3 has no function that adds one. Test: test_default_providers. Ends with: entry points
    (``ir_measures-entry-points.patch``).
    """
    pipeline = getattr(ir_measures, "DefaultPipeline", None)
    return [] if pipeline is None else pipeline.providers


PRIORITY = 1000
"""Behind ir_measures' own providers, in a version that orders providers by ``PRIORITY``.

Seen: ir_measures' branch "entry-points". Test: test_priority. Ends with: entry points, in a release
(``ir_measures-entry-points.patch``).
"""

MEASURE_STRINGS = measure_strings.read_measure
"""``ir_measures.parse_measure`` fails on Python 3.14, so this package parses measure strings itself.

Seen: ir_measures 0.4.3 asks for ``ast.Num`` and ``ast.Str``. Test: test_measure_strings. Ends with: ``ast.Constant``
(``ir_measures-constants.patch``).
"""

PATHS_OF_QRELS = path_if_string
"""A string is a sequence of characters to ir_measures; a ``Path`` is handed on to a measure's one provider as it is.

Seen: ir_measures 0.4.3. Test: test_paths_of_qrels. Ends with: paths that its conversion reads.
"""

NAMES_OF_MEASURES = RelativeMeasure.__init_subclass__
"""A measure is registered and written by its ``__name__``, and supported by its ``NAME``; both must be the same.

Seen: ir_measures 0.4.3. Test: test_names_of_measures. Ends with: one of the two in ``ir_measures.Measure``.
"""

MESSAGES = measure_strings.what_is_wrong
"""How ir_measures says that a parameter is missing: ``invalid param cutoff=<object …``.

Seen: ir_measures 0.4.3. Test: test_messages. Ends with: messages there that name the measure and the parameter.
"""

SHARES = measure_strings.SHARES
"""The measures of ir_measures, by name, whose values lie between 0 and 1.

Seen: ir_measures 0.4.3 states no ranges. Test: test_shares. Ends with: a range in each measure's declaration.
"""

FATAL_PARAMETERS = measure_strings.check_host_measure
"""pytrec_eval ends the process for a cutoff of 0, and ndeval looks at no more than 20 ranks: both are refused before.

Seen: ir_measures 0.4.3. Test: test_fatal_parameters. Ends with: providers that check their parameters.
"""

ASPECTS = measure_strings.needs_subtopics
"""What pyndeval supports reads aspects from the column ``iteration`` of the qrels, and nothing else does.

Seen: ir_measures 0.4.3. Test: test_aspects. Ends with: ``iteration`` in ``Provider.qrel_inputs``.
"""

BY_PLACE = absolute.BY_PLACE
"""The providers, by name, that read a run's order and not its scores; the first that supports a measure computes it.

Seen: ir_measures 0.4.3. Test: test_by_place. Ends with: providers that say what they read of a run.
"""

RELEVANT_ONLY = absolute.RELEVANT_ONLY
"""The measures, by name, that depend on the positions of relevant documents alone, and how trec_eval adds them up.

Seen: ir_measures 0.4.3. Test: test_relevant_only. Ends with: columns instead of tuples in its conversion
(``ir_measures-columns.patch``).
"""

ONE_EVALUATOR_EACH = absolute.Look
"""One evaluator mixes up values of ``rel``, ``alpha`` and ``beta`` of aspects.

Seen: ir_measures 0.4.3. Test: test_one_evaluator_each. Ends with: providers that split such measures themselves.
"""

NEGATIVE_LABELS = absolute.nested_qrels
"""pytrec_eval writes outside its arrays for a query whose labels are all negative; 0 means the same.

Seen: pytrec_eval_terrier 0.5.11. Test: test_negative_labels. Ends with: a check there.
"""

FAILURES = absolute.FAILURES
"""What providers raise for a measure that they say they support, beside ValueErrors ("Unsupported measures …").

Seen: ir_measures 0.4.3. Test: test_failures. Ends with: ``Provider.supports`` that is right about parameters.
"""

# --- PyTerrier

MEASURES_EQUAL_THEIR_STRINGS = RelativeMeasure.__eq__
"""``pt.GridSearch`` keeps values under a measure's string, and looks for them by the measure.

Seen: PyTerrier 1.1.2. Test: test_measures_equal_their_strings. Ends with: ``str(metric)`` in ``GridSearch``.
"""

PACKAGES_OF_HOSTS = frozenset(
    {"ir_measures", "pyterrier", "pyterrier_alpha", "dask", "distributed", "joblib", "matplotlib", "pandas"}
    | {"tqdm", "concurrent", "contextlib", "importlib", "threading"}
)
"""Packages whose lines stand between the user's line and this package: a warning names the user's.

Seen: PyTerrier 1.1.2. Test: test_packages_of_hosts. Ends with: hosts that pass warnings on with ``skip_file_prefixes``.
"""

messages.NOT_THE_USERS |= PACKAGES_OF_HOSTS


def asked_by_pyterrier() -> bool:
    """Whether PyTerrier called the caller, through ir_measures: for the columns of a run, before it retrieves.

    Seen: PyTerrier 1.1.2, unless ``validate="ignore"``. Test: test_asked_by_pyterrier. Ends with: a provider's own
    check of measures, which the host calls before it retrieves.
    """
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and messages.package_of(frame) == "ir_measures":
        frame = frame.f_back
    return frame is not None and messages.package_of(frame) == "pyterrier"


def may_be_batch(qrels: Any) -> bool:
    """Whether qrels may be those of one batch: a frame cut out of another, so that its rows do not count from 0.

    Seen: PyTerrier 1.1.2, which makes an evaluator for each batch. Test: test_may_be_batch. Ends with: one evaluator
    for all batches.
    """
    from ..io.frames import is_frame

    if not is_frame(qrels):
        return False
    index = qrels.index.to_numpy()
    return not (len(index) and np.array_equal(index, np.arange(len(index))))


def pyterrier_measures() -> ModuleType | None:
    """``pyterrier.measures``, which holds ir_measures' measures of before this package was loaded; None without it.

    Seen: PyTerrier 1.1.2 fills it before it loads modules by their entry points, and has no ``__getattr__`` in it;
    this package's entry point adds one. Test: test_pyterrier_measures. Ends with: entry points in ir_measures
    (``ir_measures-entry-points.patch``).
    """
    return sys.modules.get("pyterrier.measures")


def has_progress_bar(pt: Any) -> bool:
    """Whether somebody sees ``pt.tqdm``: in a terminal or a notebook.

    Seen: PyTerrier 1.1.2 takes ``tqdm.notebook`` there. Test: test_has_progress_bar. Ends with: ``verbose="auto"`` that
    does this for ``plan="linear"``.
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

Seen: PyTerrier 1.1.2. Test: test_options. Ends with: functions of PyTerrier for the two halves of an experiment.
"""

TABLE_OPTIONS = ("perquery", "dataframe", "highlight")
"""The options of ``pt.Experiment`` that matter where results are shown, and not where pipelines run.

Seen: PyTerrier 1.1.2. Test: test_options. Ends with: functions of PyTerrier for the two halves of an experiment.
"""

COMPARISON_COLUMNS = ("+", "-", "p-value", "reject", "p-value corrected")
"""What ``pt.Experiment`` adds to the name of a measure for a ``baseline``; the last two with a ``correction``.

Seen: PyTerrier 1.1.2. Test: test_comparison_columns. Ends with: the system's name given to ``test=``.
"""

SUMMARIES = ("aggregated.csv", "perquery.csv")
"""The tables in ``save_dir``, whose rows of other systems ``pt.Experiment`` keeps.

Seen: PyTerrier 1.1.2. Test: test_saved_files. Ends with: functions of PyTerrier for the two halves of an experiment.
"""


def suffix_of_saved(save_format: Any) -> str | None:
    """The suffix of a run in ``save_dir``; None for a format that ``pt.Experiment`` does not take.

    Seen: PyTerrier 1.1.2. Test: test_saved_files. Ends with: functions of PyTerrier for the two halves.
    """
    if isinstance(save_format, ModuleType):
        return "mod"
    if isinstance(save_format, tuple) and len(save_format) == 2:
        return "custom"
    return "res.gz" if save_format == "trec" else None


@contextmanager
def collections_of_garbage_spared() -> Iterator[None]:
    """Inside, a collection of garbage looks at what is made there alone: it takes the time of a whole experiment.

    Seen: statsmodels 0.14.6 collects in each of its corrections. Test: test_collections. Ends with: none there.
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
    """Leaves out of a styled table's highlights what is not in ``columns``: PyTerrier looks for each largest value.

    Seen: PyTerrier 1.1.2 gives ``Styler.apply`` the columns as ``col_type``, which pandas 3.1 exports. Test:
    test_highlight_only. Ends with: highlights in PyTerrier that pass over columns without a number.
    """
    for _, _, options in styled.export()["apply"]:
        for column in set(options.get("col_type", ())) - columns:
            del options["col_type"][column]
