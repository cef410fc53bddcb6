"""What notebooks show of the objects of this package."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from . import datasets

if TYPE_CHECKING:
    from ..context import RunContext

# How many runs are listed, and how many characters of a name are shown.
_LISTED, _LONGEST = 20, 60


def table_of_context(context: RunContext) -> str:
    """The runs of a context with their queries and rows, its priors, reference and dataset, as HTML."""
    facts = {
        "priors": repr(context.priors),
        "reference": context.reference,
        "num_docs": context.num_docs,
        "grades": context.grades,
        "dataset": datasets.id_of(context.dataset),
    }
    about = ", ".join(f"{key} {value}" for key, value in facts.items() if value is not None)
    head = f"RunContext of {len(context.runs)} run{'' if len(context.runs) == 1 else 's'}; {about}"
    columns = ["run", "queries", "rows", *(["group"] if context.groups else [])]
    rows = []
    for name, run in list(context.runs.items())[:_LISTED]:
        cells = [
            name,
            len(run.query_ids),
            len(run),
            *([context.groups.get(name, "")] if context.groups else []),
        ]
        marked = f"{_cell(name)} (reference)" if name == context.reference else _cell(name)
        rows.append(f"<tr><th>{marked}</th>" + "".join(f"<td>{_cell(c)}</td>" for c in cells[1:]) + "</tr>")
    if len(context.runs) > _LISTED:
        rows.append(f'<tr><td colspan="{len(columns)}">and {len(context.runs) - _LISTED} more</td></tr>')
    header = "".join(f"<th>{c}</th>" for c in columns)
    return f"<p>{_cell(head, 1000)}</p><table><thead><tr>{header}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _cell(value: object, longest: int = _LONGEST) -> str:
    """Any value as text that runs nothing; the direction in which it is written stays its own."""
    text = format(value, ",") if isinstance(value, int) else str(value)
    short = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return f"<bdi>{escape(short)}</bdi>"
