"""Add a dense retriever to BM25, replace BM25 with it, or keep BM25? One call, one answer.

The collection is a small generated one, or with --dataset one that ir_datasets knows, such as
vaswani. The dense retriever is latent semantic indexing (LSI) by scikit-learn: it needs no model
and no download. Put your own in its place.
"""

from __future__ import annotations

import argparse
import textwrap

from _collection import add_dataset_option, load
from _retrievers import BM25, VectorSpace, latent_semantics
from ir_measures_relative import RunContext, worth


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_dataset_option(parser)
    corpus, topics, qrels = load(parser, parser.parse_args().dataset)

    bm25_run = BM25(corpus["docno"], corpus["text"])(topics)
    dense_run = VectorSpace(corpus["docno"], corpus["text"], latent_semantics())(topics)

    decision = worth(RunContext({"BM25": bm25_run, "dense": dense_run}), qrels, "dense")
    for paragraph in decision.plain_text.split("\n\n"):
        print(textwrap.fill(paragraph, 100), end="\n\n")
    table = decision.table[["option", "mean", "difference", "lower", "upper", "won", "lost"]]
    print(table.to_string(index=False, float_format="%.3f"))


if __name__ == "__main__":
    main()
