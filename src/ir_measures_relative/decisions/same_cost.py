"""Search again, or read the first search deeper: compared at the same number of distinct documents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..context.run_context import RunContext
from ..data.arrays import BoolArray, FloatArray, IntArray
from ..formats.searches import read_searches
from ..stats.intervals import FEWEST_DIFFERING
from ..stats.regret import OptionBounds, option_bounds, strict_option_bounds
from .rule import OPEN, decide_by

READ_DEEPER, GO_ON, UNDECIDED = "read deeper", "go on", "open"
# Of all comparisons together.
_CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Searches:
    """The searches as arrays: of every trajectory its searches, from its first to its last."""

    ids: list[str]  #: of the trajectories
    topic: IntArray  #: of each trajectory, a number
    first: IntArray  #: the number of the first recorded search of each trajectory
    last: IntArray
    start: IntArray  #: of each trajectory's cells, which follow each other
    #: ``trajectory``, ``search``, ``doc_id``, ``position``, ``key``, ``grade``, ``cell``, ``first_search``
    rows: pd.DataFrame
    relevant: IntArray  #: the number of documents judged relevant, of each trajectory
    judgments: pd.DataFrame  #: ``key``, ``doc_id``, ``grade``
    keys: list[str]  #: by what the qrels call each trajectory: its id, or its topic

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
    def found(self) -> IntArray:
        """The number of relevant documents that the searches up to each cell show."""
        return self.cumulate(self.count((self.rows["grade"] >= 1) & self.is_new))

    def count(self, of_rows: Any) -> IntArray:
        """Return how many of these rows each cell has."""
        return np.bincount(self.rows["cell"][of_rows], minlength=len(self.trajectory))

    def cumulate(self, counts: IntArray) -> IntArray:
        """Return the sums from the first search of the trajectory up to each cell."""
        total = np.cumsum(counts)
        return total - (total[self.start] - counts[self.start])[self.trajectory]


def largest_difference(difference: Any, relevant: Any, own: Any, shared: Any) -> FloatArray:
    """Return the largest difference of two shares of the relevant documents over all labels of unjudged ones.

    Of two lists, the first of which holds ``difference`` judged relevant documents more, of ``relevant`` in all. Its
    ``own`` unjudged documents are relevant; the ``shared`` ones are where that brings a negative difference
    nearer to 0; those of the other list are not.
    """
    most = np.asarray(difference, dtype=float) + own
    result: FloatArray = most / (np.asarray(relevant) + own + np.where(most < 0, shared, 0))
    return result


def compare_at_same_cost(
    shown: Searches, read_deeper: ReadAsDeep, margin: float, labels: str | None
) -> pd.DataFrame:
    """Compare searches 1 … t with search 1, read to as many distinct documents, for every t from 2 on.

    Args:
        shown: the searches; trajectories count that reach t and have a relevant document, if their first search is
            recorded.
        read_deeper: what search 1 holds; see :func:`read_as_deep`.
        margin: the smallest difference of the share of the relevant documents that matters.
        labels: see :func:`.trajectory`.

    Returns:
        a row for each t; :class:`.Trajectories` names the columns. The bounds of all t hold together, each with
        1 - 0.05 / number of t (Bonferroni); topics are the unit, each with the mean of its trajectories.
    """
    unjudged = shown.cumulate(shown.count(shown.is_new & shown.rows["grade"].isna()))
    cell, relevant = shown.trajectory, shown.relevant[shown.trajectory]
    counted = (shown.first[cell] == 1) & (relevant > 0) & (shown.search > 1)
    cells_of = {
        t: np.flatnonzero(counted & (shown.search == t)) for t in np.unique(shown.search[counted]).tolist()
    }
    topics_of = {t: shown.topic[cell[at]] for t, at in cells_of.items()}
    family = sum(len(np.unique(topics)) >= FEWEST_DIFFERING for topics in topics_of.values())
    confidence = 1 - (1 - _CONFIDENCE) / max(family, 1)
    table = []
    for t, at in cells_of.items():
        topics, both = topics_of[t], read_deeper.shared_unjudged[at]
        shares = _by_topic(np.array([read_deeper.found[at], shown.found[at]]) / relevant[at], topics)
        difference = shown.found[at] - read_deeper.found[at]
        extremes = np.zeros((2, 2, len(at)))
        extremes[1, 0] = largest_difference(difference, relevant[at], unjudged[at] - both, both)
        extremes[0, 1] = largest_difference(-difference, relevant[at], read_deeper.unjudged[at] - both, both)
        by_judgments = option_bounds(shares, (-1.0, 1.0), confidence=confidence)
        strict = strict_option_bounds(_by_topic(extremes, topics), (-1.0, 1.0), confidence=confidence)
        all_judged = not (unjudged[at].any() or read_deeper.unjudged[at].any())
        used, verdict = _verdict(by_judgments, strict, margin, "judged" if all_judged else labels)
        bounds = strict if used == "strict" else by_judgments
        lower, *regret = (np.nan,) * 3 if bounds is None else (bounds.gain[1], *bounds.regret)
        deep, on = shares.mean(axis=1)
        table.append((t, len(at), on, deep, on - deep, lower, *regret, used, verdict))
    columns = ["search", "trajectories", "go_on", "read_deeper", "difference", "lower", "regret_deeper"]
    return pd.DataFrame(table, columns=[*columns, "regret_go_on", "labels", "verdict"])


def _by_topic(values: FloatArray, topics: IntArray) -> FloatArray:
    """Return the mean of each topic's trajectories, along the last axis."""
    code = np.unique(topics, return_inverse=True)[1]
    sums = np.apply_along_axis(lambda row: np.bincount(code, row), -1, values)
    means: FloatArray = sums / np.bincount(code)
    return means


