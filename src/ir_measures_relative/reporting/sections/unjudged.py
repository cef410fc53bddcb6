"""What unjudged documents leave undecided."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import ir_measures
import pandas as pd

from ...bounding.bounds import bounds
from ...bounding.labelings import NotBoundedError
from ...bounding.verdicts import verdicts
from ...context.measure_strings import is_relative
from ..contents import ReportedCampaign, are_few, intervals_of
from . import Picture, Section, Table, intervals, square

WORDS = """
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

HEADLINE = """
{% if total %}<li><strong>Unjudged documents {{ "could" if undecided else "cannot" }} reverse
{{ "{:,} of {:,}".format(undecided, total) if undecided else "any of {:,}".format(total) }} orders</strong> of two runs
by {{ measures[0] }} on these topics
{%- if chance is not none %}, and chance could explain {{ "{:,} of {:,}".format(chance, total) }} differences. Each is
said with the other left aside: both together may reverse more orders.{% else %}.{% endif %}
</li>{% endif %}
"""

# Pairs of runs times topics up to which verdicts take less than half a minute, with a cutoff of 10.
_PAIRS, _PER_CUTOFF = 500_000, 10

_ENDS = {"worst": "value", "value": "value", "best": "value"}
_SAID_OF_ENDS = {"worst_shown": "worst case", "value_shown": "as judged", "best_shown": "best case"}
_TURNED = {"above": "below", "below": "above"}
_SETTLED = ("above", "below", "equal", "undecided")
_MIRRORED: dict[str, Any] = {"settled": _TURNED, "value": "value", "worst": "best", "best": "worst"}


class Open(NamedTuple):
    """What unjudged documents leave undecided of one measure."""

    measure: str
    bounds: list[list[Any]]  #: run, worst, value, best
    #: run, other, settled, worst, value, best, whether chance could explain the difference, n_deciding
    verdicts: list[list[Any]]


def section(campaign: ReportedCampaign) -> Section | str:
    """Bounds and verdicts; nothing where all is judged, or where the verdicts would take long."""
    if not campaign.several:
        return "What unjudged documents leave undecided: there is only one run."
    if len(campaign.complete) < 2 or campaign.context.reference in campaign.incomplete:
        return f"What unjudged documents leave undecided: {campaign.why_incomplete}."
    found, left_out, not_bounded = _open(campaign)
    if not found and not left_out:
        why = not_bounded or ["nothing, or no measure has both a cutoff and bounds"]
        return f"What unjudged documents leave undecided: {'; '.join(why)}."
    against = campaign.reference is not None
    pictures = {f"bounds-{i}": _bounds(one) for i, one in enumerate(found)}
    pictures |= {f"verdicts-{i}": _against(one) if against else _map(one) for i, one in enumerate(found)}
    words = [settled for _, _, settled, *_ in found[0].verdicts] if found else []
    facts = {
        "measures": [one.measure for one in found],
        "reference": campaign.reference,
        "left_out": left_out,
        "not_bounded": not_bounded,
        "total": len(words),
        "undecided": words.count("undecided"),
        "chance": _count_of_chance(found),
    }
    title, data = (
        "What unjudged documents leave undecided",
        {"verdicts": {k: facts[k] for k in ("measures", "reference")}},
    )
    return Section("unjudged", "Unjudged", title, WORDS, facts, pictures, data=data, headline=HEADLINE)


