"""The pages of single runs, and the list of the sections. ``templates/run.js`` draws a page.

The page of a run has its value on every topic, and the documents behind it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from tqdm import tqdm

from ..arrays import IntArray, object_array
from ..comparison import Comparison
from ..questions.explaining import Explained, explained
from .campaign import Lookup, ReportedCampaign
from .sections import (
    Section,
    Spec,
    comparison,
    likeness,
    point,
    quantity,
    relative_to,
    runs,
    said,
    scatter,
    selection,
    shapley,
    unjudged,
)

#: In the order of the page. Each has ``section``, which makes it of a campaign, or says why it is not there.
SECTIONS = (scatter, runs, likeness, selection, shapley, comparison, unjudged, relative_to)

# How many documents of a ranking are shown: as many as the cutoff has, up to the second; the first without one.
_SHOWN, _MOST = 10, 20


def sections_of(campaign: ReportedCampaign) -> tuple[list[Section], list[str]]:
    """What there is to say of a campaign, and what is left out."""
    modules = tqdm(SECTIONS, desc="report", unit="section", disable=None, leave=False)
    found = [module.section(campaign) for module in modules]
    return [one for one in found if isinstance(one, Section)], [one for one in found if isinstance(one, str)]


def documents_of(campaign: ReportedCampaign, texts: Lookup) -> dict[str, Any] | None:
    """:func:`documents`, with what they say; None where no measure can be explained."""
    judged, measure = campaign.judged, campaign.explained
    if measure is None:
        return None
    found = [explained(Comparison(judged, run, name), measure) for name, run in judged.context.runs.items()]
    cutoff = measure.get("cutoff")
    about = documents(found, judged.judgments.n_queries, cutoff)
    if known := texts(about["docs"]):
        about["texts"] = [known.get(doc) for doc in about["docs"]]
    return {"measure": campaign.measures.index(measure), "cutoff": cutoff, **about}


def documents(found: Sequence[Explained], n_topics: int, cutoff: int | None) -> dict[str, Any]:
    """The documents at the top of each run, as the page has them: each once, however many runs have it.

    - ``depth``: how many are shown;
    - ``docs``: the ids;
    - ``priors``: for each run the runs that it is scored against;
    - ``found``: for each topic its documents, as ``[doc, grade or None, [run, position, run, …]]``;
    - ``listed``: for each run and topic what is at its top, as ``[place in found, position, gain, contribution]``.
    """
    depth = _SHOWN if cutoff is None else min(cutoff, _MOST)
    tops = [np.flatnonzero(of_run.position <= depth) for of_run in found]

    def column(name: str) -> Any:
        return np.concatenate([getattr(of_run, name)[top] for of_run, top in zip(found, tops, strict=True)])

    run = np.repeat(np.arange(len(found)), list(map(len, tops)))
    topic, position = column("query"), column("position")
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
    """The pictures by topic, on the pages of runs and of pairs."""
    return {"strip": _strip()}


def _strip() -> Spec:
    """A run's value on every topic, over those of all other runs."""
    labels = {"labelExpr": "topics[datum.value]", "labelAngle": -90, "labelOverlap": True, "labelLimit": 70}
    axis = labels | {"title": "topic, in the order of the run's values", "ticks": False}
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
