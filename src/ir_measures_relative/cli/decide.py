"""``decide``, ``worth`` and ``drop``: decisions as text, for build servers, and as an exit code."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import ir_measures_relative as package

from ..arguments import check_count
from ..messages import few
from ..writing import escaped, markdown_text, to_json
from . import arguments
from .arguments import Command, add_option
from .output import say, wrap
from .tables import DEFAULT_PLACES, FORMATS, print_table

if TYPE_CHECKING:
    from ..decisions.answer import Decision
    from .inputs import CommandInputs

# The exit code of each outcome with ``--gate``, the best first: of several candidates the worst outcome counts.
_CODES = {"change": 0, "open": 3, "keep": 1}
# What ``-o`` takes that is the table alone.
_TABLES = tuple(name for name in FORMATS if name != "markdown")
# How many topics ``--by-topic`` prints on each side.
_TOPICS = 5


def _add_arguments(parser: argparse.ArgumentParser, codes: str, margin: str) -> None:
    """Add the options that all three share; ``codes`` and ``margin`` are the help of ``--gate`` and ``--margin``."""
    text = "absolute measure that decides, such as P@10 or R@20 (default: %(default)s)"
    add_option(parser, "--by MEASURE", text, default="nDCG@10")
    text = "how several runs become one list: rrf (default), isr, combsum, combmnz, interleave"
    add_option(parser, "--method METHOD", text, default="rrf")
    add_option(parser, "--margin X", f"the {margin}, in its unit (default: 0.02)")
    text = (
        "what unjudged documents are: imputed (drawn by a model), judged (not relevant) or strict (whatever is worst). "
        "Default: imputed if there is a model, else strict"
    )
    add_option(parser, "--labels HOW", text, choices=("imputed", "judged", "strict"))
    text = "further runs for the relevance model: file, folder or glob; repeatable"
    add_option(parser, "--others RUNS", text, action="append", default=[])
    arguments.add_options(parser, "--llm-judgments")
    add_option(parser, "--confidence C", "confidence level of each statement (default: 0.95)", default=0.95)
    add_option(parser, "--rerank RUN", "run file with a reranker's scores; every option is reranked")
    add_option(parser, "--pool N", "with --rerank: number of documents to rerank (default: 100)", default=100)
    add_option(parser, "--judge N", "also print the N documents that may bring a verdict soonest")
    text = "write these, or all that could change the verdict, as a pool file"
    add_option(parser, "--judge-file FILE", text)
    arguments.add_options(parser, "--num_docs", "--grades", "--missing")
    text = f"set the exit code. {codes}; 3: open, or no verdict; 2: wrong input. Without --gate: 0"
    add_option(parser, "--gate", text)
    text = (
        "text (default), markdown, json, junit (what --gate calls 1 is a failure, 3 is skipped); or the table as tsv, "
        "csv, jsonl or latex"
    )
    formats = tuple(dict.fromkeys(["text", "markdown", "json", "junit", *FORMATS]))
    add_option(parser, "-o --output_format FORMAT", text, choices=formats, default="text")
    parser.set_defaults(places=DEFAULT_PLACES, sort=None, is_text=False, by_topic=False)


def _add_worth_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser, "CANDIDATE")
    codes = "0: a change is better, with each of the candidates; 1: keep the deployed runs, for one of them at least"
    _add_arguments(parser, codes, "smallest difference that matters")
    add_option(parser, "--by-topic", "also print the five topics that the choice wins and loses by most")


def _run_worth(args: argparse.Namespace) -> int:
    given = _read(args)
    if len(given.runs) == len(given.candidates) == 1:
        raise ValueError(f"{args.run} has nothing to compare with: pass the deployed runs with --to")
    if args.gate:
        _check_deployed(given, given.others or given.candidates)
    answers, options = dict[str, "Decision"](), _options(args)
    for names, context in given.contexts(check=False):
        for name in names:
            deployed = [other for other in given.others or given.candidates if other != name]
            # The one run of --to is no candidate, although its folder is one of candidates.
            if deployed or len(given.candidates) == 1:
                answers[name] = package.worth(context, given.judgments, name, deployed or None, **options)
    if args.by_topic:
        texts = dict[str, str]()  # where the judgments are those of a dataset that has queries
        if given.dataset is not None and given.dataset.has_queries():
            texts = {query.query_id: query.default_text() for query in given.dataset.queries_iter()}
        answers = {
            name: replace(answer, notes=(*answer.notes, *_extreme_topics(answer, texts)))
            for name, answer in answers.items()
        }
    return _finish(answers, args)


def _add_drop_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser, to="")
    _add_arguments(parser, "0: some run is safe to drop, 1: all are needed", "largest loss that you accept")


def _run_drop(args: argparse.Namespace) -> int:
    given = _read(args)
    if args.gate:
        _check_deployed(given, given.candidates)
    answer = package.drop(given.together, given.judgments, given.candidates, **_options(args))
    return _finish({"drop": answer}, args, named=False)


def _add_decide_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser, to="")
    text = "a set-up: its name, then its runs (names or files); pass one per set-up, first the one in use"
    add_option(parser, "--option NAME=RUN,…", text, action="append", dest="options", default=[])
    codes = "0: another option is better, 1: keep the first"
    _add_arguments(parser, codes, "smallest difference that matters")


def _run_decide(args: argparse.Namespace) -> int:
    if len(args.options) < 2:
        raise ValueError(
            "give at least two options, each of one run or more, such as --option now=BM25 --option both=BM25,dense"
        )
    given = _read(args)
    options: dict[str, list[str]] = {}
    for text in args.options:
        name, equals, runs = text.partition("=")
        if not (name and equals and runs):
            raise ValueError(f"--option {text}: write NAME=RUN,RUN, such as both=BM25,dense")
        if name in options:
            raise ValueError(f"--option {text}: two options are called {name!r}; give each its own name")
        options[name] = [given.find_name("--option", run) for run in runs.split(",")]
    if args.gate:
        _check_deployed(given, list(dict.fromkeys(run for runs in options.values() for run in runs)))
    answer = package.decide(given.together, given.judgments, options, **_options(args))
    return _finish({"decide": answer}, args, named=False)


def _read(args: argparse.Namespace) -> CommandInputs:
    if args.judge is not None:
        check_count("--judge", args.judge, 1)
    if args.output_format in _TABLES:  # which have no place for these
        absent = {"--by-topic": args.by_topic, "--judge": args.judge is not None and args.judge_file is None}
        if names := [name for name, is_given in absent.items() if is_given]:
            raise ValueError(
                f"-o {args.output_format} prints the table, without {few(names)}; leave it out, or give -o json"
            )
    if args.judge_file is not None:
        from ..bounding.verdicts import check_pool

        check_pool(args.judge_file)
    from .inputs import read

    return read(args)


def _options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options of the three verbs."""
    from ..decisions import Combination, RegretTest

    is_gate = args.gate or args.output_format == "junit"
    return {name: getattr(args, name) for name in ("by", "margin", "labels", "llm_judgments")} | {
        "combine": Combination(args.method, rerank=args.rerank, pool=args.pool),
        "test": RegretTest(confidence=args.confidence),
        "missing": args.missing or ("raise" if is_gate else None),
    }


