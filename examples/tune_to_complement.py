"""Tuning a ranker to complement one that is deployed: grid search by NRG@10, beside grid search by nDCG@10.

BM25 is deployed. A second ranker is to be shown beside it: the fusion of a BM25, whose k1 and b are free, with latent
semantic indexing, by a weight that is free as well. By nDCG, the best fusion is much like what users see already; by
NRG, it is the one that finds what they do not see.
"""

from __future__ import annotations

import argparse

import pandas as pd
import pyterrier as pt
from ir_measures import nDCG

from _collection import Collection, add_dataset_option, load, show
from _retrievers import BM25, VectorSpace, latent_semantics
from ir_measures_relative import NRG, RunContext, UniqueRel

# PyTerrier's grid search finds its values again by trec_eval's names, or by a measure of this package.
METRICS = {"nDCG@10": "ndcg_cut_10", "NRG@10": NRG @ 10}


class TunableBM25(pt.Transformer):
    """BM25 with k1 and b that can be set: it indexes for each pair of them once."""

    def __init__(self, corpus: pd.DataFrame, num_results: int = 100) -> None:
        self.corpus = corpus
        self.num_results = num_results
        self.k1, self.b = 1.5, 0.75
        self._retrievers: dict[tuple[float, float], BM25] = {}

    def __repr__(self) -> str:
        return "BM25"

    def transform(self, topics: pd.DataFrame) -> pd.DataFrame:
        key = (self.k1, self.b)
        if key not in self._retrievers:
            self._retrievers[key] = BM25(
                self.corpus["docno"], self.corpus["text"], self.num_results, k1=self.k1, b=self.b
            )
        return self._retrievers[key](topics)


class Fusion(pt.Transformer):
    """Two rankers' results by ``weight / (60 + rank)`` in the first, ``(1 - weight) / (60 + rank)`` in the second."""

    def __init__(self, first: pt.Transformer, second: pt.Transformer) -> None:
        self.rankers = first, second
        self.weight = 0.5

    def __repr__(self) -> str:
        return "fusion"

    def transform(self, topics: pd.DataFrame) -> pd.DataFrame:
        pt.validate.query_frame(topics, extra_columns=["query"])
        parts = []
        for ranker, weight in zip(self.rankers, (self.weight, 1 - self.weight), strict=True):
            results = ranker(topics)
            parts.append(results.assign(score=weight / (60 + results["rank"])))
        fused = pd.concat(parts).groupby(["qid", "query", "docno"], as_index=False)["score"].sum()
        return pt.model.add_ranks(fused)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_dataset_option(parser)
    arguments = parser.parse_args()
    collection = load(parser, arguments.dataset)
    corpus, topics, qrels = collection

    deployed = BM25(corpus["docno"], corpus["text"], num_results=100)
    bm25 = TunableBM25(corpus)
    lsi = VectorSpace(corpus["docno"], corpus["text"], latent_semantics(), num_results=100)
    fusion = Fusion(bm25, pt.Transformer.from_df(lsi(topics)))  # nothing to tune: it runs once
    parameters = {
        bm25: {"k1": [0.5, 4.0], "b": [0.0, 0.75]},
        fusion: {"weight": [0.3, 0.7]},
    }

    context = RunContext.from_pipelines({"deployed": deployed}, topics)
    with context:
        scan = pt.GridScan(fusion, parameters, topics, qrels, [nDCG @ 10, NRG @ 10])
        scan = scan.rename(columns={"tran_0_k1": "k1", "tran_1_b": "b", "tran_2_weight": "weight"})
        scan = scan[["k1", "b", "weight", *METRICS]]
        print(f"All {len(scan)} settings on all queries, the best by each measure:\n")
        best = {name: scan.loc[scan[name].idxmax()] for name in METRICS}
        show(pd.DataFrame(best.values()).assign(by=list(best))[["by", *scan.columns]])

        print("The same by pt.KFoldGridSearch: tuned on one half of the queries, run on the other.")
        print("(In the values that it prints, the queries of the other half count as 0.)\n")
        halves = [topics.iloc[0::2], topics.iloc[1::2]]
        tuned = {}
        for name, metric in METRICS.items():
            results, _ = pt.KFoldGridSearch(fusion, parameters, halves, qrels, metric)
            tuned[f"tuned by {name}"] = results
    print()
    table = compare(collection, deployed, tuned)
    show(table)
    print("\n".join(conclusions(best, table)))


def compare(collection: Collection, deployed: pt.Transformer, tuned: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """The tuned rankers relative to the deployed one alone."""
    measures = [nDCG @ 10, NRG @ 10, UniqueRel @ 10]
    priors = {"deployed": [], **{name: ["deployed"] for name in tuned}}
    systems = {"deployed": deployed, **tuned}
    table = pt.relative.Experiment(systems, collection.topics, collection.qrels, measures, priors=priors)
    return table[["name", *map(str, measures)]]


def conclusions(best: dict[str, pd.Series], table: pd.DataFrame) -> list[str]:
    """Summarize the two tables."""
    by_ndcg, by_nrg = best["nDCG@10"], best["NRG@10"]
    scores = table.set_index("name")
    first, second = scores.loc["tuned by nDCG@10"], scores.loc["tuned by NRG@10"]
    settings = [f"k1={b['k1']:g}, b={b['b']:g}, weight={b['weight']:g}" for b in (by_ndcg, by_nrg)]
    if settings[0] == settings[1]:
        return [
            f"On all queries both measures prefer {settings[0]}: the better ranker is the better addition."
        ]
    change = second["UniqueRel@10"] - first["UniqueRel@10"]
    return [
        f"1. nDCG@10 prefers {settings[0]}; NRG@10 beside the deployed ranker prefers {settings[1]}.",
        f"2. On held-out queries, what is tuned by NRG@10 has nDCG@10 {second['nDCG@10']:.4f} instead of "
        f"{first['nDCG@10']:.4f}, and NRG@10 {second['NRG@10']:.4f} instead of {first['NRG@10']:.4f}.",
        f"3. Its top ten holds {second['UniqueRel@10']:.2f} relevant documents a query that the deployed ranker's "
        f"does not, {abs(change):.2f} {'more' if change > 0 else 'fewer'} than that of the one tuned by nDCG@10.",
    ]


if __name__ == "__main__":
    main()
