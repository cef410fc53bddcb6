"""Commands that print what one function of the package answers: explain, fuse, place, select, similar, trajectory."""

from __future__ import annotations

import argparse
import os

import ir_measures_relative as package

from ..messages import few
from . import arguments
from .arguments import Command, add_option
from .output import wrap
from .tables import cell_text, print_answer, print_table

# The columns of each table in the order in which they are wanted, where not all fit.
_EXPLAIN = ("name", "query_id", "doc_id", "relevance", "position", "contribution", "new aspects")
_FUSE = ("strategy", "n", "names", "held_out", "difference", "ci_lower", "ci_upper", "in_sample")
_SIMILAR = ("name", "other", "measure", "query_id", "value", "distance")


def _add_explain_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser, "RUN")
    arguments.add_measure(parser, "UniqueRel(rel=1)@10")
    add_option(parser, "--query ID", "only this query; default: all")
    arguments.add_table(parser, answers=True)


def _run_explain(args: argparse.Namespace) -> None:
    measure = arguments.named_measure(args)
    import pandas as pd

    from .inputs import read

    given = read(args, [measure])
    tables = []
    for names, context in given.contexts():
        for name in names:
            table = package.explain(context, name, given.judgments, measure, args.query)
            if given.is_folder:
                table.insert(0, "name", name)
            tables.append(table)
    together = pd.concat(tables, ignore_index=True)
    together.attrs = tables[0].attrs
    priors = [name for name in together if name.startswith("position in ")]
    print_answer(together, args, [*_EXPLAIN, *priors, "gain"])


def _add_fuse_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser, to="")
    arguments.add_measure(parser, "nDCG@10")
    add_option(parser, "--number N", "number of runs to fuse (default: %(default)s)", default=2)
    add_option(parser, "--method METHOD", "rrf (default), isr, combsum or combmnz", default="rrf")
    text = "number of documents to fuse from each run (default: 1000, or all that a track has)"
    add_option(parser, "--depth DEPTH", text, type=int)
    text = "how runs are chosen (default: %(default)s; also: complementary); with many runs, leave out exact"
    add_option(parser, "--strategies NAMES", text, default="single,top,greedy,exact,all")
    arguments.add_options(parser, "--missing")
    arguments.add_table(parser, answers=True)


def _run_fuse(args: argparse.Namespace) -> None:
    measure = arguments.named_measure(args)
    from .inputs import read

    given = read(args)
    table = package.fuse(
        given.together,
        given.judgments,
        args.number,
        measure,
        method=args.method,
        depth=args.depth,
        strategies=args.strategies.split(","),
        missing=args.missing,
    )
    shown = table.copy()
    if not args.output_format:  # else long lists are whole
        most = max(args.number, 3)
        shares = (
            [f"{name} {cell_text(share, args.places)}" for name, share in chosen.items()]
            for chosen in table["chosen"]
        )
        shown["names"] = [few(names, most) for names in table["names"]]
        shown["chosen"] = [few(names, most) for names in shares]
    print_answer(table, args, _FUSE, shown)


def _add_place_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run file")
    add_option(parser, "--track TRACK", arguments.TRACK, required=True)
    add_option(parser, "--qrels QRELS", "judgments; by default the track's own")
    arguments.add_options(parser, "--llm-judgments")
    arguments.add_table(parser, is_text=True)


def _run_place(args: argparse.Namespace) -> None:
    from .inputs import read_qrels

    context = package.RunContext.from_track(args.track)
    qrels = None if args.qrels is None else read_qrels(args.qrels)[0]
    placed = package.place(context, qrels, args.run, llm_judgments=args.llm_judgments)
    if args.output_format is None:
        print(f"{wrap(placed.text)}\n\n{str(placed).partition(chr(10) * 2)[2]}")
    else:
        print_table(placed.table, args)


def _add_select_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser, to="")
    arguments.add_measure(parser, "UniqueRel(rel=1)@10")
    add_option(parser, "--number N", "number of runs to choose (default: %(default)s)", default=3)
    arguments.add_options(parser, "--missing")
    arguments.add_table(parser, answers=True)


