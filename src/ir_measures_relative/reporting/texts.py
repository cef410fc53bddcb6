"""What documents and topics say: from a dict, a function, or a dataset of ir_datasets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from ..io.datasets import dataset_of, fetching
from ..messages import kind_of, warn

#: What a report takes as ``texts``.
Texts: TypeAlias = "Mapping[str, str] | Callable[[str], str | None] | bool | Any | None"
#: From document ids to what is known of them.
Lookup: TypeAlias = Callable[[Sequence[str]], dict[str, str]]

# How many characters of a text a report shows.
_LONGEST = 300


def texts_of(dataset: Any, texts: Texts) -> Lookup:
    """What finds the texts of documents, shortened.

    Raises:
        TypeError: something else than texts.
    """
    if texts is None:
        texts = dataset if dataset is not None and dataset.has_docs() else False
    if texts is False:
        return lambda doc_ids: {}
    if isinstance(texts, Mapping):
        find: Callable[[str], Any] = texts.get
    elif callable(texts):
        find = texts
    else:
        return _of_dataset(dataset_of(texts))
    return lambda doc_ids: {doc: _shortened(text) for doc in doc_ids if (text := find(doc)) is not None}


def _of_dataset(dataset: Any) -> Lookup:
    def look(doc_ids: Sequence[str]) -> dict[str, str]:
        docs = _fetched(dataset, lambda: dataset.docs_store().get_many(list(doc_ids)))
        return {doc_id: _shortened(_text(doc)) for doc_id, doc in docs.items()}

    return look


def _fetched(dataset: Any, fetch: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What a dataset has; nothing, with a warning, where its files cannot be fetched: a report does without texts."""
    try:
        with fetching(dataset):
            return fetch()
    except ConnectionError as error:
        warn(f"the report has no texts: {error}")
        return {}


def _text(doc: Any) -> str:
    """What a document or a query of ir_datasets says, as far as it tells which of its parts that is."""
    if hasattr(doc, "default_text"):
        return str(doc.default_text())
    return " ".join(value for value in doc[1:] if isinstance(value, str))


def queries_of(dataset: Any, queries: Mapping[str, str] | None) -> dict[str, str]:
    """What the topics ask, shortened.

    Raises:
        TypeError: something else than a dict.
    """
    if queries is None:
        if dataset is None or not dataset.has_queries():
            return {}
        queries = _fetched(dataset, lambda: {q.query_id: _text(q) for q in dataset.queries_iter()})
    if not isinstance(queries, Mapping):
        raise TypeError(f"queries is {kind_of(queries)}; give a dict from query id to text")
    return {str(query): _shortened(text) for query, text in queries.items()}


def _shortened(text: Any) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…"
