"""What is drawn of a table."""

from __future__ import annotations

from typing import Any

import ir_measures
import numpy as np

from ..arrays import FloatArray


def names_and_values(table: Any, *measures: ir_measures.Measure | str) -> tuple[list[str], list[FloatArray]]:
    """The names of the systems, and their values of each measure; NaN where there is none, or no finite one.

    Raises:
        ValueError: a column that is not there, or that holds something else than numbers.
    """
    for column in ("name", *map(str, measures)):
        if column not in table.columns:
            raise ValueError(
                f"the table has no column {column!r}; its columns are {[str(c) for c in table.columns]}: give a "
                "table of one row a system, with its name and its measures"
            )
    values = []
    for column in map(str, measures):
        try:
            numbers = table[column].to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError) as error:
            raise ValueError(f"the column {column!r} of the table is not all numbers ({error})") from None
        values.append(np.where(np.isfinite(numbers), numbers, np.nan))
    return [str(n) for n in table["name"]], values


def check_table(table: Any, made_by: str, *columns: str) -> None:
    """Raises ValueError for a table that lacks columns or has no rows; ``made_by`` is the function of ``meta``."""
    lacking = [c for c in columns if c not in getattr(table, "columns", ())]
    if lacking or not len(table):
        what = f"lacks {', '.join(lacking)}" if lacking else "has no rows"
        raise ValueError(f"the table {what}; give the one that meta.{made_by} returns")
