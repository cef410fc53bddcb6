"""The command ``ir_measures_relative``: ir_measures' own command line, and the runs to compare with.

A command is a file here. ``add_arguments`` adds its flags, ``FLAGS`` are those that ask for it, and ``check``, where
there is one, raises ValueError for flags that do not go together. One that answers with a table has ``lines``, which
gives it line by line. One that writes a file has ``prepare``, which looks whether it can be written before anything is
read, and ``write``. Imports at the top of these files must be light, since ``--help`` waits for them.
"""

from __future__ import annotations

import argparse
import glob
import os
import subprocess
import sys
import warnings
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Any, NoReturn

import ir_measures

from .. import __version__
from ..measures.strings import is_relative, parse_measure, registered, split_measures
from ..messages import is_text
from ..priors import NAMED
from . import cite, compare, plot, report, score, unjudged
from .output import (
    DEFAULT_PLACES,
    PROG,
    check_folder,
    drop_output,
    given_flags,
    in_these_terms,
    leaving_in_order,
    open_streams,
    say,
    tidy_warnings,
)

# In the order of their flags in the help; of the tables, the first that is asked for answers, else the scores.
_FILES = (plot, report)
_TABLES = (unjudged, compare)
_COMMANDS: tuple[Any, ...] = (*_FILES, *_TABLES, score, cite)

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
    141, as usual, where the user interrupts or whoever reads the output stops reading, and 129 and 143 where the
    terminal is closed or somebody ends the process.
    """
    with leaving_in_order():
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
    except SystemExit as leave:  # by a signal
        return int(str(leave.code))
    except _BAD_INPUT as error:
        say("error", in_these_terms(error))
        return 2


def _run(arguments: Sequence[str] | None) -> int:
    try:
        args = _parse(arguments)
    except SystemExit as leave:  # argparse has said what there is to say: help, version, wrong arguments
        return leave.code if isinstance(leave.code, int) else 0
    measures = _read_measures(args.measures)
    # What follows reads runs; help, and a mistake in the arguments, need not wait for its import.
    from . import inputs

    provider = _provider_of(args.provider, measures)
    files = inputs.files_of_runs(args)
    written = [command for command in _FILES if given_flags(args, *command.FLAGS)]
    for command in written:
        command.prepare(args, measures, inputs.named(args, files))
    given = inputs.read(args, measures, files, provider)
    table = next((command for command in _TABLES if given_flags(args, *command.FLAGS)), score)
    for line in table.lines(given):
        print(line)
    for command in written:
        command.write(given)
    return 0


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One line instead of the whole usage."""
        say("error", f"{message}; see {PROG} --help")
        sys.exit(2)

    def _print_message(self, message: str, file: Any = None) -> None:
        """As argparse does, which says nothing where it cannot write."""
        (file or sys.stderr).write(message)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The arguments, checked, with what all commands share and what each adds; SystemExit: argparse has answered."""
    parser = _Parser(
        prog=PROG,
        usage=f"{PROG} QRELS RUN MEASURE… --prior RUN [--prior RUN …] [--reference RUN] [options]\n"
        f"       {PROG} QRELS FOLDER MEASURE… [--priors POLICY] [--groups CSV] [--plot FILE] [--report FILE] "
        "[options]\n"
        f"       {PROG} --cite MEASURE…",
        description="Scores a run relative to other runs, or every run of a folder relative to the others.",
        epilog=_epilog(),
        formatter_class=partial(argparse.RawDescriptionHelpFormatter, max_help_position=30, width=100),
    )
    parser.add_argument(
        "qrels",
        metavar="QRELS",
        help="a TREC qrels file, plain or packed (.gz, .bz2, .xz), or an ir_datasets id",
    )
    parser.add_argument(
        "run",
        metavar="RUN",
        help="a TREC run file, plain or packed; or a folder of run files (or a glob in quotes), each of which is "
        "scored, one row a run",
    )
    parser.add_argument(
        "measures",
        metavar="MEASURE",
        nargs="+",
        help="measures of this package and of ir_measures, such as nDCG@10 or \"NRG(base='RBP')@10\"; one "
        "argument may hold several, separated by spaces",
    )
    parser.add_argument(
        "--places", "-p", type=int, default=DEFAULT_PLACES, help="decimal places; -1 for all (default: 4)"
    )
    parser.add_argument(
        "--by_query", "-q", action="store_true", help="a row for every query, then the summary"
    )
    providers = [name for name in ir_measures.providers.registry if name != "relative"]
    parser.add_argument("--no_summary", "-n", action="store_true", help="with -q: without the summary")
    parser.add_argument("--output_format", "-o", choices=("tsv", "jsonl"), default="tsv", help="default: tsv")
    parser.add_argument(
        "--provider",
        choices=ir_measures.providers.registry,
        metavar="NAME",
        help="the ir_measures provider of the measures that are not relative: " + ", ".join(providers),
    )
    parser.add_argument("--num_docs", type=int, metavar="N", help="the number of documents in the collection")
    parser.add_argument(
        "--reference",
        metavar="RUN",
        help="the run that MED, RBO, RBA and lexiprecision compare with: a file, or the name of a run in the folder",
    )
    single = parser.add_argument_group("where RUN is a file")
    single.add_argument(
        "--prior",
        action="append",
        default=[],
        metavar="RUN",
        help="a run that the searcher has seen before; may be given several times, and may be a folder",
    )
    folder = parser.add_argument_group("where RUN is a folder")
    folder.add_argument(
        "--priors",
        choices=tuple(NAMED),
        metavar="POLICY",
        help="the priors of a run: others (default), earlier (those before it, in the order of the file names), "
        "or best-of-other-groups (the best run of every other group by nDCG@10; needs --groups)",
    )
    folder.add_argument(
        "--groups", metavar="CSV", help="a file of two columns, run,group, a line for every run"
    )
    for command in _COMMANDS:
        command.add_arguments(parser, folder)
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    args = parser.parse_intermixed_args(arguments)
    args.arguments = sys.argv[1:] if arguments is None else arguments
    args.is_folder = os.path.isdir(args.run) or (not os.path.exists(args.run) and glob.has_magic(args.run))
    _check(args)
    return args


def _epilog() -> str:
    ours = registered().values()
    width = max(len(m.NAME) for m in ours)
    return "\n".join(
        [
            "examples:",
            f"  {PROG} qrels.txt candidate.run \"NRG(norm='ideal')@10 UniqueRel@10\" --prior production.run",
            f"  {PROG} qrels.txt candidate.run 'rrLP MED@10' --reference production.run -q",
            f"  {PROG} qrels.txt runs/ \"nDCG@10 NRG(norm='ideal')@10 UniqueRel@10\" --plot campaign.png",
            f"  {PROG} qrels.txt runs/ \"nDCG@10 NRG(norm='ideal')@10 UniqueRel@10\" --report it.html",
            f"  {PROG} vaswani runs/ nDCG@10 NRG@10 --priors earlier -o jsonl",
            "",
            "relative measures:",
            *(f"  {m.NAME:{width}}  {m.SHORT_DESC}" for m in sorted(ours, key=lambda m: m.NAME.lower())),
        ]
    )


_MOST_PLACES = 1074  # no double has more


def _check(args: argparse.Namespace) -> None:
    """Raises ValueError for arguments that do not go together, before anything is read."""
    if args.no_summary and not args.by_query:
        raise ValueError(
            "--no_summary (-n) leaves out the summary of --by_query (-q): give -q as well, or no -n"
        )
    if not -1 <= args.places <= _MOST_PLACES:
        raise ValueError(
            f"--places {args.places}: give 0 or more, up to {_MOST_PLACES}, or -1 for all places"
        )
    if args.output_format == "jsonl" and args.places != DEFAULT_PLACES:
        warnings.warn("--places is ignored with --output_format jsonl, which has all places", stacklevel=2)
    for command in _COMMANDS:
        if hasattr(command, "check"):
            command.check(args)
    if args.is_folder:
        if args.prior:
            raise ValueError(
                "--prior goes with one run file; in a folder the runs are each other's priors: choose with --priors"
            )
        if args.priors and NAMED[args.priors].needs_groups and not args.groups:
            raise ValueError(f"--priors {args.priors} needs the groups: give --groups CSV")
    check_folder(args, "priors", "groups", "plot", "report")


def _read_measures(arguments: Iterable[str]) -> list[ir_measures.Measure]:
    found: dict[ir_measures.Measure, None] = {}
    for text in chain.from_iterable(map(split_measures, arguments)):
        if len(text) < 1000 and os.path.exists(text):
            raise ValueError(
                f"{text!r} is a file, not a measure: give QRELS, one RUN (or a folder of runs), then measures; a run "
                f"to compare with goes after --prior"
            )
        if not is_text(text):
            raise ValueError(f"{text!r} is not a measure, since it is not text; give one such as NRG@10")
        found[parse_measure(text)] = None
    if not found:
        raise ValueError("no measure is given; name one, such as NRG@10")
    return list(found)


def _provider_of(name: str | None, measures: Sequence[ir_measures.Measure]) -> Any:
    """What computes the absolute measures: ir_measures, or the one of its providers that is named."""
    if name is None:
        return ir_measures.DefaultPipeline
    provider = ir_measures.providers.registry[name]
    other = [str(m) for m in measures if not is_relative(m) and not provider.supports(m)]
    if other:
        raise ValueError(f"--provider {name} does not compute {', '.join(other)}; leave --provider out")
    return provider
