"""What commands print beside tables: messages in the words of the command line, on streams that may be closed."""

from __future__ import annotations

import codecs
import io
import os
import re
import signal
import sys
import textwrap
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from ..messages import one_warning_of_a_kind
from ..writing import check_writable, escaped

PROG = "ir_measures_relative"
WIDTH = 100  # of what is printed for people


def check_output(path: str, inputs: Mapping[str, str], kind: str, is_kind: Callable[[str], bool]) -> None:
    """Raise OSError for a file that cannot be written; ValueError where it is an input, or is not of its kind."""
    if path == "-":
        raise ValueError(f"--output -: a {kind} does not go to the standard output; give the name of a file")
    if os.path.exists(path):
        for called, file in inputs.items():
            if os.path.exists(file) and os.path.samefile(file, path):
                raise ValueError(f"--output {path} is {called}; give another path")
        if not os.path.isfile(path):
            raise ValueError(f"--output {path}: cannot be written, since it is not a file; give another path")
        if os.path.getsize(path) and not is_kind(path):
            raise ValueError(f"--output {path} exists and is not a {kind}; remove it, or give another path")
    check_writable(path, f"--output {path}")


@contextmanager
def writing(path: str, kind: str) -> Iterator[None]:
    """Name the file that the block wrote, in a line on stderr; if that failed, say what to do."""
    try:
        yield
    except OSError as error:
        raise OSError(
            f"--output {path}: the {kind} could not be written ({error.strerror or error}); make room, or give "
            "another path"
        ) from None
    with suppress(OSError):
        print(f"Wrote {escaped(path)}", file=sys.stderr)


# From the pattern of an argument in messages of the package to the option of the command line.
_OPTIONS = {
    "num_docs=": "--num_docs",
    "drop_self=True": "--drop-self",
    "grades=": "--grades",
    "allow_empty=": "--allow-empty",
    "deployed=": "--to",
    "candidate=": "RUN",
    "further runs? of the collection": "--others RUNS",
    r"options[=\[]": "--option",
    "^pool=": "--pool",
    "query_id=": "--query",
    "relevance_model=": "--probability",
    "llm_judgments=": "--llm-judgments",
    "missing=": "--missing zero|drop",
    "between=": "--between",
    "^n=": "--number",
}
_OPTIONS |= {
    f"{n}=": f"--{n}" for n in ("reference", "margin", "labels", "confidence", "rerank", "method", "by")
}
_OPTIONS |= {f"^{n}=": f"--{n}" for n in ("depth", "samples", "strategies")}


def in_these_terms(error: BaseException) -> str:
    """Return the message of an error in the terms of the command line."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}; check the path and its permissions"
    if isinstance(error, UnicodeEncodeError):
        before, after = error.object[: error.start], error.object[error.start :]
        delimiters = r"[\s\"'<>/]"
        word = re.split(delimiters, before[-100:])[-1] + re.split(delimiters, after[:100])[0]
        return f"the name {word!r} is no text in UTF-8; rename the file, or give its run a name with --names"
    if isinstance(error, MemoryError):
        return f"there is not enough memory ({error}); give fewer runs at a time, or allow more (ulimit -v)"
    return _add_options((isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__)


def _add_options(message: str) -> str:
    options = [o for argument, o in _OPTIONS.items() if re.search(argument, message) and o not in message]
    if not options:
        return message
    text = message.split("; write")[0]  # the rest is Python code to write
    return f"{text} (on the command line: {', '.join(options)})"


@contextmanager
def tidy_warnings() -> Iterator[None]:
    """Print one warning of a kind, each in one line."""
    printed: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        # A library may set filters of its own when it is imported; its deprecations are not for users.
        if str(message) not in printed and not issubclass(category, DeprecationWarning):
            printed.add(str(message))
            say("warning", _add_options(str(message)))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for category in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", category)
        warnings.showwarning = show
        with one_warning_of_a_kind():
            yield


def say(kind: str, message: str) -> None:
    """Print one line on stderr, if it can be written."""
    line = re.sub(r"\S{1000,}", lambda word: f"{word[0][:100]}… ({len(word[0])} characters)", message)
    with suppress(OSError):
        # A progress bar, if something imported what draws one, stays below the line.
        write = sys.modules["tqdm"].tqdm.write if "tqdm" in sys.modules else print
        write(f"{PROG}: {kind}: {escaped(' '.join(line.split()))}", file=sys.stderr)


def wrap(text: str) -> str:
    """Break a text into lines that fit a terminal; none of them starts with a per cent sign."""
    # An escaped text holds no \0 of its own.
    lines = [escaped(line).replace(" %", "\0%") for line in text.splitlines()]
    filled = (textwrap.fill(line, WIDTH, break_long_words=False, break_on_hyphens=False) for line in lines)
    return "\n".join(filled).replace("\0%", " %")


def open_streams() -> None:
    """Make stdout and stderr usable, also where they are closed or their encoding lacks letters."""
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
        # In the ASCII of the C locale, and in UTF-8, names go out as the bytes that came in.
        if codecs.lookup(sys.stdout.encoding).name in ("utf-8", "ascii"):
            sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
        else:
            sys.stdout.reconfigure(errors=_IN_ASCII)
    if isinstance(sys.stderr, io.TextIOWrapper) and sys.stderr.errors == "backslashreplace":
        sys.stderr.reconfigure(errors=_IN_ASCII)


#: From a superscript, which stands for a run beside a value, to its letter.
SUPERSCRIPTS = dict(
    zip(
        "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ",
        "abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW",
        strict=True,
    )
)

# The ASCII forms of characters that an encoding lacks; others become numbers, as by ``backslashreplace``.
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
def exit_on_signals() -> Iterator[None]:
    """Let SIGHUP and SIGTERM end the process as an exception does, so that no temporary file is left."""

    def leave(number: int, frame: object) -> None:
        sys.exit(128 + number)

    names = ("SIGHUP", "SIGTERM") if threading.current_thread() is threading.main_thread() else ()
    signals = [getattr(signal, name) for name in names if hasattr(signal, name)]
    # nohup ignores one of them, which must stay so.
    default = [number for number in signals if signal.getsignal(number) is signal.SIG_DFL]
    for number in default:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in default:
            signal.signal(number, signal.SIG_DFL)


def drop_output() -> None:
    """Keep the interpreter from trying again, on its way out, to write what cannot be written."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
