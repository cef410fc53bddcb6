"""What the sections of a report look at: a campaign, its scores, and the texts of topics."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
# Decimal places of most numbers in the page, which shows four. (With fewer, they would be rounded twice.)
_PLACES = 9
# How many characters name a run in an address, and how many of a text are shown.
_LONGEST_SLUG, _LONGEST_TEXT = 80, 300

# What a value is relative to, in words.
_RELATIVE_TO = {
    "priors": "the priors of the run, which are other runs",
    "systems": "all runs",
    "reference": "the reference run",
    "chance": "all rankings that there could be",
}


@dataclass(frozen=True)
class ReportedCampaign:
    """The runs on the judgments, and their scores."""

    context: RunContext
    qrels: QrelsColumns
    collection: Collection
    measures: list[ir_measures.Measure]  #: those that are shown
    scores: Scores  #: of these
    data: dict[str, Any]  #: what every part of the page knows, as :func:`_data_of` has it
    command: str | None  #: what made the report

    @cached_property
    def intervals(self) -> dict[ir_measures.Measure, dict[tuple[str, str], list[Any]]]:
        """What :func:`intervals_of` found of each measure."""
        return {}

    @property
    def several(self) -> bool:
        """Whether there are two runs to compare."""
        return len(self.collection.names) > 1

    @cached_property
    def missing_topics(self) -> str:
        """What the reader is told of topics that runs miss; nothing where none does."""
        return check_topics(self.collection, self.collection.names, "zero")[1]

    @cached_property
    def incomplete(self) -> list[str]:
        """The runs that miss so many topics that no verdict, test or choice is about them."""
        missing = find_missing_topics(self.collection.judgments, self.collection.runs)
        return list(dict.fromkeys(one.name for one in missing if not one.is_tolerable))

    @property
    def why_incomplete(self) -> str:
        """Why a section is left out, where a run is incomplete."""
        return f"too many topics are missing from {few(self.incomplete)}"

    @property
    def complete(self) -> list[str]:
        """The other runs."""
        return [name for name in self.collection.names if name not in self.incomplete]

    @property
    def cutoff(self) -> int:
        """The first cutoff of a measure that is not a deep one."""
        cutoffs = (m.params.get("cutoff") for m in self.measures)
        return next((k for k in cutoffs if isinstance(k, int) and k <= _DEEPEST), _CUTOFF)

    @property
    def first_absolute(self) -> int | None:
        """The place of the first absolute measure."""
        return next((i for i, measure in enumerate(self.measures) if not is_relative(measure)), None)

    @property
    def first_relative(self) -> int | None:
        """The place of the first relative measure."""
        return next((i for i, measure in enumerate(self.measures) if is_relative(measure)), None)

    @cached_property
    def one_topic(self) -> str | None:
        """What the reader is warned of, where a mean comes from one topic."""
        return describe_dominant_topics(self.scores)

    @cached_property
    def place(self) -> dict[str, int]:
        """From the name of a run to its place; the page knows runs by their places."""
        return {name: i for i, name in enumerate(self.collection.names)}

    @property
    def reference(self) -> int | None:
        """The place of the reference run."""
        return None if self.context.reference is None else self.place[self.context.reference]

    @cached_property
    def fingerprint(self) -> dict[str, Any]:
        """What the values are relative to."""
        return self.context.fingerprint(self.qrels)

    def best_first(self, measure: int) -> list[int]:
        """The runs by the measure in this place, from the highest mean on; last those that have none."""
        means = np.array(self.data["means"][measure], dtype=float)
        order: list[int] = np.argsort(-np.nan_to_num(means, nan=-np.inf), kind="stable").tolist()
        return order

    def best_complete_first(self, measure: int) -> list[int]:
        """:meth:`best_first` of the runs that may be compared."""
        return [run for run in self.best_first(measure) if self.collection.names[run] not in self.incomplete]

    def rows(self, table: pd.DataFrame, *columns: str) -> list[list[Any]]:
        """The rows of a table as lists: the run (or the two runs) as places, then the columns."""
        keys = [key for key in ("name", "other") if key in table.columns]
        cells = [[self.place[name] for name in table[key]] for key in keys]
        cells += [[plain(value) for value in table[column].tolist()] for column in columns]
        return [list(row) for row in zip(*cells, strict=True)]


def campaign_of(
    context: RunContext,
    qrels: QrelsColumns,
    measures: Sequence[ir_measures.Measure],
    *,
    given: Scores | None = None,
    queries: Mapping[str, str] | None = None,
    command: str | None = None,
) -> ReportedCampaign:
    """Score the runs, also on NRG where no measure is relative; arguments as for :func:`.write`."""
    collection = judged_collection(context, qrels)
    shown = [*measures]
    if len(collection.names) > 1 and not any(map(is_relative, measures)):
        shown.append(NRG(norm="ideal") @ _CUTOFF)
    scores = _scores(collection, shown, given)
    data = _data_of(collection, scores, queries or {})
    return ReportedCampaign(context, qrels, collection, shown, scores, data, command)


def _scores(collection: Collection, measures: Sequence[ir_measures.Measure], known: Scores | None) -> Scores:
    """The values of the measures, in their order, of which some may be known."""
    lacking = [m for m in measures if known is None or m not in known.measures]
    parts = [] if known is None else [known]
    if lacking:
        parts.append(score_runs(collection, collection.names, lacking))
    found = [m for part in parts for m in part.measures]
    values = np.concatenate([part.values for part in parts], axis=1)
    return parts[0]._replace(measures=[*measures], values=values[:, [found.index(m) for m in measures]])


def _data_of(collection: Collection, scores: Scores, queries: Mapping[str, str]) -> dict[str, Any]:
    """Runs, groups, topics and measures, which the page knows by their places in these lists, and their numbers."""
    of_run, ids = collection.groups, [str(q) for q in collection.documents.query_ids]
    groups = sorted(set(of_run.values()))
    return {
        "runs": [
            {"name": name, "slug": slug} | ({"group": groups.index(of_run[name])} if name in of_run else {})
            for name, slug in zip(collection.names, slugs(collection.names), strict=True)
        ],
        "groups": groups,
        "topics": [{"id": q} | ({"query": queries[q]} if q in queries else {}) for q in ids],
        "measures": [
            {"name": str(m), "relative": is_relative(m), "axis": axis_title(m), "tip": tip(m)}
            for m in scores.measures
        ],
    } | _values(scores)


def _values(scores: Scores) -> dict[str, list[Any]]:
    """The values by measure, run and topic; the means, and their 95 % intervals, which a measure that adds up lacks."""
    names = list(map(str, scores.measures))
    table, margins = means_and_margins(scores.long_table(), *names)
    result: dict[str, list[Any]] = {"values": [], "means": [], "ci_lower": [], "ci_upper": []}
    for j, (name, mean) in enumerate(zip(names, scores.means().T, strict=True)):
        averaged = np.isclose(mean, table[name].to_numpy(), rtol=TIED, atol=ROUNDED)
        below, above = (np.where(averaged, margin, np.nan) for margin in margins[name])
        result["values"].append([numbers(values) for values in scores.values[:, j].tolist()])
        # Not rounded, so that the page shows what the table of the command line does.
        result["means"].append([x if math.isfinite(x) else None for x in mean.tolist()])
        result["ci_lower"].append(numbers((mean - below).tolist()))
        result["ci_upper"].append(numbers((mean + above).tolist()))
    return result


def axis_title(measure: ir_measures.Measure) -> str:
    """An axis in words, with the measure in brackets."""
    if not is_relative(measure):
        return f"effectiveness on its own ({measure})"
    return f"added to its priors ({measure})" if measure.RELATIVE_TO == "priors" else str(measure)


def tip(measure: ir_measures.Measure) -> str:
    """What a measure is, in a line or two."""
    said = [str(getattr(measure, "PRETTY_NAME", None) or measure.NAME)]
    if is_relative(measure):
        said.append(str(getattr(measure, "SHORT_DESC", None) or "").rstrip("."))
    low, high = value_range(measure)
    if math.isfinite(low):
        said.append(f"Range: {low:g} to {high:g}" if math.isfinite(high) else f"Range: {low:g} and above")
    relative_to = (
        _RELATIVE_TO[measure.RELATIVE_TO] if is_relative(measure) else "nothing: it scores a run on its own"
    )
    said.append(f"Relative to {relative_to}")
    return "".join(f"{part}. " for part in said if part).strip()


def slugs(ids: Sequence[str]) -> list[str]:
    """What names each in an address: the escaped id, shortened and numbered where it is long.

    >>> slugs(["BM25", "a b/c", "x" * 100])[:2]
    ['BM25', 'a%20b%2Fc']
    """
    found: list[str] = []
    for i, text in enumerate(ids):
        slug = quote(text, safe="", errors="replace")
        fits = len(slug) <= _LONGEST_SLUG and slug not in found
        found.append(slug if fits else f"{slug[:_LONGEST_SLUG]}~{i + 1}")
    return found


def numbers(found: Sequence[float]) -> list[float | None]:
    """As JSON has them: rounded, None for what is no finite number."""
    return [number(x) for x in found]


def number(x: float) -> float | None:
    """One of :func:`numbers`; no negative zero."""
    return round(x, _PLACES) + 0.0 if math.isfinite(x) else None


def plain(value: Any) -> Any:
    """A cell of a table as JSON has it."""
    if isinstance(value, (bool, str, int)):
        return value
    return number(float(value)) if isinstance(value, float) else None


def _fetched(dataset: Any, fetch: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What a dataset has; nothing, with a warning, where its files cannot be fetched."""
    try:
        with fetching(dataset):
            return fetch()
    except ConnectionError as error:
        warn(f"the report has no texts of topics: {error}")
        return {}


