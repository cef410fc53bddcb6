"""The command ``ir_measures_relative``: one subcommand a question, and ir_measures' own command line as ``score``.

A subcommand is a :class:`~.arguments.Command` of its name in a file here, and its line in :data:`COMMANDS`. ``--help``
waits for what that file imports at the top.
"""

from __future__ import annotations

import difflib
import os
import subprocess
import sys
import traceback
from argparse import RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib import import_module

from .. import __version__
from .arguments import Command, Parser, make_parser
from .output import PROG, drop_output, exit_on_signals, in_these_terms, open_streams, say, tidy_warnings
from .tables import check_table

#: The subcommands and what each answers, in the order of the help.
COMMANDS = {
    "worth": "decide whether to keep the deployed runs, add a candidate, or replace a run with it",
    "drop": "find the deployed runs that you can remove",
    "decide": "find the best of several set-ups at the same cost",
    "score": "score one run, or each run of a folder",
    "compare": "test whether the difference between two runs is significant",
    "fuse": "choose the runs to fuse, and measure the gain on held-out topics",
    "select": "choose complementary runs, for pooling or for users who read several lists",
    "unjudged": "check whether unjudged documents can change the result; list what to judge first",
    "explain": "list the documents that a run adds",
    "similar": "find similar runs, with judgments or without",
    "trajectory": "find what each further search of an agent or a session was worth",
    "track": "make, show or check a track: the runs of a test collection as one file",
    "place": "find where a run stands in a track, what it adds, and what it resembles",
    "plot": "draw what each run adds (y-axis) and its own effectiveness (x-axis)",
    "report": "write an HTML report",
    "cite": "print the papers to cite for measures, as BibTeX",
}

# The files of subcommands that share one.
_FILES = {"worth": "decide", "drop": "decide"}

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
    """Run the command and return its exit code.

    0 is an answer, 2 wrong input, 70 a mistake of this package, 1 and 3 what ``--gate`` says; 129, 130, 141 and 143 are
    those usual for signals.
    """
    with exit_on_signals():
        code = _exit_code(arguments)
    drop_output()
    return code


def _exit_code(arguments: Sequence[str] | None) -> int:
    try:
        open_streams()
        with tidy_warnings():
            code = _run(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        return 141
    except KeyboardInterrupt:
        return 130
    except SystemExit as leave:  # by a signal
        return int(str(leave.code))
    except _BAD_INPUT as error:
        say("error", in_these_terms(error))
        return 2
    except Exception:  # must not look like an answer, and 1 is one
        traceback.print_exc()
        return 70


def load_command(name: str) -> Command:
    """Import a subcommand."""
    return getattr(import_module(f".{_FILES.get(name, name)}", __name__), name)


def _run(words: list[str]) -> int:
    name = _command_name(words)
    command = None if name is None else load_command(name)
    try:
        parser = make_parser(name, COMMANDS[name], command) if name and command else _main_parser()
        args = parser.parse_intermixed_args(words[1:] if words[:1] == [name] else words)
    except SystemExit as leave:  # argparse has printed the help, the version or what is wrong
        return leave.code if isinstance(leave.code, int) else 0
    if command is None:
        parser.print_help(sys.stdout)
        return 0
    args.arguments = words
    check_table(args)
    return command.run(args) or 0


def _command_name(words: Sequence[str]) -> str | None:
    """Return the subcommand that the first word names, else ``score``, as in ir_measures; None for the main help."""
    if not words or words[0] in ("-h", "--help", "--version"):
        return None
    first = words[0]
    if first in COMMANDS:
        return first
    if not first.startswith("-") and not os.path.exists(first):
        unknown = f"no command and no file is called {first!r}"
        if similar := difflib.get_close_matches(first.lower(), COMMANDS, n=1, cutoff=0.75):
            raise ValueError(f"{unknown}; did you mean {similar[0]}?")
        if len(words) < 3:  # fewer than QRELS, RUN and MEASURE
            raise ValueError(f"{unknown}; the commands are {', '.join(COMMANDS)}")
    return "score"


def _main_parser() -> Parser:
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name:{width}}  {summary}" for name, summary in COMMANDS.items())
    parser = Parser(
        prog=PROG,
        usage=f"{PROG} COMMAND …",
        description=f"""\
Score, compare and combine runs, and decide which ones to keep, add, replace or drop.

commands ({PROG} COMMAND --help lists the options):
{commands}

Without COMMAND, score runs: {PROG} QRELS RUN MEASURE…, as in ir_measures.""",
        epilog=f"""\
example:
  python -m {PROG}.demo campaign    # writes a sample folder: judgments and seven runs
  {PROG} worth campaign/qrels.txt campaign/runs/3-grams.run \\
    --to campaign/runs/BM25.run

exit codes: 0 answered; 2 wrong input; 70 internal error.
With --gate: 0 a change is better; 1 keep the deployed runs; 3 open.""",
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    return parser
