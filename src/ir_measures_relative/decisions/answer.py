"""The answer of decide, worth and drop: its tables, its sentences on the lists, and its formats."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd

from ..bounding.verdicts import round_to_zero
from ..context.collection import Collection
from ..context.measure_strings import param_value
from ..data.arrays import FloatArray
from ..messages import counted, few, warn
from ..stats.regret import average_labelings
from ..writing import escaped, markdown_text, to_json
from .options import Option, OptionLists
from .rule import NEEDED, Terms, number
from .text import capital, format_margin, format_share
from .values import OptionValues, won_and_lost

# Characters that no XML document can hold.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Longer lists of the runs of an option are not in the table of the text.
_LONGEST_RUNS = 40
# The number of options of which a sentence counts the topics won and lost.
_COUNTED = 3
#: On the pool of an option.
_POOL = (
    "{option} shows {shown} relevant documents; {not_shown} more are in its pool, {outside_pool} outside, and "
    "{never_retrieved} are never retrieved. The best order of its pool has {ceiling}."
)


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
    #: ``query_id`` and ``doc_id`` of the unjudged documents that could change the verdict, in the order in which
    #: they may bring one soonest; judge some, and ask again.
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
        return "\n".join(map(escaped, _as_text(table).split("\n")))

    @property
    def answer(self) -> str:
        """The headline, the reason, and which runs miss topics, after the first sentence."""
        rest = [self.missing_topics, self.reason]
        return " ".join(filter(None, [self.headline, *(rest[::-1] if self.headline.endswith(":") else rest)]))

    @property
    def plain_text(self) -> str:
        """All sentences, a paragraph each."""
        return "\n\n".join([self.answer, *self.notes])

    @property
    def text(self) -> str:
        """All sentences, with the headline in bold type."""
        return f"**{self.headline}**{self.plain_text.removeprefix(self.headline)}"

    @property
    def outcome(self) -> str:
        """``"change"``, ``"keep"`` or ``"open"``: the verdict on the option in use."""
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
        """Return all fields but ``topics`` as JSON values; None for those that are not finite."""

        def rows(table: pd.DataFrame) -> Any:
            return json.loads(table.to_json(orient="records", double_precision=15))

        topics = self.topics_needed and [None if math.isinf(n) else int(n) for n in self.topics_needed]
        return {
            **self.settings,
            "options": {name: list(runs) for name, runs in self.options.items()},
            "verdict": self.verdict,
            "choice": self.choice,
            "labels": self.labels,
            "strict": self.strict,
            "as_judged": self.as_judged,
            "as_well": None if self.as_well is None else list(self.as_well),
            "topics_needed": topics,
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
            parts.append(f"<details>\n<summary>{name}</summary>\n\n{_as_markdown(table)}\n\n</details>")
        return "\n\n".join(parts)


# ---- tables and sentences on the lists of options


def object_column(texts: Sequence[str]) -> pd.Series:
    """Return a column of texts that may hold any characters."""
    return pd.Series(texts, dtype=object)


@dataclass(frozen=True, eq=False)
class ScoredOptions:
    """Some options with their lists and values; further lists may follow those of the options."""

    collection: Collection
    options: Sequence[Option]
    terms: Terms
    lists: OptionLists
    scores: OptionValues
    #: The values by the labels of the verdict, shape (lists, topics) or (lists, labelings, topics).
    values: FloatArray

    @property
    def by_topic(self) -> FloatArray:
        """The values of the options, shape (options, topics)."""
        return average_labelings(self.values)[: len(self.options)]

    @property
    def names(self) -> pd.Series:
        """The names of the options."""
        return object_column([option.name for option in self.options])

    def tabulate(self, bounds: Mapping[str, FloatArray]) -> pd.DataFrame:
        """Return a row for each option, with ``bounds`` as columns after its difference from the first option."""
        n, by_topic = len(self.options), self.by_topic
        won, lost = won_and_lost(by_topic - by_topic[0])
        mean = by_topic.mean(axis=1)
        columns: dict[str, Any] = {
            "option": self.names,
            "runs": object_column([", ".join(option.runs) for option in self.options]),
            "mean": mean,
            "difference": np.where(won + lost > 0, mean - mean[0], 0.0),
            **bounds,
            "judged": self.scores.judged[:n].mean(axis=1),
            "won": won,
            "lost": lost,
            "unjudged": self.scores.unjudged[:n],
        }
        return pd.DataFrame(columns)

    def tabulate_topics(self) -> pd.DataFrame:
        """Return a row for each topic and option: its value, and its difference from the first."""
        by_topic, query_ids = self.by_topic, self.collection.documents.query_ids
        columns = {
            "query_id": pd.Series(np.repeat(query_ids, len(self.options)), dtype=str),
            "option": pd.Series(np.tile(self.names.to_numpy(), len(query_ids)), dtype=object),
            "value": by_topic.T.reshape(-1),
            "difference": round_to_zero(by_topic - by_topic[0]).T.reshape(-1),
        }
        return pd.DataFrame(columns)

    def tabulate_groups(self, groups: Mapping[str, str]) -> pd.DataFrame:
        """Return the difference of each option from the first in each group of topics.

        ``lower`` and ``upper`` are one-sided ends, each for all options and groups at once. An option ``loses`` in a
        group if its upper end is below 0, and is ``safe`` if the lower end is at least ``-margin``.
        """
        terms, query_ids = self.terms, self.collection.documents.query_ids
        if lacking := [q for q in query_ids if q not in groups]:
            raise ValueError(
                f"groups= names no group for {counted(len(lacking), 'judged topic')}, such as {lacking[:3]}"
            )
        group_by_topic = np.array([groups[q] for q in query_ids], dtype=object)
        names = list(dict.fromkeys(group_by_topic))
        level = 1.0 - (1.0 - terms.test.confidence) / len(names)
        tables = []
        for name in names:
            is_inside = group_by_topic == name
            values = self.values[: len(self.options), ..., is_inside]
            more = values[1:] - values[0]
            upper, less = (terms.bound_differences(sign * more, level) for sign in (1.0, -1.0))
            columns = {"option": self.names[1:].to_numpy(), "group": name, "topics": int(is_inside.sum())}
            columns |= {
                "difference": more.mean(axis=tuple(range(1, more.ndim))),
                "lower": 0.0 - less,
                "upper": upper,
            }
            tables.append(pd.DataFrame(columns).assign(loses=upper < 0, safe=less <= terms.margin))
        return pd.concat(tables, ignore_index=True)

    def tabulate_pools(self) -> pd.DataFrame:
        """Return for each option its mean, its ceiling, and what happens to the relevant documents.

        The ceiling is the mean of the pool in its best order, cut at the same rank. ``never_retrieved``,
        ``outside_pool``, ``not_shown`` and ``shown`` count the relevant documents of all topics.
        """
        n, by = len(self.options), self.terms.by
        judged = self.scores.judged[:n]
        # A measure of aspects may prefer another order to the one by grade.
        best = np.maximum(OptionValues(self.collection, self.lists.best_orders()[:n], by).judged, judged)
        fates = self.lists.count_fates(int(param_value(by, "rel", 1)))[:n]
        columns = {"option": self.names, "mean": judged.mean(axis=1), "ceiling": best.mean(axis=1)}
        ends = ("never_retrieved", "outside_pool", "not_shown", "shown")
        return pd.DataFrame(columns | dict(zip(ends, fates.T, strict=True)))

    def describe(self, choice: int) -> tuple[dict[str, pd.DataFrame], list[str]]:
        """Return the tables of groups and pools, where they apply, and the sentences on the lists of options."""
        tables: dict[str, pd.DataFrame] = {}
        sentences = [self._describe_topics()]
        scores, lists, terms = self.scores, self.lists, self.terms
        if scores.why_not_bounded is not None and not scores.all_judged:
            sentences.append(f"The extremes over unjudged documents are not known: {scores.why_not_bounded}.")
        if unequal := _describe_unequal_lengths(lists):
            warn(unequal, self.collection.context)
            sentences.append(f"{capital(unequal)}.")
        if lists.is_cut:
            sentences.append(
                f"Runs are fused to their first {lists.fused_depth} documents, as many as the track has."
            )
        if terms.groups is not None:
            tables["groups"] = self.tabulate_groups(terms.groups)
            if choice:
                sentences.append(_describe_groups(tables["groups"], self.options[choice].name, terms.margin))
        if terms.reranker is not None:
            tables["pools"] = self.tabulate_pools()
            for row in tables["pools"].to_dict("records"):
                option, ceiling = escaped(row.pop("option")), number(row.pop("ceiling"))
                sentences.append(_POOL.format(option=option, ceiling=ceiling, **row))
        return tables, sentences

    def _describe_topics(self) -> str:
        """Return on how many topics the first options win and lose, and how much is unjudged."""
        by_topic = self.by_topic
        results = list(zip(self.options, *won_and_lost(by_topic - by_topic[0]), strict=True))
        counts = [
            f"{escaped(option.name)} scores higher on {counted(won, 'topic')} and lower on {lost}"
            for option, won, lost in results[1 : 1 + _COUNTED]
        ]
        share = float(self.scores.unjudged[: len(self.options)].max())
        unjudged = "all lists are fully judged"
        if share:
            unjudged = f"up to {format_share(share)} of a list is unjudged"
        elif not self.scores.all_judged:  # what is unjudged could raise the ideal rankings
            unjudged += ", but not the top of every run"
        return f"{'; '.join(counts)}; {unjudged}."


def _describe_unequal_lengths(lists: OptionLists) -> str:
    """Return a warning if some option's list is shorter than another's on most topics; else an empty text."""
    if lists.reranker is not None:
        return ""
    sizes = np.array([list(map(len, topics)) for topics in lists.lists])
    longest = sizes.max(axis=0)
    names = list(dict.fromkeys(run for option in lists.options for run in option.runs))
    run_sizes = lists.run_sizes()[[lists.collection.index[name] for name in names]]
    short = [
        escaped(name) for name, size in zip(names, run_sizes, strict=True) if (size < longest).mean() > 0.5
    ]
    if not short or (sizes < longest).mean(axis=1).max() <= 0.5:
        return ""
    least = int(np.median(run_sizes, axis=1).min())
    cutoff = f"set a cutoff of {least}, to which all runs have documents, or " if least else ""
    have = "has" if len(short) == 1 else "have"
    return (
        f"the options are not at the same cost: {few(short)} {have} fewer documents than "
        f"the longest list on most topics, so not all lists have the same length; {cutoff}give deeper runs"
    )


def _describe_groups(table: pd.DataFrame, choice: str, margin: float) -> str:
    """Return in which groups of topics the choice loses, and in which a loss is not excluded."""
    rows = table[table["option"] == choice]
    loses, safe = (rows[column].to_numpy(dtype=bool) for column in ("loses", "safe"))
    names = rows["group"].astype(str).map(escaped)
    than = f" of more than {format_margin(margin)}" if margin else ""
    sentences = []
    if loses.any():
        sentences.append(f"{capital(escaped(choice))} loses in these groups of topics: {few(names[loses])}.")
    if (might_lose := ~loses & ~safe).any():
        sentences.append(f"A loss{than} is not excluded in: {few(names[might_lose])}.")
    nowhere = f"{capital(escaped(choice))} loses no more than {format_margin(margin)} in any group of topics."
    return " ".join(sentences) or nowhere


# ---- formats


def _as_text(table: pd.DataFrame) -> str:
    return table.to_string(index=False, float_format="%.3f", na_rep="", max_rows=60)


def _as_html(table: pd.DataFrame) -> str:
    return table.to_html(index=False, float_format="%.3f", na_rep="", border=0)


def _as_markdown(table: pd.DataFrame) -> str:
    shown = table.astype(object).where(table.notna(), "")
    cells = [[f"{v:.3f}" if isinstance(v, float) else str(v) for v in row] for row in shown.to_numpy()]
    rows = [list(map(str, table.columns)), ["---"] * table.shape[1], *cells]
    return "\n".join("| " + " | ".join(map(markdown_text, row)) + " |" for row in rows)


def junit_report(decisions: Mapping[str, Decision]) -> str:
    """Return a test case for each decision: it fails where the option in use stays, and is skipped where it is open."""
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
