"""``select``: the runs that complement each other."""

from __future__ import annotations

import argparse

import ir_measures_relative as package

from . import arguments
from .arguments import Command
from .tables import print_answer


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser, to="")
    arguments.add_measure(parser, "UniqueRel(rel=1)@10")
    arguments.add_option(parser, "--number N", "number of runs to choose (default: %(default)s)", default=3)
    arguments.add_options(parser, "--missing")
    arguments.add_table(parser, answers=True)


def _run(args: argparse.Namespace) -> None:
    measure = arguments.named_measure(args)
    from .inputs import read

    given = read(args)
    table = package.select_complementary(
        given.together, given.judgments, args.number, measure, missing=args.missing
    )
    print_answer(table, args, table.columns)


select = Command(
    "QRELS RUNS [MEASURE] [--number N] [options]",
    "campaign/qrels.txt campaign/runs --number 3",
    _add_arguments,
    _run,
)
