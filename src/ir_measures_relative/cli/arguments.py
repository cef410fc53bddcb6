"""Subcommands and their parsers, the arguments that they share, and the measures that these name."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, NoReturn

import ir_measures

from ..context.measure_strings import is_relative, nearest_name, parse_measure, split_measures
from .output import PROG, say
from .tables import FORMATS

#: The ways to name a track, for the help.
TRACK = "a .track file, a name of the catalogue (vaswani, demo), or URL#sha256=HASH"


class Command(NamedTuple):
    """A subcommand."""

    usage: str  #: its arguments, without the name
    example: str  #: arguments that work on what ``python -m ir_measures_relative.demo campaign`` writes
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int | None]  #: returns the exit code; None is 0


class Parser(argparse.ArgumentParser):
    """A parser whose error is one line."""

    def error(self, message: str) -> NoReturn:
        """Print the message, with what was probably meant, and exit."""
        unknown = message.removeprefix("unrecognized arguments: ").split()
        if unknown and unknown[0].startswith("-") and message.startswith("unrecognized"):
            option = unknown[0].partition("=")[0]
            if option == "--track" and "--to" in self._option_string_actions:
                option = "--to"  # which takes a track too
            nearest = nearest_name(option, list(self._option_string_actions))
            message += f"; did you mean {nearest}?" if nearest else ""
        elif message.startswith("unrecognized") and "--to" in self._option_string_actions:
            message += "; the runs to compare with go behind --to"
        say("error", f"{message}; see {self.prog} --help")
        sys.exit(2)

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        if action.option_strings and arg_strings == ["--"]:  # argparse makes an empty list of it
            self.error(f"argument {'/'.join(action.option_strings)}: -- is not a value")
        return super()._get_values(action, arg_strings)  # type: ignore[misc]

    def _print_message(self, message: str, file: Any = None) -> None:
        (file or sys.stderr).write(message)  # argparse ignores what it cannot write


def make_parser(name: str, summary: str, command: Command) -> Parser:
    """Return the parser of a subcommand."""
    prog = f"{PROG} {name}"
    parser = Parser(
        prog=prog,
        usage=f"{prog} {command.usage}",
        description=summary[0].upper() + summary[1:],
        epilog=f"example, after python -m {PROG}.demo campaign:\n  {prog} {command.example}",
        formatter_class=partial(argparse.RawDescriptionHelpFormatter, max_help_position=24, width=100),
    )
    command.add_arguments(parser)
    return parser


# The type of what an option takes, by how its usage calls it; else it is text.
_TYPES = {"N": int, "K": int, "X": float, "C": float}

#: Options that several commands have, by their usage: the help, and further arguments of :func:`add_option`.
OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "--allow-empty": ("a run file may hold no ranking, which is an error otherwise", {}),
    "-q --by_query": ("print a row for every query", {}),
    "--drop-self": ("remove the document whose id is the query's from every run, as BEIR does", {}),
    "--grades LOW HIGH": ("lowest and highest grade of the collection", {"type": int}),
    "--groups CSV": ("two columns: run, group; other runs get the group 'other'", {}),
    "--llm-judgments FILE": ("judgments by a language model, for the relevance model", {}),
    "--missing HOW": (
        "topics that a run has no ranking for: zero (empty rankings) or drop (left out for all runs). Default: zero, "
        "if each run misses at most one topic in twenty; else an error",
        {"choices": ("zero", "drop")},
    ),
    "--names CSV": ("two columns: run file or tag, display name", {}),
    "--num_docs N": ("number of documents in the collection", {}),
    "--provider NAME": (
        "ir_measures provider that computes absolute measures, such as pytrec_eval",
        {"choices": ir_measures.providers.registry},
    ),
    "--reference RUN": ("the run that MED, RBO, rrLP … compare with", {}),
    "--track TRACK": (f"the runs of a track, as those of --to: {TRACK}", {}),
}


def add_option(parser: argparse._ActionsContainer, usage: str, text: str, **more: Any) -> None:
    """Add an option by its usage, such as "--judge N" or "--grades LOW HIGH"; what takes no value is a flag."""
    names = [word for word in usage.split() if word.startswith("-")]
    takes = usage.split()[len(names) :]
    if not takes:
        more["action"] = "store_true"
    else:
        more = {"type": _TYPES.get(takes[0]), "metavar": takes[0]} | more
    if len(takes) > 1:
        more |= {"nargs": len(takes), "metavar": tuple(takes)}
    parser.add_argument(*names, help=text, **more)


def add_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add some of :data:`OPTIONS`."""
    for name in names:
        usage = next(usage for usage in OPTIONS if name in usage.split())
        add_option(parser, usage, OPTIONS[usage][0], **OPTIONS[usage][1])


