"""``pt.relative``: what PyTerrier users see. ``import pyterrier`` loads this module by its entry point.

It holds what the package holds, which is imported when it is first asked for. The tables of its functions have
PyTerrier's column names: ``qid``, ``docno`` and ``label``, where those of the package, and of the methods of
:class:`RunContext`, have ir_measures' ``query_id``, ``doc_id`` and ``relevance``.

Nothing here may import PyTerrier at the top, which is still being imported when this module is, nor fail or warn
where an optional dependency is missing.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ir_measures_relative as _package

from ..io.frames import NAMES as _NAMES
from ..io.frames import is_frame as _is_frame
from ..io.pipelines import import_pyterrier as _import_pyterrier
from ..measures.strings import registered as _registered
from ..priors import Policy

__all__ = [*_package.__all__, "Experiment"]


def Experiment(
    systems: Any,
    topics: Any,
    qrels: Any,
    eval_metrics: Sequence[Any],
    names: Sequence[str] | None = None,
    *,
    priors: Policy = "others",
    reference: str | None = None,
    groups: Mapping[str, str] | None = None,
    num_docs: int | None = None,
    grades: tuple[int, int] | None = None,
    bounds: bool = False,
    report: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> Any:
    """``pt.Experiment`` with every system scored relative to the other ones.

    Runs every pipeline once, puts the results in a :class:`RunContext`, and returns what ``pt.Experiment`` returns
    inside it. All keyword arguments of ``pt.Experiment`` mean what they mean there:

    - ``mrt`` is PyTerrier's own measurement of the pipelines, by the ``plan`` and in the batches asked for; a
      DataFrame, or a run that is reused, took no time.
    - ``save_dir`` gets what ``pt.Experiment`` saves, once the whole experiment is done; existing files are looked at
      before anything runs. With ``save_mode="reuse"`` a pipeline whose run is there does not run. Frames saved by
      another ``save_format`` than TREC's have a column ``name``, the name of the system.
    - ``verbose="auto"`` shows a progress bar of the pipelines where there is a terminal or a notebook.

    Args:
        systems: transformers or DataFrames of results, as a list, or as a dict by name.
        topics: as for ``pt.Experiment``.
        qrels: as for ``pt.Experiment``.
        eval_metrics: measures of this package and any others, as objects or as strings: ``"NRG@10"``, a name that
            PyTerrier knows such as ``"map"``, or ``"mrt"``. Their columns come in this order.
        names: the names of the systems, each once; known to ``priors``, ``reference``, ``groups``, and to
            ``prior=`` and ``ref=`` in a measure. The systems as strings if not given.
        priors: which systems are the priors of which, as for :class:`RunContext`.
        reference: the name of the system that MED, RBO, RBA and lexiprecision compare with; ``baseline`` if not given.
        groups: from system name to group name, for :class:`BestOfOtherGroups`.
        num_docs: the number of documents in the collection.
        grades: the lowest and the highest relevance label; those of ``qrels`` if not given.
        bounds: adds the columns ``M lower`` and ``M upper`` behind each measure M: between which values unjudged
            documents could bring it, as :func:`~ir_measures_relative.bounds` has them. For a table of means.
        report: writes the experiment as one HTML file to this path, as :func:`~ir_measures_relative.report` does, with
            the queries of ``topics``, and the texts of documents where results have a column ``text``.
        kwargs: the other arguments of ``pt.Experiment``. ``test`` is one of :func:`~ir_measures_relative.compare`'s, by
            name, or a function.

    Returns:
        what ``pt.Experiment`` returns for these arguments, with the measures in the order asked.

    Raises:
        ValueError: names that are not unique, a string that is not a measure, and what ``RunContext`` and
            ``pt.Experiment`` object to.
        ImportError: PyTerrier is not installed, or with ``report`` what the report needs.
        OSError: the report cannot be written; looked at before anything runs.

    Example:
        >>> import pandas as pd
        >>> import pyterrier as pt
        >>> from ir_measures_relative import UniqueRel
        >>> topics = pd.DataFrame({"qid": ["1"], "query": ["tea"]})
        >>> qrels = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 1]})
        >>> def ranking(*docnos):
        ...     frame = pd.DataFrame({"qid": "1", "docno": docnos})
        ...     return frame.assign(score=-1.0 * frame.index, rank=frame.index)
        >>> systems = {"one": ranking("a", "c"), "two": ranking("a", "b")}
        >>> pt.relative.Experiment(systems, topics, qrels, [UniqueRel @ 2])
          name  UniqueRel@2
        0  one          0.0
        1  two          1.0
    """
    _import_pyterrier()
    from .experiment import experiment

    return experiment(
        systems,
        topics,
        qrels,
        eval_metrics,
        names,
        priors=priors,
        reference=reference,
        groups=groups,
        num_docs=num_docs,
        grades=grades,
        bounds=bounds,
        report=report,
        options=kwargs,
    )


def __getattr__(name: str) -> Any:
    if name not in (*__all__, "meta"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(_package, name)
    return _with_pyterriers_names(value) if inspect.isfunction(value) else value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "meta"})


@functools.cache
def _with_pyterriers_names(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function; a table that it returns has PyTerrier's column names."""

    @functools.wraps(function)
    def renamed(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return result.rename(columns=_NAMES) if _is_frame(result) else result

    return renamed


def _add_to_pyterrier_measures() -> None:
    """Adds the measures to ``pyterrier.measures``, which was filled before this package was loaded."""
    module = sys.modules.get("pyterrier.measures")
    if module is not None:
        for name, measure in _registered().items():
            setattr(module, name, measure)


_add_to_pyterrier_measures()
