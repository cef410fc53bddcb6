"""Sections on what each run contributes: new aspects, and its credit for what all retrieve."""

from __future__ import annotations

from ...decisions.explain import new_aspects
from ...further_measures.alpha_nrg import NewAspects
from ...further_measures.shapley import Shapley
from ..contents import Contents
from . import Picture, Section, Table, quantity, run_rows, tooltip

_ASPECTS = """
<p>{{ measure }}: the number of aspects (nuggets) per topic that the run retrieves and no prior run does. An unjudged
document counts as one without aspects.</p>
{{ table("aspects", "What each run adds in aspects") }}
"""

_CREDIT = """
<p>A bar is a run’s share ({{ measure }}) of what all runs retrieve together: the mean of what it adds, over all orders
of the runs. Two runs that retrieve the same documents share the credit, although you could drop either of them.</p>
{{ picture("shapley", "One bar per run: its share") }}
"""


def aspects(contents: Contents) -> Section | str:
    """Return the new aspects of each run, those that add most first."""
    if not contents.collection.judgments.has_aspects:
        return "New aspects: the judgments name no aspects."
    if not contents.has_several_runs:
        return "New aspects: there is only one run."
    measures = (m for m in contents.measures if isinstance(m, type(NewAspects)))
    measure = next(measures, NewAspects @ contents.cutoff)
    try:
        added = new_aspects(contents.context, contents.qrels, measure)
    except ValueError as error:  # a label without an aspect
        return f"New aspects: {error}."
    titles = [column for column in added.columns if column != "name"]
    columns = [("run", "run"), *((title, "value") for title in titles)]
    table = Table("What each run adds in aspects", columns, contents.rows(added, *titles))
    title, facts = "Aspects that only one run contributes", {"measure": str(measure)}
    return Section("aspects", "Nuggets", title, _ASPECTS, facts, tables={"aspects": table})


def credit(contents: Contents) -> Section | str:
    """Return the Shapley value of each run, the largest first."""
    if not contents.has_several_runs:
        return "Credit of each run: there is only one run."
    measures = (m for m in contents.measures if isinstance(m, type(Shapley)))
    measure = next(measures, Shapley @ contents.cutoff)
    name = str(measure)
    rows = contents.rows(contents.context.evaluate(contents.qrels, [measure]), name)
    rows.sort(key=lambda row: -(row[1] or 0.0))
    mark = {"type": "bar", "color": "var(--accent)", "cursor": "pointer", "height": {"band": 0.7}}
    x = quantity("value", title=f"share of what all runs retrieve ({name})")
    bars = {"mark": mark, "encoding": {"x": x}}
    spec = run_rows(len(rows), [bars], tooltip=tooltip(run_name="run", value_shown="credit"))
    table = Table("The credit of each run", [("run", "run"), (name, "value")], rows)
    order = [run for run, _ in rows]
    picture = Picture(spec, {"run": "run", "value": "value"}, rows, table, names=order)
    return Section(
        "shapley", "Credit", "Credit of each run", _CREDIT, {"measure": name}, {"shapley": picture}
    )
