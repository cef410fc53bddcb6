"""What the command reads: runs, groups, judgments."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import ir_measures
import numpy as np

from ..comparison import judged_context
from ..context import RunContext
from ..ids import Ids
from ..io.files import read_bytes
from ..io.qrels import QrelsColumns, qrels_columns, read_qrels_file
from ..io.runs import run_files
from ..measures.strings import is_relative
from ..priors import Policy


class Judged(NamedTuple):
    """The judgments, and the size of the collection where it is known."""

    columns: QrelsColumns
    iterations: Any  #: of each judgment: mostly 0, or the subtopic
    num_docs: int | None

    def as_ir_measures(self) -> Iterator[ir_measures.Qrel]:
        """The judgments as ir_measures takes them."""
        queries, docs = (c.strings() if isinstance(c, Ids) else c for c in self.columns[:2])
        iterations = self.iterations.strings() if isinstance(self.iterations, Ids) else self.iterations
        labels = self.columns.relevance.astype(np.int64).tolist()
        return map(ir_measures.Qrel, queries, docs, labels, iterations)


def files_of_runs(args: argparse.Namespace) -> list[Path]:
    """The run files; where RUN is a file it comes first, and the others without repetition."""
    if args.is_folder:
        return run_files(args.run)
    own = run_files(args.run)
    priors = [file for path in args.prior for file in run_files(path)]
    reference = run_files(args.reference) if args.reference else []
    if len(reference) > 1:
        raise ValueError(f"--reference {args.reference} stands for {len(reference)} files; name one run file")
    for flag, files in (("--prior", priors), ("--reference", reference)):
        same = [file for file in files if file.resolve() == own[0].resolve()]
        if same:
            raise ValueError(
                f"{flag} {same[0]} is the evaluated run itself; a run is not compared with itself: leave it out"
            )
    return [*own, *{file.resolve(): file for file in [*reference, *priors]}.values()]


def input_files(args: argparse.Namespace, runs: Iterable[Path]) -> dict[str, Path]:
    """The files that the command reads, by what a message calls them."""
    named = {"the qrels": args.qrels, "the file of --groups": args.groups, "the reference": args.reference}
    return {f"the run {run}": run for run in runs} | {
        called: Path(path) for called, path in named.items() if path is not None
    }


def read_context(
    args: argparse.Namespace, files: list[Path], num_docs: int | None
) -> tuple[RunContext, list[str]]:
    """The runs, and the names of those to score."""
    try:
        runs = RunContext.from_trec(files).runs
    except ValueError as error:
        if args.is_folder:
            raise ValueError(
                f"{error}; a file that is not a run does not belong in the folder of runs"
            ) from None
        raise
    names = list(runs)
    reference = args.reference
    if reference is not None and (not args.is_folder or reference not in runs):
        at = [i for i, file in enumerate(files) if file.resolve() == Path(reference).resolve()]
        if not at:
            raise ValueError(
                f"--reference {reference} is not a run of {args.run}; its runs are {', '.join(names)}"
            )
        reference = names[at[0]]
    groups = read_groups(args.groups, names) if args.groups else None
    priors: Policy = args.priors or "others"
    context = RunContext(runs, priors=priors, reference=reference, groups=groups, num_docs=num_docs)
    return context, names if args.is_folder else names[:1]


def read_groups(path: str, names: Sequence[str]) -> dict[str, str]:
    """The group of every run; lines about other runs, and a header, are passed over."""
    try:
        text = read_bytes(path, f"--groups {path}").decode()
    except UnicodeDecodeError:
        raise ValueError(
            f"--groups {path} is not text in UTF-8; give a CSV file of two columns, run,group"
        ) from None
    import csv
    import io

    groups: dict[str, str] = {}
    try:
        rows = list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error as error:
        raise ValueError(f"--groups {path}: {error}; give a CSV file of two columns, run,group") from None
    for number, row in enumerate(rows, start=1):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if len(cells) != 2 or not all(cells):
            raise ValueError(
                f"--groups {path}, line {number}: a line is 'run,group', not {','.join(row)[:80]!r}"
            )
        run, group = cells
        if number == 1 and (run.lower(), group.lower()) == ("run", "group"):
            continue
        if groups.setdefault(run, group) != group:
            raise ValueError(
                f"--groups {path}, line {number}: {run!r} is in {groups[run]!r} already; give it one group"
            )
    lacking = [n for n in names if n not in groups]
    if lacking:
        raise ValueError(
            f"--groups {path} lacks {', '.join(lacking)}; add a line such as '{lacking[0]},its group' for each"
        )
    return {n: groups[n] for n in names}


def read_qrels(qrels: str) -> Judged:
    """The judgments of a file, else of an ir_datasets id."""
    if os.path.isdir(qrels):
        raise ValueError(f"{qrels} is a folder; give a TREC qrels file, or an ir_datasets id, as QRELS")
    if not os.path.exists(qrels):
        return _read_dataset(qrels)
    return Judged(*read_qrels_file(qrels), None)


def _read_dataset(name: str) -> Judged:
    import logging

    from .. import demo
    from ..io.datasets import dataset_of, qrels_of

    demo.register()
    if not sys.stderr.isatty():
        os.environ.setdefault("IR_DATASETS_DL_DISABLE_PBAR", "true")
    try:
        dataset = dataset_of(name)
    except ValueError as error:
        raise ValueError(f"there is no qrels file {name!r}, and {error}") from None
    with _held_back(logging.getLogger("ir_datasets")):
        qrels = qrels_of(dataset)
    num_docs = dataset.docs_metadata().get("count") if dataset.has_docs() else None
    return Judged(qrels_columns(qrels), [getattr(q, "iteration", "0") for q in qrels], num_docs)


@contextmanager
def _held_back(logger: Any) -> Iterator[None]:
    """Holds back what is logged, and says it afterwards if there was no error."""
    records: list[Any] = []

    def hold(record: Any) -> bool:
        records.append(record)
        return False

    logger.addFilter(hold)
    try:
        yield
    finally:
        logger.removeFilter(hold)
    for record in records:
        logger.handle(record)


def check_context(
    context: RunContext, measures: Iterable[ir_measures.Measure], args: argparse.Namespace
) -> None:
    """Raises ValueError where a measure needs a run to compare with that is not there."""
    relative = [m for m in measures if is_relative(m)]
    alone = [str(m) for m in relative if m.needs_context]
    if len(context.names) == 1 and alone and not args.is_folder:
        raise ValueError(
            f"{', '.join(alone)} needs runs to compare with: give them with --prior or --reference"
        )
    if context.reference is None and len(context.names) > 2:
        without = [
            str(m)
            for m in relative
            if m.RELATIVE_TO == "reference" and m.get("ref") is None and not (args.compare and m.SIGNED)
        ]
        if without:
            raise ValueError(
                f"{', '.join(without)} compares with one run: say with --reference which of "
                f"{', '.join(n for n in context.names if args.is_folder or n != context.names[0])}"
            )


def check_newcomer(context: RunContext, judgments: Judged, name: str) -> None:
    """Raises ValueError where the evaluated run is one of those to compare it with, under another name."""
    judged, rankings = judged_context(context, judgments.columns), context.runs[name]
    if not (judged.judgments.queries_of(rankings) >= 0).any():
        return
    for other in context.names:
        if other != name and judged.same_rankings(rankings, other):
            raise ValueError(
                f"the prior or reference {other!r} ranks exactly as the evaluated run; a run is not compared with "
                "itself: leave it out"
            )
