"""How long documents are, in tokens: what a cutoff that is a budget reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from typing import Any, TypeAlias

import numpy as np

from ..arguments import is_number
from ..data.arrays import IntArray
from ..io.datasets import dataset_of, describe, fetching
from ..io.frames import columns_of, is_frame
from ..messages import kind_of

#: What may say how many tokens documents have: from document id to number, as a mapping, a pandas Series or a function;
#: or a DataFrame with the columns ``doc_id`` (or ``docno``) and ``tokens``.
Tokens: TypeAlias = Any


class DocumentLengths:
    """The number of tokens of each document, which is looked up when it is first asked for.

    Args:
        tokens: in any form.
    """

    def __init__(self, tokens: Tokens) -> None:
        if is_frame(tokens):
            if "tokens" not in tokens.columns:
                raise ValueError(
                    f"tokens: the DataFrame has no column 'tokens'; its columns are {list(map(str, tokens.columns))}"
                )
            (docs,) = columns_of(tokens, ("doc_id",), "tokens")
            tokens = dict(zip(docs, tokens["tokens"], strict=True))
        elif hasattr(tokens, "to_dict") and hasattr(tokens, "index"):
            tokens = tokens.to_dict()
        if not isinstance(tokens, Mapping) and not callable(tokens):
            raise ValueError(
                f"tokens is {kind_of(tokens)}; give a dict from document id to number, a DataFrame or a function"
            )
        self._look_up: Callable[[str], Any] = tokens.__getitem__ if isinstance(tokens, Mapping) else tokens
        self._known: dict[str, int] = {}

    def of(self, docs: Sequence[str]) -> IntArray:
        """The lengths of some documents.

        Raises:
            ValueError: a document without a length, or one that is no whole number from 0 up; names it.
        """
        known = self._known
        for doc in docs:
            if doc not in known:
                known[doc] = self._length(doc)
        return np.fromiter(map(known.__getitem__, docs), dtype=np.int64, count=len(docs))

    def _length(self, doc: str) -> int:
        try:
            length = self._look_up(doc)
        except KeyError:
            raise ValueError(f"tokens has no document {doc!r}, which a run holds; add it") from None
        if is_number(length) and 0 <= length < 2**31 and int(length) == length:
            return int(length)
        raise ValueError(
            f"tokens: document {doc!r} has the length {length!r}; it must be a whole number from 0 up"
        )


class TokenCounts:
    """The lengths of the documents of a dataset of ir_datasets, for ``RunContext(tokens=…)``.

    A document is read from the dataset and counted when it is first asked for.

    Args:
        dataset: an id, an ``ir_datasets.Dataset``, or a PyTerrier dataset.
        tokenizer: from the text of a document to its tokens, or to their number, such as ``tokenizer.encode``.

    Raises:
        ValueError: a dataset without documents.

    Example:
        >>> from ir_measures_relative import demo
        >>> from ir_measures_relative.context.lengths import TokenCounts
        >>> count = TokenCounts(demo.register(), str.split)
        >>> count(demo.generate().docs[0].doc_id)
        80
    """

    def __init__(self, dataset: Any, tokenizer: Callable[[str], Sized | int]) -> None:
        self.dataset = dataset_of(dataset)
        if not self.dataset.has_docs():
            raise ValueError(f"{describe(self.dataset)}, so there is no text to count")
        self.tokenizer = tokenizer

    def __call__(self, doc_id: str) -> int:
        """The number of tokens of a document; KeyError for one that the dataset does not hold."""
        with fetching(self.dataset):
            doc = self.dataset.docs_store().get(doc_id)
        tokens = self.tokenizer(doc.default_text())
        return tokens if isinstance(tokens, int) else len(tokens)
