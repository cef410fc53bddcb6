"""A small test collection that is generated, not downloaded: 1,200 documents, 36 topics, graded judgments.

:func:`register` makes it known to ir_datasets as ``relative-demo``, so that
``ir_datasets.load("relative-demo")`` and ``pt.get_dataset("irds:relative-demo")`` serve its documents,
queries, judgments and a first-stage run. :func:`runs` has the runs of seven small retrievers over it, which
``python -m ir_measures_relative.demo FOLDER`` writes as files, and :func:`pipelines` the retrievers themselves.

A document is about one or two concepts of a subject, and calls each by one of three synonyms; a query names
two concepts by one synonym each. Retrieval by words therefore misses what retrieval by latent topics can
find, and the other way round: latent topics blur the concepts of one subject. The collection is for examples
and tests. It shows what the measures say, not how good a retrieval method is.

Example:
    >>> import ir_datasets
    >>> from ir_measures_relative import demo
    >>> dataset = ir_datasets.load(demo.register())
    >>> dataset.docs_count(), dataset.queries_count()
    (1200, 36)
    >>> next(dataset.queries_iter()).text
    'physician and illness'
"""

from __future__ import annotations

import itertools
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import ir_datasets
import pandas as pd
from ir_datasets.formats import (
    BaseDocs,
    BaseQrels,
    BaseQueries,
    BaseScoredDocs,
    GenericDoc,
    GenericQuery,
    GenericScoredDoc,
    TrecQrel,
)
from ir_datasets.indices.base import Docstore

__all__ = [
    "DATASET_ID",
    "GROUPS",
    "Collection",
    "Concept",
    "Subject",
    "generate",
    "pipelines",
    "register",
    "runs",
    "subjects",
]

#: What ir_datasets calls the collection.
DATASET_ID = "relative-demo"

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

# A subject is its common words, then four concepts: synonyms, and words that go with any of them.
_SUBJECTS = """
patient hospital treatment clinic symptom recovery: doctor physician clinician,
    diagnosis consultation referral; drug medicine pill, dosage prescription pharmacy;
    infection disease illness, fever contagion quarantine;
    operation procedure intervention, scalpel anaesthetic bandage
road traffic journey route fuel passenger: car automobile vehicle, engine steering garage;
    crash accident collision, injury insurance wreckage; driver motorist chauffeur, licence seatbelt speeding;
    highway motorway freeway, junction toll lane
building property neighbourhood owner city street: house dwelling residence, roof bedroom cellar;
    tenant renter lodger, lease deposit eviction; flat apartment maisonette, balcony elevator corridor;
    repair renovation refurbishment, plaster scaffolding carpenter
classroom lesson education term campus learning: teacher instructor tutor, lecture grading homework;
    pupil student learner, backpack attendance scholarship; exam test assessment, marks revision invigilator;
    textbook coursebook primer, chapter glossary illustration
court trial law evidence justice ruling: lawyer attorney solicitor, counsel brief pleading;
    prison jail lockup, cell warden parole; burglar robber looter, alarm fingerprint hideout;
    contract agreement covenant, clause signature breach
kitchen meal recipe flavour table restaurant: cook chef caterer, apron menu tasting;
    soup broth stew, ladle simmering carrot; cake tart sponge, icing flour oven;
    pan skillet wok, lid handle sizzling
sea coast harbour wave tide sailing: boat vessel craft, mast rudder anchor;
    sailor mariner deckhand, knot compass shanty; storm gale tempest, thunder swell forecast;
    island isle atoll, palm lagoon ferry
network screen data internet user system: computer machine workstation, keyboard processor memory;
    bug fault defect, debugging patch traceback; programmer developer coder, compiler repository algorithm;
    password passcode credential, login phishing encryption
bank price market economy trade finance: loan advance overdraft, interest repayment collateral;
    wage paycheck stipend, payroll overtime bonus; tax tariff surcharge, customs revenue evasion;
    investor shareholder stakeholder, dividend portfolio bond
animal habitat species wilderness zoo nature: dog hound canine, leash barking kennel;
    rabbit hare coney, burrow whisker clover; horse steed mount, saddle gallop stable;
    snake serpent viper, venom scale fang
field harvest crop soil village season: farmer grower planter, tractor plough barn;
    pest parasite insect, spraying larva infestation; fertilizer manure compost, nitrogen phosphate spreading;
    orchard grove plantation, apple blossom pruning
stage audience performance art show rehearsal: actor performer player, costume audition script;
    song tune ballad, chorus lyric guitar; film movie picture, camera director projector;
    critic reviewer commentator, column rating verdict
"""

# How many documents a retriever finds, and how many tokens feedback adds.
_DEPTH = 100
_NEW_TOKENS = 10

