"""Tables beside a verdict, and their sentences: what the candidate brings, topics, groups of topics, pools."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import ir_measures
import numpy as np
import pandas as pd

from ..bounding.verdicts import round_to_zero
from ..context.collection import Collection
from ..context.evaluated import Evaluated
from ..context.measure_strings import param_value
from ..data.arrays import FloatArray, IntArray
from ..data.rankings import known_depth
from ..further_measures.alpha_nrg import NewAspects
from ..messages import counted, escaped, few, warn
from .options import Option, OptionLists, interleaved
from .rule import number
from .terms import Terms
from .text import capital, format_share, join
from .values import OptionValues, average_labelings, won_and_lost

# How deep rankings are looked at where the measure has no cutoff.
_CUTOFF = 10
# Of how many options a sentence says on how many topics they win and lose.
_COUNTED = 3


# ---- tables of options and topics


def as_objects(texts: Sequence[str]) -> pd.Series:
    """Return a column of texts, which may hold what no text of Arrow can."""
    return pd.Series(texts, dtype=object)


def tabulate_options(
    options: Sequence[Option], scores: OptionValues, values: FloatArray, bounds: Mapping[str, FloatArray]
) -> pd.DataFrame:
    """Return the row of each option, with some ``bounds`` as columns behind the difference from the first."""
    n, by_topic = len(options), average_labelings(values)[: len(options)]
    won, lost = won_and_lost(by_topic - by_topic[0])
    mean = by_topic.mean(axis=1)
    columns: dict[str, Any] = {
        "option": as_objects([option.name for option in options]),
        "runs": as_objects([", ".join(option.runs) for option in options]),
        "mean": mean,
        "difference": np.where(won + lost > 0, mean - mean[0], 0.0),
        **bounds,
        "judged": scores.judged[:n].mean(axis=1),
        "won": won,
        "lost": lost,
        "unjudged": scores.unjudged[:n],
    }
    return pd.DataFrame(columns)


def tabulate_topics(collection: Collection, options: Sequence[Option], values: FloatArray) -> pd.DataFrame:
    """Return a row for each topic and option: its value, and its difference from the first."""
    by_topic = average_labelings(values)[: len(options)]
    columns = {
        "query_id": pd.Series(np.repeat(collection.documents.query_ids, len(options)), dtype=str),
        "option": as_objects([option.name for option in options] * collection.documents.n_queries),
        "value": by_topic.T.reshape(-1),
        "difference": round_to_zero(by_topic - by_topic[0]).T.reshape(-1),
    }
    return pd.DataFrame(columns)


# ---- what a candidate brings


def count_new_documents(
    lists: OptionLists, deployed: Sequence[str], candidate: str, k: int, rel: int
) -> IntArray:
    """Count the relevant documents in a candidate's top k that are in no deployed run's, and those on the next page.

    With m new documents, the next page is the m documents that the deployed runs retrieve next below their top k, one
    of each run in turn; those in some deployed run's top k are skipped.

    Returns:
        the counts by topic, shape (2, topics).
    """
    collection, enough = lists.collection, k * (len(deployed) + 2)  # deeper than what can be skipped or taken
    depth = known_depth([collection.runs[name] for name in (*deployed, candidate)], enough) or enough
    docs, rows_of_run = lists.rows_to(depth)
    *runs, new_run = (rows_of_run[collection.index[name]] for name in (*deployed, candidate))
    seen, new, next_page = np.zeros((3, len(docs)), dtype=bool)
    for topic in range(docs.n_queries):
        for run in runs:
            seen[run[topic][:k]] = True
        top = new_run[topic][:k]
        added = top[~seen[top]]
        new[added] = True
        below = (run[topic][k:depth] for run in runs)
        unseen = [rows[~seen[rows]].tolist() for rows in below]
        if depth < enough:
            _check_next_page(collection, deployed, [len(rows) for rows in unseen], len(added), enough)
        next_page[list(itertools.islice(interleaved(unseen), len(added)))] = True
    rows = np.flatnonzero((new | next_page) & (docs.grade >= rel))
    rows = rows[collection.documents.find_rows(docs.query[rows], docs.ids.take(rows)) >= 0]  # the judged ones
    counts = [
        np.bincount(docs.query[rows[where[rows]]], minlength=docs.n_queries) for where in (new, next_page)
    ]
    return np.array(counts)


def _check_next_page(
    collection: Collection, deployed: Sequence[str], unseen: Sequence[int], needed: int, enough: int
) -> None:
    """Raise ValueError where a deployed run of a track may go on below the documents that are here."""
    for name, n in zip(deployed, unseen, strict=True):
        run = collection.runs[name]
        if run.cut is not None and n < needed and not run.is_whole_to(enough):
            raise run.cut.refuse(enough, f"what {run.name} has on its next page")


def new_documents(
    lists: OptionLists, deployed: Sequence[str], candidate: str, by: ir_measures.Measure
) -> pd.DataFrame:
    """Return what a candidate brings that the deployed runs do not, per topic; this makes no verdict.

    The rows: relevant documents that are new; those on the next page (:func:`count_new_documents`); and NewAspects@k
    where the judgments name aspects. The columns are ``what`` and ``mean``.
    """
    collection, k, rel = (
        lists.collection,
        param_value(by, "cutoff") or _CUTOFF,
        int(param_value(by, "rel", 1)),
    )
    means = count_new_documents(lists, deployed, candidate, k, rel).mean(axis=1).tolist()
    names = f"new relevant@{k}", f"next page@{k}"
    rows = [{"what": name, "mean": mean} for name, mean in zip(names, means, strict=True)]
    if collection.judgments.has_aspects:
        measure: Any = NewAspects @ k
        beside = Evaluated.of(collection, collection.runs[candidate], deployed)
        rows.append({"what": str(measure), "mean": float(measure.score(beside).mean())})
    return pd.DataFrame(rows)


def describe_new_documents(
    table: pd.DataFrame, deployed: Sequence[str], candidate: str, by: ir_measures.Measure
) -> str:
    """Return the sentence on the documents of a candidate that the deployed runs do not retrieve."""
    new, page = map(number, table["mean"][:2])
    k = param_value(by, "cutoff") or _CUTOFF
    tops = f"the top {k} of {join(deployed)}" if len(deployed) == 1 else f"the top {k} of any deployed run"
    runs = join(deployed) if len(deployed) == 1 else "these runs"
    return (
        f"New documents: the top {k} of {escaped(candidate)} has {new} relevant ones per topic that are not in {tops}. "
        f"As many further documents of {runs} have {page}."
    )


def describe_copy(candidate: str, same: str, deployed: int) -> str:
    """Return that a candidate ranks as a deployed run does, and what adding it then is."""
    copied = f"{escaped(candidate)} ranks every topic exactly as {escaped(same)} does"
    return f"{copied}." if deployed == 1 else f"{copied}: added, it is a second vote for {escaped(same)}."


# ---- what every answer has


def describe_lists(
    collection: Collection,
    options: Sequence[Option],
    lists: OptionLists,
    scores: OptionValues,
    values: FloatArray,
    choice: int,
    terms: Terms,
) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Return the tables of groups and pools, where they apply, and the sentences on the lists of options.

    These are about topics won and lost, unjudged documents, lists of unlike length, and the tables.
    """
    tables: dict[str, pd.DataFrame] = {}
    sentences = [_describe_topics(options, values, scores)]
    if scores.why_not_bounded is not None and not scores.all_judged:
        sentences.append(f"The extremes over unjudged documents are not known: {scores.why_not_bounded}.")
    if unlike := describe_unlike_lengths(lists):
        warn(unlike, collection.context)
        sentences.append(f"{capital(unlike)}.")
    if lists.is_cut:
        sentences.append(
            f"Runs are fused to their first {lists.fused_depth} documents, as many as the track has."
        )
    if terms.groups is not None:
        tables["groups"] = by_group(collection, options, values, terms)
        if choice:
            sentences.append(_describe_groups(tables["groups"], options[choice].name, terms.margin))
    if terms.reranker is not None:
        tables["pools"] = pools(options, lists, scores, terms.by, collection)
        sentences += [_POOL.format(**_shown(row)) for row in tables["pools"].to_dict("records")]
    return tables, sentences


