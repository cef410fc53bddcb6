"""The sentences of a decision: the verdict and its reason, what to do, then the evidence; a paragraph each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..context.measure_strings import value_of
from ..messages import escaped, few
from ..stats.intervals import FEWEST_DIFFERING
from ..stats.power import TopicsNeeded
from ..tolerances import LABELED_ALIKE
from .decision_rule import KEEP, OPEN, CandidateDecided, Decided, Intervals

if TYPE_CHECKING:
    from .compared import CandidateCompared, Compared, RunsDropped


_NOTHING = "There is nothing to change."
#: On a candidate, by verdict: the reason, and what to do where that is settled.
WORTH = {
    "copy": ("**Keep {deployed}.** {new} ranks every topic exactly as {copy} does.", _NOTHING),
    "keep": (
        "**Keep {deployed}.** {at}neither adding {new} ({add}) nor replacing {best} by it ({replace}) gains {any}.",
        _NOTHING,
    ),
    "open": (
        "**Open: keep {deployed} for now.** {at}adding {new} ({add}) or replacing {best} by it ({replace}) may or may "
        "not gain {any}.",
        "",
    ),
    "add": (
        "**Add {new} to {deployed}.** {at}adding {new} ({add}) {is_gain}, also over replacing {closest} by it "
        "({rival}).",
        "Deploy {new} beside {deployed}.",
    ),
    "replace": (
        "**Replace {best} by {new}.** {at}replacing {best} by {new} ({replace}) {is_gain}. Adding {new} instead does "
        "not gain {any} over that ({rival}).",
        "Deploy {new} and retire {best}.",
    ),
    "add or replace": (
        "**Add {new}, or replace {best} by it.** {at}adding {new} ({add}) or replacing {best} by it ({replace}) "
        "{is_gain}. It is open whether adding is better than replacing ({rival}).",
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
    "safe": "**Safe to drop, one at a time: {runs}.** {at}the loss is at most {margin}: {losses}.",
    "needed": "Needed: {runs}. The loss is above {margin}: {losses}.",
    "open": "Open: {runs}. The loss may be above {margin}: {losses}.",
    "not graded": "**Not graded: set margin=, the largest loss that you accept.** Without each run: {losses}.",
}
#: What settles an open verdict.
TO_DO = {
    "unbounded": "This takes the judgments as they are: {by} has no bounds for unjudged documents.",
    "few": "Judge more topics: {topics} cannot show how topics vary.",
    "judge 0": "More judgments may settle this; which, is not known.",
    "judge 1": "Judge the unjudged document that can change the verdict, in the table judge.",
    "judge": "Judge the {judge} unjudged documents that can change the verdict, in the order of the table judge.",
    "as judged": "By the judgments as they are the verdict is {as_judged}{stands}.",
}
#: How many topics would.
TOPICS = {
    "alike": "{topics} topics are too few: were the difference the same on others, about {about} would settle it.",
    "few": "Judge more topics: {topics} are too few to say how many would settle it.",
    "close": "More topics will not settle this: the difference is too close to {margin}. Set {larger}.",
    "about": "About {about} topics would settle it with 80 % power ({fewest} to {most}); there are {topics}.",
}
#: Where something else in the candidate's place may gain as much.
NOT_THE_REASON = {
    "no run": "{most} of the gain is from retiring {retired}: with no run in its place, it is {gain} ({new}'s lead "
    "over that: {lead}).",
    "copy": "{most} of the gain does not need {new}: with {instead} in its place, it is {gain} ({new}'s lead over "
    "that: {lead}).",
    "open": "It is open whether {new} is the reason: with {instead} in its place, the gain is {gain} ({new}'s lead "
    "over that: {lead}).",
}
#: Of each table of evidence the sentence of a row.
ROW = {
    "instead": "With {instead} in its place, {option} would gain {gain} (the candidate's lead: {lead}).",
    "unscored": "{option} has {mean}; what its runs alone have is not known, for the reranker did not score them on "
    "every topic.",
    "routers": "{option} has {mean}; the best single run, chosen on other topics, has {single}, and the best run of "
    "each topic {best_of_each}.",
    "pools": "{option} shows {shown} relevant documents; {not_shown} more are in its pool, {outside_pool} outside, and "
    "{never_retrieved} are never retrieved. The best order of its pool has {ceiling}.",
    "fewer": "Fewer runs: {runs}. On topics that were not used to choose them, the loss against all {all} is {loss} "
    "({ci_lower} to {ci_upper}).",
}
#: After an audit: what settles an open verdict, and what the answer rests on.
AUDIT = {
    "judgments": "Label more documents: a plan with a larger budget and the same seed asks for these and for more.",
    "topics": "Label documents of more topics. On these {topics} alone the verdict is {here}.",
    "evidence": "This rests on {labels} human labels on {topics} topics. By the model's labels alone: {alone}.",
}


#: Tables of evidence by name.
Tables = Mapping[str, pd.DataFrame]


def of_worth(of: CandidateCompared, tables: Tables) -> str:
    """The answer on a candidate."""
    reason, to_do = reason_of_worth(of)
    instead = _instead(of, tables)
    new, page = (number(tables["why"]["mean"].iloc[i]) for i in (0, 1))
    one, many = (_all(of.deployed),) * 2 if len(of.deployed) == 1 else ("any deployed run", "these runs")
    why = (
        f"Why: {escaped(of.candidate)} retrieves {new} relevant documents per topic that are not in the top "
        f"{value_of(of.settings.by, 'cutoff') or 10} of {one}. As many further documents of {many} hold {page}."
    )
    why = " ".join([why, *([] if instead else _rows(tables, "instead"))])
    return paragraphs(f"{reason} {instead}", f"{to_do} {_to_do(of)}", why, *_evidence(of, tables))


def reason_of_worth(of: CandidateDecided) -> tuple[str, str]:
    """The verdict on a candidate with its reason, and what to do where it is settled."""
    verdict = of.word().split(" ")[0] if of.overall >= OPEN else of.word()
    best = of.overall if of.overall > 1 else 2 + int(np.argmax(of.gain.difference[1:]))
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
        "rival": f"adding less replacing: {_ends(of.between, rival)}",
    }
    reason, to_do = WORTH["copy" if of.copy_of is not None else verdict]
    return reason.format(**words), to_do.format(**words)


def of_options(of: Compared, tables: Tables) -> str:
    """The answer on any options."""
    verdict = "several" if of.overall < OPEN else ("open", "keep", "one")[min(of.overall, 1) + 1]
    told = [f"{escaped(name)} ({_gain(of, i, i == 1)})" for i, name in enumerate(of.names) if i]
    in_use = of.options[0]
    first = escaped(in_use.name)
    if first.lower() == "keep":
        first = "what is deployed" if in_use.rule is not None else _all(in_use.runs)
    words = _words(of) | {
        "first": first,
        "best": _all([of.names[i] for i in of.may_be_best()], "or"),
        "others": "; ".join(told),
        "beats": ", and none of the others beats it" if len(of.names) > 2 else "",
    }
    reason, to_do = (one.format(**words) for one in OPTIONS[verdict])
    return paragraphs(reason, f"{to_do} {_to_do(of)}", *_evidence(of, tables))


def of_drop(of: RunsDropped, tables: Tables) -> str:
    """The answer on which deployed run can go."""
    parts: list[str] = []
    for grade, sentence in DROP.items():
        rows = [i for i, one in enumerate(of.grades) if one == grade]
        if not rows:
            continue
        losses = [f"{escaped(of.dropped[i])} ({_ends(of.gain, i, sign=-1)})" for i in rows[:3]]
        if not parts:  # what the numbers are, once
            losses[0] = losses[0].replace(" (", f" ({of.by} loss ", 1)[:-1] + f"{_allowing(of)})"
        losses += [f"{len(rows) - 3} more in the table"] if len(rows) > 3 else []
        runs = few(escaped(of.dropped[i]) for i in rows)
        parts.append(sentence.format(**_words(of), runs=runs, losses="; ".join(losses)))
    if not parts[0].startswith("**"):
        parts.insert(0, "**No run is safe to drop.**")
    fewer = _rows(tables, "fewer", all=len(of.dropped))
    return paragraphs(" ".join(parts), _to_do(of), *fewer, *_evidence(of, tables))


# ---- what to do


def _to_do(of: Compared) -> str:
    missing = of.missing or ""
    asked = [] if of.values.bounded else ["unbounded"]
    n = len(of.judge)
    if few_topics := bool(missing) and of.topics < FEWEST_DIFFERING:
        asked.append("few")
    elif "judgments" in missing:
        asked += ["judge" if n > 1 else f"judge {n}", *(["as judged"] if missing == "judgments" else [])]
    words = {
        "by": of.by,
        "topics": of.topics,
        "judge": n,
        "as_judged": of.word(as_judged=True),
        "stands": "" if of.stands is None else f", and stays so with a probability of {of.stands:.2f}",
    }
    sentences = [TO_DO[one].format(**words) for one in asked]
    if "topics" in missing and not few_topics:
        sentences.append(topics_advice(of.topics_needed, of.topics, of.margin))
    return " ".join(sentences)


def topics_advice(needed: TopicsNeeded | None, topics: int, margin: float) -> str:
    """How many topics would settle an open question."""
    larger = f"a margin= above {margin:g}" if margin else "margin=, the smallest difference that matters"
    words = {"topics": topics, "margin": f"{margin:g}", "larger": larger}
    if needed is None or not needed.possible:
        return TOPICS["few" if topics < 2 * FEWEST_DIFFERING else "close"].format(**words)
    if needed.fewest == needed.most:
        return TOPICS["alike"].format(about=needed.needed, **words)
    ends = (f"{round(n, 2 - len(str(n))) if n > 99 else n:,}" for n in sorted(needed))
    return TOPICS["about"].format(**dict(zip(("fewest", "about", "most"), ends, strict=True)), **words)


# ---- evidence


def _instead(of: CandidateCompared, tables: Tables) -> str:
    """What gains as much with something else in the place of a candidate that is worth it; nothing where none may."""
    if of.overall in (KEEP, OPEN) or "instead" not in tables:
        return ""
    rows = tables["instead"][tables["instead"]["ci_lower"] <= of.margin]
    if rows.empty:
        return ""
    enough = rows["gain"] > rows["lead"]
    row = rows.loc[enough.idxmax() if enough.any() else rows["gain"].idxmax()]
    kind = "open" if not enough.any() else "no run" if row["instead"] == "no run" else "copy"
    words = {
        "new": escaped(of.candidate),
        "retired": escaped(of.names[of.best()].removeprefix("replace ")),
        "most": "Most" if row["lead"] > LABELED_ALIKE else "All",
    }
    return NOT_THE_REASON[kind].format(**_shown(row), **words)


def _evidence(of: Compared, tables: Tables) -> list[str]:
    counts = [
        f"{escaped(row['option'])} wins {row['won']} {'topic' if row['won'] == 1 else 'topics'} and loses {row['lost']}"
        for row in of.table.iloc[1:4].to_dict("records")
    ]
    per_cent = 100 * float(of.values.unjudged().max())
    shown = f"{per_cent:.2g}" if per_cent < 10 else f"{per_cent:.0f}"
    unjudged = f"up to {shown} % of a list is unjudged" if per_cent else "all lists are fully judged"
    sentences = [f"{'; '.join(counts)}; {unjudged}."]
    if of.unlike_lengths:
        sentences.insert(0, f"{of.unlike_lengths[0].upper()}{of.unlike_lengths[1:]}.")
    if "groups" in tables:
        might = tables["groups"][~tables["groups"]["safe"]]
        than = f" more than {of.margin:g}" if of.margin else ""
        named = few(f"{escaped(str(row.group))} ({escaped(row.option)})" for row in might.itertuples())
        lose = f"These groups of topics might lose{than}: {named}."
        sentences.append(lose if named else f"No group of topics loses{than}.")
    return [*sentences, *_rows(tables, "routers"), *_rows(tables, "pools")]


def _rows(tables: Tables, name: str, **words: Any) -> list[str]:
    rows = tables[name].to_dict("records") if name in tables else []
    named = ["unscored" if name == "routers" and np.isnan(row["single"]) else name for row in rows]
    return [ROW[one].format(**_shown(row), **words) for one, row in zip(named, rows, strict=True)]


def _shown(row: Mapping[Any, Any]) -> dict[str, str]:
    words = {
        key: number(cell) if isinstance(cell, float) else escaped(str(cell)) for key, cell in row.items()
    }
    return words | ({"lead": "{lead}, {ci_lower} to {ci_upper}".format(**words)} if "lead" in words else {})


# ---- words


def number(value: float) -> str:
    """A number with two decimals; with three where these say nothing; and never "-0"."""
    text = f"{value:.2f}" if abs(value) >= 0.005 else f"{value:.3f}"
    return "0" if float(text) == 0 else text.replace("-", "−")


def _ends(found: Intervals, row: int, interval: str = "", sign: int = 1) -> str:
    """A difference with its interval; with the sign -1 a loss."""
    mean, lower, upper = (sign * end[row] for end in (found.difference, found.lower, found.upper))
    lower, upper = min(lower, upper), max(lower, upper)
    plus = "+" if mean > 0 and number(mean) != "0" else ""
    return f"{plus}{number(mean)}, {interval}{number(lower)} to {number(upper)}"


def _gain(of: Decided, option: int, full: bool = False) -> str:
    """The gain of an option with its interval; in full it says of which measure, and what the interval is."""
    ends = _ends(of.gain, option - 1, f"{100 * of.confidence:g} % interval " if full else "")
    return f"{of.by} {ends}{_allowing(of)}" if full else ends


def _allowing(of: Decided) -> str:
    moved = bool((of.gain.best - of.gain.worst > LABELED_ALIKE).any())
    return ", allowing for unjudged documents" if moved else ""


def _words(of: Decided) -> dict[str, str]:
    margin = f"your margin of {of.margin:g}"
    return {
        "at": f"{of.where}, ",
        "any": f"more than {margin}" if of.margin else "anything",
        "is_gain": f"gains more than {margin}" if of.margin else "is a gain",
        "margin": margin,
    }


def _all(names: Sequence[str], word: str = "and") -> str:
    shown = [escaped(name) for name in names]
    if len(shown) > 4:
        return few(shown, 3)
    return f" {word} ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def paragraphs(*parts: str) -> str:
    """The paragraphs that say something."""
    return "\n\n".join(stripped for part in parts if (stripped := part.strip()))
