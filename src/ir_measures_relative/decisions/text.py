"""The sentences of decisions: tables from a state to a sentence that is true in every such state."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..messages import counted, few
from ..stats.intervals import FEWEST_DIFFERING, MOST_TOPICS
from ..stats.regret import OptionBounds
from ..writing import escaped
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
    number_above,
    number_below,
)

#: The scope of a statement, by the labels that it is based on; "all" where nothing is unjudged.
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

#: The effect of the extremes of the unjudged documents.
STRICT = {
    "same": "Allowing for unjudged documents, this stands.",
    "open": "At their extremes, unjudged documents could leave this open.",
    "open in part": "At their extremes, unjudged documents could leave some of this open.",
    "other": "At the unjudged documents' extremes: {other}.",
}

#: The consequence of having no relevance model.
NOT_KNOWN = "{why}, so what unjudged documents would change is not known."

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
#: On runs whose verdict in the table, without a relevance model, is another than as judged.
DROP_STRICT = "Allowing for unjudged documents, {runs} {verb} open."


class Words(NamedTuple):
    """The words for choosing an option in a sentence."""

    do: str  #: "replace BM25 with SPLADE"
    doing: str  #: "replacing BM25 with SPLADE"


class Basis(NamedTuple):
    """The basis of the sentences: the measure, the margin, the confidence, and the labels."""

    by: str
    margin: float
    confidence: float
    labels: str  #: a key of :data:`BASIS`; with "judged", unjudged documents count as not relevant
    why_no_model: str = ""  #: why the verdict is not known, where it is not

    @property
    def words(self) -> dict[str, str]:
        """The words that fill the sentences."""
        level = format_level(self.confidence)
        basis = BASIS[self.labels].format(level=level)
        return {"by": self.by, "margin": format_margin(self.margin), "level": level, "basis": basis}


@dataclass(frozen=True)
class State:
    """The state of an answer on options, from which its sentences are made."""

    basis: Basis
    options: Sequence[Words]
    topics: int
    outcome: Conclusion
    bounds: OptionBounds | None
    no_gain: str  #: the start of a sentence: that the other options gain no more
    strict: Conclusion | None = None  #: by the extremes; None where all is judged, or they are not known
    removals: Mapping[str, str] | None = None  #: from a deployed run to how removing it compares
    needs: str = ""  #: what would settle an open verdict
    copy: str = ""  #: a note that the candidate is a copy of the only deployed run; empty if it is not

    @property
    def is_settled(self) -> bool:
        """Whether there is a verdict; the answer then has room for a sentence on removals, which is evidence else."""
        return self.outcome.verdict != OPEN and not self.basis.why_no_model


def describe(state: State) -> tuple[str, str]:
    """Return the headline and the reason of an answer on options."""
    basis, (verdict, choice) = state.basis, state.outcome
    do, keeping = state.options[choice].do, state.options[0].doing
    words: dict[str, Any] = {
        **basis.words,
        "Do": capital(do),
        "do": do,
        "keeping": keeping,
        "copy": state.copy,
    }
    words |= {"no_gain": state.no_gain, "topics": counted(state.topics, "topic"), "fewest": FEWEST_DIFFERING}
    if state.bounds is not None:
        regret, gain = state.bounds
        words |= {"gain": number_below(gain[choice]), "regret": number_above(regret[choice], basis.margin)}
        words["keep"] = number_above(regret[0], basis.margin)
    headline = HEADLINES[basis.labels == "judged", verdict == OPEN].format(**words)
    parts = [REASONS[_choose_reason(state)].format(**words), state.needs]
    if basis.why_no_model:
        parts.append(NOT_KNOWN.format(why=basis.why_no_model))
    elif state.strict is not None:
        parts.append(_describe_extremes(state, state.strict))
    if state.removals and state.is_settled:
        parts.append(describe_removals(state.removals))
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
    low, high = (_round_up(max(n, n_topics + 1)) for n in topics)
    needed = f"Some {low:,.0f} to {high:,.0f} topics"
    if math.isinf(low):
        needed = f"More than {MOST_TOPICS:,} topics"
    elif math.isinf(high):
        needed = f"{low:,.0f} topics or more"
    elif low == high:
        needed = f"Some {low:,.0f} topics"
    return f"{needed} would settle it; there are {n_topics}."


def _round_up(n: float) -> float:
    """Round a number up to two significant digits."""
    if math.isinf(n) or n < 100:
        return n
    unit = 10.0 ** (math.floor(math.log10(n)) - 1)
    return math.ceil(n / unit) * unit


def _choose_reason(state: State) -> str:
    """Return the key of the reason."""
    verdict, choice = state.outcome
    if state.bounds is None:
        return "few topics"
    regret, gain = state.bounds
    if verdict == OPEN:
        if choice == 0:
            return "open, keep"
        if regret[choice] <= state.basis.margin:
            return "open, as good"
        return "open, gain" if gain[choice] > 0 else "open"
    if verdict == 0:
        return "copy" if state.copy else "keep" if state.basis.margin else "keep at 0"
    if len(state.options) == 2:
        return "change of two"
    return "change" if number(regret[choice]) != "0" else "change to the best"


def _describe_extremes(state: State, strict: Conclusion) -> str:
    verdict = state.outcome.verdict
    if strict.verdict == verdict:
        return "" if verdict == OPEN or state.basis.labels == "strict" else STRICT["same"]
    if strict.verdict == OPEN:
        return STRICT["open"]
    return STRICT["other"].format(other=state.options[strict.verdict].do)


def describe_removals(removals: Mapping[str, str]) -> str:
    """Return the sentence on the deployed runs whose removal would do as well; else on all of them."""
    by_state: dict[str, list[str]] = {state: [] for state in (BETTER, AS_WELL, NOT_SETTLED, WORSE)}
    for run, state in removals.items():
        by_state[state].append(run)
    state = next(state for state, runs in by_state.items() if runs)
    runs = [run for run, state_of_run in removals.items() if state_of_run in (BETTER, AS_WELL)]
    if not runs:  # for some it may be known that they would not do as well
        runs = by_state[state] if len(by_state[state]) == 1 else [*removals]
    return REMOVALS[state, len(runs) > 1].format(runs=join(runs), better=join(by_state[BETTER]))


def describe_drop(
    basis: Basis,
    grades: Mapping[str, str],
    alone: tuple[str, float] | None,
    extremes: str | None = None,
    open_strictly: Sequence[str] = (),
) -> tuple[str, str]:
    """Return the headline and the reason of an answer on deployed runs.

    Args:
        basis: of the sentences.
        grades: from run to its verdict.
        alone: the run that gains most alone, and how much at least; None where none does.
        extremes: a key of :data:`STRICT`; None where they are not known.
        open_strictly: the runs that are open in the table, which allows for unjudged documents, and not as judged.
    """
    by_grade: dict[str, list[str]] = {grade: [] for grade in (SAFE, NEEDED, UNDECIDED)}
    for run, grade in grades.items():
        by_grade[grade].append(run)
    words = {**basis.words, "safe": join(by_grade[SAFE])}
    start = SAFE if by_grade[SAFE] else UNDECIDED if by_grade[UNDECIDED] else NEEDED
    if alone is not None:
        words |= {"alone": escaped(alone[0]), "gain": number_below(alone[1])}
        start = "alone"
    parts = []
    for grade, runs in by_grade.items():
        key = "safe beside" if grade == SAFE and start == "alone" else grade
        it = "it" if len(runs) == 1 else "one of them"
        parts += [DROP_REASONS[key].format(**words, runs=join(runs), it=it)] if runs else []
    if basis.why_no_model:
        parts.append(NOT_KNOWN.format(why=basis.why_no_model))
        if open_strictly:
            verb = "is" if len(open_strictly) == 1 else "are"
            parts.append(DROP_STRICT.format(runs=join(open_strictly), verb=verb))
    elif extremes is not None and basis.labels != "strict":
        parts.append(STRICT[extremes])
    headline = DROP_HEADLINES[start].format(**words)
    if basis.labels == "judged":
        headline = f"If unjudged documents count as not relevant: {headline}"
    return headline, " ".join(parts)


# ---- words


def capital(text: str) -> str:
    """Return the text with a capital letter at its start."""
    return text[:1].upper() + text[1:]


def format_level(confidence: float) -> str:
    """Format a confidence in per cent."""
    return f"{100 * confidence:g} %"


def format_margin(margin: float) -> str:
    """Format a margin with all of its decimals."""
    return f"{margin:.12f}".rstrip("0").rstrip(".")


def format_share(share: float) -> str:
    """Format a share in per cent."""
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"


def join(names: Sequence[str]) -> str:
    """Join the names; of more than four, the first three and how many more there are."""
    shown = [escaped(name) for name in names]
    if len(shown) > 4:
        return few(shown, 3)
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


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
    """Return the start of a sentence: that no option with a candidate gains."""
    new = escaped(candidate)
    if len(deployed) == 1:
        return f"Neither adding {new} nor replacing {join(deployed)} with it gains"
    return f"Neither adding {new} nor replacing one or all runs with it gains"
