"""``decide``: which of several set-ups is best at the same cost?"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import ir_measures_relative as package

from . import answers, arguments

if TYPE_CHECKING:
    from .inputs import Inputs

USAGE = "QRELS RUNS --option NAME=RUN,… --option NAME=RUN,… [options]"
EXAMPLE = (
    "campaign/qrels.txt campaign/runs \\\n"
    "    --option now=BM25 --option both=BM25,3-grams --option new=3-grams"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser, to=())
    parser.add_argument(
        "--option",
        action="append",
        dest="options",
        default=[],
        metavar="NAME=RUN,…",
        help="a set-up: its name, then its runs (names or files); pass one per set-up, first the one in use",
    )
    answers.add_arguments(
        parser, "0: another option is better, 1: keep the first", "smallest difference that matters"
    )


def run(args: argparse.Namespace) -> int:
    answers.check(args)
    if len(args.options) < 2:
        raise ValueError(
            "give at least two options, each of one run or more, such as --option now=BM25 --option both=BM25,dense"
        )
    from .inputs import read

    given = read(args)
    options: dict[str, list[str]] = {}
    for text in args.options:
        name, runs = _option(given, text)
        if name in options:
            raise ValueError(f"--option {text}: two options are called {name!r}; give each its own name")
        options[name] = runs
    if args.gate:
        answers.check_deployed(given, list(dict.fromkeys(run for runs in options.values() for run in runs)))
    answer = package.decide(given.together, given.judgments, options, **answers.options_of(args))
    return answers.finish({"decide": answer}, args, named=False)


def _option(given: Inputs, text: str) -> tuple[str, list[str]]:
    name, equals, runs = text.partition("=")
    if not (name and equals and runs):
        raise ValueError(f"--option {text}: write NAME=RUN,RUN, such as both=BM25,dense")
    return name, [given.asked_for("--option", run) for run in runs.split(",")]
