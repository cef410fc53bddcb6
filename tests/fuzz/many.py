"""As many inputs as one likes: ``python tests/fuzz/many.py {runs,qrels,frames,measures,…} [N] [--from SEED]``.

``--help`` lists the targets, of which there is one for each kind of file that other tools write.

Prints what came of them, and the seeds of those that were neither read as ir_measures reads them nor refused in words;
exits with 1 if there are any.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))
from fuzzing import OF_FORMATS, TARGETS, outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=TARGETS | OF_FORMATS)
    parser.add_argument("n", type=int, nargs="?", default=10_000)
    parser.add_argument("--from", type=int, default=0, dest="start", metavar="SEED")
    asked = parser.parse_args()
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in tqdm(range(asked.start, asked.start + asked.n), disable=None):
            try:
                found[outcome(asked.target, seed, Path(folder))] += 1
            except Exception as error:
                found["WRONG"] += 1
                print(f"seed {seed}: {type(error).__name__}: {error}", file=sys.stderr)
    print(asked.target, dict(found))
    raise SystemExit(bool(found["WRONG"]))


if __name__ == "__main__":
    main()
