"""The run files that a command is given, and the tracks among them; their runs."""

from __future__ import annotations

import argparse
import glob
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

from ..context.run_context import RunContext
from ..data.rankings import Rankings
from ..formats.run_paths import read_runs, run_files
from ..formats.track_file import is_track, locate_track
from ..io.files import split_part


class RunFiles(NamedTuple):
    """The run files of a command, before they are read."""

    candidates: list[Path]
    others: list[Path]  #: of ``--to``, and of ``--reference`` where it is in neither
    further: list[Path]  #: of ``--others``
    is_folder: bool  #: whether the candidates are a folder, a glob or a track
    named: list[Path]  #: the arguments: a file among them holds a run, whatever it looks like
    tracks: Mapping[Path, str]  #: those that are tracks, which hold several runs, and the argument for each

    def all(self) -> list[Path]:
        """Return each file once, candidates first."""
        return _unique([*self.candidates, *self.others, *self.further])


#: The name of a run, its file, and its rankings.
FileRun: TypeAlias = tuple[str, Path, Rankings]


def _unique(files: Iterable[Path]) -> list[Path]:
    return list({file.resolve(): file for file in files}.values())


def read_file_runs(files: RunFiles, allow_empty: bool) -> tuple[list[FileRun], list[RunContext]]:
    """Return the runs, candidates first, and the tracks among the files; another file has one run."""
    single = [path for path in files.all() if path.resolve() not in files.tracks]
    runs = read_runs(single, files.named, allow_empty=allow_empty) if single else {}
    if len(runs) > len(single):
        names, first = ", ".join(runs), next(iter(runs))
        raise ValueError(f"the files hold {len(runs)} runs, {names}; name one, as in FILE#{first}")
    by_path = {path: [run] for path, run in zip(single, runs.items(), strict=True)}
    tracks = {path: RunContext.from_track(text) for path, text in files.tracks.items()}
    in_file = ((path, by_path.get(path) or tracks[path.resolve()].runs.items()) for path in files.all())
    return [(name, path, run) for path, named in in_file for name, run in named], list(tracks.values())


def find_files(args: argparse.Namespace) -> RunFiles:
    """Return the files of runs; raise ValueError or OSError for files that do not exist or do not go together."""
    is_folder = os.path.isdir(args.run) or (not os.path.exists(args.run) and glob.has_magic(args.run))
    is_folder |= is_track(args.run)
    candidates = find_run_files(args.metavar, args.run)
    others = [file for path in args.to for file in find_run_files("--to", path)]
    others += [] if args.track is None else [locate_track(args.track)[0]]
    reference, baseline = _one_file("--reference", args.reference), _one_file("--baseline", args.baseline)
    if [args.run, *args.to, args.reference, args.baseline].count("-") > 1:
        raise ValueError("- is the standard input, which can be read once; give a file for the other run")
    if not is_folder:
        given = [("--to", path, find_run_files("--to", path)) for path in args.to if not os.path.isdir(path)]
        given += [("--reference", args.reference, reference), ("--baseline", args.baseline, baseline)]
        for option, path, files in given:
            if any(file.resolve() == candidates[0].resolve() for file in files):
                instead = "name another run" if option == "--baseline" else "leave it out"
                raise ValueError(f"{option} {path} is the evaluated run itself; {instead}")
    if others or not is_folder:
        resolved = {file.resolve() for file in others}
        others += [file for file in reference if file.resolve() not in resolved]
    further = [file for path in args.others for file in find_run_files("--others", path)]
    named = [run_path(run) for run in (args.run, *args.to, args.reference, args.baseline) if run is not None]
    named_tracks = [*filter(is_track, (args.run, *args.to, *args.others)), *filter(None, [args.track])]
    tracks = {locate_track(text)[0].resolve(): text for text in named_tracks}
    return RunFiles(_unique([*candidates, *baseline]), others, further, is_folder, named, tracks)


def find_run_files(option: str, path: str) -> list[Path]:
    """Return the run files that an argument stands for; - is the standard input."""
    if path == "-" and sys.stdin is None:
        raise ValueError(f"{option} - is the standard input, which is closed; send the run to it")
    if is_track(path):
        return [locate_track(path)[0]]
    try:
        return [run_path(path)] if path == "-" else run_files(path)
    except FileNotFoundError as error:
        if error.strerror:  # the system's own, which knows the file: one that was there a moment ago
            raise
        raise FileNotFoundError(f"{option}: {error}") from None


def run_path(text: str) -> Path:
    """Return the path in an argument that names a run."""
    return Path("/dev/stdin" if text == "-" else text)


def _one_file(option: str, run: str | None) -> list[Path]:
    """Return the file of a run that is given by its file; nothing where it is given by its name, or not at all."""
    if run is None or not (run == "-" or os.path.exists(split_part(run)[0])):
        return []
    files = find_run_files(option, run)
    if len(files) > 1:
        raise ValueError(f"{option} {run} stands for {len(files)} files; name one run file")
    return files


def input_files(args: argparse.Namespace, runs: Iterable[Path]) -> dict[str, str]:
    """Return the files that the command reads, by their names in messages."""
    tables = {"the qrels": args.qrels, "the file of --groups": args.groups, "the file of --names": args.names}
    return {f"the run {run}": split_part(run)[0] for run in runs} | {
        called: split_part(path)[0] for called, path in tables.items() if path is not None
    }
