"""The worth of each further search of an agent, or of a user in a session."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..arguments import check_choice, check_count
from ..context.run_context import RunContext
from ..data.arrays import FloatArray
from ..formats.searches import read_searches
from ..io.qrels import Qrels, make_judgments, qrels_columns
from ..measures.nrg import NRG
from ..messages import RelativeWarning, few, first_ids, warn
from ..stats.intervals import FEWEST_DIFFERING, topic_counts
from .rule import check_amount, number
from .same_cost import GO_ON, READ_DEEPER, UNDECIDED, Searches, compare_at_same_cost, read_deeper

# The confidence of an interval.
_RESAMPLES, _CONFIDENCE = 1999, 0.95


@dataclass(frozen=True, eq=False)
class Trajectories:
    """The answer of :func:`trajectory`. ``print`` shows the text and the tables."""

    searches: pd.DataFrame  #: a row per search number; :func:`trajectory` names the columns
    #: ``search``, ``trajectories``, ``found_by_then``: the share of what was found in the end
    stopping: pd.DataFrame
    #: ``search``, ``trajectories``, ``go_on`` and ``read_deeper`` (shares of the relevant documents that are found),
    #: ``difference``, ``lower``, ``regret_deeper``, ``regret_go_on``, ``labels``, ``verdict``; None without ``deeper``
    same_cost: pd.DataFrame | None
    #: a row per trajectory and search, from which the means are made; ``found`` is cumulative
    cells: pd.DataFrame
    text: str  #: the answer in sentences

    def __str__(self) -> str:
        tables = [self.searches, self.stopping, *([] if self.same_cost is None else [self.same_cost])]
        how = {"index": False, "float_format": "%.3f", "na_rep": ""}
        return "\n\n".join([self.text, *(table.to_string(**how) for table in tables if len(table))])


def trajectory(
    searches: Any,
    qrels: Qrels,
    k: int | None = None,
    *,
    topic: Mapping[str, str] | None = None,
    deeper: Any = None,
    margin: float = 0.02,
    labels: str | None = None,
    pays: float | None = None,
) -> Trajectories:
    """Measure what each further search brought that the earlier ones of the same trajectory had not.

    Search t is scored as a run whose user has seen searches 1 … t − 1: by NRG(norm='ideal') with them as prior runs,
    and by the relevant documents that none of them showed. Three states that all score 0 are kept apart: the trajectory
    had *ended* (no value), the search brought *nothing new*, or *nothing was left* to find among judged documents (left
    out of the mean of NRG).

    Args:
        searches: a row per trajectory, search and document, as a DataFrame, a path, or a dict of lists; or a
            RunContext, whose runs are the searches.
        qrels: judgments, of the trajectories' ids or of their topics.
        k: how many documents of each search count; default: all that were shown.
        topic: from trajectory to topic, where several trajectories share one. Intervals resample topics.
        deeper: search 1 of every trajectory, or topic, as a longer run. Searches 1 … t are then compared with it, read
            to as many distinct documents, by the share of the judged relevant documents that both hold.
        margin: the smallest difference of that share that matters.
        labels: what unjudged documents count as at the same cost: ``"judged"``, not relevant; ``"strict"``, whatever is
            worst. Default: strict where that decides, else no verdict.
        pays: how many new relevant documents pay for a search; ``searches`` gets the column ``pays``.

    Returns:
        ``searches``: ``search``; ``trajectories``, those that got so far; ``new_relevant``, mean documents with
        ``ci_lower`` and ``ci_upper``, from a bootstrap over topics; ``in_search_1``, the same mean of search 1 of the
        same trajectories; ``repeated`` and ``unjudged``, shares of the documents shown; the mean of NRG;
        ``nothing_new`` and ``nothing_left``, trajectories. Further tables: see :class:`Trajectories`.

    Raises:
        ValueError: searches that cannot be read, no judged trajectory, a ``deeper`` run that is too short.
    """
    if labels is not None:
        check_choice("labels", labels, ("judged", "strict"))
    if k is not None:
        check_count("k", k, 1)
    check_amount("margin", margin)
    if pays is not None:
        check_amount("pays", pays)
    shown = _arrange(read_searches(searches), qrels, k, dict(topic or {}))
    measure = NRG(norm="ideal") if k is None else NRG(norm="ideal") @ k
    cells = _score_cells(shown, measure)
    by_search, stopping = _average_by_search(cells, str(measure), pays), _average_stopping(cells)
    same_cost = None
    if deeper is not None:
        reading = read_deeper(shown, deeper)
        cells["found_deeper"] = np.where(shown.first[shown.trajectory] == 1, reading.relevant, np.nan)
        same_cost = compare_at_same_cost(shown, reading, margin, labels)
    sentences = [] if same_cost is None else _describe_same_cost(same_cost, margin)
    sentences += _describe(by_search, stopping, pays)
    return Trajectories(by_search, stopping, same_cost, cells, " ".join(sentences))


# ---- searches and judgments


def _arrange(table: pd.DataFrame, qrels: Qrels, k: int | None, topic: Mapping[str, str]) -> Searches:
    """Return the searches of the judged trajectories as arrays, with their judgments; warn of the others."""
    rows = make_judgments(qrels_columns(qrels))
    judgments = pd.DataFrame({"key": rows.query_ids[rows.query], "doc_id": rows.ids.strings()})
    judgments["grade"] = rows.grade.astype(float)  # NaN will be an unjudged document
    judged, trajectories = set(judgments["key"]), list(dict.fromkeys(table["query_id"]))
    key_by_id = {i: i if i in judged else topic.get(i, i) for i in trajectories}
    unjudged = [i for i in trajectories if key_by_id[i] not in judged]
    if len(unjudged) == len(trajectories):
        raise ValueError(
            f"no trajectory is judged: the searches have {first_ids(unjudged)}, the qrels have "
            f"{first_ids(sorted(judged))}; number them alike, or map trajectories to topics with topic="
        )
    if unjudged:
        warn(
            f"{len(unjudged)} of {len(trajectories)} trajectories have no judgments and are left out: {few(unjudged)}; "
            "judge them"
        )
    table = table[table["query_id"].map(key_by_id).isin(judged)]
    trajectory, ids = pd.factorize(table["query_id"])
    numbers = table["search"].groupby(trajectory).agg(["min", "max"])
    first, last = numbers["min"].to_numpy(), numbers["max"].to_numpy()
    start = np.cumsum(last - first + 1) - (last - first + 1)
    cell = start[trajectory] + table["search"].to_numpy() - first[trajectory]
    table = table.assign(trajectory=trajectory, key=table["query_id"].map(key_by_id), cell=cell)
    table = table[(table["doc_id"] != "") & (table["position"] < (np.inf if k is None else k))]
    table = table.merge(judgments, on=["key", "doc_id"], how="left", sort=False)
    table["first_search"] = table.groupby(["trajectory", "doc_id"], sort=False)["search"].transform("min")
    keys = [key_by_id[i] for i in ids]
    n_relevant_by_key = judgments[judgments["grade"] >= 1].groupby("key").size()
    n_relevant = pd.Series(keys).map(n_relevant_by_key).fillna(0).to_numpy(dtype=np.int64)
    topics = pd.factorize(pd.Series([topic.get(i, key_by_id[i]) for i in ids]))[0]
    return Searches(list(ids), topics, first, last, start, table, n_relevant, judgments, keys)


def _score_cells(shown: Searches, measure: Any) -> pd.DataFrame:
    """Return the values of every trajectory and search."""
    rows, trajectory = shown.rows, shown.trajectory
    new = shown.count((rows["grade"] >= 1) & shown.is_new)
    is_left = shown.n_relevant[trajectory] - shown.relevant_shown + new > 0
    return pd.DataFrame(
        {
            "query_id": np.asarray(shown.ids, dtype=object)[trajectory],
            "topic": shown.topic[trajectory],
            "search": shown.search,
            "shown": shown.count(slice(None)),
            "new_relevant": new,
            "repeated": shown.count(~shown.is_new),
            "unjudged": shown.count(rows["grade"].isna()),
            str(measure): np.where(is_left, _score_nrg(shown, measure), np.nan),
            "nothing_new": is_left & (new == 0),
            "nothing_left": ~is_left,
            "found": shown.relevant_shown,
            "last": shown.last[trajectory],
        }
    )


def _score_nrg(shown: Searches, measure: Any) -> FloatArray:
    """Return the NRG of each cell, given the earlier searches of the trajectory."""
    rows = shown.rows.assign(score=-shown.rows["position"].astype(float))
    columns = ["query_id", "doc_id", "score"]
    runs = {f"search {step}": of_search[columns] for step, of_search in rows.groupby("search")}
    values = np.zeros(len(shown.search))
    if not runs:
        return values
    keys = pd.DataFrame({"query_id": shown.ids, "key": shown.keys})
    judgments = keys.merge(shown.judgments, on="key", sort=False)[["query_id", "doc_id", "grade"]]
    judgments = judgments.rename(columns={"grade": "relevance"}).astype({"relevance": int})
    with warnings.catch_warnings():  # a trajectory that had ended lacks its topic, and is counted as such
        warnings.simplefilter("ignore", RelativeWarning)
        table = RunContext(runs, priors="earlier").evaluate(judgments, [measure], perquery=True)
    trajectory = table["query_id"].map({query: i for i, query in enumerate(shown.ids)}).to_numpy()
    search = table["name"].str.removeprefix("search ").astype(np.int64).to_numpy()
    is_made = (shown.first[trajectory] <= search) & (search <= shown.last[trajectory])
    cell = (shown.start - shown.first)[trajectory] + search
    values[cell[is_made]] = table["value"].to_numpy()[is_made]
    return values


# ---- means by search


def _average_by_search(cells: pd.DataFrame, measure: str, pays: float | None) -> pd.DataFrame:
    in_first = cells[cells["search"] == 1].set_index("query_id")["new_relevant"]
    rows = []
    for step, of_search in cells.groupby("search"):
        lower, upper = _resample_interval(of_search)
        n_shown = of_search["shown"].sum() or np.nan
        row: dict[str, Any] = {
            "search": step,
            "trajectories": len(of_search),
            "new_relevant": of_search["new_relevant"].mean(),
            "ci_lower": lower,
            "ci_upper": upper,
            "in_search_1": of_search["query_id"].map(in_first).mean(),
            "repeated": of_search["repeated"].sum() / n_shown,
            "unjudged": of_search["unjudged"].sum() / n_shown,
            measure: of_search[measure].mean(),
            "nothing_new": int(of_search["nothing_new"].sum()),
            "nothing_left": int(of_search["nothing_left"].sum()),
        }
        if pays is not None:
            row["pays"] = "yes" if lower >= pays else "no" if upper < pays else "open"
        rows.append(row)
    return pd.DataFrame(rows)


def _resample_interval(of_search: pd.DataFrame) -> tuple[float, float]:
    """Return the percentile interval of the mean of new relevant documents, topics drawn with replacement."""
    by_topic = of_search.groupby("topic")["new_relevant"].agg(["sum", "size"])
    if len(by_topic) < FEWEST_DIFFERING:
        return np.nan, np.nan
    counts = topic_counts(_RESAMPLES, len(by_topic), 0).astype(np.float64)
    means = counts @ by_topic["sum"].to_numpy() / (counts @ by_topic["size"].to_numpy())
    low, high = np.quantile(means, [(1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2])
    return float(low), float(high)


def _average_stopping(cells: pd.DataFrame) -> pd.DataFrame:
    in_the_end = cells.groupby("query_id")["found"].transform("max")
    went_on = cells[(cells["last"] > cells["search"]) & (in_the_end > 0)]
    share = (went_on["found"] / in_the_end[went_on.index]).groupby(went_on["search"])
    table = pd.DataFrame({"trajectories": share.size(), "found_by_then": share.mean()})
    return table.rename_axis("search").reset_index()


# ---- the text


def _describe(by_search: pd.DataFrame, stopping: pd.DataFrame, pays: float | None) -> list[str]:
    further = by_search[by_search["search"] > 1]
    if further.empty:
        return ["No trajectory has a second search, so there is nothing to compare."]
    second = further.to_dict("records")[0]  # a Series would make all of it floats
    interval = ""
    if not np.isnan(second["ci_lower"]):
        interval = f", 95 % interval {number(second['ci_lower'])} to {number(second['ci_upper'])}"
    sentences = [
        f"Search {second['search']} brought {number(second['new_relevant'])} new relevant documents on average "
        f"({_count_trajectories(second['trajectories'])}{interval}), after {number(second['in_search_1'])} in search 1 "
        "of the same ones."
    ]
    for row in stopping[stopping["trajectories"] > 0].head(3).tail(1).to_dict("records"):
        sentences.append(
            f"Of what the {_count_trajectories(row['trajectories'])} that went on past search {row['search']} found in "
            f"the end, {100 * row['found_by_then']:.0f} % had been found by then."
        )
    if pays is not None:
        words = {"yes": "worth it", "no": "not worth it", "open": "undecided"}
        searches = {kind: further["search"][further["pays"] == kind].tolist() for kind in words}
        parts = [f"{words[kind]}: {_name_searches(steps)}" for kind, steps in searches.items() if steps]
        sentences.append(f"At {number(pays)} new relevant documents for a search: {'; '.join(parts)}.")
    return sentences


#: On the searches of each verdict.
_SAME_COST = {
    GO_ON: "Going on to {searches} found more than reading search 1 as deep.",
    READ_DEEPER: "At {searches}, going on found at most {margin} more of the relevant documents than reading search 1 "
    "as deep: read deeper, with fewer searches.",
    UNDECIDED: "{Searches}: undecided at this number of topics.",
    None: "{Searches}: unjudged documents decide; judge them, or set labels='judged'.",
}


def _describe_same_cost(same_cost: pd.DataFrame, margin: float) -> list[str]:
    verdicts = same_cost["verdict"].astype(object).where(same_cost["verdict"].notna(), None)
    sentences = []
    for verdict, sentence in _SAME_COST.items():
        steps = [step for step, other in zip(same_cost["search"], verdicts, strict=True) if other == verdict]
        if steps:
            words = {"searches": _name_searches(steps), "margin": number(margin)}
            sentences.append(sentence.format(**words, Searches=words["searches"].capitalize()))
    return sentences or [
        "No trajectory has a second search and a relevant document, so costs are not compared."
    ]


def _name_searches(numbers: Sequence[int]) -> str:
    """Return the numbers of some searches in words, such as "searches 2 to 4, 6"."""
    ranges: list[list[int]] = []
    for step in numbers:
        if ranges and ranges[-1][-1] == step - 1:
            ranges[-1].append(step)
        else:
            ranges.append([step])
    texts = [f"{steps[0]} to {steps[-1]}" if len(steps) > 1 else str(steps[0]) for steps in ranges]
    return f"search{'' if len(numbers) == 1 else 'es'} {', '.join(texts)}"


def _count_trajectories(count: int) -> str:
    return f"{count} trajector{'y' if count == 1 else 'ies'}"
