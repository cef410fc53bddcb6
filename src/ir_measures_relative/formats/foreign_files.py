"""The formats of run and judgment files besides TREC's: a module that is listed in ``__init__`` adds some."""

from __future__ import annotations

import re
from functools import cache

import numpy as np

from ..io.files import WhichPartError
from ..io.frames import is_frame
from ..io.readers import FILES, FileContent, RawData, RunColumns
from ..messages import brief
from .content import FORMATS, Content, Format, Parts, add_formats
from .measures import INSTEAD, has_measures


@cache
def formats() -> tuple[Format, ...]:
    """All formats but for TREC's, in the order of the names of their modules."""
    return tuple(form for name in sorted(FORMATS) for form in FORMATS[name])


@FILES.register("formats")
def read_file(data: bytes, source: str, part: str | None, *, as_run: bool) -> FileContent | None:
    """Reads a file of one of the formats; None where it is of none."""
    content = Content(data, source)
    form = detect_format(content)
    if form is None:
        return None
    parts = parts_of(content, form, as_run=as_run)
    if not as_run:
        return FileContent([one_part(parts, part, source, "judgments")])
    if part is not None or form.one_run:
        parts = {"": one_part(parts, part, source, "run")}
    runs = list(parts.values())
    return FileContent(runs, form.may_be_either and all(map(_may_be_labels, runs)))


def _may_be_labels(given: RawData) -> bool:
    """Whether what is read as scores are whole numbers, not written as fractions, as labels are."""
    if isinstance(given.content, RunColumns):
        return given.content.scores.dtype.kind == "i"
    if is_frame(given.content):
        column = given.content.get("score")
        if column is None or "rank" in given.content.columns:  # which judgments do not have
            return False
        scores = iter(column if column.dtype.kind == "O" else column[:1])
    else:
        scores = (score for docs in given.content.values() for score in docs.values())
    whole = (int, np.integer)
    return isinstance(next(scores, None), whole) and all(isinstance(score, whole) for score in scores)


def detect_format(content: Content) -> Format | None:
    """The format that a file is of; None where it is TREC's, or none."""
    # Of JSON Lines the first line may be enough, so that the others are not parsed.
    by_line = content.first and next((f for f in formats() if f.by_line and f.holds(content.first)), None)
    found = by_line or next((f for f in formats() if f.holds(content)), None)
    if found is None and content.is_json and has_measures(content):
        raise ValueError(f"{content.source} holds measures, not rankings; {INSTEAD}")
    if found is None and content.is_json:
        keys = list(content.json)[:4] if isinstance(content.json, dict) else []
        if isinstance(content.json, list) and content.json and isinstance(content.json[0], dict):
            keys = list(content.json[0])[:4]
        shown = f" (its first keys are {brief(keys)})" if keys else ""
        raise ValueError(
            f"{content.source} is JSON of no kind that is read here{shown}; give {{query_id: {{doc_id: score}}}}, or "
            'one of the kinds on the page "Formats"'
        )
    return found


def parts_of(content: Content, form: Format, *, as_run: bool) -> Parts:
    """What a file of a format holds, as runs or as judgments."""
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
        lacks = f": it lacks {brief(error.args[0])}" if isinstance(error, KeyError) and error.args else ""
        raise ValueError(
            f"{content.source} looks like {form.name}, but is not built like one{lacks}; check what wrote it"
        ) from None
    except UnicodeError:  # of pandas 3, whose names of columns are text in UTF-8
        raise ValueError(f"{content.source}: the name of a column is not text in UTF-8; correct it") from None
    except ValueError as error:
        if content.source in str(error):
            raise
        raise ValueError(f"{content.source}: {error}") from None
    if form.runs is not None and not parts:
        raise ValueError(f"{content.source}: {form.name} without a run or judgments in it")
    return parts


def one_part(parts: Parts, part: str | None, source: str, kind: str) -> RawData:
    """The part of a file that is asked for: by its name, or by one of the words between colons that only it has."""
    if part is None and ("" in parts or len(parts) == 1):
        return parts.get("") or next(iter(parts.values()))
    fit = [name for name in parts if part is not None and (name == part or part in name.split(":"))]
    fit = [part] if part is not None and part in parts else fit
    if len(fit) == 1:
        return parts[fit[0]]
    if set(parts) == {""}:
        raise ValueError(f"{source}: the file holds one {kind}, and no part {part!r}; leave out '#{part}'")
    raise WhichPartError(
        f"{source}: the file holds {', '.join(map(repr, parts))}; say which behind the path, such as "
        f"'#{next(iter(parts))}'{f', and not {part!r}' if part is not None else ''}"
    )


# Recognized here to be rejected: it has no reader.
add_formats(
    "foreign_files",
    Format(
        name="a pickle",
        holds=lambda content: re.match(rb"\x80[\x02-\x05]", content.start) is not None,
        instead="loading it may run any program; save the dict as JSON",
    ),
)
