"""The place of a run among the runs of a context: its rank, what it adds, and the runs that it resembles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ir_measures
import numpy as np
import pandas as pd

from ..bounding.verdicts import unjudged_shares, verdicts
from ..context.checks import check_runs
from ..context.collection import Collection, judged_collection
from ..context.duplicates import find_alike
from ..context.evaluate import score_runs
from ..context.evaluated import Evaluated
from ..context.run_context import RunContext, check_is_context, cite_tracks
from ..data.rankings import known_depth
from ..further_measures.rbo import RBO
from ..io.datasets import fetch_qrels
from ..io.qrels import Qrels, qrels_columns
from ..io.runs import Run
from ..measures.nrg import NRG, UniqueRel
from ..messages import counted
from ..stats.intervals import means_and_margins
from ..tolerances import ROUNDED
from ..writing import escaped
from .options import find_candidate
from .rule import number
from .similarity import score_pairs

#: The measures by which a run is placed; the second is also what it adds.
BY: tuple[ir_measures.Measure, ...] = (ir_measures.nDCG @ 10, NRG(norm="ideal") @ 10)
_NEW = UniqueRel @ 10
# How deep two runs are compared for the nearest ones, and how many of these are named.
_DEPTH, _NEAREST = 50, 3
_SECONDS = 30.0  # for the bounds over unjudged documents


@dataclass(frozen=True, eq=False)
class Place:
    """The answer of :func:`place`. ``print`` shows the text and the table."""

    text: str  #: the answer in sentences
    table: pd.DataFrame  #: what the run adds, a row for all runs, each group and each of the nearest runs
    #: the ``rank`` by each measure, with the ``best`` and ``worst`` rank allowing for unjudged documents
    standing: pd.DataFrame
    runs: pd.DataFrame  #: the means of every run, for :func:`.relative_against_absolute`
    groups: dict[str, str]  #: from run to group, for the picture
    #: the unjudged documents of its first ten, as ``query_id``, ``doc_id``, ``rank``
    judge: pd.DataFrame

    def __str__(self) -> str:
        return f"{self.text}\n\n{self.table.to_string(index=False, float_format='%.3f', na_rep='')}"


def place(
    context: RunContext, qrels: Qrels | None, run: str | Run, *, llm_judgments: Qrels | None = None
) -> Place:
    """Place a run among the runs of a context, such as a track: its rank, what it adds, and what it resembles.

    Every run is scored relative to all others, the placed one among them.

    Args:
        context: the other runs.
        qrels: judgments in any form; None for the context's own.
        run: a run in any form, or the name of one of the context.
        llm_judgments: judgments by a language model: the text then says how likely each order by nDCG@10 is.

    Returns:
        a :class:`Place`. Its table has a row for all runs, for each group, and for the three nearest runs: ``beside``;
        ``runs``, how many; the mean of NRG(norm='ideal')@10 with ``ci_lower`` and ``ci_upper`` over topics; the mean
        ``new_relevant`` documents per topic in its first ten, with ``new_ci_lower`` and ``new_ci_upper``.

    Raises:
        ValueError: a context without other runs; a run without a ranking, or without one of a judged topic.
    """
    check_is_context(context)
    name, rankings, _ = find_candidate(context, run)
    rivals = [other for other in context.names if other != name]
    if not len(rankings):
        raise ValueError(f"{rankings.name} has no ranking, so it has no place; check how it was written")
    if not rivals:
        raise ValueError("place() needs other runs; make the context of a track, or of a folder of runs")
    settings = {key: getattr(context, key) for key in ("groups", "num_docs", "grades", "drop_self")}
    together = RunContext({**context.runs, name: rankings}, reference=name, **settings)
    judgments = qrels_columns(fetch_qrels(context.dataset) if qrels is None else qrels)
    collection = judged_collection(together, judgments)
    check_runs(collection, BY)
    means = score_runs(collection, collection.names, BY).table()
    model = {} if llm_judgments is None else {"relevance_model": "pool", "llm_judgments": llm_judgments}
    pairs = verdicts(together, judgments, BY, missing="zero", time_limit=_SECONDS, **model)
    placed, standing = Evaluated.of(collection, name), _tabulate_ranks(means, pairs, name)
    nearest, judge = _find_nearest(collection, name, rivals), _list_unjudged(placed)
    groups = {rival: context.groups.get(rival, "the others") for rival in rivals}
    beside = {"all runs": rivals}
    for rival, group in groups.items() if context.groups else ():
        beside.setdefault(f"group {group}", []).append(rival)
    table = _tabulate_additions(collection, name, beside | {f"run {rival}": [rival] for rival in nearest})
    sentences = [
        _describe_copy(placed, rivals),
        _describe_ranks(placed, context, standing),
        *_describe_additions(table),
        f"It ranks most like {', '.join(f'{rival} ({overlap:.2f})' for rival, overlap in nearest.items())}, by RBO.",
        _describe_unjudged(placed, judge),
    ]
    text = escaped(" ".join(filter(None, sentences)))
    return Place(text, table, standing, means, groups | {name: name}, judge)


def _tabulate_ranks(means: pd.DataFrame, pairs: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the rank of a run by each measure, and its ranks over all judgments of the unjudged documents."""
    rows = []
    for measure in map(str, BY):
        value = float(means.loc[means["name"] == name, measure].iloc[0])
        of_measure = pairs[pairs["measure"] == measure]
        settled = of_measure["settled"]
        row: dict[str, Any] = {"measure": measure, "value": value}
        row["rank"] = 1 + int((means[measure] > value + ROUNDED).sum())
        row["best"] = 1 + int((settled == "above").sum())
        row["worst"] = len(means) - int(settled.isin(["below", "equal"]).sum())
        if "probability" in pairs:
            # A tie counts half there. A run that is always equal, such as a copy, is not above.
            row["expected"] = 1 + float(of_measure["probability"][settled != "equal"].sum())
        rows.append(row)
    return pd.DataFrame(rows)


