"""The command ``ir_measures_relative``: ir_measures' own command line, and the runs to compare with."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence

from ..measures.declaration import is_relative
from .arguments import parse_arguments, provider_of, read_measures
from .inputs import check_context, check_newcomer, files_of_runs, read_context, read_qrels
from .output import check_plot, drop_output, in_these_terms, lines, plot, say, tidy_warnings
from .scores import score

# What wrong input raises, here and in ir_measures and its providers; anything else is a mistake of this package.
_BAD_INPUT = (ValueError, OSError, EOFError, ImportError, RuntimeError, subprocess.SubprocessError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command, and returns its exit code.

    0 if all went well, 2 for input that is wrong, with one line on stderr; 130 and 141, as usual, where the
    user interrupts or whoever reads the output stops reading.
    """
    try:
        with tidy_warnings():
            _run(parse_arguments(arguments))
        sys.stdout.flush()
        return 0
    except BrokenPipeError:
        drop_output()
        return 141
    except KeyboardInterrupt:
        return 130
    except _BAD_INPUT as error:
        say("error", in_these_terms(error))
        drop_output()
        return 2


def _run(args: argparse.Namespace) -> None:
    measures = read_measures(args.measures)
    provider = provider_of(args.provider, [m for m in measures if not is_relative(m)])
    axes = check_plot(args.plot, measures) if args.plot else None
    files = files_of_runs(args)
    judged = read_qrels(args.qrels)
    context, scored = read_context(args, files, judged.num_docs if args.num_docs is None else args.num_docs)
    check_context(context, measures, args)
    if not args.is_folder:
        check_newcomer(context, judged, scored[0])
    scores = score(context, scored, measures, judged, provider)
    for line in lines(scores, args):
        print(line)
    if axes is not None:
        plot(args.plot, scores.table(), *axes, dict(context.groups))
