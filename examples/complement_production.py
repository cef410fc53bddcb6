"""A candidate against the ranker in production: how different are they, and does the candidate add anything?

Without judgments, MED and RBO say how different two rankings are: MED by how much their effectiveness can differ at
most, whatever the judgments would be; RBO by how much they overlap. With judgments, NRG and UniqueRel say whether the
difference is worth having: the candidate that differs most need not be the one that adds most.
"""

from __future__ import annotations

import argparse

import pandas as pd
import pyterrier as pt
from ir_measures import nDCG

from _collection import add_dataset_option, load, show
from _retrievers import BM25, VectorSpace, character_ngrams, latent_semantics
from ir_measures_relative import MED, NRG, RBO, UniqueRel

MED_BLIND = MED(base="RBP", p=0.9, judged=False) @ 100
MED_JUDGED = MED(base="RBP", p=0.9) @ 100


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_dataset_option(parser)
    corpus, topics, qrels = load(parser, parser.parse_args().dataset)
    documents = corpus["docno"], corpus["text"]

    production = BM25(*documents, num_results=100)(topics)
    systems = {
        "production": production,  # BM25
        "BM25+": BM25(*documents, num_results=100, method="bm25+"),
        "n-grams": VectorSpace(*documents, character_ngrams(), num_results=100),
        "LSI": VectorSpace(*documents, latent_semantics(), num_results=100),
    }
    blind, judged = [MED_BLIND, RBO], [nDCG @ 10, MED_JUDGED, NRG @ 10, UniqueRel @ 10]
    measures = blind + judged
    table = pt.relative.Experiment(
        systems, topics, qrels, measures, priors=["production"], reference="production"
    )
    table = table.set_index("name", drop=False)

    candidates = table.drop(index="production")
    print("Without judgments: how different from production are the candidates?\n")
    show(candidates[["name", *map(str, blind)]])
    print("With judgments: what do they add to it? (production itself has no prior)\n")
    show(table[["name", *map(str, judged)]])
    print("\n".join(conclusions(candidates)))


def conclusions(candidates: pd.DataFrame) -> list[str]:
    """Summarize the tables, the first of which needs no judgment."""
    med, nrg, unique = (candidates[str(m)] for m in (MED_BLIND, NRG @ 10, UniqueRel @ 10))
    near, far, most, least = med.idxmin(), med.idxmax(), nrg.idxmax(), nrg.idxmin()
    lines = [
        f"1. {near} is nearest to production: they overlap to {candidates[str(RBO)][near]:.3f} by RBO, and their "
        f"mean RBP(p=0.9) cannot differ by more than {med[near]:.3f}, whatever the judgments would be.",
        f"2. {most} adds most to production: NRG@10 {nrg[most]:.4f}, and {unique[most]:.2f} relevant documents a "
        f"query that production's top ten lacks; {least} adds least: {nrg[least]:.4f}, and {unique[least]:.2f}.",
    ]
    if far == most:
        lines.append(f"3. {far} is also the one that differs most (MED {med[far]:.3f}).")
    else:
        lines.append(
            f"3. {far} differs more (MED {med[far]:.3f} instead of {med[most]:.3f}) and adds less "
            f"(NRG@10 {nrg[far]:.4f}): how much a ranking differs is not what the difference is worth."
        )
    return lines


if __name__ == "__main__":
    main()
