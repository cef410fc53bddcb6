"""``similar``: how alike every two runs are, with judgments or without."""

from __future__ import annotations

import argparse

import ir_measures_relative as package

from . import arguments
from .tables import answer, check_table

USAGE = "QRELS RUNS [MEASURE…] [--to RUNS …] [options]"
_COLUMNS = ("name", "other", "measure", "query_id", "value", "distance")
EXAMPLE = "none campaign/runs RBO MED@10"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser, qrels=", or none for no judgments")
    arguments.add_measures(parser, "RBO")
    parser.add_argument("-q", "--by_query", action="store_true", help="print a row for every query")
    arguments.add_jobs(parser)
    arguments.add_table(parser, answers=True)


def run(args: argparse.Namespace) -> None:
    check_table(args)
    measures = arguments.measures_of(args)
    from .inputs import read

    given = read(args, may_lack_qrels=True)
    table = package.similarity(given.together, given.judgments, measures, args.by_query, args.jobs)
    if given.others:
        one, other = (table[column].isin(given.candidates) for column in ("name", "other"))
        table = table[one != other] if not set(given.candidates) & set(given.others) else table[one | other]
    answer(table, args, _COLUMNS)
