"""Tables beside a verdict, and their sentences: what the candidate brings, groups of topics, pools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from ..context.measure_strings import value_of
from ..data.arrays import BoolArray, FloatArray, IntArray, sum_by_query
from ..further_measures.alpha_nrg import NewAspects
from ..measures.nrg import NRG
from ..messages import counted, escaped, few
from ..stats.families import simultaneous_intervals
from ..tolerances import LABELED_ALIKE
from .compare import shared_documents
from .decision import number
from .decision_rule import KEEP, OPEN, intervals
from .options import Differences, Option, OptionLists, OptionValues, interleaved, value_beside

if TYPE_CHECKING:
    from .compared import CandidateCompared, Compared

# How deep rankings are looked at where the measure has no cutoff.
_CUTOFF = 10


# ---- why: what a candidate brings


class NewDocuments(NamedTuple):
    """The documents in a candidate's top k that are in no deployed run's, and the next page, by topic.

    With m new documents, the next page is the m documents that the deployed runs retrieve next below their top k, one
    of each run in turn; those in some deployed run's top k are skipped.
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
        """The weights of relevant documents by topic; unjudged ones count where theirs has the sign of ``under``."""
        relevant = self.judged & (self.grade >= rel)
        if under is not None:
            relevant |= ~self.judged & (under * of > 0)
        return sum_by_query(of * relevant, self.query, self.n_topics)


def of_candidate(of: CandidateCompared) -> pd.DataFrame:
    """What a candidate brings that the deployed runs do not, in documents per topic; this makes no verdict.

    The rows: relevant documents that are new, those on the next page (:class:`NewDocuments`), and their difference;
    NRG(norm='ideal')@k, also of a copy of the best deployed run in the candidate's place; and NewAspects@k where the
    judgments name aspects. The columns are ``what``, ``mean``, ``copy``, and the ends as in :func:`.decide`.
    """
    by, test, view = of.settings.by, of.settings.test, of.view
    k, rel = value_of(by, "cutoff") or _CUTOFF, int(value_of(by, "rel", 1))
    found = NewDocuments.of(of.lists, of.deployed, of.candidate, k)
    new, page = found.new.astype(np.float64), found.next_page.astype(np.float64)
    rows: list[dict[str, Any]] = []
    for what, weight, low, of_copy in (
        ("new relevant", new, 0.0, 0.0),
        ("next page", page, 0.0, np.nan),
        ("new less next page", new - page, -k, 0.0),
    ):
        values = Differences(*(found.relevant(rel, weight, under)[None] for under in (None, -1.0, 1.0)))
        ends = intervals(values, (float(low), float(k)), test)._asdict()
        row = {"what": f"{what}@{k}", "mean": float(ends.pop("difference")[0]), "copy": of_copy}
        rows.append(row | {name: float(end[0]) for name, end in ends.items()})
    measures = [NRG(norm="ideal") @ k, *([NewAspects @ k] if view.judgments.has_aspects else [])]
    best = max(of.deployed, key=lambda name: float(value_beside(view, measures[0], name, []).mean()))
    for measure in measures:
        own, copy = (value_beside(view, measure, name, of.deployed) for name in (of.candidate, best))
        most = 1.0 if measure is measures[0] else np.inf
        lower, upper = simultaneous_intervals(own[None], (0.0, most), test)
        row = {"what": str(measure), "mean": float(own.mean()), "copy": float(copy.mean())}
        rows.append(row | {"ci_lower": float(lower[0]), "ci_upper": float(upper[0])})
    return pd.DataFrame(rows)


def instead_of_candidate(of: CandidateCompared) -> pd.DataFrame:
    """What an option would gain with no run in the candidate's place, or with a second copy of a deployed one.

    The copy is of the deployed run with most documents in common with the candidate. The interval of the candidate's
    ``lead`` is over topics, by the judgments as they are.
    """
    option, candidate = of.best(), of.candidate
    shared = shared_documents(of.view, of.settings.how.ends)[of.view.members.index[candidate]]
    near = max(of.deployed, key=lambda name: int(shared[of.view.members.index[name]]))
    others = tuple(run for run in of.options[option].runs if run != candidate)
    sets = {"no run": others, f"a second copy of {near}": (*others, near)}
    if len(others) == len(of.deployed):  # to add no run is to keep them
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
    tables = {"groups": by_group(of), "pools": pools(of)}
    return {name: one for name, one in tables.items() if one is not None}


# ---- where it helps


