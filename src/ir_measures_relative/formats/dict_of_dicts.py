"""JSON ``{query_id: {doc_id: score or label}}``, as BEIR, ranx, pytrec_eval and MTEB 1 have it; and measures so."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

from ..io.readers import Given
from .content import Content, Format, Parts

_OF_A_MEASURE = re.compile(
    r"(alpha_|main_|geometric_|gm_|set_|i?11pt_)*(n?dcg|map|mrr|recip_rank|recall|precision|p|f1|hits?|hit_rate|r_?prec|"
    r"r_cap|hole|bpref|success|judged|err|rbp|iprec_at_recall|accuracy|num_(q|ret|rel|rel_ret)|score)([@_(].*)?",
    re.IGNORECASE,
)


_NUMBER = re.compile(r"\s*([+-]?[0-9.]+)?\s*")


def _is_value(value: Any) -> bool:
    text = isinstance(value, str) and _NUMBER.fullmatch(value) is not None
    return text or value is None or isinstance(value, (int, float))


def _is_dict_of_dicts(content: Content) -> bool:
    found = content.json
    return isinstance(found, dict) and all(
        isinstance(docs, dict) and all(map(_is_value, islice(docs.values(), 1))) for docs in found.values()
    )


def _holds_measures(content: Content) -> bool:
    if not _is_dict_of_dicts(content):
        return False
    keys = [key for docs in list(content.json.values())[:100] for key in docs]
    of_measures = sum(_OF_A_MEASURE.fullmatch(key) is not None for key in keys)
    return bool(keys) and 2 * of_measures >= len(keys)  # some may be of somebody's own measures


def _read(content: Content) -> Parts:
    return {"": Given(content.json)}


FORMATS = (
    Format(
        name="a JSON dict {query_id: {doc_id: score}}",
        told_by="an object of objects of numbers",
        holds=lambda content: _is_dict_of_dicts(content) and not _holds_measures(content),
        runs=_read,
        judgments=_read,
        note="BEIR, ranx, pytrec_eval, MTEB 1. Where it stands says whether it is a run or judgments.",
        may_be_either=True,
        skips="BEIR's and pytrec_eval's",
    ),
    Format(
        name="a JSON file of measures",
        told_by="an object of objects, half of whose keys or more are names of measures",
        holds=_holds_measures,
        instead="give the file of the rankings, not of their scores",
    ),
)