def _open(campaign: ReportedCampaign) -> tuple[list[Open], list[tuple[str, int]], list[str]]:
    """Return the first absolute and the first relative measure with bounds, and which others take long or have none."""
    n, kinds = len(campaign.collection.names), set()
    work = n * (n - 1) // 2 * campaign.collection.documents.n_queries
    found, left_out, not_bounded = [], [], []
    for measure in campaign.measures:
        cutoff, relative = measure.params.get("cutoff"), is_relative(measure)
        if relative in kinds or not isinstance(cutoff, int):
            continue
        if work * max(1, cutoff // _PER_CUTOFF) > _PAIRS:
            left_out.append((str(measure), work))
            continue
        asked = campaign.context, campaign.qrels, [measure]
        try:
            ends = bounds(*asked)
        except NotBoundedError as error:
            not_bounded.append(str(error))
            continue
        except ValueError:  # such as one that looks at no judgment
            continue
        kinds.add(relative)
        if (ends["worst"] < ends["best"]).any():  # else no label can change the measure
            table = verdicts(*asked, missing="zero")
            pairs = table[["name", "other"]].isin(campaign.complete).all(axis=1)
            table = table[pairs].reset_index(drop=True)
            table["chance"] = _chance(campaign, measure, table)
            words = campaign.rows(table, "settled", *_ENDS, "chance", "n_deciding")
            found.append(Open(str(measure), campaign.rows(ends, *_ENDS), words))
    return found, left_out, not_bounded


def _chance(campaign: ReportedCampaign, measure: ir_measures.Measure, table: pd.DataFrame) -> list[str]:
    """Whether chance could explain the difference of each pair: its interval holds 0. "–" where that is not known."""
    known = intervals_of(campaign, measure) if are_few(campaign) else {}
    pairs = zip(table["name"], table["other"], strict=True)
    ends = [known.get((a, b)) or known.get((b, a)) for a, b in pairs]
    return ["–" if one is None else "yes" if one[0] <= 0 <= one[1] else "no" for one in ends]


def _count_of_chance(found: list[Open]) -> int | None:
    """Of how many pairs chance could explain the difference by the first measure; None where it is not known."""
    words = [row[6] for row in found[0].verdicts] if found else ["–"]
    return None if "–" in words else words.count("yes")


def _bounds(found: Open) -> Picture:
    rows = sorted(found.bounds, key=lambda row: -row[2])
    columns = [("run", "run"), ("worst case", "value"), (found.measure, "value"), ("best case", "value")]
    spec = intervals(len(rows), f"score ({found.measure})", run_name="run", **_SAID_OF_ENDS)
    table = Table("The worst-case and the best-case score of each run", columns, rows)
    return Picture(spec, {"run": "run"} | _ENDS, rows, table, names=[row[0] for row in rows])


def _against(found: Open) -> Picture:
    """The verdicts where all are on one run: the differences from it, as intervals."""
    rows = sorted(found.verdicts, key=lambda row: -row[4])
    columns = [
        ("run", "run"),
        ("is", "word"),
        *((t, "value") for t in ("difference", "worst case", "best case")),
    ]
    listed = [[run, settled, value, worst, best, n] for run, _, settled, worst, value, best, _, n in rows]
    table = Table("What is settled of each run", [*columns, ("deciding documents", "count")], listed)
    axis = f"difference in {found.measure}"
    spec = intervals(len(rows), axis, run_name="run", settled="is", **_SAID_OF_ENDS)
    drawn, names = [[run, *cells] for run, _, *cells, _, _ in rows], [row[0] for row in rows]
    return Picture(spec, {"run": "run", "settled": "word"} | _ENDS, drawn, table, names)


def _map(found: Open) -> Picture:
    """Which run is settled above which: the row above the column."""
    both = Counter((a, settled) for a, _, settled, *_ in found.verdicts)
    both.update((b, _TURNED.get(settled, settled)) for _, b, settled, *_ in found.verdicts)
    count = {run: [both[run, word] for word in _SETTLED] for run in sorted({run for run, _ in both})}
    order = sorted(count, key=lambda run: count[run][1] - count[run][0])
    colour = {
        "field": "settled",
        "type": "nominal",
        "scale": {"domain": list(_SETTLED), "range": [f"var(--{word})" for word in _SETTLED]},
        "legend": {"title": "the row is", "orient": "top"},
    }
    spec = square(
        colour, {"stroke": "var(--paper)", "strokeWidth": 0.5},
        run_name="run", settled="is", other_name="other", value_shown="difference", range="between",
        chance="chance could explain it",
    )  # fmt: skip
    pale = "datum.chance === 'yes' && datum.settled !== 'undecided' ? 'could be chance' : 'significant'"
    spec["transform"] = [
        {"calculate": "datum.worst_shown + ' and ' + datum.best_shown", "as": "range"},
        {"calculate": pale, "as": "pale"},
    ]
    of_chance = {"title": "the difference", "orient": "top", "symbolFillColor": "var(--above)"}
    spec["encoding"]["opacity"] = {
        "field": "pale",
        "type": "ordinal",
        "scale": {"domain": ["significant", "could be chance"], "range": [1, 0.35]},
        "legend": of_chance if any(row[6] != "–" for row in found.verdicts) else None,
    }
    fields = {"run": "run", "other": "run", "settled": "word"} | _ENDS | {"chance": "word"}
    says = f"How many runs each is settled above or below by {found.measure}"
    titles = ("above", "below", "equal to", "undecided")
    columns = [("run", "run"), *((title, "count") for title in titles)]
    table = Table(says, columns, [[run, *count[run]] for run in order])
    return Picture(spec, fields, [row[:-1] for row in found.verdicts], table, order, _MIRRORED)
