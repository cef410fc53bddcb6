"""``fuse``: which runs to fuse, and what that is worth on held-out topics."""

from __future__ import annotations

import argparse

import ir_measures_relative as package

from ..messages import few
from . import arguments
from .arguments import Command
from .tables import cell_text, print_answer

_COLUMNS = ("strategy", "n", "names", "held_out", "difference", "ci_lower", "ci_upper", "in_sample")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser, to="")
    arguments.add_measure(parser, "nDCG@10")
    arguments.add_option(parser, "--number N", "number of runs to fuse (default: %(default)s)", default=2)
    arguments.add_option(parser, "--method METHOD", "rrf (default), isr, combsum or combmnz", default="rrf")
    text = "number of documents to fuse from each run (default: 1000, or all that a track has)"
    arguments.add_option(parser, "--depth DEPTH", text, type=int)
    text = "how runs are chosen (default: %(default)s; also: complementary); with many runs, leave out exact"
    arguments.add_option(parser, "--strategies NAMES", text, default="single,top,greedy,exact,all")
    arguments.add_options(parser, "--missing")
    arguments.add_table(parser, answers=True)


def _run(args: argparse.Namespace) -> None:
    measure = arguments.named_measure(args)
    from .inputs import read

    given = read(args)
    table = package.fuse(
        given.together,
        given.judgments,
        args.number,
        measure,
        method=args.method,
        depth=args.depth,
        strategies=args.strategies.split(","),
        missing=args.missing,
    )
    shown = table.copy()
    if not args.output_format:  # else long lists are whole
        most = max(args.number, 3)
        shares = (
            [f"{name} {cell_text(share, args.places)}" for name, share in chosen.items()]
            for chosen in table["chosen"]
        )
        shown["names"] = [few(names, most) for names in table["names"]]
        shown["chosen"] = [few(names, most) for names in shares]
    print_answer(table, args, _COLUMNS, shown)


fuse = Command(
    "QRELS RUNS [MEASURE] [--number N] [options]",
    "campaign/qrels.txt campaign/runs nDCG@10 --number 3",
    _add_arguments,
    _run,
)