def _check_deployed(given: CommandInputs, names: list[str]) -> None:
    """Raise ValueError for deployed runs that are empty or of another collection: any candidate gains on them."""
    from ..context.collection import judged_collection

    def files(names: list[str]) -> str:
        return few(given.files[name] for name in names)

    if empty := [name for name, run in given.runs.items() if not len(run)]:
        raise ValueError(f"--gate: {files(empty)} holds no ranking; look how it was written")
    documents = judged_collection(given.context(names), given.judgments).documents
    unjudged = [name for name in names if not (documents.positions_in(given.runs[name]) > 0).any()]
    if unjudged and len(documents):
        raise ValueError(f"--gate: no document of {files(unjudged)} is judged; check both")


def _extreme_topics(answer: Decision, texts: Mapping[str, str]) -> Iterator[str]:
    """Yield the topics that the choice, or the best other option, wins and loses by most, with their texts."""
    option = answer.choice
    if option == next(iter(answer.options)):
        alternatives = answer.table.iloc[1:]
        option = str(alternatives.loc[alternatives["difference"].idxmax(), "option"])
    rows = answer.topics[answer.topics["option"] == option]
    for verb, ascending in (("wins", False), ("loses", True)):
        extreme = rows.sort_values("difference", ascending=ascending, kind="stable").head(_TOPICS)
        lines = [
            f"  {difference:+.3f}  {escaped(query)}  {escaped(texts.get(query, ''))}".rstrip()
            for query, difference in zip(extreme["query_id"], extreme["difference"], strict=True)
            if (difference < 0 if ascending else difference > 0)
        ]
        if lines:
            yield "\n".join([f"Topics that {escaped(option)} {verb} by most:", *lines])


