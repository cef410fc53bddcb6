"""OpenSearch's Search Relevance Workbench: judgments, evaluation results and comparisons, whose queries are texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..io.readers import Given
from ..messages import warn
from .content import Content, Format, Parts, a_dict, a_list, an_id, rows_of, runs_by_name, warn_of_text_ids


def _documents(content: Content) -> list[dict[str, Any]]:
    """The documents of an index, as a search or a dump of the index gives them, or alone."""
    found = content.records
    if len(found) == 1 and isinstance(found[0].get("hits"), dict):
        found = a_list(found[0]["hits"]["hits"])
    return [a_dict(a_dict(d).get("_source", d)) for d in found]


def _all_documents(content: Content) -> list[dict[str, Any]]:
    """The same, with a warning where a search found more than it returned."""
    found = _documents(content)
    hits = content.records[0].get("hits")
    total = hits.get("total") if isinstance(hits, dict) else None
    total = total.get("value") if isinstance(total, dict) else total
    if isinstance(total, int) and total > len(found):
        warn(
            f"{content.source} holds {len(found)} of the {total} documents found; search again with size={total}"
        )
    return found


def _has(*keys: str) -> Any:
    def holds(content: Content) -> bool:
        if not content.is_json:
            return False
        try:
            found = _documents(content)
        except (KeyError, TypeError):
            return False
        return bool(found) and all(set(keys) <= d.keys() for d in found)

    return holds


def _judgments(content: Content) -> Parts:
    parts: dict[str, Given] = {}
    for i, document in enumerate(_all_documents(content)):
        rows = [
            (rated["query"], an_id(one["docId"]), one["rating"])
            for rated in a_list(document["judgmentRatings"])
            for one in a_list(rated["ratings"])
        ]
        parts[str(document.get("name") or i)] = Given(rows_of(rows))
    warn_of_text_ids("OpenSearch Search Relevance")
    return parts


def _by_configuration(lists: Iterator[tuple[str, str, list[Any]]]) -> Parts:
    """The runs by their search configurations, from the configuration, query and documents of each list."""
    found = runs_by_name(
        (an_id(configuration), query, [(an_id(d), None) for d in a_list(docs)])
        for configuration, query, docs in lists
    )
    warn_of_text_ids("OpenSearch Search Relevance")
    return found


def _evaluations(content: Content) -> Parts:
    return _by_configuration(
        (d["searchConfigurationId"], d["searchText"], d["documentIds"]) for d in _all_documents(content)
    )


def _comparisons(content: Content) -> Parts:
    return _by_configuration(
        (snapshot["searchConfigurationId"], result["queryText"], snapshot["docIds"])
        for document in _all_documents(content)
        for result in a_list(document["results"])
        for snapshot in a_list(result["snapshots"])
    )


FORMATS = (
    Format(
        name="judgments of OpenSearch Search Relevance",
        holds=_has("judgmentRatings"),
        judgments=_judgments,
        note="The texts of queries count as their ids.",
    ),
    Format(
        name="evaluation results of OpenSearch Search Relevance",
        holds=_has("searchText", "documentIds", "searchConfigurationId"),
        runs=_evaluations,
        note="One run per search configuration. The ids are the texts of queries.",
    ),
    Format(
        name="a pairwise experiment of OpenSearch Search Relevance",
        holds=_has("searchConfigurationList", "results"),
        runs=_comparisons,
        note="One run per search configuration. The ids are the texts of queries.",
    ),
)
