"""Messages for users: warnings that point at their code, descriptions of values, missing extras, progress."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class RelativeWarning(UserWarning):
    """A value may be misleading; the message says why, and what to do."""


#: Packages whose lines a warning never names: this one, and its hosts, which ``compat`` adds.
NOT_THE_USERS = {f"ir_measures_relative{part}" for part in ("", "_console", "_plugin", "_pytest")}

# The warnings that are held back, by the line of code that warns, and the filters in force.
_Held: TypeAlias = tuple[dict[Hashable, dict[str, object]], object]
_held: ContextVar[_Held | None] = ContextVar("held warnings", default=None)

# The warnings about each object, and from where, under which list of filters.
_warned: WeakKeyDictionary[object, tuple[object, set[Hashable]]] = WeakKeyDictionary()


def warn(message: str, about: object = None, kind: str | None = None) -> None:
    """Warn at the line of the user's code that led here, which no ``stacklevel`` would find.

    From one call of the user, each message about a context (``about``) is issued once; messages of one ``kind`` are the
    same message.
    """
    called = frame = sys._getframe(1)
    waiting = _held.get()
    if waiting is not None and waiting[1] is warnings.filters:
        waiting[0].setdefault((frame.f_code, frame.f_lineno), {}).setdefault(message, about)
        return
    while frame.f_back is not None and package_name(frame) in NOT_THE_USERS:
        called, frame = frame, frame.f_back
    key = kind or message, frame.f_code, frame.f_lasti, called.f_code
    if about is not None and key in _warnings_about(about):
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
        _warnings_about(about).add(key)


@contextmanager
def one_warning_of_a_kind() -> Iterator[None]:
    """Hold warnings back; at the end of the block issue the first of each kind, with the number of the others."""
    if _held.get() is not None:
        yield
        return
    waiting: dict[Hashable, dict[str, object]] = {}
    token = _held.set((waiting, warnings.filters))
    try:
        yield
    finally:
        _held.reset(token)
        for messages in waiting.values():
            message, about = next(iter(messages.items()))
            more = len(messages) - 1
            warn(f"{message} (and {more} more such)" if more else message, about)


def _warnings_about(about: object) -> set[Hashable]:
    """Return the warnings about an object under these filters: each ``catch_warnings`` block has its own."""
    filters, keys = _warned.get(about, (None, set()))
    if filters is not warnings.filters:
        keys = set()
        _warned[about] = warnings.filters, keys
    return keys


def package_name(frame: FrameType) -> str:
    """Return the package of a frame of the stack, such as ``"pyterrier"``."""
    return str(frame.f_globals.get("__name__")).partition(".")[0]


def kind_of(value: object) -> str:
    """Return the type of a value with its article, such as "an int"."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'AEIOaeio' or name == 'ndarray' else 'a'} {name}"


def brief(value: object) -> str:
    """Return a value for a message, shortened if it is very long."""
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:100]}… ({len(text)} characters)"


def few(names: Iterable[object], most: int = 8) -> str:
    """List names for a message: all, or the first few and the number of the others."""
    listed = list(map(str, names))
    more = len(listed) - most
    return ", ".join(listed[:most]) + (f" and {more} more" if more > 0 else "")


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 topic" and "2 topics"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def few_quoted(names: Iterable[str]) -> str:
    """List names in brackets and quotation marks; see :func:`few`."""
    return f"[{few(map(repr, names))}]"


def first_ids(ids: Any) -> str:
    """Show the first ids of an array or a list."""
    return f"{list(ids[:3])}{' …' if len(ids) > 3 else ''}"


def not_an_id(value: object, noun: str, elsewhere: str) -> str:
    """Say why a value cannot be the id of a ``noun``, such as "query"."""
    if is_missing(value):
        return (
            f"{noun} id {brief(value)} is a missing value; give every row an id. pandas reads the ids NA, null, None "
            "and nan so: give the path of the file, or read it with keep_default_na=False"
        )
    if isinstance(value, str):
        kind = "is a string with a NUL" if "\0" in value else "holds half of a surrogate pair"
        return f"{noun} id {brief(value)} {kind}, which no file in UTF-8 can hold; replace it, in {elsewhere} too"
    kind = kind_of(value)
    return f"{noun} id {brief(value)} is {kind}; {noun} ids must be strings, as in {elsewhere}: convert them with str()"


def is_missing(value: object) -> bool:
    """Return whether a value is None, NaN, or pandas' NA."""
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and value != value)


def is_text(value: object) -> bool:
    """Return whether a value is a string that a file can hold."""
    try:
        return isinstance(value, str) and "\0" not in value and value.encode() is not None
    except UnicodeEncodeError:
        return False


def needs_extra(feature: str, extra: str, instead: str = "") -> ImportError:
    """Return the error for a feature that needs an extra of this package; ``instead`` is another remedy."""
    remedy = f"pip install 'ir-measures-relative[{extra}]'" + (f", or {instead}" if instead else "")
    return ImportError(f"{feature} needs more than the base install: {remedy}")


def progress(items: Iterable[T], desc: str, unit: str) -> Iterable[T]:
    """Yield the items, with a progress bar on a terminal; elsewhere tqdm is not even imported."""
    if sys.stderr is None or not sys.stderr.isatty():
        return items
    from tqdm import tqdm

    return tqdm(items, desc=desc, unit=unit, leave=False)
