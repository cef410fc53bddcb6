"""The findings as a table for the terminal, and as a section of a page in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from .finding import Finding, Holds, Value


def shown(value: Value) -> str:
    """A value as the tables have it: numbers to four digits, nothing for None and NaN."""
    if value is None or value != value:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def rows(findings: Iterable[Finding]) -> list[list[str]]:
    """The columns of the tables: where, what, printed, as the released code does, ours, holds."""
    return [[f.where, f.what, shown(f.printed), shown(f.released), shown(f.ours), f.holds] for f in findings]


def notes(findings: Iterable[Finding]) -> list[tuple[str, str]]:
    """What the notes are of, and what they say: of a whole table or figure once, before the lines of it."""
    said: dict[tuple[str, str], None] = {}
    for f in findings:
        table = f.where.split(", ")[0]
        for of, note in ((table, f.about), (f"{f.where}, {f.what}", f.note)):
            if note:
                said[of, note] = None
    return list(said)


def claims(findings: Iterable[Finding], campaigns: Sequence[str]) -> dict[tuple[str, str], dict[str, Holds]]:
    """What became of each claim, by its table or figure and its words, on each of these campaigns."""
    found: dict[tuple[str, str], dict[str, Holds]] = {}
    for f in findings:
        table, _, rest = f.where.partition(", ")
        campaign = next((name for name in campaigns if rest.startswith(name)), None)
        if f.claim and campaign:
            found.setdefault((table, f.claim), {})[campaign] = f.holds
    return found


def counts(of_claims: Iterable[dict[str, Holds]]) -> list[int]:
    """How many claims there are, and how many hold on all campaigns that they were asked of, on some, on none."""
    held = [[holds == "yes" for holds in claim.values()] for claim in of_claims]
    everywhere, somewhere = sum(map(all, held)), sum(map(any, held))
    return [len(held), everywhere, somewhere - everywhere, len(held) - somewhere]


def overview(sections: Mapping[str, Sequence[Finding]], campaigns: Sequence[str]) -> str:
    """What holds on how many campaigns: the papers' counts, and then claim by claim."""
    found = {title: claims(of_paper, campaigns) for title, of_paper in sections.items()}
    summed = {title: counts(of.values()) for title, of in found.items()}
    summed["all papers"] = [sum(column) for column in zip(*summed.values(), strict=True)]
    rows = [[title, *map(str, numbers)] for title, numbers in summed.items()]
    header = ["claims", "hold on all", "on some", "on none"]
    parts = [_table(["paper", *header], rows, header)]
    for title, of in found.items():
        lines = [[*key, *(holds.get(name, "") for name in campaigns)] for key, holds in of.items()]
        parts += [f"**{title}**", _table(["where", "claim", *campaigns], lines)]
    return "\n\n".join(parts)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[str] = ()) -> str:
    """A table in Markdown, with these columns of numbers."""
    line = ["---:" if column in numbers else "---" for column in header]
    written = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, line, *written])


_HOLDS = {"yes": "hold", "in part": "hold in part", "no": "do not hold", "open": "open"}
HEADER = ["where", "what", "printed", "released code", "ours", "holds"]


def terminal(title: str, findings: Sequence[Finding]) -> str:
    """A table for people in a terminal, and below it what the notes say."""
    table = [HEADER, *rows(findings)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]
    said = [f"{of}: {note}" for of, note in notes(findings)]
    return "\n".join([title, "", *lines, "", *said])


def _of_campaigns(finding: Finding) -> str:
    """Where in the paper; with the campaign only for a picture of this campaign alone, whose file is named by it."""
    where, _, campaign = finding.where.partition(", ")
    of_one = re.sub(r"\W+", "-", campaign).strip("-") in (finding.picture or "")
    return finding.where if of_one else f"{where}, all campaigns"


def markdown(title: str, findings: Sequence[Finding], pictures: str) -> str:
    """A section of the page: the table, the notes, the pictures from the folder of this name."""
    summed = [(sum(f.holds == word for f in findings), words) for word, words in _HOLDS.items()]
    summary = ", ".join(f"{n} {words}" for n, words in summed if n)
    said = [f"- **{of}**: {note}" for of, note in notes(findings)]
    images = [
        f"![{_of_campaigns(f)}: {f.what}]({pictures}/{f.picture})" + f"\n\n{f.caption}" * bool(f.caption)
        for f in findings
        if f.picture
    ]
    return (
        "\n\n".join(
            filter(
                None,
                [
                    f"## {title}",
                    f"Of {len(findings)} findings: {summary}.",
                    _table(HEADER, rows(findings), HEADER[2:5]),
                    "\n".join(said),
                    *images,
                ],
            )
        )
        + "\n"
    )
