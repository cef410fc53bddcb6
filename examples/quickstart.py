"""Four retrieval pipelines in one pt.relative.Experiment: absolute measures beside relative ones.

The collection is a small generated one, or with --dataset one that ir_datasets knows, such as vaswani.
"""

from __future__ import annotations

import argparse

import pandas as pd
import pyterrier as pt
from ir_measures import AP, nDCG

from _collection import add_dataset_option, load
from _retrievers import BM25, VectorSpace, character_ngrams, latent_semantics
from ir_measures_relative import NRG, AP_Rareness, P_Rareness, UniqueRel

# Absolute measures, then relative ones.
MEASURES = [nDCG @ 10, AP @ 100, NRG @ 10, UniqueRel @ 10, P_Rareness @ 10, AP_Rareness @ 100]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_dataset_option(parser)
    corpus, topics, qrels = load(parser, parser.parse_args().dataset)

    documents = corpus["docno"], corpus["text"]
    pipelines = {
        "BM25": BM25(*documents),
        "BM25+": BM25(*documents, method="bm25+"),
        "n-grams": VectorSpace(*documents, character_ngrams()),
        "LSI": VectorSpace(*documents, latent_semantics()),
    }
    # BM25+ is here because it ranks nearly as BM25 does: a good system that adds next to nothing.
    # Each pipeline runs once, and is scored against the other three.
    table = pt.relative.Experiment(pipelines, topics, qrels, MEASURES)
    print(table.to_string(index=False, float_format="%.3f"))
    print("\n" + "\n".join(how_to_read(table)))


def how_to_read(table: pd.DataFrame) -> list[str]:
    """Three sentences on the table."""
    scores = table.set_index("name")
    ndcg, nrg, unique, rare = (scores[m] for m in ("nDCG@10", "NRG@10", "UniqueRel@10", "P_Rareness@10"))
    best, most, least = ndcg.idxmax(), nrg.idxmax(), nrg.idxmin()
    return [
        f"1. Each on its own, {best} is best (nDCG@10 {ndcg[best]:.3f}); for a searcher who has seen the "
        f"other {len(scores) - 1} rankings, {most} adds most (NRG@10 {nrg[most]:.3f}) and {least} least "
        f"({nrg[least]:.3f}).",
        f"2. UniqueRel@10 counts it: the top ten of {unique.idxmax()} holds {unique.max():.2f} relevant "
        f"documents a query that no other top ten holds, that of {unique.idxmin()} {unique.min():.2f}.",
        f"3. P_Rareness@10 is precision in which a relevant document counts up to twice, the fewer of the "
        f"{len(scores)} systems find it: a milder reward for rarity, by which {rare.idxmax()} is first "
        f"({rare.max():.3f}).",
    ]


if __name__ == "__main__":
    main()
