"""The command ``ir_measures_relative``: ir_measures' own command line, and the runs to compare with."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

from ..interrupts import INTERRUPTED, as_exceptions
from ..measures.strings import is_relative
from . import comparisons, unjudged
from .arguments import parse_arguments, provider_of, read_measures
from .output import drop_output, in_these_terms, lines, open_streams, say, tidy_warnings

# What wrong input raises, here and in ir_measures and its providers; anything else is a mistake of this package.
_BAD_INPUT = (
    ValueError,
    OSError,
    EOFError,
    ImportError,
    RuntimeError,
    MemoryError,
    subprocess.SubprocessError,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command, and returns its exit code.

    0 if all went well, 2 for input that is wrong or output that cannot be written, with one line on stderr; 130 and
    141, as usual, where the user interrupts or whoever reads the output stops reading.
    """
    with as_exceptions():
        code = _exit_code(arguments)
        drop_output()
        return code


def _exit_code(arguments: Sequence[str] | None) -> int:
    try:
        open_streams()
        with tidy_warnings():
            code = _run(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        return 141
    except KeyboardInterrupt:
        return INTERRUPTED
    except _BAD_INPUT as error:
        say("error", in_these_terms(error))
        return 2


def _run(arguments: Sequence[str] | None) -> int:
    try:
        args = parse_arguments(arguments)
    except SystemExit as leave:  # argparse has said what there is to say: help, version, wrong arguments
        return leave.code if isinstance(leave.code, int) else 0
    measures = read_measures(args.measures)
    # What follows reads runs; help, and a mistake in the arguments, need not wait for its import.
    from .inputs import check_context, check_newcomer, files_of_runs, input_files, read_context, read_qrels
    from .scores import score

    provider = provider_of(args.provider, [m for m in measures if not is_relative(m)])
    files = files_of_runs(args)
    if args.plot:
        from .picture import check_plot, plot

        axes = check_plot(args.plot, measures, input_files(args, files))
    if args.report:
        from .page import check_report, write_report

        check_report(args, input_files(args, files))
    judged = read_qrels(args.qrels)
    context, scored = read_context(args, files, judged.num_docs if args.num_docs is None else args.num_docs)
    check_context(context, measures, args)
    if not args.is_folder:
        check_newcomer(context, judged, scored[0])
    if unjudged.wants(args):
        for line in unjudged.lines(context, measures, judged, args):
            print(line)
        return 0
    if args.compare:
        for line in comparisons.compared(context, measures, judged, args, files):
            print(line)
        return 0
    scores = score(context, scored, measures, judged, provider)
    for line in comparisons.with_intervals(scores, args) if args.ci else lines(scores, args):
        print(line)
    if args.plot:
        plot(args.plot, scores.table(), *axes, dict(context.groups))
    if args.report:
        write_report(args, arguments, context, scores, judged)
    return 0
