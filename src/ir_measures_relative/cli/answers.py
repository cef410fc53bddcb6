"""Decisions as commands show them: in words, for a pull request, for a build server, and as an exit code."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..messages import escaped, few, json_of, markdown_text
from . import arguments
from .output import DEFAULT_PLACES, FORMATS, check_table, say, show, wrapped

if TYPE_CHECKING:
    from ..data.rankings import Rankings
    from ..decisions.decision import Decision
    from .inputs import Inputs

#: The exit code of each outcome with ``--gate``, the best first: of several candidates the worst outcome counts.
CODES = {"change": 0, "open": 3, "keep": 1}
# What sentences advise to set, as Python and as the command line have it.
_ARGUMENT, _FLAG = re.compile("([Ss]et )(a )?margin="), r"\1\2--margin"


def add_arguments(parser: argparse.ArgumentParser, gate: str, margin: float | None = 0.0) -> None:
    """By which measure, how runs become one list, how much is enough, and who reads the answer."""
    parser.add_argument(
        "--by",
        default="nDCG@10",
        metavar="MEASURE",
        help="absolute measure that decides, such as P@10 or R@20 (default: %(default)s)",
    )
    parser.add_argument(
        "--method",
        default="rrf",
        help="how several runs are combined into one list: rrf (default), isr, combsum, combmnz or interleave",
    )
    parser.add_argument(
        "--margin",
        type=float,
        default=margin,
        metavar="X",
        help="the largest loss that you accept, in the unit of the measure; without it there is no verdict"
        if margin is None
        else "the smallest gain that matters, in the unit of the measure (default: 0)",
    )
    parser.add_argument(
        "--confidence",
        type=float,
        default=0.95,
        metavar="C",
        help="confidence level of the intervals (default: 0.95)",
    )
    parser.add_argument(
        "--rerank",
        metavar="RUN",
        help="run file with a reranker's scores; every option is reranked",
    )
    parser.add_argument(
        "--pool",
        type=int,
        default=100,
        metavar="N",
        help="with --rerank: number of documents to rerank (default: 100)",
    )
    arguments.add_collection(parser)
    arguments.add_missing(parser)
    parser.add_argument(
        "--gate",
        action="store_true",
        help=f"set the exit code. {gate}; 3: open; 2: wrong input. Without --gate: 0",
    )
    parser.add_argument(
        "--as-judged",
        action="store_true",
        help="with --gate: count unjudged documents as not relevant, instead of allowing for their worst case",
    )
    parser.add_argument(
        "-o",
        "--output_format",
        choices=tuple(dict.fromkeys([*_FORMATS, "junit", *FORMATS])),
        default="text",
        metavar="FORMAT",
        help="text (default), markdown (for a pull request), json, junit (what --gate calls 1 is a failure, 3 is "
        "skipped); or the table as tsv, csv, jsonl or latex",
    )
    parser.set_defaults(places=DEFAULT_PLACES, sort=None)


def check(args: argparse.Namespace) -> None:
    """Raises ValueError for arguments that do not go together, before anything is read."""
    check_table(args)
    if args.as_judged and not (args.gate or args.output_format == "junit"):
        raise ValueError("--as-judged says what --gate goes by; add --gate, or leave it out")


def options_of(args: argparse.Namespace) -> dict[str, Any]:
    names = ("by", "method", "margin", "confidence", "rerank", "pool")
    is_gate = args.gate or args.output_format == "junit"
    missing = args.missing or ("raise" if is_gate else None)
    return {name: getattr(args, name) for name in names} | {"missing": missing}


def check_deployed(given: Inputs, names: list[str]) -> None:
    """Raises ValueError for deployed runs that are empty or of another collection: any candidate gains."""
    from ..context.view import view_of

    empty = [name for name, run in given.runs.items() if not len(run)]
    if empty:
        raise ValueError(f"--gate: {_files(given, empty)} holds no ranking; look how it was written")
    documents = view_of(given.context(names), given.judgments).documents

    def known(run: Rankings) -> bool:
        return bool((documents.positions_in(run) > 0).any())

    strange = [name for name in names if not known(given.runs[name])]
    if strange and len(documents):
        raise ValueError(f"--gate: no document of {_files(given, strange)} is judged; check both")


def _files(given: Inputs, names: list[str]) -> str:
    return few(given.files[name] for name in names)


def finish(answers: Mapping[str, Decision], args: argparse.Namespace, named: bool = True) -> int:
    """Prints the answers, and returns the exit code."""
    answers = {name: replace(one, text=_ARGUMENT.sub(_FLAG, one.text)) for name, one in answers.items()}
    if args.output_format == "junit":
        from ..decisions.decision import junit_of

        print(junit_of({escaped(name): answer for name, answer in answers.items()}, args.as_judged))
    elif args.output_format in _FORMATS:
        print(_FORMATS[args.output_format](answers, named))
    else:
        import pandas as pd

        for note in dict.fromkeys(
            answer.missing_topics for answer in answers.values() if answer.missing_topics
        ):
            say("note", note)
        tables = [answer.table for answer in answers.values()]
        if named:
            for name, table in zip(answers, tables, strict=True):
                table.insert(0, "candidate", name)
        show(pd.concat(tables, ignore_index=True), args)
    outcomes = [answer.outcome(args.as_judged) for answer in answers.values()]
    return max((CODES[one] for one in outcomes), key=list(CODES.values()).index) if args.gate else 0


def _text(answers: Mapping[str, Decision], named: bool) -> str:
    """Of each answer the sentences, and the documents to judge."""
    parts: list[str] = []
    for answer in answers.values():
        parts += map(wrapped, answer.plain_text.split("\n\n"))
        if len(answer.judge):
            rows = answer.judge[["query_id", "doc_id"]].itertuples(index=False)
            lines = [f"  {escaped(query)} {escaped(doc)}" for query, doc in rows]
            parts.append("\n".join(["To judge first, query and document:", *lines]))
    return "\n\n".join(parts)


def _markdown(answers: Mapping[str, Decision], named: bool) -> str:
    """Of each answer the sentences and the tables, of which all but the first are folded away."""
    parts: list[str] = []
    for name, answer in answers.items():
        if named:
            verdict = answer.as_judged if answer.verdict is None else answer.verdict
            parts.append(f"### {markdown_text(name)}: {markdown_text(verdict)}")
        parts.append(answer.to_markdown())
    return "\n\n".join(parts)


def _json(answers: Mapping[str, Decision], named: bool) -> str:
    found = [answer.to_dict() for answer in answers.values()]
    return json_of({"candidates": found} if named else found[0], indent=2)


_FORMATS: dict[str, Callable[[Mapping[str, Decision], bool], str]] = {
    "text": _text,
    "markdown": _markdown,
    "json": _json,
}
