"""Which retrievers to fuse: of five, which two or three together, and is that better than the best one alone?

Each strategy chooses its retrievers on half of the queries, and is scored on the other half, again and again. What a
choice is worth on the queries that made it says little: the more sets are tried, the luckier the best of them is there.
"""

from __future__ import annotations

import argparse

import pandas as pd
import pyterrier as pt
from ir_measures import nDCG

from _collection import add_dataset_option, load, show
from _retrievers import BM25, VectorSpace, character_ngrams, latent_semantics
from ir_measures_relative import UniqueRel

UNIQUE = UniqueRel(prior="BM25") @ 10
DEPTH = 100


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_dataset_option(parser)
    corpus, topics, qrels = load(parser, parser.parse_args().dataset)
    documents = corpus["docno"], corpus["text"]

    retrievers = {
        "BM25": BM25(*documents, num_results=DEPTH),
        "BM25+": BM25(*documents, num_results=DEPTH, method="bm25+"),
        "BM25-short": BM25(*documents, num_results=DEPTH, k1=0.4, b=0.2),
        "n-grams": VectorSpace(*documents, character_ngrams(), num_results=DEPTH),
        "LSI": VectorSpace(*documents, latent_semantics(), num_results=DEPTH),
    }
    context = pt.relative.RunContext.from_pipelines(retrievers, topics)

    values = context.evaluate(qrels, [nDCG @ 10, UNIQUE])
    bm25 = values["nDCG@10"][values["name"] == "BM25"].item()
    print(
        f"BM25 has an nDCG@10 of {bm25:.4f}. That of each other retriever on its own, and the number of relevant"
    )
    print("documents in its top 10 that are not in BM25's:\n")
    rest = values[values["name"] != "BM25"]
    show(rest.rename(columns={str(UNIQUE): "UniqueRel@10"}))

    print("Which to fuse; in_sample on the queries that chose, held_out on those that did not:\n")
    table = pt.relative.fuse(context, qrels, [2, 3], depth=DEPTH)
    shown = table.assign(name=table["strategy"] + "-" + table["n"].astype(str))
    show(shown[["name", "in_sample", "held_out", "difference", "ci_lower", "ci_upper"]])
    print("\n".join(conclusions(table)))


def conclusions(table: pd.DataFrame) -> list[str]:
    """Summarize the table."""
    fused = table[~table["strategy"].isin(["single"])]
    best, luckiest = (fused.loc[fused[column].idxmax()] for column in ("held_out", "in_sample"))
    sure = "more than 0 for certain" if best["ci_lower"] > 0 else "which may be chance"
    return [
        f"1. Best on queries that did not choose: {best['strategy']} {best['n']}, {', '.join(best['names'])}: "
        f"{best['difference']:+.4f} over the best single retriever "
        f"({best['ci_lower']:+.4f} to {best['ci_upper']:+.4f}, {sure}).",
        f"2. Best on queries that did: {luckiest['strategy']} {luckiest['n']}. Of its {luckiest['in_sample']:.4f}, "
        f"{luckiest['in_sample'] - luckiest['held_out']:.4f} are gone on other queries.",
    ]


if __name__ == "__main__":
    main()
