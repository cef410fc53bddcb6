"""The pages of findings: what they say is there is there, and their commands are commands."""

from __future__ import annotations

import re
from pathlib import Path

import ir_measures
import pytest
import studies.meta
from studies.reproduce.findings import TABLES

import ir_measures_relative
from ir_measures_relative.context.measure_strings import parse_measure, registered
from page_examples import run_examples

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    name: (ROOT / "studies" / f"{name}.md").read_text(encoding="utf-8") for name in ("findings", "re-tested")
}


def rows_of_items() -> list[list[str]]:
    """The cells of the table of what the papers left open: paper, item, where, covered by."""
    section = PAGES["re-tested"].split("## What the papers left open, and where it is")[1]
    lines = [line for line in section.splitlines() if line.startswith("| ")][1:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


@pytest.mark.parametrize("row", rows_of_items(), ids=lambda row: f"{row[0]}: {row[1]}")
def test_each_item_is_there_and_tested(row: list[str]) -> None:
    """Its measures parse, its functions and sections exist, and its test files name what is in the column *where*."""
    _, _, where, covered = row
    assert where and covered
    words = []
    for code in re.findall(r"`([^`]+)`", where):
        if code.startswith("python -m "):
            words.append("letor")
        elif "(" in code:
            assert repr(parse_measure(code)) and code.partition("(")[0] in registered(), code
            words += [code.partition("(")[0], *re.findall(r"(?:base|rarity)='(\w+)'", code)]
        else:
            found = studies if code.startswith("studies.") else ir_measures_relative
            code = code.removeprefix("studies.")
            for part in code.split("."):
                found = getattr(found, part, code)  # a plain word is a method's name
            words.append(code.rpartition(".")[2])
    for page, section in re.findall(r"\]\((\w[\w-]*\.md)?#([\w-]+)\)", where):
        text = PAGES[page.removesuffix(".md")] if page else PAGES["re-tested"]
        titles = re.findall(r"^## (.*)$", text, re.MULTILINE)
        assert section in {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}, (
            section
        )
    files = [ROOT / path for path in re.findall(r"`([^`]+)`", covered)]
    assert files and all(path.is_file() for path in files), covered
    tests = "".join(path.read_text(encoding="utf-8") for path in files)
    assert all(word in tests for word in words), f"{covered} names not all of {words}"


@pytest.mark.parametrize("name", ["meta", "where-the-papers-slip"])
@pytest.mark.filterwarnings(
    "error::UserWarning",
    "ignore:UE is relative to a random ranking",
    "ignore:the run ranks .* of the judged documents",
    "ignore:UniqueRel.* counts each label from rel=1",
)
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_examples(ROOT / "studies" / f"{name}.md", tmp_path, monkeypatch)


def test_the_items_are_of_all_five_papers() -> None:
    assert {row[0].split(",")[0] for row in rows_of_items()} == {
        "rareness",
        "NRG",
        "lexiprecision",
        "MED",
        "UE",
    }


def test_the_commands_of_the_findings_are_those_of_the_module() -> None:
    assert set(re.findall(r"`python -m studies.reproduce\.findings ([\w-]+)`", PAGES["findings"])) == set(
        TABLES
    )


def test_every_claim_is_counted_once() -> None:
    """The counts at the top of the page are those of its tables, campaign by campaign."""
    section = PAGES["re-tested"].split("## What holds on how many campaigns")[1].split("\n## ")[0]
    totals = {
        r[0]: list(map(int, r[1:]))
        for r in re.findall(r"^\| ([^|]+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", section, re.M)
    }
    for title, part in zip(*[iter(re.split(r"^\*\*(.*)\*\*$", section, flags=re.M)[1:])] * 2, strict=True):
        rows = [
            [c.strip() for c in line.strip("|").split("|")[2:]]
            for line in part.splitlines()
            if line.startswith("| ")
        ][2:]
        held = [[holds == "yes" for holds in row if holds] for row in rows]
        everywhere, some = sum(map(all, held)), sum(map(any, held))
        assert totals[title] == [len(rows), everywhere, some - everywhere, len(rows) - some], title
    papers = [of for title, of in totals.items() if title != "all papers"]
    assert len(papers) == 5 and totals["all papers"] == [sum(column) for column in zip(*papers, strict=True)]


def test_measures_of_the_findings_parse() -> None:
    tables = re.findall(r"^\|.*\|$", PAGES["findings"], re.MULTILINE)
    found = {m for line in tables for m in re.findall(r"\b[A-Z]\w+\([a-z][^)]*\)@\d+", line)}
    assert found and all(isinstance(parse_measure(m), ir_measures.Measure) for m in found)


def test_beneath_each_picture_stands_what_one_sees() -> None:
    lines = [line for line in PAGES["re-tested"].splitlines() if line]
    pictures = [i for i, line in enumerate(lines) if line.startswith("![")]
    assert len(pictures) > 20
    for i in pictures:
        beneath = lines[i + 1 : i + 2]
        assert beneath and re.match(r"[A-Z].*[.]$", beneath[0]), lines[i]
