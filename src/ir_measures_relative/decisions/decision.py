"""A decision: one verdict, its reason, and the evidence, printed as sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any
from xml.etree import ElementTree

import pandas as pd

from ..messages import json_of, markdown_text
from ..stats.power import TopicsNeeded

# What no XML document can hold.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, eq=False)
class Decision:
    """What :func:`decide`, :func:`worth` and :func:`drop` answer. ``print`` shows the text and the table."""

    options: tuple[str, ...]  #: what is compared; the first is in use
    #: The name of an option, ``"open"``, or several options joined by "or", allowing for unjudged documents. None where
    #: it is not known how far they move the measure.
    verdict: str | None
    as_judged: str  #: the verdict by the judgments as they are
    may_be_best: tuple[str, ...]  #: the options that are not ruled out
    missing: str | None  #: what an open verdict needs, topics, judgments, or both
    text: str  #: a paragraph each for the verdict and its reason, what to do, and the evidence
    table: pd.DataFrame  #: a row an option; :func:`decide` names the columns
    judge: pd.DataFrame  #: ``query_id`` and ``doc_id`` of what to judge next, in that order
    #: Tables beside the verdict, by name. These are ``why``, ``instead``, ``groups``, ``pools`` and ``fewer``, as
    #: far as they apply.
    evidence: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)  #: by what, and how, the options are compared
    topics_needed: TopicsNeeded | None = None  #: how many would settle an open verdict with 80 % power
    #: The probability that ``as_judged`` stays the verdict once all documents are judged; None where it is not known.
    stands: float | None = None
    missing_topics: str = ""  #: which runs miss topics, and what that counts; the text says it too

    def __bool__(self) -> bool:
        raise TypeError("a Decision is neither true nor false; compare its verdict")

    def __str__(self) -> str:
        tables = [self.table, *self.evidence.values(), self.judge]
        shown = (one.to_string(index=False, float_format="%.3f", na_rep="") for one in tables if len(one))
        return "\n\n".join([self.plain_text, *shown])

    @property
    def plain_text(self) -> str:
        """The text without the marks of bold type."""
        return "\n\n".join("".join(parts) for parts in self._paragraphs)

    @property
    def _paragraphs(self) -> list[tuple[str, str]]:
        """Of each paragraph what stands in bold type at its start, and the rest."""
        first, *others = self.text.split("\n\n")
        return [bold_and_rest(first), *(("", one) for one in others)]

    def outcome(self, as_judged: bool = False) -> str:
        """What the verdict means for the option in use: ``"change"``, ``"keep"`` or ``"open"``."""
        verdict = self.as_judged if as_judged else self.verdict
        if verdict in (None, "open", "not graded"):
            return "open"
        return "keep" if verdict in (self.options[0], "needed") else "change"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        told = [(escape(bold), escape(rest)) for bold, rest in self._paragraphs]
        parts = [f"<p><b>{bold}</b>{rest}</p>" if bold else f"<p>{rest}</p>" for bold, rest in told]
        tables = [self.table, *self.evidence.values()]
        parts += [one.to_html(index=False, float_format="%.3f", na_rep="", border=0) for one in tables]
        return "".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it; what is not a number, or infinite, is None."""

        def rows(table: pd.DataFrame) -> Any:
            return json.loads(table.to_json(orient="records", double_precision=15))

        needed = self.topics_needed
        return {
            "options": list(self.options),
            **self.settings,
            "verdict": self.verdict,
            "as_judged": self.as_judged,
            "may_be_best": list(self.may_be_best),
            "missing": self.missing,
            "missing_topics": self.missing_topics,
            "stands": self.stands,
            "topics_needed": None if needed is None else needed._asdict(),
            "text": self.text,
            "table": rows(self.table),
            "judge": rows(self.judge),
            "evidence": {name: rows(one) for name, one in self.evidence.items()},
        }

    def to_json(self) -> str:
        """:meth:`to_dict` as text."""
        return json_of(self.to_dict(), indent=2)

    def to_markdown(self) -> str:
        """The text and the tables, such as for a pull request."""
        tables = {"": self.table, **self.evidence}
        if len(self.judge):
            tables["documents to judge"] = self.judge
        told = [(markdown_text(bold), markdown_text(rest)) for bold, rest in self._paragraphs]
        parts = [f"**{bold}**{rest}" if bold else rest for bold, rest in told]
        for name, one in tables.items():
            lines = "\n".join(_markdown(one))
            folded = f"<details>\n<summary>{name}</summary>\n\n{lines}\n\n</details>"
            parts.append(folded if name else lines)
        return "\n\n".join(parts)

    def to_junit(self, name: str = "decision", as_judged: bool = False) -> str:
        """One test case: it fails where the option in use stays, and is skipped where the verdict is open."""
        return junit_of({name: self}, as_judged)


def bold_and_rest(paragraph: str) -> tuple[str, str]:
    """What stands in bold type at its start, which is a sentence, and the rest."""
    if not paragraph.startswith("**") or ".**" not in paragraph:
        return "", paragraph
    bold, _, rest = paragraph[2:].partition(".**")
    return f"{bold}.", rest


def after_verdict(text: str, sentences: str) -> str:
    """Return a text with further sentences behind the verdict, which is what stands in bold type at its start."""
    verdict, rest = bold_and_rest(text)
    if not sentences:
        return text
    return f"**{verdict}** {sentences}{rest}" if verdict else f"{sentences} {rest}"


def _markdown(table: pd.DataFrame) -> list[str]:
    cells = [
        [("" if v != v else f"{v:.3f}") if isinstance(v, float) else "" if v is None else str(v) for v in row]
        for row in table.itertuples(index=False)
    ]
    rows = [list(map(str, table.columns)), ["---"] * table.shape[1], *cells]
    return ["| " + " | ".join(map(markdown_text, row)) + " |" for row in rows]


def junit_of(decisions: Mapping[str, Decision], as_judged: bool = False) -> str:
    """A test case for each decision, as :meth:`Decision.to_junit` has it."""
    outcomes = [decision.outcome(as_judged) for decision in decisions.values()]
    counts = {"tests": len(outcomes), "failures": outcomes.count("keep"), "skipped": outcomes.count("open")}
    counted = {key: str(count) for key, count in (counts | {"errors": 0}).items()}
    root = ElementTree.Element("testsuites", counted)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "decision", **counted})
    for (name, decision), outcome in zip(decisions.items(), outcomes, strict=True):
        case = ElementTree.SubElement(suite, "testcase", {"classname": "decision", "name": _xml(name)})
        kind = {"keep": "failure", "open": "skipped"}.get(outcome)
        verdict = decision.as_judged if as_judged else decision.verdict
        message = {} if kind is None else {"message": _xml(str(verdict))}
        ElementTree.SubElement(case, kind or "system-out", message).text = _xml(decision.plain_text)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode")


def _xml(text: str) -> str:
    return _NO_XML.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def number(value: float) -> str:
    """A number with two decimals; with three where these say nothing; and never "-0"."""
    text = f"{value:.2f}" if abs(value) >= 0.005 else f"{value:.3f}"
    return "0" if float(text) == 0 else text.replace("-", "−")


def paragraphs(*parts: str) -> str:
    """The paragraphs that say something."""
    return "\n\n".join(stripped for part in parts if (stripped := part.strip()))
