"""Every labeling of the open documents of small random campaigns, scored: what intervals must hold.

Each labeling of a query becomes a query of its own, so that one call scores them all as a user would.
"""

import itertools
import random
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import ir_measures
import numpy as np
from numpy.typing import NDArray

from ir_measures_relative import RunContext, bounds, verdicts
from oracles.rankings import trec_order

DOCS = "abcdefghij"
ROUNDING = 1e-9


class Campaign(NamedTuple):
    """Runs by name, qrels, and the options of a context."""

    runs: dict[str, dict[str, dict[str, float]]]
    qrels: dict[str, dict[str, int]]
    options: dict[str, Any]
    cutoff: int | None


def random_campaign(rng: random.Random, highest: int, most_open: int, n_queries: int = 2) -> Campaign:
    """Two to four runs of short rankings with ties on a few queries; at most ``most_open`` open documents a query."""
    cutoff = rng.choice([1, 2, 3, 3, 4, 5, None])
    queries = [str(i + 1) for i in range(n_queries)]  # gdeval takes numbers alone
    names = [f"r{i}" for i in range(rng.randint(2, 4))]
    docs = DOCS[: rng.randint(3, len(DOCS))]
    runs: dict[str, dict[str, dict[str, float]]] = {name: {} for name in names}
    for name, query in itertools.product(names, queries):
        if rng.random() < 0.9:
            ranked = rng.sample(docs, rng.randint(0, min(len(docs), 6)))
            runs[name][query] = {d: float(rng.randint(0, 6)) for d in ranked}
    runs = {n: r if any(r.values()) else {queries[0]: {docs[0]: 1.0}} for n, r in runs.items()}
    qrels: dict[str, dict[str, int]] = {}
    lowest = rng.choice([0, 0, -1])
    labels = range(lowest, highest + 1)
    most_open = most_open if lowest == 0 else min(most_open, 3)
    for query in queries:
        judged = rng.sample(docs, rng.randint(1, len(docs)))
        qrels[query] = {d: rng.choice(labels) for d in judged}
        if all(label < 0 for label in qrels[query].values()):
            qrels[query][judged[0]] = 0  # pytrec_eval writes outside its arrays otherwise
        while len(left := open_of(runs, qrels, query, cutoff)) > most_open:
            qrels[query][left[0]] = rng.choice(labels)
    options: dict[str, Any] = {"grades": (lowest, highest)}
    options["priors"] = rng.choice(
        ["others", "earlier", names[:1], {n: rng.sample(names, rng.randint(0, len(names))) for n in names}]
    )
    return Campaign(runs, qrels, options, cutoff)


def open_of(runs: Any, qrels: Any, query: str, cutoff: int | None) -> list[str]:
    """The unjudged documents in the top of any run."""
    tops = [trec_order(run.get(query, {}))[:cutoff] for run in runs.values()]
    return sorted({d for top in tops for d in top} - set(qrels[query]))


def labelings(
    campaign: Campaign, query: str, labels: list[int], unretrieved_relevant: int = 0
) -> list[dict[str, int]]:
    """The qrels of a query under every labeling."""
    left = open_of(campaign.runs, campaign.qrels, query, campaign.cutoff)
    left += [f"elsewhere{i}" for i in range(unretrieved_relevant)]
    return [
        campaign.qrels[query] | dict(zip(left, choice, strict=True))
        for choice in itertools.product(labels, repeat=len(left))
    ]


def all_values(
    campaign: Campaign, measures: Sequence[Any], labels: list[int], unretrieved_relevant: int = 0
) -> dict[str, NDArray[np.float64]]:
    """For each query the values of all runs and measures under every labeling: (runs, measures, labelings)."""
    names = list(campaign.runs)
    qrels = {
        f"{query}{i:06}": labeling
        for query in campaign.qrels
        for i, labeling in enumerate(labelings(campaign, query, labels, unretrieved_relevant))
    }
    runs = {name: {key: campaign.runs[name].get(key[:1], {}) for key in qrels} for name in names}
    context = RunContext(runs, **campaign.options)
    values = np.empty((len(names), len(measures), len(qrels)))
    for j, measure in enumerate(
        measures
    ):  # one by one: ir_measures computes plain nDCG beside one with gains wrongly
        table = context.evaluate(qrels, [measure], perquery=True)
        values[:, j] = table["value"].to_numpy().reshape(len(names), len(qrels))
    of_query = np.array([key[:1] for key in qrels])
    return {query: values[:, :, of_query == query] for query in campaign.qrels}


def rounding_of(measure: str) -> float:
    """How far a value may be off: gdeval prints five digits."""
    return 3e-5 if "ERR" in measure or "exp-log2" in measure else ROUNDING


def check(campaign: Campaign, given: Sequence[Any], unretrieved_relevant: int = 0) -> dict[str, Any]:
    """Compares intervals with the values of all labelings; raises AssertionError where one is wrong.

    Returns:
        for each measure how many intervals of one run, and of two, there were, how many exact, and the widths beyond
        what labelings attain.
    """
    parsed = [ir_measures.parse_measure(m) if isinstance(m, str) else m for m in given]
    measures = [str(m) for m in parsed]
    low, high = campaign.options["grades"]
    # To judged_only a document with a negative label is unjudged, and no labeling leaves one so.
    labels = list(range(0 if any("judged_only=True" in m for m in measures) else low, high + 1))
    values = all_values(campaign, parsed, labels, unretrieved_relevant)
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        context = RunContext(campaign.runs, **campaign.options)
        options: dict[str, Any] = {"perquery": True, "unretrieved_relevant": unretrieved_relevant}
        one = bounds(context, campaign.qrels, parsed, **options)
        two = verdicts(context, campaign.qrels, parsed, **options, missing="zero")
    found: dict[str, Any] = {m: {"one": [0, 0, 0.0], "two": [0, 0, 0.0]} for m in measures}
    names = list(campaign.runs)
    for kind, rows in (("one", one), ("two", two)):
        for row in rows.itertuples():
            j = measures.index(row.measure)
            attained = values[row.query_id][names.index(row.name), j]
            if kind == "two":
                attained = attained - values[row.query_id][names.index(row.other), j]
            low, high = float(attained.min()), float(attained.max())
            rounding = rounding_of(row.measure)
            what = f"{row} {low} {high} {campaign}"
            assert row.worst <= low + rounding and high <= row.best + rounding, what
            if row.exact:
                assert abs(row.worst - low) < rounding and abs(row.best - high) < rounding, what
            if kind == "two":
                if row.settled == "above":
                    assert low > 0 or (low == 0 and rounding > ROUNDING), what
                if row.settled == "below":
                    assert high < 0 or (high == 0 and rounding > ROUNDING), what
                if row.settled == "equal":
                    assert max(-low, high) < rounding, what
                if not row.n_deciding and not unretrieved_relevant:
                    assert high - low < rounding, what
            tally = found[row.measure][kind]
            tally[0] += 1
            tally[1] += bool(row.exact)
            tally[2] += (row.best - row.worst) - (high - low)
    return found
