"""Quepid: judgments as CSV, JSON and TREC with decimals, snapshots of rankings as CSV and JSON."""

from __future__ import annotations

import re
from typing import Any

from ..content import Content, Format, Parts, a_list, an_id, by_rank, ranked, rows_of, warn_of_text_ids
from ..neighbours import Given

_BLANKS = " \t\r\n"
# A label such as 3.0, as Ruby writes it.
_DECIMAL = re.compile(rb"\S+\s+\S+\s+\S+\s+[+-]?[0-9]+\.0+")


def _texts(content: Content, name: str) -> list[str]:
    """A column of the table, without the blank that Quepid puts before a sign, for spreadsheets."""
    at = content.header.index(name)
    return [row[at].strip(_BLANKS) for row in content.table]


def _csv_judgments(content: Content) -> Parts:
    queries, docs = _texts(content, "query"), _texts(content, "docid")
    judges = content.header[2:]
    warn_of_text_ids("Quepid's CSV")
    return {
        "" if len(judges) == 1 else judge: Given(
            rows_of(row for row in zip(queries, docs, _texts(content, judge), strict=True) if row[1])
        )
        for judge in judges
    }


def _csv_snapshot(content: Content) -> Parts:
    warn_of_text_ids("Quepid's CSV")
    name = "snapshot name" if "snapshot name" in content.header else "team name"
    names = sorted(set(_texts(content, name)))
    columns = [_texts(content, column) for column in (name, "query text", "doc id", "doc position")]
    parts = {}
    for one in names:
        rows = [row[1:] for row in zip(*columns, strict=True) if row[0] == one]
        tag = one if name == "snapshot name" else None
        parts[one if len(names) > 1 else ""] = Given(by_rank(*map(list, zip(*rows, strict=True))), tag=tag)
    return parts


def _snapshot(content: Content) -> Parts:
    """By the texts of the queries, and by their ids in Quepid's database, which its TREC files have."""
    found = content.json
    texts = {
        an_id(query["query_id"]): query["query_text"].strip(_BLANKS) for query in a_list(found["queries"])
    }
    docs = {
        query: [(an_id(d["id"]), None) for d in a_list(listed) if not d.get("rated_only")]
        for query, listed in found["docs"].items()
    }
    warn_of_text_ids("A snapshot of Quepid's")
    name = found.get("name")
    tag = name if isinstance(name, str) else None
    return {
        "": ranked(((texts[query], listed) for query, listed in docs.items()), tag=tag),
        "id": ranked(docs.items(), tag=tag),
    }


def _case(content: Content) -> Parts:
    warn_of_text_ids("A case of Quepid's")
    rows: list[tuple[str, str, Any]] = []
    for query in a_list(content.json["queries"]):
        text = (query.get("query_text") or query["query"]).strip(_BLANKS)
        rated = query["ratings"]
        pairs = (
            rated.items() if isinstance(rated, dict) else ((r["doc_id"], r["rating"]) for r in a_list(rated))
        )
        rows += [(text, an_id(doc), rating) for doc, rating in pairs]
    return {"": Given(rows_of(rows))}


def _rre(content: Content) -> Parts:
    warn_of_text_ids("Ratings for RRE")
    rows = [
        (query["placeholders"]["$query"].strip(_BLANKS), doc, judged["gain"])
        for query in a_list(content.json["queries"])
        for doc, judged in query["relevant_documents"].items()
    ]
    return {"": Given(rows_of(rows))}


def _book(content: Content) -> Parts:
    warn_of_text_ids("A book of Quepid's")
    by_judge: dict[str, list[tuple[str, str, Any]]] = {}
    for pair in a_list(content.json["query_doc_pairs"]):
        for judged in a_list(pair["judgements"]):
            row = pair["query_text"].strip(_BLANKS), an_id(pair["doc_id"]), judged["rating"]
            by_judge.setdefault(an_id(judged.get("user_email") or "anonymous"), []).append(row)
    several = len(by_judge) > 1
    return {judge if several else "": Given(rows_of(rows)) for judge, rows in by_judge.items()}


def _trec(content: Content) -> Parts:
    rows = []
    for number, line in enumerate(content.text.split("\n"), start=1):
        cells = line.split()
        if cells and len(cells) != 4:
            raise ValueError(
                f"{content.source}, line {number}: {len(cells)} columns where TREC qrels have four (query_id 0 doc_id "
                "relevance)"
            )
        if cells:
            rows.append((cells[0], cells[2], cells[3]))
    return {"": Given(rows_of(rows))}


def _queries(content: Content, key: str) -> bool:
    found = content.json
    queries = found.get("queries") if isinstance(found, dict) and "docs" not in found else None
    return (
        isinstance(queries, list) and bool(queries) and all(isinstance(q, dict) and key in q for q in queries)
    )


FORMATS = (
    Format(
        name="judgments from Quepid as CSV",
        told_by="a header that starts with 'query,docid'",
        holds=lambda content: (
            content.header[:2] == ["query", "docid"]
            and len(content.header) > 2
            and content.header[2] not in ("score", "rel", "label", "relevance")
        ),
        judgments=_csv_judgments,
        note="The texts of queries count as their ids. Of several judges name one: 'book.csv#ada l'.",
        one_run=True,
    ),
    Format(
        name="a snapshot from Quepid as CSV",
        told_by="a header with 'Doc Position'",
        holds=lambda content: {"query text", "doc id", "doc position"} <= set(content.header),
        runs=_csv_snapshot,
        instead="give the judgments of the case; these are of the documents shown",
        note="In the order of the positions. The texts of queries count as their ids.",
    ),
    Format(
        name="a snapshot from Quepid",
        told_by="the keys 'docs', 'queries' and 'scores'",
        holds=lambda content: (
            isinstance(content.json, dict) and {"docs", "queries", "scores"} <= content.json.keys()
        ),
        runs=_snapshot,
        note="The texts of queries count as their ids; with '#id' those that Quepid's TREC files have.",
        one_run=True,
    ),
    Format(
        name="a case of Quepid",
        told_by="the key 'queries', whose objects have 'ratings'",
        holds=lambda content: _queries(content, "ratings"),
        judgments=_case,
        note="The texts of queries count as their ids.",
    ),
    Format(
        name="ratings for RRE",
        told_by="the key 'queries', whose objects have 'relevant_documents'",
        holds=lambda content: _queries(content, "relevant_documents"),
        judgments=_rre,
        note="The texts of queries count as their ids.",
    ),
    Format(
        name="a book of Quepid",
        told_by="the key 'query_doc_pairs'",
        holds=lambda content: isinstance(content.json, dict) and "query_doc_pairs" in content.json,
        judgments=_book,
        note="The texts of queries count as their ids. Of several judges name one.",
        one_run=True,
    ),
    Format(
        name="TREC qrels with decimals (Quepid)",
        told_by="four columns, a decimal such as 3.0 in the fourth",
        holds=lambda content: _DECIMAL.fullmatch(content.line.strip()) is not None,
        judgments=_trec,
        note="Their queries are the ids of Quepid's database.",
    ),
)
