"""What is asked for: the arguments of the command, and the measures among them."""

from __future__ import annotations

import argparse
import glob
import os
import sys
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import ir_measures

from .. import __version__
from ..measures.strings import is_relative, parse_measure, registered
from ..messages import is_text
from ..priors import NAMED
from .output import DEFAULT_PLACES, PROG, say


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One line instead of the whole usage."""
        say("error", f"{message}; see {PROG} --help")
        sys.exit(2)

    def _print_message(self, message: str, file: Any = None) -> None:
        """As argparse does, which says nothing where it cannot write."""
        (file or sys.stderr).write(message)


class _Help(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=100)


def parse_arguments(commands: Sequence[Any], arguments: Sequence[str] | None) -> argparse.Namespace:
    """The arguments, checked, with what all commands share and what each adds.

    Args:
        commands: the modules of the commands.
        arguments: those of the process if not given.

    Raises:
        SystemExit: argparse has answered.
        ValueError: arguments that do not go together.
    """
    parser = _Parser(
        prog=PROG,
        usage=f"{PROG} QRELS RUN MEASURE… --prior RUN [--prior RUN …] [--reference RUN] [options]\n"
        f"       {PROG} QRELS FOLDER MEASURE… [--priors POLICY] [--groups CSV] [--plot FILE] [--report FILE] "
        "[options]\n"
        f"       {PROG} --cite MEASURE…",
        description="Scores a run relative to other runs, or every run of a folder relative to the others.",
        epilog=_epilog(),
        formatter_class=_Help,
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
    parser.add_argument("--no_summary", "-n", action="store_true", help="with -q: without the summary")
    parser.add_argument("--output_format", "-o", choices=("tsv", "jsonl"), default="tsv", help="default: tsv")
    parser.add_argument(
        "--provider",
        choices=ir_measures.providers.registry,
        metavar="NAME",
        help="the ir_measures provider of the measures that are not relative: " + ", ".join(_providers()),
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
    for command in commands:
        command.add_arguments(parser, folder)
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    args = parser.parse_intermixed_args(arguments)
    args.arguments = sys.argv[1:] if arguments is None else arguments
    args.is_folder = os.path.isdir(args.run) or (not os.path.exists(args.run) and glob.has_magic(args.run))
    _check(args, commands)
    return args


def _epilog() -> str:
    ours = registered().values()
    width = max(len(m.NAME) for m in ours)
    return "\n".join(
        [
            "examples:",
            f"  {PROG} qrels.txt candidate.run nDCG@10 NRG@10 --prior production.run",
            f"  {PROG} qrels.txt candidate.run 'rrLP MED@10' --reference production.run -q",
            f"  {PROG} qrels.txt runs/ nDCG@10 NRG@10 UniqueRel@10 --plot campaign.png",
            f"  {PROG} qrels.txt runs/ nDCG@10 NRG@10 --report campaign.html",
            f"  {PROG} vaswani runs/ nDCG@10 NRG@10 --priors earlier -o jsonl",
            "",
            "relative measures:",
            *(f"  {m.NAME:{width}}  {m.SHORT_DESC}" for m in sorted(ours, key=lambda m: m.NAME.lower())),
        ]
    )


def _providers() -> list[str]:
    return [name for name in ir_measures.providers.registry if name != "relative"]


_MOST_PLACES = 1074  # no double has more


def _check(args: argparse.Namespace, commands: Sequence[Any]) -> None:
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
    for command in commands:
        command.check(args)
    if args.is_folder:
        if args.prior:
            raise ValueError(
                "--prior goes with one run file; in a folder the runs are each other's priors: choose with --priors"
            )
        if args.priors and NAMED[args.priors].needs_groups and not args.groups:
            raise ValueError(f"--priors {args.priors} needs the groups: give --groups CSV")
        return
    for flag in ("priors", "groups", "plot", "report"):
        if getattr(args, flag):
            raise ValueError(
                f"--{flag} goes with a folder of runs, and {args.run} is not one; give the folder as RUN"
            )


def read_measures(arguments: Iterable[str]) -> list[ir_measures.Measure]:
    found: dict[ir_measures.Measure, None] = {}
    for text in (t for argument in arguments for t in split_measures(argument)):
        found[_read_measure(text)] = None
    if not found:
        raise ValueError("no measure is given; name one, such as NRG@10")
    return list(found)


def split_measures(text: str) -> list[str]:
    """The measures of an argument, which spaces separate outside of brackets and quotes.

    >>> split_measures("nDCG@10 NRG(base='RBP', p=0.9)@10")
    ['nDCG@10', "NRG(base='RBP', p=0.9)@10"]
    """
    parts, depth, quote = [""], 0, ""
    for char in text:
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        else:
            depth += (char in "([{") - (char in ")]}")
        if char.isspace() and not quote and depth <= 0:
            parts.append("")
        else:
            parts[-1] += char
    return [p for p in parts if p]


def _read_measure(text: str) -> ir_measures.Measure:
    if len(text) < 1000 and os.path.exists(text):
        raise ValueError(
            f"{text!r} is a file, not a measure: give QRELS, one RUN (or a folder of runs), then measures; a run "
            f"to compare with goes after --prior"
        )
    if not is_text(text):
        raise ValueError(f"{text!r} is not a measure, since it is not text; give one such as NRG@10")
    return parse_measure(text)


def provider_of(name: str | None, measures: Sequence[ir_measures.Measure]) -> Any:
    """What computes the absolute measures: ir_measures, or the one of its providers that is named."""
    if name is None:
        return ir_measures
    provider = ir_measures.providers.registry[name]
    other = [str(m) for m in measures if not is_relative(m) and not provider.supports(m)]
    if other:
        raise ValueError(f"--provider {name} does not compute {', '.join(other)}; leave --provider out")
    return provider
