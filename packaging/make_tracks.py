"""Make the tracks of the catalogue: `python packaging/make_tracks.py`, with the extra `examples` and a copy of Vaswani.

`demo` is the generated collection with its seven runs. `vaswani` is a dozen open retrievers over the collection that
ir_datasets fetches. It lists the judged documents without grades, which ir_datasets has.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import ir_datasets
import pandas as pd
from pyterrier_pisa import PisaIndex
from sklearn.feature_extraction.text import TfidfVectorizer

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "examples"))

from _retrievers import BM25, VectorSpace, character_ngrams, latent_semantics, quietly  # noqa: E402
from ir_measures_relative import RunContext, demo  # noqa: E402

FOLDER = ROOT / "src" / "ir_measures_relative" / "formats" / "tracks"
#: Of the runs of Vaswani: which retrievers are alike.
GROUPS = {
    **dict.fromkeys(
        ("bm25s", "bm25s-k3", "bm25s-plus", "PISA-BM25", "PISA-DPH", "PISA-QLD", "TF-IDF"), "words"
    ),
    **dict.fromkeys(("3-grams", "4-grams"), "letters"),
    **dict.fromkeys(("LSI-100", "LSI-300"), "latent"),
    **dict.fromkeys(("feedback-BM25", "feedback-LSI"), "feedback"),
}


def retrieve() -> dict[str, pd.DataFrame]:
    """The results of the retrievers on Vaswani, by name."""
    dataset = ir_datasets.load("vaswani")
    documents = [(doc.doc_id, doc.text) for doc in dataset.docs_iter()]
    topics = pd.DataFrame(
        [(query.query_id, query.text) for query in dataset.queries_iter()], columns=["qid", "query"]
    )
    docnos, texts = map(list, zip(*documents, strict=True))
    words = TfidfVectorizer(stop_words="english", sublinear_tf=True)
    lsi = VectorSpace(docnos, texts, latent_semantics(100))
    rankers = {
        "bm25s": BM25(docnos, texts),
        "bm25s-k3": BM25(docnos, texts, k1=3.0, b=0.4),
        "bm25s-plus": BM25(docnos, texts, method="bm25+"),
        "TF-IDF": VectorSpace(docnos, texts, words),
        "3-grams": VectorSpace(
            docnos, texts, TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), sublinear_tf=True)
        ),
        "4-grams": VectorSpace(docnos, texts, character_ngrams()),
        "LSI-100": lsi,
        "LSI-300": VectorSpace(docnos, texts, latent_semantics(300)),
    }
    text_of = dict(documents)
    with tempfile.TemporaryDirectory() as folder, quietly():
        index = PisaIndex(str(Path(folder, "vaswani.pisa")), text_field="text", stemmer="porter2")
        index.index([{"docno": docno, "text": text} for docno, text in documents])
        rankers |= {"PISA-BM25": index.bm25(), "PISA-DPH": index.dph(), "PISA-QLD": index.qld()}
        found = {name: ranker(topics) for name, ranker in rankers.items()}
    for name, first in (("BM25", rankers["bm25s"]), ("LSI", lsi)):
        found[f"feedback-{name}"] = first(_expanded(topics, found["PISA-DPH"], text_of))
    return {name: found[name] for name in GROUPS}


def _expanded(topics: pd.DataFrame, found: pd.DataFrame, text_of: dict[str, str]) -> pd.DataFrame:
    """Each query with the texts of the first five documents that were retrieved for it."""
    first = (
        found.sort_values("rank")
        .groupby("qid")["docno"]
        .agg(lambda docnos: " ".join(map(text_of.get, docnos[:5])))
    )
    return topics.assign(
        query=[f"{(query + ' ') * 5}{first.get(qid, '')}" for qid, query in topics.to_numpy()]
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", default=["demo", "vaswani"], help="which tracks (default: all)")
    names = parser.parse_args().names
    FOLDER.mkdir(exist_ok=True)
    if "demo" in names:
        context = RunContext(demo.runs(), groups=demo.GROUPS, num_docs=1200, grades=(0, 2))
        context.save_track(
            FOLDER / "demo.track", demo.generate().qrels, name="demo", version="v1", licence="MIT"
        )
    if "vaswani" in names:
        context = RunContext(retrieve(), groups=GROUPS, num_docs=11429, grades=(0, 1))
        about = {"name": "vaswani", "version": "v1", "dataset": "vaswani", "licence": "MIT"}
        source = "bm25s, PISA and scikit-learn over ir_datasets' vaswani; packaging/make_tracks.py"
        context.save_track(FOLDER / "vaswani.track", "vaswani", source=source, **about)
    for path in sorted(FOLDER.iterdir()):
        print(path.name, path.stat().st_size, RunContext.from_track(path).track)


if __name__ == "__main__":
    main()
