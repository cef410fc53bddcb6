"""How often does a measure see no difference?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..messages import kind_of
from .table import frame, read_table

if TYPE_CHECKING:
    import pandas as pd


def ties(table: Any, by: Mapping[Any, Any] | None = None) -> pd.DataFrame:
    """The share of pairs of runs that a measure ties, of all pairs on all topics (lexiprecision, Table 2).

    Equal is what differs by no more than 10⁻⁹ of the measure's spread.

    With ``by`` a row for each class of topics, such as their numbers of relevant documents; by recall level it is
    :func:`ties_by_level`.

    Invariant under: factors other than 0, added constants, and any function that keeps different values apart.

    Args:
        table: ``name``, ``query_id`` (or ``qid``), ``measure``, ``value``: what ``evaluate(…, perquery=True)`` returns.
            With a column ``other`` each value is of a pair, and 0 a tie.
        by: from each topic to its class, as a dict or a Series, such as
            ``qrels[qrels["relevance"] > 0].groupby("query_id").size()``. Topics that it does not hold are left out.

    Returns:
        a DataFrame with one row a measure: ``measure``, ``comparisons`` (pairs × topics), ``tied`` and ``share``, from
        0 to 1. With ``by`` one row a measure and class, in the order of the classes: ``measure``, ``of`` (the class),
        and so on.

    Raises:
        ValueError: a table that is not complete, fewer than two runs, ``by`` without any of the topics.

    Example:
        >>> import pandas as pd
        >>> from ir_measures_relative import meta
        >>> rows = [("a", "q1", "RR", 1.0), ("b", "q1", "RR", 1.0), ("c", "q1", "RR", 0.5)]
        >>> meta.ties(pd.DataFrame(rows, columns=["name", "query_id", "measure", "value"]))
          measure  comparisons  tied     share
        0      RR            3     1  0.333333
    """
    if by is not None and not hasattr(by, "items"):
        raise TypeError(f"by is {kind_of(by)}; give a dict or a Series from topic to class")
    rows = []
    for scores in read_table(table):
        tied = scores.differences == 0
        for label, topics in _classes(scores.queries, by):
            here = tied[:, topics]
            row = {"measure": scores.measure} | label | {"comparisons": here.size, "tied": int(here.sum())}
            rows.append(row | {"share": float(here.mean())})
    return frame(rows)


def _classes(queries: list[Any], by: Mapping[Any, Any] | None) -> Iterator[tuple[dict[str, Any], list[int]]]:
    """What each class of topics is called, and which they are."""
    if by is None:
        yield {}, list(range(len(queries)))
        return
    class_of = dict(by.items())
    known = {class_of[q] for q in queries if q in class_of}
    if not known:
        raise ValueError(
            f"by holds none of the topics of the table, which has {queries[:3]}; give a dict from topic to class"
        )
    for label in sorted(known):
        yield {"of": label}, [i for i, q in enumerate(queries) if q in class_of and class_of[q] == label]
