"""What users are told: warnings about a line of the user's, words for odd values, "needs the extra …", progress."""

from __future__ import annotations

import json
import math
import re
import sys
import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class RelativeWarning(UserWarning):
    """A value may be misleading; the message says why, and what to do."""


#: Whose lines a warning is not about: this package's, and those of its hosts, which ``compat`` adds.
NOT_THE_USERS = {f"ir_measures_relative{part}" for part in ("", "_console", "_plugin", "_pytest")}

# The warnings that are held back, by the line of code that warns; and the list of filters that they are under.
_Held: TypeAlias = tuple[dict[Hashable, dict[str, object]], object]
_held: ContextVar[_Held | None] = ContextVar("held warnings", default=None)

# Of what was warned, and from where, under which list of filters.
_said: WeakKeyDictionary[object, tuple[object, set[Hashable]]] = WeakKeyDictionary()


def warn(message: str, about: object = None, kind: str | None = None) -> None:
    """Warns of something on the line of the user's code that led here, which a ``stacklevel`` would not find.

    Of a context (``about``) the same is said once a call of the user's. Messages of one ``kind`` are the same.
    """
    called = frame = sys._getframe(1)
    held = _held.get()
    if held is not None and held[1] is warnings.filters:
        held[0].setdefault((frame.f_code, frame.f_lineno), {}).setdefault(message, about)
        return
    while frame.f_back is not None and package_name(frame) in NOT_THE_USERS:
        called, frame = frame, frame.f_back
    key = kind or message, frame.f_code, frame.f_lasti, called.f_code
    if about is not None and key in _said_of(about):
        return
    warnings.warn_explicit(
        message,
        RelativeWarning,
        filename=frame.f_code.co_filename,
        lineno=frame.f_lineno,
        module=str(frame.f_globals.get("__name__")),
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )
    if about is not None:
        _said_of(about).add(key)


@contextmanager
def one_warning_of_a_kind() -> Iterator[None]:
    """Hold warnings back; at the end of the block say the first of each kind, and how many more of it there are."""
    if _held.get() is not None:
        yield
        return
    held: dict[Hashable, dict[str, object]] = {}
    outside = _held.set((held, warnings.filters))
    try:
        yield
    finally:
        _held.reset(outside)
        for messages in held.values():
            message, about = next(iter(messages.items()))
            more = len(messages) - 1
            warn(f"{message} (and {more} more such)" if more else message, about)


def _said_of(about: object) -> set[Hashable]:
    """What was said about a context, since there are these filters: a block of ``catch_warnings`` has its own."""
    filters, said = _said.get(about, (None, set()))
    if filters is not warnings.filters:
        said = set()
        _said[about] = warnings.filters, said
    return said


def package_name(frame: FrameType) -> str:
    """The package whose code a frame of the stack runs, such as ``"pyterrier"``."""
    return str(frame.f_globals.get("__name__")).partition(".")[0]


def kind_of(value: object) -> str:
    """The type of a value, with its article, such as "an int"."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'AEIOaeio' or name == 'ndarray' else 'a'} {name}"


def brief(value: object) -> str:
    """A value for a message, cut where it is very long."""
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:100]}… ({len(text)} characters)"


def few(names: Iterable[object], most: int = 8) -> str:
    """Some names for a message: all, or the first few of many and how many more there are."""
    listed = list(map(str, names))
    more = len(listed) - most
    return ", ".join(listed[:most]) + (f" and {more} more" if more > 0 else "")


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 topic" and "2 topics"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def few_quoted(names: Iterable[str]) -> str:
    """The same as a list with quotation marks."""
    return f"[{few(map(repr, names))}]"


def some(ids: Any) -> str:
    """The first few ids of an array or a list, for a message."""
    return f"{list(ids[:3])}{' …' if len(ids) > 3 else ''}"


def not_an_id(value: object, what: str, elsewhere: str) -> str:
    """What is wrong with a value that stands where an id should, and is not a string that a file can hold."""
    if is_missing(value):
        return (
            f"{what} id {brief(value)} is a missing value; give every row an id. pandas reads the ids NA, null, None "
            "and nan so: give the path of the file, or read it with keep_default_na=False"
        )
    if isinstance(value, str):
        kind = "is a string with a NUL" if "\0" in value else "holds half of a surrogate pair"
        return f"{what} id {brief(value)} {kind}, which no file in UTF-8 can hold; replace it, in {elsewhere} too"
    kind = kind_of(value)
    return f"{what} id {brief(value)} is {kind}; {what} ids must be strings, as in {elsewhere}: convert them with str()"


def is_missing(value: object) -> bool:
    """Whether a value is None, NaN, or pandas' NA."""
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and value != value)


def is_text(value: object) -> bool:
    """Whether a value is a string that a file can hold."""
    try:
        return isinstance(value, str) and "\0" not in value and value.encode() is not None
    except UnicodeEncodeError:
        return False


# What moves the cursor, ends a line or a column, or turns the direction of what follows.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def escaped(text: str) -> str:
    """A text with its control characters as Python writes them: a name in a table is one cell, and no command."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


# What Markdown, and the HTML in it, takes for more than text; and what GitHub makes a link to a person or an issue of.
_MARKDOWN, _MENTION = re.compile(r"[\\`*_\[\]|~<>&$]"), re.compile(r"(?<!\w)[@#]")


def markdown_text(text: str) -> str:
    """A text in one line that Markdown shows as it is."""
    return _MENTION.sub(r"\g<0><!-- -->", _MARKDOWN.sub(r"\\\g<0>", escaped(text)))


def to_json(value: Any, **layout: Any) -> str:
    """Return a value as JSON, as every program reads it: what is not a number, or infinite, is null."""
    return json.dumps(_with_nulls(value), allow_nan=False, **layout)


def _with_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _with_nulls(held) for key, held in value.items()}
    if isinstance(value, (tuple, list)):
        return [_with_nulls(held) for held in value]
    number = value.item() if hasattr(value, "item") else value  # of numpy
    return None if isinstance(number, float) and not math.isfinite(number) else number


def needs_extra(what: str, extra: str, instead: str = "") -> ImportError:
    """The error for what somebody asked for and an extra of this package brings; ``instead`` is what else to do."""
    remedy = f"pip install 'ir-measures-relative[{extra}]'" + (f", or {instead}" if instead else "")
    return ImportError(f"{what} needs more than the base install: {remedy}")


def progress(items: Iterable[T], desc: str, unit: str) -> Iterable[T]:
    """The items, with a progress bar on a terminal; elsewhere nothing waits for the import of what draws it."""
    if sys.stderr is None or not sys.stderr.isatty():
        return items
    from tqdm import tqdm

    bar: Iterable[T] = tqdm(items, desc=desc, unit=unit, leave=False)
    return bar
