"""What commands read: runs, names, groups, judgments; and the scores of runs."""

from __future__ import annotations

import argparse
import gc
import io
import logging
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import repeat
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np

from ..context.absolute import AbsoluteEvaluator
from ..context.collection import Collection, judged_collection
from ..context.duplicates import find_alike
from ..context.evaluate import Scores, score_runs
from ..context.evaluated import Evaluated
from ..context.measure_strings import is_relative
from ..context.priors import POLICIES, Policy
from ..context.run_context import RunContext, cite_tracks
from ..data.arrays import FloatArray
from ..data.rankings import Rankings
from ..formats.content import Content
from ..formats.run_paths import PACKED, run_groups
from ..formats.track_file import is_track, locate_track
from ..io.datasets import count_docs, fetch_qrels, load_dataset
from ..io.files import read_bytes, split_part
from ..io.qrels import QrelsColumns, qrels_columns, read_qrels_file
from ..messages import few, warn
from .output import say
from .run_files import FileRun, RunFiles, find_files, find_run_files, read_file_runs, run_path


@dataclass
class CommandInputs:
    """Everything that a command has read: runs by name, judgments, and the runs to compare them with."""

    args: argparse.Namespace
    judgments: QrelsColumns | None  #: None where QRELS is the word none
    dataset: Any  #: of ir_datasets, that the judgments come from; None where they do not
    runs: dict[str, Rankings]  #: all, by name, the candidates first
    files: dict[str, Path]  #: of each run
    candidates: list[str]
    others: list[str]  #: the runs to compare the candidates with; none: with each other
    further: list[str]  #: runs that every context holds beside them
    is_folder: bool
    groups: dict[str, str]
    reference: str | None = None

    @property
    def alone(self) -> bool:
        """Whether each candidate is compared with the runs of ``--to`` alone, not with the other candidates."""
        return bool(self.others) and self.args.priors is None

    def context(self, names: Iterable[str], priors: Policy | None = None) -> RunContext:
        """Return a context of these runs and the further ones."""
        names = list(dict.fromkeys([*names, *self.further]))
        return RunContext(
            {name: self.runs[name] for name in names},
            priors=priors or self.args.priors or "others",
            reference=self.reference if self.reference in names else None,
            groups={name: self.groups[name] for name in names if name in self.groups},
            num_docs=self.args.num_docs,
            grades=self.args.grades,
            drop_self=self.args.drop_self,
        )

    @cached_property
    def together(self) -> RunContext:
        """All runs in one context: those of ``--to`` are the priors, or by ``--priors`` come before candidates."""
        if self.alone or not self.others:
            return self.context(self.runs, self.others or None)
        return self.context(dict.fromkeys([*self.others, *self.candidates]))

    def contexts(self, check: bool = True) -> Iterator[tuple[list[str], RunContext]]:
        """Yield candidates with their context: each with one of its own where there is ``--to``, else all with one."""
        if not self.alone:
            yield self.candidates, self.together
            return
        for name in self.candidates:
            context = self.context([name, *self.others])
            if check and self.judgments is not None and name not in self.others:
                self._check_new_runs(judged_collection(context, self.judgments), [name])
            yield [name], context
            gc.collect()  # what a context has computed refers to it, and would stay: a gigabyte for 17 large runs

    def find_name(self, option: str, run: str) -> str:
        """Return the name of a run that an option gives by its name, its path, or its file name."""
        if run in self.runs:
            return run
        path = run_path(run).resolve()
        same = [name for name, file in self.files.items() if path == file.resolve() or run in _labels(file)]
        if len(same) != 1:
            raise ValueError(f"{option} {run} is not a run of {self.args.run}; its runs are {few(self.runs)}")
        return same[0]

    def scores(self, measures: list[ir_measures.Measure], provider: Any, of_all: bool = False) -> Scores:
        """Return the values of the candidates, or of all runs; the absolute ones as the provider computes them."""
        assert self.judgments is not None
        as_new_runs = self.alone and not of_all  # so that no candidate is a system to another
        context = self.context(self.others) if as_new_runs else self.together
        names = context.names if of_all else self.candidates
        new_runs = {name: self.runs[name] for name in names if name not in context.runs}
        collection = judged_collection(context, self.judgments)
        self._check_new_runs(collection, new_runs)
        qrels, absolute = self.judgments, [m for m in measures if not is_relative(m)]
        evaluator = AbsoluteEvaluator(provider, absolute, lambda _: _for_ir_measures(qrels))

        def score(measures: Sequence[ir_measures.Measure], rankings: Rankings) -> FloatArray:
            positions = partial(collection.relevant_positions, rankings)
            return evaluator.values(rankings, collection.judgments, positions)

        return score_runs(collection, names, measures, absolute=score, new_runs=new_runs)

    def _check_new_runs(self, collection: Collection, names: Iterable[str]) -> None:
        """Raise ValueError, in a folder warn, where a candidate ranks exactly as a run that it is compared with."""
        for name in names:
            rankings = self.runs[name]
            if not (collection.documents.match_queries(rankings) >= 0).any():
                continue
            evaluated = Evaluated.of(collection, rankings)
            same = find_alike(evaluated, (other for other in collection.runs if other != name))
            if same is not None and not self.is_folder:
                raise ValueError(
                    f"the prior or reference {same!r} ranks exactly as the evaluated run; leave it out"
                )
            if same is not None:
                warn(f"{same!r} of --to ranks exactly as {name!r}; leave one of them out if they are one run")


