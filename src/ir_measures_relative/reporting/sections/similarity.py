"""Which runs are alike."""

from __future__ import annotations

import numpy as np

from ...decisions.similarity import inner_range, order_by_clustering, tabulate_distances
from ...measures.med import MED
from ..contents import ReportedCampaign, number, numbers
from . import Picture, Section, Table, quantity, square

WORDS = """
<p>A cell is the distance of two runs: the mean over topics of {{ measure }}, the largest difference in the measure that
the judgments allow. Similar runs are side by side, so families of runs are dark blocks.</p>
{{ picture("likeness", "A heat map of the distances of every two runs") }}
"""


def section(campaign: ReportedCampaign) -> Section | str:
    """The distances of every two runs, clustered."""
    if not campaign.several:
        return "Which runs are similar: there is only one run."
    measure = MED @ campaign.cutoff
    distance, _ = tabulate_distances(campaign.collection, measure)
    order = order_by_clustering(distance)
    below = np.tril_indices(len(distance), -1)
    # The colours are those of the distances that are not far out; what is beyond has the last colour.
    low, high, _ = inner_range(distance[below])
    colour = quantity(
        "value",
        scale={"scheme": "viridis", "clamp": True, "domain": [low, high]},
        legend={"title": "distance", "orient": "top", "gradientLength": 160},
    )
    extremes = []
    for run in order:
        others = sorted((other for other in order if other != run), key=lambda other: distance[run, other])
        near, far = others[0], others[-1]
        extremes.append([run, near, number(distance[run, near]), far, number(distance[run, far])])
    picture = Picture(
        square(colour, {}, run_name="run", other_name="and", value_shown="distance"),
        {"run": "run", "other": "run", "value": "value"},
        list(zip(*(index.tolist() for index in below), numbers(distance[below].tolist()), strict=True)),
        Table(
            "The most and the least similar run of each",
            [("run", "run"), ("most similar", "run"), ("distance", "value"), ("least similar", "run"), ("distance",
            "value")], extremes,
        ),
        names=order,
        mirrored={},
    )  # fmt: skip
    facts = {"measure": str(measure)}
    return Section("likeness", "Similar", "Which runs are similar", WORDS, facts, {"likeness": picture})
