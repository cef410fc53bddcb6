"""Files in formats other than TREC's: the format of a file, and its runs or judgments.

Packed files, pictures, files of measures, such as trec_eval's output, and pickles are recognized to be rejected.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import islice, pairwise
from typing import Any

import numpy as np

from ..data.arrays import object_array
from ..data.ids import Ids
from ..io.frames import is_frame
from ..io.qrels import QrelsColumns, columns_of, whole_numbers
from ..io.readers import FILES, FileContent, RawData, RunColumns
from ..messages import brief, few_quoted, is_missing, warn
from .content import FORMATS, Content, Format, Parts, add_formats, has_known_columns

_MEASURE = re.compile(
    r"((alpha_|main_|geometric_|gm_|set_|i?11pt_)*"
    r"(n?dcg|m?ap|infap|m?rr|recip_rank|recall|precision|p|f1|hits?|hit_rate|r_?prec|r_cap|hole|bpref|success|judged|err|"
    r"rbp|iprec_at_recall|avg|accuracy|unj|num_?(q|ret|rel|rel_ret)|score)|"
    r"(context|answer|response|citation|factual|semantic)_(recall|precision|relevanc[ey]|correctness|similarity|accuracy)|"
    r"faithfulness|groundedness|hallucination|runid|relstring|utility)([@_(].*)?",
    re.IGNORECASE,
)
#: What to pass in place of a file of measures.
RANKINGS_INSTEAD = "give the file of the rankings, not of their scores"


@cache
def formats() -> tuple[Format, ...]:
    """Return all formats, in the order of the names of their modules."""
    return tuple(form for name in sorted(FORMATS) for form in FORMATS[name])


@FILES.register("formats")
def read_file(data: bytes, source: str, part: str | None, *, as_run: bool) -> FileContent | None:
    """Read a file; return None where it is in no format other than TREC's."""
    content = Content(data, source)
    file_format = detect_format(content)
    if file_format is None:
        return None
    parts = _read_parts(content, file_format, as_run=as_run)
    if not as_run:
        raw = _select_part(parts, part, source, "judgments")
        return FileContent([raw._replace(content=_with_labels(columns_of(raw, source), source))])
    if part is not None or file_format.one_run:
        parts = {"": _select_part(parts, part, source, "run")}
    runs = list(parts.values())
    return FileContent(runs, file_format.may_be_either and all(map(_has_whole_scores, runs)))


def _has_whole_scores(raw: RawData) -> bool:
    """Return whether all scores are whole numbers, not written as fractions, as in judgments."""
    if isinstance(raw.content, RunColumns):
        return raw.content.scores.dtype.kind == "i"
    if is_frame(raw.content):
        column = raw.content.get("score")
        if column is None or "rank" in raw.content.columns:  # judgments have no ranks
            return False
        scores = iter(column if column.dtype.kind == "O" else column[:1])
    else:
        scores = (score for docs in raw.content.values() for score in docs.values())
    whole = (int, np.integer)
    return isinstance(next(scores, None), whole) and all(isinstance(score, whole) for score in scores)


def detect_format(content: Content) -> Format | None:
    """Return the format of a file; None for TREC's or an unknown one. Raise ValueError for unknown JSON."""
    # The first of JSON Lines may be enough, so that the others are not parsed.
    first = content.first
    if first is not None:
        by_line = next((f for f in formats() if f.by_line and f.holds(first)), None)
        if by_line is not None:
            return by_line
    file_format = next((f for f in formats() if f.holds(content)), None)
    if file_format is not None or not content.is_json:
        return file_format
    # Values of measures may be anywhere: MTEB's results have them deep inside.
    names = re.findall(r'"([^"\\\n]+)": *[-0-9]', content.start.decode("utf-8", "replace"))
    if any(is_measure_name(name) for name in names if name.lower() not in ("score", "hits", "p")):
        raise ValueError(f"{content.source} holds measures, not rankings; {RANKINGS_INSTEAD}")
    example = content.json
    if isinstance(example, list) and example:
        example = example[0]
    keys = list(example)[:4] if isinstance(example, dict) else []
    shown = f" (its first keys are {brief(keys)})" if keys else ""
    raise ValueError(
        f"{content.source} is JSON of no kind that is read here{shown}; give {{query_id: {{doc_id: score}}}}, or "
        'one of the kinds on the page "Files and libraries"'
    )