def _for_ir_measures(qrels: QrelsColumns) -> list[ir_measures.Qrel] | dict[str, dict[str, int]]:
    """Return judgments for ir_measures: as a dict if a query has none, with the iteration "0" without aspects."""
    aspects = qrels.aspect_texts()
    iterations = repeat("0") if aspects is None else map(str, aspects)
    rows = map(ir_measures.Qrel, *qrels.ids(), qrels.relevance.astype(np.int64).tolist(), iterations)
    unjudged = qrels.unjudged_queries
    if not unjudged:
        return list(rows)
    nested: dict[str, dict[str, int]] = {query: {} for query in unjudged}
    for row in rows:
        nested.setdefault(row.query_id, {})[row.doc_id] = row.relevance
    return nested


def read(
    args: argparse.Namespace,
    measures: Sequence[ir_measures.Measure] = (),
    files: RunFiles | None = None,
    may_lack_qrels: bool = False,
    shows_names: bool = True,
) -> CommandInputs:
    """Read judgments and runs; raises ValueError for what cannot be read, or does not go together.

    ``shows_names``: whether the answer shows the names of runs also where RUN is one file.
    """
    files = find_files(args) if files is None else files
    if args.priors and POLICIES[args.priors].needs_groups and not args.groups:
        raise ValueError(f"--priors {args.priors} needs the groups: give --groups CSV")
    without = may_lack_qrels and args.qrels == "none" and not os.path.exists("none")
    judgments, dataset = (None, None) if without else read_qrels(args.qrels)
    # Freed at once and never touched, by which C's library learns to keep what is freed (glibc: to 64 MB) for what is
    # read next: else the system gives and clears new memory for every array of every file.
    bytes(31 << 20)
    file_runs, tracks = read_file_runs(files, args.allow_empty)
    tags, paths, rankings = zip(*_leave_out_of_track(args, files, file_runs), strict=True)
    args.tracks = cite_tracks(rankings)
    for track in tracks:
        args.num_docs = track.num_docs if args.num_docs is None else args.num_docs
        args.grades = track.grades if args.grades is None else args.grades
        args.drop_self |= track.drop_self
    if args.num_docs is None and dataset is not None:
        args.num_docs = count_docs(dataset, fetch=False)
    names = list(tags) if args.names is None else _display_names(args.names, tags, paths)
    if duplicate := _first_duplicate(names):
        same = few(path for name, path in zip(names, paths, strict=True) if name == duplicate)
        raise ValueError(
            f"{same} both hold a run {duplicate!r}; leave one of them out, or name it by --names"
        )
    runs = {new: run.with_attributes(name=f"run {new!r}") for new, run in zip(names, rankings, strict=True)}
    if args.drop_self:
        runs = {name: run.without_self() for name, run in runs.items()}
    by_file: dict[Path, list[str]] = {}
    for name, path in zip(names, paths, strict=True):
        by_file.setdefault(path.resolve(), []).append(name)

    def names_in(files: Iterable[Path]) -> list[str]:
        return list(dict.fromkeys(name for file in files for name in by_file[file.resolve()]))

    given = CommandInputs(
        args,
        judgments,
        dataset,
        runs,
        dict(zip(names, paths, strict=True)),
        names_in(files.candidates),
        names_in(files.others),
        names_in(files.further),
        files.is_folder,
        _read_groups(args.groups, tags, names, paths) if args.groups else run_groups(runs) or {},
    )
    if args.reference is not None:
        if os.path.exists(args.reference) and not files.is_folder:
            [given.reference] = names_in(find_run_files("--reference", args.reference)[:1])
        else:
            given.reference = given.find_name("--reference", args.reference)
    _check_measures(given, measures)
    if args.names is None and (shows_names or files.is_folder):
        _say_whose_names(given.files)
    return given


