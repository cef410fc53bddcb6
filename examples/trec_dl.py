"""Is a cross-encoder worth adding to BM25 on TREC's Deep Learning track of 2019? From the corpus to the answer.

Sizes and times of the default, msmarco-passage/trec-dl-2019/judged (8.8 million passages, 43 queries):

  download    1.1 GB once, by ir_datasets, into IR_DATASETS_HOME (~/.ir_datasets)
  on disk     about 10 GB: the download, 3 GB of text, 6 GB of index
  index       10 to 30 minutes on one core; the index is kept, and used again the next time
  texts       a few minutes: one more pass over the corpus, for the passages to re-rank
  re-ranking  a few minutes: 100 passages of each query by MiniLM, a model of 80 MB, on a CPU
  memory      about 4 GB, for PISA

Index, times and memory are extrapolated from 800,000 passages of this length. The program prints all this and asks
before it downloads; --yes answers.

The corpus goes into a PISA index as an iterator, so that no table holds it. The deployed runs are BM25 and the track's
own first stage, which is the dataset's scoreddocs. The candidate re-ranks the top 100 of BM25. The re-ranker needs
fastembed; --reranker ngrams needs no model, and shows the road only. For a trial of a minute: --dataset vaswani.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ir_datasets
import pandas as pd
import pyterrier as pt
from pyterrier_pisa import PisaIndex
from tqdm import tqdm

from _collection import show
from _retrievers import character_ngrams, quietly
from ir_measures_relative import RunContext, demo, worth
from ir_measures_relative.io.datasets import fetching, load_dataset

DATASET = "msmarco-passage/trec-dl-2019/judged"
CANDIDATE = "BM25 >> re-ranker"

#: From a query and texts to a score of each text.
Scorer = Callable[[str, Sequence[str]], Sequence[float]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--dataset", default=DATASET, metavar="ID", help="of ir_datasets (default: %(default)s)"
    )
    parser.add_argument(
        "--index", metavar="FOLDER", type=Path, help="of the index (default: named by the dataset)"
    )
    parser.add_argument("--reranker", choices=RERANKERS, default="minilm", help="default: %(default)s")
    parser.add_argument("--depth", type=int, default=100, help="documents to re-rank (default: %(default)s)")
    parser.add_argument("--rel", type=int, help="the lowest grade that is relevant (default: 2 of 3, else 1)")
    parser.add_argument("--yes", action="store_true", help="download without asking")
    arguments = parser.parse_args()
    demo.register()
    try:
        dataset = load_dataset(arguments.dataset)
        _ask(arguments.dataset, arguments.yes)
        score = RERANKERS[arguments.reranker]()
        with fetching(dataset):
            _answer(arguments, score)
    except (ValueError, ConnectionError, ImportError) as error:
        parser.error(str(error))


def _answer(arguments: argparse.Namespace, score: Scorer) -> None:
    dataset = pt.get_dataset(f"irds:{arguments.dataset}")
    topics, qrels = dataset.get_topics(), dataset.get_qrels()
    if "query" not in topics.columns or "text" not in dataset.irds_ref().docs_cls()._fields:
        raise ValueError(
            f"{arguments.dataset}: topics need one field, and documents a field text; take another --dataset"
        )
    index = open_index(dataset, arguments.index or Path(arguments.dataset.replace("/", "-") + ".pisa"))
    with quietly():
        bm25 = index.bm25()
        bm25(topics.head(1))  # PISA prepares a scorer at its first query
    rerank = pt.apply.by_query(lambda frame: _rescored(frame, score), add_ranks=True)
    pipelines: dict[str, Any] = {"BM25": bm25}
    if dataset.irds_ref().has_scoreddocs():
        pipelines["first stage"] = first_stage(dataset, index, topics)
    to_rerank = bm25 % arguments.depth
    texts = read_texts(dataset, set(to_rerank(topics)["docno"]))
    pipelines[CANDIDATE] = to_rerank >> pt.apply.text(lambda row: texts[row["docno"]]) >> rerank

    about = RunContext.from_irds(arguments.dataset, name=None)  # the size of the collection, and its grades
    context = RunContext.from_pipelines(pipelines, topics, num_docs=about.num_docs, grades=about.grades)
    rel = arguments.rel or (2 if about.grades is not None and about.grades[1] >= 3 else 1)
    show(context.evaluate(qrels, ["nDCG@10", f"RR(rel={rel})@10", "NRG@10", f"UniqueRel(rel={rel})@10"]))
    print(worth(context, qrels, CANDIDATE))


def open_index(dataset: Any, path: Path) -> PisaIndex:
    """Return the index of the dataset's documents, made on first use; the documents are read one by one."""
    index = PisaIndex(str(path), text_field="text", stemmer="porter2")
    if index.built():
        print(f"the index in {path} is there already\n")
        return index
    print(f"indexing into {path}", file=sys.stderr)
    with (
        os.fdopen(os.dup(sys.stderr.fileno()), "w") as terminal,
        quietly(),
    ):  # PISA is silent, progress is not
        documents = dataset.get_corpus_iter(verbose=False)
        return index.index(tqdm(documents, unit=" documents", file=terminal, disable=None))


