"""Tables of searches: the rankings that an agent, or a user in a session, received one after the other."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..context.run_context import RunContext
from ..io.files import read_bytes
from ..messages import brief, few
from .content import Content, parse_json, parse_json_lines
from .tables import read_parquet

COLUMNS = ("query_id", "search", "doc_id")
_MAX_SEARCHES = 10_000  # a larger number is no count of searches, and would take much memory
# Other names of the columns: PyTerrier's, and those of other tools for a search.
_NAMES = {"qid": "query_id", "docno": "doc_id", "step": "search", "turn": "search"}


def read_searches(searches: Any) -> pd.DataFrame:
    """Return searches as a table with a row per document, and a row without a document per empty search.

    Args:
        searches: a DataFrame; the path of a CSV, TSV, JSON Lines, JSON or Parquet file; a dict from trajectory to a
            list of searches, each a list of documents, best first (nested JSON); or a RunContext, whose runs are the
            searches in their order. Columns: ``query_id`` (the trajectory), ``search`` (from 1), ``doc_id``, and
            ``rank`` or ``score``; without both, the order of the rows. An empty ``doc_id`` is a search without results.

    Returns:
        the columns ``query_id``, ``search``, ``doc_id`` ("" where the search is empty) and ``position`` (from 0),
        sorted by trajectory in the order given, search and position.

    Raises:
        ValueError: a missing column, a search that is not a whole number from 1 on, a missing id, a document twice in a
            search, a rank or score that is not a number.
    """
    is_path = isinstance(searches, (str, os.PathLike))
    source = f"the searches {os.fspath(searches)}" if is_path else "the searches"
    try:
        return _check(_read(searches, source).rename(columns=_NAMES), source)
    except UnicodeEncodeError:
        raise ValueError(
            f"{source}: a text holds half of a surrogate pair, which no file in UTF-8 can hold; replace it"
        ) from None


def _read(searches: Any, source: str) -> pd.DataFrame:
    if isinstance(searches, RunContext):
        return _read_context(searches)
    if isinstance(searches, (str, os.PathLike)):
        return _read_file(Path(searches), source)
    if isinstance(searches, Mapping):
        return _read_nested(searches, source)
    if isinstance(searches, pd.DataFrame):
        return searches
    raise ValueError(
        f"{source} are a {type(searches).__name__}; pass a DataFrame, a path, a dict or a RunContext"
    )


def _read_context(context: RunContext) -> pd.DataFrame:
    parts = [pd.DataFrame(columns=list(COLUMNS))]
    for number, run in enumerate(context.runs.values(), start=1):
        top = run.top()
        queries = np.asarray(run.query_ids, dtype=object)[top.query]
        parts.append(pd.DataFrame({"query_id": queries, "search": number, "doc_id": top.doc_ids}))
    return pd.concat(parts, ignore_index=True)


def _read_file(path: Path, source: str) -> pd.DataFrame:
    ending, data = path.name.removesuffix(".gz").rpartition(".")[2].lower(), read_bytes(path, source)
    if ending == "parquet":
        return read_parquet(data, source)
    text = Content(data, source).text.removeprefix("\ufeff")
    if ending in ("jsonl", "ndjson"):
        return _read_rows(parse_json_lines(text, source), source)
    if ending == "json":
        content = parse_json(text, source)
        return _read_nested(content, source) if isinstance(content, dict) else _read_rows(content, source)
    separator = "\t" if "\t" in text.partition("\n")[0] else ","
    ids = dict.fromkeys(("query_id", "qid", "doc_id", "docno"), str)
    try:
        table = pd.read_csv(
            io.StringIO(text), sep=separator, dtype=ids, keep_default_na=False, index_col=False
        )
    except ValueError as error:  # of pandas
        message = f"{source}: {error}; give CSV, JSON Lines, JSON or Parquet, named by its ending"
        raise ValueError(message) from None
    for name in ids.keys() & set(table.columns):
        if table[name].str.contains("\n").any():
            raise ValueError(f"{source}: a quotation mark hides rows in {name}; correct it, or leave it out")
    return table


def _read_rows(rows: Any, source: str) -> pd.DataFrame:
    """Return a table of rows in JSON; a row with ``docs``, a list, is a whole search."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError(f"{source}: give JSON rows with the columns {', '.join(COLUMNS)}")
    if not any("docs" in row for row in rows):
        return pd.DataFrame(rows)
    for row in rows:
        if not isinstance(row.get("docs") or [], list) or {"doc_id", "docno"} & set(row):
            raise ValueError(
                f"{source}: {brief(row)} is no search; give a list of documents as docs, and no doc_id"
            )
    return pd.DataFrame(
        [
            {**{key: value for key, value in row.items() if key != "docs"}, "doc_id": doc}
            for row in rows
            for doc in row.get("docs") or [""]
        ]
    )


