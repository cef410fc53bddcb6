"""A generated test collection for examples and tests: 1,200 documents, 36 topics, graded judgments, seven runs.

A document is about one or two concepts of a subject, and calls each by one of three synonyms; a query names two
concepts by one synonym each. So retrieval by words misses what retrieval by latent topics finds, and vice versa.

Example:
    >>> import ir_datasets
    >>> from ir_measures_relative import demo
    >>> dataset = ir_datasets.load(demo.register())
    >>> dataset.docs_count(), dataset.queries_count()
    (1200, 36)
"""

from __future__ import annotations

import gzip
import itertools
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

import ir_datasets
import pandas as pd
from ir_datasets import formats
from ir_datasets.indices.base import Docstore

from ..arguments import check_choice

__all__ = ["DATASET_ID", "GROUPS", "generate", "nuggets", "pipelines", "register", "runs"]

#: The id of the collection in ir_datasets.
DATASET_ID = "relative-demo"

#: The group of each retriever.
GROUPS = {
    "BM25": "words",
    "BM25-long": "words",
    "prefixes": "words",
    "4-grams": "letters",
    "3-grams": "letters",
    "feedback-5": "feedback",
    "feedback-20": "feedback",
}

# How many documents a retriever returns, and how many tokens feedback adds.
_DEPTH = 100
_NEW_TOKENS = 10


class DemoCollection(NamedTuple):
    """A generated collection, in parts as ir_datasets has them."""

    docs: tuple[formats.GenericDoc, ...]
    queries: tuple[formats.GenericQuery, ...]
    qrels: tuple[formats.TrecQrel, ...]
    scoreddocs: tuple[formats.GenericScoredDoc, ...]


@lru_cache
def _read_collection() -> dict[str, Any]:
    """Return the documents, queries, nuggets and judgments, which ``tools/demo_collection.py`` generates."""
    packed = files(__package__).joinpath("collection.json.gz").read_bytes()
    return json.loads(gzip.decompress(packed))


@lru_cache
def generate(judgments: str = "pool") -> DemoCollection:
    """Return the collection.

    A topic asks for two concepts. A document about both has grade 2, one about one of them grade 1 if it mentions the
    other, else 0. All other documents are not judged, or with ``judgments="all"`` have grade 0.
    """
    check_choice("judgments", judgments, ("pool", "all"))
    data = _read_collection()
    grades = {(query_id, doc_id): grade for query_id, doc_id, grade in data["qrels"]}
    pairs = grades if judgments == "pool" else itertools.product(data["queries"], data["docs"])
    docs = tuple(formats.GenericDoc(*item) for item in data["docs"].items())
    queries = tuple(formats.GenericQuery(*item) for item in data["queries"].items())
    qrels = tuple(formats.TrecQrel(*pair, grades.get(pair, 0), "0") for pair in pairs)
    search = Retriever(Index(docs, words))
    first_stage = tuple(
        formats.GenericScoredDoc(query.query_id, doc_id, score)
        for query in queries
        for doc_id, score in search(query.text)
    )
    return DemoCollection(docs, queries, qrels, first_stage)


def nuggets() -> list[formats.TrecQrel]:
    """Return judgments of six nuggets a topic, which are the words that go with its two concepts.

    The column ``iteration`` names the nugget. A document of a grade above 0 has the label 1 for the nuggets in it.
    """
    collection = generate()
    doc_words = {doc.doc_id: set(words(doc.text)) for doc in collection.docs}
    topic_words = _read_collection()["nuggets"]
    return [
        formats.TrecQrel(query_id, doc_id, int(grade > 0 and word in doc_words[doc_id]), word)
        for query_id, doc_id, grade, _ in collection.qrels
        for word in topic_words[query_id]
    ]


class Index:
    """The tokens of documents with ``doc_id`` and ``text``; ``tokens`` cuts a text."""

    def __init__(self, docs: Iterable[Any], tokens: Callable[[str], list[str]]) -> None:
        self.tokens = tokens
        self.counts = {d.doc_id: Counter(tokens(d.text)) for d in docs}
        lengths = {d: sum(c.values()) for d, c in self.counts.items()}
        mean = sum(lengths.values()) / len(lengths)
        #: of each token, the documents that have it: id, how often, and the document's length over the mean
        self.postings: defaultdict[str, list[tuple[str, int, float]]] = defaultdict(list)
        for doc_id, count in self.counts.items():
            for token, often in count.items():
                self.postings[token].append((doc_id, often, lengths[doc_id] / mean))

    def idf(self, token: str) -> float:
        n = len(self.postings.get(token, ()))
        return math.log(1 + (len(self.counts) - n + 0.5) / (n + 0.5))


