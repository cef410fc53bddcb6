"""What notebooks show of the objects of this package."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from ..rankings import Rankings

# How many runs are listed, and how many characters of a name are shown.
_LISTED, _LONGEST = 20, 60


def table_of_runs(
    kind: str,
    runs: Mapping[str, Rankings],
    facts: Mapping[str, object],
    groups: Mapping[str, str],
    reference: str | None,
) -> str:
    """The runs of a context with their queries and rows, and what else is known of it, as HTML.

    Args:
        kind: what holds the runs.
        facts: what is said above the table; what is None is left out.
    """
    about = ", ".join(f"{key} {value}" for key, value in facts.items() if value is not None)
    head = f"{kind} of {len(runs)} run{'' if len(runs) == 1 else 's'}; {about}"
    columns = ["run", "queries", "rows", *(["group"] if groups else [])]
    rows = []
    for name, run in list(runs.items())[:_LISTED]:
        cells = [
            name,
            len(run.query_ids),
            len(run),
            *([groups.get(name, "")] if groups else []),
        ]
        marked = f"{_cell(name)} (reference)" if name == reference else _cell(name)
        rows.append(f"<tr><th>{marked}</th>" + "".join(f"<td>{_cell(c)}</td>" for c in cells[1:]) + "</tr>")
    if len(runs) > _LISTED:
        rows.append(f'<tr><td colspan="{len(columns)}">and {len(runs) - _LISTED} more</td></tr>')
    header = "".join(f"<th>{c}</th>" for c in columns)
    return f"<p>{_cell(head, 1000)}</p><table><thead><tr>{header}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _cell(value: object, longest: int = _LONGEST) -> str:
    """Any value as text that runs nothing; the direction in which it is written stays its own."""
    text = format(value, ",") if isinstance(value, int) else str(value)
    short = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return f"<bdi>{escape(short)}</bdi>"
