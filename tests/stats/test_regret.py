"""Bounds of regret and gain, and the topics that a verdict needs: against formulas, and what they claim by simulation."""

import os
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import t as student

from ir_measures_relative.decisions.rule import OPEN, decide_by
from ir_measures_relative.stats.intervals import topic_counts
from ir_measures_relative.stats.regret import (
    cautious_upper_end,
    is_sparse,
    mean_covariance,
    option_bounds,
    topics_needed,
    upper_bounds,
)

Floats = NDArray[np.float64]
ENDS = (-1.0, 1.0)
#: REGRET_CASES=2000 runs so many, in some minutes.
CASES = int(os.environ.get("REGRET_CASES", "20"))


def formula_upper_bounds(
    rival: int, values: Floats, confidence: float, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """U(rival, o) of every o by the formulas, option by option, and how much each may be off by the draws of c.

    c is drawn from the means of all options, and not from their differences; each topic and labeling by a loop.
    """
    n_options, n_topics = len(values), values.shape[-1]
    labeled = values if values.ndim == 3 else values[:, None]
    m = labeled.shape[1]
    differing = [o for o in range(n_options) if np.abs(values[rival] - values[o]).max() > 1e-11]
    bounds, slack = np.zeros((2, n_options))
    if not differing:
        return bounds, slack
    degrees = n_topics - 1 if values.ndim == 2 else min(n_topics - 1, m - 1)
    mean, error, careful = {}, {}, []
    for o in differing:
        by_topic = [float(np.mean(labeled[rival, :, t] - labeled[o, :, t])) for t in range(n_topics)]
        by_labeling = [float(np.mean(labeled[rival, i] - labeled[o, i])) for i in range(m)]
        mean[o] = sum(by_topic) / n_topics
        variance = sum((x - mean[o]) ** 2 for x in by_topic) / (n_topics - 1) / n_topics
        between = 0.0
        if values.ndim == 3:
            between = (1 + 1 / m) * sum((x - mean[o]) ** 2 for x in by_labeling) / (m - 1)
        error[o] = (variance + between) ** 0.5
        signs = {np.sign(x) for x in by_topic if abs(x) > 1e-11}
        count = sum(abs(x) > 1e-11 for x in by_topic)
        constant = max(by_topic) - min(by_topic) <= 1e-12
        if count < 15 or (len(signs) == 1 and 2 * count < n_topics) or constant:
            careful.append((o, by_topic, between))
    tail = (1 - confidence) / len(differing)
    dense = [o for o in differing if o not in {o for o, _, _ in careful}]
    if dense:
        level = 1 - tail * len(dense)
        if len(dense) == 1:
            c, noise = float(student.ppf(level, degrees)), 1e-9
        else:
            covariance = np.cov(labeled.mean(axis=1)) / n_topics
            if values.ndim == 3:
                covariance = covariance + (1 + 1 / m) * np.cov(labeled.mean(axis=2))
            drawn = rng.multivariate_normal(
                np.zeros(n_options), covariance, 30_000, method="svd", check_valid="ignore"
            )
            drawn /= np.sqrt(rng.chisquare(degrees, 30_000) / degrees)[:, None]
            c = float(
                np.quantile(
                    np.max([(drawn[:, rival] - drawn[:, o]) / error[o] for o in dense], axis=0), level
                )
            )
            noise = 0.12 if degrees < 10 else 0.07
        for o in dense:
            bounds[o], slack[o] = min(mean[o] + c * error[o], 1.0), noise * error[o] + 1e-9
    for o, by_topic, between in careful:
        high = cautious_upper_end(np.array(by_topic), ENDS[1], 1 - 2 * tail, topic_counts(1999, n_topics, 0))
        t = float(student.ppf(1 - tail, degrees))
        reach = max(((high - mean[o]) ** 2 + t**2 * between) ** 0.5, t * error[o])
        bounds[o], slack[o] = min(mean[o] + reach, 1.0), 1e-7
    return bounds, slack


def random_values(rng: np.random.Generator) -> Floats:
    """Values of two to ten options: smooth, tied, sparse, skewed, constant apart, or unequal with the best far ahead."""
    options, topics = int(rng.integers(2, 11)), int(rng.choice([5, 6, 8, 12, 20, 36, 50, 100]))
    base = rng.beta(2, 2, topics)
    kind = rng.choice(["smooth", "tied", "sparse", "skewed", "constant", "far", "equal"])
    noise = rng.normal(0, 0.1, (options, topics))
    if kind == "sparse":
        noise *= rng.random((options, topics)) < 0.15
    elif kind == "skewed":
        noise = 0.3 * rng.exponential(0.2, (options, topics)) * (rng.random((options, topics)) < 0.6)
    elif kind == "constant":
        noise = np.repeat(rng.normal(0, 0.05, (options, 1)), topics, axis=1)
    elif kind == "far":
        noise = noise * rng.uniform(0.1, 3.0, (options, 1))
        noise[rng.integers(options)] += 0.4
    values = np.clip(base + noise, 0, 1)
    if kind == "tied":
        values = np.round(values * 4) / 4
    if kind == "equal":
        values[-1] = values[0]
    if rng.random() < 0.4:
        m = int(rng.choice([20, 50, 100, 200]))
        moved = rng.normal(0, rng.choice([0.0, 0.01, 0.1]), (options, m, 1)) + rng.normal(
            0, 0.02, (options, m, topics)
        )
        open_topics = rng.random(topics) < rng.choice([0.2, 1.0])
        values = np.clip(values[:, None] + moved * open_topics, 0, 1)
    return values


def test_bounds_are_those_of_the_formulas() -> None:
    rng, compared = np.random.default_rng(0), 0
    for case in range(CASES):
        values, confidence = random_values(rng), float(rng.choice([0.95, 0.9]))
        found = option_bounds(values, ENDS, confidence=confidence)
        assert found is not None
        pairs = [formula_upper_bounds(i, values, confidence, rng) for i in range(len(values))]
        upper, slack = (np.array(part) for part in zip(*pairs, strict=True))
        assert (np.abs(found.gain + upper[0]) <= slack[0]).all(), case
        # The largest of some numbers is off by no more than the one that is off most.
        assert (np.abs(found.regret - np.maximum(upper.max(axis=0), 0)) <= slack.max(axis=0)).all(), case
        compared += len(values)
    assert compared > 4 * CASES


def test_equal_options_have_equal_bounds_in_any_order() -> None:
    rng = np.random.default_rng(1)
    for _ in range(8):
        values = random_values(rng)
        found = option_bounds(values, ENDS)
        order = np.append(0, 1 + rng.permutation(len(values) - 1))
        other = option_bounds(values[order], ENDS)
        assert found is not None and other is not None
        assert other.regret.tolist() == found.regret[order].tolist()
        assert other.gain.tolist() == found.gain[order].tolist()
        again = option_bounds(
            np.concatenate([values, values[:1]]), ENDS
        )  # a copy of the first widens nothing of it
        assert again is not None and again.gain[-1] == 0 and again.regret[-1] == again.regret[0]


def test_strict_bounds_of_values_without_open_documents_are_the_same() -> None:
    rng = np.random.default_rng(2)
    for _ in range(8):
        values = random_values(rng)
        if values.ndim == 3:
            continue
        found = option_bounds(values, ENDS)
        strict = option_bounds(values[:, None] - values, ENDS, strictly=True)
        assert found is not None and strict is not None
        assert strict.regret == pytest.approx(found.regret) and strict.gain == pytest.approx(found.gain)


def test_few_topics_say_nothing() -> None:
    values = np.random.default_rng(3).random((3, 4))
    assert option_bounds(values, ENDS) is None
    assert upper_bounds(values - values[0], ENDS).tolist() == [0.0, 1.0, 1.0]


def test_a_constant_difference_has_no_certain_mean() -> None:
    """All topics may be alike by chance: the bound is no further from it with more topics, and never it."""
    bounds = [upper_bounds(np.full((1, n), 0.3) + 1e-17, ENDS)[0] for n in (5, 20, 100)]
    assert bounds[0] > bounds[1] > bounds[2] > 0.3


def test_which_differences_are_sparse() -> None:
    rows: Any = [
        [0.1] * 14 + [0.0] * 36,
        [0.1, -0.1] * 10 + [0.0] * 30,
        [0.1] * 20 + [0.0] * 30,
        [0.1] * 30 + [0.0] * 20,
    ]
    assert is_sparse(np.array(rows)).tolist() == [True, False, True, False]


def test_the_variance_of_a_mean_has_both_parts() -> None:
    """Of labelings that are all the same it is that over topics; the variance between their means comes on top."""
    rng = np.random.default_rng(4)
    values = rng.random((2, 30))
    plain, degrees = mean_covariance(values)
    same, fewer = mean_covariance(np.repeat(values[:, None], 20, axis=1))
    assert (degrees, fewer) == (29, 19) and same == pytest.approx(plain)
    shifts = rng.normal(0, 0.1, (1, 20, 1))
    moved, _ = mean_covariance(values[:, None] + shifts)
    assert moved - plain == pytest.approx(np.full((2, 2), 1.05 * shifts.var(ddof=1)))


@pytest.mark.parametrize("spread", [0.0, 0.05])
def test_bounds_hold_as_often_as_they_say(spread: float) -> None:
    """Of all options at once, however they differ, and of the one that is chosen for its bound."""
    rng, held, gains, chosen, runs = np.random.default_rng(5), 0, 0, 0, 200
    truth = np.array([0.0, 0.0, spread, -spread])
    root = rng.normal(0, 0.1, (4, 4))
    for _ in range(runs):
        values = 0.5 + truth[:, None] + root @ rng.standard_normal((4, 40))
        found = option_bounds(values, ENDS)
        assert found is not None
        regret, gain = truth.max() - truth, truth - truth[0]
        held += bool((found.regret >= regret).all())
        gains += bool((found.gain <= gain + 1e-12).all())
        best = int(found.regret.argmin())
        chosen += bool(found.regret[best] >= regret[best])
    assert min(held, gains) >= 0.92 * runs and chosen >= held


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
