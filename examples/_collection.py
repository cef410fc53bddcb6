"""What the examples retrieve from: a collection that ir_datasets knows, the generated one among them."""

from __future__ import annotations

import argparse
from typing import NamedTuple

import pandas as pd
import pyterrier as pt

from ir_measures_relative import demo
from ir_measures_relative.io.datasets import fetching, load_dataset


class Collection(NamedTuple):
    """A test collection in memory, in PyTerrier's columns."""

    corpus: pd.DataFrame
    topics: pd.DataFrame
    qrels: pd.DataFrame


def add_dataset_option(parser: argparse.ArgumentParser) -> None:
    """Adds ``--dataset``."""
    parser.add_argument(
        "--dataset",
        default=demo.DATASET_ID,
        metavar="ID",
        help="an ir_datasets id with documents, queries and judgments (default: %(default)s, generated here)",
    )


def load(parser: argparse.ArgumentParser, dataset_id: str) -> Collection:
    """The collection; ends the program with a message where there is none of that name."""
    demo.register()
    try:
        with fetching(load_dataset(dataset_id)):
            dataset = pt.get_dataset(f"irds:{dataset_id}")
            corpus = pd.DataFrame(dataset.get_corpus_iter(verbose=False))
            collection = Collection(corpus, dataset.get_topics(), dataset.get_qrels())
    except (ValueError, ConnectionError) as error:
        parser.error(str(error))
    print(f"{dataset_id}: {', '.join(f'{len(t)} {n}' for t, n in zip(collection, _PARTS, strict=True))}\n")
    return collection


_PARTS = ("documents", "queries", "judgments")


def show(table: pd.DataFrame) -> None:
    """Prints a table with four decimal places, and a blank line after it."""
    print(table.to_string(index=False, float_format="%.4f"), end="\n\n")
