"""``audit``: LLM judgments of everything, human judgments of a sample: which documents, and which conclusions hold."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from ..context.measure_strings import split_measures
from . import arguments
from .output import check_loss, check_table, show, writing

if TYPE_CHECKING:
    import pandas as pd

USAGE = "plan|estimate QRELS RUNS MEASURE… --pool FILE [options]"
EXAMPLE = "plan campaign/qrels.txt campaign/runs P@10 --budget 100 --pool pool.txt"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "step",
        choices=("plan", "estimate"),
        metavar="plan|estimate",
        help="plan: draw the documents to judge; estimate: compute the result with all human judgments",
    )
    arguments.add_runs(parser, to=(), qrels=": the LLM judgments")
    arguments.add_measures(parser)
    parser.add_argument(
        "--pool",
        required=True,
        metavar="FILE",
        help="the documents to judge; FILE.plan.csv has the probabilities",
    )
    parser.add_argument("--budget", type=int, metavar="N", help="plan: number of human judgments")
    parser.add_argument(
        "--topics",
        type=int,
        default=0,
        metavar="N",
        help="plan: number of topics to judge in full, for nDCG and ERR",
    )
    parser.add_argument(
        "--depth",
        type=int,
        metavar="N",
        help="with --topics: judge to this rank; also limits the ideal ranking (default: twice the cutoff)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="plan: random seed (default: 0)")
    parser.add_argument(
        "--labels", metavar="FILE", help="estimate: qrels file with the human judgments of the pool"
    )
    parser.add_argument(
        "--simultaneous", action="store_true", help="estimate: 95 %% confidence for all intervals at once"
    )
    parser.add_argument(
        "--between", nargs=2, metavar="RUN", help="compare only these two runs; default: all pairs"
    )
    arguments.add_context(parser, "all others")
    arguments.add_table(parser)


def run(args: argparse.Namespace) -> None:
    """Writes a plan and says how many judgments it asks for; or prints the table of :func:`.audit.estimate`."""
    check_table(args)
    needed = "budget" if args.step == "plan" else "labels"
    if getattr(args, needed) is None:
        raise ValueError(f"audit {args.step} needs --{needed}; see --help")
    if args.step == "plan" and (args.output_format or args.sort):
        raise ValueError("audit plan prints no table; leave out --output_format (-o) and --sort")
    from .. import audit
    from .inputs import read

    if args.step == "plan":
        check_plan(args, "--pool", args.pool, args.labels)
    elif not os.path.exists(args.labels) or os.path.isdir(args.labels):
        raise ValueError(f"--labels {args.labels!r} is no file; pass the human judgments as a qrels file")
    given = read(args)
    measures = [one for text in args.measures for one in split_measures(text)]
    between = args.between and tuple(given.asked_for("--between", name) for name in args.between)
    if args.step == "plan":
        options = {"between": between, "topics": args.topics, "depth": args.depth, "seed": args.seed}
        table = audit.plan(given.together, given.judgments, measures, args.budget, **options)
        write_plan(table, "--pool", args.pool)
        print(table.attrs["target"])
        print(f"{table['ask'].sum()} of {len(table)} documents to judge: {args.pool}")
        return
    judged = given.together, args.pool, args.labels, given.judgments, measures, between
    found = audit.estimate(*judged, simultaneous=args.simultaneous)
    show(found, args, about="" if args.output_format else found.attrs["target"])


def check_plan(args: argparse.Namespace, flag: str, path: str, labels: str | None) -> None:
    """Raises ValueError or OSError where a plan cannot be written, or what is there is something else."""
    from ..audit.planning import is_plan
    from ..bounding.judge_next import check_pool
    from ..work import check_writable
    from .inputs import find_files, named

    read = named(args, find_files(args).all()) | ({} if labels is None else {"the file of labels": labels})
    check_loss(path, read, "plan", is_plan, flag)
    check_writable(path, f"{flag} {path}")
    check_pool(path)


def write_plan(table: pd.DataFrame, flag: str, path: str) -> None:
    """Writes a plan; OSError, which names the flag, where it cannot be written."""
    from ..audit import planning

    with writing(path, "plan", flag):
        planning.write_plan(table, path)
