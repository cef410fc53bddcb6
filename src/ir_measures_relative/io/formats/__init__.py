"""The formats of run and judgment files besides TREC's, one reader a file; the content of a file tells which reads it.

A module here has ``FORMATS``, a tuple of :class:`~ir_measures_relative.io.content.Format`. To add a format, add a
module. They are asked in the order of their names, which does not matter: a file is of one format at most.
"""

from __future__ import annotations

import os
import pkgutil
from functools import cache
from importlib import import_module

from ..content import Content, Format, Parts
from ..neighbours import Given


@cache
def formats() -> tuple[Format, ...]:
    """All formats but for TREC's, in the order of the names of their modules."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return tuple(f for name in names for f in import_module(f".{name}", __name__).FORMATS)


def format_of(content: Content) -> Format | None:
    """The format that a file is of; None where it is TREC's, or none.

    Raises:
        ValueError: JSON that is damaged, or that is of no known kind.
    """
    found = next((f for f in formats() if f.holds(content)), None)
    if found is None and content.is_json:
        keys = list(content.json)[:4] if isinstance(content.json, dict) else []
        if isinstance(content.json, list) and content.json and isinstance(content.json[0], dict):
            keys = list(content.json[0])[:4]
        shown = f" (its first keys are {keys})" if keys else ""
        raise ValueError(
            f"{content.source} is JSON of no kind that is read here{shown}; give {{query_id: {{doc_id: score}}}}, or "
            'one of the kinds on the page "Formats"'
        )
    return found


def parts_of(content: Content, form: Format, *, as_run: bool) -> Parts:
    """What a file of a format holds, as runs or as judgments.

    Raises:
        ValueError: it holds the other of the two, or neither; or is not built as its format says.
    """
    read = form.runs if as_run else form.judgments
    if read is None:
        asked = "a run" if as_run else "judgments"
        holds = (
            "holds judgments" if form.judgments else "holds a run" if form.runs else f"does not hold {asked}"
        )
        raise ValueError(
            f"{content.source} {holds}: it is {form.name}; {form.instead or f'give a file of {asked}'}"
        )
    try:
        parts = read(content)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        lacks = f": it lacks {error.args[0]!r}" if isinstance(error, KeyError) and error.args else ""
        raise ValueError(
            f"{content.source} looks like {form.name}, but is not built like one{lacks}; check what wrote it"
        ) from None
    except UnicodeError:  # of pandas 3, whose names of columns are text in UTF-8
        raise ValueError(
            f"{content.source}: the name of a column is not text in UTF-8; mend it where the file was written"
        ) from None
    except ValueError as error:
        if content.source in str(error):
            raise
        raise ValueError(f"{content.source}: {error}") from None
    if form.runs is not None and not parts:
        raise ValueError(
            f"{content.source}: {form.name} without a run or judgments in it; check what wrote it"
        )
    return parts


def one_part(parts: Parts, part: str | None, source: str, kind: str) -> Given:
    """The part of a file that is asked for; any of its words will do that no other part has.

    Raises:
        ValueError: no such part, or several that may be meant; names all.
    """
    if part is None and ("" in parts or len(parts) == 1):
        return parts.get("") or next(iter(parts.values()))
    fit = [name for name in parts if part is not None and (name == part or part in name.split(":"))]
    fit = [part] if part is not None and part in parts else fit
    if len(fit) == 1:
        return parts[fit[0]]
    if set(parts) == {""}:
        raise ValueError(f"{source}: the file holds one {kind}, and no part {part!r}; leave out '#{part}'")
    raise ValueError(
        f"{source}: the file holds {', '.join(map(repr, parts))}; say which behind the path, such as "
        f"'#{next(iter(parts))}'{f', and not {part!r}' if part is not None else ''}"
    )


def located(path: str | os.PathLike[str]) -> tuple[str, str | None]:
    """A path, and the part of the file that stands behind it after a ``#``; None where none does."""
    text = os.fspath(path)
    if "#" in text and not os.path.exists(text):
        file, _, part = text.rpartition("#")
        if os.path.exists(file):
            return file, part
    return text, None


#: The endings of the names of files that hold runs, besides those of packed files.
ENDINGS = (".json", ".jsonl", ".ndjson", ".parquet", ".csv", ".tsv", ".msmarco", ".kilt")
