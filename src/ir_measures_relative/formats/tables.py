"""Tables: of commas or tabs with a header, such as BEIR's ``qrels/*.tsv``; rows in JSON; Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from functools import partial
from typing import Any

from ..io.files import max_unpacked, too_large
from ..io.frames import column_names, known_columns
from ..io.readers import Given
from .content import Content, Format, Parts, is_by_column
from .objects import frame_of_arrow, items_as_columns, labelled_items

_VALUES = {"score", "relevance", "label", "rel"}


def _holds(content: Content) -> bool:
    cells = content.header
    return known_columns(cells) and bool(_VALUES & set(cells))


def _holds_rows(content: Content) -> bool:
    first = content.records[0] if content.records else {}
    return known_columns(first) and not is_by_column(first)


def _frame(content: Content, *, as_run: bool) -> Any:
    if len(set(content.header)) < len(content.header):
        raise ValueError("a column stands twice in the header; drop one")
    rows = read_cells(content, len(content.header))
    frame = rows.iloc[1:].set_axis(content.header, axis=1).reset_index(drop=True)
    kind = "score" if as_run else "relevance"
    *ids, values = column_names(frame, ("query_id", "doc_id", kind), content.source, "table")
    _check_ids(frame, ids, "row")
    for name in values:
        frame[name] = _numbers(frame[name], kind)
    return frame


def read_cells(content: Content, width: int, *, quoted: bool = True, blank: str | None = " \t\r") -> Any:
    """The text of the cells without what is ``blank`` around it (None: any white space), a row a line."""
    import pandas as pd

    if b"\0" in content.data:
        raise ValueError(f"{content.source}: it holds a NUL; is it a text file?")
    returns = content.data.count(b"\r") - content.data.endswith(b"\r")
    if returns > content.data.count(b"\r\n"):  # pandas would end a line there, and lose a cell
        raise ValueError(
            f"{content.source}: it holds a carriage return (\\r) that no line feed follows; end lines with \\n"
        )
    quoting = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    layout: dict[str, Any] = {"quoting": quoting, "skipinitialspace": True}
    plain: dict[str, Any] = {"sep": content.delimiter, "header": None, "dtype": str, "keep_default_na": False}
    try:
        rows = pd.read_csv(io.BytesIO(content.data.lstrip()), **plain, **layout)
    except (pd.errors.ParserError, UnicodeDecodeError) as error:
        assert content.text  # or it says which line is not in UTF-8
        raise ValueError(
            f"{content.source}: {error}; check the cells and quotation marks of the line"
        ) from None
    if (rows.iloc[:, -1] == "").any():  # where nothing is written, or a cell is missing
        reader = csv.reader(io.StringIO(content.text, newline=""), delimiter=content.delimiter, **layout)
        for row in reader:
            if any(map(str.strip, row)) and len(row) != width:
                shape = f"{len(row)} columns where there should be {width}"
                raise ValueError(f"{content.source}, line {reader.line_num}: {shape}; check the line")
        rows = rows[(rows != "").any(axis=1)]
    return rows.apply(lambda cells: cells.str.strip(blank))


_NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"


def _numbers(column: Any, kind: str) -> Any:
    """A column of text as numbers, whole ones if they are; what is none stays, to be refused by query and document."""
    import pandas as pd

    if column.str.fullmatch("[+-]?[0-9]{1,18}").all():
        return column.astype("int64")
    if kind == "relevance":
        return column
    known, texts = column.str.fullmatch(_NUMBER), column.to_numpy(dtype=object)
    if known.all():
        return texts.astype(float)
    return pd.Series(
        [float(x) if is_one else x for x, is_one in zip(texts, known, strict=True)], dtype=object
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
    for name, *_ in columns:
        lacking = (frame[name].isna() | (frame[name] == "")).to_numpy(dtype=bool)
        if lacking.any():
            raise ValueError(f"{called} {int(lacking.argmax()) + 1} has no {name!r}; every row needs one")


def _read(data: bytes, source: str) -> Any:
    import pandas as pd

    limit = max_unpacked(len(data))
    try:
        from pyarrow.parquet import read_metadata

        if _stated_size(read_metadata(io.BytesIO(data))) <= limit:
            # In one thread: those of a process that ends at once may take it down with them.
            frame = pd.read_parquet(io.BytesIO(data), engine="pyarrow", use_threads=False, pre_buffer=False)
            for _, column in frame.items():
                of_arrow = isinstance(column.dtype, (pd.StringDtype, pd.ArrowDtype))
                if of_arrow and hasattr(column.array, "__arrow_array__"):
                    column.array.__arrow_array__().validate(full=True)  # UTF-8, which nobody has looked at
            return frame
    except ImportError:
        raise ImportError(f"{source} is a Parquet file, which needs pyarrow: pip install pyarrow") from None
    except Exception as error:  # pyarrow's own errors, of which some are of no other kind
        from pyarrow.lib import ArrowException

        of_pandas = "what pandas wrote beside the columns does not fit them"
        why = error if isinstance(error, (ArrowException, OSError)) else of_pandas
        raise ValueError(
            f"{source}: the Parquet file is truncated or damaged ({why}); fetch it again"
        ) from None
    raise ValueError(too_large(source, "the Parquet file", len(data), limit))


def _stated_size(metadata: Any) -> int:
    """How many bytes a Parquet file says it unpacks to, 8 for every cell: pyarrow has no limit of its own."""
    pages = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    return int(pages + 8 * metadata.num_rows * metadata.num_columns)


def _flat(frame: Any) -> Any:
    """A row an item, where LensKit keeps a list of items a row."""
    import pandas as pd

    if "items" not in frame.columns:
        return frame
    rows = frame.explode("items").dropna(subset="items").reset_index(drop=True)
    return pd.concat([rows.drop(columns="items"), pd.DataFrame(list(rows["items"]))], axis=1)


def _parquet(content: Content, *, as_run: bool) -> Parts:
    frame = _read(content.data, content.source)
    if not {"items", "item_id"} & set(frame.columns):
        return {"": Given(frame)}
    of_lenskit = items_as_columns if as_run else labelled_items
    return {"": Given(of_lenskit(_flat(frame), content.source), kind="table of items")}


FORMATS = (
    Format(
        name="rows in JSON",
        holds=_holds_rows,
        runs=_rows,
        judgments=_rows,
        note="As DataFrame.to_json(orient='records') writes them.",
        may_be_either=True,
        by_line=True,
    ),
    Format(
        name="a table with a header",
        holds=_holds,
        runs=lambda content: {"": Given(_frame(content, as_run=True), kind="table")},
        judgments=lambda content: {"": Given(_frame(content, as_run=False), kind="table")},
        note="BEIR's qrels/*.tsv has query-id, corpus-id and score.",
        may_be_either=True,
    ),
    Format(
        name="Parquet",
        holds=lambda content: content.is_parquet,
        runs=partial(_parquet, as_run=True),
        judgments=partial(_parquet, as_run=False),
        note="Columns as of a DataFrame. LensKit's lists keep their order.",
        may_be_either=True,
    ),
)
