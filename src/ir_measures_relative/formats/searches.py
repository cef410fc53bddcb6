"""Tables of searches: the rankings that an agent, or a user in a session, got one after the other."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..context.run_context import RunContext
from ..io.files import read_bytes
from ..messages import brief, few

COLUMNS = ("query_id", "search", "doc_id")
# A number beyond it is no count of searches, and would take memory for all that are not there.
_MOST_SEARCHES = 10_000
#: Other names of the columns: PyTerrier's, and what a search is called elsewhere.
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
    source = "the searches"
    if isinstance(searches, RunContext):
        table = _of_context(searches)
    elif isinstance(searches, (str, os.PathLike)):
        source = f"the searches {os.fspath(searches)}"
        table = _of_file(Path(searches), source)
    elif isinstance(searches, Mapping):
        table = _of_nested(searches, source)
    elif isinstance(searches, pd.DataFrame):
        table = searches
    else:
        raise ValueError(
            f"{source} are a {type(searches).__name__}; pass a DataFrame, a path, a dict or a RunContext"
        )
    return _checked(table.rename(columns=_NAMES), source)


def _of_context(context: RunContext) -> pd.DataFrame:
    parts = [pd.DataFrame(columns=list(COLUMNS))]
    for number, run in enumerate(context.runs.values(), start=1):
        top = run.top()
        queries = np.asarray(run.query_ids, dtype=object)[top.query]
        parts.append(pd.DataFrame({"query_id": queries, "search": number, "doc_id": top.doc_ids}))
    return pd.concat(parts, ignore_index=True)


def _of_file(path: Path, source: str) -> pd.DataFrame:
    ending = path.name.removesuffix(".gz").rpartition(".")[2].lower()
    if ending == "parquet":
        try:
            return pd.read_parquet(path)
        except ValueError as error:
            raise ValueError(
                f"{source}: not a Parquet file that can be read ({error}); write it again"
            ) from None
    try:
        text = read_bytes(path, source).decode("utf-8-sig")
        if ending in ("jsonl", "ndjson"):
            return _of_rows([json.loads(line) for line in text.splitlines() if line.strip()], source)
        if ending == "json":
            content = json.loads(text)
            return _of_nested(content, source) if isinstance(content, dict) else _of_rows(content, source)
        separator = "\t" if "\t" in text.partition("\n")[0] else ","
        ids = dict.fromkeys(("query_id", "qid", "doc_id", "docno"), str)
        return pd.read_csv(
            io.StringIO(text), sep=separator, dtype=ids, keep_default_na=False, index_col=False
        )
    except (
        json.JSONDecodeError,
        UnicodeDecodeError,
        pd.errors.ParserError,
        pd.errors.EmptyDataError,
    ) as error:
        raise ValueError(
            f"{source}: {error}; give CSV, JSON Lines, JSON or Parquet, named by its ending"
        ) from None


def _of_rows(rows: Any, source: str) -> pd.DataFrame:
    """Return a table of JSON's rows; a row with ``docs``, a list, is a whole search."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError(f"{source}: give JSON rows with the columns {', '.join(COLUMNS)}")
    if not any("docs" in row for row in rows):
        return pd.DataFrame(rows)
    flat = [
        {**{key: value for key, value in row.items() if key != "docs"}, "doc_id": doc}
        for row in rows
        for doc in row.get("docs") or [""]
    ]
    return pd.DataFrame(flat)


def _of_nested(nested: Mapping[Any, Any], source: str) -> pd.DataFrame:
    def rows() -> Iterator[tuple[Any, int, Any]]:
        for trajectory, lists in nested.items():
            if not isinstance(lists, list) or not all(isinstance(docs, list) for docs in lists):
                raise ValueError(
                    f"{source}: trajectory {brief(trajectory)} is not a list of searches, each a list of documents"
                )
            for number, docs in enumerate(lists, start=1):
                for doc in docs or [""]:
                    yield trajectory, number, doc.get("doc_id", "") if isinstance(doc, dict) else doc

    return pd.DataFrame(list(rows()), columns=list(COLUMNS))


def _checked(table: pd.DataFrame, source: str) -> pd.DataFrame:
    if missing := [column for column in COLUMNS if column not in table.columns]:
        raise ValueError(
            f"{source} have no column {', '.join(missing)}; their columns are {few(map(str, table.columns))}"
        )
    ids = table["doc_id"].where(table["doc_id"].notna(), "")
    for column, values in (("query_id", table["query_id"]), ("doc_id", ids)):
        wrong = values.map(lambda value: not isinstance(value, str))
        if wrong.any():
            raise ValueError(
                f"{source}: {column} holds {brief(values[wrong].tolist()[0])}, and ids are strings: convert them with "
                "str()"
            )
    if (table["query_id"] == "").any():
        raise ValueError(f"{source}: a row has no query_id; name its trajectory")
    search = pd.to_numeric(table["search"], errors="coerce")
    wrong = search.isna() | (search < 1) | (search % 1 != 0) | (search > _MOST_SEARCHES)
    if wrong.any():
        raise ValueError(
            f"{source}: trajectory {brief(table['query_id'][wrong].iloc[0])} has the search "
            f"{brief(table['search'][wrong].iloc[0])}; number searches 1, 2, 3 … (at most {_MOST_SEARCHES:,})"
        )
    result = pd.DataFrame(
        {
            "query_id": table["query_id"].astype(object),
            "search": search.astype(np.int64),
            "doc_id": ids.astype(object),
        }
    )
    by = next((column for column in ("rank", "score") if column in table.columns), None)
    key = pd.Series(np.zeros(len(table)), index=table.index)
    if by is not None:
        key = pd.to_numeric(table[by], errors="coerce")
        lost = key.isna() & (result["doc_id"] != "")
        if lost.any():
            at = result[lost].iloc[0]
            raise ValueError(
                f"{source}: trajectory {brief(at['query_id'])}, search {at['search']}, document {brief(at['doc_id'])} "
                f"has the {by} {brief(table[by][lost].iloc[0])}, which is no number"
            )
        key = (key if by == "rank" else -key).fillna(0)
    shown = result[result["doc_id"] != ""]
    twice = shown.duplicated(list(COLUMNS))
    if twice.any():
        at = shown[twice].iloc[0]
        raise ValueError(
            f"{source}: topic {brief(at['query_id'])}, search {at['search']} has document {brief(at['doc_id'])} twice; "
            "a search shows a document once"
        )
    trajectory = pd.factorize(result["query_id"])[0]
    order = np.lexsort((np.arange(len(result)), key.to_numpy(), result["search"].to_numpy(), trajectory))
    result = result.iloc[order].reset_index(drop=True)
    blank = (result["doc_id"] == "") & result.groupby(["query_id", "search"], sort=False)["doc_id"].transform(
        "any"
    )
    result = result[~blank].reset_index(drop=True)
    return result.assign(position=result.groupby(["query_id", "search"], sort=False).cumcount())
