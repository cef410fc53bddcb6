"""Tables beside a verdict: what the candidate brings, groups of topics, routers, and pools of a reranker."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd

from ..context.measure_strings import value_of
from ..data.arrays import BoolArray, FloatArray, IntArray, sum_by_query
from ..further_measures.alpha_nrg import NewAspects
from ..measures.nrg import NRG
from ..stats.families import simultaneous_intervals
from ..stats.paired_tests import PairedTestOptions
from .decision_rule import intervals
from .fuse import Chooser, divided
from .fused_values import RunSet
from .options import Differences, Option, OptionLists, OptionValues, interleaved, value_beside

if TYPE_CHECKING:
    from .compared import Compared

# How deep rankings are looked at where the measure has no cutoff.
_CUTOFF = 10
# Random halves of the topics, by which the best single run is chosen and scored.
_HALVES, _SEED = 20, 0


# ---- why: what a candidate brings


class NewDocuments(NamedTuple):
    """The documents that a candidate retrieves in its top k, and no deployed run in its own; and the next page.

    On a topic with m new documents, the next page is the m documents that the deployed runs would retrieve next: those
    below their top k, one of each run in turn. A document in some deployed run's top k, or taken, is skipped.

    Each array has an entry for each document of a topic that is new, or on the next page.
    """

    query: IntArray
    new: BoolArray  #: whether it is new
    next_page: BoolArray  #: whether it is on the next page
    grade: IntArray
    judged: BoolArray
    n_topics: int

    @classmethod
    def of(cls, lists: OptionLists, deployed: Sequence[str], candidate: str, k: int) -> NewDocuments:
        """Of a candidate beside deployed runs."""
        view, depth = lists.view, k * (len(deployed) + 2)  # deeper than all that can be skipped or taken
        docs, of_runs = lists.rows_to(depth)
        names = (*deployed, candidate)
        rows = {name: [one[:depth].tolist() for one in of_runs[view.members.index[name]]] for name in names}
        new, next_page = np.zeros((2, len(docs)), dtype=bool)
        for topic in range(docs.n_queries):
            seen = {doc for name in deployed for doc in rows[name][topic][:k]}
            own = [doc for doc in rows[candidate][topic][:k] if doc not in seen]
            below = [[doc for doc in rows[name][topic][k:] if doc not in seen] for name in deployed]
            new[own] = True
            next_page[[doc for doc, _ in zip(interleaved(below), own, strict=False)]] = True
        some = np.flatnonzero(new | next_page)
        known = view.documents.rows_of(docs.query[some], docs.ids.take(some)) >= 0
        columns = docs.query[some], new[some], next_page[some], docs.grade[some], known
        return cls(*columns, docs.n_queries)

    def relevant(self, rel: int, of: FloatArray, under: float | None = None) -> FloatArray:
        """The sum by topic of the weights of the relevant documents.

        Args:
            of: the weight of each document.
            under: -1 takes the unjudged documents of negative weight for relevant, 1 those of positive weight.
        """
        relevant = self.judged & (self.grade >= rel)
        if under is not None:
            relevant |= ~self.judged & (under * of > 0)
        return sum_by_query(of * relevant, self.query, self.n_topics)


def of_candidate(
    lists: OptionLists,
    deployed: Sequence[str],
    candidate: str,
    by: ir_measures.Measure,
    test: PairedTestOptions,
) -> pd.DataFrame:
    """What a candidate brings that the deployed runs do not; this explains a verdict, and does not make it.

    The rows, in documents per topic:

    - ``new relevant``: relevant documents in the candidate's top k that are in no deployed run's (UniqueRel@k);
    - ``next page``: relevant ones among as many further documents of the deployed runs; see :class:`NewDocuments`;
    - ``new less next page``: the difference of the two. It is 0 for a copy of a deployed run and for the ranks k + 1 to
      2k of the only one, and each document counts by its own judgment;

    then NRG(norm='ideal')@k of the candidate, and of a copy of the best deployed run in its place, and NewAspects@k
    where the judgments name aspects.

    Columns: ``what``, ``mean``, ``copy``, and the ends as in :func:`.decide`; without those of unjudged documents for
    measures.
    """
    k = value_of(by, "cutoff") or _CUTOFF
    rel = int(value_of(by, "rel", 1))
    view = lists.view
    found = NewDocuments.of(lists, deployed, candidate, k)
    new, page = found.new.astype(np.float64), found.next_page.astype(np.float64)
    rows: list[dict[str, Any]] = []
    for what, weight, low in (
        ("new relevant", new, 0.0),
        ("next page", page, 0.0),
        ("new less next page", new - page, -k),
    ):
        values = Differences(*(found.relevant(rel, weight, under) for under in (None, -1.0, 1.0)))
        some = intervals(Differences(*(v[None] for v in values)), (float(low), float(k)), test)
        ends = {name: float(end[0]) for name, end in some._asdict().items()}
        rows.append(
            {
                "what": f"{what}@{k}",
                "mean": ends.pop("difference"),
                "copy": 0.0 if what != "next page" else np.nan,
                **ends,
            }
        )
    measures = [NRG(norm="ideal") @ k]
    if view.judgments.has_aspects:
        measures.append(NewAspects @ k)
    best = max(deployed, key=lambda name: float(value_beside(view, measures[0], name, []).mean()))
    for measure in measures:
        own = value_beside(view, measure, candidate, deployed)
        most = 1.0 if measure is measures[0] else np.inf
        lower, upper = simultaneous_intervals(own[None], (0.0, most), test)
        copy = float(value_beside(view, measure, best, deployed).mean())
        row = {"what": str(measure), "mean": float(own.mean()), "copy": copy}
        rows.append(row | {"ci_lower": float(lower[0]), "ci_upper": float(upper[0])})
    return pd.DataFrame(rows)


def instead_of_candidate(of: Compared, option: int, deployed: Sequence[str], candidate: str) -> pd.DataFrame:
    """What an option would gain with no run in the candidate's place, or with a second copy of a deployed one.

    With several deployed runs, to retire one of them or to count another twice can be a gain without any candidate.
    The copy is of the deployed run with most documents in common with the candidate, to the end of the lists. The
    interval of the candidate's ``lead`` is over topics, by the judgments as they are, simultaneous over the rows.
    """
    near = max(deployed, key=lambda name: of.lists.n_shared(candidate, name))
    others = tuple(run for run in of.options[option].runs if run != candidate)
    sets = {"no run": others, f"a second copy of {near}": (*others, near)}
    if len(others) == len(deployed):  # to add no run is to keep them
        del sets["no run"]
    options = [Option(name, runs) for name, runs in sets.items()]
    lists = OptionLists(of.view, options, of.settings.how).rankings()
    values = OptionValues(of.view, lists, of.settings.by).values
    leads = of.values.values[option] - values
    lower, upper = simultaneous_intervals(leads, of.settings.ends, of.settings.test)
    columns = {
        "option": of.names[option],
        "instead": list(sets),
        "gain": (values - of.values.values[0]).mean(axis=1),
    }
    return pd.DataFrame({**columns, "lead": leads.mean(axis=1), "ci_lower": lower, "ci_upper": upper})


def tables_of(of: Compared) -> dict[str, pd.DataFrame]:
    """The tables beside the verdict that every decision has, where they apply."""
    tables = {"groups": by_group(of), "routers": routers(of), "pools": pools(of)}
    return {name: one for name, one in tables.items() if one is not None}


# ---- where it helps


def by_group(of: Compared) -> pd.DataFrame | None:
    """The difference of each option from the first by group of topics, simultaneous over options and groups.

    ``safe``: whether the option loses at most the margin in this group, at the lower end.
    """
    groups = of.settings.groups
    if groups is None:
        return None
    ids = of.view.query_ids
    lacking = [q for q in ids if q not in groups]
    if lacking:
        raise ValueError(f"groups= names no group for {len(lacking)} judged queries, such as {lacking[:3]}")
    names = list(dict.fromkeys(groups[q] for q in ids))
    member = np.array([names.index(groups[q]) for q in ids])
    inside = member == np.arange(len(names))[:, None]  # groups × topics
    parts = [
        np.where(inside[None], values[:, None, :], np.nan).reshape(-1, values.shape[1]) for values in of.gains
    ]
    found = intervals(Differences(*parts), of.settings.ends, of.settings.test)
    rows = []
    for at, (option, group) in enumerate((o, g) for o in of.names[1:] for g in range(len(names))):
        row: dict[str, Any] = {"option": option, "group": names[group], "topics": int(inside[group].sum())}
        row |= {name: float(values[at]) for name, values in found._asdict().items()}
        rows.append(row | {"safe": bool(row["lower"] >= -of.settings.margin)})
    return pd.DataFrame(rows)


def routers(of: Compared) -> pd.DataFrame | None:
    """What each rule is worth, between the best single run and the best run of each topic.

    The single run is chosen on a half of the topics and scored on the other, again and again; the best run of each
    topic is a ceiling, which a part of is chance. Behind a reranker each run's list is its reranked pool; where some
    document of these has no score, ``single`` and ``best_of_each`` are NaN.
    """
    rules = [i for i, option in enumerate(of.options) if option.rule is not None]
    if not rules or of.topics < 2:
        return None
    values = of.run_values
    halves = divided(of.topics, 2, _HALVES, _SEED)
    rows = []
    for i in rules:
        runs = [of.view.members.index[run] for run in of.options[i].runs]
        some = values[runs]
        row = {"option": of.names[i], "mean": float(of.values.values[i].mean())}
        if np.isnan(some).any():  # the reranker did not score all of them
            rows.append(row | {"single": np.nan, "best_of_each": np.nan, "chosen": ""})
            continue
        of_sets = partial(_of_single_runs, some)
        chosen = Chooser([of_sets], len(runs), halves).choose("single", 1)
        rows.append(
            row
            | {
                "single": chosen.held_out,
                "best_of_each": float(some.max(axis=0).mean()),
                "chosen": ", ".join(of.options[i].runs[run] for run in chosen.shares),
            }
        )
    return pd.DataFrame(rows)


def _of_single_runs(values: FloatArray, sets: Sequence[RunSet]) -> FloatArray:
    """The values of sets of one run."""
    return values[[run for (run,) in sets]]


# ---- behind a reranker


def pools(of: Compared) -> pd.DataFrame | None:
    """Of each option the ceiling, which is the best order of its pool, and where the relevant documents end.

    The best order is cut as the list is: at the cutoff or ``depth``, and within the budget.

    ``never_retrieved``, ``outside_pool``, ``not_shown`` and ``shown`` are numbers of documents over all topics, and sum
    to all relevant ones.
    """
    if of.settings.how.rerank is None:
        return None
    by = of.settings.by
    lists: OptionLists = of.lists
    # Within a budget, a few short documents of a lower grade may be better than a long one.
    best = np.maximum(OptionValues(of.view, lists.best_orders(), by).values, of.values.values).mean(axis=1)
    where = lists.fates(int(value_of(by, "rel", 1)))
    columns = dict(zip(("never_retrieved", "outside_pool", "not_shown", "shown"), where.T, strict=True))
    means = of.values.values.mean(axis=1)
    return pd.DataFrame({"option": of.names, "mean": means, "ceiling": best, **columns})
