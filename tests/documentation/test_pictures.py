"""No picture is older than its words; `nox -s pictures` draws those that are."""

import re

from tools import pictures


def test_each_picture_is_drawn_by_the_command() -> None:
    """All that the pages show, and nothing that no page shows."""
    drawn = {path.name for path in map(pictures.ROOT.joinpath, pictures.DRAWN) if path.suffix == ".png"}
    pages = [pictures.ROOT / "README.md", *(pictures.ROOT / "docs").glob("*.md")]
    shown = {
        name
        for page in pages
        for name in re.findall(r"\]\((?:docs/)?pictures/(.+?)\)", page.read_text("utf-8"))
    }
    assert drawn == shown == {path.name for path in pictures.PICTURES.glob("*.png")}
    notebooks = {path.name for path in pictures.NOTEBOOKS.glob("*.ipynb")}
    assert notebooks == {name.rpartition("/")[2] for name in pictures.DRAWN if name.endswith(".ipynb")}


def test_no_picture_is_older_than_its_words() -> None:
    """Titles, axes and legends are in the code; `nox -s pictures` draws what is out of date, and keeps its hash."""
    assert pictures.older_than_their_words() == []
