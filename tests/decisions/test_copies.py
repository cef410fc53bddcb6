"""What a copy of a run's nearest prior scores, which stands beside what the run adds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ir_measures_relative import NRG, P_Rareness, RunContext, Shapley, TaSC, UniqueRel
from ir_measures_relative.context.view import view_of
from ir_measures_relative.decisions.compare import copies_of_nearest
from oracles import meta as oracle

RUNS, LABELS = oracle.campaign(3, runs=4, topics=6)
NEAR = [NRG @ 5, UniqueRel @ 5, NRG(base="RBP"), TaSC, NRG(prior="r1,r2") @ 3, P_Rareness @ 5, Shapley @ 5]


@pytest.mark.parametrize("priors", [None, ["r3"], "earlier"], ids=str)
@pytest.mark.parametrize("measure", NEAR, ids=str)
def test_the_copy_of_the_nearest_prior(measure: Any, priors: Any) -> None:
    """Found by counting documents, and scored in a context in which it stands where the run did."""
    k = measure.params.get("cutoff")

    def top(name: str) -> set[tuple[str, str]]:
        ranked = {q: sorted(docs, key=lambda d: (docs[d], d), reverse=True) for q, docs in RUNS[name].items()}
        return {(q, d) for q, docs in ranked.items() if q in LABELS for d in docs[:k]}

    names = [name for name in RUNS if name not in ("r3",)] if priors == ["r3"] else list(RUNS)
    view = view_of(RunContext(RUNS, priors=priors or "others"), LABELS)
    for name, mean in zip(names, copies_of_nearest(view, names, measure).means, strict=True):
        others = [n for n in RUNS if n != name]
        if "prior" in measure.params:
            near = [n for n in others if n in ("r1", "r2")]
        elif measure.RELATIVE_TO == "systems" or priors is None:
            near = others
        else:
            near = ["r3"] if priors == ["r3"] else list(RUNS)[: list(RUNS).index(name)]
        if not near:
            assert np.isnan(mean)
            continue
        nearest = max(near, key=lambda n: len(top(name) & top(n)))  # the first of equals
        policy = "others" if "prior" in measure.params else {n: [] for n in RUNS} | {name: near}
        context = RunContext(RUNS | {name: RUNS[nearest]}, priors=policy)
        found = context.evaluate(LABELS, [measure], perquery=True).set_index("name")["value"]
        assert mean == pytest.approx(found[name].mean(), rel=1e-12)


def test_a_near_copy_adds_as_much_as_a_copy(dl19_path: Path) -> None:
    """TUA1-1 beside test1: NRG@10 .336, and a copy of test1 has as much."""
    runs = RunContext.from_files(dl19_path / "runs").runs
    context = RunContext({name: runs[name] for name in ("TUA1-1", "test1")}, priors=["test1"])
    view = view_of(context, str(dl19_path / "qrels.txt.gz"))
    means = [copies_of_nearest(view, ["TUA1-1"], m).means[0] for m in (NRG @ 10, UniqueRel @ 10)]
    assert np.round(means, 3).tolist() == [0.336, 0]
    table = context.evaluate(str(dl19_path / "qrels.txt.gz"), [NRG @ 10, UniqueRel @ 10])
    assert table.set_index("name").loc["TUA1-1"].round(3).tolist() == [0.336, 0.047]
