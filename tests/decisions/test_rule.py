"""The rule of decisions against a plain reading of it; and its sentences, each true of the state that it is said of."""

import itertools
import math
import random
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from ir_measures_relative.decisions import text
from ir_measures_relative.decisions.rule import (
    AS_WELL,
    BETTER,
    NEEDED,
    NOT_SETTLED,
    OPEN,
    SAFE,
    UNDECIDED,
    WORSE,
    Conclusion,
    compare_removals,
    decide_by,
    grade_runs,
    number,
    number_above,
    number_below,
    number_beside,
)
from ir_measures_relative.stats.regret import OptionBounds
from ir_measures_relative.tolerances import ROUNDED


def plain_rule(
    regret: Sequence[float], gain: Sequence[float], sizes: Sequence[int], margin: float
) -> tuple[str, int]:
    """The rule as a page says it: the kind of the verdict, and the choice."""
    if regret[0] <= margin:
        return "keep", 0
    fits = [(sizes[i], regret[i], i) for i in range(1, len(sizes)) if regret[i] <= margin and gain[i] > 0]
    if fits:
        return "change", sorted(fits)[0][2]
    best = sorted((regret[i], sizes[i], i) for i in range(len(sizes)))[0][2]
    return "open", 0 if f"{regret[0]:.2f}" == f"{regret[best]:.2f}" else best


def random_bounds(rng: random.Random, n: int) -> OptionBounds:
    """Some bounds that may belong together: the best option has the least regret, and the first gains nothing."""
    values = [0.0, 0.005, 0.01, 0.015, 0.02, 0.024, 0.026, 0.05, 0.2]
    regret, gain = ([rng.choice(values) for _ in range(n)] for _ in range(2))
    gain = [0.0, *(rng.choice([-1, 1]) * g for g in gain[1:])]
    # What gains at least so much leaves keeping at least so much below the best.
    regret[0] = max([regret[0], *(g + 0.001 for g in gain if g > 0)])
    return OptionBounds(np.array(regret), np.array(gain))


def test_the_verdict_and_the_choice_are_the_rule() -> None:
    rng, seen = random.Random(1), set()
    for _ in range(5000):
        n, margin = rng.randint(2, 6), rng.choice([0.0, 0.01, 0.02, 0.1])
        bounds, sizes = random_bounds(rng, n), [rng.randint(1, 4) for _ in range(n)]
        verdict, choice = decide_by(bounds, sizes, margin)
        kind, expected = plain_rule(bounds.regret.tolist(), bounds.gain.tolist(), sizes, margin)
        assert choice == expected
        assert verdict == (OPEN if kind == "open" else expected)
        seen.add((kind, choice == 0))
    assert seen == {("keep", True), ("change", False), ("open", True), ("open", False)}
    assert decide_by(None, [1, 2], 0.02) == (OPEN, 0)


@pytest.mark.parametrize(
    ("upper", "lower", "removal", "grade"),
    [
        *((-0.01, -0.04, BETTER, SAFE), (0.0, -0.03, AS_WELL, SAFE), (0.02, 0.01, AS_WELL, SAFE)),
        *((0.03, 0.01, WORSE, UNDECIDED), (0.05, 0.03, WORSE, NEEDED)),
        *((0.03, -0.01, NOT_SETTLED, UNDECIDED), (0.03, 0.02, WORSE, UNDECIDED)),
    ],
)
def test_removals_and_grades(upper: float, lower: float, removal: str, grade: str) -> None:
    ends = np.array([upper]), np.array([lower])
    assert compare_removals(*ends, 0.02) == [removal] and grade_runs(*ends, 0.02) == [grade]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        *((0.0, "0"), (-1e-17, "0"), (0.126, "0.13"), (-0.126, "−0.13"), (0.005, "0.01")),
        *((0.0042, "0.004"), (3e-5, "0.00003")),
    ],
)
def test_numbers_say_something(value: float, shown: str) -> None:
    assert number(value) == shown


def test_a_number_beside_a_margin_is_on_its_side() -> None:
    assert [number_beside(value, 0.02) for value in (0.0208, 0.02004, 0.02, 0.0151, 0.3)] == [
        *("0.021", "0.02004", "0.02", "0.02", "0.30"),
    ]


