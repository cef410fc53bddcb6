"""``worth``: is a candidate worth it, beside what is deployed or in its place?"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import ir_measures_relative as package

from ..messages import escaped
from . import answers, arguments

if TYPE_CHECKING:
    from ..decisions.answer import Decision
    from .inputs import Inputs

# How many topics are shown on each side.
_TOPICS = 5

USAGE = "QRELS CANDIDATE --to RUNS [--by MEASURE] [--gate] [options]"
EXAMPLE = "campaign/qrels.txt campaign/runs/3-grams.run \\\n    --to campaign/runs/BM25.run"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser, "CANDIDATE")
    gate = "0: a change is better, with each of the candidates; 1: keep the deployed runs, for one of them at least"
    answers.add_arguments(parser, gate, "smallest difference that matters")
    parser.add_argument(
        "--by-topic",
        action="store_true",
        help="also print the five topics that the choice wins and loses by most",
    )


def run(args: argparse.Namespace) -> int:
    answers.check(args)
    from .inputs import read

    given = read(args)
    if len(given.runs) == len(given.candidates) == 1:
        raise ValueError(f"{args.run} has nothing to compare with: pass the deployed runs with --to")
    if args.gate:
        answers.check_deployed(given, given.others or given.candidates)
    options = answers.options_of(args)
    found = {}
    for names, context in given.campaigns(check=False):
        for name in names:
            deployed = [other for other in given.others or given.candidates if other != name]
            # Of a folder that holds the one run of --to as well, that is no candidate.
            if deployed or len(given.candidates) == 1:
                found[name] = package.worth(context, given.judgments, name, deployed or None, **options)
    if args.by_topic:
        texts = _texts_of_queries(given)
        found = {
            name: replace(one, notes=(*one.notes, *_by_topic(one, texts))) for name, one in found.items()
        }
    return answers.finish(found, args)


def _texts_of_queries(given: Inputs) -> dict[str, str]:
    """The text of each query, where the judgments are those of a dataset that has queries."""
    dataset = None if given.qrels is None else given.qrels.dataset
    if dataset is None or not dataset.has_queries():
        return {}
    return {query.query_id: query.default_text() for query in dataset.queries_iter()}


def _by_topic(answer: Decision, texts: Mapping[str, str]) -> Iterator[str]:
    """The topics that the choice, or the best other option, wins and loses by most, with the texts of the queries."""
    option = answer.choice
    if option == next(iter(answer.options)):
        others = answer.table.iloc[1:]
        option = str(others.loc[others["difference"].idxmax(), "option"])
    rows = answer.topics[answer.topics["option"] == option]
    for word, ascending in (("wins", False), ("loses", True)):
        sign = -1 if ascending else 1
        some = rows.sort_values("difference", ascending=ascending, kind="stable").head(_TOPICS)
        lines = [
            f"  {difference:+.3f}  {escaped(query)}  {escaped(texts.get(query, ''))}".rstrip()
            for query, difference in zip(some["query_id"], some["difference"], strict=True)
            if sign * difference > 0
        ]
        if lines:
            yield "\n".join([f"Topics that {escaped(option)} {word} by most:", *lines])
