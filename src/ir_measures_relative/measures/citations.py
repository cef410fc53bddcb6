"""The papers behind the measures, as BibTeX."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from functools import lru_cache

import ir_measures


def citations(measures: Iterable[ir_measures.Measure]) -> list[str]:
    """The BibTeX entries of the papers that the docstrings of the measures name, each once, in the order of the file.

    A measure cites a paper by the paper's title, as under "Source:"; so does one that is declared elsewhere. Measures
    of ir_measures name their papers by other means, and have no entry here.
    """
    texts = [_plain(inspect.getdoc(type(measure)) or "") for measure in measures]
    return [entry for title, entry in _entries() if any(title in text for text in texts)]


@lru_cache(maxsize=1)
def _entries() -> list[tuple[str, str]]:
    """The title and the text of each entry of the file, in its order."""
    from importlib.resources import files  # which --help does without

    text = files(__package__).joinpath("CITATIONS.bib").read_text(encoding="utf-8")
    entries = [entry.strip() for entry in re.split(r"\n(?=@)", text) if entry.strip().startswith("@")]
    return [(_title(entry), entry) for entry in entries]


def _title(entry: str) -> str:
    match = re.search(r"^\s*title = \{(.*)\},?$", entry, re.MULTILINE)
    assert match, entry
    return _plain(match[1]).partition(": ")[0]  # the docstrings leave subtitles out


def _plain(text: str) -> str:
    """Without case, braces, line breaks and TeX's escapes: what a title looks like wherever it stands."""
    return " ".join(re.sub(r"[{}\\]", "", text).split()).casefold()
