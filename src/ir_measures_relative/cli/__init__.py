"""The command ``ir_measures_relative``: ir_measures' own command line, and the runs to compare with.

A command is a file here: ``add_arguments`` adds its flags, and ``check`` raises ValueError for flags that do not go
together. One that answers with a table has ``lines``, which gives it line by line. One that writes a file has
``prepare``, which looks whether it can be written before anything is read, and ``write``. Both have ``wanted``: whether
it is asked for. Imports at the top of these files must be light, since ``--help`` waits for them.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

from . import cite, compare, plot, report, score, unjudged
from .arguments import parse_arguments, provider_of, read_measures
from .output import drop_output, in_these_terms, open_streams, say, tidy_warnings

# In the order of their flags in the help; of the tables, the first that is wanted answers.
_FILES = (plot, report)
_TABLES = (unjudged, compare, score)
_COMMANDS = (*_FILES, *_TABLES, cite)

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
        return 130
    except _BAD_INPUT as error:
        say("error", in_these_terms(error))
        return 2


def _run(arguments: Sequence[str] | None) -> int:
    try:
        args = parse_arguments(_COMMANDS, arguments)
    except SystemExit as leave:  # argparse has said what there is to say: help, version, wrong arguments
        return leave.code if isinstance(leave.code, int) else 0
    measures = read_measures(args.measures)
    # What follows reads runs; help, and a mistake in the arguments, need not wait for its import.
    from . import inputs

    provider = provider_of(args.provider, measures)
    files = inputs.files_of_runs(args)
    written = [command for command in _FILES if command.wanted(args)]
    for command in written:
        command.prepare(args, measures, inputs.named(args, files))
    given = inputs.read(args, measures, files, provider)
    table = next(command for command in _TABLES if command.wanted(args))
    for line in table.lines(given):
        print(line)
    for command in written:
        command.write(given)
    return 0
