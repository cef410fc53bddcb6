"""Where a run stands among the runs of a context, what it adds to them, and what it resembles."""

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
from ..context.duplicates import find_alike, find_shorter_alike
from ..context.evaluate import score_runs
from ..context.evaluated import Evaluated
from ..context.run_context import RunContext, check_is_context
from ..data.cut_rankings import cite_tracks
from ..data.rankings import known_depth
from ..further_measures.rbo import RBO
from ..io.datasets import fetch_qrels
from ..io.qrels import Qrels, qrels_columns
from ..io.runs import Run
from ..measures.nrg import NRG, UniqueRel
from ..messages import counted, escaped
from ..stats.intervals import means_and_margins
from ..tolerances import ROUNDED
from ..work import Work
from .options import find_candidate
from .rule import number
from .similarity import score_pairs

#: By which measures a run is placed, and what it adds.
BY: tuple[ir_measures.Measure, ...] = (ir_measures.nDCG @ 10, NRG(norm="ideal") @ 10)
_NEW = UniqueRel @ 10
# How deep two runs are compared for the nearest ones, and how many of these are told.
_DEPTH, _NEAREST = 50, 3
_SECONDS = 30.0  # for what unjudged documents could change


@dataclass(frozen=True, eq=False)
class Place:
    """The answer of :func:`place`. ``print`` shows the text and the table."""

    text: str  #: the answer in sentences
    table: pd.DataFrame  #: what the run adds, a row for all runs, each group and each of the nearest runs
    #: the ``rank`` by each measure, with ``best`` and ``worst`` rank for unjudged documents
    standing: pd.DataFrame
    runs: pd.DataFrame  #: the means of every run, for :func:`.relative_against_absolute`
    groups: dict[str, str]  #: from run to group, for the picture
    #: what to judge, the unjudged of its first ten, as ``query_id``, ``doc_id``, ``rank``
    judge: pd.DataFrame

    def __str__(self) -> str:
        return f"{self.text}\n\n{self.table.to_string(index=False, float_format='%.3f', na_rep='')}"


def place(
    context: RunContext, qrels: Qrels | None, run: str | Run, *, llm_judgments: Qrels | None = None
) -> Place:
    """Say where a run stands among the runs of a context, such as a track: is it new, or like one of them?

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
    others = [other for other in context.names if other != name]
    if not len(rankings):
        raise ValueError(f"{rankings.name} has no ranking, so it has no place; check how it was written")
    if not others:
        raise ValueError("place() needs other runs; make the context of a track, or of a folder of runs")
    known = {key: getattr(context, key) for key in ("groups", "num_docs", "grades", "drop_self")}
    together = RunContext({**context.runs, name: rankings}, reference=name, **known)
    judgments = qrels_columns(fetch_qrels(context.dataset) if qrels is None else qrels)
    collection = judged_collection(together, judgments)
    check_runs(collection, BY)
    runs = score_runs(collection, collection.names, BY).table()
    model = {} if llm_judgments is None else {"relevance_model": "pool", "llm_judgments": llm_judgments}
    pairs = verdicts(together, judgments, BY, missing="zero", time_limit=_SECONDS, **model)
    standing = _standing(runs, pairs, name)
    nearest = _nearest(collection, name, others)
    groups = {other: context.groups.get(other, "the others") for other in others}
    table = _added(collection, name, groups if context.groups else {}, others, list(nearest))
    judge = _unjudged(Evaluated.of(collection, name))
    text = _describe(context, collection, name, standing, table, nearest, judge)
    return Place(text, table, standing, runs, groups | {name: name}, judge)


def _standing(runs: pd.DataFrame, pairs: pd.DataFrame, name: str) -> pd.DataFrame:
    """The rank of a run by each measure, and the ranks that labels of the unjudged documents could give it."""
    rows: list[dict[str, Any]] = []
    for measure in map(str, BY):
        own, of_pairs = (
            float(runs.loc[runs["name"] == name, measure].iloc[0]),
            pairs[pairs["measure"] == measure],
        )
        above = int((of_pairs["settled"] == "above").sum())
        never = int(of_pairs["settled"].isin(["below", "equal"]).sum())  # above it
        rank = 1 + int((runs[measure] > own + ROUNDED).sum())
        row = {"measure": measure, "value": own, "rank": rank, "best": 1 + above, "worst": len(runs) - never}
        expected = {"expected": 1 + float(of_pairs["probability"].sum())} if "probability" in of_pairs else {}
        rows.append(row | expected)
    return pd.DataFrame(rows)


def _nearest(collection: Collection, name: str, others: Sequence[str]) -> dict[str, float]:
    """The runs that rank most like a run, and how much by RBO; the nearest first."""
    depth = known_depth(collection.rankings, _DEPTH)
    pairs = [(collection.index[name], collection.index[other]) for other in others]
    alike = score_pairs(collection, RBO @ depth, pairs, Work()).mean(axis=1)
    return {others[i]: float(alike[i]) for i in np.argsort(-alike, kind="stable")[:_NEAREST].tolist()}


def _added(
    collection: Collection,
    name: str,
    groups: Mapping[str, str],
    others: Sequence[str],
    nearest: Sequence[str],
) -> pd.DataFrame:
    """What a run adds to all others, to those of each group, and to each of the nearest runs."""
    beside = {"all runs": list(others)}
    for other, group in groups.items():
        beside.setdefault(f"group {group}", []).append(other)
    beside |= {f"run {other}": [other] for other in nearest}
    values = [
        {"name": key, "query_id": query_id, "measure": str(measure), "value": value}
        for key, priors in beside.items()
        for measure in (BY[1], _NEW)
        for query_id, value in enumerate(measure.score(Evaluated.of(collection, name, priors)).tolist())
    ]
    means, margins = means_and_margins(pd.DataFrame(values), BY[1], _NEW)
    table = pd.DataFrame({"beside": means["name"], "runs": [len(priors) for priors in beside.values()]})
    for measure, column, prefix in ((BY[1], str(BY[1]), ""), (_NEW, "new_relevant", "new_")):
        mean, (below, above) = means[str(measure)], margins[str(measure)]
        table[column], table[f"{prefix}ci_lower"], table[f"{prefix}ci_upper"] = (
            mean,
            mean - below,
            mean + above,
        )
    return table


def _unjudged(run: Evaluated) -> pd.DataFrame:
    """The unjudged documents of a run's first ten, from the highest rank on."""
    docs, position, _, _ = run.top(10)
    rows = np.flatnonzero(~docs.judged)
    rows = rows[np.argsort(position[rows], kind="stable")]
    queries, ids = docs.query_ids[docs.query[rows]], docs.ids.take(rows).strings()
    texts = {"query_id": pd.Series(queries, dtype=str), "doc_id": pd.Series(ids, dtype=str)}
    return pd.DataFrame(texts | {"rank": position[rows]})


