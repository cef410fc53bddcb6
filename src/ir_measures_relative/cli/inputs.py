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
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import ir_measures

from ..context.absolute import AbsoluteEvaluator
from ..context.collection import Collection, judged_collection
from ..context.duplicates import find_alike
from ..context.evaluate import Scores, score_runs
from ..context.evaluated import Evaluated
from ..context.measure_strings import is_relative
from ..context.priors import POLICIES, Policy
from ..context.run_context import RunContext
from ..data.arrays import FloatArray
from ..data.cut_rankings import cite_tracks
from ..data.rankings import Rankings
from ..formats.content import Content
from ..formats.track_file import is_track
from ..io.datasets import count_docs, fetch_qrels, load_dataset
from ..io.files import read_bytes, split_part
from ..io.qrels import QrelsColumns, qrels_columns, read_qrels_file
from ..io.run_paths import PACKED
from ..io.runs import run_groups
from ..messages import few, warn
from .output import say
from .run_files import RunFiles, files_of, find_files, path_of, read_file_runs


class Judged(NamedTuple):
    """The judgments, and the dataset that they are of, if they are of one."""

    columns: QrelsColumns
    dataset: Any = None  #: of ir_datasets

    @property
    def num_docs(self) -> int | None:
        """The size of the collection, where it is known without fetching it."""
        return None if self.dataset is None else count_docs(self.dataset, fetch=False)


@dataclass(frozen=True)
class Inputs:
    """What a command has read: runs by name, judgments, and what they are compared with."""

    args: argparse.Namespace
    qrels: Judged | None  #: None where QRELS is the word none
    runs: dict[str, Rankings]  #: all, by name, the candidates first
    files: dict[str, Path]  #: of each run
    candidates: list[str]
    others: list[str]  #: what the candidates are compared with; none: against each other
    further: list[str]  #: what every context holds beside them
    is_folder: bool
    groups: dict[str, str]
    reference: str | None

    @property
    def judgments(self) -> QrelsColumns | None:
        return None if self.qrels is None else self.qrels.columns

    @property
    def alone(self) -> bool:
        """Whether each candidate is compared with the others of ``--to`` alone, not against the other candidates."""
        return bool(self.others) and self.args.priors is None

    def context(self, names: Iterable[str], priors: Policy | None = None) -> RunContext:
        kept = list(dict.fromkeys([*names, *self.further]))
        known = self.args.num_docs
        if known is None and self.qrels is not None:
            known = self.qrels.num_docs
        return RunContext(
            {name: self.runs[name] for name in kept},
            priors=priors or self.args.priors or "others",
            reference=self.reference if self.reference in kept else None,
            groups={name: self.groups[name] for name in kept if name in self.groups},
            num_docs=known,
            grades=self.args.grades,
            drop_self=self.args.drop_self,
        )

    @cached_property
    def together(self) -> RunContext:
        """All runs in one context: those of ``--to`` are the priors, or by ``--priors`` come before candidates."""
        if self.alone or not self.others:
            return self.context(self.runs, self.others or None)
        own = [name for name in self.candidates if name not in self.others]
        return self.context([*self.others, *own])

    def campaigns(self, check: bool = True) -> Iterator[tuple[list[str], RunContext]]:
        """The candidates and their context: each in one of its own with ``--to``, or all in one."""
        if not self.alone:
            yield self.candidates, self.together
            return
        for name in self.candidates:
            context = self.context(dict.fromkeys([name, *self.others]))
            if check and self.qrels is not None and name not in self.others:
                self._check_new_runs(judged_collection(context, self.judgments), {name: self.runs[name]})
            yield [name], context
            gc.collect()  # what a context has computed refers to it, and would stay: a gigabyte for 17 large runs

    def name_of(self, run: str) -> str | None:
        """The name of a run, given by that, its file, or what the file is called; None where there is none."""
        if run in self.runs:
            return run
        path = path_of(run).resolve()
        same = [name for name, file in self.files.items() if path == file.resolve() or run in _labels(file)]
        return same[0] if len(same) == 1 else None

    def asked_for(self, flag: str, run: str) -> str:
        name = self.name_of(run)
        if name is None:
            raise ValueError(f"{flag} {run} is not a run of {self.args.run}; its runs are {few(self.runs)}")
        return name

    def scores(self, measures: list[ir_measures.Measure], provider: Any, of_all: bool = False) -> Scores:
        """The values of the candidates; those of ir_measures by a provider, which also gets the qrels' iterations."""
        assert self.qrels is not None
        as_new_runs = self.alone and not of_all  # so that no candidate is a system to the others
        context = self.context(self.others) if as_new_runs else self.together
        names = context.names if of_all else self.candidates
        new_runs = {name: self.runs[name] for name in names if name not in context.runs}
        collection = judged_collection(context, self.qrels.columns)
        if new_runs:
            self._check_new_runs(collection, new_runs)
        host = [m for m in measures if not is_relative(m)]
        qrels = self.qrels.columns
        evaluator = AbsoluteEvaluator(provider, host, lambda _: qrels.as_ir_measures())

        def absolute(measures: Sequence[ir_measures.Measure], rankings: Rankings) -> FloatArray:
            positions = partial(collection.relevant_positions, rankings)
            return evaluator.values(rankings, collection.judgments, positions)

        return score_runs(collection, names, measures, absolute=absolute, new_runs=new_runs)

    def _check_new_runs(self, collection: Collection, new_runs: dict[str, Rankings]) -> None:
        """Raises ValueError, in a folder warns, where a candidate ranks exactly as a run that it is compared with."""
        for name, rankings in new_runs.items():
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


