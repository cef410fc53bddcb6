"""Retrievers for the examples: PyTerrier transformers over a corpus in memory, without Java."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import bm25s
import numpy as np
import pandas as pd
import pyterrier as pt
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

NOTHING = pd.DataFrame(columns=["qid", "query", "docno"], dtype=object).assign(score=0.0, rank=0)


class BM25(pt.Transformer):
    """BM25 over words (bm25s).

    Args:
        docnos: the document ids.
        texts: their texts.
        num_results: how many documents a query gets at most.
        options: of ``bm25s.BM25``, such as k1, b and method.
    """

    def __init__(
        self, docnos: Sequence[str], texts: Sequence[str], num_results: int = 1000, **options: Any
    ) -> None:
        self.docnos = np.array(docnos, dtype=object)
        self.num_results = min(num_results, len(self.docnos))
        self.index = bm25s.BM25(**options)
        self.index.index(bm25s.tokenize(list(texts), show_progress=False), show_progress=False)

    def transform(self, topics: pd.DataFrame) -> pd.DataFrame:
        pt.validate.query_frame(topics, extra_columns=["query"])
        if topics.empty:
            return NOTHING
        queries = bm25s.tokenize(topics["query"].tolist(), return_ids=False, show_progress=False)
        documents, scores = self.index.retrieve(queries, k=self.num_results, show_progress=False)
        return results(topics, self.docnos[documents], scores)


class VectorSpace(pt.Transformer):
    """The cosine of a query's vector with every document's.

    Args:
        docnos: the document ids.
        texts: their texts.
        vectorizer: from scikit-learn; turns texts into vectors of length 1.
        num_results: how many documents a query gets at most.
    """

    def __init__(
        self, docnos: Sequence[str], texts: Sequence[str], vectorizer: Any, num_results: int = 1000
    ) -> None:
        self.docnos = np.array(docnos, dtype=object)
        self.num_results = min(num_results, len(self.docnos))
        self.vectorizer = vectorizer
        self.vectors = vectorizer.fit_transform(texts)

    def transform(self, topics: pd.DataFrame) -> pd.DataFrame:
        pt.validate.query_frame(topics, extra_columns=["query"])
        if topics.empty:
            return NOTHING
        cosines = self.vectorizer.transform(topics["query"]) @ self.vectors.T
        cosines = cosines if isinstance(cosines, np.ndarray) else cosines.toarray()
        best = np.argsort(-cosines, axis=1, kind="stable")[:, : self.num_results]
        return results(topics, self.docnos[best], np.take_along_axis(cosines, best, axis=1))


def character_ngrams() -> Any:
    """Vectors of character 4-grams within words: lexical, but a plural still matches its singular."""
    return TfidfVectorizer(analyzer="char_wb", ngram_range=(4, 4), sublinear_tf=True)


def latent_semantics(dimensions: int = 100) -> Any:
    """Latent semantic indexing: words that keep the same company come to lie close to each other."""
    return make_pipeline(
        TfidfVectorizer(stop_words="english", sublinear_tf=True),
        TruncatedSVD(dimensions, algorithm="arpack", random_state=0),
        Normalizer(copy=False),
    )


def results(topics: pd.DataFrame, docnos: np.ndarray, scores: np.ndarray) -> pd.DataFrame:
    """The documents with a score above 0 as a PyTerrier result frame.

    Args:
        docnos: one row a topic, best first.
        scores: of the same shape.
    """
    # Processors differ in the last digits of a sum: without these, the order is the same on all of them.
    scores = np.round(scores.astype(np.float64), 5)
    topic, position = np.nonzero(scores > 0)
    frame = topics[["qid", "query"]].iloc[topic].reset_index(drop=True)
    return frame.assign(docno=docnos[topic, position], score=scores[topic, position], rank=position)


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Keeps what PISA, which is C++, writes to the terminal from it."""
    streams = (sys.stdout, sys.stderr)
    saved = [os.dup(stream.fileno()) for stream in streams]
    try:
        with open(os.devnull, "w") as nothing:
            for stream in streams:
                stream.flush()
                os.dup2(nothing.fileno(), stream.fileno())
        yield
    finally:
        for stream, old in zip(streams, saved, strict=True):
            stream.flush()
            os.dup2(old, stream.fileno())
            os.close(old)