def _read_parts(content: Content, file_format: Format, *, as_run: bool) -> Parts:
    """Return the runs or the judgments in a file of a format."""
    read = file_format.runs if as_run else file_format.judgments
    if read is None:
        wanted = "a run" if as_run else "judgments"
        holds = f"does not hold {wanted}"
        if file_format.judgments or file_format.runs:
            holds = "holds judgments" if file_format.judgments else "holds a run"
        raise ValueError(
            f"{content.source} {holds}: it is {file_format.name}; {file_format.instead or f'give a file of {wanted}'}"
        )
    try:
        parts = read(content)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        lacks = f": it lacks {brief(error.args[0])}" if isinstance(error, KeyError) and error.args else ""
        raise ValueError(
            f"{content.source} looks like {file_format.name}, but is not built like one{lacks}; check what wrote it"
        ) from None
    except UnicodeError:  # pandas 3 keeps names of columns in UTF-8
        raise ValueError(f"{content.source}: the name of a column is not text in UTF-8; correct it") from None
    except ValueError as error:
        if content.source in str(error):
            raise
        raise ValueError(f"{content.source}: {error}") from None
    if file_format.runs is not None and not parts:
        raise ValueError(f"{content.source}: {file_format.name} without a run or judgments in it")
    return parts


def _select_part(parts: Parts, part: str | None, source: str, kind: str) -> RawData:
    """Return the part with this name, or the only one that has it as one of the words between colons."""
    if part is None and ("" in parts or len(parts) == 1):
        return parts.get("") or next(iter(parts.values()))
    matches = [name for name in parts if part is not None and part in name.split(":")]
    if part is not None and part in parts:
        matches = [part]
    if len(matches) == 1:
        return parts[matches[0]]
    if set(parts) == {""}:
        raise ValueError(f"{source}: the file holds one {kind}, and no part {part!r}; leave out '#{part}'")
    raise ValueError(
        f"{source}: the file holds {', '.join(map(repr, parts))}; say which behind the path, such as "
        f"'#{next(iter(parts))}'{f', and not {part!r}' if part is not None else ''}"
    )


def _with_labels(columns: QrelsColumns, source: str) -> QrelsColumns:
    """Return the judgments that have a label, with whole numbers as labels; a string in a file may be one."""
    if columns.relevance.dtype.kind in "ib":
        return columns
    labels = object_array(map(_as_number, columns.relevance))
    is_judged = np.array([label is not None for label in labels], dtype=bool)
    some: list[Any] = [
        column.take(is_judged) if isinstance(column, Ids) else None if column is None else column[is_judged]
        for column in (columns.query_ids, columns.doc_ids, labels, columns.aspects)
    ]
    judged = QrelsColumns._make([*some, columns.queries])
    queries = columns.ids()[0]
    # Other ids than strings are rejected later.
    if not is_judged.all() and columns.queries is None and all(isinstance(query, str) for query in queries):
        judged_queries = set(judged.ids()[0])
        if lost := [query for query in dict.fromkeys(queries) if query not in judged_queries]:
            warn(
                f"{source}: no document of {few_quoted(map(str, lost))} has a label, so these topics are not scored"
            )
    return judged._replace(relevance=whole_numbers(judged, source))


_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(\.[0-9]{0,30})?")


def _as_number(label: Any) -> Any:
    """Return the number in a string; None for a blank or missing label."""
    if isinstance(label, str):
        text = label.strip(" \t\r\n")
        return None if not text else float(text) if _NUMBER.fullmatch(text) else label
    return None if is_missing(label) or label != label else label


def is_measure_name(name: str) -> bool:
    """Return whether this is a name that some program gives a measure."""
    return _MEASURE.fullmatch(name) is not None


def is_table_of_measures(content: Content) -> bool:
    """Return whether a text is the output of trec_eval or ir_measures, or a table of their measures."""
    if content.is_json or has_known_columns(content.header):
        return False
    lines = filter(str.strip, content.start.decode("utf-8", "replace").split("\n"))
    rows = [re.split(r"\s*[\t,]\s*", line.strip()) for line in islice(lines, 20)]
    if not rows:
        return False
    names = [row[0] for row in rows]
    if all(map(is_measure_name, rows[0][1:])):  # a header, whose first cell is of the names of runs
        return len(rows[0]) > 1
    if all(len(row) == 3 and "@" in row[1] for row in rows) and any(is_measure_name(row[1]) for row in rows):
        return True  # values by topic in ir_measures: topic, measure, value
    is_list = {len(row) for row in rows} <= {2, 3} and (len(rows) > 1 or rows[0][1] in ("all", rows[0][-1]))
    return is_list and all(map(is_measure_name, names)) and all(a != b for a, b in pairwise(names))


add_formats(
    "foreign_files",
    Format(
        name="a pickle",
        holds=lambda content: re.match(rb"\x80[\x02-\x05]", content.start) is not None,
        instead="loading it may run any program; save the dict as JSON",
    ),
    Format(
        name="a table of measures (trec_eval, ir_measures)",
        holds=is_table_of_measures,
        instead=RANKINGS_INSTEAD,
    ),
)