def _finish(answers: Mapping[str, Decision], args: argparse.Namespace, named: bool = True) -> int:
    """Print the answers, each under its name where they are ``named``, and return the exit code."""
    if args.judge_file is not None:
        _write_pool(answers, args.judge, args.judge_file)
    if args.judge is not None:
        answers = {name: _note_judgments(answer, args.judge) for name, answer in answers.items()}
    if args.output_format == "text":
        for number, answer in enumerate(answers.values()):
            print(
                "\n" * bool(number)
                + "\n\n".join([wrap(answer.answer), answer.table_text, *map(wrap, answer.notes)])
            )
    elif args.output_format == "markdown":
        print("\n\n".join(_markdown(name if named else None, answer) for name, answer in answers.items()))
    elif args.output_format == "json":
        dicts = [answer.to_dict() for answer in answers.values()]
        print(to_json({"candidates": dicts} if named else dicts[0], indent=2))
    elif args.output_format == "junit":
        from ..decisions.answer import junit_report

        print(junit_report({escaped(name): answer for name, answer in answers.items()}))
    else:
        _print_tables(answers, args, named)
    codes = [_CODES[answer.outcome] for answer in answers.values()]
    return max(codes, key=list(_CODES.values()).index) if args.gate else 0


def _markdown(name: str | None, answer: Decision) -> str:
    """Return an answer in Markdown, below its name and verdict."""
    if name is None:
        return answer.to_markdown()
    verdict = answer.verdict or f"no verdict ({answer.as_judged}, if unjudged documents are not relevant)"
    return f"### {markdown_text(name)}: {markdown_text(verdict)}\n\n{answer.to_markdown()}"


def _print_tables(answers: Mapping[str, Decision], args: argparse.Namespace, named: bool) -> None:
    import pandas as pd

    for note in dict.fromkeys(answer.missing_topics for answer in answers.values() if answer.missing_topics):
        say("note", note)
    for name, answer in answers.items() if named else ():
        answer.table.insert(0, "candidate", name)
    print_table(pd.concat([answer.table for answer in answers.values()], ignore_index=True), args)


def _note_judgments(answer: Decision, n: int) -> Decision:
    """Return the answer with the documents to judge first as its last paragraph; the table has these alone."""
    first = answer.judge.head(n)
    note = "No unjudged document could change the verdict: there is nothing to judge."
    if len(first):
        count = (
            f"{len(first):,} of the {len(answer.judge):,} unjudged documents that could change the verdict"
        )
        pairs = zip(first["query_id"], first["doc_id"], strict=True)
        note = "\n".join([f"Judge first ({count}):", *(f"  {escaped(q)} {escaped(d)}" for q, d in pairs)])
    return replace(answer, notes=(*answer.notes, note), judge=first)


def _write_pool(answers: Mapping[str, Decision], n: int | None, path: str) -> None:
    """Write the documents to judge first; of several answers the first of each, then the second of each."""
    import pandas as pd

    from ..bounding.verdicts import write_pool

    pool = pd.concat([answer.judge for answer in answers.values()]).sort_index(kind="stable")
    pool = pool.drop_duplicates()
    first = pool if n is None else pool.head(n)
    write_pool(first, path)
    count = f"{len(first):,} of the {len(pool):,} unjudged documents that could change the verdict"
    say("note", f"{path}: {count}")


worth = Command(
    "QRELS CANDIDATE --to RUNS [--by MEASURE] [--gate] [options]",
    "campaign/qrels.txt campaign/runs/3-grams.run \\\n    --to campaign/runs/BM25.run",
    _add_worth_arguments,
    _run_worth,
)
drop = Command(
    "QRELS RUNS [--margin X] [--by MEASURE] [--gate] [options]",
    "campaign/qrels.txt campaign/runs --margin 0.05",
    _add_drop_arguments,
    _run_drop,
)
decide = Command(
    "QRELS RUNS --option NAME=RUN,… --option NAME=RUN,… [options]",
    "campaign/qrels.txt campaign/runs \\\n"
    "    --option now=BM25 --option both=BM25,3-grams --option new=3-grams",
    _add_decide_arguments,
    _run_decide,
)
