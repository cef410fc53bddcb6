"""``drop``: which deployed run can go?"""

from __future__ import annotations

import argparse

import ir_measures_relative as package

from . import answers, arguments

USAGE = "QRELS RUNS [--margin X] [--by MEASURE] [--gate] [options]"
EXAMPLE = "campaign/qrels.txt campaign/runs --margin 0.05"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser, to=())
    answers.add_arguments(
        parser, "0: some run is safe to drop, 1: all are needed", "largest loss that you accept"
    )


def run(args: argparse.Namespace) -> int:
    answers.check(args)
    from .inputs import read

    given = read(args)
    if args.gate:
        answers.check_deployed(given, given.candidates)
    answer = package.drop(given.together, given.judgments, given.candidates, **answers.options_of(args))
    return answers.finish({"drop": answer}, args, named=False)
