"""``python -m benchmarks``: what this package costs beside what else there is, as ratios.

The sides of a ratio take turns, and each counts with the least of its rounds. A ratio is that of CPU times where its
column does not say wall. The Robust and Deep Learning runs are used where $ROBUST03 and $DL19 name their folders.
--record keeps the ratios by version in benchmarks/history.csv.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.pages import fill
from tqdm import tqdm

from benchmarks import frames, growth, processes, questions, report
from benchmarks.data import Folder, real_campaigns
from benchmarks.timing import load

_SPEED = report.ROOT / "studies" / "speed.md"
_HISTORY = report.ROOT / "benchmarks" / "history.csv"
_PARTS = ("frames", "files", "questions", "growth")


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the tables, and writes them into the pages."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each measurement (default 5)")
    parser.add_argument("--only", choices=_PARTS, help="only one of the parts")
    scale = parser.add_mutually_exclusive_group()
    scale.add_argument("--quick", action="store_true", help="fewer rounds and sizes: a first look")
    scale.add_argument("--full", action="store_true", help="all sizes also for pairs of runs")
    parser.add_argument("--write", action="store_true", help="write the tables into studies/speed.md")
    parser.add_argument(
        "--record",
        action="store_true",
        help=f"keep the ratios, by version, in {_HISTORY.relative_to(report.ROOT)}",
    )
    parser.add_argument("--pref-eval", type=Path, metavar="FOLDER", help="a checkout of diazf/pref_eval")
    parser.add_argument(
        "--nrg-authors",
        type=Path,
        metavar="FOLDER",
        help="a checkout of aminbigdeli/Normalized-Residual-Gain",
    )
    args = parser.parse_args(arguments)
    if args.write and (args.only or args.quick):
        parser.error("--write wants the whole benchmark, without --only and --quick")
    if args.record and (args.quick or args.only == "growth"):
        parser.error("--record wants ratios of all rounds: it goes without --quick and without --only growth")
    rounds = 2 if args.quick else args.rounds
    campaigns = real_campaigns()
    if args.write and "ROBUST03" not in campaigns:
        parser.error("--write needs the Robust runs: set ROBUST03 to their folder")
    warnings.simplefilter("ignore")
    if load() > 0.5:
        print(
            f"The machine is not idle: its load is {load():.1f}. CPU times grow with that, wall times more.\n"
        )
    parts = [args.only] if args.only else list(_PARTS)
    text = f"\n{report.versions()}\n"
    print(text)
    measured: list[tuple[str, report.Row]] = []
    for campaign in campaigns.values():
        for part in ("frames", "files"):
            if part not in parts:
                continue
            if part == "frames":
                tables, rows = _of_frames(campaign, rounds)
            else:
                rows = processes.costs(campaign, max(rounds - 2, 1), args.pref_eval, args.nrg_authors)
                tables = report.ratios(rows)
            measured += [(campaign.title, row) for row in rows]
            title = f"### {campaign.title}: {len(campaign.runs)} runs, from {part}"
            text += _shown(f"\n{title}\n\n{tables}")
    if "questions" in parts:
        rows = _of_questions(campaigns, rounds)
        measured += [("", row) for row in rows]
        text += _shown(f"\n### Questions, and JSON\n\n{report.ratios(rows)}")
    if "growth" in parts:
        scale_name = "quick" if args.quick else "full" if args.full else "default"
        rows_of_growth = list(tqdm(growth.measure(scale_name), desc="growth", disable=None, leave=False))
        rest = "; ".join(f"with the {axis.name}: {axis.rest}" for axis in growth.axes(scale_name))
        text += _shown(f"\n### Growth\n\nWhat stays as it is {rest}.\n\n{report.growths(rows_of_growth)}")
    if args.record:
        report.record(measured, _HISTORY)
        print(f"Kept in {_HISTORY.relative_to(report.ROOT)}.")
    if args.write:
        fill(_SPEED, "figures", text)
        print(f"Written into {_SPEED.relative_to(report.ROOT)}.")


def _of_frames(campaign: Folder, rounds: int) -> tuple[str, list[report.Row]]:
    """The tables of a campaign in frames, on both kinds of columns."""
    rows: list[report.Row] = []
    memory: list[report.Memory] = []
    for ids in ("str", "object"):
        runs, qrels = campaign.frames(ids)
        rows += frames.costs(runs, qrels, ids, rounds)
        memory += frames.memory(runs, qrels, ids)
        if ids == "str":
            rows += frames.calls(runs, qrels, rounds)
    return f"{report.ratios(rows)}\n{report.memories(memory)}", rows


def _of_questions(campaigns: Mapping[str, Folder], rounds: int) -> list[report.Row]:
    """The costs of the costlier questions, which take seconds: two rounds, and of verdicts one."""
    rows = questions.time_many_runs(1)
    if campaigns:
        runs, qrels = next(iter(campaigns.values())).frames("str")
        few = min(rounds, 2)
        rows = [*questions.costs(runs, qrels, few), *rows, *questions.time_json(runs, few)]
    return rows


def _shown(text: str) -> str:
    print(text, flush=True)
    return text


if __name__ == "__main__":
    main()
