"""Pipelines with names, so that a context knows its own runs in plain ``pt.Experiment``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import pyterrier as pt

from ...context.priors import check_run_names
from ...messages import kind_of
from .runs import Replay


def named(systems: Mapping[str, Any]) -> list[pt.Transformer]:
    """The pipelines, each with its name in what it returns: for plain ``pt.Experiment`` inside a context.

    A run of a context must not be its own prior, and the name is how the context knows it. The tables of
    ``pt.Experiment`` have the same names, unless it is given others by ``names=``. What is put behind a named pipeline
    by ``>>`` keeps the name; to name the longer pipeline, give it to this function as well.

    Args:
        systems: from name to transformer, or to a DataFrame of results.

    Returns:
        a list of transformers, in the order given. ``str()`` of each is its name.

    Raises:
        TypeError: no dict, or a system that is neither a transformer nor a DataFrame.
        ValueError: a name that is not a string, or an empty one.

    Example:
        >>> import pandas as pd
        >>> import pyterrier as pt
        >>> found = pd.DataFrame({"qid": ["1"], "docno": ["a"], "score": [1.0]})
        >>> bm25, = pt.relative.named({"BM25": found})
        >>> bm25
        BM25
        >>> bm25(pd.DataFrame({"qid": ["1"], "query": ["tea"]}))
          qid docno  score  name
        0   1     a    1.0  BM25
    """
    if not isinstance(systems, Mapping):
        raise TypeError(f"systems is {kind_of(systems)}; give a dict from name to transformer or DataFrame")
    check_run_names(systems)
    return [_NamedPipeline(name, system) for name, system in systems.items()]


class _Name(pt.Transformer):  # type: ignore[misc]
    """Adds the column ``name``, or replaces it."""

    schematic = {"label": "name"}  #: what PyTerrier's drawing of a pipeline calls it

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"name({self._name!r})"

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        return inp.assign(name=self._name)

    def transform_outputs(self, input_columns: list[str]) -> list[str]:
        return list(dict.fromkeys([*input_columns, "name"]))


class _NamedPipeline(pt.Compose):  # type: ignore[misc]
    """A pipeline that ends with its name; a ``Compose``, so that ``plan="tree"`` sees what it shares with others."""

    def __init__(self, name: str, system: Any) -> None:
        if isinstance(system, pd.DataFrame):
            system = Replay(system, name)
        elif not isinstance(system, pt.Transformer):
            raise TypeError(
                f"the system {name!r} is {kind_of(system)}; give a transformer or a DataFrame of results"
            )
        super().__init__(*pt.Compose(system, _Name(name)))
        self._name = name

    def __repr__(self) -> str:
        return self._name

    __hash__ = pt.Compose.__hash__
