"""The leaderboard as static files."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jinja2", reason="the leaderboard needs Jinja2, of the extra [report]")
pytest.importorskip("vl_convert", reason="the leaderboard needs vl-convert, of the extra [report]")

from hostile import NAMES, OF_GROUP, QRELS, RUNS
from ir_measures_relative import RunContext, compare
from ir_measures_relative.reporting import leaderboard

pytestmark = pytest.mark.filterwarnings("ignore::ir_measures_relative.RelativeWarning")
MEASURES = ["nDCG@3", "NRG@3"]


def campaign(n: int, topics: int = 30) -> tuple[dict[str, Any], dict[str, Any]]:
    """Runs of which each has one relevant document more at its top, but for a pair that is nearly level."""
    rng = np.random.default_rng(0)
    runs: dict[str, Any] = {}
    for r in range(n):
        of_run = runs[f"run {r}"] = {}
        for q in range(topics):
            found = [f"r{i}" for i in range(r // 2 * 3)]
            docs = (found + list(rng.permutation([f"x{i}" for i in range(10)])))[:10]
            of_run[f"q{q}"] = {doc: 10.0 - i for i, doc in enumerate(rng.permutation(docs))}
    return runs, {f"q{q}": {f"r{i}": 1 for i in range(10)} for q in range(topics)}


def test_ranks_are_what_compare_separates(tmp_path: Path) -> None:
    runs, labels = campaign(6)
    context = RunContext(runs)
    index = leaderboard(context, labels, MEASURES, tmp_path / "site").read_text(encoding="utf-8")
    table = (
        context.evaluate(labels, ["nDCG@3"])
        .set_index("name")["nDCG@3"]
        .sort_values(ascending=False, kind="stable")
    )
    pairs = compare(context, labels, ["nDCG@3"], family="measure")
    above = {(row["name"], row["other"]) for row in pairs.to_dict("records") if row["ci_lower"] > 0}
    above |= {(row["other"], row["name"]) for row in pairs.to_dict("records") if row["ci_upper"] < 0}
    rows = index.split('id="leaderboard"')[1].split("<tbody>")[1].split("</table>")[0].split("<tr")[1:]
    assert len(rows) == 6 and above
    for place, (row, name) in enumerate(zip(rows, table.index, strict=True)):
        best = 1 + sum((other, name) in above for other in runs)
        worst = 6 - sum((name, other) in above for other in runs)
        cells = [
            re.sub("<.*?>", " ", cell).split() for cell in re.findall("<t[dh].*?</t[dh]>", row, re.DOTALL)
        ]
        assert cells[0] == [str(place + 1)] and cells[2] == name.split()
        assert cells[1][:3] == (
            [str(best), "to", str(worst)] if worst > best else [str(best), *cells[1][1:3]]
        )
        assert (' class="separable"' in row) == (place < 5 and (name, table.index[place + 1]) in above)
    page = (tmp_path / "site" / "runs" / "1-run_0.html").read_text(encoding="utf-8")
    level = {n for n in runs if n != "run 0" and not {(n, "run 0"), ("run 0", n)} & above}
    said = page.split("cannot be separated from")[1].split("</p>")[0]
    assert set(re.findall("<bdi>(.*?)</bdi>", said)) == level
    assert page.count("<tr>") == 1 + 2 + 1 + 30  # measures, topics, and their heads


def test_hostile_names_and_links(tmp_path: Path) -> None:
    context = RunContext(RUNS, groups=OF_GROUP, reference=NAMES[0])
    index = leaderboard(context, QRELS, MEASURES, tmp_path / "site", title=NAMES[1], command=NAMES[2])
    pages = [index, *sorted((index.parent / "runs").iterdir())]
    assert len(pages) == 1 + len(NAMES)
    for path in pages:
        text = path.read_text(encoding="utf-8")
        tags = set(re.findall(r"<([a-z]\w*)", text))
        assert not tags & {"script", "img", "iframe", "b", "i", "svg", "link"}
        assert "default-src 'none'; style-src 'unsafe-inline'" in text
        assert not re.search(r"<[^>]* on\w+=", re.sub('"[^"]*"', '""', text))
        for target in set(re.findall(r'href="(.*?)"', text)):
            assert (path.parent / unescape(target)).is_file(), target
    names = re.findall(r"<bdi>(.*?)</bdi>", index.read_text(encoding="utf-8"), re.DOTALL)
    assert set(NAMES[:4]) <= {unescape(name) for name in names}


def test_where_it_goes(tmp_path: Path) -> None:
    runs, labels = campaign(3, topics=4)
    folder = tmp_path / "site"
    leaderboard(RunContext(runs), labels, MEASURES, folder)
    first = {path.name: path.read_bytes() for path in folder.rglob("*.html")}
    assert len(first) == 4
    leaderboard(RunContext(runs), labels, MEASURES, folder)
    assert {
        path.name: path.read_bytes() for path in folder.rglob("*.html")
    } == first  # equal input, equal bytes
    del runs["run 2"]
    leaderboard(RunContext(runs), labels, MEASURES, folder)
    assert len(list(folder.rglob("*.html"))) == 3  # the page of a run that is gone is gone
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "index.html").write_text("mine")
    with pytest.raises(FileExistsError, match="holds files that are no leaderboard"):
        leaderboard(RunContext(runs), labels, MEASURES, tmp_path / "notes")
    with pytest.raises(NotADirectoryError, match="is a file"):
        leaderboard(RunContext(runs), labels, MEASURES, tmp_path / "notes" / "index.html")
    with pytest.raises(FileNotFoundError, match="make it first"):
        leaderboard(RunContext(runs), labels, MEASURES, tmp_path / "no" / "site")
    with pytest.raises(ValueError, match="holds no run"):
        leaderboard(RunContext({}), labels, MEASURES, tmp_path / "new")


def test_one_run_and_many_topics(tmp_path: Path) -> None:
    run = {f"q{q}": {f"d{q % 7}": 1.0} for q in range(400)}
    labels = {q: {"d1": 1} for q in run}
    index = leaderboard(RunContext({"only": run}), labels, ["P@1"], tmp_path / "site")
    assert "There are no ranges of ranks by P@1" in index.read_text(encoding="utf-8")
    page = (index.parent / "runs" / "1-only.html").read_text(encoding="utf-8")
    assert "There are 400 topics. These are the 100" in page and page.count("<tr>") == 1 + 1 + 1 + 100
