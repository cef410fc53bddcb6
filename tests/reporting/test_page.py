"""The file of a report: one, whole, the same to the byte, and nothing in it from outside runs."""

import json
import os
import random
import re
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("jinja2", reason="the report needs Jinja2, of the extra [report]")
pytest.importorskip("vl_convert", reason="the report needs vl-convert, of the extra [report]")

from hostile import NAMES, OF_GROUP, QRELS, QUERIES, RUNS, TEXT
from ir_measures_relative import RunContext, report, worth
from ir_measures_relative.reporting import page as page_module

# Tiny campaigns: the section on unjudged documents asks which grades there are.
pytestmark = pytest.mark.filterwarnings("ignore:only .* documents are judged relevant")

MEASURES = ["nDCG@3", "NRG@3", "UniqueRel@3"]


class Elements(HTMLParser):
    """The elements of a page, as a browser would find them."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.inside = tag

    def handle_data(self, data: str) -> None:
        if self.inside == "script":
            self.scripts.append(data)

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""


def written(
    tmp_path: Path, runs: Any = RUNS, labels: Any = QRELS, measures: Any = None, **options: Any
) -> str:
    context = RunContext(runs, **{k: options.pop(k) for k in ("groups", "reference") if k in options})
    path = report(context, labels, measures or MEASURES, tmp_path / "page.html", **options)
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of four runs in no groups."""
    return written(tmp_path_factory.mktemp("plain"), dict([*RUNS.items()][:4]))


