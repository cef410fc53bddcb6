"""The retrievers of the generated collection: BM25 over words or letters, with and without feedback."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

#: Which of the retrievers are alike.
GROUPS = {
    "BM25": "words",
    "BM25-long": "words",
    "prefixes": "words",
    "4-grams": "letters",
    "3-grams": "letters",
    "feedback-5": "feedback",
    "feedback-20": "feedback",
}

_DEPTH = 100
_NEW_TOKENS = 10


class Index:
    """The tokens of documents.

    Args:
        docs: the documents, with ``doc_id`` and ``text``.
        tokens: what a text is cut into.
    """

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
    """BM25, whose query may be extended by the tokens that stand out in the best documents for it."""

    index: Index
    k1: float = 0.9  #: how much a token counts that occurs again
    b: float = 0.4  #: how much long documents pay for their length
    feedback: int = 0  #: from how many documents the query is extended

    def __call__(self, text: str) -> list[tuple[str, float]]:
        """The 100 best documents for a text, with scores that every machine computes alike."""
        query = Counter(self.index.tokens(text))
        found = self._search(query)
        return self._search(self._extended(query, found[: self.feedback])) if self.feedback else found

    def _search(self, query: Mapping[str, float]) -> list[tuple[str, float]]:
        index, k1, b = self.index, self.k1, self.b
        scores: defaultdict[str, float] = defaultdict(float)
        for token, weight in query.items():
            idf = index.idf(token)
            for doc_id, tf, length in index.postings.get(token, ()):
                scores[doc_id] += weight * idf * tf / (tf + k1 * (1 - b + b * length))
        best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:_DEPTH]
        return [(doc_id, round(score, 6)) for doc_id, score in best]

    def _extended(self, query: Counter[str], found: list[tuple[str, float]]) -> dict[str, float]:
        counts: Counter[str] = Counter()
        for doc_id, _ in found:
            counts.update(self.index.counts[doc_id])
        weight = {token: round(count * self.index.idf(token), 6) for token, count in counts.items()}
        chosen = sorted(weight, key=lambda token: (-weight[token], token))[:_NEW_TOKENS]
        total = sum(weight[token] for token in chosen)
        more = {token: sum(query.values()) * weight[token] / total for token in chosen}
        return {token: query[token] + more.get(token, 0.0) for token in dict.fromkeys([*query, *more])}


def words(text: str) -> list[str]:
    """The words as they stand, in small letters."""
    return re.findall(r"\w+", text.lower())


def retrievers(docs: Iterable[Any]) -> dict[str, Retriever]:
    """Seven retrievers over these documents, in the order of :data:`GROUPS`."""
    index = Index(docs, words)
    return dict(
        zip(
            GROUPS,
            (
                Retriever(index),
                Retriever(index, k1=2.0, b=1.0),
                Retriever(Index(docs, lambda text: [word[:5] for word in words(text)])),
                Retriever(Index(docs, lambda text: _letters(text, 4))),
                Retriever(Index(docs, lambda text: _letters(text, 3))),
                Retriever(index, feedback=5),
                Retriever(index, feedback=20),
            ),
            strict=True,
        )
    )


def _letters(text: str, n: int) -> list[str]:
    padded = [f" {word} " for word in words(text)]
    return [word[i : i + n] for word in padded for i in range(max(len(word) - n, 0) + 1)]
