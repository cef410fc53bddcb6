"""``python -m studies.reproduce PAPER --robust PATH --dl19 PATH --dl21 PATH``: what a paper printed, and what holds."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from . import letor, page
from .data import Campaign, Data
from .finding import Finding

#: The papers in the order of the page: the module of each has TITLE and findings(data, out).
PAPERS = ("nrg", "rareness", "ue", "med", "lexiprecision")
STUDIES = Path(__file__).resolve().parents[1]


def main() -> None:
    """Runs the experiments, prints their tables, writes the pictures, and with --write the page of the studies."""
    parser = argparse.ArgumentParser(prog="python -m studies.reproduce", description=__doc__)
    parser.add_argument("paper", choices=(*PAPERS, "all"))
    parser.add_argument(
        "--robust", type=Path, metavar="PATH", help="folder with runs/ and qrels of a campaign"
    )
    for option in ("dl19", "dl21"):
        parser.add_argument(
            f"--{option}", type=Path, metavar="PATH", help="the same, graded, with groups.csv"
        )
    parser.add_argument(
        "--letor", type=Path, nargs="+", default=[], metavar="FOLDER",
        help="for ue: learning-to-rank data, train.txt and test.txt; rankers are trained on each (scikit-learn)",
    )  # fmt: skip
    parser.add_argument(
        "--out", type=Path, default=Path("reproduced"), metavar="FOLDER", help="for the pictures"
    )
    parser.add_argument(
        "--write", action="store_true", help="write studies/re-tested.md and its pictures (with: all)"
    )
    asked = parser.parse_args()
    if asked.letor and asked.paper != "ue":
        parser.error("--letor is for the experiments of UE: python -m studies.reproduce ue --letor FOLDER")
    made = [path.resolve().name for path in asked.letor]
    if len({*made}) < len(made):
        parser.error(
            "two folders of --letor have one name, and each is written to --out by its name: rename one"
        )
    paths = asked.robust, asked.dl19, asked.dl21
    if paths == (None, None, None) and not asked.letor:
        parser.error("give the runs: --robust PATH, --dl19 PATH, --dl21 PATH")
    if asked.write and asked.paper != "all":
        parser.error("--write is for the whole page: python -m studies.reproduce all --write …")
    campaigns = [Campaign(path) if path else None for path in paths]
    try:
        data = Data(*campaigns, tuple(letor.campaign(path, asked.out) for path in asked.letor))
    except ImportError as error:
        raise SystemExit(f"--letor needs scikit-learn, of the extra [examples]: {error}") from None
    out = STUDIES / "pictures" / "re-tested" if asked.write else asked.out
    out.mkdir(parents=True, exist_ok=True)
    for stale in out.glob("*.png") if asked.write else ():
        stale.unlink()
    sections: dict[str, list[Finding]] = {}
    for paper in PAPERS if asked.paper == "all" else (asked.paper,):
        module = importlib.import_module(f"studies.reproduce.{paper}")
        try:
            found = list(module.findings(data, out))
        except ImportError as error:  # an extra that is not installed; the message says which
            raise SystemExit(f"{paper}: {error}") from None
        if not found:
            continue
        print(page.terminal(module.TITLE, found), flush=True)
        sections[module.TITLE] = found
    if asked.write:
        opening, closing = (
            (Path(__file__).parent / f"{part}.md").read_text() for part in ("opening", "closing")
        )
        overview = page.overview(sections, [campaign.name for campaign in data.given])
        papers = [page.markdown(title, found, "pictures/re-tested") for title, found in sections.items()]
        (STUDIES / "re-tested.md").write_text("\n".join([opening, overview + "\n", *papers, closing]))


if __name__ == "__main__":
    main()