def read_texts(dataset: Any, docnos: set[str]) -> dict[str, str]:
    """Return the texts of documents, in one pass over all: ``dataset.text_loader()`` would first store 14 GB."""
    documents = dataset.get_corpus_iter(verbose=sys.stderr.isatty())
    return {document["docno"]: document["text"] for document in documents if document["docno"] in docnos}


def first_stage(dataset: Any, index: PisaIndex, topics: pd.DataFrame) -> pd.DataFrame:
    """Return the run that comes with the dataset.

    The Deep Learning track's has no scores: it says which passages to re-rank, and not in which order. There, query
    likelihood orders those passages that it finds among its top 1000.
    """
    results = dataset.get_results()
    if results["score"].nunique() > 1:
        return results
    with quietly():
        ranked = index.qld(num_results=1000)(topics)
    return pt.model.add_ranks(ranked.drop(columns="rank").merge(results[["qid", "docno"]]))


def _rescored(frame: pd.DataFrame, score: Scorer) -> pd.DataFrame:
    """The documents of one query, scored anew."""
    if frame.empty:  # PyTerrier looks at what comes out where nothing goes in
        return frame
    return frame.assign(score=list(score(frame["query"].iloc[0], frame["text"].tolist())))


def minilm() -> Scorer:
    """A cross-encoder of 22 million parameters, trained on MS MARCO, which reads query and text together."""
    try:
        from fastembed.rerank.cross_encoder import TextCrossEncoder
    except ModuleNotFoundError:
        raise ImportError(
            "the re-ranker needs fastembed: pip install fastembed, or --reranker ngrams"
        ) from None
    model = TextCrossEncoder("Xenova/ms-marco-MiniLM-L-6-v2")
    return lambda query, texts: list(model.rerank(query, texts))


def ngrams() -> Scorer:
    """The likeness of query and text in their character 4-grams: no model, and no good re-ranker either."""

    def score(query: str, texts: Sequence[str]) -> Sequence[float]:
        vectors = character_ngrams().fit_transform([query, *texts])
        return (vectors[1:] @ vectors[0].T).toarray().ravel().round(6).tolist()

    return score


RERANKERS: dict[str, Callable[[], Scorer]] = {"minilm": minilm, "ngrams": ngrams}


def _ask(dataset_id: str, yes: bool) -> None:
    """Prints what is to come before MS MARCO is downloaded, and asks whether to go on."""
    collection = Path(ir_datasets.util.home_path()) / "msmarco-passage" / "collection.tsv"
    if not dataset_id.startswith("msmarco-passage/") or collection.exists():
        return
    print(__doc__.split("\n\n")[2], file=sys.stderr)
    if not yes and (not sys.stdin.isatty() or input("\nGo on? [y/N] ").strip().lower() not in ("y", "yes")):
        raise ValueError("nothing was downloaded; --yes goes on without asking")


if __name__ == "__main__":
    main()