def _describe_topics(options: Sequence[Option], values: FloatArray, scores: OptionValues) -> str:
    """Return on how many topics the first options win and lose, and how much is unjudged."""
    by_topic = average_labelings(values)[: len(options)]
    counted = list(zip(options, *won_and_lost(by_topic - by_topic[0]), strict=True))[1 : 1 + _COUNTED]
    counts = [
        f"{escaped(option.name)} scores higher on {won} {'topic' if won == 1 else 'topics'} and lower on {lost}"
        for option, won, lost in counted
    ]
    share = float(scores.unjudged[: len(options)].max())
    unjudged = f"up to {format_share(share)} of a list is unjudged" if share else "all lists are fully judged"
    return f"{'; '.join(counts)}; {unjudged}."


def describe_unlike_lengths(lists: OptionLists) -> str:
    """Return a warning where most topics have an option with fewer documents than another; else nothing."""
    if lists.reranker is not None:
        return ""
    sizes = np.array([list(map(len, of)) for of in lists.lists])
    longest = sizes.max(axis=0)
    named = list(dict.fromkeys(run for option in lists.options for run in option.runs))
    runs = lists.run_sizes()[[lists.collection.index[name] for name in named]]
    short = [i for i, size in enumerate(runs) if (size < longest).mean() > 0.5]
    if not short or (sizes < longest).mean(axis=1).max() <= 0.5:
        return ""
    least = int(np.median(runs, axis=1).min())
    to_do = f"set a cutoff of {least}, to which all runs have documents, or give" if least else "give"
    have = "has" if len(short) == 1 else "have"
    return (
        f"the options are not at the same cost: {few(escaped(named[i]) for i in short)} {have} fewer documents than "
        f"the longest list on most topics, so not all lists have the same length; {to_do} deeper runs"
    )


