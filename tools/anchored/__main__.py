"""``python -m tools.anchored write FILE…`` and ``python -m tools.anchored compare FILE``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from . import __doc__ as about
from .campaign import NUM_DOCS, Campaign, folder_of
from .cases import PARTS
from .comparison import compare
from .outputs import Outputs, compute, load


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes or compares; 1 where a comparison finds what is wrong."""
    asked = _parser().parse_args(arguments)
    if asked.command == "write":
        if wrong := [str(path) for path in asked.files if not path.name.endswith((".npz", ".json.gz"))]:
            raise SystemExit(
                f"{', '.join(wrong)}: the name must end in .npz (every value) or .json.gz (hashes)"
            )
        outputs = _computed(asked)
        for path in asked.files:
            (outputs.save if path.suffix == ".npz" else outputs.save_digest)(path)
            print(f"{path}: {len(outputs.results)} tables, {path.stat().st_size / 1e6:.1f} MB")
        return 0
    old = load(asked.file)
    new = _computed(asked) if asked.with_file is None else load(asked.with_file)
    return compare(old, new, part=asked.part, only=asked.only, show=asked.show)


def _computed(asked: argparse.Namespace) -> Outputs:
    return compute(_campaigns(asked.campaign), part=asked.part, quick=asked.quick, only=asked.only)


def _campaigns(given: Sequence[str] | None) -> list[Campaign]:
    """The campaigns that were given, else those of the usual ones that are here."""
    folders = {name: folder for name in NUM_DOCS if (folder := folder_of(name)) is not None}
    if given:
        split = [text.partition("=") for text in given]
        folders = {name: Path(folder) for name, _, folder in split}
        for name, folder in folders.items():
            if not (folder / "runs").is_dir():
                raise SystemExit(f"--campaign {name}={folder}: the folder must hold a folder runs")
    if not folders:
        raise SystemExit("no campaign is here: give --campaign NAME=FOLDER, or set ROBUST03, DL19 or DL21")
    return [Campaign(name, folder) for name, folder in folders.items()]


def _parser() -> argparse.ArgumentParser:
    first, _, rest = (about or "").partition("\n")
    parser = argparse.ArgumentParser(
        prog="python -m tools.anchored",
        description=first,
        epilog=rest,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument(
        "--campaign", action="append", metavar="NAME=FOLDER", help="instead of the usual ones"
    )
    shared.add_argument("--part", choices=(*PARTS, "all"), default="all")
    shared.add_argument("--quick", action="store_true", help="some tables of each kind, in about two minutes")
    shared.add_argument("--only", default="", metavar="TEXT", help="only tables whose names contain TEXT")
    commands = parser.add_subparsers(dest="command", required=True)
    write = commands.add_parser("write", parents=[shared], help="compute and keep")
    write.add_argument("files", nargs="+", type=Path, metavar="FILE", help="ending in .npz or .json.gz")
    against = commands.add_parser("compare", parents=[shared], help="compute and compare with a file")
    against.add_argument("file", type=Path, metavar="FILE")
    against.add_argument("--with", dest="with_file", type=Path, metavar="FILE", help="compare two files")
    against.add_argument(
        "--show", type=int, default=5, metavar="N", help="how many tables that differ to show"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
