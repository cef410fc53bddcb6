"""Tables of commas or tabs with a header: BEIR's ``qrels/*.tsv``, and any with columns that a DataFrame may have."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from ..io.frames import column_names, known_columns
from ..io.readers import Given
from .content import Content, Format, Parts, is_by_column
from .objects import frame_of_arrow

_VALUES = {"score", "relevance", "label", "rel"}


def _holds(content: Content) -> bool:
    cells = content.header
    return known_columns(cells) and bool(_VALUES & set(cells))


def _holds_rows(content: Content) -> bool:
    first = content.records[0] if content.records else {}
    return known_columns(first) and not is_by_column(first)


def _frame(content: Content, *, as_run: bool) -> Any:
    import pandas as pd

    if len(set(content.header)) < len(content.header):
        raise ValueError("a column stands twice in the header; drop one")
    frame = _cells_by_arrow(content)
    if frame is None:
        columns = zip(*content.table, strict=True) if content.table else [()] * len(content.header)
        frame = pd.DataFrame(dict(zip(content.header, map(list, columns), strict=True)), dtype=object)
    kind = "score" if as_run else "relevance"
    *ids, values = column_names(frame, ("query_id", "doc_id", kind), content.source, "table")
    _check_ids(frame, ids, "row")
    for name in values:
        frame[name] = _numbers(frame[name], kind)
    return frame


def _numbers(column: Any, kind: str) -> Any:
    """A column of text as numbers, whole ones if they are; what is none stays, to be refused by query and document."""
    import pandas as pd

    if isinstance(column.dtype, pd.ArrowDtype):
        for dtype in ("int64", "float64")[: 2 if kind == "score" else 1]:
            with suppress(ValueError):
                return column.astype(f"{dtype}[pyarrow]").astype(dtype)
    return pd.Series([_as_score(text) for text in column], dtype=object) if kind == "score" else column


def _as_score(text: str) -> Any:
    try:
        return text if "_" in text or not text.isascii() else int(text) if text.isdigit() else float(text)
    except ValueError:
        return text


def _cells_by_arrow(content: Content) -> Any:
    """The table as columns of Arrow's strings, in a tenth of the time; None where Arrow may read it otherwise."""
    if b'"' in content.data or b"\0" in content.data:
        return None
    try:
        import pyarrow
        from pyarrow import compute, csv
    except ImportError:
        return None
    text = dict.fromkeys(content.header, pyarrow.large_string())
    try:
        table = csv.read_csv(
            pyarrow.BufferReader(content.data.lstrip()),
            csv.ReadOptions(use_threads=False, column_names=content.header, skip_rows=1),
            csv.ParseOptions(delimiter=content.delimiter, quote_char=False),
            csv.ConvertOptions(column_types=text, strings_can_be_null=False),
        )
    except pyarrow.ArrowException:  # which Python's reader finds as well, and says where
        return None
    return frame_of_arrow(
        pyarrow.table({name: compute.utf8_trim(table[name], " \t") for name in content.header})
    )


def _rows(content: Content) -> Parts:
    import pandas as pd

    frame = _lines_by_arrow(content)
    if frame is None and not content.records:
        raise TypeError("a line that is no object")
    frame = pd.DataFrame(content.records, dtype=object) if frame is None else frame
    _check_ids(frame, column_names(frame, ("query_id", "doc_id"), content.source, "list of rows"), "object")
    return {"": Given(frame, kind="list of rows")}


def _lines_by_arrow(content: Content) -> Any:
    """JSON Lines as columns of Arrow's, in a tenth of the time; None where Python may read them otherwise."""
    try:
        import pyarrow
        from pyarrow import json
    except ImportError:
        return None
    if content.first is None:
        return None
    strings = [name for name, value in content.first.json.items() if isinstance(value, str)]
    schema = pyarrow.schema([(name, pyarrow.string()) for name in strings])
    try:
        table = json.read_json(
            pyarrow.BufferReader(content.data),
            json.ReadOptions(use_threads=False, block_size=1 << 22),
            json.ParseOptions(explicit_schema=schema),
        )
        table.validate(full=True)  # UTF-8
    except pyarrow.ArrowException:
        return None
    plain = (pyarrow.types.is_string, pyarrow.types.is_int64, pyarrow.types.is_float64)
    fields = [field for field in table.schema if any(is_kind(field.type) for is_kind in plain)]
    lines = content.data.strip().count(b"\n") + 1  # an object may go on in the next
    whole = (
        lines == len(table)
        and len(fields) == table.num_columns
        and not any(column.null_count for column in table.columns)
    )
    return frame_of_arrow(table) if whole else None


def _check_ids(frame: Any, columns: Iterable[list[str]], called: str) -> None:
    """Raises ValueError where a row has no query, or no document."""
    for name, *_ in columns:
        lacking = (frame[name].isna() | (frame[name] == "")).to_numpy(dtype=bool)
        if lacking.any():
            raise ValueError(f"{called} {int(lacking.argmax()) + 1} has no {name!r}; every row needs one")


FORMATS = (
    Format(
        name="rows in JSON",
        told_by="objects with the columns of a DataFrame as keys, in a list or one a line",
        holds=_holds_rows,
        runs=_rows,
        judgments=_rows,
        note="As DataFrame.to_json(orient='records') writes them.",
        may_be_either=True,
        by_line=True,
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