def _leave_out_of_track(args: argparse.Namespace, files: RunFiles, runs: list[FileRun]) -> list[FileRun]:
    """Leave out of ``--track`` the runs whose names the candidates have, as ``place`` does; say so."""
    if args.track is None or args.names is not None:
        return runs
    track = locate_track(args.track)[0].resolve()
    candidates = {path.resolve() for path in files.candidates} - {track}
    names = {name for name, path, _ in runs if path.resolve() in candidates}
    left_out = [name for name, path, _ in runs if name in names and path.resolve() == track]
    rest = [run for run in runs if run[0] not in names or run[1].resolve() != track]
    if not left_out or all(path.resolve() != track for _, path, _ in rest):  # nothing is left of the track
        return runs
    shown = few(left_out, 3)
    say("note", f"left out of --track {args.track}: {shown}, as {args.run} has a run of the same name")
    return rest


def _first_duplicate(names: Sequence[str]) -> str | None:
    return next((name for name, count in Counter(names).items() if count > 1), None)


def _say_whose_names(files: Mapping[str, Path]) -> None:
    """Say which runs are named by a tag that differs from their file name."""
    tags = [
        f"{name} is {file}"
        for name, file in files.items()
        if file != run_path("-")
        and file.suffix != ".track"
        and file.is_file()
        and not _is_in_path(name, file)
    ]
    if tags:
        say("note", f"runs are named by their tags: {few(tags, 3)}; --names sets other names")


def _is_in_path(name: str, file: Path) -> bool:
    """Return whether a name is a part of a path, a folder in it, or a part of the file name between separators."""
    if "/" in name and name in file.as_posix():
        return True
    *folders, last = Path(os.path.abspath(file)).parts
    return name in folders or re.search(rf"(?<!\w){re.escape(name)}(?!\w)", last, re.IGNORECASE) is not None


def _labels(file: Path) -> list[str]:
    """Return what may stand for a run file: its path or the end of it, with the endings or without; longest first."""
    *folders, name = Path(os.path.abspath(file)).parts
    unpacked = name.removesuffix(file.suffix) if file.suffix in PACKED else name
    names = dict.fromkeys([name, unpacked, os.path.splitext(unpacked)[0]])
    ends = [os.path.join("", *folders[i:], last) for i in range(len(folders) + 1) for last in names]
    return [str(file), *ends]


def _display_names(path: str, tags: Sequence[str], files: Sequence[Path]) -> list[str]:
    lines = read_pairs("--names", path, "run,name")
    new = [_find_value(lines, tag, file) for tag, file in zip(tags, files, strict=True)]
    if not any(new):
        raise ValueError(f"--names {path} names none of the runs, which are {few(tags)}; correct it")
    names = [name or tag for name, tag in zip(new, tags, strict=True)]
    if duplicate := _first_duplicate(names):
        raise ValueError(f"--names {path} calls two runs {duplicate!r}; give each its own name")
    return names


