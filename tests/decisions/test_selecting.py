"""select_complementary: the plain greedy choice, to the last bit, and work that grows with the pairs of runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from ir_measures_relative import RunContext, select_complementary
from long_campaigns import campaign
from work import instructions

MEASURES = [
    "NRG@10",
    "NRG",
    "NRG(base='P')@5",
    "NRG(base='RBP')",
    "NRG(base='RR')@10",
    "UniqueRel@5",
    "TaSC(base='nDCG@5')",
]


def plainly(runs: Any, qrels: pd.DataFrame, n: int, measure: str) -> pd.DataFrame:
    """Greedily, with a new context for every step."""
    chosen: list[str] = []
    marginal: list[float] = []
    for _ in range(n):
        values = RunContext(runs, priors=chosen).evaluate(qrels, [measure], perquery=True)
        means = {name: float(np.mean(rows["value"])) for name, rows in values.groupby("name", sort=False)}
        left = {name: mean for name, mean in means.items() if name not in chosen}
        chosen.append(max(left, key=left.__getitem__))
        marginal.append(left[chosen[-1]])
    return pd.DataFrame({"name": chosen, "marginal": marginal})


@pytest.mark.parametrize("measure", MEASURES)
def test_it_is_the_plain_greedy_choice(measure: str) -> None:
    for seed in range(2):
        runs, qrels = campaign(seed, n_runs=12)
        runs = {**runs, "run7": runs["run3"]}  # equals go in the order of the context
        found = select_complementary(RunContext(runs, priors="earlier"), qrels, 12, measure)
        pd.testing.assert_frame_equal(
            found[["name", "marginal"]], plainly(runs, qrels, 12, measure), check_exact=True
        )


@pytest.mark.parametrize("measure", ["NRG@10", "UniqueRel@5"])
def test_work_grows_with_the_pairs_of_runs(measure: str) -> None:
    """A step looks at every run that is left, and at no prior again."""
    _, qrels = campaign(0)

    def work(n: int) -> int:
        context = RunContext(campaign(0, n_runs=n)[0])
        return instructions(lambda: select_complementary(context, qrels, n, measure))

    work(2)
    small, large = work(8), work(24)
    assert large < 1.1 * 9 * small
