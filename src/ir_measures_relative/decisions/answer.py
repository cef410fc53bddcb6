"""The answer of decide, worth and drop, as text, a notebook, JSON, Markdown and JUnit have it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any
from xml.etree import ElementTree

import pandas as pd

from ..messages import escaped, markdown_text, to_json
from .rule import NEEDED

# What no XML document can hold.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# Longer lists of the runs of an option are not in the table of the text.
_LONGEST_RUNS = 40


@dataclass(frozen=True, eq=False)
class Decision:
    """The answer of :func:`decide`, :func:`worth` and :func:`drop`. ``print`` shows the text and the table."""

    options: Mapping[str, tuple[str, ...]]  #: from the name of an option to its runs; the first is in use
    #: The name of an option, or ``"open"``; of :func:`drop` ``"safe"``, ``"needed"`` or ``"open"``. None where unjudged
    #: documents decide, and no relevance model says what they are.
    verdict: str | None
    choice: str  #: the name of an option, that of the verdict, or where it is open the one to choose now
    #: The verdict at the extremes of the unjudged documents; None where these are not known.
    strict: str | None
    as_judged: str  #: the verdict by the judgments as they are
    #: Deployed runs whose removal alone would do as well; None where this is no question.
    as_well: tuple[str, ...] | None
    labels: str  #: ``"imputed"``, ``"judged"`` or ``"strict"``, of the verdict and of the table
    headline: str  #: the verdict as a sentence
    reason: str  #: what it may cost, what else would do as well, and what unjudged documents could change
    notes: tuple[str, ...]  #: the evidence, a paragraph each
    table: pd.DataFrame  #: a row for each option; :func:`decide` names the columns
    topics: pd.DataFrame  #: ``query_id``, ``option``, ``value``, and ``difference`` from the first option
    #: ``query_id`` and ``doc_id`` of the unjudged documents that could change the verdict, those first that move it
    #: furthest; judge some, and ask again.
    judge: pd.DataFrame
    #: ``new``, ``groups``, ``pools``, if they apply
    evidence: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)  #: by what, and how, the options are compared
    #: How many topics in all an open verdict needs, as a range; inf is more than 10,000. None if not open or not known.
    topics_needed: tuple[float, float] | None = None
    missing_topics: str = ""  #: which runs miss topics, and what that counts

    def __bool__(self) -> bool:
        raise TypeError("a Decision is neither true nor false; compare its verdict")

    def __str__(self) -> str:
        evidence = map(_as_text, self.evidence.values())
        return "\n\n".join([self.answer, self.table_text, *self.notes, *evidence])

    @property
    def table_text(self) -> str:
        """The table as text, without long lists of runs."""
        table = self.table
        if "runs" in table and table["runs"].str.len().max() > _LONGEST_RUNS:
            table = table.drop(columns="runs")
        return escaped_lines(_as_text(table))

    @property
    def answer(self) -> str:
        """The headline, the reason, and which runs miss topics, after the sentence that the headline begins."""
        rest = [self.missing_topics, self.reason]
        return " ".join(filter(None, [self.headline, *(rest[::-1] if self.headline.endswith(":") else rest)]))

    @property
    def plain_text(self) -> str:
        """All sentences, a paragraph each."""
        return "\n\n".join([self.answer, *self.notes])

    @property
    def text(self) -> str:
        """The same; the headline stands in bold type."""
        return f"**{self.headline}**{self.plain_text.removeprefix(self.headline)}"

    @property
    def outcome(self) -> str:
        """The meaning of the verdict for the option in use, one of ``"change"``, ``"keep"`` and ``"open"``."""
        if self.verdict in (None, "open"):
            return "open"
        return "keep" if self.verdict in (next(iter(self.options)), NEEDED) else "change"

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        rest = self.answer.removeprefix(self.headline)
        paragraphs = [f"<p><b>{escape(self.headline)}</b>{escape(rest)}</p>", _as_html(self.table)]
        paragraphs += [f"<p>{escape(note)}</p>" for note in self.notes]
        return "".join([*paragraphs, *map(_as_html, self.evidence.values())])

    def to_dict(self) -> dict[str, Any]:
        """Return all of it but ``topics``, as JSON has it; values that are not finite are None."""

        def rows(table: pd.DataFrame) -> Any:
            return json.loads(table.to_json(orient="records", double_precision=15))

        return {
            **self.settings,
            "options": {name: list(runs) for name, runs in self.options.items()},
            "verdict": self.verdict,
            "choice": self.choice,
            "labels": self.labels,
            "strict": self.strict,
            "as_judged": self.as_judged,
            "as_well": None if self.as_well is None else list(self.as_well),
            "topics_needed": self.topics_needed
            and [None if math.isinf(n) else int(n) for n in self.topics_needed],
            "missing_topics": self.missing_topics,
            "text": self.text,
            "table": rows(self.table),
            "judge": rows(self.judge),
            "evidence": {name: rows(table) for name, table in self.evidence.items()},
        }

    def to_json(self) -> str:
        """Return :meth:`to_dict` as text."""
        return to_json(self.to_dict(), indent=2)

    def to_markdown(self) -> str:
        """Return the text and the tables, such as for a pull request."""
        rest = self.answer.removeprefix(self.headline)
        parts = [f"**{markdown_text(self.headline)}**{markdown_text(rest)}", _as_markdown(self.table)]
        parts += map(markdown_text, self.notes)
        for name, table in self.evidence.items():
            folded = f"<details>\n<summary>{name}</summary>\n\n{_as_markdown(table)}\n\n</details>"
            parts.append(folded)
        return "\n\n".join(parts)

    def to_junit(self, name: str = "decision") -> str:
        """Return one test case: it fails where the option in use stays, and is skipped where the verdict is open."""
        return junit_report({name: self})


def _as_text(table: pd.DataFrame) -> str:
    text: str = table.to_string(index=False, float_format="%.3f", na_rep="", max_rows=60)
    return text


def escaped_lines(text: str) -> str:
    """Return the lines of a text, each without control characters."""
    return "\n".join(map(escaped, text.split("\n")))


def _as_html(table: pd.DataFrame) -> str:
    html: str = table.to_html(index=False, float_format="%.3f", na_rep="", border=0)
    return html


def _as_markdown(table: pd.DataFrame) -> str:
    cells = [
        [("" if v != v else f"{v:.3f}") if isinstance(v, float) else "" if v is None else str(v) for v in row]
        for row in table.itertuples(index=False)
    ]
    rows = [list(map(str, table.columns)), ["---"] * table.shape[1], *cells]
    return "\n".join("| " + " | ".join(map(markdown_text, row)) + " |" for row in rows)


def junit_report(decisions: Mapping[str, Decision]) -> str:
    """Return a test case for each decision, as :meth:`Decision.to_junit` has it."""
    outcomes = [decision.outcome for decision in decisions.values()]
    counts = {"tests": len(outcomes), "failures": outcomes.count("keep"), "skipped": outcomes.count("open")}
    counted = {key: str(count) for key, count in (counts | {"errors": 0}).items()}
    root = ElementTree.Element("testsuites", counted)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "decision", **counted})
    for (name, decision), outcome in zip(decisions.items(), outcomes, strict=True):
        case = ElementTree.SubElement(suite, "testcase", {"classname": "decision", "name": _xml(name)})
        kind = {"keep": "failure", "open": "skipped"}.get(outcome)
        message = {} if kind is None else {"message": _xml(decision.headline)}
        ElementTree.SubElement(case, kind or "system-out", message).text = _xml(decision.plain_text)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode")


def _xml(text: str) -> str:
    return _NO_XML.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