def _read_groups(
    path: str, tags: Sequence[str], names: Sequence[str], files: Sequence[Path]
) -> dict[str, str]:
    """Return the group of every run; lines about other runs are ignored, runs without a line are in "other"."""
    lines = read_pairs("--groups", path, "run,group")
    groups = {
        name: lines.get(name) or _find_value(lines, tag, file) or ""
        for tag, name, file in zip(tags, names, files, strict=True)
    }
    lacking = [name for name, group in groups.items() if not group]
    if len(lacking) == len(groups):
        raise ValueError(
            f"--groups {path} names none of the runs, which are {few(names)}; add a line such as '{names[0]},its group'"
        )
    if lacking:
        warn(f"--groups {path} has no group for {few(lacking)}: in the group 'other'; add a line for each")
    return {name: group or "other" for name, group in groups.items()}


def _find_value(lines: Mapping[str, str], tag: str, file: Path) -> str | None:
    """Return the value that a file of two columns gives to a run, by its tag or its file."""
    values = {os.path.normpath(run): value for run, value in lines.items()} | dict(lines)
    return next((values[label] for label in (tag, *_labels(file)) if label in values), None)


def read_pairs(option: str, path: str, columns: str) -> dict[str, str]:
    """Read a CSV file of two columns, which may start with their names."""
    import pandas as pd

    source, names = f"{option} {path}", columns.split(",")
    plain: dict[str, Any] = {"header": None, "dtype": str, "keep_default_na": False, "skipinitialspace": True}
    text = Content(read_bytes(path, source), source).text.removeprefix("\ufeff")
    try:
        rows = pd.read_csv(io.StringIO(text), **plain)
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise ValueError(f"{source}: {error}; give a CSV file of two columns, {columns}") from None
    if rows.shape[1] != 2:
        raise ValueError(f"{source} is no CSV file of two columns; give one of {columns}")
    pairs: dict[str, str] = {}
    for number, (run, value) in enumerate(rows.apply(lambda cells: cells.str.strip()).to_numpy(), start=1):
        if not (run and value):
            raise ValueError(f"{source}, line {number}: a line is '{columns}', not {f'{run},{value}'[:80]!r}")
        if number == 1 and [run.lower(), value.lower()] == names:
            continue
        if pairs.setdefault(run, value) != value:
            raise ValueError(f"{source}, line {number}: {run!r} is in {pairs[run]!r} already")
    return pairs


def read_qrels(name: str) -> tuple[QrelsColumns, Any]:
    """Return the judgments of a file, a track or a dataset of ir_datasets, and the dataset if it is one."""
    if os.path.isdir(name):
        raise ValueError(f"{name} is a folder; give a TREC qrels file, or an ir_datasets id, as QRELS")
    if is_track(name) and (os.path.exists(name) or "://" in name):
        return qrels_columns(fetch_qrels(RunContext.from_track(name).dataset)), None
    if os.path.exists(split_part(name)[0]):
        return read_qrels_file(name), None
    from .. import demo  # it imports ir_datasets, which takes time

    demo.register()
    if not sys.stderr.isatty():
        os.environ.setdefault("IR_DATASETS_DL_DISABLE_PBAR", "true")
    try:
        dataset = load_dataset(name)
    except ValueError as error:
        raise ValueError(f"there is no qrels file {name!r}, and {error}") from None
    logger, records = logging.getLogger("ir_datasets"), list[Any]()
    hold: Any = records.append  # returns None, so a record is logged only below, where there was no error
    logger.addFilter(hold)
    try:
        qrels = fetch_qrels(dataset)
    finally:
        logger.removeFilter(hold)
    for record in records:
        logger.handle(record)
    return qrels_columns(qrels), dataset


def _check_measures(given: CommandInputs, measures: Iterable[ir_measures.Measure]) -> None:
    """Raise ValueError where a measure needs a run to compare with that is not there."""
    relative = [m for m in measures if is_relative(m)]
    need_runs = [str(m) for m in relative if m.RELATIVE_TO != "chance"]
    if len(given.runs) == 1 and need_runs and not given.is_folder:
        raise ValueError(f"{', '.join(need_runs)} needs runs to compare with: pass them with --to")
    against = [name for name in given.runs if name in given.others or not given.alone]
    need_reference = [str(m) for m in relative if m.RELATIVE_TO == "reference" and m.get("ref") is None]
    if given.reference is None and need_reference and len(against) > (1 if given.alone else 2):
        raise ValueError(
            f"{', '.join(need_reference)} needs one reference run: set --reference to one of {few(against)}"
        )
