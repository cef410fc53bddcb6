"""What was each further search of an agent worth, and would reading the first one deeper have found as much?

The "agents" reformulate by rule, without a language model: each searches five times with BM25 (bm25s) and reads five
documents of each search. The collection is the generated one, with every document judged.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pyterrier as pt

from _collection import Collection, add_dataset_option, load
from _retrievers import BM25
from ir_measures_relative import demo
from ir_measures_relative.decisions.trajectory import Trajectories

SEARCHES, READ, DEEPER = 5, 5, 30


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_dataset_option(parser)
    parser.add_argument(
        "--picture", metavar="FILE", type=Path, help="draw the first agent's trajectory (PNG)"
    )
    arguments = parser.parse_args()
    collection = load(parser, arguments.dataset)
    if arguments.dataset == demo.DATASET_ID:
        every = demo.generate(judgments="all").qrels
        qrels = pd.DataFrame(every).rename(
            columns={"query_id": "qid", "doc_id": "docno", "relevance": "label"}
        )
        collection = collection._replace(qrels=qrels)
    answers = {name: follow(agent, collection) for name, agent in AGENTS.items()}
    for name, answer in answers.items():
        print(f"{name}\n\n{answer}\n")
        print(disagreement(answer), end="\n\n")
    if arguments.picture:
        draw(next(iter(answers.values())), arguments.picture)


# ---- the agents

Reformulate = Callable[
    [str, Iterable[str]], str
]  # the first query and the texts that were read → the next query


def tokens(text: str) -> list[str]:
    return re.findall(r"[a-z]{3,}", text.lower())


def feedback(query: str, texts: Iterable[str]) -> str:
    """The first query, and the three words that most of the texts read last have and it lacks."""
    counts = Counter(word for text in texts for word in set(tokens(text)) - set(tokens(query)))
    return " ".join([query, *sorted(counts, key=lambda word: (-counts[word], word))[:3]])


def drop_first_word(query: str, texts: Iterable[str]) -> str:
    """The query without its first word, and one word of what was read."""
    words = tokens(query)
    return feedback(" ".join(words[1:] or words), list(texts)[:3])


def follow_one_document(query: str, texts: Iterable[str]) -> str:
    """The first words of the best document read last."""
    return " ".join(tokens(next(iter(texts), query))[:12])


AGENTS: dict[str, Reformulate] = {
    "drops a term": drop_first_word,
    "feedback terms": feedback,
    "follows one document": follow_one_document,
}


def follow(reformulate: Reformulate, collection: Collection) -> Trajectories:
    """Let an agent search, and return what each search was worth."""
    texts = dict(zip(collection.corpus["docno"], collection.corpus["text"], strict=True))
    retriever = BM25(list(texts), list(texts.values()), num_results=DEEPER)
    searches = pt.relative.record(retriever % READ)
    queries, first = (
        collection.topics,
        dict(zip(collection.topics["qid"], collection.topics["query"], strict=True)),
    )
    for _ in range(SEARCHES):
        read = {qid: [texts[doc] for doc in docs] for qid, docs in searches(queries).groupby("qid")["docno"]}
        queries = queries.assign(query=[reformulate(first[qid], read.get(qid, [])) for qid in queries["qid"]])
        first = (
            dict(zip(queries["qid"], queries["query"], strict=True))
            if reformulate is drop_first_word
            else first
        )
    answer: Trajectories = pt.relative.trajectory(
        searches.searches, collection.qrels, deeper=retriever(collection.topics), labels="judged"
    )
    return answer


def disagreement(answer: Trajectories) -> str:
    """In how many trajectories and searches "new relevant documents" and "more than reading deeper" differ."""
    cells = answer.cells[answer.cells["search"] > 1]
    more, brought = cells["found"] > cells["found_deeper"], cells["new_relevant"] > 0
    return (
        f"{len(cells)} further searches: {brought.sum()} brought something new; after {(brought & ~more).sum()} of "
        "these, reading search 1 as deep would have found as much. "
        f"The two questions differ in {(brought != more).mean():.0%}."
    )


def draw(answer: Trajectories, path: Path) -> None:
    """New relevant documents by search, beside what reading search 1 deeper would have brought."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    per_search = answer.cells.assign(
        deeper=answer.cells.groupby("qid")["found_deeper"].diff().fillna(answer.cells["found_deeper"])
    ).groupby("search")
    figure, ax = pyplot.subplots(figsize=(6.4, 3.6), layout="constrained")
    at = np.arange(1, SEARCHES + 1)
    ax.bar(at - 0.2, per_search["new_relevant"].mean(), 0.4, label="new relevant documents of the search")
    ax.bar(at + 0.2, per_search["deeper"].mean(), 0.4, label="reading search 1 to as many documents")
    ax.set(xlabel="search", ylabel="relevant documents per topic", xticks=at)
    ax.set_title("What each further search brings")
    ax.legend(frameon=False)
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
