"""What the sections of a report look at: a campaign, its scores, and the texts of documents and topics."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias
from urllib.parse import quote

import ir_measures
import numpy as np
import pandas as pd
from scipy.special import stdtrit

from ..context.evaluate import Scores, one_topic_counts, score_runs
from ..context.measure_strings import is_relative, value_range
from ..context.run_context import RunContext
from ..context.view import View, view_of
from ..decisions.compare import compare, is_of_pairs
from ..decisions.compared import CandidateCompared
from ..decisions.decision import bold_and_rest
from ..decisions.decision_text import reason_of_worth
from ..decisions.options import Settings, combination_of, deciding_measure
from ..io.datasets import dataset_of, fetching
from ..io.qrels import QrelsColumns
from ..measures.measure import RelativeMeasure
from ..measures.nrg import NRG
from ..messages import RelativeWarning, kind_of, warn
from ..stats.intervals import means_and_margins
from ..tolerances import ROUNDED, TIED

#: What a report takes as ``texts``.
Texts: TypeAlias = "Mapping[str, str] | Callable[[str], str | None] | bool | Any | None"
#: From document ids to what is known of them.
Lookup: TypeAlias = Callable[[Sequence[str]], dict[str, str]]

# The cutoff of a measure that the report adds, unless a measure of the user has one up to the second number: comparing
# every two runs deeper takes minutes.
_CUTOFF, _DEEPEST = 10, 100
# Decimal places of most numbers in the page, which shows four. (With fewer, they would be rounded twice.)
_PLACES = 9
# How many characters name a run or a topic in an address, and how many of a text are shown.
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
    view: View
    measures: list[ir_measures.Measure]  #: those that are shown
    scores: Scores  #: of these
    explained: RelativeMeasure | None  #: the measure that is explained document by document
    data: dict[str, Any]  #: what every part of the page knows, as :func:`_data_of` has it
    command: str | None  #: what made the report

    @cached_property
    def intervals(self) -> dict[ir_measures.Measure, dict[tuple[str, str], list[Any]]]:
        """What :func:`intervals_of` found of each measure."""
        return {}

    @property
    def several(self) -> bool:
        """Whether there are two runs to compare."""
        return len(self.view.names) > 1

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
        return one_topic_counts(self.scores)

    @cached_property
    def place(self) -> dict[str, int]:
        """From the name of a run to its place; the page knows runs by their places."""
        return {name: i for i, name in enumerate(self.view.names)}

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
    """Scores the runs, on a measure that can be explained as well; arguments as for :func:`.write`."""
    view = view_of(context, qrels)
    # The first measure that says what each document contributes; of several runs, else one that does.
    relative = (m for m in measures if is_relative(m))
    found = (m for m in relative if type(m).contributions is not RelativeMeasure.contributions)
    explained = next(found, NRG(norm="ideal") @ _CUTOFF if len(view.names) > 1 else None)
    shown = [*measures] if explained is None or explained in measures else [*measures, explained]
    scores = _scores(view, shown, given)
    data = _data_of(view, scores, queries or {})
    return ReportedCampaign(context, qrels, view, shown, scores, explained, data, command)


def _scores(view: View, measures: Sequence[ir_measures.Measure], known: Scores | None) -> Scores:
    """The values of the measures, in their order, of which some may be known."""
    lacking = [m for m in measures if known is None or m not in known.measures]
    parts = [] if known is None else [known]
    if lacking:
        parts.append(score_runs(view, view.names, lacking))
    found = [m for part in parts for m in part.measures]
    values = np.concatenate([part.values for part in parts], axis=1)
    return parts[0]._replace(measures=[*measures], values=values[:, [found.index(m) for m in measures]])


def _data_of(view: View, scores: Scores, queries: Mapping[str, str]) -> dict[str, Any]:
    """Runs, groups, topics and measures, which the page knows by their places in these lists, and their numbers."""
    of_run, ids = view.members.groups, [str(q) for q in view.query_ids]
    groups = sorted(set(of_run.values()))
    runs, topics = (zip(found, slugs(found), strict=True) for found in (view.names, ids))
    return {
        "runs": [
            {"name": name, "slug": slug} | ({"group": groups.index(of_run[name])} if name in of_run else {})
            for name, slug in runs
        ],
        "groups": groups,
        "topics": [
            {"id": q, "slug": slug} | ({"query": queries[q]} if q in queries else {}) for q, slug in topics
        ],
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


def texts_of(dataset: Any, texts: Texts) -> Lookup:
    """What finds the texts of documents, shortened."""
    if texts is None:
        texts = dataset if dataset is not None and dataset.has_docs() else False
    if texts is False:
        return lambda doc_ids: {}
    if isinstance(texts, Mapping) or callable(texts):
        find: Callable[[str], Any] = texts.get if isinstance(texts, Mapping) else texts
        return lambda doc_ids: {doc: _shortened(text) for doc in doc_ids if (text := find(doc)) is not None}
    given = dataset_of(texts)

    def look(doc_ids: Sequence[str]) -> dict[str, str]:
        docs = _fetched(given, lambda: given.docs_store().get_many(list(doc_ids)))
        return {doc_id: _shortened(_text(doc)) for doc_id, doc in docs.items()}

    return look


def _fetched(dataset: Any, fetch: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What a dataset has; nothing, with a warning, where its files cannot be fetched."""
    try:
        with fetching(dataset):
            return fetch()
    except ConnectionError as error:
        warn(f"the report has no texts: {error}")
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
# The verdict of worth() is there for at most so many of the best runs, and ordered pairs times topics: in seconds.
_MOST_DECIDED, _MOST_DECIDED_WORK = 4, 700


