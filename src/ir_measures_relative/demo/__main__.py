"""``python -m ir_measures_relative.demo FOLDER``: the generated collection as files."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from . import GROUPS, generate, runs


def main(arguments: Sequence[str] | None = None) -> None:
    """Write a small generated collection: qrels.txt, groups.csv, and one TREC run file per run in runs/."""
    parser = argparse.ArgumentParser(prog="python -m ir_measures_relative.demo", description=main.__doc__)
    parser.add_argument("folder", type=Path, help="the folder to write; created if it does not exist")
    folder = parser.parse_args(arguments).folder
    try:
        (folder / "runs").mkdir(parents=True, exist_ok=True)
        for name, run in runs().items():
            rows = (f"{r.query_id} Q0 {r.doc_id} 0 {r.score} {name}\n" for r in run.itertuples())
            (folder / "runs" / f"{name}.run").write_text("".join(rows), encoding="utf-8")
        labels = (f"{q.query_id} 0 {q.doc_id} {q.relevance}\n" for q in generate().qrels)
        (folder / "qrels.txt").write_text("".join(labels), encoding="utf-8")
        groups = "".join(f"{name},{group}\n" for name, group in GROUPS.items())
        (folder / "groups.csv").write_text(f"run,group\n{groups}", encoding="utf-8")
    except OSError as error:
        parser.error(f"{error.filename}: {error.strerror}; give another folder")


if __name__ == "__main__":
    main()
