"""Tables: of commas or tabs with a header, such as BEIR's ``qrels/*.tsv``; rows in JSON; Parquet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from ..data.ids import Ids
from ..io.files import check_lines, max_unpacked, too_large
from ..io.frames import column_names, names_a_column, text_of
from ..io.readers import Given
from ..io.trec_columns import OTHER_SPACE
from ..messages import brief
from .content import Content, Format, Parts, is_by_column
from .objects import frame_of_arrow, items_as_columns, labelled_items


def _holds(content: Content) -> bool:
    return names_a_column(content.header)


def _holds_rows(content: Content) -> bool:
    first = content.records[0] if content.records else {}
    return names_a_column(first) and not is_by_column(first)


def _frame(content: Content, *, as_run: bool) -> Any:
    if len(set(content.header)) < len(content.header):
        raise ValueError("a column stands twice in the header; drop one")
    rows = read_cells(content, len(content.header))
    frame = rows.iloc[1:].set_axis(content.header, axis=1).reset_index(drop=True)
    kind = "score" if as_run else "relevance"
    *ids, values = column_names(frame, ("query_id", "doc_id", kind), content.source, "table")
    _check_ids(frame, ids, "row")
    check_spaces(content, frame, [name for names in ids for name in names])
    _check_rows_in_cells(content, frame, values[0])
    if len(frame) and frame[values[0]].iloc[-1] == "" and not content.data.endswith(b"\n"):
        raise ValueError(
            f"the last line is cut: it has no {values[0]!r}, and no line feed; fetch the file again"
        )
    for name in values:
        frame[name] = _numbers(frame[name], kind)
    return frame


def read_cells(content: Content, width: int, *, quoted: bool = True, blank: str | None = " \t\r") -> Any:
    """The text of the cells without what is ``blank`` around it (None: any white space), a row a line."""
    import pandas as pd

    data = content.data
    check_lines(data, content.source)
    if b"\0" in data or data.count(b"\r") - data.endswith(b"\r") > data.count(b"\r\n"):
        wrong = re.search(rb"\0|\r(?!\n|\Z)", data)  # pandas would end a line at a return, and lose a cell
        assert wrong is not None
        returns = "a carriage return (\\r) that no line feed follows; end lines with \\n"
        what = "a NUL; is it a text file?" if wrong[0] == b"\0" else returns
        line = data.count(b"\n", 0, wrong.start()) + 1
        raise ValueError(f"{content.source}, line {line}: it holds {what}")
    quoting = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    layout: dict[str, Any] = {"quoting": quoting, "skipinitialspace": True}
    plain: dict[str, Any] = {"sep": content.delimiter, "header": None, "dtype": str, "keep_default_na": False}
    try:
        rows = pd.read_csv(io.BytesIO(content.table), **plain, **layout)
    except (pd.errors.ParserError, UnicodeDecodeError) as error:
        _check_width(content, width, quoting)  # or it says which line is not in UTF-8
        raise ValueError(
            f"{content.source}: {error}; check the cells and quotation marks of the line"
        ) from None
    if (rows.iloc[:, -1] == "").any():  # where nothing is written, or a cell is missing
        _check_width(content, width, quoting)
        rows = rows[(rows != "").any(axis=1)]
    return rows.apply(lambda cells: cells.str.strip(blank))


def _lines(content: Content, quoting: int) -> Iterator[tuple[int, int, list[str]]]:
    """The rows that are not blank, as Python reads them, each with the numbers of its first and its last line."""
    text = io.StringIO(content.text, newline="")
    reader: Any = csv.reader(text, delimiter=content.delimiter, quoting=quoting, skipinitialspace=True)  # type: ignore[arg-type]
    first = 1
    try:
        for row in reader:
            if any(map(str.strip, row)):
                yield first, reader.line_num, row
            first = reader.line_num + 1
    except csv.Error as error:
        raise ValueError(f"{content.source}, line {first}: {error}; check its quotation marks") from None


def _check_width(content: Content, width: int, quoting: int) -> None:
    for line, _, row in _lines(content, quoting):
        if len(row) != width:
            shape = f"{len(row)} columns where there should be {width}"
            raise ValueError(
                f"{content.source}, line {line}: {shape}; check the line and its quotation marks"
            )


# White space that no id of a text file holds: Python's and C's, but for the blank.
_SPACES = re.compile(f"[\\t\\n\\v\\f\\r{OTHER_SPACE}]")
_CONTROLS = bytes([*range(0x09, 0x0E), *range(0x1C, 0x20)])  # those in ASCII


def check_spaces(content: Content, rows: Any, columns: Iterable[Any], *, header: int = 1) -> None:
    """Raises ValueError for an id with a tab, a line break or the like in it, as stray quotation marks make them."""
    for name in columns if len(rows) else ():
        text = _joined(rows[name])
        is_plain = len(text.translate(None, _CONTROLS)) == len(text)
        if is_plain and (text.isascii() or not _SPACES.search(text.decode())):
            continue
        row = next(i for i, value in enumerate(rows[name]) if _SPACES.search(value))
        quoting = csv.QUOTE_MINIMAL if header else csv.QUOTE_NONE
        line, *_ = next(islice(_lines(content, quoting), row + header, None))
        raise ValueError(
            f"{content.source}, line {line}: the id {brief(rows[name].iloc[row])} holds white space other than blanks; "
            "correct it, or the quotation mark that joins it with what follows"
        )


def _joined(column: Any) -> bytes:
    ids = text_of(column, kept=False)
    return ids.data[ids.starts[0] : ids.ends[-1]].tobytes() if isinstance(ids, Ids) else "".join(ids).encode()


def _check_rows_in_cells(content: Content, frame: Any, values: str) -> None:
    """Raises ValueError for a row over several lines that a stray quotation mark joins.

    It is the header, two of its lines look like rows, or a cell goes on behind the quotation mark that closes it.
    """
    if b'"' not in content.data or content.data.strip().count(b"\n") <= len(frame):
        return
    place = frame.columns.get_loc(values)
    lines = content.text.split("\n")

    def looks_like_a_row(line: str) -> bool:
        cells = line.split(content.delimiter)
        return (
            len(cells) == frame.shape[1]
            and re.fullmatch(rf'[\s"]*({_NUMBER})?[\s"]*', cells[place]) is not None
        )

    for number, (first, last, _) in enumerate(_lines(content, csv.QUOTE_MINIMAL)):
        of_row = lines[first - 1 : last]
        if len(of_row) == 1:
            continue
        is_header = number == 0
        if is_header or sum(map(looks_like_a_row, of_row)) > 1 or not _is_well_quoted(content, of_row):
            raise ValueError(
                f"{content.source}, line {first}: a quotation mark joins this row with the rows below; remove it, or "
                "write it twice in a cell between quotation marks"
            )


def _is_well_quoted(content: Content, lines: list[str]) -> bool:
    text = io.StringIO("\n".join(lines), newline="")
    try:
        return bool(list(csv.reader(text, delimiter=content.delimiter, skipinitialspace=True, strict=True)))
    except csv.Error:
        return False


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
        note="Of commas, tabs, semicolons or bars. BEIR's qrels/*.tsv has query-id, corpus-id and score.",
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