def by_group(of: Compared) -> pd.DataFrame | None:
    """The difference of each option from the first by group of topics, simultaneous over options and groups."""
    groups = of.settings.groups
    if groups is None:
        return None
    ids = of.view.query_ids
    lacking = [q for q in ids if q not in groups]
    if lacking:
        raise ValueError(
            f"groups= names no group for {counted(len(lacking), 'judged topic')}, such as {lacking[:3]}"
        )
    names = list(dict.fromkeys(groups[q] for q in ids))
    member = np.array([names.index(groups[q]) for q in ids])
    inside = member == np.arange(len(names))[:, None]  # groups × topics
    parts = [
        np.where(inside[None], values[:, None, :], np.nan).reshape(-1, values.shape[1]) for values in of.gains
    ]
    found = intervals(Differences(*parts), of.settings.ends, of.settings.test)
    n = len(of.gains.judged)
    columns = {"option": np.repeat(of.names[1:], len(names)), "group": names * n}
    table = pd.DataFrame(columns | {"topics": np.tile(inside.sum(axis=1), n)} | found._asdict())
    return table.assign(safe=table["lower"] >= -of.settings.margin)


# ---- behind a reranker


def pools(of: Compared) -> pd.DataFrame | None:
    """Of each option the ceiling, which is the best order of its pool, cut as the list is; and where documents end.

    ``never_retrieved``, ``outside_pool``, ``not_shown`` and ``shown`` count the relevant documents of all topics.
    """
    if of.settings.how.rerank is None:
        return None
    by = of.settings.by
    lists: OptionLists = of.lists
    # A measure of aspects may prefer another order to the one by grade.
    best = np.maximum(OptionValues(of.view, lists.best_orders(), by).values, of.values.values).mean(axis=1)
    where = lists.fates(int(value_of(by, "rel", 1)))
    columns = dict(zip(("never_retrieved", "outside_pool", "not_shown", "shown"), where.T, strict=True))
    means = of.values.values.mean(axis=1)
    return pd.DataFrame({"option": of.names, "mean": means, "ceiling": best, **columns})


# ---- sentences

#: Where something else in the candidate's place gains as much, or may.
NOT_THE_REASON = (
    "It is open whether {new} is the reason: with {instead} in its place, the gain is {gain} ({new}'s lead over "
    "that: {lead}, {ci_lower} to {ci_upper}).",
    "{most} of the gain comes without {new}: with {instead} in its place, it is {gain} ({new}'s lead over that: "
    "{lead}, {ci_lower} to {ci_upper}).",
)
#: Of each table the sentence of a row, in the order of the text.
ROW = {
    "fewer": "Fewer runs: {runs}. On topics that were not used to choose them, the loss against all runs is {loss} "
    "({ci_lower} to {ci_upper}).",
    "pools": "{option} shows {shown} relevant documents; {not_shown} more are in its pool, {outside_pool} outside, and "
    "{never_retrieved} are never retrieved. The best order of its pool has {ceiling}.",
}
Tables = Mapping[str, pd.DataFrame]


def not_the_reason(of: CandidateCompared, tables: Tables) -> str:
    """What gains as much with something else in the place of a candidate that is worth it; nothing where none may."""
    if of.overall in (KEEP, OPEN) or "instead" not in tables:
        return ""
    rows = tables["instead"][tables["instead"]["ci_lower"] <= of.margin]
    if rows.empty:
        return ""
    enough = rows["gain"] > rows["lead"]
    row = rows.loc[enough.idxmax() if enough.any() else rows["gain"].idxmax()]
    most = "Most" if row["lead"] > LABELED_ALIKE else "All"
    return NOT_THE_REASON[bool(enough.any())].format(**_shown(row), new=escaped(of.candidate), most=most)


def sentences(of: Compared, tables: Tables) -> list[str]:
    """Wins and losses, unjudged documents, and what the tables say."""
    counts = [
        f"{escaped(row['option'])} wins {row['won']} {'topic' if row['won'] == 1 else 'topics'} and loses {row['lost']}"
        for row in of.table.iloc[1:4].to_dict("records")
    ]
    per_cent = 100 * float(of.values.unjudged().max())
    shown = f"{per_cent:.2g}" if per_cent < 10 else f"{per_cent:.0f}"
    unjudged = f"up to {shown} % of a list is unjudged" if per_cent else "all lists are fully judged"
    told = [f"{'; '.join(counts)}; {unjudged}."]
    if of.unlike_lengths:
        told.insert(0, f"{of.unlike_lengths[0].upper()}{of.unlike_lengths[1:]}.")
    if "groups" in tables:
        might = tables["groups"][~tables["groups"]["safe"]]
        than = f" more than {of.margin:g}" if of.margin else ""
        named = few(f"{escaped(str(row.group))} ({escaped(row.option)})" for row in might.itertuples())
        lose = f"These groups of topics might lose{than}: {named}."
        told.append(lose if named else f"No group of topics loses{than}.")
    for name, sentence in ROW.items():
        for row in tables[name].to_dict("records") if name in tables else []:
            told.append(sentence.format(**_shown(row)))
    return told


def _shown(row: Mapping[Any, Any]) -> dict[str, str]:
    return {key: number(cell) if isinstance(cell, float) else escaped(str(cell)) for key, cell in row.items()}
