"""What the command reads: runs, groups, judgments; and their scores."""

from __future__ import annotations

import argparse
import csv
import io
import logging
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import ir_measures
import numpy as np

from ..arrays import FloatArray
from ..comparison import judged_context
from ..context import RunContext
from ..ids import Ids
from ..io.datasets import dataset_of, num_docs_of, qrels_of
from ..io.files import read_bytes
from ..io.formats import located
from ..io.qrels import QrelsColumns, qrels_columns, read_qrels_file
from ..io.runs import groups_of, read_runs, run_files
from ..measures.absolute import HostEvaluator
from ..measures.strings import is_relative
from ..messages import warn
from ..priors import Policy
from ..rankings import Rankings
from ..scoring import Scores, one_topic_counts, score_runs


class Judged(NamedTuple):
    """The judgments, and the dataset that they are of, if they are of one."""

    columns: QrelsColumns
    iterations: Any  #: of each judgment: mostly 0, or the subtopic
    dataset: Any = None  #: of ir_datasets

    def as_ir_measures(self) -> Iterator[ir_measures.Qrel]:
        """The judgments as ir_measures takes them."""
        iterations = self.iterations.strings() if isinstance(self.iterations, Ids) else self.iterations
        labels = self.columns.relevance.astype(np.int64).tolist()
        return map(ir_measures.Qrel, *self.columns.ids(), labels, iterations)

    @property
    def num_docs(self) -> int | None:
        """The size of the collection, where it is known without fetching it."""
        return None if self.dataset is None else num_docs_of(self.dataset, fetch=False)


@dataclass(frozen=True)
class Inputs:
    """What a command works on."""

    args: argparse.Namespace
    measures: list[ir_measures.Measure]
    context: RunContext
    qrels: Judged
    files: list[Path]  #: of the context's runs
    provider: Any  #: of the measures that are not relative

    def name_of(self, run: str) -> str | None:
        """The name of a run, which is given by that or as a file; None where it is not one of the context's."""
        names = self.context.names
        return run if run in names else _name_of_file(run, names, self.files)

    @cached_property
    def scores(self) -> Scores:
        """The values of the runs; those of ir_measures by its provider, which also gets the qrels' iterations."""
        judged = judged_context(self.context, self.qrels.columns)
        host = [m for m in self.measures if not is_relative(m)]
        evaluator = HostEvaluator(self.provider, host, lambda _: list(self.qrels.as_ir_measures()))

        def absolute(measures: Sequence[ir_measures.Measure], rankings: Rankings) -> FloatArray:
            return evaluator.values(rankings, judged.judgments)

        names = self.context.names if self.args.is_folder else self.context.names[:1]
        scores = score_runs(judged, names, self.measures, absolute=absolute)
        if self.args.is_folder and (self.args.priors or "others") == "others":
            self._warn_of_twins()
        message = None if self.args.by_query else one_topic_counts(scores)
        if message is not None:
            warn(
                message.replace("meta.reliability", "meta.reliability in Python").replace(
                    "by topic", "by topic (-q)"
                )
            )
        return scores

    def _warn_of_twins(self) -> None:
        """Warns of a run that shows what another shows, where each is the other's prior."""
        relative = [
            m for m in self.measures if is_relative(m) and m.RELATIVE_TO == "priors" and not m.get("prior")
        ]
        depth = max((m.params.get("cutoff") or 0 for m in relative), default=0)
        judged, seen = judged_context(self.context, self.qrels.columns), dict[Any, str]()
        for name in self.context.names if depth else ():
            head = frozenset(judged.head_of(name, depth).items())
            twin = seen.setdefault(head, name)
            if twin != name and head:
                warn(
                    f"{twin} and {name} rank alike in their first {depth}: each is the other's prior, so neither adds "
                    "anything beside the other; there may be more such runs"
                )
                return


def read(
    args: argparse.Namespace, measures: list[ir_measures.Measure], files: list[Path], provider: Any
) -> Inputs:
    """Reads judgments and runs; ValueError for what cannot be read, or does not go together."""
    qrels = _read_qrels(args.qrels)
    context = _read_context(args, files, qrels.num_docs if args.num_docs is None else args.num_docs)
    _check_context(context, measures, args)
    if not args.is_folder:
        _check_newcomer(context, qrels)
    return Inputs(args, measures, context, qrels, files, provider)


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


