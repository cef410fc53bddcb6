"""Lexical and latent-semantic retrieval over the Vaswani collection: which of them finds what the other misses?

BM25, DPH and query likelihood by PISA (pyterrier-pisa), and latent semantic indexing by scikit-learn. ir_datasets
fetches the collection (11,429 abstracts, 93 queries), or finds it where IR_DATASETS_HOME holds a copy.
"""

from __future__ import annotations

import argparse
import os
import tempfile

import pandas as pd
import pyterrier as pt
from ir_measures import nDCG
from pyterrier_pisa import PisaIndex

from _collection import Collection, load, show
from _retrievers import VectorSpace, latent_semantics, quietly
from ir_measures_relative import NRG, P_Rareness, UniqueRel, rrLP


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--dimensions", type=int, default=200, help="of the latent space (default: %(default)s)"
    )
    arguments = parser.parse_args()
    collection = load(parser, "vaswani")
    with tempfile.TemporaryDirectory() as folder:
        lexical = retrievers(collection, os.path.join(folder, "vaswani.pisa"))
        documents = collection.corpus["docno"], collection.corpus["text"]
        lsi = VectorSpace(*documents, latent_semantics(arguments.dimensions))

        print("Each relative to the other:\n")
        two = {"BM25": lexical["BM25"], "LSI": lsi}
        measures = [nDCG @ 10, NRG @ 10, UniqueRel @ 10, rrLP]
        means, queries = pt.relative.Experiment(two, *collection[1:], measures, perquery="both")
        show(means[["name", *map(str, measures)]])
        print("\n".join(conclusions(means.set_index("name"), queries)), end="\n\n")

        print("Each relative to all the others:\n")
        four = {**lexical, "LSI": lsi}
        measures = [nDCG @ 10, NRG(norm="ideal") @ 10, UniqueRel @ 10, P_Rareness @ 10]
        means = pt.relative.Experiment(four, *collection[1:], [*measures, "mrt"])
        show(means[["name", *map(str, measures), "mrt"]])


def retrievers(collection: Collection, path: str) -> dict[str, pt.Transformer]:
    """Three lexical rankers over one index of stemmed words, ready to run."""
    with quietly():
        index = PisaIndex(path, text_field="text", stemmer="porter2")
        index.index(collection.corpus.to_dict(orient="records"))
        rankers = {"BM25": index.bm25(), "DPH": index.dph(), "QLD": index.qld()}
        for ranker in rankers.values():
            ranker(collection.topics.head(1))  # PISA prepares each scorer at its first query
    return rankers


def conclusions(table: pd.DataFrame, queries: pd.DataFrame) -> list[str]:
    """Say which of the two retrieves what the other misses."""
    nrg, unique = table["NRG@10"], table["UniqueRel@10"]
    more, less = nrg.idxmax(), nrg.idxmin()
    values = queries.set_index(["measure", "name"])["value"]
    finds = (values["UniqueRel@10", less] > 0).sum()
    earlier, later = (values["rrLP", less] > 0).sum(), (values["rrLP", less] < 0).sum()
    return [
        f"1. {more} finds more of what {less} misses than the other way round: NRG@10 {nrg[more]:.4f} against "
        f"{nrg[less]:.4f}, and {unique[more]:.2f} relevant documents a query that only its top ten holds, against "
        f"{unique[less]:.2f}.",
        f"2. Yet on {finds} of {len(values['rrLP', less])} queries the top ten of {less} holds a relevant document "
        f"that {more}'s lacks. By rrLP, {less} wins {earlier} queries and {more} {later} "
        f"(mean rrLP of {more} {table['rrLP'][more]:+.3f}).",
    ]


if __name__ == "__main__":
    main()
