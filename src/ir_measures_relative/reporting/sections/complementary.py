"""Which runs complement each other."""

from __future__ import annotations

import numpy as np

from ...context.measure_strings import is_relative
from ...decisions.select import select_complementary
from ...decisions.similarity import score_nearest_copies
from ...measures.nrg import NRG
from ..contents import ReportedCampaign
from . import Picture, Section, Spec, Table, axis_of_runs, point, quantity, said

WORDS = """
<p>The runs are chosen one by one: each has the highest {{ measure }} given those chosen before. The line is what a user
gains who reads all chosen runs, which may exceed the {{ measure }} of one perfect list. No other
group of as many runs gains more than the dashed line. The table also says
what a copy of the most similar chosen run would add.</p>
{{ picture("selection", "What the chosen runs retrieve together, by their number") }}
"""

# How many runs are selected at most.
_SELECTED = 50


def section(campaign: ReportedCampaign) -> Section | str:
    """The greedy selection by the first measure relative to priors, with its bound."""
    if not campaign.several:
        return "Which runs complement each other: there is only one run."
    if campaign.incomplete:
        return f"Which runs complement each other: {campaign.why_incomplete}."
    relative = (m for m in campaign.measures if is_relative(m))
    by_priors = (m for m in relative if m.RELATIVE_TO == "priors" and m.get("prior") is None)
    measure = next(by_priors, NRG(norm="ideal") @ campaign.cutoff)
    n = min(len(campaign.collection.names), _SELECTED)
    table = select_complementary(campaign.context, campaign.qrels, n, measure)
    order = table["name"].tolist()
    before = {name: order[:i] for i, name in enumerate(order)}
    copies = score_nearest_copies(campaign.collection, order, measure, before)
    table["copy"] = [np.nan if copy is None else copy[1] for copy in copies]
    rows = campaign.rows(table, "marginal", "copy", "cumulative", "bound")
    drawn = [[i, *row] for i, row in enumerate(rows, start=1)]
    columns = [("place", "count"), ("run", "run")]
    columns += [(title, "value") for title in (str(measure), "a copy", "together", "at most")]
    fields = {"place": "count", "run": "run"} | dict.fromkeys(("marginal", "copy", "value", "bound"), "value")
    table_of = Table("The runs in the order chosen", columns, drawn)
    picture = Picture(_spec(str(measure)), fields, drawn, table_of, names=[run for _, run, *_ in drawn])
    facts, title = {"measure": str(measure)}, "Which runs complement each other"
    return Section("selection", "Complementary", title, WORDS, facts, {"selection": picture})


def _spec(measure: str) -> Spec:
    """What the runs chosen so far retrieve, and what no group of as many can exceed."""
    title = f"gain from reading all ({measure})"
    x = axis_of_runs(
        "run_place", labelAngle=-90, labelLimit=130, labelOverlap=True, title="runs, in the order of choice"
    )
    bound = {"type": "line", "color": "var(--soft)", "strokeDash": [4, 3]}
    found = {"type": "line", "color": "var(--accent)", "strokeWidth": 2}
    titles = {"run_name": "run", "marginal_shown": "adds", "copy_shown": "a copy adds"}
    tooltip = said(**titles, value_shown="together", bound_shown="at most")
    return {
        "width": "container",
        "height": 280,
        "params": [{"name": "names", "value": []}],
        "encoding": {"x": x},
        "layer": [
            {"mark": bound, "encoding": {"y": quantity("bound", title=title)}},
            {
                "mark": found,
                "encoding": {"y": quantity("value", title=title, scale={"zero": False})},
            },
            {
                "mark": point(70),
                "encoding": {"y": quantity("value", title=title), "tooltip": tooltip},
            },
        ],
    }
