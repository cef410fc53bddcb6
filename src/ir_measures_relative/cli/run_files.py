"""The run files that a command is given, and the tracks among them; their runs."""

from __future__ import annotations

import argparse
import glob
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from ..context.run_context import RunContext
from ..data.rankings import Rankings
from ..formats.track_file import is_track, locate_track
from ..io.files import split_part
from ..io.run_paths import read_runs, run_files


class RunFiles(NamedTuple):
    """The run files of a command, before they are read."""

    candidates: list[Path]
    others: list[Path]  #: of ``--to``, and of ``--reference`` where it is in neither
    further: list[Path]  #: of ``--others``
    is_folder: bool  #: or a glob
    named: list[Path]  #: the arguments: a file among them holds a run, whatever it looks like
    tracks: Mapping[Path, str]  #: those that are tracks, which hold several runs, and what was given

    def all(self) -> list[Path]:
        """Each once, candidates first."""
        return list(
            {file.resolve(): file for file in [*self.candidates, *self.others, *self.further]}.values()
        )


class FileRuns(NamedTuple):
    """The runs of some files, one after the other."""

    names: list[str]
    paths: list[Path]  #: of each run
    rankings: list[Rankings]
    tracks: list[RunContext]  #: those among the files


def read_file_runs(files: RunFiles, allow_empty: bool) -> FileRuns:
    """Return the runs of files, candidates first; a file that is no track has one."""
    plain = [path for path in files.all() if path.resolve() not in files.tracks]
    read = read_runs(plain, files.named, allow_empty=allow_empty) if plain else {}
    if len(read) > len(plain):
        names, first = ", ".join(read), next(iter(read))
        raise ValueError(f"the files hold {len(read)} runs, {names}; name one, as in FILE#{first}")
    of_file = {path: [run] for path, run in zip(plain, read.items(), strict=True)}
    tracks = {path: RunContext.from_track(text) for path, text in files.tracks.items()}
    found = FileRuns([], [], [], list(tracks.values()))
    for path in files.all():
        for name, run in of_file.get(path) or tracks[path.resolve()].runs.items():
            found.names.append(name)
            found.paths.append(path)
            found.rankings.append(run)
    return found


def find_files(args: argparse.Namespace, baseline: str | None = None) -> RunFiles:
    """Return the files of runs; raises ValueError, or an error of the system, for what is not there."""
    is_folder = os.path.isdir(args.run) or (not os.path.exists(args.run) and glob.has_magic(args.run))
    is_folder |= is_track(args.run)
    to = [*args.to, *filter(None, [getattr(args, "track", None)])]
    candidates = files_of(args.called, args.run)
    others = [file for path in to for file in files_of("--to", path)]
    reference, compared = _one_file("--reference", args.reference), _one_file("--baseline", baseline)
    if [args.run, *args.to, args.reference, baseline].count("-") > 1:
        raise ValueError("- is the standard input, which can be read once; give a file for the other run")
    if not is_folder:
        own = candidates[0].resolve()
        given = [("--to", path, files_of("--to", path)) for path in to if not os.path.isdir(path)]
        given += [("--reference", args.reference, reference), ("--baseline", baseline, compared)]
        for flag, path, files in given:
            if any(file.resolve() == own for file in files):
                instead = "name another run" if flag == "--baseline" else "leave it out"
                raise ValueError(f"{flag} {path} is the evaluated run itself; {instead}")
    candidates = list({file.resolve(): file for file in [*candidates, *compared]}.values())
    if others or not is_folder:
        held = {file.resolve() for file in others}
        others += [file for file in reference if file.resolve() not in held]
    further = [file for path in getattr(args, "others", ()) for file in files_of("--others", path)]
    named = [path_of(run) for run in (args.run, *args.to, args.reference, baseline) if run is not None]
    texts = [args.run, *to, *getattr(args, "others", ())]
    tracks = {locate_track(text)[0].resolve(): text for text in texts if is_track(text)}
    return RunFiles(candidates, others, further, is_folder, named, tracks)


def files_of(called: str, path: str) -> list[Path]:
    """Return the run files that an argument stands for; - is the standard input."""
    if path == "-" and sys.stdin is None:
        raise ValueError(f"{called} - is the standard input, which is closed; send the run to it")
    if is_track(path):
        return [locate_track(path)[0]]
    try:
        return [path_of(path)] if path == "-" else run_files(path)
    except FileNotFoundError as error:
        if error.strerror:  # the system's own, which knows the file: one that was there a moment ago
            raise
        raise FileNotFoundError(f"{called}: {error}") from None


def path_of(text: str) -> Path:
    return Path("/dev/stdin" if text == "-" else text)


def _one_file(flag: str, run: str | None) -> list[Path]:
    """Return the file of a run that is given by its file; nothing where it is given by its name, or not at all."""
    if run is None or not (run == "-" or os.path.exists(split_part(run)[0])):
        return []
    files = files_of(flag, run)
    if len(files) > 1:
        raise ValueError(f"{flag} {run} stands for {len(files)} files; name one run file")
    return files


def named(args: argparse.Namespace, runs: Iterable[Path]) -> dict[str, str]:
    """The files that the command reads, by what a message calls them."""
    others = {"the qrels": args.qrels, "the file of --groups": args.groups, "the file of --names": args.names}
    return {f"the run {run}": split_part(run)[0] for run in runs} | {
        called: split_part(path)[0] for called, path in others.items() if path is not None
    }
