"""Sections on runs together: which complement each other, and which to fuse."""

from __future__ import annotations

import numpy as np

from ...context.measure_strings import is_relative
from ...decisions.fuse import FIXED_BEFOREHAND, fuse
from ...decisions.fusion import label_function
from ...decisions.options import DEFAULT_DEPTH
from ...decisions.select import select_complementary
from ...decisions.similarity import score_nearest_copies
from ...measures.nrg import NRG
from ..contents import Contents
from . import Picture, Section, Spec, Table, point, quantity, run_axis, tooltip

_COMPLEMENTARY = """
<p>The runs are chosen one by one: each has the highest {{ measure }} given those chosen before. The line is what a user
gains who reads all chosen runs, which may exceed the {{ measure }} of one perfect list. No other
group of as many runs gains more than the dashed line. The table also says
what a copy of the most similar chosen run would add.</p>
{{ picture("selection", "What the chosen runs retrieve together, by their number") }}
"""

_FUSION = """
<p>Reciprocal rank fusion (k = 60) of the first {{ depth }} documents, scored by {{ measure }}. Each strategy chooses
runs on half of the topics and is scored on the other half, {{ repeats }} times. The in-sample value is too high; use
the held-out one. Read the row “{{ fixed }}”, which is fixed beforehand: the intervals are not corrected for several
strategies, and take the judgments as they are.
{% if repeats < usual %}With so many runs there are {{ repeats }} splits instead of {{ usual }}.
{% endif %}<code>fuse()</code> has more strategies.</p>
{{ table("fusion", "The value of each strategy") }}
"""

# How many runs are selected at most.
_MOST_SELECTED = 50
# The number of splits of the topics with few runs, and with more; and the limit between them.
_REPEATS, _FEWER_REPEATS, _MANY_RUNS = 20, 5, 30
# Pairs of runs times topics, and topics, up to which fusion takes a few seconds.
_MOST_WORK, _MOST_TOPICS = 150_000, 1_000


def complementary(contents: Contents) -> Section | str:
    """Return the greedy selection by the first measure relative to priors, with its bound."""
    if not contents.has_several_runs:
        return "Which runs complement each other: there is only one run."
    if contents.incomplete:
        return f"Which runs complement each other: {contents.why_incomplete}."
    relative = (m for m in contents.measures if is_relative(m))
    by_priors = (m for m in relative if m.RELATIVE_TO == "priors" and m.get("prior") is None)
    measure = next(by_priors, NRG(norm="ideal") @ contents.cutoff)
    n = min(len(contents.collection.names), _MOST_SELECTED)
    table = select_complementary(contents.context, contents.qrels, n, measure)
    order = table["name"].tolist()
    before = {name: order[:i] for i, name in enumerate(order)}
    copies = score_nearest_copies(contents.collection, order, measure, before)
    table["copy"] = [np.nan if copy is None else copy[1] for copy in copies]
    rows = contents.rows(table, "marginal", "copy", "cumulative", "bound")
    rows = [[i, *row] for i, row in enumerate(rows, start=1)]
    columns = [("place", "count"), ("run", "run")]
    columns += [(title, "value") for title in (str(measure), "a copy", "together", "at most")]
    fields = {"place": "count", "run": "run"} | dict.fromkeys(("marginal", "copy", "value", "bound"), "value")
    listed = Table("The runs in the order chosen", columns, rows)
    picture = Picture(_selection(str(measure)), fields, rows, listed, names=[run for _, run, *_ in rows])
    facts, title = {"measure": str(measure)}, "Which runs complement each other"
    return Section("selection", "Complementary", title, _COMPLEMENTARY, facts, {"selection": picture})


def _selection(measure: str) -> Spec:
    """Return the picture of what the runs chosen so far retrieve, and what no group of as many can exceed."""
    title = f"gain from reading all ({measure})"
    x = run_axis(
        "run_place", labelAngle=-90, labelLimit=130, labelOverlap=True, title="runs, in the order of choice"
    )
    bound = {"type": "line", "color": "var(--soft)", "strokeDash": [4, 3]}
    line = {"type": "line", "color": "var(--accent)", "strokeWidth": 2}
    y, titles = quantity("value", title=title), {"run_name": "run", "marginal_shown": "adds"}
    titles |= {"copy_shown": "a copy adds", "value_shown": "together", "bound_shown": "at most"}
    return {
        "width": "container",
        "height": 280,
        "params": [{"name": "names", "value": []}],
        "encoding": {"x": x},
        "layer": [
            {"mark": bound, "encoding": {"y": quantity("bound", title=title)}},
            {"mark": line, "encoding": {"y": y | {"scale": {"zero": False}}}},
            {"mark": point(70), "encoding": {"y": y, "tooltip": tooltip(**titles)}},
        ],
    }


def fusion(contents: Contents) -> Section | str:
    """Return what each strategy of fusion is worth on held-out topics."""
    n, topics = len(contents.collection.names), contents.collection.documents.n_queries
    absolute = None if contents.first_absolute is None else contents.measures[contents.first_absolute]
    if n < 2 or absolute is None or label_function(absolute) is None:
        return "Fusion: it needs two runs, and nDCG, P, R, RR, AP or Success as the first absolute measure."
    if contents.incomplete:
        return f"Fusion: {contents.why_incomplete}."
    if n * (n - 1) // 2 * topics > _MOST_WORK or topics > _MOST_TOPICS:
        return f"Fusion: {n} runs and {topics:,} topics would take too long. Call fuse()."
    size, repeats = min(n, 3), _REPEATS if n <= _MANY_RUNS else _FEWER_REPEATS
    strategies = {
        "single": "the best run",
        "top": f"the {size} best runs",
        "greedy": f"{size} runs, added one by one",
        "all": "all runs",
    }
    try:
        table = fuse(
            contents.context, contents.qrels, size, absolute, strategies=[*strategies], repeats=repeats
        )
    except ValueError as error:  # one topic, or runs without a common one
        return f"Fusion: {error}."
    cells = {"in_sample": "in sample", "held_out": "held out", "difference": "difference from the best run"}
    cells |= {"ci_lower": "from", "ci_upper": "to"}
    columns = [("strategy", "word"), ("runs chosen on all topics", "runs")]
    columns += [(title, "value") for title in cells.values()]
    rows = [
        [
            strategies[row["strategy"]],
            [contents.position[name] for name in row["names"]],
            *map(row.get, cells),
        ]
        for row in table.to_dict("records")
    ]
    facts = {
        "measure": str(absolute),
        "depth": table["depth"].iloc[0] if "depth" in table else DEFAULT_DEPTH,
        "fixed": strategies[FIXED_BEFOREHAND],
        "repeats": repeats,
        "usual": _REPEATS,
    }
    tables = {"fusion": Table("The value of each strategy", columns, rows)}
    return Section("fusion", "Fusion", "Which runs to fuse", _FUSION, facts, tables=tables)
