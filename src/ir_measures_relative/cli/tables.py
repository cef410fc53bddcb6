"""The tables that commands print, in each format, and the sentence above one."""

from __future__ import annotations

import argparse
import io
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..messages import few
from ..writing import escaped, markdown_text, to_json
from .output import SUPERSCRIPTS, WIDTH, say, wrap

if TYPE_CHECKING:
    import pandas as pd

#: What ``-o`` takes.
FORMATS = ("tsv", "csv", "jsonl", "markdown", "latex")
DEFAULT_PLACES = 4
_MOST_PLACES = 17  # no double has more digits that mean anything
_MOST_COLUMNS = 8  # of a table that is printed below its answer

Row = Mapping[str, Any]


def check_table(args: argparse.Namespace) -> None:
    """Raise ValueError, before anything is read, for a table that cannot be written so."""
    if "places" not in args:
        return
    is_set = args.sort is not None or args.places is not None
    if is_set and args.is_text and args.output_format is None:
        raise ValueError("--sort and --places are about the table; add -o tsv, or leave them out")
    args.places = DEFAULT_PLACES if args.places is None else args.places
    if not -1 <= args.places <= _MOST_PLACES:
        raise ValueError(f"--places {args.places}: give 0 to {_MOST_PLACES}, or -1 for all places")
    if args.output_format == "jsonl" and args.places != DEFAULT_PLACES:
        warnings.warn(
            "--places is ignored with --output_format jsonl, which has all places; leave it out", stacklevel=2
        )


def print_table(
    table: pd.DataFrame | Iterable[Row],
    args: argparse.Namespace,
    header: bool = True,
    chosen: Sequence[str] | None = None,
) -> None:
    """Print a DataFrame, or rows, each from column to cell; ``header`` says whether plain formats have one.

    With ``chosen`` columns, the others are left out, and the default format is aligned.
    """
    columns: list[str] | None = None
    rows: Any = table
    if hasattr(table, "columns"):
        columns = list(map(str, rows.columns))
        rows = rows.astype(object).where(rows.notna(), None).to_dict("records")
    if args.sort is not None:
        rows = _sorted(list(rows), args.sort)
    if chosen is not None:
        columns, rows = list(chosen), ({name: row[name] for name in chosen} for row in rows)
    if getattr(args, "missing", None):  # without it, a warning says the same
        say_missing_topics([table])
    aligned = chosen is not None or sys.stdout.isatty()
    name = args.output_format or ("aligned" if aligned else "tsv")
    if name == "jsonl":
        for row in rows:
            print(to_json(row))
        return
    for track in getattr(args, "tracks", ()) if name == "latex" else ():
        print(f"% beside {escaped(track)}")
    has_header, nothing = header or name not in ("tsv", "aligned"), "nan" if name in ("tsv", "csv") else ""
    for line in _format_lines(name, _cells(rows, args.places, has_header, columns, nothing)):
        print(line)


def print_answer(
    table: pd.DataFrame, args: argparse.Namespace, preferred: Iterable[str], shown: pd.DataFrame | None = None
) -> None:
    """Print a verb's answer as a sentence, and the first of the preferred columns that fit; with ``-o`` the table.

    ``shown`` is what to print instead of the table.
    """
    shown = table if shown is None else shown
    chosen = None if args.columns is None else [name.strip() for name in args.columns.split(",")]
    if unknown := [name for name in chosen or () if name not in shown]:
        raise ValueError(f"--columns {few(unknown)}: the columns are {few(shown.columns, 25)}")
    if args.output_format is None:
        if len(table):
            from ..decisions.sentences import sentence

            print(wrap(sentence(table)) + "\n")
        chosen = _fitting_columns(shown, preferred, args.places) if chosen is None else chosen
    print_table(shown, args, chosen=chosen)
    hidden = [name for name in shown.columns if chosen is not None and name not in chosen]
    if hidden and args.output_format is args.columns is None:
        print("\n" + wrap(f"Not shown: {few(hidden, 15)} (--columns NAMES, or -o csv for all)."))


def _fitting_columns(table: pd.DataFrame, preferred: Iterable[str], places: int) -> list[str]:
    """Return the preferred columns that fit a terminal side by side, in the table's order."""
    names = [name for name in preferred if name in table][:_MOST_COLUMNS]
    widths = [max(map(len, [name, *(cell_text(cell, places) for cell in table[name])])) + 2 for name in names]
    while len(names) > 1 and sum(widths[: len(names)]) - 2 > WIDTH:
        names.pop()
    return [name for name in table.columns if name in names]


def say_missing_topics(tables: Iterable[Any]) -> None:
    """Say which runs miss topics, and how these count, from the ``attrs`` of tables."""
    notes = (getattr(table, "attrs", {}).get("missing_topics") for table in tables)
    for note in dict.fromkeys(filter(None, notes)):
        say("note", note)


