"""Sections on pairs of runs: how similar they are, and differences from the reference; the data of a pair's page."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
from scipy.special import stdtrit

from ...context.measure_strings import is_relative
from ...decisions.compare import compare, is_pairwise
from ...decisions.rule import read_terms
from ...decisions.similarity import inner_range, order_by_clustering, tabulate_distances
from ...decisions.worth import verdict_on_candidate
from ...measures.med import MED
from ...messages import RelativeWarning
from ..contents import Contents, json_number, json_numbers
from . import Picture, Section, Table, pair_squares, quantity

_SIMILAR = """
<p>A cell is the distance of two runs: the mean over topics of {{ measure }}, the largest difference in the measure that
the judgments allow. Similar runs are side by side, so families of runs are dark blocks.</p>
{{ picture("likeness", "A heat map of the distances of every two runs") }}
"""

_AGAINST_REFERENCE = """
<p>The mean difference of each run from {{ run_name(reference) }}, with its interval, and the p of a paired test. Both
are corrected for the number of rows: all intervals hold at once, with 95 % confidence.</p>
{{ table("comparison", "The differences") }}
"""

# From a column of ``compare`` to its title and kind in the page.
_COLUMNS = {
    "measure": ("measure", "word"),
    "mean": ("mean", "value"),
    "difference": ("difference", "value"),
    "ci_lower": ("from", "value"),
    "ci_upper": ("to", "value"),
    "p_corrected": ("p corrected", "p"),
    "wins": ("wins", "count"),
    "ties": ("ties", "count"),
    "losses": ("losses", "count"),
}
# With at most the first number of runs, the report decides on all pairs, else on those of the best few; the product of
# ordered pairs and topics is limited too, to about 20 seconds.
_MOST_DECIDED, _BEST_DECIDED, _MOST_DECIDED_WORK = 20, 4, 40_000


def similar(contents: Contents) -> Section | str:
    """Return the distances of every two runs, clustered."""
    if not contents.has_several_runs:
        return "Which runs are similar: there is only one run."
    measure = MED @ contents.cutoff
    distance, _ = tabulate_distances(contents.collection, measure)
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
        cells = ((other, json_number(distance[run, other])) for other in (others[0], others[-1]))
        extremes.append([run, *itertools.chain.from_iterable(cells)])
    columns = [("run", "run"), ("most similar", "run"), ("distance", "value")]
    columns += [("least similar", "run"), ("distance", "value")]
    picture = Picture(
        pair_squares(colour, {}, run_name="run", other_name="and", value_shown="distance"),
        {"run": "run", "other": "run", "value": "value"},
        list(zip(*(index.tolist() for index in below), json_numbers(distance[below].tolist()), strict=True)),
        Table("The most and the least similar run of each", columns, extremes),
        names=order,
        mirrored={},
    )
    facts, title = {"measure": str(measure)}, "Which runs are similar"
    return Section("likeness", "Similar", title, _SIMILAR, facts, {"likeness": picture})


def against_reference(contents: Contents) -> Section | str:
    """Return the difference of each run from the reference by the absolute measures."""
    context, title = contents.context, "Against the reference"
    absolute = [m for m in contents.measures if not is_relative(m)]
    if not contents.has_several_runs or context.reference is None or not absolute:
        return f"{title}: it needs a reference, another run and an absolute measure."
    names = contents.complete
    if context.reference not in names or len(names) < 2:
        return f"{title}: {contents.why_incomplete}."
    try:
        # The priors do not matter to these measures, and the context's may hold the reference.
        options: dict[str, Any] = {"names": names, "priors": "others", "baseline": context.reference}
        differences = compare(context, contents.qrels, absolute, **options)
    except ImportError:  # statsmodels, for the correction
        return f"{title}: the package statsmodels is not installed."
    rows = contents.rows(differences.drop(columns="other"), *_COLUMNS)
    table = Table("The difference of each run from the reference", [("run", "run"), *_COLUMNS.values()], rows)
    facts, tables = {"reference": contents.reference}, {"comparison": table}
    return Section("comparison", title, title, _AGAINST_REFERENCE, facts, tables=tables)


def pair_data(contents: Contents) -> dict[str, Any]:
    """Return the data of the pages of two runs, which ``templates/pair.js`` draws.

    ``t`` is the quantile of Student's t for as many topics. ``intervals`` has for each measure the intervals of
    :func:`compare`, one for each pair in the order of ``itertools.combinations``; None where there are none, or where
    they would take long. ``incomplete`` are the positions of runs that miss too many topics.
    """
    topics, intervals = contents.collection.documents.n_queries, None
    if contents.are_pairs_few and contents.has_several_runs:
        pairs = list(itertools.combinations(contents.collection.names, 2))
        intervals = [
            # the value of a measure of pairs is not the difference of two values
            None if is_pairwise(measure) else list(map(contents.pair_intervals(measure).get, pairs))
            for measure in contents.measures
        ]
    t = float(stdtrit(topics - 1, 0.975)) if topics > 1 else None
    incomplete = [contents.position[name] for name in contents.incomplete]
    return {"intervals": intervals, "t": t, "decisions": _decide(contents), "incomplete": incomplete}


def _decide(contents: Contents) -> dict[str, Any] | None:
    """Return deployed, candidate, verdict and reason of :func:`worth` for each two of the best runs, or None."""
    position, collection = contents.first_absolute, contents.collection
    if position is None:
        return None
    best = contents.rank_complete_runs(position)
    sizes = range(len(best) if len(best) <= _MOST_DECIDED else _BEST_DECIDED, 1, -1)
    size = next((n for n in sizes if n * (n - 1) * collection.documents.n_queries <= _MOST_DECIDED_WORK), 0)
    best = best[:size]
    if not best:
        return None
    rows = []
    with warnings.catch_warnings():  # the page is about all pairs
        warnings.simplefilter("ignore", RelativeWarning)
        try:
            terms = read_terms(contents.context, contents.measures[position])
            # Both orders of a pair in turn: they share the fused list.
            pairs = (order for a, b in itertools.combinations(best, 2) for order in ((a, b), (b, a)))
            for deployed, candidate in pairs:
                headline, reason = verdict_on_candidate(
                    collection, [collection.names[deployed]], collection.names[candidate], terms
                )
                rows.append([deployed, candidate, headline, f" {reason}"])
        except ValueError:  # a measure that does not say how good a list is, no relevant document
            return None
    return {"runs": len(best), "by": str(terms.by), "rows": rows}
