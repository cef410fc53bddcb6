"""As many inputs as one likes: ``python tests/fuzz/many.py {runs,qrels,frames,measures,…,all} [N] [--from SEED]``.

``--help`` lists the targets; ``all`` is each of them in turn.

Prints what came of them, and the seeds of those that were neither read as ir_measures reads them nor refused in words;
exits with 1 if there are any.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import io
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))
from fuzzing import ALL, outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=[*ALL, "all"])
    parser.add_argument("n", type=int, nargs="?", default=10_000)
    parser.add_argument("--from", type=int, default=0, dest="start", metavar="SEED")
    asked = parser.parse_args()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # some commands are told to read it
    gc.freeze()
    seeds, wrong = range(asked.start, asked.start + asked.n), 0
    for target in ALL if asked.target == "all" else [asked.target]:
        found = tried(target, seeds)
        print(target, dict(found), flush=True)
        wrong += found["WRONG"]
    raise SystemExit(bool(wrong))


def tried(target: str, seeds: range) -> Counter[str]:
    """What came of the inputs of a target."""
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in tqdm(seeds, desc=target, disable=None):
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    found[outcome(target, seed, Path(folder))] += 1
            except Exception as error:
                found["WRONG"] += 1
                print(f"seed {seed}: {type(error).__name__}: {error}", file=sys.stderr)
    return found


if __name__ == "__main__":
    main()
