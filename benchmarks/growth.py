"""How time grows with the runs, the topics, the depth, and the judged documents of a campaign.

The exponent of a growth is the slope of the line of least squares through the logarithms of sizes and CPU times: 1
where twice the size costs twice the time. What costs the same at any size makes it smaller.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from tqdm import tqdm

from benchmarks.campaign import make
from benchmarks.data import Frames
from benchmarks.timing import Side, interleaved
from ir_measures_relative import MED, NRG, RBO, P_Rareness, RunContext, rrLP, select_complementary, similarity

#: What the last step's exponent may be: of measures by runs, and of all pairs.
LIMIT, PAIRS_LIMIT = 1.15, 2.1
_REFERENCE = "run000"
_MEASURES = [NRG @ 10, NRG, P_Rareness @ 100, rrLP, MED(base="nDCG") @ 10, MED(base="RBP"), RBO]
_PAIRED = [rrLP, MED(base="nDCG") @ 10, MED(base="RBP"), RBO]
_LONG = 3.0  # seconds from which on one round is enough

Campaign = tuple[Frames, pd.DataFrame]


class Axis(NamedTuple):
    """The sizes of one dimension, and campaigns of these sizes."""

    name: str
    sizes: list[int]
    rest: str  #: what stays as it is
    campaigns: Callable[[Sequence[int]], Iterator[Campaign]]


class Growth(NamedTuple):
    """The CPU seconds of one kind of work at each size."""

    axis: str
    rest: str
    work: str
    sizes: list[int]
    seconds: list[float]
    limit: float

    @property
    def exponent(self) -> float:
        """The slope of log(seconds) over log(size)."""
        slope, _ = np.polyfit(np.log(self.sizes), np.log(self.seconds), 1)
        return float(slope)

    @property
    def last(self) -> float:
        """The slope from the last size but one to the last, where what costs the same at any size counts least."""
        return float(np.diff(np.log(self.seconds[-2:]))[0] / np.diff(np.log(self.sizes[-2:]))[0])


def axes(scale: str) -> list[Axis]:
    """The axes; all of the sizes with ``full``, and the smaller ones with ``quick``."""
    last = {"quick": -2, "default": None, "full": None}[scale]
    return [
        Axis("runs", [20, 40, 80, 160, 320][:last], "50 topics, 100 deep, 100 judged", _by_runs),
        Axis("topics", [100, 400, 1600, 6400, 20000][:last], "4 runs, 100 deep, 20 judged", _by_topics),
        Axis("depth", [50, 100, 200, 500, 1000][:last], "8 runs, 50 topics, 200 judged", _by_depth),
        Axis("judged a query", [10, 58, 342, 2000][:last], "16 runs, 50 topics, 1,000 deep", _by_judged),
    ]


def measure(scale: str) -> Iterator[Growth]:
    """Every kind of work on every axis, as it is done."""
    for axis in axes(scale):
        campaigns = dict(zip(axis.sizes, axis.campaigns(axis.sizes), strict=True))
        works: dict[str, tuple[Callable[..., Side], float, list[int]]] = {
            f"{m!r}": (lambda *c, m=m: _evaluate(*c, m), LIMIT, axis.sizes) for m in _MEASURES
        }
        if axis.name == "runs":
            few = axis.sizes if scale == "full" else axis.sizes[:3]
            works |= {
                f"{m!r} of all pairs": (lambda *c, m=m: _pairs(*c, m), PAIRS_LIMIT, few) for m in _PAIRED
            }
            works["select_complementary, all runs"] = _select_all, PAIRS_LIMIT, axis.sizes
        else:
            works["select_complementary, n=4"] = _select_some, LIMIT, axis.sizes
        for work, (side, limit, sizes) in tqdm(
            works.items(), desc=f"growth with the {axis.name}", leave=False, disable=None
        ):
            sides = {str(size): side(*campaigns[size]) for size in sizes}
            costs = interleaved(sides, 1)
            if sum(c.wall for c in costs.values()) < _LONG:
                again = interleaved(sides, 3)
                costs = {name: min(costs[name], again[name]) for name in sides}
            seconds = [costs[str(size)].cpu for size in sizes]
            yield Growth(axis.name, axis.rest, work, sizes, seconds, limit)


def _evaluate(frames: Frames, qrels: pd.DataFrame, measure: Any) -> Side:
    return lambda: RunContext(frames, reference=_REFERENCE).evaluate(qrels, [measure])


def _pairs(frames: Frames, qrels: pd.DataFrame, measure: Any) -> Side:
    return lambda: similarity(RunContext(frames), qrels, [measure])


def _select_all(frames: Frames, qrels: pd.DataFrame) -> Side:
    return lambda: select_complementary(RunContext(frames), qrels, len(frames))


def _select_some(frames: Frames, qrels: pd.DataFrame) -> Side:
    return lambda: select_complementary(RunContext(frames), qrels, 4)


def _by_runs(sizes: Sequence[int]) -> Iterator[Campaign]:
    frames, qrels = make(max(sizes), 50, 100, 100)
    for size in sizes:
        yield dict(itertools.islice(frames.items(), size)), qrels


def _by_topics(sizes: Sequence[int]) -> Iterator[Campaign]:
    frames, qrels = make(4, max(sizes), 100, 20)
    topics = qrels["query_id"].unique()
    for size in sizes:
        kept = qrels[qrels["query_id"].isin(topics[:size])]
        yield {name: frame.head(size * 100) for name, frame in frames.items()}, kept


def _by_depth(sizes: Sequence[int]) -> Iterator[Campaign]:
    deepest = max(sizes)
    frames, qrels = make(8, 50, deepest, 200)
    for size in sizes:
        yield {name: frame[np.arange(len(frame)) % deepest < size] for name, frame in frames.items()}, qrels


def _by_judged(sizes: Sequence[int]) -> Iterator[Campaign]:
    """The judged documents of a smaller campaign are some of those of a larger, of all positions and grades."""
    most = max(sizes)
    frames, qrels = make(16, 50, 1000, most)
    order = np.random.default_rng(8).permuted(np.tile(np.arange(most), (50, 1)), axis=1).reshape(-1)
    for size in sizes:
        yield frames, qrels[order < size]
