"""``place``: where a run stands in a track."""

from __future__ import annotations

import argparse

import ir_measures_relative as package

from . import arguments
from .output import check_loss, wrapped, writing
from .tables import check_table, show

USAGE = "RUN --track TRACK [--qrels QRELS] [--output FILE] [options]"
EXAMPLE = "campaign/runs/3-grams.run --track demo --qrels campaign/qrels.txt"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run file")
    parser.add_argument("--track", metavar="TRACK", required=True, help=arguments.TRACK)
    parser.add_argument("--qrels", metavar="QRELS", help="judgments; by default the track's own")
    arguments.add_llm_judgments(parser)
    parser.add_argument("--output", metavar="FILE", help="also draw a picture: .png, .pdf, .svg …")
    arguments.add_table(parser)


def run(args: argparse.Namespace) -> None:
    check_table(args)
    from .inputs import read_qrels

    context = package.RunContext.from_track(args.track)
    qrels = None if args.qrels is None else read_qrels(args.qrels).columns
    answer = package.place(context, qrels, args.run, llm_judgments=args.llm_judgments)
    if args.output is not None:
        from ..decisions.place import BY
        from ..io.files import is_picture
        from ..plots import new_figure, relative_against_absolute
        from ..work import write_whole

        check_loss(args.output, {"the run": args.run, "the track": args.track}, "picture", is_picture)
        figure = new_figure()
        relative_against_absolute(answer.runs, BY[1], BY[0], groups=answer.groups, ax=figure.subplots())
        with writing(args.output, "picture"):
            write_whole(args.output, lambda beside: figure.savefig(beside, dpi=150))
    if args.output_format is None:
        print(f"{wrapped(answer.text)}\n\n{str(answer).partition(chr(10) * 2)[2]}")
    else:
        show(answer.table, args)
