"""Search again, or read the first search deeper: compared at the same number of distinct documents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..context.run_context import RunContext
from ..data.arrays import FloatArray, IntArray
from ..formats.searches import read_searches
from ..stats.intervals import FEWEST_DIFFERING
from ..stats.regret import OptionBounds, option_bounds
from .rule import OPEN, decide_by

READ_DEEPER, GO_ON, UNDECIDED = "read deeper", "go on", "open"
# The confidence that all comparisons hold together.
_CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Searches:
    """The searches as arrays: the cells of each trajectory are its searches, from its first to its last."""

    ids: list[str]  #: of the trajectories
    topic: IntArray  #: the number of the topic of each trajectory
    first: IntArray  #: the number of the first recorded search of each trajectory
    last: IntArray
    start: IntArray  #: the first cell of each trajectory
    #: ``trajectory``, ``search``, ``doc_id``, ``position``, ``key``, ``grade``, ``cell``, ``first_search``
    rows: pd.DataFrame
    n_relevant: IntArray  #: the number of documents judged relevant, of each trajectory
    judgments: pd.DataFrame  #: ``key``, ``doc_id``, ``grade``
    keys: list[str]  #: the query id of each trajectory in the judgments: its id, or its topic

    @cached_property
    def trajectory(self) -> IntArray:
        """The trajectory of each cell."""
        return np.repeat(np.arange(len(self.ids)), self.last - self.first + 1)

    @cached_property
    def search(self) -> IntArray:
        """The search number of each cell."""
        return np.arange(len(self.trajectory)) - (self.start - self.first)[self.trajectory]

    @cached_property
    def is_new(self) -> pd.Series:
        """Whether no earlier search of the trajectory showed the document of a row."""
        return self.rows["search"] == self.rows["first_search"]

    @cached_property
    def relevant_shown(self) -> IntArray:
        """The number of relevant documents that the searches up to each cell show."""
        return self.cumulate(self.count((self.rows["grade"] >= 1) & self.is_new))

    def count(self, which: Any) -> IntArray:
        """Return how many of these rows each cell has."""
        return np.bincount(self.rows["cell"][which], minlength=len(self.trajectory))

    def cumulate(self, counts: IntArray) -> IntArray:
        """Return the sums from the first search of the trajectory up to each cell."""
        total = np.cumsum(counts)
        return total - (total[self.start] - counts[self.start])[self.trajectory]


class DeeperReading(NamedTuple):
    """The documents of search 1, read to as many distinct documents as the searches up to each cell show."""

    relevant: IntArray  #: how many of the documents read are judged relevant
    unjudged: IntArray
    shared_unjudged: IntArray  #: how many of the unjudged ones the searches also show


def read_deeper(shown: Searches, deeper: Any) -> DeeperReading:
    """Read search 1 to as many distinct documents as the searches up to each cell show.

    Raises:
        ValueError: a ranking of search 1 that is too short.
    """
    n_shown = shown.cumulate(shown.count(shown.is_new))
    table = read_searches(RunContext({"deeper": deeper}))
    lists = table[table["doc_id"] != ""].sort_values("position").groupby("query_id")["doc_id"].agg(list)
    grades = shown.judgments.set_index(["key", "doc_id"])["grade"].to_dict()
    first_searches = shown.rows.groupby(["trajectory", "doc_id"])["first_search"].first().to_dict()
    reading = DeeperReading(*np.zeros((3, len(n_shown)), dtype=np.int64))
    for i in np.flatnonzero(shown.first == 1).tolist():
        cells = range(shown.start[i], shown.start[i] + shown.last[i])
        documents: list[str] = next((lists[key] for key in (shown.ids[i], shown.keys[i]) if key in lists), [])
        if len(documents) < (depth := n_shown[cells[-1]]):
            raise ValueError(
                f"deeper= has {len(documents)} documents for topic {shown.ids[i]!r}, whose searches show {depth} "
                "different ones; read search 1 at least as deep"
            )
        grade = np.array([grades.get((shown.keys[i], doc), np.nan) for doc in documents], dtype=float)
        first_search = np.array([first_searches.get((i, doc), np.inf) for doc in documents])
        for cell in cells:
            read = slice(0, n_shown[cell])
            is_unjudged = np.isnan(grade[read])
            reading.relevant[cell] = (grade[read] >= 1).sum()
            reading.unjudged[cell] = is_unjudged.sum()
            reading.shared_unjudged[cell] = (is_unjudged & (first_search[read] <= shown.search[cell])).sum()
    return reading


def largest_difference(difference: Any, relevant: Any, unshared: Any, shared: Any) -> FloatArray:
    """Return the largest difference of two shares of the relevant documents over all labels of unjudged ones.

    The first list has ``difference`` judged relevant documents more than the second, of ``relevant`` in all. Its
    ``unshared`` unjudged documents are relevant; the ``shared`` ones are where that brings a negative difference
    nearer to 0; those of the second list alone are not.
    """
    most = np.asarray(difference, dtype=float) + unshared
    return most / (np.asarray(relevant) + unshared + np.where(most < 0, shared, 0))


def compare_at_same_cost(
    shown: Searches, deeper: DeeperReading, margin: float, labels: str | None
) -> pd.DataFrame:
    """Compare searches 1 … t with search 1, read to as many distinct documents, for every t from 2 on.

    Args:
        shown: the searches; trajectories count that reach t and have a relevant document, if their first search is
            recorded.
        deeper: search 1 as :func:`read_deeper` returns it.
        margin: the smallest difference of the share of the relevant documents that matters.
        labels: see :func:`.trajectory`.

    Returns:
        a row for each t; :class:`.Trajectories` names the columns. The bounds of all t hold together, each with
        1 - 0.05 / number of t (Bonferroni); topics are the unit, each with the mean of its trajectories.
    """
    unjudged = shown.cumulate(shown.count(shown.is_new & shown.rows["grade"].isna()))
    trajectory, relevant = shown.trajectory, shown.n_relevant[shown.trajectory]
    counts = (shown.first[trajectory] == 1) & (relevant > 0) & (shown.search > 1)
    cells_by_search = {
        t: np.flatnonzero(counts & (shown.search == t)) for t in np.unique(shown.search[counts]).tolist()
    }
    topics_by_search = {t: shown.topic[trajectory[cells]] for t, cells in cells_by_search.items()}
    n_bounded = sum(len(np.unique(topics)) >= FEWEST_DIFFERING for topics in topics_by_search.values())
    confidence = 1 - (1 - _CONFIDENCE) / max(n_bounded, 1)
    rows = []
    for t, at in cells_by_search.items():
        topics, shared = topics_by_search[t], deeper.shared_unjudged[at]
        more = shown.relevant_shown[at] - deeper.relevant[at]
        largest = np.zeros((2, 2, len(at)))
        largest[1, 0] = largest_difference(more, relevant[at], unjudged[at] - shared, shared)
        largest[0, 1] = largest_difference(-more, relevant[at], deeper.unjudged[at] - shared, shared)
        shares = _topic_means(
            np.array([deeper.relevant[at], shown.relevant_shown[at]]) / relevant[at], topics
        )
        judged = option_bounds(shares, (-1.0, 1.0), confidence=confidence)
        most = _topic_means(largest, topics)
        strict = option_bounds(most, (-1.0, 1.0), strictly=True, confidence=confidence)
        all_judged = not (unjudged[at].any() or deeper.unjudged[at].any())
        used, verdict = _choose_verdict(judged, strict, margin, "judged" if all_judged else labels)
        bounds = strict if used == "strict" else judged
        lower, *regret = (np.nan,) * 3 if bounds is None else (bounds.gain[1], *bounds.regret)
        read_on, go_on = shares.mean(axis=1)
        rows.append((t, len(at), go_on, read_on, go_on - read_on, lower, *regret, used, verdict))
    columns = ["search", "trajectories", "go_on", "read_deeper", "difference", "lower", "regret_deeper"]
    return pd.DataFrame(rows, columns=[*columns, "regret_go_on", "labels", "verdict"])


def _topic_means(values: FloatArray, topics: IntArray) -> FloatArray:
    """Return the mean of each topic's trajectories, along the last axis."""
    code = np.unique(topics, return_inverse=True)[1]
    sums = np.apply_along_axis(lambda row: np.bincount(code, row), -1, values)
    return sums / np.bincount(code)


def _choose_verdict(
    judged: OptionBounds | None, strict: OptionBounds | None, margin: float, labels: str | None
) -> tuple[str, str | None]:
    """Return the labels used, and the verdict by the rule on regret; None where unjudged documents decide."""
    names = {0: READ_DEEPER, 1: GO_ON, OPEN: UNDECIDED}
    as_judged, strictly = (names[decide_by(bounds, [1, 2], margin).verdict] for bounds in (judged, strict))
    if labels == "judged":
        return "judged", as_judged
    if labels == "strict" or strictly != UNDECIDED:
        return "strict", strictly
    return "judged", None
