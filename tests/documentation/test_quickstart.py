"""The quickstart, run as its readers run it."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys

import pandas as pd
import pytest

from example_scripts import EXAMPLES, run_example

for needed in ("pyterrier", "bm25s", "sklearn"):
    pytest.importorskip(needed, reason=f"the quickstart needs {needed}, of the extra [examples]")

IDEAL = "NRG(norm='ideal')@10"
COLUMNS = ["name", "nDCG@10", IDEAL, "P_Rareness@10", "nDCG_UE(pool='corpus')@10", "MED@10", "rrLP"]


def quickstart(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error::UserWarning", str(EXAMPLES / "quickstart.py"), *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture(scope="module")
def output() -> str:
    # No Java: a JVM that cannot be found must not matter.
    done = quickstart(JAVA_HOME="/nowhere")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def table(output: str) -> pd.DataFrame:
    text = output.split("\n\n")[1]
    return pd.read_csv(io.StringIO(text), sep=r"\s+").set_index("name", drop=False)


def test_the_table(table):
    assert list(table.columns) == COLUMNS
    assert list(table["name"]) == ["BM25", "BM25+", "n-grams", "LSI"]
    assert table["nDCG@10"].between(0.2, 0.9).all()
    assert (table.loc["BM25", ["MED@10", "rrLP"]] == 0).all()  # the reference


def test_relative_measures_see_what_absolute_ones_do_not(table):
    assert table["nDCG@10"].idxmax() != table[IDEAL].idxmax()
    # BM25+ ranks nearly as BM25 does, so each takes all that the other could add.
    assert table.loc["BM25+", "MED@10"] < 0.01
    assert table.loc[["BM25", "BM25+"], IDEAL].max() < table.loc[["n-grams", "LSI"], IDEAL].min()


def test_three_sentences_agree_with_the_table(output, table):
    text = " ".join(output.split("\n\n")[2].split())
    first, second, third = re.split(r" (?=[23]\. )", text)
    assert f"{table['nDCG@10'].idxmax()} is best" in first
    assert f"{table[IDEAL].idxmax()} adds most ({IDEAL} {table[IDEAL].max():.3f})" in first
    assert f"{table['P_Rareness@10'].idxmax()} is first" in second
    assert (
        f"{table['MED@10'].idxmax()} differs most from BM25: by at most {table['MED@10'].max():.3f}" in third
    )


def test_every_number_is_that_of_the_context_alone(table):
    """The members' values through RunContext.evaluate, from the retrievers themselves."""
    sys.path.insert(0, str(EXAMPLES))
    try:
        from _retrievers import BM25, VectorSpace, character_ngrams, latent_semantics
    finally:
        sys.path.remove(str(EXAMPLES))
    import pyterrier as pt

    from ir_measures_relative import RunContext, demo

    dataset = pt.get_dataset(f"irds:{demo.register()}")
    corpus = pd.DataFrame(dataset.get_corpus_iter(verbose=False))
    documents, topics = (corpus["docno"], corpus["text"]), dataset.get_topics()
    runs = {
        "BM25": BM25(*documents)(topics),
        "BM25+": BM25(*documents, method="bm25+")(topics),
        "n-grams": VectorSpace(*documents, character_ngrams())(topics),
        "LSI": VectorSpace(*documents, latent_semantics())(topics),
    }
    context = RunContext(runs, reference="BM25", num_docs=len(corpus))
    ours = context.evaluate(dataset.get_qrels(), COLUMNS[1:]).set_index("name")
    theirs = table.drop(columns="name")
    assert (ours - theirs).abs().to_numpy().max() < 6e-4  # the table is printed to three places


def test_a_wrong_dataset():
    wrong = run_example("quickstart.py", "--dataset", "no-such-thing")
    assert wrong.returncode == 2
    assert "usage: quickstart.py [-h] [--dataset ID]" in wrong.stderr
    assert "ir_datasets knows no dataset 'no-such-thing'" in wrong.stderr
