"""The findings as a table for the terminal, and as a section of a page in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .finding import Finding, Value


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


def markdown(title: str, findings: Sequence[Finding], pictures: str) -> str:
    """A section of the page: the table, the notes, the pictures from the folder of this name."""
    table = [HEADER, ["---", "---", "---:", "---:", "---:", "---"], *rows(findings)]
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in table]
    counts = [(sum(f.holds == word for f in findings), words) for word, words in _HOLDS.items()]
    summary = ", ".join(f"{n} {words}" for n, words in counts if n)
    said = [f"- **{of}**: {note}" for of, note in notes(findings)]
    images = [f"![{f.where}: {f.what}]({pictures}/{f.picture})" for f in findings if f.picture]
    return (
        "\n\n".join(
            filter(
                None,
                [
                    f"## {title}",
                    f"Of {len(findings)} findings: {summary}.",
                    "\n".join(lines),
                    "\n".join(said),
                    *images,
                ],
            )
        )
        + "\n"
    )
