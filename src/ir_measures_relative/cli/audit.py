"""``audit``: a language model labels everything, people label a sample; which documents, and then what is certain."""

from __future__ import annotations

import argparse

from ..measures.strings import split_measures
from . import arguments
from .tables import check_table, show

USAGE = "plan|estimate QRELS RUNS MEASURE… --pool FILE [options]"
EXAMPLE = "plan campaign/qrels.txt campaign/runs P@10 --budget 100 --pool pool.txt"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The plan, and the labels."""
    parser.add_argument(
        "step",
        choices=("plan", "estimate"),
        metavar="plan|estimate",
        help="plan: write the documents for people to label; estimate: what all human labels would say",
    )
    arguments.add_runs(parser, to=(), qrels=": the labels of the model")
    arguments.add_measures(parser)
    parser.add_argument(
        "--pool",
        required=True,
        metavar="FILE",
        help="the documents to label; FILE.plan.csv beside it has the chances",
    )
    parser.add_argument("--budget", type=int, metavar="N", help="plan: how many labels people can give")
    parser.add_argument(
        "--topics",
        type=int,
        default=0,
        metavar="N",
        help="plan: topics to label in full, for nDCG and its like",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="plan: of the draw (default: 0)")
    parser.add_argument(
        "--labels", metavar="FILE", help="estimate: qrels by people of the documents in the pool"
    )
    parser.add_argument(
        "--simultaneous", action="store_true", help="estimate: all intervals hold at once, with 95 %%"
    )
    parser.add_argument("--between", nargs=2, metavar="RUN", help="these two runs alone; default: all pairs")
    arguments.add_context(parser)
    arguments.add_table(parser)


def run(args: argparse.Namespace) -> None:
    """Writes a plan and says how many labels it asks for; or prints the table of :func:`.estimates.estimate`."""
    check_table(args)
    needed = "budget" if args.step == "plan" else "labels"
    if getattr(args, needed) is None:
        raise ValueError(f"audit {args.step} needs --{needed}; see --help")
    from .. import audit
    from .inputs import read

    given = read(args)
    measures = [one for text in args.measures for one in split_measures(text)]
    between = args.between and tuple(given.asked_for("--between", name) for name in args.between)
    if args.step == "plan":
        options = {"between": between, "topics": args.topics, "seed": args.seed, "path": args.pool}
        table = audit.plan(given.together, given.judgments, measures, args.budget, **options)
        print(table.attrs["target"])
        print(f"{table['ask'].sum()} of {len(table)} documents to label: {args.pool}")
        return
    judged = given.together, args.pool, args.labels, given.judgments, measures, between
    found = audit.estimate(*judged, simultaneous=args.simultaneous)
    if args.output_format is None:
        print(found.attrs["target"])
    show(found, args)