def _describe(
    context: RunContext,
    collection: Collection,
    name: str,
    standing: pd.DataFrame,
    table: pd.DataFrame,
    nearest: Mapping[str, float],
    judge: pd.DataFrame,
) -> str:
    run, n = Evaluated.of(collection, name), len(collection.runs)
    others = [other for other in collection.runs if other != name]
    said = []
    if copied := find_alike(run, others):
        said = [f"{name} ranks exactly as {copied}: it is the same run, or a copy."]
    elif copied := find_shorter_alike(run, others):
        said = [
            f"To the end of the shorter of the two, {name} ranks exactly as {copied}: one is cut from the other."
        ]
    topics = collection.documents.n_queries
    if lacking := topics - int((np.bincount(run.top(1)[0].query, minlength=topics) > 0).sum()):
        said.append(f"{name} ranks nothing for {lacking} of {topics} topics, which count as empty rankings.")
    places = []
    for row in standing.to_dict("records"):
        reach = f"; {row['best']} to {row['worst']}, allowing for unjudged documents"
        reach = reach if row["best"] < row["worst"] else ""
        reach += f"; {row['expected']:.1f} on average by the relevance model" if "expected" in row else ""
        places.append(f"by {row['measure']} it is number {row['rank']} of {n} ({row['value']:.3f}{reach})")
    beside = " and ".join(cite_tracks(context.runs.values())) or counted(n - 1, "run")
    said.append(f"{name} beside {beside}: {'; '.join(places)}.")
    every, ends = table.iloc[0], ""
    if every["new_ci_upper"] > 0:  # NaN where nothing is new
        ends = f" (95 % interval {number(every['new_ci_lower'])} to {number(every['new_ci_upper'])})"
    new = number(every["new_relevant"])
    said.append(f"It adds {new} relevant documents per topic that no other run has in its first ten{ends}.")
    groups = table[table["beside"].str.startswith("group ")].sort_values(str(BY[1]), kind="stable")
    if len(groups) > 1:
        least, most = ((row["beside"], number(row[str(BY[1])])) for _, row in groups.iloc[[0, -1]].iterrows())
        said.append(
            f"Alone, {least[0]} leaves it least to add ({least[1]} {BY[1]}), and {most[0]} most ({most[1]})."
        )
    close = ", ".join(f"{other} ({value:.2f})" for other, value in nearest.items())
    said.append(f"It ranks most like {close}, by RBO.")
    shown = 100 * float(unjudged_shares([run], 10).mean())
    first = ", ".join(f"{row.doc_id} of topic {row.query_id}" for row in judge.head(_NEAREST).itertuples())
    unjudged = (
        f"{shown:.2g} % of its first ten documents are unjudged, {len(judge)} in all; judge first {first}."
    )
    said.append(unjudged if len(judge) else "Its first ten documents are all judged.")
    return escaped(" ".join(said))
