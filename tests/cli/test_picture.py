"""``plot`` takes the place of pictures alone, whole or not at all, and a picture among the runs does no harm."""

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import run

pytest.importorskip("matplotlib", reason="the pictures need matplotlib")

SCORE = ["qrels.txt", "runs", "NRG@2", "nDCG@2"]
ARGUMENTS = ["plot", *SCORE]
SVG = b'<?xml version="1.0" encoding="utf-8" standalone="no"?>\n<!DOCTYPE svg PUBLIC "x">\n<svg></svg>\n'
PICTURES = {
    "png": b"\x89PNG\r\n\x1a\n",
    "jpg": b"\xff\xd8\xff\xe0\x00\x10JFIF",
    "pdf": b"%PDF-1.4\n",
    "eps": b"%!PS-Adobe-3.0 EPSF-3.0\n",
    "svg": SVG,
    "svgz": gzip.compress(SVG),
    "webp": b"RIFF\x00\x00\x00\x00WEBPVP8 ",
    "tif": b"II*\x00",
}


Call = Callable[..., tuple[int, str, str]]


def contents(folder: Path) -> dict[Path, bytes]:
    return {p.relative_to(folder): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("runs/A.png", "runs/A.png is the run runs/A.png"),
        ("link.png", "link.png is the run runs/B.run"),
        ("qrels.svg", "qrels.svg is the qrels"),
        ("groups.pdf", "groups.pdf is the file of --groups"),
        ("notes.png", "notes.png exists and is not a picture; remove it, or give another path"),
        ("packed.svgz", "packed.svgz exists and is not a picture"),
        ("pipe.png", "pipe.png: cannot be written, since it is not a file"),
    ],
)
def test_nothing_but_a_picture_is_overwritten(files: Path, call: Call, path: str, message: str) -> None:
    os.rename(files / "runs" / "A.run", files / "runs" / "A.png")
    os.rename(files / "qrels.txt", files / "qrels.svg")
    (files / "groups.pdf").write_text("A,x\nB,x\nC,y\n")
    (files / "notes.png").write_text("do not lose me\n")
    (files / "packed.svgz").write_bytes(gzip.compress(b"do not lose me\n"))
    os.symlink("runs/B.run", files / "link.png")
    if path != "pipe.png":
        before = contents(files)
    else:
        os.mkfifo(files / "pipe.png")
        before = None
    arguments = ["plot", "qrels.svg", *SCORE[1:], "--groups", "groups.pdf", "--output", path]
    code, out, said = call(*arguments)
    assert (code, out, said.count("\n")) == (2, "", 1)
    assert said.startswith("ir_measures_relative: error: --output ") and message in said
    assert before is None or contents(files) == before


@pytest.mark.parametrize(
    ("ending", "befores"),
    [
        ("svg", [b"", PICTURES["png"]]),
        ("png", [PICTURES["png"]]),
        ("svgz", [PICTURES["svgz"]]),
    ],
    ids=["svg", "png", "svgz"],
)
def test_a_picture_is_drawn_again(files: Path, call: Call, ending: str, befores: list[bytes]) -> None:
    path = files / f"out.{ending}"
    for before in befores:
        path.write_bytes(before)
        path.chmod(0o640)
        assert call(*ARGUMENTS, "--output", path.name)[::2] == (0, f"Wrote {path.name}\n")
        assert path.stat().st_size > 1000 and path.stat().st_mode & 0o777 == 0o640
    assert {p.name for p in files.iterdir()} == {"qrels.txt", "runs", path.name}


def test_a_link_to_a_picture_stays_a_link(files: Path, call: Call) -> None:
    (files / "pictures").mkdir()
    os.symlink("pictures/real.svg", files / "out.svg")
    for _ in range(2):
        assert call(*ARGUMENTS, "--output", "out.svg")[::2] == (0, "Wrote out.svg\n")
    assert (files / "out.svg").is_symlink() and (files / "pictures" / "real.svg").stat().st_size > 1000


@pytest.mark.parametrize("ending", PICTURES)
def test_a_picture_among_the_runs_is_passed_over(files: Path, call: Call, ending: str) -> None:
    _, expected, _ = call(*SCORE)
    (files / "runs" / f"B.{ending}").write_bytes(PICTURES[ending])
    for folder in ("runs", "runs/*"):
        assert call("qrels.txt", folder, *SCORE[2:]) == (0, expected, "")
    code, _, said = call("qrels.txt", f"runs/B.{ending}", "nDCG@2")
    assert code == 2 and said.endswith("); give a text file\n")
    assert f"error: runs/B.{ending} is a picture (" in said


def test_a_folder_of_pictures_holds_no_run(files: Path) -> None:
    (files / "pictures").mkdir()
    (files / "pictures" / "a.png").write_bytes(PICTURES["png"])
    done = run("qrels.txt", "pictures", "NRG@2", cwd=files)
    assert done.returncode == 2
    assert done.stderr.endswith("pictures: the folder holds no file of a run; put the run files into it\n")