def _text(doc: Any) -> str:
    if hasattr(doc, "default_text"):
        return str(doc.default_text())
    return " ".join(value for value in doc[1:] if isinstance(value, str))


def queries_of(dataset: Any, queries: Mapping[str, str] | None) -> dict[str, str]:
    """What the topics ask, shortened; TypeError for something else than a dict."""
    if queries is None:
        if dataset is None or not dataset.has_queries():
            return {}
        queries = _fetched(dataset, lambda: {q.query_id: _text(q) for q in dataset.queries_iter()})
    if not isinstance(queries, Mapping):
        raise TypeError(f"queries is {kind_of(queries)}; give a dict from query id to text")
    return {str(query): _shortened(text) for query, text in queries.items()}


def _shortened(text: Any) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= _LONGEST_TEXT else f"{line[: _LONGEST_TEXT - 1].rstrip()}…"


# Pairs of runs times topics up to which the intervals of a measure take a second or two.
_MOST_WORK = 40_000


def are_few(campaign: ReportedCampaign) -> bool:
    """Whether the intervals of all pairs take a second or two."""
    n = len(campaign.collection.names)
    return n * (n - 1) // 2 * campaign.collection.documents.n_queries <= _MOST_WORK


def intervals_of(
    campaign: ReportedCampaign, measure: ir_measures.Measure
) -> dict[tuple[str, str], list[Any]]:
    """The ends of the intervals of the pairs that are comparable, which hold for all pairs at once."""
    if measure in campaign.intervals:
        return campaign.intervals[measure]
    found = campaign.intervals.setdefault(measure, {})
    # The priors do not matter to an absolute measure; else fixed priors are no candidates.
    names, options = campaign.complete, dict[str, Any]()
    if not is_relative(measure):
        options["priors"] = "others"
    elif isinstance(policy := campaign.context.policy, FixedPriors):
        names = [name for name in names if name not in policy.priors]
    with warnings.catch_warnings():  # of pairs that have no interval: the page says so where it shows them
        warnings.simplefilter("ignore", RelativeWarning)
        try:
            table = compare(campaign.context, campaign.qrels, [measure], names, family="measure", **options)
        except ValueError:  # fewer than two runs that are no priors
            return found
    columns = (table["name"], table["other"], *(table[end].astype(float) for end in ("ci_lower", "ci_upper")))
    for name, other, *ends in zip(*columns, strict=True):
        if np.isfinite(ends).all():
            found[name, other] = numbers(ends)
    return found
