"""``worth``: is a candidate worth adding? In words, for a pull request, for a build server, and as an exit code."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import ir_measures_relative as package

from ..messages import escaped, few, warn
from . import arguments
from .audit import check_plan, write_plan
from .output import wrapped
from .tables import DEFAULT_PLACES, FORMATS, check_table, markdown_lines, markdown_text, rows_of, show

if TYPE_CHECKING:
    from ..decisions.deciding import Worth

USAGE = "QRELS CANDIDATE --to RUNS [--by MEASURE] [--gate] [options]"
EXAMPLE = "campaign/qrels.txt campaign/runs/3-grams.run \\\n    --to campaign/runs/BM25.run"

#: The exit code of each verdict with ``--gate``, the best first: of several candidates, the worst verdict counts.
CODES = {"adds": 0, "open": 3, "adds nothing": 1}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """By which measure, how much is enough, and who reads the answer."""
    arguments.add_runs(parser, "CANDIDATE", qrels=", or none for no judgments")
    parser.add_argument(
        "--by",
        action="append",
        dest="measures",
        metavar="MEASURE",
        help="the first decides, the others are shown as well; default: UniqueRel@10, FusionGain(base='nDCG@10')",
    )
    parser.add_argument(
        "--margin", type=float, default=0.0, metavar="X", help="the least gain worth having (default: 0)"
    )
    parser.add_argument("--confidence", type=float, default=0.95, metavar="C", help="default: %(default)s")
    parser.add_argument("--judge", metavar="QRELS", help="labels of a language model, with --plan")
    parser.add_argument(
        "--budget", type=int, metavar="N", help="with --judge: labels that people can give; writes --plan"
    )
    parser.add_argument(
        "--plan",
        metavar="FILE",
        help="the documents for people to label. With --budget it is written where the verdict is open; without, "
        "QRELS holds these labels, and the verdict is about these topics",
    )
    arguments.add_collection(parser)
    parser.add_argument(
        "--gate",
        action="store_true",
        help="exit with 0: adds, 1: adds nothing, 3: open (2: wrong input). Of several candidates the worst counts: "
        "1 before 3 before 0. Without --gate every answer exits with 0",
    )
    parser.add_argument(
        "-o",
        "--output_format",
        choices=tuple(dict.fromkeys([*_FORMATS, *FORMATS])),
        default="text",
        metavar="FORMAT",
        help="text (default), markdown (for a pull request), json, junit (a test case a candidate: adds nothing is a "
        "failure, open is skipped); or the table as tsv, csv, jsonl, latex or parquet",
    )
    parser.set_defaults(places=DEFAULT_PLACES, sort=None)


def run(args: argparse.Namespace) -> int:
    """Prints the answers, and returns the exit code."""
    check_table(args)
    options: dict[str, Any] = {"margin": args.margin, "confidence": args.confidence}
    if args.measures is not None:
        options["by"] = arguments.measures_of(args)
    if args.judge is None and (args.budget is not None or args.plan is not None):
        raise ValueError("--budget and --plan need --judge, the labels of a language model; see --help")
    if args.judge is not None:
        if args.plan is None:
            raise ValueError("--judge needs --plan FILE: with --budget N to write it, without to read it")
        options["judge"] = args.judge
        options |= {"plan": args.plan} if args.budget is None else {"budget": args.budget}
    import pandas as pd

    from .inputs import read

    if args.budget is not None:
        check_plan(args, "--plan", args.plan, args.judge)
    given = read(args, may_lack_qrels=True)
    if len(given.runs) == len(given.candidates) == 1:
        raise ValueError(f"{args.run} is compared with nothing: give the runs that you have with --to")
    empty = [str(given.files[name]) for name, rankings in given.runs.items() if not len(rankings)]
    if args.gate and empty:  # as an earlier step leaves them that went wrong; beside one, anything adds
        raise ValueError(f"--gate: {few(empty)} holds no ranking; look how it was written")
    if args.judge is not None and len(given.candidates) > 1:
        raise ValueError("--judge is for one candidate: each has a plan of its own")
    answers = {
        name: package.worth(context, given.judgments, name, **options)
        for names, context in given.campaigns()
        for name in names
        # Of a folder that holds the one run of --to as well, that is no candidate.
        if len(context.names) > 1 or len(given.candidates) == 1
    }
    for answer in answers.values():
        if answer.plan is not None:
            write_plan(answer.plan, "--plan", args.plan)
        elif args.budget is not None:
            warn(
                f"no plan is written to {args.plan}: no missing labels would decide; the answer says what would"
            )
    if args.output_format in _FORMATS:
        print(_FORMATS[args.output_format](answers))
    else:
        show(pd.concat([answer.table for answer in answers.values()], ignore_index=True), args)
    return CODES[_worst(answers)] if args.gate else 0


def _worst(answers: Mapping[str, Worth]) -> str:
    return max((str(answer.verdict) for answer in answers.values()), key=list(CODES).index)


def _text(answers: Mapping[str, Worth]) -> str:
    """Of each candidate the answer, and the documents to judge."""
    parts: list[str] = []
    for answer in answers.values():
        parts.append(wrapped(answer.text))
        if len(answer.judge):
            rows = answer.judge[["query_id", "doc_id"]].itertuples(index=False)
            lines = [f"  {escaped(query)} {escaped(doc)}" for query, doc in rows]
            parts.append("\n".join(["To judge first, query and document:", *lines]))
        if answer.plan is not None:
            parts.append(f"The plan is written: {answer.plan['ask'].sum()} documents for people to label.")
    return "\n\n".join(parts)


def _markdown(answers: Mapping[str, Worth]) -> str:
    """Of each candidate the answer, the table, and the documents to judge, folded away."""
    parts: list[str] = []
    for name, answer in answers.items():
        parts += [
            f"### {markdown_text(name)}: {answer.verdict}",
            *map(markdown_text, answer.text.splitlines()),
        ]
        parts.append("\n".join(markdown_lines(rows_of(answer.table))))
        if len(answer.judge):
            summary = f"<details>\n<summary>{len(answer.judge)} documents to judge</summary>"
            parts += [summary, "\n".join(markdown_lines(rows_of(answer.judge))), "</details>"]
    return "\n\n".join(part for part in parts if part)


def _json(answers: Mapping[str, Worth]) -> str:
    whole = {"verdict": _worst(answers), "candidates": [answer.to_dict() for answer in answers.values()]}
    return json.dumps(whole, indent=2)


# What no XML document can hold.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _junit(answers: Mapping[str, Worth]) -> str:
    """A test case a candidate: adds nothing is a failure, and open is skipped, since nothing is known against it."""

    from xml.etree import ElementTree

    def clean(text: str) -> str:
        return _NO_XML.sub(lambda found: found[0].encode("unicode_escape").decode(), text)

    verdicts = [answer.verdict for answer in answers.values()]
    counts = {
        "tests": len(verdicts),
        "failures": verdicts.count("adds nothing"),
        "skipped": verdicts.count("open"),
    }
    counted = {key: str(number) for key, number in (counts | {"errors": 0}).items()}
    root = ElementTree.Element("testsuites", counted)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "worth", **counted})
    for name, answer in answers.items():
        case = ElementTree.SubElement(suite, "testcase", {"classname": "worth", "name": clean(escaped(name))})
        kind = {"adds nothing": "failure", "open": "skipped"}.get(answer.verdict)
        if kind is not None:
            ElementTree.SubElement(case, kind, {"message": answer.verdict}).text = clean(answer.text)
        else:
            ElementTree.SubElement(case, "system-out").text = clean(answer.text)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode")


_FORMATS: dict[str, Callable[[Mapping[str, Worth]], str]] = {
    "text": _text,
    "markdown": _markdown,
    "junit": _junit,
    "json": _json,
}
