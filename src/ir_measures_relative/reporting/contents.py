"""The contents that the sections of a report look at: runs, scores, numbers as the page has them, texts of topics."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import quote

import ir_measures
import numpy as np
import pandas as pd

from ..context.collection import Collection, judged_collection
from ..context.evaluate import Scores, describe_dominant_topics, score_runs
from ..context.measure_strings import is_relative, value_range
from ..context.missing_topics import check_topics, find_missing_topics
from ..context.priors import FixedPriors
from ..context.run_context import RunContext
from ..decisions.compare import compare
from ..io.datasets import fetching
from ..io.qrels import QrelsColumns
from ..measures.nrg import NRG
from ..messages import RelativeWarning, few, kind_of, warn
from ..stats.intervals import means_and_margins
from ..tolerances import ROUNDED, TIED

# The cutoff of a measure that the report adds, unless a measure of the user has one up to the second number: comparing
# every two runs deeper takes minutes.
_CUTOFF, _DEEPEST = 10, 100
# Pairs of runs times topics up to which the intervals of a measure take a second or two.
_MOST_WORK = 40_000
# Decimal places of most numbers in the page, which shows four. (With fewer, they would be rounded twice.)
_PLACES = 9
# How many characters name a run in an address, and how many of a text are shown.
_LONGEST_SLUG, _LONGEST_TEXT = 80, 300

# The descriptions of what a value is relative to.
_RELATIVE_TO = {
    "priors": "the priors of the run, which are other runs",
    "systems": "all runs",
    "reference": "the reference run",
    "chance": "all rankings that there could be",
}


@dataclass(frozen=True)
class Contents:
    """Runs, judgments and scores, as the sections of a report look at them."""

    context: RunContext
    qrels: QrelsColumns
    collection: Collection
    measures: list[ir_measures.Measure]  #: the measures that are shown
    scores: Scores  #: of these measures
    data: dict[str, Any]  #: what all scripts of the page use, as :func:`_page_data` makes it
    command: str | None  #: the command that made the report
    _intervals: dict[ir_measures.Measure, dict[tuple[str, str], list[Any]]] = field(default_factory=dict)

    @property
    def has_several_runs(self) -> bool:
        """Whether there are two runs to compare."""
        return len(self.collection.names) > 1

    @cached_property
    def missing_topics(self) -> str:
        """A sentence about topics that runs miss; empty where none does."""
        return check_topics(self.collection, self.collection.names, "zero")[1]

    @cached_property
    def incomplete(self) -> list[str]:
        """The runs that miss too many topics to be in a verdict, a test or a choice."""
        missing = find_missing_topics(self.collection.judgments, self.collection.runs)
        return list(dict.fromkeys(run.name for run in missing if not run.is_tolerable))

    @property
    def why_incomplete(self) -> str:
        """The reason for which a section is left out, where a run is incomplete."""
        return f"too many topics are missing from {few(self.incomplete)}"

    @property
    def complete(self) -> list[str]:
        """The runs that are not incomplete."""
        return [name for name in self.collection.names if name not in self.incomplete]

    @property
    def cutoff(self) -> int:
        """The first cutoff of a measure that is not too deep for comparing all pairs."""
        cutoffs = (m.params.get("cutoff") for m in self.measures)
        return next((k for k in cutoffs if isinstance(k, int) and k <= _DEEPEST), _CUTOFF)

    @property
    def first_absolute(self) -> int | None:
        """The position of the first absolute measure."""
        return next((i for i, measure in enumerate(self.measures) if not is_relative(measure)), None)

    @property
    def first_relative(self) -> int | None:
        """The position of the first relative measure."""
        return next((i for i, measure in enumerate(self.measures) if is_relative(measure)), None)

    @cached_property
    def one_topic(self) -> str | None:
        """A warning if a mean depends on one topic."""
        return describe_dominant_topics(self.scores)

    @cached_property
    def position(self) -> dict[str, int]:
        """The position of each run, by which the page knows it."""
        return {name: i for i, name in enumerate(self.collection.names)}

    @property
    def reference(self) -> int | None:
        """The position of the reference run."""
        return None if self.context.reference is None else self.position[self.context.reference]

    @cached_property
    def fingerprint(self) -> dict[str, Any]:
        """The fingerprint of the context with the judgments."""
        return self.context.fingerprint(self.qrels)

    @property
    def are_pairs_few(self) -> bool:
        """Whether the intervals of all pairs by a measure take a second or two."""
        n = len(self.collection.names)
        return n * (n - 1) // 2 * self.collection.documents.n_queries <= _MOST_WORK

    def rank_runs(self, measure: int) -> list[int]:
        """Return the runs from the highest mean of a measure on; last those that have none."""
        means = np.array(self.data["means"][measure], dtype=float)
        return np.argsort(-np.nan_to_num(means, nan=-np.inf), kind="stable").tolist()

    def rank_complete_runs(self, measure: int) -> list[int]:
        """Return :meth:`rank_runs` without the incomplete ones."""
        return [run for run in self.rank_runs(measure) if self.collection.names[run] not in self.incomplete]

    def rows(self, table: pd.DataFrame, *columns: str) -> list[list[Any]]:
        """Return the rows of a table: the position of the run, or of the two runs, then the columns."""
        keys = [key for key in ("name", "other") if key in table.columns]
        cells = [[self.position[name] for name in table[key]] for key in keys]
        cells += [[_json_cell(value) for value in table[column].tolist()] for column in columns]
        return [list(row) for row in zip(*cells, strict=True)]

    def pair_intervals(self, measure: ir_measures.Measure) -> dict[tuple[str, str], list[Any]]:
        """Return the intervals of the comparable pairs by a measure, which hold for all pairs at once."""
        if measure in self._intervals:
            return self._intervals[measure]
        intervals = self._intervals.setdefault(measure, {})
        # The priors do not matter to an absolute measure; else fixed priors are no candidates.
        names, options = self.complete, dict[str, Any]()
        if not is_relative(measure):
            options["priors"] = "others"
        elif isinstance(policy := self.context.policy, FixedPriors):
            names = [name for name in names if name not in policy.priors]
        with warnings.catch_warnings():  # about pairs without an interval, which the page shows as such
            warnings.simplefilter("ignore", RelativeWarning)
            try:
                table = compare(self.context, self.qrels, [measure], names, family="measure", **options)
            except ValueError:  # fewer than two runs that are no priors
                return intervals
        ends = table[["ci_lower", "ci_upper"]].astype(float).to_numpy()
        for name, other, pair in zip(table["name"], table["other"], ends, strict=True):
            if np.isfinite(pair).all():
                intervals[name, other] = json_numbers(pair)
        return intervals


def collect_contents(
    context: RunContext,
    qrels: QrelsColumns,
    measures: Sequence[ir_measures.Measure],
    *,
    scores: Scores | None = None,
    queries: Mapping[str, str] | None = None,
    command: str | None = None,
) -> Contents:
    """Score the runs, by NRG too where no measure is relative; arguments as for :func:`.write`."""
    collection, shown = judged_collection(context, qrels), [*measures]
    if len(collection.names) > 1 and not any(map(is_relative, measures)):
        shown.append(NRG(norm="ideal") @ _CUTOFF)
    parts = [] if scores is None else [scores]
    if lacking := [m for m in shown if scores is None or m not in scores.measures]:
        parts.append(score_runs(collection, collection.names, lacking))
    columns = [m for part in parts for m in part.measures]
    values = np.concatenate([part.values for part in parts], axis=1)
    scores = parts[0]._replace(measures=shown, values=values[:, [columns.index(m) for m in shown]])
    data = _page_data(collection, scores, queries or {})
    return Contents(context, qrels, collection, shown, scores, data, command)


def _page_data(collection: Collection, scores: Scores, queries: Mapping[str, str]) -> dict[str, Any]:
    """Return runs, groups, topics and measures, which the page knows by their positions here, and their numbers."""
    group_of, ids = collection.groups, [str(q) for q in collection.documents.query_ids]
    groups = sorted(set(group_of.values()))
    return {
        "runs": [
            {"name": name, "slug": slug}
            | ({"group": groups.index(group_of[name])} if name in group_of else {})
            for name, slug in zip(collection.names, make_slugs(collection.names), strict=True)
        ],
        "groups": groups,
        "topics": [{"id": q} | ({"query": queries[q]} if q in queries else {}) for q in ids],
        "measures": [
            {"name": str(m), "relative": is_relative(m), "axis": _axis_title(m), "tip": _describe(m)}
            for m in scores.measures
        ],
    } | _values(scores)


def _values(scores: Scores) -> dict[str, list[Any]]:
    """Return the values by measure, run and topic, the means, and their 95 % intervals; a sum over topics has none."""
    names = list(map(str, scores.measures))
    table, margins = means_and_margins(scores.long_table(), *names)
    result: dict[str, list[Any]] = {"values": [], "means": [], "ci_lower": [], "ci_upper": []}
    for j, (name, mean) in enumerate(zip(names, scores.means().T, strict=True)):
        averaged = np.isclose(mean, table[name].to_numpy(), rtol=TIED, atol=ROUNDED)
        below, above = (np.where(averaged, margin, np.nan) for margin in margins[name])
        result["values"].append([json_numbers(values) for values in scores.values[:, j].tolist()])
        # Not rounded, so that the page shows what the table of the command line does.
        result["means"].append([x if math.isfinite(x) else None for x in mean.tolist()])
        result["ci_lower"].append(json_numbers((mean - below).tolist()))
        result["ci_upper"].append(json_numbers((mean + above).tolist()))
    return result


def _axis_title(measure: ir_measures.Measure) -> str:
    if not is_relative(measure):
        return f"effectiveness on its own ({measure})"
    return f"added to its priors ({measure})" if measure.RELATIVE_TO == "priors" else str(measure)


def _describe(measure: ir_measures.Measure) -> str:
    """Return the description of a measure, in a line or two."""
    sentences = [str(getattr(measure, "PRETTY_NAME", None) or measure.NAME)]
    relative_to = "nothing: it scores a run on its own"
    if is_relative(measure):
        sentences.append(str(getattr(measure, "SHORT_DESC", None) or "").rstrip("."))
        relative_to = _RELATIVE_TO[measure.RELATIVE_TO]
    low, high = value_range(measure)
    if math.isfinite(low):
        sentences.append(
            f"Range: {low:g} to {high:g}" if math.isfinite(high) else f"Range: {low:g} and above"
        )
    return " ".join(f"{text}." for text in [*sentences, f"Relative to {relative_to}"] if text)


def make_slugs(ids: Sequence[str]) -> list[str]:
    """Return a name in addresses for each id: escaped, and shortened and numbered where it is long.

    >>> make_slugs(["BM25", "a b/c", "x" * 100])[:2]
    ['BM25', 'a%20b%2Fc']
    """
    slugs: list[str] = []
    for i, text in enumerate(ids):
        slug = quote(text, safe="", errors="replace")
        fits = len(slug) <= _LONGEST_SLUG and slug not in slugs
        slugs.append(slug if fits else f"{slug[:_LONGEST_SLUG]}~{i + 1}")
    return slugs


def json_numbers(values: Sequence[float]) -> list[float | None]:
    """Return numbers as :func:`json_number` does."""
    return [json_number(x) for x in values]


def json_number(x: float) -> float | None:
    """Return a number rounded, and without a negative zero; None for one that is not finite."""
    return round(x, _PLACES) + 0.0 if math.isfinite(x) else None


def _json_cell(value: Any) -> Any:
    if isinstance(value, (bool, str, int)):
        return value
    return json_number(float(value)) if isinstance(value, float) else None


def read_queries(dataset: Any, queries: Mapping[str, str] | None) -> dict[str, str]:
    """Return the texts of topics, shortened: those given, else those of the dataset."""
    if queries is None:
        if dataset is None or not dataset.has_queries():
            return {}
        try:
            with fetching(dataset):
                queries = {query.query_id: _query_text(query) for query in dataset.queries_iter()}
        except ConnectionError as error:
            warn(f"the report has no texts of topics: {error}")
            return {}
    if not isinstance(queries, Mapping):
        raise TypeError(f"queries is {kind_of(queries)}; give a dict from query id to text")
    lines = {str(query): " ".join(str(text).split()) for query, text in queries.items()}
    return {
        query: line if len(line) <= _LONGEST_TEXT else f"{line[: _LONGEST_TEXT - 1].rstrip()}…"
        for query, line in lines.items()
    }


def _query_text(query: Any) -> str:
    if hasattr(query, "default_text"):
        return str(query.default_text())
    return " ".join(value for value in query[1:] if isinstance(value, str))