def _find_nearest(collection: Collection, name: str, rivals: Sequence[str]) -> dict[str, float]:
    """Return the runs that rank most like a run, with their RBO; the nearest first."""
    depth = known_depth(collection.rankings, _DEPTH)
    pairs = [(collection.index[name], collection.index[rival]) for rival in rivals]
    overlap = score_pairs(collection, RBO @ depth, pairs).mean(axis=1)
    return {rivals[i]: float(overlap[i]) for i in np.argsort(-overlap, kind="stable")[:_NEAREST].tolist()}


def _tabulate_additions(
    collection: Collection, name: str, beside: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    """Return what a run adds to each of some sets of runs."""
    values = [
        {"name": key, "query_id": query_id, "measure": str(measure), "value": value}
        for key, priors in beside.items()
        for measure in (BY[1], _NEW)
        for query_id, value in enumerate(measure.score(Evaluated.of(collection, name, priors)).tolist())
    ]
    means, margins = means_and_margins(pd.DataFrame(values), BY[1], _NEW)
    table = pd.DataFrame({"beside": means["name"], "runs": [len(priors) for priors in beside.values()]})
    for measure, column, prefix in ((BY[1], str(BY[1]), ""), (_NEW, "new_relevant", "new_")):
        table[column], (below, above) = means[str(measure)], margins[str(measure)]
        table[f"{prefix}ci_lower"], table[f"{prefix}ci_upper"] = table[column] - below, table[column] + above
    return table


def _list_unjudged(run: Evaluated) -> pd.DataFrame:
    """Return the unjudged documents of a run's first ten, from the highest rank on."""
    docs, position, _, _ = run.top(10)
    rows = np.flatnonzero(~docs.judged)
    rows = rows[np.argsort(position[rows], kind="stable")]
    queries, ids = docs.query_ids[docs.query[rows]], docs.ids.take(rows).strings()
    texts = {"query_id": pd.Series(queries, dtype=str), "doc_id": pd.Series(ids, dtype=str)}
    return pd.DataFrame(texts | {"rank": position[rows]})


# ---- the text


def _describe_copy(run: Evaluated, rivals: Sequence[str]) -> str:
    if original := find_alike(run, rivals):
        return f"{run.name} ranks exactly as {original}: it is the same run, or a copy."
    if original := find_alike(run, rivals, to_shorter=True):
        same = f"{run.name} ranks exactly as {original}"
        return f"To the end of the shorter of the two, {same}: one is cut from the other."
    return ""


def _describe_ranks(run: Evaluated, context: RunContext, standing: pd.DataFrame) -> str:
    n_topics, n_runs = run.collection.documents.n_queries, len(run.collection.names)
    missing = n_topics - int((np.bincount(run.top(1)[0].query, minlength=n_topics) > 0).sum())
    sentence = ""
    if missing:
        sentence = (
            f"{run.name} ranks nothing for {missing} of {n_topics} topics, which count as empty rankings. "
        )
    places = []
    for row in standing.to_dict("records"):
        place = f"by {row['measure']} it is number {row['rank']} of {n_runs} ({row['value']:.3f}"
        if row["best"] < row["worst"]:
            place += f"; {row['best']} to {row['worst']}, allowing for unjudged documents"
        if "expected" in row:
            place += f"; {row['expected']:.1f} on average by the relevance model"
        places.append(f"{place})")
    rival_runs = (rankings for name, rankings in context.runs.items() if name != run.name)
    rivals = " and ".join(cite_tracks(rival_runs, count_others=True)) or counted(n_runs - 1, "run")
    return f"{sentence}{run.name} beside {rivals}: {'; '.join(places)}."


def _describe_additions(table: pd.DataFrame) -> list[str]:
    to_all, interval = table.iloc[0], ""
    if to_all["new_ci_upper"] > 0:  # NaN where nothing is new
        interval = f" (95 % interval {number(to_all['new_ci_lower'])} to {number(to_all['new_ci_upper'])})"
    sentences = [
        f"It adds {number(to_all['new_relevant'])} relevant documents per topic that no other run has in its first ten"
        f"{interval}."
    ]
    measure = str(BY[1])
    groups = table[table["beside"].str.startswith("group ")].sort_values(measure, kind="stable")
    if len(groups) > 1:
        (least, least_added), (most, most_added) = groups[["beside", measure]].iloc[[0, -1]].to_numpy()
        sentences.append(
            f"Alone, {least} leaves it least to add ({number(least_added)} {measure}), and {most} most "
            f"({number(most_added)})."
        )
    return sentences


def _describe_unjudged(run: Evaluated, judge: pd.DataFrame) -> str:
    if judge.empty:
        return "Its first ten documents are all judged."
    share = 100 * float(unjudged_shares([run], 10).mean())
    first = ", ".join(f"{row.doc_id} of topic {row.query_id}" for row in judge.head(_NEAREST).itertuples())
    return f"{share:.2g} % of its first ten documents are unjudged, {len(judge)} in all; judge first {first}."
