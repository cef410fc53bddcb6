"""What a command says: messages in its own words; and streams that end well."""

from __future__ import annotations

import codecs
import io
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from ..messages import escaped, one_warning_of_a_kind

if TYPE_CHECKING:
    pass


PROG = "ir_measures_relative"
WIDTH = 100  # of what is printed for people


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
    filled = (textwrap.fill(line, WIDTH, break_long_words=False, break_on_hyphens=False) for line in lines)
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
