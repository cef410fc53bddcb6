"""The section on what unjudged documents leave undecided."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import ir_measures
import pandas as pd

from ...bounding.bounds import bounds
from ...bounding.labelings import NotBoundedError
from ...bounding.verdicts import verdicts
from ...context.measure_strings import is_relative
from ..contents import Contents
from . import Picture, Section, Table, interval_rows, pair_squares

_WORDS = """
{% for reason in not_bounded %}<p>{{ reason }}.</p>{% endfor %}
{% if left_out %}<p>Not here, because the verdicts would take too long:
{% for measure, work in left_out %}{{ measure }}{{ ", " if not loop.last }}{% endfor %} (
{{- "{:,}".format(left_out[0][1]) }} pairs of runs times topics). <code>verdicts()</code> computes them.
{% if measures %}The measures here are the next ones that take less time.{% endif %}</p>{% endif %}
{% for measure in measures %}
<h3>Worst and best case of {{ measure }}</h3>
<p>A line goes from the worst-case to the best-case score of a run, over all judgments of the unjudged documents at
the top of the runs. The point is the score as judged.</p>
{{ picture("bounds-" ~ loop.index0, "One line per run: from the worst case to the best") }}
{% endfor %}
{% for measure in measures %}
<h3>Which orders {% if reference is not none %}with the reference {% endif %}by {{ measure }} are settled</h3>
<p>A cell says where the run of the row is, compared with the run of the column. Unjudged documents cannot reverse
<em>above</em> or <em>below</em> on these topics. Where the order is undecided, new judgments decide it.
{%- if chance is not none %} In a pale cell, chance could explain the difference: its interval over topics, for all
pairs at once, includes 0. An undecided cell is never pale.
{%- else %} This does not say whether chance could explain a difference.{% endif %}
{%- if reference is not none %} Each line is the difference from {{ run_name(reference) }}, from the worst to the best
case. A line above or below 0 is settled.{% endif %}</p>
{{ picture("verdicts-" ~ loop.index0, "A map of every two runs: above, below, equal or undecided") }}
{% endfor %}
"""

_HEADLINE = """
{% if total %}<li><strong>Unjudged documents {{ "could" if undecided else "cannot" }} reverse
{% if total == 1 %}the order</strong> of the two runs compared
{%- elif undecided %}{{ "{:,} of {:,}".format(undecided, total) }} orders</strong> of two runs
{%- else %}any of {{ "{:,}".format(total) }} orders</strong> of two runs{% endif %}
 by {{ measures[0] }} on these topics
{%- if chance is not none and total == 1 %}; the difference {{ "could be chance" if chance else "is significant" }}.
{%- elif chance is not none %}, and chance could explain {{ "{:,} of {:,}".format(chance, total) }} differences. Each
is counted alone: both together may reverse more orders.{% else %}.{% endif %}
</li>{% endif %}
"""

# Pairs of runs times topics up to which verdicts take less than half a minute, with a cutoff of 10.
_PAIRS, _PER_CUTOFF = 500_000, 10

_ENDS = {"worst": "value", "value": "value", "best": "value"}
_END_TITLES = {"worst_shown": "worst case", "value_shown": "as judged", "best_shown": "best case"}
_SETTLED = ("above", "below", "equal", "undecided")
_SWAPPED = {"above": "below", "below": "above"}
_MIRRORED: dict[str, Any] = {"settled": _SWAPPED, "value": "value", "worst": "best", "best": "worst"}


class Undecided(NamedTuple):
    """The bounds and verdicts of one measure."""

    measure: str
    bounds: list[list[Any]]  #: run, worst, value, best
    #: run, other, settled, worst, value, best, whether chance could explain the difference, n_deciding
    verdicts: list[list[Any]]


def unjudged(contents: Contents) -> Section | str:
    """Return bounds and verdicts, unless all is judged, or the verdicts would take long."""
    title = "What unjudged documents leave undecided"
    if not contents.has_several_runs:
        return f"{title}: there is only one run."
    if len(contents.complete) < 2 or contents.context.reference in contents.incomplete:
        return f"{title}: {contents.why_incomplete}."
    undecided, left_out, not_bounded = _find_undecided(contents)
    if not undecided and not left_out:
        reasons = not_bounded or ["nothing, or no measure has both a cutoff and bounds"]
        return f"{title}: {'; '.join(reasons)}."
    draw_verdicts = _draw_map if contents.reference is None else _draw_differences
    pictures = {f"bounds-{i}": _draw_bounds(part) for i, part in enumerate(undecided)}
    pictures |= {f"verdicts-{i}": draw_verdicts(part) for i, part in enumerate(undecided)}
    settled = [row[2] for row in undecided[0].verdicts] if undecided else []
    chance = [row[6] for row in undecided[0].verdicts] if undecided else ["–"]
    data = {"measures": [part.measure for part in undecided], "reference": contents.reference}
    facts = data | {
        "left_out": left_out,
        "not_bounded": not_bounded,
        "total": len(settled),
        "undecided": settled.count("undecided"),
        "chance": None if "–" in chance else chance.count("yes"),
    }
    more = {"verdicts": data}
    return Section("unjudged", "Unjudged", title, _WORDS, facts, pictures, data=more, headline=_HEADLINE)


def _find_undecided(contents: Contents) -> tuple[list[Undecided], list[tuple[str, int]], list[str]]:
    """Return the first absolute and the first relative measure with bounds, and which others take long or have none."""
    n, done = len(contents.collection.names), set()
    work = n * (n - 1) // 2 * contents.collection.documents.n_queries
    undecided, left_out, not_bounded = [], [], []
    for measure in contents.measures:
        cutoff, relative = measure.params.get("cutoff"), is_relative(measure)
        if relative in done or not isinstance(cutoff, int):
            continue
        if work * max(1, cutoff // _PER_CUTOFF) > _PAIRS:
            left_out.append((str(measure), work))
            continue
        try:
            ends = bounds(contents.context, contents.qrels, [measure])
        except NotBoundedError as error:
            not_bounded.append(str(error))
            continue
        except ValueError:  # such as one that looks at no judgment
            continue
        done.add(relative)
        if (ends["worst"] < ends["best"]).any():  # else no label can change the measure
            table = verdicts(contents.context, contents.qrels, [measure], missing="zero")
            complete = table[["name", "other"]].isin(contents.complete).all(axis=1)
            table = table[complete].reset_index(drop=True)
            table["chance"] = _judge_chance(contents, measure, table)
            rows = contents.rows(table, "settled", *_ENDS, "chance", "n_deciding")
            undecided.append(Undecided(str(measure), contents.rows(ends, *_ENDS), rows))
    return undecided, left_out, not_bounded


def _judge_chance(contents: Contents, measure: ir_measures.Measure, table: pd.DataFrame) -> list[str]:
    """Return for each pair whether chance could explain its difference, which is where its interval includes 0."""
    intervals = contents.pair_intervals(measure) if contents.are_pairs_few else {}
    pairs = zip(table["name"], table["other"], strict=True)
    ends = [intervals.get((a, b)) or intervals.get((b, a)) for a, b in pairs]
    return ["–" if end is None else "yes" if end[0] <= 0 <= end[1] else "no" for end in ends]


def _draw_bounds(undecided: Undecided) -> Picture:
    rows = sorted(undecided.bounds, key=lambda row: -row[2])
    columns = [("run", "run"), ("worst case", "value"), (undecided.measure, "value"), ("best case", "value")]
    spec = interval_rows(len(rows), f"score ({undecided.measure})", run_name="run", **_END_TITLES)
    table = Table("The worst-case and the best-case score of each run", columns, rows)
    return Picture(spec, {"run": "run"} | _ENDS, rows, table, names=[row[0] for row in rows])


def _draw_differences(undecided: Undecided) -> Picture:
    """Return the picture of the differences from the one run that all verdicts are on, as intervals."""
    rows = sorted(undecided.verdicts, key=lambda row: -row[4])
    columns = [("run", "run"), ("is", "word")]
    columns += [(title, "value") for title in ("difference", "worst case", "best case")]
    columns.append(("deciding documents", "count"))
    listed = [[run, settled, value, worst, best, n] for run, _, settled, worst, value, best, _, n in rows]
    table = Table("What is settled of each run", columns, listed)
    axis = f"difference in {undecided.measure}"
    spec = interval_rows(len(rows), axis, run_name="run", settled="is", **_END_TITLES)
    drawn = [[run, *cells] for run, _, *cells, _, _ in rows]
    fields = {"run": "run", "settled": "word"} | _ENDS
    return Picture(spec, fields, drawn, table, [row[0] for row in rows])


def _draw_map(undecided: Undecided) -> Picture:
    """Return the map of which run is settled above which: the row above the column."""
    both = Counter((a, settled) for a, _, settled, *_ in undecided.verdicts)
    both.update((b, _SWAPPED.get(settled, settled)) for _, b, settled, *_ in undecided.verdicts)
    count = {run: [both[run, word] for word in _SETTLED] for run in sorted({run for run, _ in both})}
    order = sorted(count, key=lambda run: count[run][1] - count[run][0])
    colour = {
        "field": "settled",
        "type": "nominal",
        "scale": {"domain": list(_SETTLED), "range": [f"var(--{word})" for word in _SETTLED]},
        "legend": {"title": "the row is", "orient": "top"},
    }
    titles = {"run_name": "run", "settled": "is", "other_name": "other", "value_shown": "difference"}
    titles |= {"range": "between", "chance": "chance could explain it"}
    spec = pair_squares(colour, {"stroke": "var(--paper)", "strokeWidth": 0.5}, **titles)
    pale = "datum.chance === 'yes' && datum.settled !== 'undecided' ? 'could be chance' : 'significant'"
    spec["transform"] = [
        {"calculate": "datum.worst_shown + ' and ' + datum.best_shown", "as": "range"},
        {"calculate": pale, "as": "pale"},
    ]
    legend = {"title": "the difference", "orient": "top", "symbolFillColor": "var(--above)"}
    spec["encoding"]["opacity"] = {
        "field": "pale",
        "type": "ordinal",
        "scale": {"domain": ["significant", "could be chance"], "range": [1, 0.35]},
        "legend": legend if any(row[6] != "–" for row in undecided.verdicts) else None,
    }
    fields = {"run": "run", "other": "run", "settled": "word"} | _ENDS | {"chance": "word"}
    columns = [("run", "run"), *((title, "count") for title in ("above", "below", "equal to", "undecided"))]
    caption = f"How many runs each is settled above or below by {undecided.measure}"
    table = Table(caption, columns, [[run, *count[run]] for run in order])
    return Picture(spec, fields, [row[:-1] for row in undecided.verdicts], table, order, _MIRRORED)
