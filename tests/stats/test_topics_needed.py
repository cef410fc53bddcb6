"""How many topics a verdict needs: against the formula for two options, and against the rule on redrawn topics."""

import numpy as np
import pytest
from scipy.stats import t as student

from ir_measures_relative.decisions.rule import OPEN, decide_by
from ir_measures_relative.stats.regret import option_bounds, topics_needed


def drawn(seed: int, topics: int, means: tuple[float, ...], sd: float = 0.2) -> np.ndarray:
    values: np.ndarray = np.random.default_rng(seed).normal(
        np.array(means)[:, None], sd, (len(means), topics)
    )
    return values - values.mean(axis=1, keepdims=True) + np.array(means)[:, None]


def test_two_options_need_what_the_formula_says() -> None:
    """To show that a gain of 0.05 is above 0: ((1.645 + 0.842)·sd/0.05)² topics, with the sd of the difference."""
    found = topics_needed(drawn(0, 4000, (0.3, 0.35)), 0.02)
    assert found is not None
    expected = ((1.645 + 0.842) * 0.2 * 2**0.5 / 0.05) ** 2
    assert 0.7 * expected < found.low <= expected * 1.15 and expected * 0.85 < found.high < 1.4 * expected


@pytest.mark.parametrize(
    ("values", "margin", "most"),
    [
        (np.tile(np.linspace(0, 1, 20), (2, 1)), 0.02, 5),
        (np.array([np.zeros(9), np.ones(9)]), 0.02, 5),
        (np.array([np.ones(9), np.zeros(9)]), 0.0, 5),
        (drawn(1, 20, (0.5, 0.3)), 0.0, 30),
        (drawn(1, 20, (0.3, 0.31)), 0.0, np.inf),
    ],
    ids=["equal", "far apart", "far apart, no margin", "no margin", "close, no margin"],
)
def test_extremes(values: np.ndarray, margin: float, most: float) -> None:
    found = topics_needed(values, margin)
    assert found is not None
    assert most / 10 < found.low <= found.high <= most if np.isfinite(most) else found.low > 100


def test_a_confidence_of_one_half_has_an_answer() -> None:
    values = np.random.default_rng(0).random((3, 12))
    needed = topics_needed(values, 0.02, confidence=0.5)
    assert needed is not None and 5 <= needed.low <= needed.high


def test_too_few_topics_say_nothing() -> None:
    assert topics_needed(drawn(0, 4, (0.3, 0.5)), 0.02) is None


def test_what_unjudged_documents_leave_open_stays_open() -> None:
    """Labelings that shift an option as a whole are not settled by topics."""
    values = drawn(2, 40, (0.3, 0.36))
    shift = np.linspace(-0.3, 0.3, 30)[None, :, None] * np.array([0.0, 1.0])[:, None, None]
    with_labels = topics_needed(values[:, None] + shift, 0.02)
    without = topics_needed(values, 0.02)
    assert with_labels is not None and without is not None
    assert with_labels.low == np.inf and without.low < 200


def test_labelings_count_with_the_variance_of_a_finite_number() -> None:
    """Options without any spread over topics: (1 + 1/M) times the variance between M labelings decides alone."""
    gains = np.random.default_rng(0).normal(size=6)
    gains = (gains - gains.mean()) / gains.std(ddof=1)
    values = np.zeros((2, 6, 12))
    values[1] = 0.01 * gains[:, None]
    # The bound is t · 0.01 · √(7/6), with 5 degrees of freedom, and a mean varies by as much as its error.
    error = 0.01 * np.sqrt(7 / 6)
    enough = (student.ppf(0.95, 5) + student.ppf(0.8, 1e9)) * error
    assert topics_needed(values, 1.2 * enough) == (5.0, 5.0)
    assert topics_needed(values, 0.8 * enough) == (np.inf, np.inf)


def test_the_number_is_reached_by_the_rule_on_redrawn_topics() -> None:
    """Of a population with 3,000 topics, samples of the size that it asks for have a verdict in about 80 %."""
    population = drawn(3, 3000, (0.3, 0.33, 0.36), 0.15)
    found = topics_needed(population, 0.02)
    assert found is not None and found.high < 2 * found.low
    random = np.random.default_rng(0)
    n = int((found.low * found.high) ** 0.5)
    verdicts = [
        decide_by(
            option_bounds(population[:, random.integers(3000, size=n)], (-1, 1)), [1, 1, 1], 0.02
        ).verdict
        for _ in range(60)
    ]
    assert 0.65 < np.mean(np.array(verdicts) != OPEN) < 0.95
