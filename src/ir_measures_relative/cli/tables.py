"""Tables, in the formats that ``-o`` names: cells, lines, and the order of the rows."""

from __future__ import annotations

import argparse
import io
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..messages import escaped, few, markdown_text

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_PLACES = 4
_MOST_PLACES = 1074  # no double has more
#: The columns of p-values.
_P = ("p", "p_corrected")


def check_table(args: argparse.Namespace) -> None:
    """Raises ValueError for a table that cannot be written so, before anything is read."""
    if not -1 <= args.places <= _MOST_PLACES:
        raise ValueError(
            f"--places {args.places}: give 0 or more, up to {_MOST_PLACES}, or -1 for all places"
        )
    if args.output_format in ("jsonl", "parquet") and args.places != DEFAULT_PLACES:
        warnings.warn(
            f"--places is ignored with --output_format {args.output_format}, which has all places",
            stacklevel=2,
        )
    if args.output_format == "parquet" and sys.stdout.isatty():
        raise ValueError("-o parquet is no text for a terminal; send it to a file: > table.parquet")


def show(
    table: pd.DataFrame | Iterable[Mapping[str, Any]],
    args: argparse.Namespace,
    header: bool = True,
    about: str = "",
) -> None:
    """Prints a table, row by row.

    Args:
        table: a DataFrame, or rows, each from column to cell.
        about: a line before it.
        header: whether the plain formats start with the names of the columns; the others always have them.
    """
    columns: list[str] | None = None
    rows: Any = table
    if hasattr(table, "columns"):
        columns = list(map(str, table.columns))
        rows = rows_of(table)
    if args.sort is not None:
        rows = _sorted(list(rows), args.sort)
    if about:
        print(about)
    name = args.output_format or ("aligned" if sys.stdout.isatty() else "tsv")
    if name == "parquet":
        _write_parquet(rows)
    elif name == "jsonl":
        import json

        for row in rows:
            print(json.dumps({key: _plain(cell) for key, cell in row.items()}))
    else:
        headed, nothing = header or name in _ALWAYS_HEADED, "nan" if name in ("tsv", "csv") else ""
        for line in _WRITERS[name](_cells(rows, args.places, headed, columns, nothing)):
            print(line)


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a DataFrame, from column to cell; None where there is no value."""
    rows: list[dict[str, Any]] = table.astype(object).where(table.notna(), None).to_dict("records")
    return rows


def _sorted(rows: list[Mapping[str, Any]], column: str) -> list[Mapping[str, Any]]:
    """The rows by a column; what has no value there comes last."""
    columns = list(rows[0]) if rows else [column]
    if column not in columns:
        raise ValueError(f"--sort {column}: there is no such column; the columns are {few(columns, 20)}")

    def key(row: Mapping[str, Any]) -> tuple[int, float, str]:
        cell = row[column]
        if cell is None or cell != cell:
            return 2, 0.0, ""
        number = isinstance(cell, (bool, int, float, np.number))
        return (0, -float(cell), "") if number else (1, 0.0, text_of(cell))

    return sorted(rows, key=key)


def _cells(
    rows: Iterable[Mapping[str, Any]],
    places: int,
    header: bool = True,
    columns: Sequence[str] | None = None,
    nothing: str = "",
) -> Iterator[list[str]]:
    """The rows as text, one list a row, the header first: that of the columns, else that of the first row.

    Args:
        nothing: what stands where there is no value.
    """
    if header and columns is not None:
        yield [text_of(name) for name in columns]
    for number, row in enumerate(rows):
        if header and columns is None and not number:
            yield [text_of(name) for name in row]
        yield [
            nothing
            if cell is None
            else text_of(
                _p(cell, places)
                if name in _P
                else _chance(cell, places, row.get("settled") == "undecided")
                if name == "probability"
                else cell,
                places,
            )
            for name, cell in row.items()
        ]


def text_of(cell: Any, places: int = DEFAULT_PLACES) -> str:
    """A cell without control characters; a number with ``places`` decimal places, with all where it is -1."""
    if isinstance(cell, (float, np.floating)):
        spec = "" if places == -1 else f".{places}f"
        return format(float(cell) if places == -1 else round(float(cell), places) + 0.0, spec)  # no -0.00
    if isinstance(cell, Mapping):
        return ", ".join(f"{text_of(key)} {text_of(value, places)}" for key, value in cell.items())
    if isinstance(cell, (tuple, list)):
        return ", ".join(text_of(one, places) for one in cell)
    return escaped(str(cell))


def _p(cell: Any, places: int) -> Any:
    """A p-value, which is never 0: one without a digit in so many places is said to be less than they can show."""
    small = isinstance(cell, float) and places > 0 and round(cell, places) == 0
    return f"<{10.0**-places:.{places}f}" if small else cell


def _chance(cell: Any, places: int, is_open: bool) -> Any:
    """A probability, which is neither 0 nor 1 where the verdict is open, and is not printed so."""
    if is_open and isinstance(cell, float) and places > 0 and round(cell, places) == 1:
        return f">{1 - 10.0**-places:.{places}f}"
    return _p(cell, places) if is_open else cell


def _plain(cell: Any) -> Any:
    """A cell as JSON has it."""
    if isinstance(cell, Mapping):
        return {str(key): _plain(value) for key, value in cell.items()}
    if isinstance(cell, (tuple, list)):
        return [_plain(one) for one in cell]
    return cell.item() if isinstance(cell, np.generic) else cell


def _tsv(lines: Iterable[Sequence[str]]) -> Iterator[str]:
    return map("\t".join, lines)


def _csv(lines: Iterable[Sequence[str]]) -> Iterator[str]:
    import csv

    for line in lines:
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="").writerow(line)
        yield buffer.getvalue()


def _aligned(lines: Iterable[Sequence[str]]) -> Iterator[str]:
    """Columns as wide as their widest cell; numbers stand to the right."""
    from tabulate import tabulate

    kept = list(lines)
    text: str = tabulate(kept, tablefmt="plain", colalign=_alignment(kept), disable_numparse=True)
    return map(str.rstrip, text.splitlines())


def _markdown(lines: Iterable[Sequence[str]]) -> Iterator[str]:
    from tabulate import tabulate

    kept = list(lines)
    header, *rows = [[*map(markdown_text, line)] for line in kept] or [[]]
    text: str = tabulate(rows, header, "pipe", colalign=_alignment(kept), disable_numparse=True)
    return iter(text.splitlines())


def _latex(lines: Iterable[Sequence[str]]) -> Iterator[str]:
    from ..formats.export import latex_table, latex_text

    kept = list(lines)
    header, *rows = [[*map(latex_text, line)] for line in kept] or [[]]
    return iter(latex_table(header, rows, _alignment(kept)).splitlines())


_NUMBER = re.compile(r"[<>]?-?\d+\.?\d*(e[+-]?\d+)?|-?inf|nan|")


def _alignment(lines: Sequence[Sequence[str]]) -> list[str]:
    """Of each column: right where it holds numbers alone, under its header."""
    return [
        "right" if any(column) and all(map(_NUMBER.fullmatch, column)) else "left"
        for column in zip(*(lines[1:] or lines), strict=True)
    ]


def _write_parquet(rows: Iterable[Mapping[str, Any]]) -> None:
    import pandas as pd

    table = pd.DataFrame(list(rows))
    for name in table.select_dtypes("object").columns:
        if any(isinstance(cell, (tuple, list, Mapping)) for cell in table[name]):
            table[name] = table[name].map(lambda cell: text_of(cell, -1))
    try:
        data = table.to_parquet(index=False, engine="pyarrow")
    except ImportError:
        raise ImportError("-o parquet needs pyarrow: pip install pyarrow, or give another format") from None
    sys.stdout.flush()
    sys.stdout.buffer.write(data)


_WRITERS: dict[str, Callable[[Iterable[Sequence[str]]], Iterator[str]]] = {
    "tsv": _tsv,
    "csv": _csv,
    "markdown": _markdown,
    "latex": _latex,
    "aligned": _aligned,
}
_ALWAYS_HEADED = ("csv", "markdown", "latex")
#: What ``-o`` takes.
FORMATS = ("tsv", "csv", "jsonl", "markdown", "latex", "parquet")