_ABOUT_ONE = (
    "the {x} came with the {c} and the {w}",
    "the {c} is there for the {x}",
    "nobody had seen the {x} before the {w}",
    "they asked about the {x} because of the {w}",
    "the {w} is where the {x} and the {c} belong",
    "the {x} needed some {c} first",
)
_ABOUT_TWO = (
    "the {x} and the {y} share the {w}",
    "what the {x} did to the {y} depends on the {c}",
    "without the {y} the {x} would not belong to the {w}",
)
_FILLER = (
    "it was a long day and little was left of the {w}",
    "the report says more about the {w} than about the {o}",
    "some remember the {w}, others the {o}",
)


class Concept(NamedTuple):
    """One thing that documents are about."""

    synonyms: tuple[str, ...]
    company: tuple[str, ...]  #: the words that go with any of the synonyms


class Subject(NamedTuple):
    """A field that documents belong to."""

    words: tuple[str, ...]
    concepts: tuple[Concept, ...]


class Collection(NamedTuple):
    """What :func:`generate` makes."""

    docs: tuple[GenericDoc, ...]
    queries: tuple[GenericQuery, ...]
    qrels: tuple[TrecQrel, ...]
    scoreddocs: tuple[GenericScoredDoc, ...]


def subjects() -> list[Subject]:
    """The subjects that the documents are about."""
    result = []
    for line in re.sub(r"([;,])\s+", r"\1", _SUBJECTS).strip().splitlines():
        words, concepts = line.split(": ")
        sides = (concept.split(",") for concept in concepts.split(";"))
        parsed = (Concept(tuple(synonyms.split()), tuple(company.split())) for synonyms, company in sides)
        result.append(Subject(tuple(words.split()), tuple(parsed)))
    return result


class _Dice(random.Random):
    """Draws by ``random()`` alone, the one method whose sequence is the same in every version of Python."""

    def pick(self, items: Sequence[str]) -> str:
        return items[self.below(len(items))]

    def below(self, n: int) -> int:
        return int(self.random() * n)

    def deal(self, n: int) -> list[int]:
        """The numbers below n in random order."""
        return [i for _, i in sorted((self.random(), i) for i in range(n))]


@lru_cache(maxsize=4)
def generate(seed: int = 1, n_docs: int = 1200) -> Collection:
    """The collection; the same for the same arguments.

    A document is about two concepts of a subject, or one, and may mention another in passing. A topic asks
    for two concepts: a document about both has grade 2, one about one of them that mentions the other has
    grade 1, one about one of them that does not has grade 0. All other documents are not judged.
    """
    dice = _Dice(seed)
    fields = subjects()
    docs: list[GenericDoc] = []
    contents: list[tuple[int, frozenset[int], frozenset[int]]] = []
    for number in range(n_docs):
        field = number % len(fields)
        order = dice.deal(4)
        main = order[: 1 if dice.random() < 0.25 else 2]
        passing = order[2:3] if dice.random() < 0.5 else []
        contents.append((field, frozenset(main), frozenset(passing)))
        docs.append(GenericDoc(f"d{number + 1:04d}", _write(dice, fields, field, main, passing)))

    queries: list[GenericQuery] = []
    qrels: list[TrecQrel] = []
    for field, subject in enumerate(fields):
        pairs = list(itertools.combinations(range(4), 2))
        for a, b in (pairs[i] for i in sorted(dice.deal(len(pairs))[:3])):
            query_id = str(len(queries) + 1)
            first, second = (dice.pick(subject.concepts[c].synonyms) for c in (a, b))
            queries.append(GenericQuery(query_id, f"{first} and {second}"))
            for doc, (of, main_concepts, passing_concepts) in zip(docs, contents, strict=True):
                if of == field and {a, b} & main_concepts:
                    grade = 2 if {a, b} <= main_concepts else int({a, b} <= main_concepts | passing_concepts)
                    qrels.append(TrecQrel(query_id, doc.doc_id, grade, "0"))
    search = Retriever(Index(docs, words))
    first_stage = tuple(
        GenericScoredDoc(query.query_id, doc_id, score)
        for query in queries
        for doc_id, score in search(query.text)
    )
    return Collection(tuple(docs), tuple(queries), tuple(qrels), first_stage)


def _write(dice: _Dice, fields: list[Subject], field: int, main: list[int], passing: list[int]) -> str:
    """A text about the concepts ``main`` of a subject that mentions those of ``passing`` once."""
    subject = fields[field]
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
    sentences = [sentence(dice.pick(_ABOUT_ONE), concept) for concept in mentions]
    if len(main) == 2:
        sentences.append(sentence(dice.pick(_ABOUT_TWO), main[0]))
    sentences += [sentence(dice.pick(_FILLER), main[0]) for _ in range(1 + dice.below(3))]
    return " ".join(sentences[i].capitalize() + "." for i in dice.deal(len(sentences)))


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


