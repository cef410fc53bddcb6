"""What documents and topics say: from a dict, a function, or a dataset of ir_datasets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ..io.datasets import dataset_of, fetching
from ..messages import kind_of

if TYPE_CHECKING:
    from ..context import RunContext

#: What a report takes as ``texts``.
Texts: TypeAlias = "Mapping[str, str] | Callable[[str], str | None] | bool | Any | None"
#: From document ids to what is known of them.
Lookup: TypeAlias = Callable[[Sequence[str]], dict[str, str]]

# How many characters of a text a report shows.
_LONGEST = 300


def texts_of(context: RunContext, texts: Texts) -> Lookup:
    """What finds the texts of documents, shortened.

    Raises:
        TypeError: something else than texts.
    """
    if texts is None:
        texts = context.dataset if context.dataset is not None and context.dataset.has_docs() else False
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
        with fetching(dataset):
            docs = dataset.docs_store().get_many(list(doc_ids))
        return {doc_id: _shortened(_text(doc)) for doc_id, doc in docs.items()}

    return look


def _text(doc: Any) -> str:
    """The title and the body of a document of ir_datasets, as far as it says which these are."""
    if hasattr(doc, "default_text"):
        return str(doc.default_text())
    return " ".join(value for value in doc[1:] if isinstance(value, str))


def queries_of(context: RunContext, queries: Mapping[str, str] | None) -> dict[str, str]:
    """What the topics ask, shortened.

    Raises:
        TypeError: something else than a dict.
    """
    if queries is None:
        dataset = context.dataset
        if dataset is None or not dataset.has_queries():
            return {}
        with fetching(dataset):
            queries = {q.query_id: q.default_text() for q in dataset.queries_iter()}
    if not isinstance(queries, Mapping):
        raise TypeError(f"queries is {kind_of(queries)}; give a dict from query id to text")
    return {str(query): _shortened(text) for query, text in queries.items()}


def _shortened(text: Any) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…"
