"""A campaign as files: two deployed runs, and candidates of which one adds, one copies, and one was never judged."""

from pathlib import Path

from command_line import write_run

TOPICS = [str(number) for number in range(1, 31)]


def write_candidates(folder: Path) -> Path:
    """Writes qrels.txt, runs/BM25.run, runs/QL.run and new/strong.run, new/copy.run, new/unjudged.run."""
    for name in ("runs", "new"):
        (folder / name).mkdir()
    labels = [f"{q} 0 d{i} {int(i < 6)}\n" for q in TOPICS for i in range(12)]
    (folder / "qrels.txt").write_text("".join(labels))
    docs = {
        "runs/BM25": [0, 1, 6, 7, 8],
        "runs/QL": [1, 0, 7, 6, 9],
        "new/strong": [2, 3, 4, 0, 10],
        "new/copy": [0, 1, 6, 7, 8],
        "new/unjudged": [20, 21, 22, 23, 24],
    }
    for path, found in docs.items():
        # Not all topics alike: some have one document fewer
        rankings = {
            q: {f"d{d}": 9.0 - place for place, d in enumerate(found) if place or int(q) % 3} for q in TOPICS
        }
        write_run(folder / f"{path}.run", path.rpartition("/")[2], rankings)
    return folder
