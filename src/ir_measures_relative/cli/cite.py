"""``cite``: the papers behind measures, as BibTeX."""

from __future__ import annotations

import argparse
import itertools
import re
from collections.abc import Iterable

import ir_measures

from ..context.measure_strings import is_relative, no_such_measure, read_measure, registered, split_measures
from ..measures.measure import citations
from ..messages import few, warn
from .arguments import TRACK

USAGE = "MEASURE…"
EXAMPLE = "NRG UniqueRel"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "measures", metavar="MEASURE", nargs="+", help="by name or with parameters; 'all' for every measure"
    )
    parser.add_argument("--track", metavar="TRACK", help=f"how to cite values beside it, too: {TRACK}")


def run(args: argparse.Namespace) -> None:
    named = list(itertools.chain.from_iterable(map(split_measures, args.measures)))
    parts = entries(named)
    if args.track is not None:
        from ..context.run_context import RunContext

        track = RunContext.from_track(args.track).track
        sentences = [f"{_measure(text, text)} beside {track}" for text in named if text != "all"]
        parts = [*sentences, *filter(None, [track.about.get("citation")]), *parts]
    print("\n\n".join(parts))


def entries(texts: Iterable[str]) -> list[str]:
    """The entries of the measures that are named, each once, in the order of the file."""
    named = {text: found[0] for text in texts if (found := re.match(r"\w*", text))}
    names = [*named.values()]
    known, ours = ir_measures.measures.registry, registered()
    if not names:
        raise ValueError("cite: no measure is named; give one such as NRG, or all")
    for name in names:
        if name != "all" and name not in known:
            raise ValueError(f"cite: {no_such_measure(name, list(ours))}")
    if "all" in names:
        return citations(ours.values())
    of_host = [text for text, name in named.items() if not is_relative(known[name])]
    elsewhere = f"cite: see the documentation of ir_measures for the papers of {few(of_host)}"
    if len(of_host) == len(named):
        raise ValueError(f"{elsewhere}; here give one of {', '.join(ours)}, or all")
    if of_host:
        warn(elsewhere)
    return citations([_measure(text, name) for text, name in named.items() if text not in of_host])


def _measure(text: str, name: str) -> ir_measures.measures.Measure:
    """The measure with its parameters, where they can be read; they are not checked."""
    try:
        return read_measure(text)
    except ValueError:
        return ir_measures.measures.registry[name]
