"""``explain``: the documents behind what a run adds."""

from __future__ import annotations

import argparse

import ir_measures_relative as package

from . import arguments
from .arguments import Command
from .tables import print_answer

_COLUMNS = ("name", "query_id", "doc_id", "relevance", "position", "contribution", "new aspects")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser, "RUN")
    arguments.add_measure(parser, "UniqueRel(rel=1)@10")
    arguments.add_option(parser, "--query ID", "only this query; default: all")
    arguments.add_table(parser, answers=True)


def _run(args: argparse.Namespace) -> None:
    measure = arguments.named_measure(args)
    import pandas as pd

    from .inputs import read

    given = read(args, [measure])
    tables = []
    for names, context in given.contexts():
        for name in names:
            table = package.explain(context, name, given.judgments, measure, args.query)
            if given.is_folder:
                table.insert(0, "name", name)
            tables.append(table)
    together = pd.concat(tables, ignore_index=True)
    together.attrs = tables[0].attrs
    priors = [name for name in together if name.startswith("position in ")]
    print_answer(together, args, [*_COLUMNS, *priors, "gain"])


explain = Command(
    "QRELS RUN [MEASURE] --to RUNS [--query ID] [options]",
    "campaign/qrels.txt campaign/runs/3-grams.run \\\n    --to campaign/runs/BM25.run --query 3",
    _add_arguments,
    _run,
)
