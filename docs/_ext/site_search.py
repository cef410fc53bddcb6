"""The search of the site: what readers type finds first the page that answers it.

python docs/_ext/site_search.py docs/_build/html    # the site as sphinx-build made it; exits with 1 where it does not
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from sphinx.search.en import SearchEnglish

DECIDE = "keep-add-replace-drop"
ANSWERED_BY = {
    "remove": DECIDE,
    "replace": DECIDE,
    "reranker": DECIDE,
    "how many topics": DECIDE,
    "hybrid": "fusing",
    "MTEB": "formats",
    "LLM judge": "unjudged",
    "nuggets": "aspects",
    "agents": "trajectories",
    "ranx": "formats",
    "cite": "valid-statistics",
    "no judgments": "unjudged",
    "install": "getting-started",
    "which measure": "measures",
}


def scores(index: Any, query: str) -> tuple[dict[str, int], set[str]]:
    """The best score of each page by the rules of ``searchtools.js``, and the pages with all words of the query."""
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


def main(site: str) -> list[str]:
    """The queries whose page is not alone at the top, or lacks a word of the query; of the pages that people wrote."""
    text = (Path(site) / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    wrong = []
    for query, page in ANSWERED_BY.items():
        best, with_all_words = scores(index, query)
        written = [name for name in best if not name.startswith(("reference/", "notebooks/"))]
        first, second = sorted(written, key=best.__getitem__, reverse=True)[:2]
        if first != page or best[first] == best[second] or page not in with_all_words:
            wrong.append(f"{query!r} finds {first} ({best[first]}) and {second} ({best[second]}), not {page}")
    return wrong


if __name__ == "__main__":
    sys.exit("\n".join(main(sys.argv[1])) or None)
