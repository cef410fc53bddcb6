"""A folder of a few random runs, with judgments, as ``python -m studies.reproduce`` takes one."""

import random
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def write_campaign(folder: Path, *, runs: int = 4, topics: int = 6, grades: int = 3, seed: int = 1) -> Path:
    """Writes runs of some skill over 30 documents, of which a third have a grade above 0; no ``groups.csv``."""
    generator = random.Random(seed)
    queries, docs = [f"t{i}" for i in range(topics)], [f"d{i}" for i in range(30)]
    qrels = {q: {d: generator.choice([0, 0, generator.randint(1, grades)]) for d in docs} for q in queries}
    (folder / "runs").mkdir(parents=True)
    (folder / "qrels.txt").write_text("".join(f"{q} 0 {d} {g}\n" for q in qrels for d, g in qrels[q].items()))
    for i in range(runs):
        lines = []
        for q in queries[: topics - (i == 1)]:  # the second run lacks a topic
            scores = {d: generator.random() + i / 4 * qrels[q][d] for d in docs}
            ranking = sorted(docs, key=lambda d: -scores[d])[: 12 + i]
            lines += [f"{q} Q0 {d} {r} {scores[d]:.6f} run{i}\n" for r, d in enumerate(ranking, 1)]
        (folder / "runs" / f"run{i}.txt").write_text("".join(lines))
    return folder


def reproduce(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs ``python -m studies.reproduce`` from the repository."""
    return subprocess.run(
        [sys.executable, "-m", "studies.reproduce", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
