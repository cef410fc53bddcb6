"""The sentences of decisions: tables from a state to a sentence, which is true of every such state."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..messages import escaped, few
from ..stats.intervals import FEWEST_DIFFERING
from ..stats.regret import OptionBounds
from ..stats.topics_needed import MOST_TOPICS
from .rule import (
    AS_WELL,
    BETTER,
    NEEDED,
    NOT_SETTLED,
    OPEN,
    SAFE,
    UNDECIDED,
    WORSE,
    Conclusion,
    number,
    number_beside,
)

#: Over what a statement holds, by the labels that it is made with; "all" where nothing is unjudged.
BASIS = {
    "all": "{level}, over topics",
    "judged": "{level}, over topics",
    "imputed": "{level}, over topics and unjudged documents",
    "strict": "{level}, over topics, allowing for unjudged documents",
}

#: The start of an answer, by whether it counts unjudged documents as not relevant, and whether the verdict is open.
HEADLINES = {
    (False, False): "{Do}.",
    (False, True): "Open. If you must choose now, {do}:",
    (True, False): "If unjudged documents count as not relevant, {do}.",
    (True, True): "If unjudged documents count as not relevant, it is open. If you must choose now, {do}:",
}

#: The reason, by the state of the choice.
REASONS = {
    "keep": "{no_gain} more than your margin of {margin} {by} ({basis}).",
    "keep at 0": "{no_gain} anything by {by} ({basis}).",
    "copy": "{copy}",
    "change": "It gains at least {gain} {by}, and no other option is more than {regret} better (each at {level}).",
    "change to the best": "It gains at least {gain} {by}, and no other option is better (each at {level}).",
    "change of two": "It gains at least {gain} {by} ({basis}).",
    "few topics": "with {topics}, nothing can be bounded; at least {fewest} are needed.",
    "open, keep": "no option is more than {regret} {by} better ({basis}).",
    "open, gain": "it gains at least {gain} {by}, and no option is more than {regret} better ({keeping}: {keep}).",
    "open": "no option is more than {regret} {by} better ({keeping}: {keep}).",
    "open, as good": "it is at most {regret} {by} below the best; that it beats {keeping} is not proven.",
}

#: What the extremes of the unjudged documents would make of it.
STRICT = {
    "same": "Allowing for unjudged documents, this stands.",
    "open": "At their extremes, unjudged documents could leave this open.",
    "open in part": "At their extremes, unjudged documents could leave some of this open.",
    "other": "At the unjudged documents' extremes: {other}.",
}

#: Whether removing a deployed run would do as well as the choice; one run, and several.
REMOVALS = {
    (BETTER, False): "Removing {runs} alone is better.",
    (BETTER, True): "Removing one of {runs} would do as well ({better}: better).",
    (AS_WELL, False): "Removing {runs} alone would do as well.",
    (AS_WELL, True): "Removing one of {runs} would do as well.",
    (WORSE, False): "Removing {runs} alone would not do as well.",
    (WORSE, True): "Removing one run alone would not do as well.",
    (NOT_SETTLED, False): "Whether removing {runs} alone would do as well is not settled.",
    (NOT_SETTLED, True): "Whether removing one run alone would do as well is not settled.",
}

#: On deployed runs: the start of the answer by its state, and the sentence on the runs of each verdict.
DROP_HEADLINES = {
    "alone": "{alone} alone gains at least {gain} {by}.",
    SAFE: "Safe to drop, one at a time: {safe}.",
    NEEDED: "No run is safe to drop: each is needed.",
    UNDECIDED: "No run is certainly safe to drop.",
}
DROP_REASONS = {
    SAFE: "Dropping {it} loses at most your margin of {margin} {by} ({basis}).",
    "safe beside": "Safe to drop, one at a time: {runs}. Dropping {it} loses at most your margin of {margin} {by} "
    "({basis}).",
    NEEDED: "Needed: {runs}. Dropping {it} loses more than {margin}.",
    UNDECIDED: "Open: {runs}.",
}


class Words(NamedTuple):
    """The names of an option in a sentence."""

    do: str  #: "replace BM25 with SPLADE"
    doing: str  #: "replacing BM25 with SPLADE"


@dataclass(frozen=True)
class State:
    """All that the sentences on options depend on."""

    options: Sequence[Words]
    by: str
    margin: float
    confidence: float
    labels: str  #: a key of :data:`BASIS`
    topics: int
    outcome: Conclusion
    bounds: OptionBounds | None
    no_gain: str  #: that the others gain no more, as a sentence starts
    conditional: bool = False  #: whether unjudged documents count as not relevant
    why_no_model: str = ""  #: why the verdict is not known, where it is not
    strict: Conclusion | None = None  #: by the extremes; None where all is judged, or they are not known
    removals: Mapping[str, str] | None = None  #: from a deployed run to how removing it compares
    needs: str = ""  #: what would settle an open verdict
    copy: str = ""  #: that the candidate is a copy of the one deployed run

    @property
    def short(self) -> bool:
        """Whether the answer has room for a sentence on removals, which is evidence else."""
        return self.outcome.verdict != OPEN and not self.why_no_model


def describe(state: State) -> tuple[str, str]:
    """Return the headline and the reason of an answer on options."""
    verdict, choice = state.outcome
    do, keeping = state.options[choice].do, state.options[0].doing
    words = {
        "Do": capital(do),
        "do": do,
        "keeping": keeping,
        "by": state.by,
        "margin": number(state.margin) if state.margin < 0.005 else f"{state.margin:g}",
        "level": format_level(state.confidence),
        "basis": describe_basis(state.labels, state.confidence),
        "no_gain": state.no_gain,
        "copy": state.copy,
        "topics": "1 topic" if state.topics == 1 else f"{state.topics} topics",
        "fewest": FEWEST_DIFFERING,
    }
    if state.bounds is not None:
        regret, gain = state.bounds
        below = (number_beside(value, state.margin) for value in (regret[choice], regret[0]))
        words |= {**dict(zip(("regret", "keep"), below, strict=True)), "gain": number(gain[choice])}
    headline = HEADLINES[state.conditional, verdict == OPEN].format(**words)
    parts = [REASONS[_reason(state)].format(**words), state.needs]
    if state.why_no_model:
        parts.append(f"{state.why_no_model}, so what unjudged documents would change is not known.")
    elif state.strict is not None:
        parts.append(_strict_sentence(state, state.strict))
    if state.removals and state.short:
        parts.append(removal_sentence(state.removals))
    return headline, " ".join(filter(None, parts))


def describe_needs(topics: tuple[float, float], n_topics: int, unjudged_share: float) -> str:
    """Return what would settle an open verdict: judgments, where unjudged documents leave most of it open; or topics.

    Args:
        topics: how many in all, as a range; inf is more than 10,000.
        n_topics: how many there are.
        unjudged_share: the share of the variance that unjudged documents make.
    """
    if unjudged_share > 0.5:
        return "Judging unjudged documents would settle more than further topics."
    low, high = (_rounded(max(n, n_topics + 1)) for n in topics)
    there = f"there are {n_topics}"
    if math.isinf(low):
        return f"More than {MOST_TOPICS:,} topics would settle it; {there}."
    if math.isinf(high):
        return f"{low:,.0f} topics or more would settle it; {there}."
    if low == high:
        return f"Some {low:,.0f} topics would settle it; {there}."
    return f"Some {low:,.0f} to {high:,.0f} topics would settle it; {there}."


def _rounded(n: float) -> float:
    """Round a number up to two significant digits."""
    if math.isinf(n) or n < 100:
        return n
    unit = 10.0 ** (math.floor(math.log10(n)) - 1)
    return math.ceil(n / unit) * unit


def _reason(state: State) -> str:
    """Return the key of the reason."""
    verdict, choice = state.outcome
    if state.bounds is None:
        return "few topics"
    regret, gain = state.bounds
    if verdict == OPEN:
        if choice == 0:
            return "open, keep"
        if regret[choice] <= state.margin:
            return "open, as good"
        return "open, gain" if gain[choice] > 0 else "open"
    if verdict == 0:
        return "copy" if state.copy else "keep" if state.margin else "keep at 0"
    if len(state.options) == 2:
        return "change of two"
    return "change" if number(regret[choice]) != "0" else "change to the best"


def _strict_sentence(state: State, strict: Conclusion) -> str:
    verdict = state.outcome.verdict
    if strict.verdict == verdict:
        return "" if verdict == OPEN or state.labels == "strict" else STRICT["same"]
    if strict.verdict == OPEN:
        return STRICT["open"]
    other = state.options[strict.verdict].do
    return STRICT["other"].format(other=other)


def removal_sentence(removals: Mapping[str, str]) -> str:
    """Return the sentence on the deployed runs whose removal would do as well; else on all of them."""
    by_state = {
        state: [run for run, of_run in removals.items() if of_run == state]
        for state in (BETTER, AS_WELL, NOT_SETTLED, WORSE)
    }
    better, runs = by_state[BETTER], [run for run, of in removals.items() if of in (BETTER, AS_WELL)]
    state = BETTER if better else AS_WELL if runs else NOT_SETTLED if by_state[NOT_SETTLED] else WORSE
    if not runs:  # of some it may be known that they would not do as well
        runs = by_state[state] if len(by_state[state]) == 1 else [*removals]
    return REMOVALS[state, len(runs) > 1].format(runs=join(runs), better=join(better))


@dataclass(frozen=True)
class DropState:
    """All that the sentences on deployed runs depend on."""

    grades: Mapping[str, str]  #: from run to its verdict
    alone: (
        tuple[str, float] | None
    )  #: the run that gains most alone, and how much at least; None where none does
    by: str
    margin: float
    confidence: float
    labels: str  #: a key of :data:`BASIS`
    conditional: bool = False  #: whether unjudged documents count as not relevant
    why_no_model: str = ""  #: why the verdict is not known, where it is not
    #: "same" or "open": what the extremes make of all of this; None where not known
    strict: str | None = None


def describe_drop(state: DropState) -> tuple[str, str]:
    """Return the headline and the reason of an answer on deployed runs."""
    runs = {
        grade: [run for run, of in state.grades.items() if of == grade] for grade in (SAFE, NEEDED, UNDECIDED)
    }
    words = {
        "by": state.by,
        "margin": f"{state.margin:g}",
        "basis": describe_basis(state.labels, state.confidence),
        "safe": join(runs[SAFE]),
    }
    start = SAFE if runs[SAFE] else UNDECIDED if runs[UNDECIDED] else NEEDED
    if state.alone is not None:
        words |= {"alone": escaped(state.alone[0]), "gain": number(state.alone[1])}
        start = "alone"
    parts = []
    for grade, of_grade in runs.items():
        if of_grade:
            key = "safe beside" if grade == SAFE and start == "alone" else grade
            it = "it" if len(of_grade) == 1 else "one of them"
            parts.append(DROP_REASONS[key].format(**words, runs=join(of_grade), it=it))
    if state.why_no_model:
        parts.append(f"{state.why_no_model}, so what unjudged documents would change is not known.")
    elif state.strict is not None and state.labels != "strict":
        parts.append(STRICT["same" if state.strict == "same" else "open in part"])
    headline = DROP_HEADLINES[start].format(**words)
    if state.conditional:
        headline = f"If unjudged documents count as not relevant: {headline}"
    return headline, " ".join(parts)


# ---- words


def capital(text: str) -> str:
    """Return the text with a capital letter at its start."""
    return text[:1].upper() + text[1:]


def format_level(confidence: float) -> str:
    """Return the confidence in per cent."""
    return f"{100 * confidence:g} %"


def format_share(share: float) -> str:
    """Return a share in per cent."""
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"


def describe_basis(labels: str, confidence: float) -> str:
    """Return with what confidence, and over what, a statement holds."""
    return BASIS[labels].format(level=format_level(confidence))


def join(names: Sequence[str], word: str = "and") -> str:
    """Join the names; of more than four, the first three and how many more there are."""
    shown = [escaped(name) for name in names]
    if len(shown) > 4:
        return few(shown, 3)
    return f" {word} ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def name_option(name: str, deployed: Sequence[str], candidate: str) -> Words:
    """Return the words for an option with a candidate."""
    deployed_runs, new = join(deployed), escaped(candidate)
    if name == "keep":
        return Words(f"keep {deployed_runs}", f"keeping {deployed_runs if len(deployed) == 1 else 'all'}")
    if name == "add":
        return Words(f"add {new} to {deployed_runs}", f"adding {new}")
    replaced = deployed_runs if name == "replace all" else escaped(name.removeprefix("replace "))
    return Words(f"replace {replaced} with {new}", f"replacing {replaced} with {new}")


def nothing_gains(deployed: Sequence[str], candidate: str) -> str:
    """Return that no option with a candidate gains, as a sentence starts."""
    new = escaped(candidate)
    if len(deployed) == 1:
        return f"Neither adding {new} nor replacing {join(deployed)} with it gains"
    return f"Neither adding {new} nor replacing one or all runs with it gains"