def test_what_is_at_least_or_at_most_something_is_rounded_to_that_side() -> None:
    values = (0.196, 0.02, 0.0089, 0.0008893, 0.29, -0.126, -0.0034, 1e-17, math.inf)
    assert [number_below(value) for value in values] == [
        *("0.19", "0.02", "0.008", "0.0008", "0.29", "−0.13", "−0.004", "0", "inf"),
    ]
    assert [number_above(value) for value in values] == [
        *("0.20", "0.02", "0.009", "0.0009", "0.29", "−0.12", "−0.003", "0", "inf"),
    ]
    assert [number_above(value, 0.025) for value in (0.134, 0.0264, 0.0252, 0.024, 0.02, 0.0, math.inf)] == [
        *("0.14", "0.03", "0.03", "0.024", "0.02", "0", "inf"),
    ]


def options_of(deployed: Sequence[str], candidate: str) -> tuple[list[text.Words], list[int]]:
    """The words of the options that there are beside some deployed runs, and how many runs each has."""
    n, several = len(deployed), len(deployed) > 1
    names = ["keep", "add", *(f"replace {x}" for x in deployed), *(["replace all"] if several else [])]
    return [text.name_option(x, deployed, candidate) for x in names], [n, n + 1, *[n] * n, *[1] * several]


def random_state(rng: random.Random) -> text.State:
    """A state that the rule can be in."""
    several = rng.random() < 0.5
    deployed = ["A", "B", "C"] if several else ["A"]
    words, sizes = options_of(deployed, "new")
    margin = rng.choice([0.0, 0.01, 0.02])
    bounds = random_bounds(rng, len(words)) if rng.random() < 0.95 else None
    outcome = decide_by(bounds, sizes, margin)
    labels = rng.choice(["all", "judged", "imputed", "strict"])
    unknown = labels == "judged" and rng.random() < 0.5
    strict = None if labels == "all" or unknown else decide_by(random_bounds(rng, len(words)), sizes, margin)
    if labels == "strict":
        strict = outcome
    removals = {x: rng.choice([BETTER, AS_WELL, WORSE, NOT_SETTLED]) for x in deployed} if several else None
    why_no_model = "A relevance model needs 2 further runs of the collection" if unknown else ""
    return text.State(
        text.Basis("nDCG@10", margin, 0.95, labels, why_no_model),
        words,
        20 if bounds is not None else 3,
        outcome,
        bounds,
        text.nothing_gains(deployed, "new"),
        strict=strict,
        removals=removals,
        copy="new ranks every topic exactly as A does." if not several and rng.random() < 0.1 else "",
    )


def claims(sentence: str, pattern: str) -> list[float]:
    return [float(found) for found in re.findall(pattern, sentence)]


def test_every_sentence_on_options_is_true() -> None:
    rng, seen = random.Random(2), set()
    for _ in range(4000):
        state = random_state(rng)
        headline, reason = text.describe(state)
        whole = f"{headline} {reason}"
        assert len(whole.split()) <= 60, whole
        assert "  " not in whole and "None" not in whole and "nan" not in whole
        verdict, choice = state.outcome
        do = state.options[choice].do
        assert (do in headline) or headline.startswith(do[0].upper() + do[1:])
        assert headline.startswith("If unjudged documents count as not relevant") == (
            state.basis.labels == "judged"
        )
        assert ("pen" in headline.split(".")[0]) == (verdict == OPEN)
        assert ("not known" in reason) == bool(state.basis.why_no_model)
        for other, option in enumerate(state.options):  # no half that is ruled out
            if other not in (choice, 0):
                assert option.doing not in reason or option.doing in state.no_gain
        if state.bounds is None:
            assert "with 3 topics, nothing can be bounded" in reason
            continue
        regret, gain = state.bounds
        for claim in claims(reason, r"gains at least ([\d.]+)"):
            assert 0 < claim <= gain[choice] + ROUNDED and claim > gain[choice] - 0.01
        for claim in claims(reason, r"(?:no(?: other)? option is more than|it is at most) ([\d.]+)"):
            assert regret[choice] - ROUNDED <= claim < regret[choice] + 0.01
        for claim in claims(reason, r"\(keeping .*?: ([\d.]+)\)"):
            assert regret[0] - ROUNDED <= claim < regret[0] + 0.01 and choice != 0
        if "no other option is better" in reason:
            assert regret[choice] == 0
        if "is not proven" in reason:
            assert verdict == OPEN and choice and gain[choice] <= 0 and regret[choice] <= state.basis.margin
        if "more than your margin" in reason or "anything by" in reason:
            assert verdict == 0 and regret[0] <= state.basis.margin
        if "Allowing for unjudged documents, this stands" in reason:
            assert state.strict is not None and state.strict.verdict == verdict != OPEN
        if "could leave this open" in reason:
            assert state.strict is not None and state.strict.verdict == OPEN != verdict
        for run, removal in ((state.removals or {}) if state.is_settled else {}).items():
            alone = re.search(
                rf"Removing ({run}|one of [^.]*\b{run}\b[^.]*)( alone)? (is better|would do as well)", reason
            )
            assert bool(alone) == (removal in (BETTER, AS_WELL)), (reason, state.removals)
            even = re.search(rf"\([^)]*\b{run}\b[^)]*: better\)|Removing {run} alone is better", reason)
            assert bool(even) == (removal == BETTER)
        if "would not do as well" in reason:
            assert state.removals is not None and set(state.removals.values()) == {WORSE}
        seen.add(text._choose_reason(state))
    assert seen == {*text.REASONS} - {"change of two", "few topics"}


