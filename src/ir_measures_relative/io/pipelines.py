"""The runs of PyTerrier pipelines."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..messages import kind_of, needs_extra, warn


def import_pyterrier() -> Any:
    """The module ``pyterrier``.

    Raises:
        ImportError: it is not installed; says how to.
    """
    try:
        import pyterrier
    except ModuleNotFoundError as error:
        if error.name != "pyterrier":
            raise
        raise needs_extra("to run pipelines", "pyterrier") from None
    return pyterrier


def run_pipelines(pipelines: Mapping[str, Any], topics: Any) -> dict[str, Any]:
    """The results of each pipeline for the topics, by name; each runs once.

    Args:
        pipelines: PyTerrier transformers, or DataFrames of results that exist already.
        topics: a DataFrame with ``qid`` and ``query``, or the path of a TREC topics file.

    Raises:
        TypeError: what is not a transformer.
        ImportError: PyTerrier is not installed.
    """
    import pandas as pd

    pt = import_pyterrier()
    if not isinstance(pipelines, Mapping):
        raise TypeError(f"pipelines is {kind_of(pipelines)}; give a dict from name to transformer")
    for name, pipeline in pipelines.items():
        if not isinstance(pipeline, (pd.DataFrame, pt.Transformer)):
            raise TypeError(
                f"pipeline {name!r} is {kind_of(pipeline)}; give a PyTerrier transformer, or a DataFrame of results"
            )
    if isinstance(topics, (str, os.PathLike)):
        topics = pt.io.read_topics(os.fspath(topics))
    results: dict[str, Any] = {}
    for name in pt.tqdm(pipelines, desc="running pipelines", unit="pipeline", disable=None, leave=False):
        pipeline = pipelines[name]
        frame = pipeline if isinstance(pipeline, pd.DataFrame) else pipeline.transform(topics)
        if not len(frame):
            warn(f"pipeline {name!r} gave no result for any of the {len(topics)} topics")
        results[name] = pt.model.coerce_dataframe_types(frame.copy())
    return results