def _verdict(
    judged: OptionBounds | None, strict: OptionBounds | None, margin: float, labels: str | None
) -> tuple[str, str | None]:
    """Return the labels that are used, and the verdict by the rule on regret; None where unjudged documents decide."""
    names = {0: READ_DEEPER, 1: GO_ON, OPEN: UNDECIDED}
    by_judgments, at_worst = (names[decide_by(bounds, [1, 2], margin).verdict] for bounds in (judged, strict))
    if labels == "judged":
        return "judged", by_judgments
    if labels == "strict" or at_worst != UNDECIDED:
        return "strict", at_worst
    return "judged", None


class ReadAsDeep(NamedTuple):
    """What search 1, read to as many distinct documents as the searches up to each cell show, holds."""

    found: IntArray  #: judged relevant
    unjudged: IntArray
    shared_unjudged: IntArray  #: also shown by the searches


def read_as_deep(shown: Searches, deeper: Any) -> ReadAsDeep:
    """Read search 1 to as many distinct documents as the searches up to each cell show.

    Raises:
        ValueError: a ranking of search 1 that is too short.
    """
    lists = shown.cumulate(shown.count(shown.is_new))
    table = read_searches(RunContext({"deeper": deeper}))
    judgments, keys = shown.judgments, shown.keys
    ranked, available = table.groupby("query_id"), set(table["query_id"])
    needed = {
        i: lists[end] for i, end in enumerate(shown.start + shown.last - shown.first) if shown.first[i] == 1
    }
    empty = table[:0]
    parts = [empty.assign(trajectory=np.empty(0, dtype=np.int64))]
    for i, depth in needed.items():
        own = next((key for key in (shown.ids[i], keys[i]) if key in available), None)
        rows = empty if own is None else ranked.get_group(own)
        if len(rows) < depth:
            raise ValueError(
                f"deeper= has {len(rows)} documents for topic {shown.ids[i]!r}, whose searches show {depth} different "
                "ones; read search 1 at least as deep"
            )
        parts.append(rows[rows["position"] < depth].assign(trajectory=i))
    rows = pd.concat(parts, ignore_index=True)
    rows = rows.assign(key=np.asarray(keys, dtype=object)[rows["trajectory"].to_numpy(dtype=np.int64)])
    rows = rows.merge(judgments, on=["key", "doc_id"], how="left", sort=False)
    seen = shown.rows[["trajectory", "doc_id", "first_search"]].drop_duplicates()
    rows = rows.merge(seen, on=["trajectory", "doc_id"], how="left", sort=False)
    trajectory_ = rows["trajectory"].to_numpy(dtype=np.int64)
    # The first search by which so many distinct documents had been shown that this one would have been read.
    step = len(lists) and int(lists.max()) + 1
    reached = np.searchsorted(
        shown.trajectory * step + lists, trajectory_ * step + rows["position"].to_numpy() + 1
    )
    own_first = (
        shown.start[trajectory_]
        + np.nan_to_num(rows["first_search"].to_numpy(dtype=float), nan=1).astype(int)
        - 1
    )
    relevant, unjudged = (rows["grade"] >= 1).to_numpy(), rows["grade"].isna().to_numpy()
    shared: BoolArray = unjudged & rows["first_search"].notna().to_numpy()

    def so_far(which: BoolArray, cell: IntArray) -> IntArray:
        return shown.cumulate(np.bincount(cell[which], minlength=len(lists)))

    return ReadAsDeep(
        so_far(relevant, reached), so_far(unjudged, reached), so_far(shared, np.maximum(reached, own_first))
    )