def _sorted(rows: list[Row], column: str) -> list[Row]:
    """Return the rows sorted by a column; rows without a value there come last."""
    columns = list(rows[0]) if rows else [column]
    if column not in columns:
        raise ValueError(f"--sort {column}: there is no such column; the columns are {few(columns, 20)}")

    def key(row: Row) -> tuple[int, float, str]:
        cell = row[column]
        if cell is None or cell != cell:
            return 2, 0.0, ""
        is_number = isinstance(cell, (bool, int, float, np.number))
        return (0, -float(cell), "") if is_number else (1, 0.0, cell_text(cell))

    return sorted(rows, key=key)


def _cells(
    rows: Iterable[Row], places: int, header: bool, columns: Sequence[str] | None, nothing: str
) -> Iterator[list[str]]:
    """Yield the rows as text, the header first: that of the columns, else that of the first row."""
    if header and columns is not None:
        yield list(map(cell_text, columns))
    for number, row in enumerate(rows):
        if header and columns is None and not number:
            yield list(map(cell_text, row))
        cells = (_round_p(name, cell, row, places) for name, cell in row.items())
        yield [nothing if cell is None else cell_text(cell, places) for cell in cells]


def cell_text(cell: Any, places: int = DEFAULT_PLACES) -> str:
    """Return a cell as text without control characters; a number has ``places`` decimals, or all of them for -1."""
    if isinstance(cell, (float, np.floating)):
        # Adding 0.0 avoids -0.00.
        return str(float(cell)) if places == -1 else f"{round(float(cell), places) + 0.0:.{places}f}"
    if isinstance(cell, Mapping):
        return ", ".join(f"{cell_text(key)} {cell_text(value, places)}" for key, value in cell.items())
    if isinstance(cell, (tuple, list)):
        return ", ".join(cell_text(part, places) for part in cell)
    return escaped(str(cell))


def _round_p(column: str, cell: Any, row: Row, places: int) -> Any:
    """Return the cell; as a text with < or > if a p-value would round to 0, or an undecided probability to 0 or 1."""
    probability = column == "probability" and row.get("settled") == "undecided"
    if not (probability or column in ("p", "p_corrected")) or not isinstance(cell, float) or places <= 0:
        return cell
    if round(cell, places) == 0:
        return f"<{10.0**-places:.{places}f}"
    return f">{1 - 10.0**-places:.{places}f}" if probability and round(cell, places) == 1 else cell


def _format_lines(name: str, rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Return the lines of a table in a format."""
    if name == "tsv":
        return map("\t".join, rows)
    rows = list(rows) or [[]]
    if name == "csv":
        import csv

        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerows(rows)
        return iter(buffer.getvalue().splitlines())  # no cell has a line end
    numeric = [
        any(column) and all(map(_NUMBER.fullmatch, column))
        for column in zip(*(rows[1:] or rows), strict=True)
    ]
    if name == "aligned":
        return ("  ".join(cells).rstrip() for cells in _pad(rows, numeric))
    if name == "markdown":
        header, *body = _pad([[*map(markdown_text, row)] for row in rows], numeric, 3)
        rule = [
            "-" * (len(h) - 1) + ":" if n else ":" + "-" * (len(h) - 1)
            for h, n in zip(header, numeric, strict=True)
        ]
        return (f"| {' | '.join(cells)} |" for cells in [header, rule, *body])
    columns = "".join("r" if number else "l" for number in numeric)
    head, *lines = (
        " & ".join(cells) + r" \\" for cells in _pad([[*map(_latex, row)] for row in rows], numeric)
    )
    # The rules are of the package booktabs.
    start, end = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule"], [r"\bottomrule", r"\end{tabular}"]
    return iter([*start, head, r"\midrule", *lines, *end])


def _latex(cell: str) -> str:
    text = "".join(_LATEX.get(sign, sign) for sign in cell)
    return re.sub(
        f"[{''.join(SUPERSCRIPTS)}]+",
        lambda signs: f"$^{{{''.join(SUPERSCRIPTS[sign] for sign in signs[0])}}}$",
        text,
    )


def _pad(rows: Sequence[Sequence[str]], numeric: Sequence[bool], least: int = 0) -> list[list[str]]:
    """Pad the cells to the width of their column; numbers are aligned to the right."""
    widths = [max(least, *map(len, column)) for column in zip(*rows, strict=True)]
    return [
        [cell.rjust(w) if n else cell.ljust(w) for cell, w, n in zip(row, widths, numeric, strict=True)]
        for row in rows
    ]


_LATEX = {
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"<": "$<$", ">": "$>$"},
}
_NUMBER = re.compile(r"[<>]?-?\d+\.?\d*(e[+-]?\d+)?|-?inf|nan|")
