"""The retrievers of the generated collection as PyTerrier transformers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import pyterrier as pt


class Pipeline(pt.Transformer):  # type: ignore[misc]
    """A :class:`~ir_measures_relative.demo.Retriever` whose ``k1``, ``b`` and ``feedback`` may be set."""

    def __init__(self, name: str, retriever: Any) -> None:
        self.name = name
        self.retriever = retriever
        self.k1, self.b, self.feedback = retriever.k1, retriever.b, retriever.feedback

    def __repr__(self) -> str:
        return self.name

    def transform(self, topics: pd.DataFrame) -> pd.DataFrame:
        """Return the results for topics with the columns qid and query."""
        pt.validate.query_frame(topics, extra_columns=["query"])
        search = replace(self.retriever, k1=self.k1, b=self.b, feedback=self.feedback)
        rows = [
            (topic.qid, topic.query, docno, score, rank)
            for topic in topics.itertuples()
            for rank, (docno, score) in enumerate(search(topic.query))
        ]
        types = {"qid": object, "query": object, "docno": object, "score": "float64", "rank": "int64"}
        return pd.DataFrame(rows, columns=list(types)).astype(types)
