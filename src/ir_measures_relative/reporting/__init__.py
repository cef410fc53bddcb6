"""The report: one HTML file of a test collection, which opens from disk, without a network.

``contents`` holds what the sections look at, ``sections`` makes them, and ``page`` puts them together. Needs the extra
``report``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import ir_measures

from ..context.evaluate import Scores
from ..context.measure_strings import parse_measures
from ..context.run_context import RunContext, check_is_context
from ..io.datasets import dataset_id, fetch_qrels
from ..io.qrels import Qrels, QrelsColumns, qrels_columns
from ..messages import counted, needs_extra, warn
from ..writing import check_writable, write_whole


def report(
    context: RunContext,
    qrels: Qrels | None,
    measures: Sequence[ir_measures.Measure | str],
    path: str | os.PathLike[str],
    *,
    queries: Mapping[str, str] | None = None,
    title: str | None = None,
    command: str | None = None,
) -> Path:
    """Write an HTML report.

    It has a table and a figure of all runs, a page for each two runs, and sections on similar and
    complementary runs, unjudged documents, and the fingerprint. It names the sections that cannot be computed. Equal
    input and equal versions of the packages make equal bytes.

    Args:
        context: the runs.
        qrels: the judgments, as for :meth:`RunContext.evaluate`.
        measures: if none of them is relative, NRG(norm='ideal')@10 is added.
        path: the file to write; an existing file is replaced.
        queries: from query id to text. Default: the dataset of the context.
        title: default: the number of runs, and the dataset or file of the judgments.
        command: the command that made it, shown with the fingerprint.

    Raises:
        ValueError: a context without runs; what :meth:`RunContext.evaluate` raises.
        OSError: the file cannot be written; this is checked before anything is computed.
    """
    parsed = parse_measures(measures)
    require_packages()
    if os.path.isdir(path):
        example = os.path.join(path, "report.html")
        raise IsADirectoryError(f"{path} is a folder; give the path of a file, such as {example}")
    check_writable(path)
    target = Path(os.path.realpath(path))  # a link stays one
    check_is_context(context)
    if not context.names:
        raise ValueError("the context holds no run, so there is nothing to report; give RunContext some runs")
    columns = qrels_columns(fetch_qrels(context.dataset) if qrels is None else qrels)
    collection = str(qrels) if isinstance(qrels, (str, os.PathLike)) else None
    more: dict[str, Any] = {"queries": queries, "title": title, "command": command, "collection": collection}
    if (message := write(context, columns, parsed, target, **more)) is not None:
        warn(message)
    return target


def require_packages() -> None:
    """Raise ImportError, which says what to install, where a package is missing."""
    if not all(map(find_spec, ("jinja2", "matplotlib", "vl_convert"))):
        raise needs_extra("the report", "report")


def write(
    context: RunContext,
    qrels: QrelsColumns,
    measures: Sequence[ir_measures.Measure],
    path: str | os.PathLike[str],
    *,
    scores: Scores | None = None,
    dataset: Any = None,
    queries: Mapping[str, str] | None = None,
    title: str | None = None,
    command: str | None = None,
    collection: str | None = None,
) -> str | None:
    """Write a report of checked input; return a warning for its reader, or None.

    ``collection`` is the path of the judgments, which names the collection where there is no dataset.
    """
    from .contents import collect_contents, read_queries
    from .page import render_page

    dataset = context.dataset if dataset is None else dataset
    texts = read_queries(dataset, queries)
    contents = collect_contents(context, qrels, measures, scores=scores, queries=texts, command=command)
    judged_by = dataset_id(dataset) or "/".join(Path(collection or "").parts[-2:])
    runs = counted(len(context.names), "run")
    page = render_page(contents, title or f"{runs} {f'on {judged_by}' if judged_by else 'compared'}")
    # An older file stays where the new one cannot be written.
    write_whole(path, lambda temporary: Path(temporary).write_bytes(page.encode("utf-8", "replace")))
    return contents.one_topic