def named(args: argparse.Namespace, runs: Iterable[Path]) -> dict[str, str]:
    """The files that the command reads, by what a message calls them."""
    others = {"the qrels": args.qrels, "the file of --groups": args.groups, "the reference": args.reference}
    return {f"the run {run}": located(run)[0] for run in runs} | {
        called: located(path)[0] for called, path in others.items() if path is not None
    }


def _read_context(args: argparse.Namespace, files: list[Path], num_docs: int | None) -> RunContext:
    try:
        runs = read_runs(files)
    except ValueError as error:
        if args.is_folder:
            raise ValueError(
                f"{error}; a file that is not a run does not belong in the folder of runs"
            ) from None
        raise
    names, reference = list(runs), args.reference
    if len(runs) > len(files) and not args.is_folder:
        raise ValueError(
            f"the files hold {len(runs)} runs, {', '.join(names)}; say behind the path which one is meant, such as "
            f"FILE#{names[0]}"
        )
    if reference is not None:
        # Where RUN is a file the reference is one too, even if a run is called what the file is.
        named = args.is_folder and reference in runs
        reference = reference if named else _name_of_file(reference, names, files)
        if reference is None:
            raise ValueError(
                f"--reference {args.reference} is not a run of {args.run}; its runs are {', '.join(names)}"
            )
    groups = _read_groups(args.groups, names) if args.groups else groups_of(runs)
    priors: Policy = args.priors or "others"
    return RunContext(runs, priors=priors, reference=reference, groups=groups, num_docs=num_docs)


def _name_of_file(path: str, names: Sequence[str], files: Sequence[Path]) -> str | None:
    at = [i for i, file in enumerate(files) if file.resolve() == Path(path).resolve()]
    return names[at[0]] if at and len(names) == len(files) else None  # a file may hold several runs


def _read_groups(path: str, names: Sequence[str]) -> dict[str, str]:
    """The group of every run; lines about other runs, and a header, are passed over."""
    advice = "give a CSV file of two columns, run,group"
    groups: dict[str, str] = {}
    try:
        text = read_bytes(path, f"--groups {path}").decode()
        rows = list(csv.reader(io.StringIO(text, newline="")))
    except UnicodeDecodeError:
        raise ValueError(f"--groups {path} is not text in UTF-8; {advice}") from None
    except csv.Error as error:
        raise ValueError(f"--groups {path}: {error}; {advice}") from None
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


def _read_qrels(name: str) -> Judged:
    """The judgments of a file, else of an ir_datasets id."""
    if os.path.isdir(name):
        raise ValueError(f"{name} is a folder; give a TREC qrels file, or an ir_datasets id, as QRELS")
    if os.path.exists(located(name)[0]):
        return Judged(*read_qrels_file(name))
    from .. import demo  # which imports ir_datasets, and that takes its time

    demo.register()
    if not sys.stderr.isatty():
        os.environ.setdefault("IR_DATASETS_DL_DISABLE_PBAR", "true")
    try:
        dataset = dataset_of(name)
    except ValueError as error:
        raise ValueError(f"there is no qrels file {name!r}, and {error}") from None
    with _held_back(logging.getLogger("ir_datasets")):
        qrels = qrels_of(dataset)
    return Judged(qrels_columns(qrels), [getattr(q, "iteration", "0") for q in qrels], dataset)


@contextmanager
def _held_back(logger: Any) -> Iterator[None]:
    """Holds back what is logged, and says it afterwards if there was no error."""
    records: list[Any] = []
    hold = records.append  # which returns None: the record goes no further
    logger.addFilter(hold)
    try:
        yield
    finally:
        logger.removeFilter(hold)
    for record in records:
        logger.handle(record)


def _check_context(
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


def _check_newcomer(context: RunContext, qrels: Judged) -> None:
    """Raises ValueError where the evaluated run is one of those to compare it with, under another name."""
    name = context.names[0]
    judged, rankings = judged_context(context, qrels.columns), context.runs[name]
    if not (judged.judgments.queries_of(rankings) >= 0).any():
        return
    for other in context.names:
        if other != name and judged.same_rankings(rankings, other):
            raise ValueError(
                f"the prior or reference {other!r} ranks exactly as the evaluated run; a run is not compared with "
                "itself: leave it out"
            )
