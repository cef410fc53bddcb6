"""What a command prints: tables in each format, messages in its own words; and streams that end well."""

from __future__ import annotations

import argparse
import codecs
import io
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from ..messages import escaped, few, json_of, markdown_text, one_warning_of_a_kind

if TYPE_CHECKING:
    import pandas as pd


PROG = "ir_measures_relative"


def check_loss(path: str, inputs: Mapping[str, str], kind: str, is_one: Callable[[str], bool]) -> None:
    """Raises ValueError where a file would take the place of anything but one of its kind, or an empty file."""
    if path == "-":
        raise ValueError(f"--output -: a {kind} does not go to the standard output; give the name of a file")
    if not os.path.exists(path):
        return
    for called, file in inputs.items():
        if os.path.exists(file) and os.path.samefile(file, path):
            raise ValueError(f"--output {path} is {called}; give another path")
    if not os.path.isfile(path):
        raise ValueError(f"--output {path}: cannot be written, since it is not a file; give another path")
    if os.path.getsize(path) and not is_one(path):
        raise ValueError(f"--output {path} exists and is not a {kind}; remove it, or give another path")


@contextmanager
def writing(path: str, kind: str) -> Iterator[None]:
    """Tells a user at a terminal what was written, or what to do where that failed; what was there is still there."""
    try:
        yield
    except OSError as error:
        raise OSError(
            f"--output {path}: the {kind} could not be written ({error.strerror or error}); make room, or give "
            "another path"
        ) from None
    if sys.stderr.isatty():
        print(f"Wrote {escaped(path)}", file=sys.stderr)


# What the messages of the package call an argument, as a pattern, and what it is called here.
_FLAGS = {
    "num_docs=": "--num_docs",
    "drop_self=True": "--drop-self",
    "reference=": "--reference",
    "grades=": "--grades",
    "allow_empty=": "--allow-empty",
    "deployed=": "--to",
    "margin=": "--margin",
    "labels=": "--labels",
    "further runs of the collection": "--others RUNS",
    "confidence=": "--confidence",
    "rerank=": "--rerank",
    r"options[=\[]": "--option",
    "method=": "--method",
    "^pool=": "--pool",
    "by=": "--by",
    "query_id=": "--query",
    "relevance_model='pool'": "--probability",
    "relevance_model=": "--probability",
    "llm_judgments=": "--llm-judgments",
    "between=": "--between",
    "missing=": "--missing zero|drop",
    "^n=": "--number",
} | {f"^{name}=": f"--{name}" for name in ("budget", "depth", "jobs", "samples", "strategies")}


def in_these_terms(error: BaseException) -> str:
    """What an error says, in the terms of the command line."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}; check the path and its permissions"
    if isinstance(error, UnicodeEncodeError):
        end = error.start
        word = re.split(r"[\s\"'<>/]", error.object[max(end - 100, 0) : end])[-1]
        word += re.split(r"[\s\"'<>/]", error.object[end : end + 100])[0]
        return f"the name {word!r} is no text in UTF-8; rename the file, or give its run a name with --names"
    if isinstance(error, MemoryError):
        return f"there is not enough memory ({error}); give fewer runs at a time, or allow more (ulimit -v)"
    return _with_flags((isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__)


def _with_flags(message: str) -> str:
    flags = [
        flag for argument, flag in _FLAGS.items() if re.search(argument, message) and flag not in message
    ]
    if not flags:
        return message
    return f"{message.split('; write')[0]} (on the command line: {', '.join(flags)})"  # without the Python to write


@contextmanager
def tidy_warnings() -> Iterator[None]:
    """Say one warning of a kind, each in one line."""
    said: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        # A library may set filters of its own where it is imported: what it says to programmers is not for users.
        if str(message) not in said and not issubclass(category, DeprecationWarning):
            said.add(str(message))
            say("warning", _with_flags(str(message)))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for category in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", category)
        warnings.showwarning = show
        with one_warning_of_a_kind():
            yield


def say(kind: str, message: str) -> None:
    """One line on stderr; nothing where that cannot be written."""
    line = re.sub(r"\S{1000,}", lambda word: f"{word[0][:100]}… ({len(word[0])} characters)", message)
    with suppress(OSError):
        # Beside a progress bar, if something imported what draws one.
        write = sys.modules["tqdm"].tqdm.write if "tqdm" in sys.modules else print
        write(f"{PROG}: {kind}: {escaped(' '.join(line.split()))}", file=sys.stderr)


def wrapped(text: str) -> str:
    """A text in lines that a terminal shows whole; no line starts with a per cent sign."""
    import textwrap

    # An escaped text holds no \0 of its own.
    lines = [escaped(line).replace(" %", "\0%") for line in text.splitlines()]
    filled = (textwrap.fill(line, _WIDTH, break_long_words=False, break_on_hyphens=False) for line in lines)
    return "\n".join(filled).replace("\0%", " %")


def open_streams() -> None:
    """Makes stdout and stderr usable, also where the command was started with them closed."""
    for descriptor in range(3):  # so that no file that is opened later takes the place of a closed one
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115  (as long as the process lives)
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        raise ValueError("the standard output is closed; open it, or send it to a file or to /dev/null")
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in ("strict", "surrogateescape"):
        # The name of a file need not be text in the encoding of the terminal; it goes out as it came in.
        # The C locale's ASCII would end a table at the first other letter: the bytes of UTF-8 go out as they came.
        if codecs.lookup(sys.stdout.encoding).name in ("utf-8", "ascii"):
            sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
        else:
            sys.stdout.reconfigure(errors=_IN_ASCII)
    if isinstance(sys.stderr, io.TextIOWrapper) and sys.stderr.errors == "backslashreplace":
        sys.stderr.reconfigure(errors=_IN_ASCII)


#: From a letter that stands for a run beside a value to the letter.
SUPERSCRIPTS = dict(
    zip(
        "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ",
        "abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW",
        strict=True,
    )
)

#: What some encodings have no sign for, as ASCII has it; any other sign becomes its number, as in ``backslashreplace``.
_SIGNS = str.maketrans(
    SUPERSCRIPTS | {"\N{MINUS SIGN}": "-", "…": "...", "–": "-", "’": "'", "≤": "<=", "≥": ">=", "→": "->"}
)
_IN_ASCII = f"{PROG}.ascii"


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end].translate(_SIGNS)
    return text.encode("ascii", "backslashreplace").decode(), error.end


codecs.register_error(_IN_ASCII, _in_ascii)


@contextmanager
def leaving_in_order() -> Iterator[None]:
    """Lets SIGHUP and SIGTERM end the process as an exception does, so that no temporary file is left."""

    def leave(number: int, frame: object) -> None:
        sys.exit(128 + number)

    names = ("SIGHUP", "SIGTERM") if threading.current_thread() is threading.main_thread() else ()
    signals = [getattr(signal, name) for name in names if hasattr(signal, name)]
    ours = [number for number in signals if signal.getsignal(number) is signal.SIG_DFL]  # nohup ignores one
    for number in ours:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def drop_output() -> None:
    """Keeps the interpreter from writing, on its way out, what could not be written."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


DEFAULT_PLACES = 4
_MOST_PLACES = 17  # no double has more digits that mean anything
_MOST_COLUMNS, _WIDTH = 8, 100  # of a table that is printed below its answer
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
            print(json_of(row))
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
    while len(there) > 1 and sum(widths[: len(there)]) - 2 > _WIDTH:
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