def _read_nested(nested: Mapping[Any, Any], source: str) -> pd.DataFrame:
    rows = []
    for trajectory, lists in nested.items():
        if not isinstance(lists, list) or not all(isinstance(docs, list) for docs in lists):
            raise ValueError(
                f"{source}: trajectory {brief(trajectory)} is not a list of searches, each a list of documents"
            )
        for number, docs in enumerate(lists, start=1):
            ids = [doc.get("doc_id", "") if isinstance(doc, dict) else doc for doc in docs or [""]]
            rows += [(trajectory, number, doc) for doc in ids]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _check(table: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return the table of :func:`read_searches` from one in the order of the rows, with other columns too."""
    if missing := [column for column in COLUMNS if column not in table.columns]:
        raise ValueError(
            f"{source} have no column {', '.join(missing)}; their columns are {few(map(str, table.columns))}"
        )
    if not table.columns.is_unique:
        raise ValueError(
            f"{source} have two columns {brief(table.columns[table.columns.duplicated()][0])}; drop one"
        )
    table = table.reset_index(drop=True).assign(
        doc_id=table["doc_id"].where(table["doc_id"].notna(), "").array
    )
    for column in ("query_id", "doc_id"):
        is_text = table[column].map(lambda value: isinstance(value, str))
        if not is_text.all():
            raise ValueError(
                f"{source}: {column} holds {brief(table[column][~is_text].tolist()[0])}, and ids are strings: convert "
                "them with str()"
            )
        "".join(table[column]).encode()  # raises UnicodeEncodeError where pandas holds Python's strings too
    if (table["query_id"] == "").any():
        raise ValueError(f"{source}: a row has no query_id; name its trajectory")
    search = pd.to_numeric(table["search"], errors="coerce")
    is_number = (search >= 1) & (search % 1 == 0) & (search <= _MAX_SEARCHES)
    if not is_number.all():
        row = table[~is_number].iloc[0]
        raise ValueError(
            f"{source}: trajectory {brief(row['query_id'])} has the search {brief(row['search'])}; number searches "
            f"1, 2, 3 … (at most {_MAX_SEARCHES:,})"
        )
    order = _read_order(table, source)
    result = table[list(COLUMNS)].astype({"query_id": object, "doc_id": object})
    result["search"] = search.astype(np.int64)
    is_duplicate = result.duplicated(list(COLUMNS)) & (result["doc_id"] != "")
    if is_duplicate.any():
        row = result[is_duplicate].iloc[0]
        raise ValueError(
            f"{source}: topic {brief(row['query_id'])}, search {row['search']} has document {brief(row['doc_id'])} "
            "twice; a search shows a document once"
        )
    trajectory = pd.factorize(result["query_id"])[0]
    result = result.iloc[np.lexsort((np.arange(len(result)), order, result["search"], trajectory))]
    has_docs = result.groupby(["query_id", "search"], sort=False)["doc_id"].transform("any")
    result = result[(result["doc_id"] != "") | ~has_docs].reset_index(drop=True)
    return result.assign(position=result.groupby(["query_id", "search"], sort=False).cumcount())


def _read_order(table: pd.DataFrame, source: str) -> Any:
    """Return numbers that ascend in the order of the documents of a search: the ranks, or the negative scores."""
    column = next((column for column in ("rank", "score") if column in table.columns), None)
    if column is None:
        return np.zeros(len(table))
    order = pd.to_numeric(table[column], errors="coerce")
    is_lost = order.isna() & (table["doc_id"] != "")
    if is_lost.any():
        row = table[is_lost].iloc[0]
        raise ValueError(
            f"{source}: trajectory {brief(row['query_id'])}, search {row['search']}, document {brief(row['doc_id'])} "
            f"has the {column} {brief(row[column])}, which is no number"
        )
    return (order if column == "rank" else -order).fillna(0).to_numpy()