def add_runs(
    parser: argparse.ArgumentParser, metavar: str = "RUNS", *, to: str = "--to RUNS", qrels: str = ""
) -> None:
    """Add QRELS, the runs that the command is about, and those that they are compared with."""
    text = f"judgments: a TREC qrels file (may be compressed), or an ir_datasets id{qrels}"
    parser.add_argument("qrels", metavar="QRELS", help=text)
    text = "a run file, a folder of run files, a glob in quotes, or - for standard input"
    parser.add_argument("run", metavar=metavar, help=text)
    if to:
        text = (
            f"runs to compare {metavar} with: file, folder or glob; repeatable. Without --to: with each other"
        )
        add_option(parser, to, text, dest="to", action="append")
    add_options(parser, "--names", "--drop-self", "--allow-empty")
    # Options that the readers of runs need, although not every command has them.
    absent = dict.fromkeys(("priors", "groups", "reference", "track", "baseline", "num_docs", "grades"))
    parser.set_defaults(metavar=metavar, to=[], others=[], **absent)


def add_context(parser: argparse.ArgumentParser) -> None:
    """Add what makes a context of the runs."""
    from ..context.priors import POLICIES

    text = (
        "runs that each run is scored against. Default: those of --to, else all others. earlier: those before it "
        "by name; best-of-other-groups: the best of each other group by nDCG@10 (needs --groups)"
    )
    add_option(parser, "--priors POLICY", text, choices=tuple(POLICIES))
    add_options(parser, "--groups", "--reference", "--track", "--num_docs", "--grades")


def add_measures(parser: argparse.ArgumentParser, *defaults: str) -> None:
    """Add MEASURE…, of which there must be one where there are no defaults."""
    default = f"; default: {' '.join(defaults)}" if defaults else ""
    text = f"measures of this package or of ir_measures: nDCG@10, \"NRG(base='RBP')@10\"{default}"
    nargs = "*" if defaults else "+"
    parser.add_argument("measures", metavar="MEASURE", nargs=nargs, default=list(defaults), help=text)


def add_measure(parser: argparse.ArgumentParser, default: str) -> None:
    """Add the one measure of a command."""
    parser.add_argument("measures", metavar="MEASURE", nargs="?", default=default, help=f"default: {default}")


def add_table(parser: argparse.ArgumentParser, answers: bool = False, is_text: bool = False) -> None:
    """Add the format of a table; of a command that ``answers`` in a sentence and a short table, also its columns.

    ``is_text``: by default, the command prints an answer as in Python, of which no option changes the table.
    """
    default = "the answer, and a short table" if answers or is_text else "tsv, aligned on a terminal"
    parser.set_defaults(is_text=is_text)
    if answers:
        add_option(parser, "--columns NAMES", "print these columns, with commas between; -o csv prints all")
    text = f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}; default: {default}"
    add_option(parser, "-o --output_format FORMAT", text, choices=FORMATS)
    text = "decimal places; -1 for all (default: 4)"
    add_option(parser, "-p --places PLACES", text, type=int)
    add_option(parser, "--sort COLUMN", "sort by this column: numbers descending, text ascending")


def named_measures(args: argparse.Namespace) -> list[ir_measures.Measure]:
    """Return the measures that the arguments name, each once; raises ValueError for anything else."""
    words: Sequence[str] = [args.measures] if isinstance(args.measures, str) else args.measures
    measures: dict[ir_measures.Measure, None] = {}
    for text in chain.from_iterable(map(split_measures, words)):
        if len(text) < 1000 and os.path.exists(text):
            raise ValueError(
                f"{text!r} is a file, not a measure; quote a glob; a run to compare with goes after --to"
            )
        if text.startswith("@") or re.search(r"@\d+,", text):
            raise ValueError(
                f"{text!r}: write a measure without spaces, such as nDCG@10, and two with a space between"
            )
        measures[parse_measure(text)] = None
    if not measures:
        raise ValueError("no measure is given; name one, such as NRG@10")
    return list(measures)


def named_measure(args: argparse.Namespace) -> ir_measures.Measure:
    """Return the one measure that the arguments name; raises ValueError for several."""
    measure, *more = named_measures(args)
    if more:
        raise ValueError(f"this takes one measure; leave out {', '.join(map(str, more))}")
    return measure


def named_provider(args: argparse.Namespace, measures: Sequence[ir_measures.Measure]) -> Any:
    """Return the provider of the absolute measures: ir_measures itself, or one of its providers by name."""
    if args.provider is None:
        return ir_measures.DefaultPipeline
    provider = ir_measures.providers.registry[args.provider]
    unsupported = [str(m) for m in measures if not is_relative(m) and not provider.supports(m)]
    if unsupported:
        raise ValueError(
            f"--provider {args.provider} does not compute {', '.join(unsupported)}; leave it out"
        )
    return provider