@pytest.fixture(scope="module")
def grouped(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of runs in groups, of which one is the reference, with a title, a command and texts."""
    options: dict[str, Any] = {
        "queries": dict.fromkeys(QUERIES, TEXT),
        "title": NAMES[1],
        "command": NAMES[2],
    }
    return written(tmp_path_factory.mktemp("grouped"), groups=OF_GROUP, reference=NAMES[0], **options)


def test_hostile_names(grouped: str) -> None:
    page = Elements(grouped)
    kinds = [tag for tag, _ in page.tags]
    assert kinds.count("script") == len(page.scripts) == 4
    assert not {"img", "svg", "b", "i", "iframe"} & set(kinds)  # pictures are made by the scripts
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    data = json.loads(page.scripts[0])
    assert [run["name"] for run in data["runs"]] == NAMES
    assert [topic["id"] for topic in data["topics"]] == QUERIES
    names = {attributes["title"] for _, attributes in page.tags if attributes.get("class") == "name"}
    assert names == set(NAMES)


def test_it_asks_for_nothing_from_anywhere(grouped: str) -> None:
    page = Elements(grouped)
    links = [v for _, a in page.tags for k, v in a.items() if k in ("src", "href")]
    assert all(str(link).startswith("#") for link in links)
    policy = next(a["content"] for t, a in page.tags if t == "meta" and "http-equiv" in a)
    assert policy is not None and policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "'unsafe-inline'" not in policy.split("style-src")[0] and "http" not in policy
    import base64
    import hashlib

    for script in page.scripts[2:]:
        assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in policy


def test_equal_input_equal_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In another process, with other hashes, rows in another order, and another form."""
    queries = QUERIES[:2]
    plain = {f"r{i}": {q: run[q] for q in queries} for i, run in enumerate([*RUNS.values()][:3])}
    labels = {q: QRELS[q] for q in queries}
    program = (
        "import sys, json\nfrom ir_measures_relative import RunContext, report\n"
        "from ir_measures_relative.reporting import page\npage._bundle = lambda: 'program'\n"
        "runs, labels = json.load(sys.stdin)\n"
        f"report(RunContext(runs), labels, {MEASURES}, sys.argv[1])"
    )
    other = tmp_path / "other.html"
    environment = os.environ | {"PYTHONHASHSEED": "7"}
    given = json.dumps([plain, labels])
    subprocess.run(
        [sys.executable, "-c", program, str(other)], input=given, text=True, check=True, env=environment
    )
    monkeypatch.setattr(
        "ir_measures_relative.reporting.page._bundle", lambda: "program"
    )  # which takes seconds to make
    first = written(tmp_path, plain, labels)
    frames = {}
    for name, run in plain.items():
        rows = [(q, d, s) for q, docs in run.items() for d, s in docs.items()]
        random.Random(1).shuffle(rows)
        frames[name] = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    assert written(tmp_path, frames, labels) == first == other.read_text(encoding="utf-8")


def test_what_it_says_of_itself(tmp_path: Path) -> None:
    runs = {f"r{i}": run for i, run in enumerate([*RUNS.values()][:2])}
    text = written(tmp_path, runs, title="TREC", command="ir_measures_relative qrels runs NRG@3")
    mark = RunContext(runs).fingerprint(QRELS)
    assert mark["sha256"] in text and all(run["sha256"] in text for run in mark["runs"])
    as_json = re.search(r"The fingerprint as JSON</summary><pre[^>]*>(.*?)</pre>", text, re.DOTALL)
    assert as_json and json.loads(unescape(as_json[1])) == json.loads(json.dumps(mark))
    assert "<pre>ir_measures_relative qrels runs NRG@3</pre>" in text
    assert "@inproceedings{nrg2024," in text and "journals/tois/JarvelinK02" in text
    assert "<title>TREC</title>" in text
    assert not re.search(r"\b20[2-9]\d-\d\d-\d\d\b", text.split("<script")[0])  # no date


def test_every_picture_has_a_table(plain: str) -> None:
    text = plain.split("<script")[0]
    figures = re.findall(r"<figure.*?</figure>", text, re.DOTALL)
    assert len(figures) >= 6 and all("aria-label" in figure for figure in figures)
    without = [figure for figure in figures if "<details" not in figure]
    assert len(without) == 1 and "the table of the runs has the same numbers" in without[0]


def test_copies_stand_beside_what_runs_add(tmp_path: Path) -> None:
    """Beside NRG, of which a copy has some, and not beside UniqueRel, of which it has none."""
    run = {"q": {"a": 2.0, "b": 1.0}}
    text = written(tmp_path, {"one": run, "two": run}, {"q": {"a": 1, "b": 1}}, ["NRG@3", "UniqueRel@3"])
    table = text.split('id="table-of-runs"')[1].split("</table>")[0]
    cells = re.findall(r">copy of (.*?): ([\d.]+)</span>", table, re.DOTALL)
    copies = [(re.sub("<.*?>", "", who).strip(), value) for who, value in cells]
    assert copies == [("two", "0.6309"), ("one", "0.6309")]
    assert "the value of an exact copy of the run’s most similar prior run" in text
    alone = written(tmp_path, {"one": run, "two": run}, {"q": {"a": 1, "b": 1}}, ["P@3", "UniqueRel@3"])
    assert "copy of" not in alone.split('id="table-of-runs"')[1].split("</table>")[0]


def test_who_adds_most_and_who_shows_most(tmp_path: Path) -> None:
    """One relevant document at the top counts more than two far down, and fewer."""
    qrels = {f"q{i}": {"U": 1, "V": 1, "W": 1, "x0": 0} for i in range(6)}
    low = {f"x{j}": 10.0 - j for j in range(8)} | {"V": 1.0, "W": 0.0}
    runs = {"first": {"U": 1.0}, "far": low, "none": {"x0": 1.0}}
    of_topics = {name: dict.fromkeys(qrels, run) for name, run in runs.items()}
    page = written(tmp_path, of_topics, qrels, ["nDCG@10", "NRG(norm='ideal')@10", "UniqueRel@10"])
    text = unescape(re.sub(r"<[^>]*>", "", page.partition("Adds most to the other runs:")[2]))
    said = " ".join(text.split())
    assert said.startswith(
        "first, NRG(norm='ideal')@10 0.469: 1.00 relevant documents per topic in its top 10 and in that of no other run. "
    )
    assert "far has most of these: 2.00." in said[:300]


def test_the_order_of_two_runs_is_one(tmp_path: Path) -> None:
    runs = {
        name: {"q": {doc: -float(i) for i, doc in enumerate(docs)}}
        for name, docs in (("a", "AX"), ("b", "YA"))
    }
    context, measures = RunContext(runs, grades=(0, 1)), ["nDCG@2", "UniqueRel@2"]
    page = report(context, {"q": {"A": 1}}, measures, tmp_path / "out.html").read_text()
    [headline] = re.findall(r"<li><strong>Unjudged documents[^.]*\.", page)
    expected = (
        "Unjudged documents could reverse the order of the two runs compared by nDCG@2 on these topics."
    )
    assert " ".join(re.sub("<[^>]*>", "", headline).split()) == expected


def test_a_page_of_two_runs_has_the_verdict_of_worth(tmp_path: Path) -> None:
    qrels = {f"q{i}": {"U": 1, "V": 1, "x0": 0, "x1": 0} for i in range(20)}
    tops = {"good": ["U", "V"], "bad": ["x0", "x1"]} | {f"run {i}": ["x0", "U"] for i in range(3)}
    runs = {
        name: {q: {d: -float(j) for j, d in enumerate(docs)} for q in qrels} for name, docs in tops.items()
    }
    page = written(tmp_path, runs, qrels, ["nDCG@2", "NRG@2"])
    found = json.loads(Elements(page).scripts[0])["pairs"]["decisions"]
    rows = {tuple(row[:2]): row[2:] for row in found["rows"]}
    assert (found["by"], found["runs"], len(rows)) == ("nDCG@2", 5, 20)
    context = RunContext(runs)
    for (deployed, candidate), words in rows.items():
        answer = worth(context, qrels, context.names[candidate], [context.names[deployed]], by="nDCG@2")
        assert answer.plain_text.startswith("".join(words))
    assert rows[2, 0][0] == "Replace run 0 with good." and rows[0, 2][0] == "Keep good."


def test_absent_without_a_trace(tmp_path: Path, plain: str) -> None:
    one = {"only": {"q": {"a": 1.0}}}
    text = written(tmp_path, one, {"q": {"a": 1}}, ["nDCG@3"]).split("<script")[0]
    assert set(re.findall(r'<section id="([\w-]+)"', text)) == {"runs", "relative-to", "left-out"}
    said = text.split('<section id="left-out">')[1]
    assert said.count("<li>") == 8 and "Which runs are similar: there is only one run." in said
    assert set(re.findall(r'<a href="#([\w-]+)">', text)) == {"runs", "relative-to"}
    text = plain.split("<script")[0]
    assert 'id="comparison"' not in text and "<dt>Reference" not in text and "<small>reference" not in text


def with_data(figure: dict[str, Any]) -> dict[str, Any]:
    """The specification with a row that holds each field."""
    fields: dict[str, Any] = {"value": 1.0, "place": 0, "own": True, "settled": "undecided", "chance": "yes"}
    fields |= dict.fromkeys(("run_place", "other_place", "worst", "best", "bound"), 0)
    fields |= dict.fromkeys(("run_name", "other_name", "value_shown", "worst_shown", "best_shown"), "said")
    spec = figure["spec"] | {"data": {"values": [fields]}}
    return spec | ({"width": 300} if spec["width"] == "container" else {})


def test_pictures_are_vega_lite(grouped: str) -> None:
    import vl_convert

    page = Elements(grouped)
    figures = json.loads(page.scripts[1])
    drawn = {name: figure for name, figure in figures.items() if "spec" in figure}
    expected = {"differences", "likeness", "selection", "shapley", "bounds-0", "verdicts-0"}
    assert expected <= set(drawn)
    charts = {a["data-chart"] for _, a in page.tags if "data-chart" in a}
    assert charts | {"differences"} == {*drawn, "scatter"}
    for name, figure in drawn.items():
        assert vl_convert.vegalite_to_svg(with_data(figure)).startswith("<svg"), name


def test_where_it_goes(tmp_path: Path) -> None:
    given = RunContext({"a": {"q": {"a": 1.0}}}), {"q": {"a": 1}}, ["P@1"]
    with pytest.raises(IsADirectoryError, match="is a folder; give the path of a file"):
        report(*given, tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no folder .*; make it first"):
        report(*given, tmp_path / "none" / "page.html")
    (tmp_path / "link.html").symlink_to(tmp_path / "real.html")
    report(*given, tmp_path / "link.html")
    assert (tmp_path / "link.html").is_symlink() and (tmp_path / "real.html").stat().st_mode & 0o600
    assert not list(tmp_path.glob(".*"))


def test_what_is_there_stays_where_something_fails(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    target.write_text("old")
    with pytest.raises(ValueError, match="no query in common"):
        report(RunContext({"a": {"x": {"a": 1.0}}}), {"q": {"a": 1}}, ["P@1"], target)
    with pytest.raises(ValueError, match="holds no run"):
        report(RunContext({}), {"q": {"a": 1}}, ["P@1"], target)
    assert target.read_text() == "old"


@pytest.mark.parametrize("package", ["jinja2", "vl_convert", "matplotlib"])
def test_without_a_package(package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    match = r"the report needs more than .*: pip install 'ir-measures-relative\[report\]'"
    with pytest.raises(ImportError, match=match):
        report(RunContext({"a": {"q": {"a": 1.0}}}), {"q": {"a": 1}}, ["P@1"], tmp_path / "page.html")


def test_size_of_a_campaign(tmp_path: Path) -> None:
    """Each run and topic adds what is linear."""
    rng = np.random.default_rng(0)
    size = {}
    for n in (2, 4):
        runs = {
            f"run{r}": {
                f"q{q}": dict(zip((f"doc-{d:07}" for d in rng.permutation(60)[:10]), range(10), strict=True))
                for q in range(20)
            }
            for r in range(n)
        }
        labels = {f"q{q}": {f"doc-{d:07}": int(rng.integers(3)) for d in range(0, 60, 2)} for q in range(20)}
        measures = ["nDCG@10", "UniqueRel@10"]
        size[n] = len(written(tmp_path, runs, labels, measures))
    assert size[4] - size[2] < 35_000 * 2


def test_the_program_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(page_module, "_make_bundle", lambda: "program")
    assert page_module._bundle.__wrapped__() == "program"
    (kept,) = (tmp_path / "home" / "ir_measures_relative").iterdir()
    assert kept.read_text(encoding="utf-8") == "program"
    monkeypatch.setattr(page_module, "_make_bundle", lambda: pytest.fail("made again"))
    assert page_module._bundle.__wrapped__() == "program"


def test_a_folder_that_nobody_may_write_to_is_none_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").write_text("a file")
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(page_module, "_make_bundle", lambda: "program")
    assert page_module._bundle.__wrapped__() == "program"
