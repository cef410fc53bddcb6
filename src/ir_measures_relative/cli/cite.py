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
from .arguments import TRACK, Command, add_option


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    text = "by name or with parameters; 'all' for every measure"
    parser.add_argument("measures", metavar="MEASURE", nargs="+", help=text)
    add_option(parser, "--track TRACK", f"how to cite values beside it, too: {TRACK}")


def _run(args: argparse.Namespace) -> None:
    texts = list(itertools.chain.from_iterable(map(split_measures, args.measures)))
    parts = entries(texts)
    if args.track is not None:
        from ..context.run_context import RunContext

        track = RunContext.from_track(args.track).track
        sentences = [f"{_read(text, text)} beside {track}" for text in texts if text != "all"]
        parts = [*sentences, *filter(None, [track.about.get("citation")]), *parts]
    print("\n\n".join(parts))


def entries(texts: Iterable[str]) -> list[str]:
    """Return the BibTeX entries of measures, each once, in the order of the file."""
    names = {text: match[0] for text in texts if (match := re.match(r"\w*", text))}
    registry, relative = ir_measures.measures.registry, registered()
    if not names:
        raise ValueError("cite: no measure is named; give one such as NRG, or all")
    for name in names.values():
        if name != "all" and name not in registry:
            raise ValueError(f"cite: {no_such_measure(name, list(relative))}")
    if "all" in names.values():
        return citations(relative.values())
    absolute = [text for text, name in names.items() if not is_relative(registry[name])]
    elsewhere = f"cite: see the documentation of ir_measures for the papers of {few(absolute)}"
    if len(absolute) == len(names):
        raise ValueError(f"{elsewhere}; here give one of {', '.join(relative)}, or all")
    if absolute:
        warn(elsewhere)
    return citations([_read(text, name) for text, name in names.items() if text not in absolute])


def _read(text: str, name: str) -> ir_measures.measures.Measure:
    """Return the measure with its parameters, where they can be read; they are not checked."""
    try:
        return read_measure(text)
    except ValueError:
        return ir_measures.measures.registry[name]


cite = Command("MEASURE…", "NRG UniqueRel", _add_arguments, _run)
