"""What is often put beside runs and holds no ranking, or none that can be told: refused by its name."""

from __future__ import annotations

import re

from .content import Content, Format

_LTR = re.compile(rb"\S+\s+qid:\S+")
_MEAN = re.compile(r"[a-z_]+(@[0-9]+|_(avg|q[0-9]+))")
_PICKLE = re.compile(rb"\x80[\x02-\x05]")


def _is_vespa(content: Content) -> bool:
    return bool(content.records) and all(isinstance(r.get("root"), dict) for r in content.records)


def _is_means(content: Content) -> bool:
    cells = content.header
    return cells[:1] == ["name"] and len(cells) > 1 and all(map(_MEAN.fullmatch, cells[1:]))


FORMATS = (
    Format(
        name="a pickle",
        told_by="its first bytes",
        holds=lambda content: _PICKLE.match(content.start) is not None,
        instead="loading it may run any program; save the dict as JSON",
    ),
    Format(
        name="a file for learning to rank (SVMrank)",
        told_by="'qid:' in the second column",
        holds=lambda content: _LTR.match(content.line) is not None,
        instead="export the judgments as TREC qrels or as CSV",
    ),
    Format(
        name="Vespa's responses",
        told_by="the key 'root'",
        holds=_is_vespa,
        instead="they do not name the query; write {query_id: {doc_id: relevance}}",
    ),
    Format(
        name="a table of means",
        told_by="a header of 'name' and measures",
        holds=_is_means,
        instead="give the rankings, not their scores",
    ),
)
