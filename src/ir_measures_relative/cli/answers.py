"""Decisions as commands show them: in words, for a pull request, for a build server, and as an exit code."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..arguments import check_count
from ..messages import escaped, few, markdown_text, to_json
from . import arguments
from .output import say, wrapped
from .tables import DEFAULT_PLACES, FORMATS, check_table, show

if TYPE_CHECKING:
    from ..data.rankings import Rankings
    from ..decisions.answer import Decision
    from .inputs import Inputs

#: The exit code of each outcome with ``--gate``, the best first: of several candidates the worst outcome counts.
CODES = {"change": 0, "open": 3, "keep": 1}


def add_arguments(parser: argparse.ArgumentParser, gate: str, margin: str) -> None:
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
        help="how several runs become one list: rrf (default), isr, combsum, combmnz, interleave",
    )
    parser.add_argument(
        "--margin",
        type=float,
        metavar="X",
        help=f"the {margin}, in its unit (default: 0.02)",
    )
    parser.add_argument(
        "--labels",
        choices=("imputed", "judged", "strict"),
        metavar="HOW",
        help="what unjudged documents are: imputed (drawn by a model), judged (not relevant) or strict "
        "(whatever is worst). Default: imputed if there is a model, else strict",
    )
    parser.add_argument(
        "--others",
        action="append",
        default=[],
        metavar="RUNS",
        help="further runs for the relevance model: file, folder or glob; repeatable",
    )
    arguments.add_llm_judgments(parser)
    parser.add_argument(
        "--confidence",
        type=float,
        default=0.95,
        metavar="C",
        help="confidence level of each statement (default: 0.95)",
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
    parser.add_argument(
        "--judge",
        type=int,
        metavar="N",
        help="also print the N documents that move the verdict furthest",
    )
    parser.add_argument(
        "--judge-file",
        metavar="FILE",
        help="write these, or all that could change the verdict, as a pool file",
    )
    arguments.add_collection(parser)
    arguments.add_missing(parser)
    parser.add_argument(
        "--gate",
        action="store_true",
        help=f"set the exit code. {gate}; 3: open, or no verdict; 2: wrong input. Without --gate: 0",
    )
    parser.add_argument(
        "-o",
        "--output_format",
        choices=tuple(dict.fromkeys([*_FORMATS, "junit", *FORMATS])),
        default="text",
        metavar="FORMAT",
        help="text (default), markdown, json, junit (what --gate calls 1 is a failure, 3 is skipped); or the table "
        "as tsv, csv, jsonl or latex",
    )
    parser.set_defaults(places=DEFAULT_PLACES, sort=None)


def check(args: argparse.Namespace) -> None:
    """Raises ValueError for arguments that do not go together, before anything is read."""
    check_table(args)
    if args.judge is not None:
        check_count("--judge", args.judge, 1)
    if args.judge_file is not None:
        from ..bounding.verdicts import check_pool

        check_pool(args.judge_file)


def options_of(args: argparse.Namespace) -> dict[str, Any]:
    from ..decisions import Combination, RegretTest

    is_gate = args.gate or args.output_format == "junit"
    missing = args.missing or ("raise" if is_gate else None)
    combine = Combination(args.method, rerank=args.rerank, pool=args.pool)
    given = {name: getattr(args, name) for name in ("by", "margin", "labels")}
    given |= {"combine": combine, "test": RegretTest(confidence=args.confidence)}
    return given | {"missing": missing, "llm_judgments": args.llm_judgments}


def check_deployed(given: Inputs, names: list[str]) -> None:
    """Raises ValueError for deployed runs that are empty or of another collection: any candidate gains."""
    from ..context.collection import judged_collection

    empty = [name for name, run in given.runs.items() if not len(run)]
    if empty:
        raise ValueError(f"--gate: {_files(given, empty)} holds no ranking; look how it was written")
    documents = judged_collection(given.context(names), given.judgments).documents

    def known(run: Rankings) -> bool:
        return bool((documents.positions_in(run) > 0).any())

    strange = [name for name in names if not known(given.runs[name])]
    if strange and len(documents):
        raise ValueError(f"--gate: no document of {_files(given, strange)} is judged; check both")


def _files(given: Inputs, names: list[str]) -> str:
    return few(given.files[name] for name in names)


def finish(answers: Mapping[str, Decision], args: argparse.Namespace, named: bool = True) -> int:
    """Prints the answers, and returns the exit code."""
    if args.judge_file is not None:
        _write_pool(answers, args.judge, args.judge_file)
    if args.judge is not None:
        answers = {name: _with_documents(answer, args.judge) for name, answer in answers.items()}
    if args.output_format == "junit":
        from ..decisions.answer import junit_report

        print(junit_report({escaped(name): answer for name, answer in answers.items()}))
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
    outcomes = [answer.outcome for answer in answers.values()]
    return max((CODES[one] for one in outcomes), key=list(CODES.values()).index) if args.gate else 0


def _with_documents(answer: Decision, n: int) -> Decision:
    """Return the answer with the documents to judge first as its last paragraph; the table has these alone."""
    asked = answer.judge.head(n)
    note = "No unjudged document could change the verdict: there is nothing to judge."
    if len(asked):
        count = (
            f"{len(asked):,} of the {len(answer.judge):,} unjudged documents that could change the verdict"
        )
        pairs = zip(asked["query_id"], asked["doc_id"], strict=True)
        note = "\n".join([f"Judge first ({count}):", *(f"  {escaped(q)} {escaped(d)}" for q, d in pairs)])
    return replace(answer, notes=(*answer.notes, note), judge=asked)


def _write_pool(answers: Mapping[str, Decision], n: int | None, path: str) -> None:
    """Write the documents to judge first; of several answers the first of each, then the second of each."""
    import pandas as pd

    from ..bounding.verdicts import write_pool

    every = pd.concat([answer.judge for answer in answers.values()]).sort_index(kind="stable")
    every = every.drop_duplicates()
    write_pool(every.head(len(every) if n is None else n), path)
    written = len(every) if n is None else min(n, len(every))
    say("note", f"{path}: {written:,} of the {len(every):,} unjudged documents that could change the verdict")


def _text(answers: Mapping[str, Decision], named: bool) -> str:
    """Of each answer the verdict, the table, and the evidence."""
    parts: list[str] = []
    for answer in answers.values():
        parts += [wrapped(answer.answer), answer.table_text, *map(wrapped, answer.notes)]
    return "\n\n".join(parts)


def _markdown(answers: Mapping[str, Decision], named: bool) -> str:
    """Of each answer the sentences and the tables, of which all but the first are folded away."""
    parts: list[str] = []
    for name, answer in answers.items():
        if named:
            verdict = (
                answer.verdict or f"no verdict ({answer.as_judged}, if unjudged documents are not relevant)"
            )
            parts.append(f"### {markdown_text(name)}: {markdown_text(verdict)}")
        parts.append(answer.to_markdown())
    return "\n\n".join(parts)


def _json(answers: Mapping[str, Decision], named: bool) -> str:
    found = [answer.to_dict() for answer in answers.values()]
    return to_json({"candidates": found} if named else found[0], indent=2)


_FORMATS: dict[str, Callable[[Mapping[str, Decision], bool], str]] = {
    "text": _text,
    "markdown": _markdown,
    "json": _json,
}
