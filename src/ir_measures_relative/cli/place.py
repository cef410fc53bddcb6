"""``place``: where a run stands in a track."""

from __future__ import annotations

import argparse

import ir_measures_relative as package

from . import arguments
from .arguments import Command, add_option
from .output import wrap
from .tables import print_table


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run file")
    add_option(parser, "--track TRACK", arguments.TRACK, required=True)
    add_option(parser, "--qrels QRELS", "judgments; by default the track's own")
    arguments.add_options(parser, "--llm-judgments")
    add_option(parser, "--output FILE", "also draw a picture: .png, .pdf, .svg …")
    arguments.add_table(parser, is_text=True)


def _run(args: argparse.Namespace) -> None:
    from .inputs import read_qrels
    from .plot import check_picture, draw_runs

    if args.output is not None:
        check_picture(args.output, {"the run": args.run, "the track": args.track})
    context = package.RunContext.from_track(args.track)
    qrels = None if args.qrels is None else read_qrels(args.qrels)[0]
    placed = package.place(context, qrels, args.run, llm_judgments=args.llm_judgments)
    if args.output is not None:
        from ..decisions.place import BY

        draw_runs(args.output, placed.runs, BY[1], BY[0], placed.groups)
    if args.output_format is None:
        print(f"{wrap(placed.text)}\n\n{str(placed).partition(chr(10) * 2)[2]}")
    else:
        print_table(placed.table, args)


place = Command(
    "RUN --track TRACK [--qrels QRELS] [--output FILE] [options]",
    "campaign/runs/3-grams.run --track demo --qrels campaign/qrels.txt",
    _add_arguments,
    _run,
)
