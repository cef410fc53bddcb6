"""Whose credit the relevant documents are."""

from __future__ import annotations

from ...further_measures.shapley import Shapley
from ..contents import ReportedCampaign
from . import Picture, Section, Table, quantity, row_a_run, said

WORDS = """
<p>A bar is a run’s share ({{ measure }}) of what all runs retrieve together: the mean of what it adds, over all orders
of the runs. Two runs that retrieve the same documents share the credit, although you could drop either of them.</p>
{{ picture("shapley", "One bar per run: its share") }}
"""


def section(campaign: ReportedCampaign) -> Section | str:
    """The credit of each run, the largest first."""
    if not campaign.several:
        return "Credit of each run: there is only one run."
    known = (m for m in campaign.measures if isinstance(m, type(Shapley)))
    measure = next(known, Shapley @ campaign.cutoff)
    name = str(measure)
    rows = campaign.rows(campaign.context.evaluate(campaign.qrels, [measure]), name)
    rows.sort(key=lambda row: -(row[1] or 0.0))
    bar = {"type": "bar", "color": "var(--accent)", "cursor": "pointer", "height": {"band": 0.7}}
    axis = f"share of what all runs retrieve ({name})"
    bars = {"mark": bar, "encoding": {"x": quantity("value", title=axis)}}
    spec = row_a_run(len(rows), [bars], tooltip=said(run_name="run", value_shown="credit"))
    table = Table("The credit of each run", [("run", "run"), (name, "value")], rows)
    order = [run for run, _ in rows]
    picture = Picture(spec, {"run": "run", "value": "value"}, rows, table, names=order)
    return Section("shapley", "Credit", "Credit of each run", WORDS, {"measure": name}, {"shapley": picture})
