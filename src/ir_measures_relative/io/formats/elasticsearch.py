"""Elasticsearch's and OpenSearch's rank_eval: the request holds judgments, the response a run."""

from __future__ import annotations

from ..content import Content, Format, Parts, a_list, an_id, ranked, rows_of
from ..neighbours import Given


def _judgments(content: Content) -> Parts:
    rows = [
        (an_id(request["id"]), an_id(rated["_id"]), rated["rating"])
        for request in a_list(content.json["requests"])
        for rated in a_list(request["ratings"])
    ]
    return {"": Given(rows_of(rows))}


def _runs(content: Content) -> Parts:
    lists = (
        (query, [(an_id(hit["hit"]["_id"]), hit["hit"].get("_score")) for hit in a_list(detail["hits"])])
        for query, detail in content.json["details"].items()
    )
    return {"": ranked(lists)}


FORMATS = (
    Format(
        name="a rank_eval request",
        told_by="the key 'requests'",
        holds=lambda content: (
            isinstance(content.json, dict) and isinstance(content.json.get("requests"), list)
        ),
        judgments=_judgments,
        instead="give the response, which holds the run",
        note="The id of a request is that of its query.",
    ),
    Format(
        name="a rank_eval response",
        told_by="the keys 'details' and 'metric_score'",
        holds=lambda content: (
            isinstance(content.json, dict) and {"details", "metric_score"} <= content.json.keys()
        ),
        runs=_runs,
        instead="give the request, which holds all judgments; the response has those of retrieved documents alone",
        note="In the order of its hits.",
    ),
)