def _letters(text: str, n: int) -> list[str]:
    padded = [f" {word} " for word in words(text)]
    return [word[i : i + n] for word in padded for i in range(max(len(word) - n, 0) + 1)]


def runs() -> dict[str, pd.DataFrame]:
    """The runs of seven small retrievers over the collection; ``GROUPS`` says which of them are alike.

    They are plain Python, and the same on every machine: BM25 over words (``BM25``, and ``BM25-long`` with
    k1 = 2, b = 1), over the words' first five letters (``prefixes``), over character n-grams (``4-grams``,
    ``3-grams``), and over words with a query that is extended from its 5 or 20 best documents (``feedback-5``,
    ``feedback-20``).

    Returns:
        From a name to a frame with the columns query_id, doc_id and score: 100 documents a query, best first.

    Example:
        >>> from ir_measures_relative import RunContext, demo
        >>> RunContext(demo.runs(), groups=demo.GROUPS).names
        ['BM25', 'BM25-long', 'prefixes', '4-grams', '3-grams', 'feedback-5', 'feedback-20']
    """
    return {name: run.copy() for name, run in _runs().items()}


@lru_cache(maxsize=1)
def _runs() -> dict[str, pd.DataFrame]:
    result = {}
    for name, search in _retrievers().items():
        rows = [(q.query_id, *found) for q in generate().queries for found in search(q.text)]
        result[name] = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    return result


@lru_cache(maxsize=1)
def _retrievers() -> dict[str, Retriever]:
    """By name, in the order of :data:`GROUPS`."""
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
    """The retrievers of :func:`runs` as PyTerrier transformers, whose k1, b and feedback can be tuned.

    Returns:
        From a name to a transformer of topics into results. Needs PyTerrier.
    """
    from .transformer import Pipeline

    return {name: Pipeline(name, retriever) for name, retriever in _retrievers().items()}


class _Sliceable(Iterator[GenericDoc]):
    """An iterator that can be sliced, as those of ir_datasets' documents can."""

    def __init__(self, rows: Sequence[GenericDoc]) -> None:
        self._rows = rows
        self._iter = iter(rows)

    def __next__(self) -> GenericDoc:
        return next(self._iter)

    def __getitem__(self, key: int | slice) -> GenericDoc | _Sliceable:
        return _Sliceable(self._rows[key]) if isinstance(key, slice) else self._rows[key]


class _Docs(BaseDocs):  # type: ignore[misc]
    def docs_iter(self) -> _Sliceable:
        return _Sliceable(generate().docs)

    def docs_store(self) -> _Store:
        return _Store(GenericDoc)

    def docs_count(self) -> int:
        return len(generate().docs)

    def docs_namespace(self) -> str:
        return DATASET_ID

    def docs_lang(self) -> str:
        return "en"


class _Store(Docstore):  # type: ignore[misc]
    """The documents by their ids, in memory."""

    def get_many_iter(self, doc_ids: Iterable[str]) -> Iterator[GenericDoc]:
        wanted = set(doc_ids)
        return (doc for doc in generate().docs if doc.doc_id in wanted)


class _Queries(BaseQueries):  # type: ignore[misc]
    def queries_iter(self) -> Iterator[GenericQuery]:
        return iter(generate().queries)

    def queries_count(self) -> int:
        return len(generate().queries)

    def queries_namespace(self) -> str:
        return DATASET_ID

    def queries_lang(self) -> str:
        return "en"


class _Qrels(BaseQrels):  # type: ignore[misc]
    def qrels_iter(self) -> Iterator[TrecQrel]:
        return iter(generate().qrels)

    def qrels_count(self) -> int:
        return len(generate().qrels)

    def qrels_cls(self) -> type:
        return TrecQrel  # type: ignore[no-any-return]

    def qrels_defs(self) -> dict[int, str]:
        return {
            2: "about both concepts of the topic",
            1: "about one of them, mentions the other",
            0: "about one of them, does not mention the other",
        }


class _ScoredDocs(BaseScoredDocs):  # type: ignore[misc]
    def scoreddocs_iter(self) -> Iterator[GenericScoredDoc]:
        return iter(generate().scoreddocs)

    def scoreddocs_count(self) -> int:
        return len(generate().scoreddocs)


class _Documentation:
    def documentation(self) -> dict[str, str]:
        return {
            "pretty_name": "Relative Demo",
            "desc": "A small generated test collection with vocabulary mismatch, for examples and tests.",
        }


def register() -> str:
    """Makes the collection known to ir_datasets, where it is not yet, and returns its id, ``relative-demo``.

    The documents are generated when they are first asked for.
    """
    if DATASET_ID not in set(ir_datasets.registry):
        dataset = ir_datasets.Dataset(_Docs(), _Queries(), _Qrels(), _ScoredDocs(), _Documentation())
        ir_datasets.registry.register(DATASET_ID, dataset)
    return DATASET_ID
