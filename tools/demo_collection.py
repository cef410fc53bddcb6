"""Writes the generated test collection of ``ir_measures_relative.demo``: documents, queries, nuggets and judgments.

From the checkout: ``python -m tools.demo_collection``. It writes the file that the package has.
"""

from __future__ import annotations

import gzip
import itertools
import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import ir_measures_relative.demo

FILE = Path(ir_measures_relative.demo.__file__).with_name("collection.json.gz")
SOURCES = Path(__file__).with_name("demo_sources")
_DOCS = 1200


class Concept(NamedTuple):
    """One thing that documents are about."""

    synonyms: tuple[str, ...]
    company: tuple[str, ...]  #: the words that go with any of the synonyms


class Subject(NamedTuple):
    """A field that documents belong to."""

    words: tuple[str, ...]
    concepts: tuple[Concept, ...]


def subjects() -> list[Subject]:
    """Read ``subjects.txt``: common words, then four concepts, of synonyms and the words that go with any of them."""
    result = []
    for line in re.sub(r"([;,])\s+", r"\1", (SOURCES / "subjects.txt").read_text()).strip().splitlines():
        words, concepts = line.split(": ")
        sides = (concept.split(",") for concept in concepts.split(";"))
        parsed = (Concept(tuple(synonyms.split()), tuple(company.split())) for synonyms, company in sides)
        result.append(Subject(tuple(words.split()), tuple(parsed)))
    return result


class Dice(random.Random):
    """A random number generator whose draws are the same in every version of Python: they use ``random()`` alone."""

    def pick(self, items: Sequence[str]) -> str:
        return items[self.below(len(items))]

    def below(self, n: int) -> int:
        return int(self.random() * n)

    def deal(self, n: int) -> list[int]:
        """Return the numbers below n in random order."""
        return [i for _, i in sorted((self.random(), i) for i in range(n))]


def generate(seed: int = 1, n_docs: int = _DOCS) -> dict[str, Any]:
    """The collection, the same for the same arguments.

    A topic asks for two concepts. A document about both has grade 2, one about one of them grade 1 if it mentions the
    other, else 0. All other documents are not judged.
    """
    dice = Dice(seed)
    fields = subjects()
    docs: dict[str, str] = {}
    contents: list[tuple[int, frozenset[int], frozenset[int]]] = []
    for number in range(n_docs):
        field = number % len(fields)
        order = dice.deal(4)
        main = order[: 1 if dice.random() < 0.25 else 2]
        passing = order[2:3] if dice.random() < 0.5 else []
        contents.append((field, frozenset(main), frozenset(passing)))
        docs[f"d{number + 1:04d}"] = write(dice, fields, field, main, passing)

    queries: dict[str, str] = {}
    nuggets: dict[str, list[str]] = {}
    qrels: list[tuple[str, str, int]] = []
    for field, subject in enumerate(fields):
        pairs = list(itertools.combinations(range(4), 2))
        for a, b in (pairs[i] for i in sorted(dice.deal(len(pairs))[:3])):
            query_id = str(len(queries) + 1)
            first, second = (dice.pick(subject.concepts[c].synonyms) for c in (a, b))
            queries[query_id] = f"{first} and {second}"
            nuggets[query_id] = [word for c in (a, b) for word in subject.concepts[c].company]
            for doc_id, (doc_field, main_concepts, passing_concepts) in zip(docs, contents, strict=True):
                if doc_field == field and {a, b} & main_concepts:
                    grade = 2 if {a, b} <= main_concepts else int({a, b} <= main_concepts | passing_concepts)
                    qrels.append((query_id, doc_id, grade))
    return {"docs": docs, "queries": queries, "nuggets": nuggets, "qrels": qrels}


def write(dice: Dice, fields: list[Subject], field: int, main: list[int], passing: list[int]) -> str:
    """Return a text about the concepts ``main`` of a subject that mentions those of ``passing`` once."""
    subject, templates = fields[field], json.loads((SOURCES / "sentences.json").read_text())
    word = {c: dice.pick(subject.concepts[c].synonyms) for c in main + passing}

    def named(concept: int) -> str:
        return word[concept] + ("s" if dice.random() < 0.3 else "")

    def sentence(template: str, concept: int) -> str:
        return template.format(
            x=named(concept),
            y=named(main[-1] if concept != main[-1] else main[0]),
            c=dice.pick(subject.concepts[concept].company),
            w=dice.pick(subject.words),
            o=dice.pick(fields[dice.below(len(fields))].words),
        )

    mentions = [concept for concept in main for _ in range(1 + dice.below(3))] + passing
    sentences = [sentence(dice.pick(templates["about one"]), concept) for concept in mentions]
    if len(main) == 2:
        sentences.append(sentence(dice.pick(templates["about two"]), main[0]))
    sentences += [sentence(dice.pick(templates["filler"]), main[0]) for _ in range(1 + dice.below(3))]
    return " ".join(sentences[i].capitalize() + "." for i in dice.deal(len(sentences)))


def pack(collection: dict[str, Any]) -> bytes:
    """The content of the file, which does not name a time."""
    return gzip.compress(json.dumps(collection, separators=(",", ":")).encode(), mtime=0)


if __name__ == "__main__":
    FILE.write_bytes(pack(generate()))
