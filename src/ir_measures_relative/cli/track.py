"""``track``: make, show and check a track, the runs of a test collection as one file."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import ir_measures_relative as package

from ..formats.track_file import ABOUT
from ..messages import few
from ..writing import escaped
from . import arguments
from .arguments import Command, add_option
from .output import check_output, writing

if TYPE_CHECKING:
    from ..context.run_context import RunContext

_USAGE = "make QRELS RUNS… -o FILE | show TRACK | check TRACK QRELS RUNS…"
# How many files each action needs.
_LEAST = {"make": 2, "show": 1, "check": 3}
# The options that other actions than "make" have.
_OPTIONS = {"show": (), "check": ("--groups",)}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=tuple(_LEAST), help="what to do")
    parser.add_argument("given", nargs="+", metavar="FILE", help="QRELS RUNS…, TRACK, or TRACK QRELS RUNS…")
    add_option(parser, "-o --output FILE", "make: the file to write, such as dl19.track")
    add_option(parser, "--depth N", "documents kept of a ranking (default: 100)")
    arguments.add_options(parser, "--groups")
    dataset = "an id of ir_datasets, which has the judgments; the track then holds no grades"
    for key in ABOUT:
        add_option(parser, f"--{key} TEXT", dataset if key == "dataset" else f"its {key}, for citing it")
    arguments.add_options(parser, "--num_docs", "--grades", "--drop-self")


def _run(args: argparse.Namespace) -> None:
    if len(args.given) < _LEAST[args.action] or (args.action == "show" and len(args.given) > 1):
        wanted = next(usage for usage in _USAGE.split(" | ") if usage.startswith(args.action))
        raise ValueError(f"give: track {wanted}")
    _check_options(args)
    if args.action == "show":
        print(_describe(package.RunContext.from_track(args.given[0])))
    elif args.action == "make":
        if args.output is None:
            raise ValueError("name the file to write, such as -o dl19.track")
        check_output(args.output, {f"the file {path}": path for path in args.given}, "track", _is_track)
        about = {key: getattr(args, key) for key in ABOUT if getattr(args, key) is not None}
        context, columns = _read(args, *args.given)
        with writing(args.output, "track"):
            context.save_track(args.output, columns, args.depth, **about)
        print(_describe(package.RunContext.from_track(args.output)))
    else:
        _check_files(args, *args.given)


def _check_options(args: argparse.Namespace) -> None:
    """Raise ValueError for an option that the action has not."""
    options = (
        "--output",
        "--depth",
        "--groups",
        *map("--{}".format, ABOUT),
        "--num_docs",
        "--grades",
        "--drop-self",
    )
    values = {option: getattr(args, option[2:].replace("-", "_")) for option in options}
    given = [option for option, value in values.items() if value is not None and value is not False]
    if excess := [option for option in given if option not in _OPTIONS.get(args.action, options)]:
        raise ValueError(f"track {args.action} takes no {few(excess)}, as track make does; leave it out")


def _read(args: argparse.Namespace, qrels: str, *runs: str) -> tuple[RunContext, Any]:
    """Return a context of the runs of files, and the judgments."""
    from ..io.datasets import count_docs
    from .inputs import read_pairs, read_qrels

    context, (columns, dataset) = package.RunContext.from_files(*runs, allow_empty=True), read_qrels(qrels)
    lines = {} if args.groups is None else read_pairs("--groups", args.groups, "run,group")
    groups = {name: lines.get(name, "other") for name in context.names} if lines else context.groups
    if args.num_docs is None and dataset is not None:
        args.num_docs = count_docs(dataset, fetch=False)
    about = {"num_docs": args.num_docs, "grades": args.grades, "drop_self": args.drop_self}
    return package.RunContext(context.runs, groups=groups, **about), columns


def _check_files(args: argparse.Namespace, path: str, qrels: str, *runs: str) -> None:
    """Confirm that a track matches the files; raise ValueError, which says where it differs."""
    from ..formats.make_track import track_sha256

    track = package.RunContext.from_track(path)
    about = {key: getattr(track, key) for key in ("groups", "num_docs", "grades", "drop_self")}
    args.num_docs, args.grades, args.drop_self = track.num_docs, track.grades, track.drop_self
    context, columns = _read(args, qrels, *runs)
    if differing := set(track.names) ^ set(context.names):
        raise ValueError(
            f"{path} is not the track of these files: only one of both has {few(sorted(differing))}"
        )
    if args.groups is not None and context.groups != track.groups:
        raise ValueError(f"{path} is not the track of these files: --groups differs")

    def sha256(runs: dict[str, Any], about: Any, **collection: Any) -> str:
        return track_sha256(package.RunContext(runs, **collection), columns, track.track.depth, about)

    runs_read = {name: context.runs[name] for name in track.names}
    if sha256(runs_read, track.track.about, **about) != track.track.sha256:
        changed = [n for n in track.names if sha256({n: runs_read[n]}, {}) != sha256({n: track.runs[n]}, {})]
        what = f"{few(changed) or 'the judgments'} {'differs' if len(changed) == 1 else 'differ'}"
        raise ValueError(f"{path} is not the track of these files: {what}")
    print(f"{escaped(path)} is the track of these files: {escaped(str(track.track))}")


def _describe(context: RunContext) -> str:
    track = context.track
    lengths = sum(int(run.lengths.sum()) for run in context.runs.values())
    cut = next(iter(context.runs.values())).cut
    assert cut is not None
    topics = cut.listed
    judged = f"{len(topics):,} documents" + ("" if context.dataset.columns is not None else " without grades")
    facts = {
        "track": track,
        "sha256": track.sha256,
        "runs": ", ".join(context.names),
        "topics": topics.n_queries,
        "judged": judged,
        "depth": f"{track.depth} of {lengths / topics.n_queries / len(context.runs):.0f} documents per ranking",
        "groups": len(set(context.groups.values())) or None,
        "grades": context.grades and " to ".join(map(str, context.grades)),
        "num_docs": context.num_docs and f"{context.num_docs:,}",
        **track.about,
    }
    return "\n".join(f"{key}: {escaped(str(value))}" for key, value in facts.items() if value)


def _is_track(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(2) == b"PK"


track = Command(
    _USAGE, "make campaign/qrels.txt campaign/runs --name demo -o demo.track", _add_arguments, _run
)
