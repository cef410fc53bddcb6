"""The list of the sections, and the pages of single runs, which ``templates/run.js`` draws."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from tqdm import tqdm

from ..data.arrays import FloatArray, IntArray, object_array
from ..decisions.explain import Explained, explained
from .contents import Lookup, ReportedCampaign
from .sections import (
    Section,
    Spec,
    aspects,
    compare,
    complementary,
    fusion,
    point,
    quantity,
    relative_to,
    runs,
    said,
    scatter,
    shapley,
    similarity,
    unjudged,
)

#: In the order of the page. Each has ``section``, which makes it of a campaign, or says why it is not there.
SECTIONS = (
    scatter,
    runs,
    similarity,
    complementary,
    aspects,
    fusion,
    shapley,
    compare,
    unjudged,
    relative_to,
)

# How many documents of a ranking are shown: as many as the cutoff has, up to the second; the first without one.
_SHOWN, _MOST = 10, 20
# How many rows of documents a file holds, in about 4 MB; of how many topics at least; and how many topics a run's page
# lists at each end, as ``run.js`` does.
_MOST_ROWS, _FEWEST_TOPICS, _EXTREMES = 60_000, 50, 10


def sections_of(campaign: ReportedCampaign) -> tuple[list[Section], list[str]]:
    """What there is to say of a campaign, and what is left out."""
    modules = tqdm(SECTIONS, desc="report", unit="section", disable=None, leave=False)
    found = [module.section(campaign) for module in modules]
    return [one for one in found if isinstance(one, Section)], [one for one in found if isinstance(one, str)]


def documents_of(campaign: ReportedCampaign, texts: Lookup) -> dict[str, Any] | None:
    """:func:`documents`, with what they say; None where no measure can be explained."""
    view, measure = campaign.view, campaign.explained
    if measure is None:
        return None
    found = [explained(one, measure) for one in view.of_each()]
    cutoff, place = measure.get("cutoff"), campaign.measures.index(measure)
    kept = _kept(campaign.scores.values[:, place], _depth(cutoff))
    about = documents(found, kept, cutoff)
    if known := texts(about["docs"]):
        about["texts"] = [known.get(doc) for doc in about["docs"]]
    every = len(kept) == view.n_queries
    return {"measure": place, "cutoff": cutoff, "kept": None if every else kept.tolist(), **about}


def _depth(cutoff: int | None) -> int:
    return _SHOWN if cutoff is None else min(cutoff, _MOST)


def _kept(values: FloatArray, depth: int) -> IntArray:
    """Of which topics the file holds documents: all, or those where a run is highest or lowest or the runs differ."""
    runs, topics = values.shape
    most = max(_FEWEST_TOPICS, _MOST_ROWS // (runs * depth))
    if topics <= most:
        return np.arange(topics)
    known = np.nan_to_num(values)
    order = np.argsort(-known, axis=1, kind="stable")
    extreme = np.concatenate([order[:, :_EXTREMES], order[:, -_EXTREMES:]], axis=1).ravel()
    apart = np.argsort(-np.ptp(known, axis=0), kind="stable")
    first = list(dict.fromkeys([*extreme.tolist(), *apart.tolist()]))
    return np.sort(first[: max(most, 2 * _EXTREMES)])


def documents(found: Sequence[Explained], topics: IntArray, cutoff: int | None) -> dict[str, Any]:
    """The documents at the top of each run on some topics, each once.

    - ``depth``: how many are shown; ``docs``: the ids; ``priors``: for each run the runs that it is scored against;
    - ``found``: for each topic its documents, as ``[doc, grade or None, [run, position, run, …]]``;
    - ``listed``: for each run and topic what is at its top, as ``[place in found, position, gain, contribution]``.
    """
    depth, n_topics = _depth(cutoff), len(topics)
    tops = [np.flatnonzero((of_run.position <= depth) & np.isin(of_run.query, topics)) for of_run in found]

    def column(name: str) -> Any:
        return np.concatenate([getattr(of_run, name)[top] for of_run, top in zip(found, tops, strict=True)])

    run = np.repeat(np.arange(len(found)), list(map(len, tops)))
    topic, position = np.searchsorted(topics, column("query")), column("position")
    texts = [doc for of_run, top in zip(found, tops, strict=True) for doc in of_run.ids.take(top).strings()]
    ids, doc = np.unique(object_array(texts), return_inverse=True)
    pair, first, entry = np.unique(topic * max(len(ids), 1) + doc, return_index=True, return_inverse=True)
    starts = np.searchsorted(pair // max(len(ids), 1), np.arange(n_topics + 1))
    grades = [
        int(grade) if known else None
        for grade, known in zip(column("grade")[first], column("judged")[first], strict=True)
    ]
    places = _places(found, tops, run, entry, position)
    rows = [[int(d), grade, where] for d, grade, where in zip(doc[first], grades, places, strict=True)]
    listed: list[list[list[Any]]] = [[[] for _ in range(n_topics)] for _ in found]
    cells = (run, topic, entry - starts[topic], position, column("gain"), column("contribution"))
    for r, t, place, at, *numbers in zip(*(cell.tolist() for cell in cells), strict=True):
        # As many digits as matter: a gain may be very small, and make up a value all the same.
        listed[r][t].append([place, at, *(float(f"{x:.9g}") for x in numbers)])
    return {
        "depth": depth,
        "docs": ids.tolist(),
        "priors": [of_run.seen_by for of_run in found],
        "found": [rows[a:b] for a, b in itertools.pairwise(starts)],
        "listed": listed,
    }


def _places(
    found: Sequence[Explained], tops: Sequence[IntArray], run: IntArray, entry: IntArray, position: IntArray
) -> list[list[int]]:
    """For each document of a topic the runs that hold it, and where: ``[run, position, run, position, …]``."""
    known = [np.stack([entry, run, position])]
    start = 0
    for of_run, top in zip(found, tops, strict=True):
        of_top = entry[start : start + len(top)]
        start += len(top)
        for other, places in zip(of_run.seen_by, of_run.places, strict=True):
            there = np.flatnonzero(places[top])
            known.append(np.stack([of_top[there], np.full(len(there), other), places[top][there]]))
    every = np.unique(np.concatenate(known, axis=1), axis=1)
    ends = np.searchsorted(every[0], np.arange(int(entry.max(initial=-1)) + 2))
    flat = every[1:].T
    return [flat[a:b].reshape(-1).tolist() for a, b in itertools.pairwise(ends)]


def by_topic() -> dict[str, Spec]:
    """The pictures by topic: of a run and all others, of the difference of two, and of very many topics."""
    return {"strip": _strip(), "differences": _differences(), "curves": _curves()}


_LABELS = {
    "labelExpr": "topics[datum.value]", "labelAngle": -90, "labelOverlap": True, "labelLimit": 70, "ticks": False
}  # fmt: skip


def _strip() -> Spec:
    axis = _LABELS | {"title": "topic, in the order of the run's values"}
    tick = {"type": "tick", "orient": "horizontal", "color": "var(--soft)", "opacity": 0.4, "thickness": 1.5}
    own = said(topic="topic", shown="value", others="runs above")
    other = said(topic="topic", name="run", shown="value")
    return {
        "width": "container",
        "height": 300,
        "params": [{"name": "topics", "value": []}],
        "encoding": {"x": {"field": "place", "type": "ordinal", "axis": axis}, "y": quantity("value", title=None)},
        "layer": [
            {"transform": [{"filter": "!datum.own"}], "mark": tick, "encoding": {"tooltip": other}},
            {"transform": [{"filter": "datum.own"}], "mark": point(50), "encoding": {"tooltip": own}},
        ],
    }  # fmt: skip


def _differences() -> Spec:
    """A bar a topic: by how much one run is above the other."""
    axis = _LABELS | {"title": "topic, in the order of the differences"}
    colour = {
        "field": "side",
        "type": "nominal",
        "scale": {"domain": ["first", "second"], "range": ["var(--above)", "var(--below)"]},
        "legend": None,
    }
    return {
        "width": "container",
        "height": 260,
        "params": [{"name": "topics", "value": []}],
        "mark": {"type": "bar", "cursor": "pointer"},
        "encoding": {
            "x": {"field": "place", "type": "ordinal", "axis": axis},
            "y": quantity("value", title=None),
            "color": colour,
            "tooltip": said(topic="topic", first="first", second="second", shown="difference"),
        },
    }


def _curves() -> Spec:
    """Of very many topics, the values from the highest to the lowest, over the share of the topics."""
    x = quantity(
        "share", title="share of the topics, from the highest value", axis={"format": "%", "grid": False}
    )
    lines = {"x": x, "y": quantity("value", title=None), "detail": {"field": "name", "type": "nominal"}}
    colour = {"condition": {"test": "datum.own", "value": "var(--accent)"}, "value": "var(--soft)"}
    width = {"condition": {"test": "datum.own", "value": 2.5}, "value": 1}
    tooltip = said(name="run", percent="share of topics", shown="value at least")
    return {
        "width": "container",
        "height": 300,
        "mark": {"type": "line", "interpolate": "step-before"},
        "encoding": lines | {"color": colour, "strokeWidth": width, "tooltip": tooltip},
    }
