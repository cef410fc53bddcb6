"""The sentences of a decision: the verdict and its reason, what to do, then the evidence; a paragraph each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..context.measure_strings import value_of
from ..messages import escaped, few
from ..stats.intervals import FEWEST_DIFFERING
from ..tolerances import LABELED_ALIKE
from .decision import number, paragraphs
from .decision_rule import OPEN, Decided, Intervals
from .evidence import Tables, not_the_reason, sentences

if TYPE_CHECKING:
    from .compared import CandidateCompared, Compared, RunsDropped

_NOTHING = "There is nothing to change."
#: On a candidate, by verdict: the reason, and what to do where that is settled.
WORTH = {
    "copy": ("**Keep {deployed}.** {new} ranks every topic exactly as {copy} does.", _NOTHING),
    "keep": (
        "**Keep {deployed}.** {at}neither adding {new} ({add}) nor replacing {best} with {new} ({replace}) "
        "gains {any}.",
        _NOTHING,
    ),
    "open": (
        "**Open: keep {deployed} for now.** {at}adding {new} ({add}) or replacing {best} with {new} ({replace}) may "
        "or may not gain {any}.",
        "",
    ),
    "add": (
        "**Add {new} to {deployed}.** {at}adding {new} ({add}) {is_gain}, also over replacing {closest} with "
        "{new} ({rival}).",
        "Deploy {new} beside {deployed}.",
    ),
    "replace": (
        "**Replace {best} with {new}.** {at}replacing {best} with {new} ({replace}) {is_gain}. Adding {new} instead "
        "does not gain {any} over that ({rival}).",
        "Deploy {new} and retire {best}.",
    ),
    "add or replace": (
        "**{new} helps: whether to add it or to replace {best} with it is open.** {at}one of these {is_gain}: "
        "adding {new} ({add}), or replacing {best} with {new} ({replace}). It is open which is better ({rival}).",
        "Replacing {best} needs no further run.",
    ),
}
#: On any options, the same.
OPTIONS = {
    "keep": ("**Keep {first}.** {at}no other option gains {any}: {others}.", _NOTHING),
    "open": (
        "**Open: keep {first} for now.** {at}the other options may or may not gain {any}: {others}.",
        "",
    ),
    "one": ("**{best}.** {at}{best} {is_gain} over {first}{beats}: {others}.", ""),
    "several": ("**{best}.** {at}{first} is not the best option, and it is open which one is: {others}.", ""),
}
#: On deployed runs, the reason by verdict.
DROP = {
    "safe": "**Safe to drop, one at a time: {runs}.** {at}the {by} loss is at most {margin}: {losses}.",
    "needed": "Needed: {runs}. The {by} loss is above {margin}: {losses}.",
    "open": "Open: {runs}. The {by} loss may be above {margin}: {losses}.",
    "not graded": "**Not graded: set margin=, the largest loss that you accept.** {by} loss without a run: {losses}.",
}
#: What settles an open verdict.
TO_DO = {
    "unbounded": "This takes the judgments as they are: {by} has no bounds for unjudged documents.",
    "no judge": "More judgments may settle this; which, is not known.",
    "judge": "Judge the {judge} that can change the verdict{order}.",
    "as judged": "By the judgments as they are the verdict is {as_judged}{stands}.",
    "alike": "{topics} topics are too few: were the difference the same on others, about {about} would settle it.",
    "few": "Judge more topics: by {topics} it is not known how many would settle it.",
    "close": "More topics will not settle this: the difference{allowing} is too close to {margin}. Set {larger}.",
    "about": "About {about} topics would settle {it} with 80 % power ({fewest} to {most}); there are {topics}.",
}


def of_worth(of: CandidateCompared, tables: Tables) -> str:
    """The answer on a candidate."""
    reason, to_do = reason_of_worth(of)
    new, page = map(number, tables["why"]["mean"][:2])
    one, many = (_all(of.deployed),) * 2 if len(of.deployed) == 1 else ("any deployed run", "these runs")
    top = f"the top {value_of(of.settings.by, 'cutoff') or 10} of"
    why = (
        f"Why: the new documents in {top} {escaped(of.candidate)} (not in {top} {one}) include {new} relevant ones per "
        f"topic. The same number of further documents from {many} includes {page}."
    )
    reason = f"{reason} {not_the_reason(of, tables)}"
    return paragraphs(reason, f"{to_do} {_to_do(of)}", why, *sentences(of, tables))


def reason_of_worth(of: CandidateCompared) -> tuple[str, str]:
    """The verdict on a candidate with its reason, and what to do where it is settled."""
    verdict = of.word().split(" ")[0] if of.overall >= OPEN else of.word()
    may, gain = of.may_be_best(), of.gain
    replaces = range(2, len(of.names))
    likely = max(replaces, key=lambda i: (i in may, gain.lower[i - 1] > of.margin, gain.difference[i - 1]))
    best = of.overall if of.overall > 1 else likely
    closest = 2 + int(np.argmin(of.between.lower))
    rival = (closest if verdict == "add" else best) - 2
    words = _words(of) | {
        "new": escaped(of.candidate),
        "deployed": _all(of.deployed),
        "best": escaped(of.deployed[best - 2]),
        "closest": escaped(of.deployed[closest - 2]),
        "copy": escaped(str(of.copy_of)),
        "add": _gain(of, 1, True),
        "replace": _gain(of, best, verdict == "replace"),
        "rival": f"adding minus replacing: {_ends(of.between, rival)}",
    }
    reason, to_do = WORTH["copy" if of.copy_of is not None else verdict]
    return reason.format(**words), to_do.format(**words)


def of_options(of: Compared, tables: Tables) -> str:
    """The answer on any options."""
    verdict = "several" if of.overall < OPEN else ("open", "keep", "one")[min(of.overall, 1) + 1]
    first = escaped(of.names[0])
    if first.lower() == "keep":
        first = _all(of.options[0].runs)
    words = _words(of) | {
        "first": first,
        "best": _all([of.names[i] for i in of.may_be_best()], "or"),
        "others": "; ".join(
            f"{escaped(of.names[i])} ({_gain(of, i, i == 1)})" for i in range(1, len(of.names))
        ),
        "beats": ", and none of the others beats it" if len(of.names) > 2 else "",
    }
    reason, to_do = (one.format(**words) for one in OPTIONS[verdict])
    return paragraphs(reason, f"{to_do} {_to_do(of)}", *sentences(of, tables))


def of_drop(of: RunsDropped, tables: Tables) -> str:
    """The answer on which deployed run can go."""
    parts: list[str] = []
    for grade, sentence in DROP.items():
        rows = [i for i, one in enumerate(of.grades) if one == grade]
        if rows:
            losses = [f"{escaped(of.dropped[i])} ({_ends(of.gain, i, sign=-1)})" for i in rows[:3]]
            losses += [f"{len(rows) - 3} more in the table"] if len(rows) > 3 else []
            runs = few(escaped(of.dropped[i]) for i in rows)
            parts.append(sentence.format(**_words(of), runs=runs, losses="; ".join(losses)))
    if not parts[0].startswith("**"):
        parts.insert(0, "**No run is safe to drop.**")
    interval = f"In brackets: the loss, and its {100 * of.confidence:g} % interval{_allowing(of)}."
    it = "one of these" if of.grades.count("open") > 1 else "it"
    return paragraphs(" ".join([*parts, interval]), _to_do(of, it), *sentences(of, tables))


def _to_do(of: Compared, it: str = "it") -> str:
    missing, n = of.missing or "", len(of.judge)
    asked = [] if of.values.bounded else ["unbounded"]
    if few_topics := bool(missing) and of.topics < FEWEST_DIFFERING:
        asked.append("few")
    elif "judgments" in missing:
        asked += ["judge" if n else "no judge", *(["as judged"] if missing == "judgments" else [])]
    words = {
        "by": of.by,
        "topics": of.topics,
        "judge": f"{n} unjudged document{'s' * (n > 1)}",
        "order": ", the most important first" * (n > 1),
        "as_judged": of.word(as_judged=True),
        "stands": "" if of.stands is None else f", and stays so with a probability of {of.stands:.2f}",
    }
    told = [TO_DO[one].format(**words) for one in asked]
    if "topics" in missing and not few_topics:
        told.append(_topics_advice(of, it))
    return " ".join(told)


def _topics_advice(of: Compared, it: str) -> str:
    """How many topics would settle an open question."""
    needed, topics, margin = of.topics_needed, of.topics, of.margin
    larger = f"a margin= above {margin:g}" if margin else "margin=, the smallest difference that matters"
    words = {"topics": topics, "margin": f"{margin:g}", "larger": larger, "allowing": _allowing(of, ",")}
    if needed is None or not needed.possible:
        return TO_DO["few" if topics < 2 * FEWEST_DIFFERING else "close"].format(**words)
    if needed.fewest == needed.most:
        return TO_DO["alike"].format(about=needed.needed, **words)
    fewest, about, most = (f"{round(n, 2 - len(str(n))) if n > 99 else n:,}" for n in sorted(needed))
    return TO_DO["about"].format(it=it, fewest=fewest, about=about, most=most, **words)


def _ends(found: Intervals, row: int, interval: str = "", sign: int = 1) -> str:
    """A difference with its interval; with the sign -1 a loss."""
    mean, *ends = (sign * end[row] for end in (found.difference, found.lower, found.upper))
    plus = "+" if mean > 0 and number(mean) != "0" else ""
    return f"{plus}{number(mean)}, {interval}{number(min(ends))} to {number(max(ends))}"


def _gain(of: Decided, option: int, full: bool = False) -> str:
    """The gain of an option with its interval; in full it says of which measure, and what the interval is."""
    ends = _ends(of.gain, option - 1, f"{100 * of.confidence:g} % interval " if full else "")
    return f"{of.by} {ends}{_allowing(of)}" if full else ends


def _allowing(of: Decided, end: str = "") -> str:
    moved = bool((of.gain.best - of.gain.worst > LABELED_ALIKE).any())
    return f", allowing for unjudged documents{end}" if moved else ""


def _words(of: Decided) -> dict[str, str]:
    margin = f"your margin of {of.margin:g}"
    return {
        "at": f"{of.where}, ",
        "by": of.by,
        "any": f"more than {margin}" if of.margin else "anything",
        "is_gain": f"gains more than {margin}" if of.margin else "is a gain",
        "margin": margin,
    }


def _all(names: Sequence[str], word: str = "and") -> str:
    shown = [escaped(name) for name in names]
    if len(shown) > 4:
        return few(shown, 3)
    return f" {word} ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))
