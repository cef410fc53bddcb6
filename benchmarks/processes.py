"""From files: whole processes, beside ir_measures' command line, polars' mere reading, and the authors' programs."""

from __future__ import annotations

import compileall
import importlib.util
import sys
import tempfile
from pathlib import Path

import ir_measures_relative
from benchmarks.data import Folder
from benchmarks.report import Row
from benchmarks.timing import Cost, Side, command, in_turn, interleaved

_OURS = (sys.executable, "-m", "ir_measures_relative")
_OF_STARTS = 4  # times as many rounds of what is over at once
_SAMPLE = 4  # of the run files, on which ir_measures' command line is measured

_ALL_PAIRS = """
import sys
from itertools import combinations
from ir_measures_relative import RunContext, rrLP
from ir_measures_relative.work import Work
from ir_measures_relative.decisions.similarity import score_pairs
from ir_measures_relative.context.collection import judged_collection
context = RunContext.from_files(sys.argv[2:])
names = context.names
pairs = list(combinations(range(len(names)), 2))
values = score_pairs(judged_collection(context, sys.argv[1]), rrLP, pairs, Work(1)).mean(axis=1)
for (i, j), value in zip(pairs, values.tolist()):
    print(names[i], names[j], value)
"""
# It splits at one tab or blank, whichever the first line has, and checks the number of columns alone.
_POLARS = """
import sys, polars
for file in sys.argv[1:]:
    with open(file, "rb") as lines:
        mark = "\\t" if b"\\t" in lines.readline() else " "
    table = polars.read_csv(file, separator=mark, has_header=False, infer_schema_length=10,
                            truncate_ragged_lines=True, ignore_errors=True)
    assert table.width == 6, (file, table.width)
"""


def costs(campaign: Folder, rounds: int, pref_eval: Path | None, nrg_authors: Path | None) -> list[Row]:
    """The command line on a folder of run files, which are not packed."""
    compileall.compile_dir(Path(ir_measures_relative.__file__).parent, quiet=1)  # as pip does
    with tempfile.TemporaryDirectory() as folder:
        runs, qrels = campaign.unpacked(Path(folder))
        n = len(runs)
        ours, host = f"command line, {n} files, NRG@10", "ir_measures' command line, nDCG@10"
        both, numpy = f"command line, {n} files, nDCG@10 and NRG@10", "python -c 'import numpy'"
        of_all = f"{host}, {n} processes"
        sample = runs[:: max(n // _SAMPLE, 1)][:_SAMPLE]
        sides: dict[str, Side] = {
            ours: command(*_OURS, qrels, runs[0].parent, "NRG@10"),
            both: command(*_OURS, qrels, runs[0].parent, "nDCG@10 NRG@10"),
            of_all: in_turn(
                [command(sys.executable, "-m", "ir_measures", qrels, run, "nDCG@10") for run in sample]
            ),
        }
        starts: dict[str, Side] = {
            numpy: command(sys.executable, "-c", "import numpy"),
            "--help": command(*_OURS, "--help"),
            "a first error (no such measure)": command(*_OURS, qrels, runs[0], "NGR@10", fails=True),
        }
        pairs: list[tuple[str, str, float | None]] = [
            (both, of_all, 0.2),
            ("--help", numpy, 1.5),
            ("a first error (no such measure)", numpy, 1.5),
        ]
        polars = "polars reading the files"
        if importlib.util.find_spec("polars") is None:
            print("polars is not installed: no row for it\n")
        else:
            sides[polars] = command(sys.executable, "-c", _POLARS, *runs)
            pairs.insert(0, (ours, polars, 1.3))
        for work, peer, limit, path, side, theirs in (
            (
                "rrLP of all pairs",
                "pref_eval, rrlexiprecision",
                0.5,
                pref_eval,
                command(sys.executable, "-c", _ALL_PAIRS, qrels, *runs),
                lambda p: command(
                    sys.executable, p / "pref_eval.py", "--qrels", qrels, "--measure", "rrlexiprecision", *runs
                ),
            ),
            (
                f"command line, {n} files, P_Rareness@100",
                "the NRG authors' script",
                0.4,
                nrg_authors,
                command(*_OURS, qrels, runs[0].parent, "P_Rareness@100"),
                lambda p: command(
                    sys.executable, p / "code" / "calculate_rareness_based_precision.py", "--run_dir", runs[0].parent,
                    "--qrels_file", qrels, "--result_dir", folder, "--alpha", "1", "--k", "100",
                ),
            ),
        ):  # fmt: skip
            if path is None:
                print(f"No row for {work} against {peer}: name the folder of that program to have one\n")
                continue
            sides |= {work: side, peer: theirs(path)}
            pairs.append((work, peer, limit))
        # What takes a fifth of a second varies much: among themselves, and more often.
        costs = interleaved(sides, rounds) | interleaved(starts, _OF_STARTS * rounds)
        costs[of_all] = Cost(*(seconds * n / len(sample) for seconds in costs[of_all]))
        return [Row(work, peer, costs[work], costs[peer], limit) for work, peer, limit in pairs]