@dataclass(frozen=True)
class Retriever:
    """BM25, which may extend the query by the most distinctive tokens of its best documents."""

    index: Index
    k1: float = 0.9  #: how much further occurrences of a token count
    b: float = 0.4  #: how much the length of a document counts
    feedback: int = 0  #: how many documents extend the query

    def __call__(self, text: str) -> list[tuple[str, float]]:
        """Return the 100 best documents for a text, with scores that are equal on every machine."""
        query = Counter(self.index.tokens(text))
        ranking = self._search(query)
        return self._search(self._extend(query, ranking[: self.feedback])) if self.feedback else ranking

    def _search(self, query: Mapping[str, float]) -> list[tuple[str, float]]:
        index, k1, b = self.index, self.k1, self.b
        scores: defaultdict[str, float] = defaultdict(float)
        for token, weight in query.items():
            idf = index.idf(token)
            for doc_id, tf, length in index.postings.get(token, ()):
                scores[doc_id] += weight * idf * tf / (tf + k1 * (1 - b + b * length))
        best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:_DEPTH]
        return [(doc_id, round(score, 6)) for doc_id, score in best]

    def _extend(self, query: Counter[str], ranking: list[tuple[str, float]]) -> dict[str, float]:
        counts: Counter[str] = Counter()
        for doc_id, _ in ranking:
            counts.update(self.index.counts[doc_id])
        weight = {token: round(count * self.index.idf(token), 6) for token, count in counts.items()}
        chosen = sorted(weight, key=lambda token: (-weight[token], token))[:_NEW_TOKENS]
        total = sum(weight[token] for token in chosen)
        more = {token: sum(query.values()) * weight[token] / total for token in chosen}
        return {token: query[token] + more.get(token, 0.0) for token in dict.fromkeys([*query, *more])}


def words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return re.findall(r"\w+", text.lower())


def _letters(text: str, n: int) -> list[str]:
    padded = [f" {word} " for word in words(text)]
    return [word[i : i + n] for word in padded for i in range(max(len(word) - n, 0) + 1)]


def runs() -> dict[str, pd.DataFrame]:
    """Return the runs of seven small retrievers: query_id, doc_id and score, 100 documents a query, best first.

    ``BM25`` and ``BM25-long`` (k1 = 2, b = 1) use words, ``prefixes`` their first five letters, ``4-grams`` and
    ``3-grams`` characters. ``feedback-5`` and ``feedback-20`` extend the query from its 5 or 20 best documents.
    """
    return {name: run.copy() for name, run in _runs().items()}


@lru_cache(maxsize=1)
def _runs() -> dict[str, pd.DataFrame]:
    result = {}
    for name, search in _retrievers().items():
        rows = [(q.query_id, doc_id, score) for q in generate().queries for doc_id, score in search(q.text)]
        result[name] = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    return result


@lru_cache(maxsize=1)
def _retrievers() -> dict[str, Retriever]:
    docs = generate().docs
    index = Index(docs, words)
    return {
        "BM25": Retriever(index),
        "BM25-long": Retriever(index, k1=2.0, b=1.0),
        "prefixes": Retriever(Index(docs, lambda text: [word[:5] for word in words(text)])),
        "4-grams": Retriever(Index(docs, lambda text: _letters(text, 4))),
        "3-grams": Retriever(Index(docs, lambda text: _letters(text, 3))),
        "feedback-5": Retriever(index, feedback=5),
        "feedback-20": Retriever(index, feedback=20),
    }


def pipelines() -> dict[str, Any]:
    """Return the retrievers of :func:`runs` as PyTerrier transformers; k1, b and feedback can be tuned."""
    from .transformer import Pipeline

    return {name: Pipeline(name, retriever) for name, retriever in _retrievers().items()}


class _Sliceable(Iterator[formats.GenericDoc]):
    """An iterator that can be sliced, as those of ir_datasets' documents can."""

    def __init__(self, rows: Sequence[formats.GenericDoc]) -> None:
        self._rows = rows
        self._iter = iter(rows)

    def __next__(self) -> formats.GenericDoc:
        return next(self._iter)

    def __getitem__(self, key: int | slice) -> formats.GenericDoc | _Sliceable:
        return _Sliceable(self._rows[key]) if isinstance(key, slice) else self._rows[key]


class _Docs(formats.BaseDocs):  # type: ignore[misc]
    def docs_iter(self) -> _Sliceable:
        return _Sliceable(generate().docs)

    def docs_store(self) -> _Store:
        return _Store(formats.GenericDoc)

    def docs_count(self) -> int:
        return len(generate().docs)


class _Store(Docstore):  # type: ignore[misc]
    def get_many_iter(self, doc_ids: Iterable[str]) -> Iterator[formats.GenericDoc]:
        wanted = set(doc_ids)
        return (doc for doc in generate().docs if doc.doc_id in wanted)


class _Queries(formats.BaseQueries):  # type: ignore[misc]
    def queries_iter(self) -> Iterator[formats.GenericQuery]:
        return iter(generate().queries)

    def queries_count(self) -> int:
        return len(generate().queries)


class _Qrels(formats.BaseQrels):  # type: ignore[misc]
    def qrels_iter(self) -> Iterator[formats.TrecQrel]:
        return iter(generate().qrels)

    def qrels_count(self) -> int:
        return len(generate().qrels)

    def qrels_cls(self) -> type:
        return formats.TrecQrel

    def qrels_defs(self) -> dict[int, str]:
        return {
            2: "about both concepts of the topic",
            1: "about one of them, mentions the other",
            0: "about one of them, does not mention the other",
        }


class _ScoredDocs(formats.BaseScoredDocs):  # type: ignore[misc]
    def scoreddocs_iter(self) -> Iterator[formats.GenericScoredDoc]:
        return iter(generate().scoreddocs)

    def scoreddocs_count(self) -> int:
        return len(generate().scoreddocs)


def register() -> str:
    """Register the collection with ir_datasets, and return its id, ``relative-demo``."""
    if DATASET_ID not in set(ir_datasets.registry):
        dataset = ir_datasets.Dataset(_Docs(), _Queries(), _Qrels(), _ScoredDocs())
        ir_datasets.registry.register(DATASET_ID, dataset)
    return DATASET_ID