def read(
    args: argparse.Namespace,
    measures: Sequence[ir_measures.Measure] = (),
    files: RunFiles | None = None,
    may_lack_qrels: bool = False,
    shows_names: bool = True,
) -> Inputs:
    """Read judgments and runs; raises ValueError for what cannot be read, or does not go together.

    ``shows_names``: whether the answer shows the names of runs also where RUN is one file.
    """
    files = find_files(args) if files is None else files
    if args.priors and POLICIES[args.priors].needs_groups and not args.groups:
        raise ValueError(f"--priors {args.priors} needs the groups: give --groups CSV")
    without = may_lack_qrels and args.qrels == "none" and not os.path.exists("none")
    qrels = None if without else read_qrels(args.qrels)
    # Freed at once and never touched, by which C's library learns to keep what is freed (glibc: to 64 MB) for what is
    # read next: else the system gives and clears new memory for every array of every file.
    bytes(31 << 20)
    names, paths, rankings, tracks = read_file_runs(files, args.allow_empty)
    args.tracks = cite_tracks(rankings)
    for track in tracks:
        args.num_docs = track.num_docs if args.num_docs is None else args.num_docs
        args.grades = track.grades if args.grades is None else args.grades
        args.drop_self |= track.drop_self
    shown = _shown(args.names, names, paths)
    if again := [name for name, count in Counter(shown).items() if count > 1]:
        own = few(path for name, path in zip(shown, paths, strict=True) if name == again[0])
        raise ValueError(f"{own} both hold a run {again[0]!r}; leave one of them out, or name it by --names")
    runs = {new: run.named(f"run {new!r}") for new, run in zip(shown, rankings, strict=True)}
    if args.drop_self:
        runs = {name: run.without_self() for name, run in runs.items()}
    of_file: dict[Path, list[str]] = {}
    for name, path in zip(runs, paths, strict=True):
        of_file.setdefault(path.resolve(), []).append(name)

    def of_files(some: Iterable[Path]) -> list[str]:
        return list(dict.fromkeys(name for file in some for name in of_file[file.resolve()]))

    given = Inputs(
        args,
        qrels,
        runs,
        dict(zip(runs, paths, strict=True)),
        of_files(files.candidates),
        of_files(files.others),
        of_files(files.further),
        files.is_folder,
        _groups_of(args.groups, names, list(runs), paths) if args.groups else run_groups(runs) or {},
        None,
    )
    if args.reference is not None:
        if os.path.exists(args.reference) and not files.is_folder:
            [name] = of_files(files_of("--reference", args.reference)[:1])
        else:
            name = given.asked_for("--reference", args.reference)
        given = replace(given, reference=name)
    _check_measures(given, measures)
    if args.names is None and (shows_names or files.is_folder):
        _say_whose_names(given.files)
    return given


def _say_whose_names(files: Mapping[str, Path]) -> None:
    """Say which files the runs are of whose names, which are their tags, are not those of their files."""
    tags = [
        f"{name} is {file}"
        for name, file in files.items()
        if file != path_of("-") and file.suffix != ".track" and file.is_file() and not _is_in_path(name, file)
    ]
    if tags:
        say("note", f"runs are named by their tags: {few(tags, 3)}; --names sets other names")


def _is_in_path(name: str, file: Path) -> bool:
    """Return whether a name is a folder of a path, or a part of the file's name that stands between other signs."""
    *folders, last = Path(os.path.abspath(file)).parts
    return name in folders or re.search(rf"(?<!\w){re.escape(name)}(?!\w)", last, re.IGNORECASE) is not None


