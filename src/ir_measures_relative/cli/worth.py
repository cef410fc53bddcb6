"""``worth``: is a candidate worth it, beside what is deployed or in its place?"""

from __future__ import annotations

import argparse

import ir_measures_relative as package

from . import answers, arguments

USAGE = "QRELS CANDIDATE --to RUNS [--by MEASURE] [--gate] [options]"
EXAMPLE = "campaign/qrels.txt campaign/runs/3-grams.run \\\n    --to campaign/runs/BM25.run"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser, "CANDIDATE")
    gate = "0: a change is better, with each of the candidates; 1: keep the deployed runs, for one of them at least"
    answers.add_arguments(parser, gate)


def run(args: argparse.Namespace) -> int:
    answers.check(args)
    from .inputs import read

    given = read(args)
    if len(given.runs) == len(given.candidates) == 1:
        raise ValueError(f"{args.run} has nothing to compare with: pass the deployed runs with --to")
    if args.gate:
        answers.check_deployed(given, given.others or given.candidates)
    options = answers.options_of(args)
    found = {
        name: package.worth(context, given.judgments, name, **options)
        for names, context in given.campaigns(check=False)
        for name in names
        # Of a folder that holds the one run of --to as well, that is no candidate.
        if len(context.names) > 1 or len(given.candidates) == 1
    }
    return answers.finish(found, args)