def by_group(
    collection: Collection, options: Sequence[Option], values: FloatArray, terms: Terms
) -> pd.DataFrame:
    """Return the difference of each option from the first in each group of topics.

    ``lower`` and ``upper`` are one-sided ends, each for all options and groups at once. An option ``loses`` in a group
    if its upper end is below 0, and is ``safe`` if the lower end is at least ``-margin``.
    """
    groups, ids = terms.groups or {}, collection.documents.query_ids
    lacking = [q for q in ids if q not in groups]
    if lacking:
        raise ValueError(
            f"groups= names no group for {counted(len(lacking), 'judged topic')}, such as {lacking[:3]}"
        )
    names = list(dict.fromkeys(groups[q] for q in ids))
    level = 1.0 - (1.0 - terms.test.confidence) / len(names)
    tables = []
    for name in names:
        inside = np.array([groups[q] == name for q in ids])
        of_group = values[..., inside]
        more = of_group[1 : len(options)] - of_group[0]
        upper, less = (terms.bound_differences(sign * more, level) for sign in (1.0, -1.0))
        columns = {
            "option": as_objects([option.name for option in options[1:]]),
            "group": name,
            "topics": int(inside.sum()),
        }
        mean = more.mean(axis=tuple(range(1, more.ndim)))
        table = pd.DataFrame(columns | {"difference": mean, "lower": 0.0 - less, "upper": upper})
        tables.append(table.assign(loses=upper < 0, safe=less <= terms.margin))
    return pd.concat(tables, ignore_index=True)


def _describe_groups(table: pd.DataFrame, choice: str, margin: float) -> str:
    """Return in which groups of topics the choice loses, and in which a loss is not excluded."""
    of_choice = table[table["option"] == choice]
    loses = of_choice["loses"].to_numpy(dtype=bool)
    might = ~loses & ~of_choice["safe"].to_numpy(dtype=bool)
    names, than = of_choice["group"].astype(str).to_numpy(), f" of more than {margin:g}" if margin else ""
    sentences = []
    if loses.any():
        sentences.append(
            f"{capital(escaped(choice))} loses in these groups of topics: {few(map(escaped, names[loses]))}."
        )
    if might.any():
        sentences.append(f"A loss{than} is not excluded in: {few(map(escaped, names[might]))}.")
    return (
        " ".join(sentences)
        or f"{capital(escaped(choice))} loses no more than {margin:g} in any group of topics."
    )


#: On the pool of an option.
_POOL = (
    "{option} shows {shown} relevant documents; {not_shown} more are in its pool, {outside_pool} outside, and "
    "{never_retrieved} are never retrieved. The best order of its pool has {ceiling}."
)


def pools(
    options: Sequence[Option],
    lists: OptionLists,
    scores: OptionValues,
    by: ir_measures.Measure,
    collection: Collection,
) -> pd.DataFrame:
    """Return the ceiling of each option, the best order of its pool cut as the list is, and where documents end.

    ``never_retrieved``, ``outside_pool``, ``not_shown`` and ``shown`` count the relevant documents of all topics.
    """
    n = len(options)
    # A measure of aspects may prefer another order to the one by grade.
    best = np.maximum(OptionValues(collection, lists.best_orders()[:n], by).judged, scores.judged[:n]).mean(
        axis=1
    )
    where = lists.fates(int(param_value(by, "rel", 1)))[:n]
    columns = dict(zip(("never_retrieved", "outside_pool", "not_shown", "shown"), where.T, strict=True))
    means = scores.judged[:n].mean(axis=1)
    return pd.DataFrame(
        {"option": as_objects([option.name for option in options]), "mean": means, "ceiling": best, **columns}
    )


def _shown(row: Mapping[Any, Any]) -> dict[str, str]:
    return {key: number(cell) if isinstance(cell, float) else escaped(str(cell)) for key, cell in row.items()}
