"""``similar``: how similar every two runs are, with judgments or without."""

from __future__ import annotations

import argparse

import ir_measures_relative as package

from . import arguments
from .arguments import Command
from .tables import print_answer

_COLUMNS = ("name", "other", "measure", "query_id", "value", "distance")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser, qrels=", or none for no judgments")
    arguments.add_measures(parser, "RBO")
    arguments.add_options(parser, "--by_query")
    arguments.add_table(parser, answers=True)


def _run(args: argparse.Namespace) -> None:
    measures = arguments.named_measures(args)
    from .inputs import read

    given = read(args, may_lack_qrels=True)
    table = package.similarity(given.together, given.judgments, measures, args.by_query)
    if given.others:
        first, second = (table[column].isin(given.candidates) for column in ("name", "other"))
        disjoint = not {*given.candidates} & {*given.others}
        table = table[first != second] if disjoint else table[first | second]
    print_answer(table, args, _COLUMNS)


similar = Command(
    "QRELS RUNS [MEASURE…] [--to RUNS …] [options]", "none campaign/runs RBO MED@10", _add_arguments, _run
)
