"""JSON: dicts of dicts, MTEB's predictions, and Castorini's JSON Lines."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

from ..io.readers import RawData
from ..messages import warn
from .content import (
    Content,
    Format,
    Parts,
    add_formats,
    as_dict,
    as_id,
    as_list,
    has_known_columns,
    holds_columns,
    make_run,
    make_runs,
)
from .foreign_files import RANKINGS_INSTEAD, is_measure_name

# ---- {query_id: {doc_id: score or label}}, as in BEIR, ranx, pytrec_eval and MTEB 1; measures in the same form

_NUMBERED = re.compile(r".*_[0-9]+")
_NUMBER = re.compile(r"\s*([+-]?[0-9.]+)?\s*")


def _is_value(value: Any) -> bool:
    is_numeric = isinstance(value, str) and _NUMBER.fullmatch(value) is not None
    return is_numeric or value is None or isinstance(value, (int, float))


def _is_flat(docs: Any) -> bool:
    values = list(islice(docs.values(), 2)) if isinstance(docs, dict) else [{}]
    return all(map(_is_value, values[:1])) and not any(isinstance(value, (dict, list)) for value in values)


def _holds_frame_by_columns(content: Content) -> bool:
    data = content.json
    return isinstance(data, dict) and has_known_columns(data) and holds_columns(data)


def _holds_dict_of_dicts(content: Content) -> bool:
    data = content.json
    return (
        isinstance(data, dict) and not _holds_frame_by_columns(content) and all(map(_is_flat, data.values()))
    )


def _holds_measures(content: Content) -> bool:
    """Return whether at least half of the keys are names of measures, the same for all queries.

    Names such as ``p_1`` may be documents as well: then the values must be shares, of several queries.
    """
    if not _holds_dict_of_dicts(content):
        return False
    queries = list(content.json.values())[:100]
    measures = [key for docs in queries for key in docs if is_measure_name(key)]
    if not measures or 2 * len(measures) < sum(map(len, queries)):  # some may be measures of the user's own
        return False
    if all(map(is_measure_name, content.json)):  # BEIR's {"NDCG": {"NDCG@1": ...}}
        return True
    are_shares = (isinstance(v, float) and 0 <= v <= 1 for docs in queries for v in docs.values())
    return all(docs.keys() == queries[0].keys() for docs in queries) and (
        not all(map(_NUMBERED.fullmatch, measures)) or (len(queries) > 1 and all(are_shares))
    )


def _read_dict_of_dicts(content: Content) -> Parts:
    return {"": RawData(content.json)}


# ---- MTEB's predictions, version 2 and later: the rankings of each subset and split of a task, and the model

_MTEB = "mteb_model_meta"


def _read_mteb(content: Content) -> Parts:
    model = content.json[_MTEB].get("model_name")
    tag = model if isinstance(model, str) else None
    subsets = {name: splits for name, splits in content.json.items() if name != _MTEB}
    return {
        f"{subset}:{split}" if len(subsets) > 1 else split: RawData(as_dict(run), tag)
        for subset, splits in subsets.items()
        for split, run in splits.items()
    }


# ---- Castorini: answers with references (ragnarok, TREC RAG), candidates (rank_llm), KILT (pyserini)


def _holds_keys(*keys: str) -> Any:
    return lambda content: bool(content.records) and all(set(keys) <= r.keys() for r in content.records)


def _answers(content: Content) -> list[dict[str, Any]]:
    """Return the answers, with the keys that RAGTIME and TREC RAG 2025 have in their metadata."""
    records = [(r["metadata"] if isinstance(r.get("metadata"), dict) else {}) | r for r in content.records]
    return [r | {"topic_id": r["narrative_id"]} if "narrative_id" in r else r for r in records]


def _holds_references(content: Content) -> bool:
    answers = _answers(content)
    return bool(answers) and all({"topic_id", "references"} <= r.keys() for r in answers)


def _read_references(content: Content) -> Parts:
    runs = make_runs(
        (r.get("run_id"), as_id(r["topic_id"]), [(as_id(doc), None) for doc in as_list(r["references"])])
        for r in _answers(content)
    )
    warn(
        f"{content.source} holds the documents that answers cite, and not all that were retrieved; compare it with "
        "runs of the same kind"
    )
    return runs


def _read_candidates(content: Content) -> Parts:
    records = content.records
    lists = [[(as_id(c["docid"]), c.get("score")) for c in as_list(r["candidates"])] for r in records]
    return {"": make_run(zip((as_id(r["query"]["qid"]) for r in records), lists, strict=True))}


def _read_kilt(content: Content) -> Parts:
    pages = [[p for o in as_list(r["output"]) for p in as_list(o["provenance"])] for r in content.records]
    lists = [[(as_id(page["wikipedia_id"]), None) for page in of_record] for of_record in pages]
    return {"": make_run(zip((as_id(r["id"]) for r in content.records), lists, strict=True))}


add_formats(
    "json_runs",
    Format(
        name="answers with references (ragnarok, TREC RAG, RAGTIME)",
        holds=_holds_references,
        runs=_read_references,
        note="Cited documents only, in the order of the references.",
    ),
    Format(
        name="candidates (rank_llm)",
        holds=_holds_keys("query", "candidates"),
        runs=_read_candidates,
        note="In the order of the candidates.",
    ),
    Format(
        name="KILT (pyserini)",
        holds=_holds_keys("id", "output"),
        runs=_read_kilt,
        note="In the order of the provenance.",
    ),
    Format(
        name="a JSON dict {query_id: {doc_id: score}}",
        holds=lambda content: _holds_dict_of_dicts(content) and not _holds_measures(content),
        runs=_read_dict_of_dicts,
        judgments=_read_dict_of_dicts,
        note="BEIR, ranx, pytrec_eval, MTEB 1. The argument decides whether it is a run or judgments.",
        may_be_either=True,
    ),
    Format(name="a JSON file of measures", holds=_holds_measures, instead=RANKINGS_INSTEAD),
    Format(
        name="a DataFrame by columns (the default of to_json)",
        holds=_holds_frame_by_columns,
        instead="write it with to_json(path, orient='records')",
    ),
    Format(
        name="MTEB's predictions",
        holds=lambda content: isinstance(content.json, dict) and isinstance(content.json.get(_MTEB), dict),
        runs=_read_mteb,
        instead="give the judgments of the task, such as json.dump(task.dataset['test']['relevant_docs'], file)",
        note="Name the split, and the subset where there are several: 'predictions.json#eng:test'.",
        one_run=True,
    ),
)
