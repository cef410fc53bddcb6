"""A campaign: a folder of TREC runs, a table of what each adds to the others, an order that complements, a picture.

Without a folder, six retrievers run over a small generated collection first, and write their runs.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import pandas as pd

from ir_measures_relative import RunContext, demo, plots, select_complementary

MEASURES = ["nDCG@10", "NRG(norm='ideal')@10", "UniqueRel(rel=1)@10", "P_Rareness@10"]
GROUPS = {
    "BM25": "words",
    "BM25L": "words",
    "BM25+": "words",
    "TF-IDF": "words",
    "n-grams": "letters",
    "LSI": "topics",
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", help="a folder of TREC run files, plain or .gz")
    parser.add_argument("--qrels", help="the judgments: a TREC qrels file; needed for a folder")
    parser.add_argument(
        "--select", type=int, default=3, metavar="N", help="how many runs to choose (default: 3)"
    )
    parser.add_argument("--plot", metavar="FILE", help="where the picture goes, such as campaign.png")
    arguments = parser.parse_args()
    if arguments.folder is not None and arguments.qrels is None:
        parser.error("a folder of runs needs --qrels")

    with tempfile.TemporaryDirectory() as temporary:
        folder, qrels, groups = arguments.folder, arguments.qrels, None
        if folder is None:
            folder, groups = Path(temporary), GROUPS
            qrels = write_runs(folder)
        try:
            context = RunContext.from_files(folder, groups=groups)
            table = context.evaluate(qrels, MEASURES)
            chosen = select_complementary(
                context, qrels, min(arguments.select, len(context.names)), "UniqueRel(rel=1)@10"
            )
        except (OSError, ValueError) as error:
            parser.error(str(error))

    table = table.sort_values("nDCG@10", ascending=False)
    print(f"{len(table)} runs, each relative to the others:\n")
    print(table.to_string(index=False, float_format="%.4f"))
    print(
        "\nThe runs to pool first, by the relevant documents that each one's top ten adds to those before it:\n"
    )
    print(chosen.to_string(index=False, float_format="%.2f"))
    print("\n" + "\n".join(conclusions(table, list(chosen["name"]))))
    if arguments.plot:
        plots.relative_against_absolute(table, groups=groups).figure.savefig(arguments.plot)
        print(f"\n{arguments.plot} shows {MEASURES[1]} over nDCG@10, a point a run.")


def write_runs(folder: Path) -> list:
    """Writes the runs of six retrievers to a folder, a file each, and returns the judgments."""
    import pyterrier as pt
    from sklearn.feature_extraction.text import TfidfVectorizer

    from _retrievers import BM25, VectorSpace, character_ngrams, latent_semantics

    data = demo.generate()
    documents = [d.doc_id for d in data.docs], [d.text for d in data.docs]
    topics = pd.DataFrame([(q.query_id, q.text) for q in data.queries], columns=["qid", "query"])
    retrievers = {
        "BM25": BM25(*documents),
        "BM25L": BM25(*documents, method="bm25l"),
        "BM25+": BM25(*documents, method="bm25+"),
        "TF-IDF": VectorSpace(*documents, TfidfVectorizer(stop_words="english", sublinear_tf=True)),
        "n-grams": VectorSpace(*documents, character_ngrams()),
        "LSI": VectorSpace(*documents, latent_semantics()),
    }
    for name, retriever in retrievers.items():
        pt.io.write_results(retriever(topics), str(folder / f"{name}.run.gz"), run_name=name)
    return list(data.qrels)


def conclusions(table: pd.DataFrame, chosen: list[str]) -> list[str]:
    """Summarize the tables."""
    scores = table.set_index("name")
    best, most = scores["nDCG@10"].idxmax(), scores["NRG(norm='ideal')@10"].idxmax()
    rank = int(scores["nDCG@10"].rank(ascending=False)[most])
    lines = [
        f"{best} is the best run by itself (nDCG@10 {scores['nDCG@10'][best]:.4f}). The one that adds most to all "
        f"others is {most}, number {rank} by nDCG@10."
    ]
    by_quality = list(scores.index[: len(chosen)])
    if set(chosen) != set(by_quality):
        pool, instead = ", ".join(chosen), ", ".join(by_quality)
        lines.append(f"To pool {len(chosen)} runs, take {pool} rather than {instead}, the best.")
    return lines


if __name__ == "__main__":
    main()
