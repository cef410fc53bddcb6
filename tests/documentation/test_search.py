"""The search of the site: what readers type finds first the page that answers it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
DECIDE = "keep-add-replace-drop"
ANSWERED_BY = {
    "remove": DECIDE,
    "replace": DECIDE,
    "route": DECIDE,
    "reranker": DECIDE,
    "how many topics": DECIDE,
    "hybrid": "fusing",
    "MTEB": "formats",
    "LLM judge": "audit",
    "nuggets": "aspects",
    "agents": "aspects",
    "no judgments": "unjudged",
    "install": "getting-started",
    "which measure": "measures",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Sphinx's ``searchindex.js`` of the pages in docs/, without those made from the code, which take a minute."""
    for needed in ("sphinx", "myst_nb", "sphinx_design", "ziamath"):
        pytest.importorskip(needed, reason="building the site needs the group docs")
    site = tmp_path_factory.mktemp("site")
    options = ["extensions=myst_nb,sphinx_design,formulas", "exclude_patterns=_*,reference,notebooks"]
    defined = [part for option in options for part in ("-D", option)]
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-Q",
        "-E",
        "-d",
        str(site / "trees"),
        *defined,
        str(DOCS),
        str(site),
    ]
    subprocess.run(command, check=True)
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    return json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))


def scores(index: Any, query: str) -> tuple[dict[str, int], set[str]]:
    """The best score of each page by the rules of ``searchtools.js``, and the pages with all words of the query."""
    from sphinx.search.en import SearchEnglish

    language, best, typed = SearchEnglish({}), dict.fromkeys(index["docnames"], 0), query.lower()

    def found(page: int, score: float) -> None:
        name = index["docnames"][page]
        best[name] = max(best[name], round(score))

    for title, places in index["alltitles"].items():
        if typed in title.lower() and len(typed) >= len(title) / 2:
            for page, _ in places:
                found(page, 15 * len(typed) / len(title) + (index["titles"][page] == title))
    for entry, places in index["indexentries"].items():
        if typed in entry and len(typed) >= len(entry) / 2:
            for page, _, is_main in places:
                found(page, 100 * len(typed) / len(entry) if is_main else 0)
    words = [language.stem(word) for word in typed.split() if word not in language.stopwords]
    pages = [
        {
            kind: {at} if isinstance(at := index[kind].get(word, []), int) else set(at)
            for kind in ("terms", "titleterms")
        }
        for word in words
    ]
    every = set.intersection(*(each["terms"] | each["titleterms"] for each in pages))
    for page in every:
        found(page, max(15 if page in each["titleterms"] else 5 for each in pages))
    return best, {index["docnames"][page] for page in every}


@pytest.mark.parametrize("query", ANSWERED_BY)
def test_finds_first(index: Any, query: str) -> None:
    """Alone at the top, and on the page itself, so that who looks at it finds the word."""
    best, with_all_words = scores(index, query)
    first, second = sorted(best, key=best.__getitem__, reverse=True)[:2]
    assert first == ANSWERED_BY[query] and best[first] > best[second], (first, second)
    assert first in with_all_words
