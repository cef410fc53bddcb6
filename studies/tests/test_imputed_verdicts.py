"""Verdicts on redrawn topics, of which only the doubtful ones are simulated, are those of the rule."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from ir_measures_relative.decisions.rule import decide_by
from ir_measures_relative.stats.regret import option_bounds

sys.path.insert(0, str(Path(__file__).parents[1]))


@pytest.mark.parametrize("labelings", [1, 30])
def test_redrawn_verdicts_are_those_of_the_rule(labelings: int) -> None:
    from imputed_verdicts import ENDS, SIZES, redrawn_verdicts

    random, topics = np.random.default_rng(labelings), 40
    quality = np.array([0.5, 0.53, 0.55])[:, None, None] + 0.1 * random.normal(size=(3, 1, topics))
    values = quality + 0.02 * random.normal(size=(3, labelings, topics))
    verdicts = redrawn_verdicts(values[:, None] - values, 60, 0)
    drawn = np.random.default_rng(0).integers(topics, size=(60, topics))
    redrawn = [values[..., some] if labelings > 1 else values[:, 0, some] for some in drawn]
    expected = [decide_by(option_bounds(some, ENDS), SIZES, 0.02).verdict for some in redrawn]
    assert verdicts.tolist() == expected and len(set(expected)) > 1
