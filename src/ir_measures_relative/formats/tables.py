"""Tables of commas or tabs with a header: BEIR's ``qrels/*.tsv``, and any with columns that a DataFrame may have."""

from __future__ import annotations

from typing import Any

from ..io.frames import NAMES, column_names, known_columns, scheme_of_others
from ..io.readers import Given
from .content import Content, Format, Parts

_VALUES = {"score", "relevance", "label", "rel"}


def _holds(content: Content) -> bool:
    cells = content.header
    return known_columns(cells) and bool(_VALUES & set(cells))


def _as_score(text: str) -> Any:
    """A score as a number; where it is none, as it is, to be refused by its query and document."""
    try:
        return text if "_" in text or not text.isascii() else int(text) if text.isdigit() else float(text)
    except ValueError:
        return text


def _frame(content: Content, *, as_run: bool) -> Any:
    import pandas as pd

    if len(set(content.header)) < len(content.header):
        raise ValueError("a column stands twice in the header; drop one")
    columns = zip(*content.table, strict=True) if content.table else [()] * len(content.header)
    frame = pd.DataFrame(dict(zip(content.header, map(list, columns), strict=True)), dtype=object)
    value = (scheme_of_others(frame.columns) or NAMES)["score"]
    if as_run and value in frame.columns:
        frame[value] = pd.Series([_as_score(text) for text in frame[value]], dtype=object)
    return frame


def _rows(content: Content) -> Parts:
    import pandas as pd

    frame = pd.DataFrame(content.records, dtype=object)
    for names in column_names(frame, ("query_id", "doc_id"), content.source, "list of rows"):
        lacking = frame[names[0]].isna().to_numpy()
        if lacking.any():
            raise ValueError(f"object {int(lacking.argmax()) + 1} has no {names[0]!r}; every row needs one")
    return {"": Given(frame, kind="list of rows")}


FORMATS = (
    Format(
        name="rows in JSON",
        told_by="objects with the columns of a DataFrame as keys, in a list or one a line",
        holds=lambda content: bool(content.records) and known_columns(content.records[0].keys()),
        runs=_rows,
        judgments=_rows,
        note="As DataFrame.to_json(orient='records') writes them.",
        may_be_either=True,
    ),
    Format(
        name="a table with a header",
        told_by="a header with columns of a DataFrame, between commas or tabs",
        holds=_holds,
        runs=lambda content: {"": Given(_frame(content, as_run=True), kind="table")},
        judgments=lambda content: {"": Given(_frame(content, as_run=False), kind="table")},
        note="BEIR's qrels/*.tsv has query-id, corpus-id and score.",
        may_be_either=True,
    ),
)
