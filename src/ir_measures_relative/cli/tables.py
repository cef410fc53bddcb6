"""The tables that a command prints, in each format."""

from __future__ import annotations

import argparse
import io
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..messages import escaped, few, markdown_text, to_json
from .output import SUPERSCRIPTS, WIDTH, say, wrapped

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_PLACES = 4
_MOST_PLACES = 17  # no double has more digits that mean anything
_MOST_COLUMNS = 8  # of a table that is printed below its answer
#: The columns of p-values.
_P = ("p", "p_corrected")


def check_table(args: argparse.Namespace) -> None:
    """Raises ValueError for a table that cannot be written so, before anything is read."""
    if not -1 <= args.places <= _MOST_PLACES:
        raise ValueError(f"--places {args.places}: give 0 to {_MOST_PLACES}, or -1 for all places")
    if args.output_format == "jsonl" and args.places != DEFAULT_PLACES:
        warnings.warn(
            "--places is ignored with --output_format jsonl, which has all places; leave it out", stacklevel=2
        )


def show(
    table: pd.DataFrame | Iterable[Mapping[str, Any]],
    args: argparse.Namespace,
    header: bool = True,
    about: str = "",
    chosen: Sequence[str] | None = None,
) -> None:
    """Print a DataFrame, or rows, each from column to cell; ``header`` says whether plain formats have one.

    With ``chosen`` columns, the others are left out, and the default format is aligned.
    """
    columns: list[str] | None = None
    rows: Any = table
    if hasattr(table, "columns"):
        columns = list(map(str, table.columns))
        rows = rows_of(table)
    if args.sort is not None:
        rows = _sorted(list(rows), args.sort)
    if chosen is not None:
        columns, rows = list(chosen), ({name: row[name] for name in chosen} for row in rows)
    if about:
        print(about)
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
    headed, nothing = header or name not in ("tsv", "aligned"), "nan" if name in ("tsv", "csv") else ""
    for line in _lines(name, _cells(rows, args.places, headed, columns, nothing)):
        print(line)


def answer(
    table: pd.DataFrame, args: argparse.Namespace, preferred: Iterable[str], shown: pd.DataFrame | None = None
) -> None:
    """Print what a verb's table says, and the first of the preferred columns that fit; with ``-o`` the whole table.

    ``shown`` is what to print instead of the table.
    """
    shown = table if shown is None else shown
    chosen = None if args.columns is None else [name.strip() for name in args.columns.split(",")]
    if unknown := [name for name in chosen or () if name not in shown]:
        raise ValueError(f"--columns {few(unknown)}: the columns are {few(shown.columns, 25)}")
    if args.output_format is None and len(table):
        from ..decisions.sentences import sentence

        print(wrapped(sentence(table)) + "\n")
    if args.output_format is None and chosen is None:
        chosen = _that_fit(shown, preferred, args.places)
    show(shown, args, chosen=chosen)
    hidden = [name for name in shown.columns if chosen is not None and name not in chosen]
    if hidden and args.output_format is args.columns is None:
        print("\n" + wrapped(f"Not shown: {few(hidden, 15)} (--columns NAMES, or -o csv for all)."))


def _that_fit(table: pd.DataFrame, preferred: Iterable[str], places: int) -> list[str]:
    """Return the columns that a terminal shows side by side, in the table's order."""
    there = [name for name in preferred if name in table][:_MOST_COLUMNS]
    widths = [max(map(len, [name, *(text_of(cell, places) for cell in table[name])])) + 2 for name in there]
    while len(there) > 1 and sum(widths[: len(there)]) - 2 > WIDTH:
        there.pop()
    return [name for name in table.columns if name in there]


def say_missing_topics(tables: Iterable[Any]) -> None:
    """Say which runs miss topics, and what these count, as the ``attrs`` of tables have it."""
    notes = (getattr(table, "attrs", {}).get("missing_topics") for table in tables)
    for note in dict.fromkeys(filter(None, notes)):
        say("note", note)


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
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
    rows: Iterable[Mapping[str, Any]], places: int, header: bool, columns: Sequence[str] | None, nothing: str
) -> Iterator[list[str]]:
    """The rows as text, the header first: that of the columns, else that of the first row."""
    if header and columns is not None:
        yield list(map(text_of, columns))
    for number, row in enumerate(rows):
        if header and columns is None and not number:
            yield list(map(text_of, row))
        shown = {name: _rounded(name, cell, row, places) for name, cell in row.items()}
        yield [nothing if cell is None else text_of(cell, places) for cell in shown.values()]


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


def _rounded(column: str, cell: Any, row: Mapping[str, Any], places: int) -> Any:
    """A p-value is never 0, and a probability neither 0 nor 1 where the verdict is open: such a one as < or >."""
    uncertain = column in _P or (column == "probability" and row.get("settled") == "undecided")
    if not uncertain or not isinstance(cell, float) or places <= 0:
        return cell
    if round(cell, places) == 0:
        return f"<{10.0**-places:.{places}f}"
    if column == "probability" and round(cell, places) == 1:
        return f">{1 - 10.0**-places:.{places}f}"
    return cell


def _lines(name: str, lines: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a format."""
    if name == "tsv":
        return map("\t".join, lines)
    kept = list(lines) or [[]]
    if name == "csv":
        import csv

        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerows(kept)
        return iter(buffer.getvalue().splitlines())  # no cell has a line end
    numbers = [
        any(column) and all(map(_NUMBER.fullmatch, column))
        for column in zip(*(kept[1:] or kept), strict=True)
    ]
    if name == "aligned":
        return ("  ".join(cells).rstrip() for cells in _padded(kept, numbers))
    if name == "markdown":
        header, *rows = _padded([[*map(markdown_text, line)] for line in kept], numbers, 3)
        rule = [
            "-" * (len(h) - 1) + ":" if n else ":" + "-" * (len(h) - 1)
            for h, n in zip(header, numbers, strict=True)
        ]
        return (f"| {' | '.join(cells)} |" for cells in [header, rule, *rows])
    header, *rows = _padded([[_latex_of(cell) for cell in line] for line in kept], numbers)
    columns = "".join("r" if number else "l" for number in numbers)
    inside = [" & ".join(cells) + r" \\" for cells in [header, *rows]]
    # The rules are of the package booktabs.
    start, end = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule"], [r"\bottomrule", r"\end{tabular}"]
    return iter([*start, inside[0], r"\midrule", *inside[1:], *end])


def _latex_of(cell: str) -> str:
    text = "".join(_OF_LATEX.get(sign, sign) for sign in cell)
    superscripts = f"[{''.join(SUPERSCRIPTS)}]+"
    return re.sub(
        superscripts, lambda signs: f"$^{{{''.join(SUPERSCRIPTS[sign] for sign in signs[0])}}}$", text
    )


def _padded(lines: Sequence[Sequence[str]], numbers: Sequence[bool], least: int = 0) -> list[list[str]]:
    """The cells as wide as their column, those of numbers to the right."""
    widths = [max(least, *map(len, column)) for column in zip(*lines, strict=True)]
    return [
        [cell.rjust(w) if n else cell.ljust(w) for cell, w, n in zip(line, widths, numbers, strict=True)]
        for line in lines
    ]


_OF_LATEX = {
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"<": "$<$", ">": "$>$"},
}
_NUMBER = re.compile(r"[<>]?-?\d+\.?\d*(e[+-]?\d+)?|-?inf|nan|")


#: What ``-o`` takes.
FORMATS = ("tsv", "csv", "jsonl", "markdown", "latex")
