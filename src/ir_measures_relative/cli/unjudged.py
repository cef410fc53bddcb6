"""``unjudged``: what the documents that nobody judged could change, and which of them to judge."""

from __future__ import annotations

import argparse

import ir_measures_relative as package

from ..arguments import check_count
from . import arguments
from .output import say
from .tables import answer, check_table, say_missing_topics

USAGE = "QRELS RUNS MEASURE… [--bounds | --judge N] [options]"
_ENDS = ("worst", "value", "best", "settled", "probability", "n_deciding")
_COLUMNS = ("name", "other", "measure", "query_id", *_ENDS)
EXAMPLE = "campaign/qrels.txt campaign/runs UniqueRel@10 --judge 10"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser)
    arguments.add_measures(parser)
    arguments.add_context(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--bounds", action="store_true", help="worst-case and best-case score of each run")
    which.add_argument(
        "--judge",
        type=int,
        metavar="N",
        help="print a pool file instead: the N documents to judge first, by the first measure",
    )
    which.add_argument(
        "--probability",
        action="store_true",
        help="add the probability that the first run scores higher (4 runs or more, or --llm-judgments; for UniqueRel, "
        "values below 0.99 may be 0.1 too high)",
    )
    arguments.add_llm_judgments(parser)
    parser.add_argument("-q", "--by_query", action="store_true", help="print a row for every query")
    arguments.add_missing(parser)
    arguments.add_jobs(parser)
    arguments.add_table(parser, answers=True)


def run(args: argparse.Namespace) -> None:
    if args.by_query and (args.probability or args.judge is not None):
        raise ValueError("--by_query (-q) does not go with --probability and --judge; leave one of them out")
    if args.judge is not None and args.columns and args.output_format is None:
        raise ValueError("--columns goes with a table, and --judge prints a pool file; add -o csv")
    if args.llm_judgments is not None and not args.probability:
        raise ValueError("--llm-judgments goes with --probability; add it")
    if args.judge is not None:
        check_count("--judge", args.judge, 1)
    if args.missing and (args.bounds or args.judge is not None):
        raise ValueError(
            "--missing is about verdicts, so it does not go with --bounds and --judge; leave it out"
        )
    check_table(args)
    measures = arguments.measures_of(args)
    import pandas as pd

    from ..bounding.verdicts import judge_next, pool_lines
    from .inputs import read

    given = read(args, measures)
    qrels, tables = given.judgments, []
    for names, context in given.campaigns():
        if args.judge is not None:
            # Of a candidate beside --to, its own pairs alone: the others have their verdicts already.
            own = [(name, other) for name in names for other in given.others if name != other]
            pairs: list[tuple[str, str] | None] = [*own] if given.alone else [None]
            tables += [
                judge_next(context, qrels, measures[0], args.judge, pair, jobs=args.jobs) for pair in pairs
            ]
        elif args.bounds:
            table = package.bounds(context, qrels, measures, args.by_query, jobs=args.jobs)
            tables.append(table[table["name"].isin(names)])
        else:
            relevance_model = "pool" if args.probability else None
            table = package.verdicts(
                context,
                qrels,
                measures,
                args.by_query,
                relevance_model=relevance_model,
                llm_judgments=args.llm_judgments,
                jobs=args.jobs,
                missing=args.missing,
            )
            tables.append(table[table["name"].isin(names) | table["other"].isin(names)])
    if args.missing:
        say_missing_topics(tables)
    found = pd.concat(tables, ignore_index=True)
    found.attrs.clear()  # which one table alone would keep
    if args.judge is not None:
        found = found.sort_values("weight", ascending=False, kind="stable")
        found = found.drop_duplicates(["query_id", "doc_id"])[: args.judge]
        if found.empty:
            say("warning", f"no judgment can change an order by {measures[0]}, so there is nothing to judge")
    if args.judge is not None and args.output_format is None:
        for line in pool_lines(found):
            print(line)
    else:
        answer(found, args, _COLUMNS)