def test_the_models_of_the_sentences() -> None:
    """One deployed run and several; the words that a reader sees first."""

    def answer(bounds: OptionBounds, deployed: Sequence[str], **further: Any) -> str:
        words, sizes = options_of(deployed, "SPLADE")
        basis = text.Basis("nDCG@10", 0.02, 0.95, "imputed", "")
        no_gain = text.nothing_gains(deployed, "SPLADE")
        outcome = decide_by(bounds, sizes, 0.02)
        return " ".join(text.describe(text.State(basis, words, 36, outcome, bounds, no_gain, **further)))

    def bounds(regret: Sequence[float], gain: Sequence[float]) -> OptionBounds:
        return OptionBounds(np.array(regret), np.array(gain))

    kept = bounds([0.01, 0.08, 0.09], [0, -0.1, -0.1])
    assert answer(kept, ["BM25"], strict=Conclusion(0, 0)) == (
        "Keep BM25. Neither adding SPLADE nor replacing BM25 with it gains more than your margin of 0.02 nDCG@10 (95 %, "
        "over topics and unjudged documents). Allowing for unjudged documents, this stands."
    )
    better = bounds([0.1, 0.04, 0.01], [0, 0.02, 0.05])
    assert answer(better, ["BM25"]) == (
        "Replace BM25 with SPLADE. It gains at least 0.05 nDCG@10, and no other option is more than 0.01 better (each at "
        "95 %)."
    )
    open_ = bounds([0.06, 0.03, 0.05], [0, -0.01, -0.02])
    assert answer(open_, ["BM25"]) == (
        "Open. If you must choose now, add SPLADE to BM25: no option is more than 0.03 nDCG@10 better (keeping BM25: 0.06)."
    )
    good = bounds([0.06, 0.01, 0.05], [0, -0.01, -0.02])
    assert answer(good, ["BM25"]) == (
        "Open. If you must choose now, add SPLADE to BM25: it is at most 0.01 nDCG@10 below the best; that it beats keeping "
        "BM25 is not proven."
    )


def test_every_sentence_on_deployed_runs_is_true() -> None:
    names = ["A", "B", "C"]
    for grades in itertools.product((SAFE, NEEDED, UNDECIDED), repeat=3):
        for alone, labels, strict in itertools.product(
            (None, ("B", 0.05)), text.BASIS, (None, "same", "open in part")
        ):
            grade_by_run = dict(zip(names, grades, strict=True))
            basis = text.Basis("nDCG@10", 0.02, 0.95, labels)
            headline, reason = text.describe_drop(basis, grade_by_run, alone, strict)
            whole = f"{headline} {reason}"
            assert len(whole.split()) <= 60
            assert headline.startswith("If unjudged") == (labels == "judged")
            if alone is not None:
                assert "B alone gains at least 0.05 nDCG@10." in headline
            for word, grade in (
                ("Safe to drop, one at a time", SAFE),
                ("Needed", NEEDED),
                ("Open", UNDECIDED),
            ):
                listed = re.search(rf"{word}: ([^.]*)\.", whole)
                runs = re.findall(r"\b[ABC]\b", listed[1]) if listed else []
                assert runs == [name for name, of_run in grade_by_run.items() if of_run == grade]
            assert ("No run is safe" in whole) == (set(grades) == {NEEDED} and alone is None)
            if "this stands" in reason:
                assert strict == "same"
