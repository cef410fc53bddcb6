"""JSON ``{query_id: {doc_id: score or label}}``, as BEIR, ranx, pytrec_eval and MTEB 1 have it; and measures so."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

from ..io.frames import has_known_columns
from ..io.readers import RawData
from .content import Content, Format, Parts, add_formats, is_by_column
from .measures import INSTEAD, names_a_measure

_NUMBERED = re.compile(r".*_[0-9]+")
_NUMBER = re.compile(r"\s*([+-]?[0-9.]+)?\s*")


def _is_value(value: Any) -> bool:
    text = isinstance(value, str) and _NUMBER.fullmatch(value) is not None
    return text or value is None or isinstance(value, (int, float))


def _is_flat(docs: Any) -> bool:
    values = list(islice(docs.values(), 2)) if isinstance(docs, dict) else [{}]
    return all(map(_is_value, values[:1])) and not any(isinstance(value, (dict, list)) for value in values)


def _is_by_column(content: Content) -> bool:
    found = content.json
    return isinstance(found, dict) and has_known_columns(found) and is_by_column(found)


def _is_dict_of_dicts(content: Content) -> bool:
    found = content.json
    return isinstance(found, dict) and not _is_by_column(content) and all(map(_is_flat, found.values()))


def _holds_measures(content: Content) -> bool:
    """Whether half of the keys or more are named as measures are, and all queries have the same.

    Names such as ``p_1`` may be of documents as well: their values must be shares, of several queries.
    """
    if not _is_dict_of_dicts(content):
        return False
    found = list(content.json.values())[:100]
    of_measures = [key for docs in found for key in docs if names_a_measure(key)]
    if not of_measures or 2 * len(of_measures) < sum(
        map(len, found)
    ):  # some may be of somebody's own measures
        return False
    if all(map(names_a_measure, content.json)):  # BEIR's {"NDCG": {"NDCG@1": ...}}
        return True
    shares = (isinstance(v, float) and 0 <= v <= 1 for docs in found for v in docs.values())
    return all(docs.keys() == found[0].keys() for docs in found) and (
        not all(map(_NUMBERED.fullmatch, of_measures)) or (len(found) > 1 and all(shares))
    )


def _read(content: Content) -> Parts:
    return {"": RawData(content.json)}


add_formats(
    "dict_of_dicts",
    Format(
        name="a JSON dict {query_id: {doc_id: score}}",
        holds=lambda content: _is_dict_of_dicts(content) and not _holds_measures(content),
        runs=_read,
        judgments=_read,
        note="BEIR, ranx, pytrec_eval, MTEB 1. The argument decides whether it is a run or judgments.",
        may_be_either=True,
    ),
    Format(name="a JSON file of measures", holds=_holds_measures, instead=INSTEAD),
    Format(
        name="a DataFrame by columns (the default of to_json)",
        holds=_is_by_column,
        instead="write it with to_json(path, orient='records')",
    ),
)
