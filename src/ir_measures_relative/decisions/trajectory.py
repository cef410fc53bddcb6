"""What each further search of an agent, or of a user in a session, was worth."""

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
from ..messages import RelativeWarning, few, some, warn
from ..stats.intervals import FEWEST_DIFFERING, topic_counts
from .rule import number
from .same_cost import GO_ON, READ_DEEPER, UNDECIDED, Searches, compare_at_same_cost, read_as_deep

#: Resamples of an interval, and its confidence; that of all comparisons at the same cost together.
_RESAMPLES, _CONFIDENCE = 1999, 0.95


@dataclass(frozen=True, eq=False)
class Trajectories:
    """The answer of :func:`trajectory`. ``print`` shows the text and the tables."""

    searches: pd.DataFrame  #: a row per search number; :func:`trajectory` names the columns
    stopping: (
        pd.DataFrame
    )  #: ``search``, ``trajectories``, ``found_by_then``: the share of what was found in the end
    #: ``search``, ``trajectories``, ``go_on`` and ``read_deeper`` (shares of the relevant documents that are found),
    #: ``difference``, ``lower``, ``regret_deeper``, ``regret_go_on``, ``labels``, ``verdict``; None without ``deeper``
    same_cost: pd.DataFrame | None
    cells: (
        pd.DataFrame
    )  #: a row per trajectory and search, from which the means are made; ``found`` is cumulative
    text: str  #: the answer in sentences

    def __str__(self) -> str:
        tables = [self.searches, self.stopping, *([] if self.same_cost is None else [self.same_cost])]
        shown = [
            table.to_string(index=False, float_format="%.3f", na_rep="") for table in tables if len(table)
        ]
        return "\n\n".join([self.text, *shown])


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
    """Say what each further search brought that the earlier ones of the same trajectory had not.

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
    for name, number_given in (("margin", margin), ("pays", 0.0 if pays is None else pays)):
        if not (isinstance(number_given, (int, float)) and 0 <= number_given < np.inf):
            raise ValueError(f"{name}={number_given!r} is not allowed; give a number from 0 on")
    shown = _arrange(read_searches(searches), qrels, k, dict(topic or {}))
    measure = NRG(norm="ideal") if k is None else NRG(norm="ideal") @ k
    cells = _score_cells(shown, measure)
    table, stopping, same_cost = _by_search(cells, str(measure), pays), _stopping(cells), None
    if deeper is not None:
        read_deeper = read_as_deep(shown, deeper)
        cells["found_deeper"] = np.where(shown.first[shown.trajectory] == 1, read_deeper.found, np.nan)
        same_cost = compare_at_same_cost(shown, read_deeper, margin, labels)
    return Trajectories(
        table, stopping, same_cost, cells, _describe(table, stopping, same_cost, margin, pays)
    )


# ---- searches and judgments


def _arrange(table: pd.DataFrame, qrels: Qrels, k: int | None, topic: Mapping[str, str]) -> Searches:
    """Return the searches of the judged trajectories as arrays, with their judgments; warn of the others."""
    judged_rows = make_judgments(qrels_columns(qrels))
    judgments = pd.DataFrame(
        {
            "key": judged_rows.query_ids[judged_rows.query],
            "doc_id": judged_rows.ids.strings(),
            "grade": judged_rows.grade.astype(float),  # NaN will be an unjudged document
        }
    )
    judged, trajectories = set(judgments["key"]), list(dict.fromkeys(table["query_id"]))
    keys = {i: i if i in judged else topic.get(i, i) for i in trajectories}
    lost = [i for i in trajectories if keys[i] not in judged]
    if len(lost) == len(trajectories):
        raise ValueError(
            f"no trajectory is judged: the searches have {some(lost)}, the qrels have {some(sorted(judged))}; number "
            "them alike, or map trajectories to topics with topic="
        )
    if lost:
        warn(
            f"{len(lost)} of {len(trajectories)} trajectories have no judgments and are left out: {few(lost)}; "
            "judge them"
        )
    table = table[table["query_id"].map(keys).isin(judged)]
    code, ids = pd.factorize(table["query_id"])
    search = table["search"].to_numpy()
    first, last = np.full(len(ids), np.iinfo(np.int64).max), np.zeros(len(ids), dtype=np.int64)
    np.minimum.at(first, code, search)
    np.maximum.at(last, code, search)
    length = last - first + 1
    start = np.cumsum(length) - length
    rows = table.assign(
        trajectory=code, key=table["query_id"].map(keys), cell=start[code] + search - first[code]
    )
    rows = rows[(rows["doc_id"] != "") & (rows["position"] < (np.inf if k is None else k))]
    rows = rows.merge(judgments, on=["key", "doc_id"], how="left", sort=False)
    rows["first_search"] = rows.groupby(["trajectory", "doc_id"], sort=False)["search"].transform("min")
    of_key = judgments[judgments["grade"] >= 1].groupby("key").size()
    relevant = pd.Series([keys[i] for i in ids]).map(of_key).fillna(0).to_numpy(dtype=np.int64)
    topics = pd.factorize(pd.Series([topic.get(i, keys[i]) for i in ids]))[0]
    own_keys = [keys[i] for i in ids]
    return Searches(list(ids), topics, first, last, start, rows, relevant, judgments, own_keys)


def _copy_judgments(shown: Searches) -> pd.DataFrame:
    """Return the judgments of every trajectory under its own id."""
    own = pd.DataFrame({"query_id": shown.ids, "key": shown.keys})
    merged = own.merge(shown.judgments, on="key", how="left", sort=False)
    return merged.assign(relevance=merged["grade"].astype(int))[["query_id", "doc_id", "relevance"]]


def _score_cells(shown: Searches, measure: Any) -> pd.DataFrame:
    """Return the values of every trajectory and search."""
    rows = shown.rows
    new = shown.count((rows["grade"] >= 1) & shown.is_new)
    left = shown.relevant[shown.trajectory] - shown.found + new > 0
    cells = pd.DataFrame(
        {
            "query_id": np.asarray(shown.ids, dtype=object)[shown.trajectory],
            "topic": shown.topic[shown.trajectory],
            "search": shown.search,
            "shown": shown.count(slice(None)),
            "new_relevant": new,
            "repeated": shown.count(~shown.is_new),
            "unjudged": shown.count(rows["grade"].isna()),
            str(measure): _nrg(shown, measure),
            "nothing_new": left & (new == 0),
            "nothing_left": ~left,
            "found": shown.found,
            "last": shown.last[shown.trajectory],
        }
    )
    cells.loc[~left, str(measure)] = np.nan
    return cells


def _nrg(shown: Searches, measure: Any) -> FloatArray:
    rows = shown.rows.assign(score=-shown.rows["position"].astype(float))
    of_search = dict(iter(rows.groupby("search")))
    columns = ["query_id", "doc_id", "score"]
    runs = {f"search {step}": of_search[step][columns] for step in sorted(of_search)}
    if not runs:
        return np.zeros(len(shown.search))
    with warnings.catch_warnings():  # a trajectory that had ended lacks its topic, and is counted as such
        warnings.simplefilter("ignore", RelativeWarning)
        values = RunContext(runs, priors="earlier").evaluate(_copy_judgments(shown), [measure], perquery=True)
    at = pd.MultiIndex.from_arrays([shown.trajectory, shown.search])
    search = values["name"].str.removeprefix("search ").astype(np.int64)
    trajectory_ = values["query_id"].map({query: i for i, query in enumerate(shown.ids)})
    indexed = pd.Series(values["value"].to_numpy(), index=pd.MultiIndex.from_arrays([trajectory_, search]))
    result: FloatArray = indexed.reindex(at).fillna(0.0).to_numpy()
    return result


# ---- means by search


def _by_search(cells: pd.DataFrame, measure: str, pays: float | None) -> pd.DataFrame:
    in_first = cells[cells["search"] == 1].set_index("query_id")["new_relevant"]
    table = []
    for step, of_search in cells.groupby("search"):
        slots, lower, upper = of_search["shown"].sum(), *_interval(of_search)
        row: dict[str, Any] = {
            "search": step,
            "trajectories": len(of_search),
            "new_relevant": of_search["new_relevant"].mean(),
            "ci_lower": lower,
            "ci_upper": upper,
            "in_search_1": of_search["query_id"].map(in_first).mean(),
            "repeated": of_search["repeated"].sum() / slots if slots else np.nan,
            "unjudged": of_search["unjudged"].sum() / slots if slots else np.nan,
            measure: of_search[measure].mean(),
            "nothing_new": int(of_search["nothing_new"].sum()),
            "nothing_left": int(of_search["nothing_left"].sum()),
        }
        if pays is not None:
            row["pays"] = "yes" if lower >= pays else "no" if upper < pays else "open"
        table.append(row)
    return pd.DataFrame(table)


def _interval(of_search: pd.DataFrame) -> tuple[float, float]:
    """Return the percentile interval of the mean of new relevant documents, topics drawn with replacement."""
    by_topic = of_search.groupby("topic")["new_relevant"].agg(["sum", "size"])
    if len(by_topic) < FEWEST_DIFFERING:
        return np.nan, np.nan
    counts = topic_counts(_RESAMPLES, len(by_topic), 0).astype(np.float64)
    means = counts @ by_topic["sum"].to_numpy() / (counts @ by_topic["size"].to_numpy())
    low, high = np.quantile(means, [(1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2])
    return float(low), float(high)


def _stopping(cells: pd.DataFrame) -> pd.DataFrame:
    in_the_end = cells.groupby("query_id")["found"].transform("max")
    went_on = cells[(cells["last"] > cells["search"]) & (in_the_end > 0)]
    share = (went_on["found"] / in_the_end[went_on.index]).groupby(went_on["search"])
    return (
        pd.DataFrame({"trajectories": share.size(), "found_by_then": share.mean()})
        .rename_axis("search")
        .reset_index()
    )


# ---- the text


def _describe(
    table: pd.DataFrame,
    stopping: pd.DataFrame,
    same_cost: pd.DataFrame | None,
    margin: float,
    pays: float | None,
) -> str:
    sentences = [] if same_cost is None else _describe_same_cost(same_cost, margin)
    further = table[table["search"] > 1]
    for row in further.head(1).to_dict("records"):
        ends = (
            ""
            if np.isnan(row["ci_lower"])
            else f", 95 % interval {number(row['ci_lower'])} to {number(row['ci_upper'])}"
        )
        sentences.append(
            f"Search {row['search']} brought {number(row['new_relevant'])} new relevant documents on average "
            f"({_trajectories(row['trajectories'])}{ends}), after {number(row['in_search_1'])} in "
            "search 1 of the same ones."
        )
    if further.empty:
        sentences.append("No trajectory has a second search, so there is nothing to compare.")
    for row in stopping[stopping["trajectories"] > 0].head(3).tail(1).to_dict("records"):
        sentences.append(
            f"Of what the {_trajectories(row['trajectories'])} that went on past search {row['search']} found in "
            f"the end, {100 * row['found_by_then']:.0f} % had been found by then."
        )
    if pays is not None:
        said = {"yes": "worth it: ", "no": "not worth it: ", "open": "undecided: "}
        parts = [
            said[kind] + _numbered(further["search"][further["pays"] == kind].tolist())
            for kind in said
            if (further["pays"] == kind).any()
        ]
        sentences.append(f"At {number(pays)} new relevant documents for a search: {'; '.join(parts)}.")
    return " ".join(sentences)


def _describe_same_cost(same_cost: pd.DataFrame, margin: float) -> list[str]:
    verdicts = same_cost["verdict"].map(lambda verdict: "none" if verdict is None else verdict)
    numbers = {
        kind: same_cost["search"][verdicts == kind].tolist()
        for kind in (GO_ON, READ_DEEPER, UNDECIDED, "none")
    }
    parts = []
    if numbers[GO_ON]:
        parts.append(f"Going on to {_numbered(numbers[GO_ON])} found more than reading search 1 as deep.")
    if numbers[READ_DEEPER]:
        parts.append(
            f"At {_numbered(numbers[READ_DEEPER])}, going on found at most {number(margin)} more of the relevant "
            "documents than reading search 1 as deep: read deeper, with fewer searches."
        )
    if numbers[UNDECIDED]:
        parts.append(f"{_numbered(numbers[UNDECIDED]).capitalize()}: undecided at this number of topics.")
    if numbers["none"]:
        parts.append(
            f"{_numbered(numbers['none']).capitalize()}: unjudged documents decide; judge them, or set labels='judged'."
        )
    return parts or ["No trajectory has a second search and a relevant document, so costs are not compared."]


def _numbered(numbers: Sequence[int]) -> str:
    runs: list[list[int]] = []
    for value in numbers:
        if runs and runs[-1][-1] == value - 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    texts = [str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]
    return f"search{'' if len(numbers) == 1 else 'es'} {', '.join(texts)}"


def _trajectories(count: int) -> str:
    return f"{count} trajector{'y' if count == 1 else 'ies'}"
