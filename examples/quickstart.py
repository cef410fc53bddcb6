"""Four retrieval pipelines in one pt.relative.Experiment: nDCG beside a measure of each of the five families.

The collection is a small generated one, or with --dataset one that ir_datasets knows, such as vaswani.
"""

from __future__ import annotations

import argparse
import textwrap

import pandas as pd
import pyterrier as pt
from ir_measures import nDCG

from _collection import add_dataset_option, load
from _retrievers import BM25, VectorSpace, character_ngrams, latent_semantics
from ir_measures_relative import MED, NRG, P_Rareness, nDCG_UE, rrLP

# Relative to nothing, to the other runs, to all systems, to a random ranking, and twice to a reference run: BM25.
MEASURES = [nDCG @ 10, NRG(norm="ideal") @ 10, P_Rareness @ 10, nDCG_UE(pool="corpus") @ 10, MED @ 10, rrLP]


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
    # Each pipeline runs once, and is scored against the other three, or against BM25.
    table = pt.relative.Experiment(pipelines, topics, qrels, MEASURES, reference="BM25", num_docs=len(corpus))
    print(table.to_string(index=False, float_format="%.3f"))
    print("\n" + "\n".join(textwrap.fill(sentences, 100) for sentences in how_to_read(table)))


def how_to_read(table: pd.DataFrame) -> list[str]:
    """Three sentences on the table."""
    scores = table.set_index("name")
    ndcg, nrg, rare, ue, med, lp = (scores[str(measure)] for measure in MEASURES)
    far = med.idxmax()
    return [
        f"1. On its own, {ndcg.idxmax()} is best (nDCG@10 {ndcg.max():.3f}). For a user who has seen the other "
        f"{len(scores) - 1} runs, {nrg.idxmax()} adds most ({nrg.name} {nrg.max():.3f}) and {nrg.idxmin()} least "
        f"({nrg.min():.3f}).",
        f"2. {rare.idxmax()} is first by P_Rareness@10 ({rare.max():.3f}), where a relevant document counts more "
        f"if few runs retrieve it. {ue.idxmax()} is nearest to a perfect ranking: {100 * ue.max():.0f} % of the way "
        f"from a random ranking of the collection.",
        f"3. {far} differs most from BM25: by at most {med[far]:.3f} nDCG@10, allowing for missing judgments. At the "
        f"first relevant document where the two differ, it is {'ahead' if lp[far] > 0 else 'behind'} on average "
        f"(rrLP {lp[far]:.3f}).",
    ]


if __name__ == "__main__":
    main()
