"""How often does a measure see no difference?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .table import frame, read_table

if TYPE_CHECKING:
    import pandas as pd


def ties(table: Any) -> pd.DataFrame:
    """The share of pairs of runs that a measure ties, of all pairs on all topics (lexiprecision, Table 2).

    Equal is what differs by no more than 10⁻⁹ of the measure's spread.

    Invariant under: factors other than 0, added constants, and any function that keeps different values apart.

    Args:
        table: ``name``, ``query_id`` (or ``qid``), ``measure``, ``value``: what ``evaluate(…, perquery=True)`` returns.
            With a column ``other`` each value is of a pair, and 0 a tie.

    Returns:
        a DataFrame with one row a measure: ``measure``, ``comparisons`` (pairs × topics), ``tied`` and ``share``, from
        0 to 1.

    Raises:
        ValueError: a table that is not complete, fewer than two runs.

    Example:
        >>> import pandas as pd
        >>> from ir_measures_relative import meta
        >>> rows = [("a", "q1", "RR", 1.0), ("b", "q1", "RR", 1.0), ("c", "q1", "RR", 0.5)]
        >>> meta.ties(pd.DataFrame(rows, columns=["name", "query_id", "measure", "value"]))
          measure  comparisons  tied     share
        0      RR            3     1  0.333333
    """
    rows = []
    for scores in read_table(table):
        tied = scores.differences == 0
        row = {"measure": scores.measure, "comparisons": tied.size, "tied": int(tied.sum())}
        rows.append(row | {"share": float(tied.mean())})
    return frame(rows)
