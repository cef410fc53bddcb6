"""Add a dense retriever to BM25, replace BM25 with it, or keep BM25? One call, one answer.

Two further retrievers are not deployed: a relevance model learns from the runs of all four how likely
unjudged documents are relevant.

The collection is a small generated one, or with --dataset one that ir_datasets knows, such as
vaswani. The dense retriever is latent semantic indexing (LSI) by scikit-learn: it needs no model
and no download. Put your own in its place.
"""

from __future__ import annotations

import argparse
import textwrap

from sklearn.feature_extraction.text import TfidfVectorizer

from _collection import add_dataset_option, load
from _retrievers import BM25, VectorSpace, character_ngrams, latent_semantics
from ir_measures_relative import RunContext, worth


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_dataset_option(parser)
    corpus, topics, qrels = load(parser, parser.parse_args().dataset)

    documents = corpus["docno"], corpus["text"]
    runs = {
        "BM25": BM25(*documents)(topics),
        "dense": VectorSpace(*documents, latent_semantics())(topics),
        "4-grams": VectorSpace(*documents, character_ngrams())(topics),
        "TF-IDF": VectorSpace(*documents, TfidfVectorizer())(topics),
    }
    decision = worth(RunContext(runs), qrels, "dense", deployed="BM25", margin=0.03)
    print(textwrap.fill(decision.answer, 100), end="\n\n")
    table = decision.table[["option", "mean", "difference", "lower", "regret", "won", "lost"]]
    print(table.to_string(index=False, float_format="%.3f"))
    for note in decision.notes:
        print("\n" + textwrap.fill(note, 100))


if __name__ == "__main__":
    main()
