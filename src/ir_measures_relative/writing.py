"""Files that are written whole or not at all; text that is safe in tables, Markdown and JSON."""

from __future__ import annotations

import math
import os
import re
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def check_writable(path: str | os.PathLike[str], name: str = "") -> None:
    """Raise OSError if no file can be written; ``name`` is its name in messages, if not the path."""
    folder = os.path.dirname(os.path.realpath(path))  # a link stays one
    if not os.fspath(path):
        raise FileNotFoundError(f"{name.strip() or 'the path'}: the name of the file is empty; give one")
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"{name or path}: there is no folder {folder}; make it first")
    if not all(os.access(place, os.W_OK) for place in (folder, path) if os.path.exists(place)):
        raise PermissionError(f"{name or path}: cannot be written; give another path")


def write_whole(path: str | os.PathLike[str], write: Callable[[str], object]) -> None:
    """Write a file under a temporary name with its ending, then rename it, so that it is never partial."""
    import secrets  # which loads OpenSSL
    from pathlib import Path  # `--help` does without both

    target = Path(os.path.realpath(path))  # a link stays one
    # The name starts with a dot: a file that is left over is not a run of the folder.
    temporary = target.parent / f".{secrets.token_hex(8)}{target.suffix}"
    try:  # a signal may come as soon as the file is there
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        write(str(temporary))
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)


def _mode(target: Path) -> int:
    """Return the permissions of the file, or of a new one."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


# Characters that move the cursor, end a line or a column, or change the direction of text.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def escaped(text: str) -> str:
    """Escape the control characters of a text, so that a name in a table stays in its cell."""
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


# Characters with a meaning in Markdown or its HTML; and what GitHub links to a person or an issue.
_MARKDOWN, _MENTION = re.compile(r"[\\`*_\[\]|~<>&$]"), re.compile(r"(?<!\w)[@#]")


def markdown_text(text: str) -> str:
    """Escape a text for one line of Markdown."""
    return _MENTION.sub(r"\g<0><!-- -->", _MARKDOWN.sub(r"\\\g<0>", escaped(text)))


def to_json(value: Any, **layout: Any) -> str:
    """Return a value as JSON that every program reads: NaN and infinity are null."""
    import json  # `--help` does without

    return json.dumps(_with_nulls(value), allow_nan=False, **layout)


def _with_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _with_nulls(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_with_nulls(item) for item in value]
    number = value.item() if hasattr(value, "item") else value  # of numpy
    return None if isinstance(number, float) and not math.isfinite(number) else number