def _run_select(args: argparse.Namespace) -> None:
    measure = arguments.named_measure(args)
    from .inputs import read

    given = read(args)
    table = package.select_complementary(
        given.together, given.judgments, args.number, measure, missing=args.missing
    )
    print_answer(table, args, table.columns)


def _add_similar_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_runs(parser, qrels=", or none for no judgments")
    arguments.add_measures(parser, "RBO")
    arguments.add_options(parser, "--by_query", "--jobs")
    arguments.add_table(parser, answers=True)


def _run_similar(args: argparse.Namespace) -> None:
    measures = arguments.named_measures(args)
    from .inputs import read

    given = read(args, may_lack_qrels=True)
    table = package.similarity(given.together, given.judgments, measures, args.by_query, args.jobs)
    if given.others:
        first, second = (table[column].isin(given.candidates) for column in ("name", "other"))
        disjoint = not {*given.candidates} & {*given.others}
        table = table[first != second] if disjoint else table[first | second]
    print_answer(table, args, _SIMILAR)


def _add_trajectory_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("qrels", metavar="QRELS", help="a qrels file, or an ir_datasets id")
    text = (
        "CSV, JSON Lines, JSON or Parquet with the columns query_id, search, doc_id, and rank or score; or a "
        "folder of runs, which are the searches in the order of their names"
    )
    parser.add_argument("traces", metavar="TRACES", help=text)
    add_option(parser, "-k K", "count the first K documents of each search (default: all)")
    add_option(parser, "--topic FILE", "CSV of trajectory,topic, where trajectories share a topic")
    add_option(parser, "--deeper RUN", "search 1 as a longer run: compare at the same cost")
    text = "the smallest difference that matters (default: 0.02)"
    add_option(parser, "--margin MARGIN", text, type=float, default=0.02)
    text = "what unjudged documents count as at the same cost"
    add_option(parser, "--labels {judged,strict}", text, choices=("judged", "strict"))
    add_option(parser, "--pays N", "new relevant documents that pay for a search", type=float)
    arguments.add_table(parser, is_text=True)


def _run_trajectory(args: argparse.Namespace) -> None:
    from .inputs import read_pairs, read_qrels

    answer = package.trajectory(
        package.RunContext.from_files(args.traces) if os.path.isdir(args.traces) else args.traces,
        read_qrels(args.qrels)[0],
        args.k,
        topic=None if args.topic is None else read_pairs("--topic", args.topic, "trajectory,topic"),
        deeper=args.deeper,
        margin=args.margin,
        labels=args.labels,
        pays=args.pays,
    )
    if args.output_format is None:
        print(answer)
    else:
        print_table(answer.searches, args)


explain = Command(
    "QRELS RUN [MEASURE] --to RUNS [--query ID] [options]",
    "campaign/qrels.txt campaign/runs/3-grams.run \\\n    --to campaign/runs/BM25.run --query 3",
    _add_explain_arguments,
    _run_explain,
)
fuse = Command(
    "QRELS RUNS [MEASURE] [--number N] [options]",
    "campaign/qrels.txt campaign/runs nDCG@10 --number 3",
    _add_fuse_arguments,
    _run_fuse,
)
place = Command(
    "RUN --track TRACK [--qrels QRELS] [options]",
    "campaign/runs/3-grams.run --track demo --qrels campaign/qrels.txt",
    _add_place_arguments,
    _run_place,
)
select = Command(
    "QRELS RUNS [MEASURE] [--number N] [options]",
    "campaign/qrels.txt campaign/runs --number 3",
    _add_select_arguments,
    _run_select,
)
similar = Command(
    "QRELS RUNS [MEASURE…] [--to RUNS …] [options]",
    "none campaign/runs RBO MED@10",
    _add_similar_arguments,
    _run_similar,
)
trajectory = Command(
    "QRELS TRACES [-k K] [--topic FILE] [--deeper RUN] [options]",
    "campaign/qrels.txt campaign/runs -k 10",
    _add_trajectory_arguments,
    _run_trajectory,
)
