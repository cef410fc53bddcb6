"""Castorini's JSON Lines: answers with references (ragnarok, TREC RAG), candidates (rank_llm), KILT (pyserini)."""

from __future__ import annotations

from typing import Any

from ..messages import warn
from .content import Content, Format, Parts, a_list, add_formats, an_id, ranked, runs_by_name


def _has(*keys: str) -> Any:
    return lambda content: bool(content.records) and all(set(keys) <= r.keys() for r in content.records)


def _answers(content: Content) -> list[dict[str, Any]]:
    """The answers, with what RAGTIME and TREC RAG 2025 have in their metadata."""
    records = [(r["metadata"] if isinstance(r.get("metadata"), dict) else {}) | r for r in content.records]
    return [r | {"topic_id": r["narrative_id"]} if "narrative_id" in r else r for r in records]


def _holds_references(content: Content) -> bool:
    answers = _answers(content)
    return bool(answers) and all({"topic_id", "references"} <= r.keys() for r in answers)


def _references(content: Content) -> Parts:
    found = runs_by_name(
        (r.get("run_id"), an_id(r["topic_id"]), [(an_id(d), None) for d in a_list(r["references"])])
        for r in _answers(content)
    )
    warn(
        f"{content.source} holds the documents that answers cite, and not all that were retrieved; compare it with "
        "runs of the same kind"
    )
    return found


def _candidates(content: Content) -> Parts:
    records = content.records
    found = [[(an_id(c["docid"]), c.get("score")) for c in a_list(r["candidates"])] for r in records]
    return {"": ranked(zip((an_id(r["query"]["qid"]) for r in records), found, strict=True))}


def _kilt(content: Content) -> Parts:
    pages = [[p for o in a_list(r["output"]) for p in a_list(o["provenance"])] for r in content.records]
    found = [[(an_id(page["wikipedia_id"]), None) for page in of_one] for of_one in pages]
    return {"": ranked(zip((an_id(r["id"]) for r in content.records), found, strict=True))}


add_formats(
    "castorini",
    Format(
        name="answers with references (ragnarok, TREC RAG, RAGTIME)",
        holds=_holds_references,
        runs=_references,
        note="Cited documents only, in the order of the references.",
    ),
    Format(
        name="candidates (rank_llm)",
        holds=_has("query", "candidates"),
        runs=_candidates,
        note="In the order of the candidates.",
    ),
    Format(
        name="KILT (pyserini)",
        holds=_has("id", "output"),
        runs=_kilt,
        note="In the order of the provenance.",
    ),
)
