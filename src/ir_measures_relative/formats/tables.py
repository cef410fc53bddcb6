"""Tables: text with a header, such as BEIR's ``qrels/*.tsv``; rows in JSON; Parquet; runs of MS MARCO."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..data.arrays import rank_within
from ..data.ids import Ids
from ..io.files import check_lines, max_unpacked, too_large_error
from ..io.frames import column_names, id_column, names_in, rows_by_run
from ..io.readers import RawData, RunColumns
from ..io.trec_columns import OTHER_SPACE, Columns
from ..messages import brief
from .content import Content, Format, Parts, add_formats, has_known_columns, holds_columns
from .foreign_files import is_table_of_measures
from .objects import frame_from_arrow, labelled_items, scored_items


def _holds_rows(content: Content) -> bool:
    first = content.records[0] if content.records else {}
    return has_known_columns(first) and not holds_columns(first)


# Quotation marks, blanks, other ends of lines, and empty cells.
_NOT_PLAIN = b'"', b" ", b"\r", b"\v", b"\f", b"\t\t", b"\t\n", b"\n\t"


def plain_columns(rows: bytes, delimiter: str, width: int) -> Columns | None:
    """Return the columns of rows with nothing but delimiters and line feeds between them; None for a closer look."""
    if delimiter != "\t":
        if b"\t" in rows:
            return None
        rows = rows.replace(delimiter.encode(), b"\t")
    if rows.startswith(b"\t") or rows.endswith(b"\t") or any(text in rows for text in _NOT_PLAIN):
        return None
    try:
        return Columns(rows, width)
    except ValueError:
        return None


def _plain_run(content: Content) -> RunColumns | None:
    """Return the run in a table of nothing but queries, documents and scores; None for a closer look."""
    header = content.header
    names = [names_in(header, column) for column in ("query_id", "doc_id", "score")]
    if len(header) != len(names) or any(len(synonyms) != 1 for synonyms in names):
        return None
    query, doc, score = (header.index(name) for name, *_ in names)
    columns = plain_columns(content.table.partition(b"\n")[2], content.delimiter, len(names))
    if columns is None or not len(columns):
        return None
    is_whole = columns.ids(score).string(0).isdigit()
    try:
        scores: Any = columns.whole_numbers(score) if is_whole else columns.floats(score)
    except ValueError:
        return None
    return RunColumns(columns.ids(query), columns.ids(doc), scores)


def _frame(content: Content, *, as_run: bool) -> Any:
    import pandas as pd

    header, kind = content.header, "score" if as_run else "relevance"
    if len(set(header)) < len(header):
        raise ValueError("a column is duplicated in the header; drop one")
    wanted = ("query_id", "doc_id", kind)
    *ids, values = column_names(pd.DataFrame(columns=header), wanted, content.source, "table")
    places = [header.index(name) for names in (*ids, values) for name in names]
    frame = read_cells(content, len(header), places).iloc[1:].set_axis(header, axis=1).reset_index(drop=True)
    _check_ids(frame, ids, "row")
    if len(frame) and frame[values[0]].iloc[-1] == "" and not content.data.endswith(b"\n"):
        raise ValueError(
            f"the last line is cut: it has no {values[0]!r}, and no line feed; fetch the file again"
        )
    for name in values:
        frame[name] = _numbers(frame[name], kind)
    return frame


def read_cells(
    content: Content, width: int, places: Sequence[int], *, quoted: bool = True, blank: str | None = " \t\r"
) -> Any:
    """Return the text of the cells, one row per line, without ``blank`` characters around it (None: any white space).

    ``places`` are the columns of the ids, then the column of the values.
    """
    import pandas as pd

    data = content.data
    if b"\0" in data or data.count(b"\r") - data.endswith(b"\r") > data.count(b"\r\n"):
        match = re.search(rb"\0|\r(?!\n|\Z)", data)  # pandas would end a line at a return, and lose a cell
        assert match is not None
        returns = "a carriage return (\\r) that no line feed follows; end lines with \\n"
        problem = "a NUL; is it a text file?" if match[0] == b"\0" else returns
        line = data.count(b"\n", 0, match.start()) + 1
        raise ValueError(f"{content.source}, line {line}: it holds {problem}")
    quoting = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    layout: dict[str, Any] = {"delimiter": content.delimiter, "quoting": quoting, "skipinitialspace": True}
    plain: dict[str, Any] = {"header": None, "dtype": str, "keep_default_na": False}
    try:
        rows = pd.read_csv(io.BytesIO(content.table), **plain, **layout)
    except (pd.errors.ParserError, UnicodeDecodeError) as error:
        _check_rows(content, width, places, layout, blank)  # which may name the line
        raise ValueError(
            f"{content.source}: {error}; check the cells and quotation marks of the line"
        ) from None
    # The last column is empty, or a cell is missing.
    is_short = rows.shape[1] < width or (rows.iloc[:, -1] == "").any()
    rows = rows.apply(lambda cells: cells.str.strip(blank))
    is_joined = data.strip().count(b"\n") >= len(rows)
    if is_short or is_joined or any(_has_spaces(rows[i]) for i in places[:-1]):
        _check_rows(content, width, places, layout, blank)
        rows = rows[(rows != "").any(axis=1)]
    return rows


# White space, in Python or C, that no id in a text file may hold: all but the blank; and its bytes in ASCII.
_SPACES = re.compile(f"[\\t\\n\\v\\f\\r{OTHER_SPACE}]")
_CONTROLS = bytes([*range(0x09, 0x0E), *range(0x1C, 0x20)])


def _has_spaces(column: Any) -> bool:
    """Return whether an id holds white space other than a blank, such as a tab or a line break."""
    ids = id_column(column, copy=False)
    text = ids.data[ids.starts[0] : ids.ends[-1]].tobytes() if isinstance(ids, Ids) else "".join(ids).encode()
    is_plain = len(text.translate(None, _CONTROLS)) == len(text)
    return not is_plain or (not text.isascii() and _SPACES.search(text.decode()) is not None)


def _check_rows(
    content: Content, width: int, places: Sequence[int], layout: dict[str, Any], blank: str | None
) -> None:
    """Raise ValueError for the first row with another number of cells, or with white space in an id.

    Also for one that a stray quotation mark joins with other rows: the header has several lines; or a row has, of which
    two look like rows, or a cell goes on after the quotation mark that closes it.
    """
    cells = [f"[^{content.delimiter}]*"] * width
    cells[places[-1]] = rf'[\s"]*(?:{_NUMBER})?[\s"]*'
    like_a_row, lines = re.compile(f"[{content.delimiter}]".join(cells)), content.text.split("\n")
    reader = csv.reader(io.StringIO(content.text, newline=""), **layout)
    first, end, n_rows = 0, 0, 0
    try:
        for row in reader:
            first, end = end, reader.line_num
            row_lines = lines[first:end]
            if not any(map(str.strip, row)):
                continue
            n_rows += 1
            if len(row) != width:
                raise csv.Error(f"{len(row)} columns where there should be {width}")
            spaced = next((row[i] for i in places[:-1] if _SPACES.search(row[i].strip(blank))), None)
            if spaced is not None:
                raise csv.Error(f"the id {brief(spaced)} holds white space other than blanks")
            if len(row_lines) > 1:
                list(csv.reader(row_lines, **layout, strict=True))
                if n_rows == 1 or sum(like_a_row.fullmatch(line) is not None for line in row_lines) > 1:
                    raise csv.Error("it is joined with the lines below")
    except csv.Error as error:
        marks = " and its quotation marks" if b'"' in content.data else ""
        raise ValueError(f"{content.source}, line {first + 1}: {error}; check the line{marks}") from None


_NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"


def _numbers(column: Any, kind: str) -> Any:
    """Return a column of text as numbers; a text that is none stays, to be rejected by query and document."""
    import pandas as pd

    if column.str.fullmatch("[+-]?[0-9]{1,18}").all():
        return column.astype("int64")
    if kind == "relevance":
        return column
    is_number, texts = column.str.fullmatch(_NUMBER), column.to_numpy(dtype=object)
    if is_number.all():
        return texts.astype(float)
    values = [float(text) if valid else text for text, valid in zip(texts, is_number, strict=True)]
    return pd.Series(values, dtype=object)


def _parts(frame: Any, kind: str, content: Content, as_run: bool) -> Parts:
    """Return the judgments in a table, or its run or runs by name."""
    several = rows_by_run(frame, content.source) if as_run else None
    if several is None:
        return {"": RawData(frame, kind=kind, is_one_run=True)}
    return {n: RawData(frame.iloc[rows], n, kind, is_one_run=True) for n, rows in several[1].items()}


def _table(content: Content, *, as_run: bool) -> Parts:
    check_lines(content.data, content.source)
    run = _plain_run(content) if as_run else None
    if run is not None:
        return {"": RawData(run, kind="table")}
    return _parts(_frame(content, as_run=as_run), "table", content, as_run)


def _rows(content: Content, *, as_run: bool) -> Parts:
    import pandas as pd

    frame = _lines_by_arrow(content)
    if frame is None and not content.records:
        raise TypeError("a line that is no object")
    frame = pd.DataFrame(content.records, dtype=object) if frame is None else frame
    _check_ids(frame, column_names(frame, ("query_id", "doc_id"), content.source, "list of rows"), "object")
    return _parts(frame, "list of rows", content, as_run)


def _lines_by_arrow(content: Content) -> Any:
    """Read JSON Lines by pyarrow, in a tenth of the time; None where Python may read them otherwise."""
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
    plain_types = (pyarrow.string(), pyarrow.int64(), pyarrow.float64())
    n_lines = content.data.strip().count(b"\n") + 1  # an object may have several
    is_same = (
        n_lines == len(table)
        and all(field.type in plain_types for field in table.schema)
        and not any(column.null_count for column in table.columns)
    )
    return frame_from_arrow(table) if is_same else None


def _check_ids(frame: Any, columns: Iterable[list[str]], row: str) -> None:
    for name, *_ in columns:
        is_missing = (frame[name].isna() | (frame[name] == "")).to_numpy(dtype=bool)
        if is_missing.any():
            raise ValueError(f"{row} {int(is_missing.argmax()) + 1} has no {name!r}; every row needs one")


def read_parquet(data: bytes, source: str) -> Any:
    """Return the table in a Parquet file; raise ValueError if it is too large or damaged."""
    import pandas as pd

    limit = max_unpacked(len(data))
    try:
        from pyarrow.parquet import read_metadata

        if _stated_size(read_metadata(io.BytesIO(data))) <= limit:
            # In one thread: a process that ends while others run may crash.
            frame = pd.read_parquet(io.BytesIO(data), engine="pyarrow", use_threads=False, pre_buffer=False)
            for _, column in frame.items():
                is_arrow = isinstance(column.dtype, (pd.StringDtype, pd.ArrowDtype))
                if is_arrow and hasattr(column.array, "__arrow_array__"):
                    column.array.__arrow_array__().validate(full=True)  # UTF-8
            return frame
    except ImportError:
        raise ImportError(f"{source} is a Parquet file, which needs pyarrow: pip install pyarrow") from None
    except Exception as error:  # also pandas' errors, of any kind
        from pyarrow.lib import ArrowException

        is_arrow_error = isinstance(error, (ArrowException, OSError))
        why = error if is_arrow_error else "what pandas wrote beside the columns does not fit them"
        raise ValueError(
            f"{source}: the Parquet file is truncated or damaged ({why}); fetch it again"
        ) from None
    raise too_large_error(source, "the Parquet file", len(data), limit)


def _stated_size(metadata: Any) -> int:
    """Return the unpacked size that a Parquet file states, and 8 bytes per cell: pyarrow itself has no limit."""
    pages = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    return int(pages + 8 * metadata.num_rows * metadata.num_columns)


def _flatten(frame: Any) -> Any:
    """Return one row per item, where LensKit keeps a list of items per row."""
    import pandas as pd

    if "items" not in frame.columns:
        return frame
    rows = frame.explode("items").dropna(subset="items").reset_index(drop=True)
    return pd.concat([rows.drop(columns="items"), pd.DataFrame(list(rows["items"]))], axis=1)


def _parquet(content: Content, *, as_run: bool) -> Parts:
    frame = read_parquet(content.data, content.source)
    if not {"items", "item_id"} & set(frame.columns):
        return _parts(frame, "DataFrame", content, as_run)
    convert = scored_items if as_run else labelled_items
    return {"": RawData(convert(_flatten(frame), content.source), kind="table of items")}


# ---- MS MARCO's runs: query, document and rank between tabs

_RANKED = re.compile(rb"[^\t]+\t[^\t]+\t[0-9]+\s*")


def _read_ms_marco(content: Content) -> Parts:
    check_lines(content.data, content.source)
    run = _plain_ranks(content) or _checked_ranks(content)
    ranks = run.scores
    # Ranks up to four may be grades as well.
    scores = -ranks if ranks.max() <= 4 else -ranks.astype(np.float64)
    return {"": RawData(run._replace(scores=scores), kind="table")}


def _plain_ranks(content: Content) -> RunColumns | None:
    """Return the run with its ranks if each query has its rows together, in order; None for a closer look."""
    columns = plain_columns(content.table, "\t", 3)
    if columns is None:
        return None
    queries, texts = columns.ids(0), columns.ids(2)
    starts = queries.changes()
    heads = queries.take(starts).strings()
    numbered = rank_within(np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(columns)))))
    try:
        ranks = columns.whole_numbers(2)
    except ValueError:
        return None
    are_digits = (texts.data[texts.starts] != ord("+")).all()
    in_order = are_digits and len(set(heads)) == len(heads) and (ranks == numbered).all()
    return RunColumns(queries, columns.ids(1), ranks) if in_order else None


def _checked_ranks(content: Content) -> RunColumns:
    rows = read_cells(content, 3, (0, 1, 2), quoted=False, blank=None)
    if rows.shape[1] != 3:
        raise ValueError(f"{rows.shape[1]} columns where an MS MARCO run has three between tabs")
    whole = rows[2].str.fullmatch("[0-9]{1,9}")
    wrong = rows[~(whole & (rows[0] != "") & (rows[1] != ""))]
    if len(wrong):
        query, doc, rank = wrong.iloc[0]
        raise ValueError(
            f"query {brief(query)}, document {brief(doc)} has the rank {brief(rank)}; give whole numbers"
        )
    rank = rows[2].astype("int64")
    numbered = rank.groupby(rows[0], sort=False).rank(method="first").astype("int64")
    if (rank != numbered).any():
        query = rows[0][rank != numbered].iloc[0]
        raise ValueError(
            f"the third column of query {brief(query)} is not the ranks 1 to {int((rows[0] == query).sum())}; if it "
            "holds scores, put the header 'query_id<TAB>doc_id<TAB>score' above"
        )
    queries, docs = (id_column(rows[i], copy=False) for i in (0, 1))
    return RunColumns(queries, docs, rank.to_numpy())


add_formats(
    "tables",
    Format(
        name="an MS MARCO run",
        holds=lambda content: (
            _RANKED.fullmatch(content.line) is not None and not is_table_of_measures(content)
        ),
        runs=_read_ms_marco,
        instead="if its third column holds grades, put the header 'query_id<TAB>doc_id<TAB>relevance' above",
        note="In the order of the ranks, which must be 1, 2, 3 … in each query.",
        may_be_either=True,
    ),
    Format(
        name="rows in JSON",
        holds=_holds_rows,
        runs=partial(_rows, as_run=True),
        judgments=partial(_rows, as_run=False),
        note="As DataFrame.to_json(orient='records') writes them.",
        may_be_either=True,
        by_line=True,
    ),
    Format(
        name="a table with a header",
        holds=lambda content: has_known_columns(content.header),
        runs=partial(_table, as_run=True),
        judgments=partial(_table, as_run=False),
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
