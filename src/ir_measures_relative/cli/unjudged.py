"""``unjudged``: what unjudged documents could change, and which of them to judge."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import ir_measures_relative as package

from ..arguments import check_count
from . import arguments
from .arguments import Command, add_option
from .output import say
from .tables import print_answer, say_missing_topics

_ENDS = ("worst", "value", "best", "settled", "probability", "n_deciding")
_COLUMNS = ("name", "other", "measure", "query_id", *_ENDS)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser)
    arguments.add_measures(parser)
    arguments.add_context(parser)
    group = parser.add_mutually_exclusive_group()
    add_option(group, "--bounds", "worst-case and best-case score of each run")
    add_option(
        group, "--judge N", "print a pool file instead: the N documents to judge first, by the first measure"
    )
    text = (
        "add the probability that the first run scores higher (4 runs or more, or --llm-judgments; for UniqueRel, "
        "values below 0.99 may be 0.1 too high)"
    )
    add_option(group, "--probability", text)
    arguments.add_options(parser, "--llm-judgments", "--by_query", "--missing")
    arguments.add_table(parser, answers=True)


def _check(args: argparse.Namespace) -> None:
    if args.by_query and (args.probability or args.judge is not None):
        raise ValueError("--by_query (-q) does not go with --probability and --judge; leave one of them out")
    option = "--columns" if args.columns else "--sort" if args.sort else None
    if args.judge is not None and option and args.output_format is None:
        raise ValueError(f"{option} goes with a table, and --judge prints a pool file; add -o csv")
    if args.llm_judgments is not None and not args.probability:
        raise ValueError("--llm-judgments goes with --probability; add it")
    if args.judge is not None:
        check_count("--judge", args.judge, 1)
    if args.missing and (args.bounds or args.judge is not None):
        raise ValueError(
            "--missing is about verdicts, so it does not go with --bounds and --judge; leave it out"
        )


def _run(args: argparse.Namespace) -> None:
    _check(args)
    measures = arguments.named_measures(args)
    import pandas as pd

    from ..bounding.verdicts import pool_lines
    from .inputs import read

    tables = list(_tables(args, measures, read(args, measures)))
    if args.missing:
        say_missing_topics(tables)
    table = pd.concat(tables, ignore_index=True)
    table.attrs.clear()  # a single table would keep them
    if args.judge is not None:
        table = table.sort_values("weight", ascending=False, kind="stable")
        table = table.drop_duplicates(["query_id", "doc_id"])[: args.judge]
        if table.empty:
            say("warning", f"no judgment can change an order by {measures[0]}, so there is nothing to judge")
    if args.judge is not None and args.output_format is None:
        for line in pool_lines(table):
            print(line)
    else:
        print_answer(table, args, _COLUMNS)


def _tables(args: argparse.Namespace, measures: list[Any], given: Any) -> Iterator[Any]:
    """Yield the table of each context; it may be of one candidate, or of all."""
    from ..bounding.verdicts import judge_next

    for names, context in given.contexts():
        if args.judge is not None:
            # Of a candidate beside --to only the pairs with that: the runs of --to have their verdicts already.
            pairs = [(name, other) for name in names for other in given.others if name != other]
            for pair in pairs if given.alone else [None]:
                yield judge_next(context, given.judgments, measures[0], args.judge, pair)
        elif args.bounds:
            table = package.bounds(context, given.judgments, measures, args.by_query)
            yield table[table["name"].isin(names)]
        else:
            table = package.verdicts(
                context,
                given.judgments,
                measures,
                args.by_query,
                relevance_model="pool" if args.probability else None,
                llm_judgments=args.llm_judgments,
                missing=args.missing,
            )
            yield table[table["name"].isin(names) | table["other"].isin(names)]


unjudged = Command(
    "QRELS RUNS MEASURE… [--bounds | --judge N] [options]",
    "campaign/qrels.txt campaign/runs UniqueRel@10 --judge 10",
    _add_arguments,
    _run,
)