def pairs_of(campaign: ReportedCampaign) -> dict[str, Any]:
    """What the pages of two runs need beside the values: the quantile of Student's t for as many topics, and more.

    ``intervals`` has for each measure the ends of the intervals of :func:`compare`, one for each pair in the order of
    ``itertools.combinations``; None where there are none, or where they would take long.
    """
    topics, intervals = campaign.view.n_queries, None
    if are_few(campaign) and campaign.several:
        every = list(itertools.combinations(campaign.view.names, 2))
        intervals = [
            # the value of a measure of pairs is not the difference of two values
            None if is_of_pairs(measure) else list(map(intervals_of(campaign, measure).get, every))
            for measure in campaign.measures
        ]
    t = float(stdtrit(topics - 1, 0.975)) if topics > 1 else None
    return {"intervals": intervals, "t": t, "decisions": _decisions_of(campaign)}


def _decisions_of(campaign: ReportedCampaign) -> dict[str, Any] | None:
    """For each two of the best runs: deployed, candidate, verdict and reason of :func:`worth`; None if too slow."""
    place, view = campaign.first_absolute, campaign.view
    if place is None:
        return None
    sizes = range(min(_MOST_DECIDED, len(view.names)), 1, -1)
    size = next((n for n in sizes if n * (n - 1) * view.n_queries <= _MOST_DECIDED_WORK), 0)
    best = campaign.best_first(place)[:size]
    if not best:
        return None
    rows = []
    with warnings.catch_warnings():  # the page is about all pairs
        warnings.simplefilter("ignore", RelativeWarning)
        try:
            measure = deciding_measure(campaign.measures[place])
            settings = Settings(measure, combination_of(campaign.context, measure))
            for deployed, candidate in itertools.permutations(best, 2):
                names = view.names[deployed], view.names[candidate]
                compared = CandidateCompared(view.of_runs(names), names[:1], names[1], settings, view)
                verdict, reason = bold_and_rest(reason_of_worth(compared)[0])
                rows.append([deployed, candidate, verdict, reason])
        except ValueError:  # a measure that does not say how good a list is, no relevant document
            return None
    return {"runs": len(best), "by": str(settings.by), "rows": rows}


def are_few(campaign: ReportedCampaign) -> bool:
    """Whether the intervals of all pairs take a second or two."""
    n = len(campaign.view.names)
    return n * (n - 1) // 2 * campaign.view.n_queries <= _MOST_WORK


def intervals_of(
    campaign: ReportedCampaign, measure: ir_measures.Measure
) -> dict[tuple[str, str], list[Any]]:
    """The ends of the intervals of the pairs that are comparable, which hold for all pairs at once."""
    if measure in campaign.intervals:
        return campaign.intervals[measure]
    found = campaign.intervals.setdefault(measure, {})
    # The priors do not matter to an absolute measure; else fixed priors are no candidates.
    options: dict[str, Any] = (
        {} if is_relative(measure) else {"names": campaign.view.names, "priors": "others"}
    )
    with warnings.catch_warnings():  # of pairs that have no interval: the page says so where it shows them
        warnings.simplefilter("ignore", RelativeWarning)
        try:
            table = compare(campaign.context, campaign.qrels, [measure], family="measure", **options)
        except ValueError:  # fewer than two runs that are no priors
            return found
    columns = (table["name"], table["other"], *(table[end].astype(float) for end in ("ci_lower", "ci_upper")))
    for name, other, *ends in zip(*columns, strict=True):
        if np.isfinite(ends).all():
            found[name, other] = numbers(ends)
    return found
