"""The bounds of recall and subtopic recall, against all judgments of the unjudged documents."""

from __future__ import annotations

import itertools
import random
from typing import Any

import ir_measures
import pytest

from all_labelings import check, random_campaign
from aspect_campaigns import as_qrels, random_aspects, random_run
from ir_measures_relative import RunContext, bounds, verdicts


@pytest.mark.parametrize("elsewhere", [0, 1])
def test_recall_is_exact_for_a_run_and_for_two(elsewhere: int) -> None:
    rng, intervals = random.Random(1), 0
    for _ in range(40):
        campaign = random_campaign(rng, rng.choice([1, 2]), 4)
        k = campaign.cutoff
        if k is None:
            continue
        found = check(campaign, [f"R@{k}", f"R(rel=2)@{k}"], elsewhere)
        for of_measure in found.values():
            for total, exact, beyond in of_measure.values():
                intervals += total
                assert exact == total and beyond < 1e-9
    assert intervals > 300


def test_subtopic_recall_is_that_of_all_aspects_that_unjudged_documents_can_have() -> None:
    rng, compared = random.Random(2), 0
    while compared < 300:
        labels = random_aspects(rng, n_queries=1)
        (query,) = labels
        runs: dict[str, Any] = {name: random_run(rng, labels) for name in ("a", "b")}
        tops = {name: list(run[query])[:3] for name, run in runs.items()}
        aspects = sorted(
            {a for docs in labels.values() for of in docs.values() for a, label in of.items() if label > 0}
        )
        free = sorted({d for top in tops.values() for d in top} - set(labels[query]))
        if not aspects or len(free) * len(aspects) > 8:
            continue
        measure = ir_measures.StRecall @ 3
        context, qrels = RunContext(runs, grades=(0, 1)), as_qrels(labels)
        one, two = bounds(context, qrels, [measure]), verdicts(context, qrels, [measure])
        sets = [s for n in range(len(aspects) + 1) for s in itertools.combinations(aspects, n)]
        values = []
        for choice in itertools.product(sets, repeat=len(free)):
            of = {
                doc: {a for a, label in of_doc.items() if label > 0} for doc, of_doc in labels[query].items()
            }
            of |= {doc: set(some) for doc, some in zip(free, choice, strict=True)}
            values.append([len(set().union(*(of[d] for d in top))) / len(aspects) for top in tops.values()])
        for i in range(2):
            assert one["worst"][i] == pytest.approx(min(v[i] for v in values))
            assert one["best"][i] == pytest.approx(max(v[i] for v in values))
        assert two["worst"][0] == pytest.approx(min(v[0] - v[1] for v in values))
        assert two["best"][0] == pytest.approx(max(v[0] - v[1] for v in values))
        compared += 6