def _labels(file: Path) -> list[str]:
    """Return what may stand for a run file: its path or the end of it, with the endings or without; longest first."""
    *folders, name = Path(os.path.abspath(file)).parts
    plain = name.removesuffix(file.suffix) if file.suffix in PACKED else name
    names = dict.fromkeys([name, plain, os.path.splitext(plain)[0]])
    ends = [os.path.join("", *folders[i:], last) for i in range(len(folders) + 1) for last in names]
    return [str(file), *ends]


def _shown(path: str | None, names: Sequence[str], files: Sequence[Path]) -> list[str]:
    if path is None:
        return list(names)
    given = read_pairs("--names", path, "run,name")
    new = [_of_run(given, name, file) for name, file in zip(names, files, strict=True)]
    if not any(new):
        raise ValueError(f"--names {path} names none of the runs, which are {few(names)}; correct it")
    found = [one or name for one, name in zip(new, names, strict=True)]
    twice = [name for name, count in Counter(found).items() if count > 1]
    if twice:
        raise ValueError(f"--names {path} calls two runs {twice[0]!r}; give each its own name")
    return found


def _groups_of(
    path: str, names: Sequence[str], shown: Sequence[str], files: Sequence[Path]
) -> dict[str, str]:
    """The group of every run; lines about other runs are passed over, and runs without a line are group "other"."""
    given = read_pairs("--groups", path, "run,group")
    groups = {
        new: given.get(new) or _of_run(given, name, file) or ""
        for name, new, file in zip(names, shown, files, strict=True)
    }
    lacking = [name for name, group in groups.items() if not group]
    if len(lacking) == len(groups):
        raise ValueError(
            f"--groups {path} names none of the runs, which are {few(shown)}; add a line such as '{shown[0]},its group'"
        )
    if lacking:
        warn(f"--groups {path} has no group for {few(lacking)}: in the group 'other'; add a line for each")
    return {name: group or "other" for name, group in groups.items()}


def _of_run(given: Mapping[str, str], name: str, file: Path) -> str | None:
    """Return what a file of two columns says of a run, by its name or its file."""
    said = {os.path.normpath(run): value for run, value in given.items()} | dict(given)
    return next((said[label] for label in (name, *_labels(file)) if label in said), None)


def read_pairs(flag: str, path: str, columns: str) -> dict[str, str]:
    """The lines of a CSV file of two columns, which may start with their names."""
    import pandas as pd

    source, names = f"{flag} {path}", columns.split(",")
    plain: dict[str, Any] = {"header": None, "dtype": str, "keep_default_na": False, "skipinitialspace": True}
    text = Content(read_bytes(path, source), source).text.removeprefix("\ufeff")
    try:
        rows = pd.read_csv(io.StringIO(text), **plain)
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise ValueError(f"{source}: {error}; give a CSV file of two columns, {columns}") from None
    if rows.shape[1] != 2:
        raise ValueError(f"{source} is no CSV file of two columns; give one of {columns}")
    found: dict[str, str] = {}
    for number, (run, value) in enumerate(rows.apply(lambda cells: cells.str.strip()).to_numpy(), start=1):
        if not (run and value):
            raise ValueError(f"{source}, line {number}: a line is '{columns}', not {f'{run},{value}'[:80]!r}")
        if number == 1 and [run.lower(), value.lower()] == names:
            continue
        if found.setdefault(run, value) != value:
            raise ValueError(f"{source}, line {number}: {run!r} is in {found[run]!r} already")
    return found


def read_qrels(name: str) -> Judged:
    if os.path.isdir(name):
        raise ValueError(f"{name} is a folder; give a TREC qrels file, or an ir_datasets id, as QRELS")
    if is_track(name) and (os.path.exists(name) or "://" in name):
        return Judged(qrels_columns(fetch_qrels(RunContext.from_track(name).dataset)))
    if os.path.exists(split_part(name)[0]):
        return Judged(read_qrels_file(name))
    from .. import demo  # which imports ir_datasets, and that takes its time

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
    return Judged(qrels_columns(qrels), dataset)


def _check_measures(given: Inputs, measures: Iterable[ir_measures.Measure]) -> None:
    """Raises ValueError where a measure needs a run to compare with that is not there."""
    relative = [m for m in measures if is_relative(m)]
    of_context = [str(m) for m in relative if m.RELATIVE_TO != "chance"]
    if len(given.runs) == 1 and of_context and not given.is_folder:
        raise ValueError(f"{', '.join(of_context)} needs runs to compare with: pass them with --to")
    against = [n for n in given.runs if n in given.others or not given.alone]
    without = [str(m) for m in relative if m.RELATIVE_TO == "reference" and m.get("ref") is None]
    if given.reference is None and without and len(against) > (1 if given.alone else 2):
        raise ValueError(
            f"{', '.join(without)} needs one reference run: set --reference to one of {few(against)}"
        )
