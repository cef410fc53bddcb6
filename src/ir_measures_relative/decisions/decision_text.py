"""The sentences of a decision: the verdict and its reason, what to do, then the evidence; a paragraph each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..context.measure_strings import value_of
from ..messages import escaped, few
from ..stats.bootstrap import FEWEST_DIFFERING
from ..stats.power import TopicsNeeded
from ..tolerances import LABELED_ALIKE

if TYPE_CHECKING:
    from .compared import Compared
    from .compared_runs import CandidateCompared, RunsDropped

#: Tables of evidence by name.
Tables = Mapping[str, pd.DataFrame]

_NOTHING = "There is nothing to change."
#: The first two paragraphs by verdict: the reason, and what to do where that is settled.
_WORTH = {
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
_OPTIONS = {
    "keep": ("**Keep {first}.** {at}no other option gains {any}: {others}.", _NOTHING),
    "open": (
        "**Open: keep {first} for now.** {at}the other options may or may not gain {any}: {others}.",
        "",
    ),
    "one": ("**{best}.** {at}{best} {is_gain} over {first}{beats}: {others}.", ""),
    "several": ("**{best}.** {at}{first} is not the best option, and it is open which one is: {others}.", ""),
}
_DROP = {
    "safe": "**Safe to drop, one at a time: {runs}.** {at}the loss is at most {margin}: {losses}.",
    "needed": "Needed: {runs}. The loss is above {margin}: {losses}.",
    "open": "Open: {runs}. The loss may be above {margin}: {losses}.",
    "not graded": "**Not graded: set margin=, the largest loss that you accept.** Without each run: {losses}.",
}


def of_worth(of: CandidateCompared, tables: Tables) -> str:
    """The answer on a candidate."""
    verdict = "copy" if of.copy_of is not None else of.word().split(" ")[0]
    verdict = "add or replace" if of.word() == "add or replace" else verdict
    best = of.overall if of.overall > 1 else 2 + int(np.argmax(of.gain.difference[1:]))
    closest = 2 + int(np.argmin(of.between.lower))
    row = (closest if verdict == "add" else best) - 2
    words = _words(of) | {
        "new": escaped(of.candidate),
        "deployed": _all(of.deployed),
        "best": escaped(of.deployed[best - 2]),
        "closest": escaped(of.deployed[closest - 2]),
        "copy": escaped(str(of.copy_of)),
        "add": _gain(of, 1, True),
        "replace": _gain(of, best, verdict == "replace"),
        "rival": f"adding less replacing: {_ends(of.between.difference, of.between.lower, of.between.upper, row)}",
    }
    reason, to_do = (one.format(**words) for one in _WORTH[verdict])
    return _paragraphs(reason, f"{to_do} {_to_do(of)}", _why(of, tables), *_evidence(of, tables))


def of_options(of: Compared, tables: Tables) -> str:
    """The answer on any options."""
    verdict = "several" if of.overall < -1 else ("open", "keep", "one")[min(of.overall, 1) + 1]
    told = [f"{escaped(name)} ({_gain(of, i, i == 1)})" for i, name in enumerate(of.names) if i]
    best = _all([of.names[i] for i in of.may_be_best()], "or")
    in_use = of.options[0]
    first = "what is deployed" if in_use.name.lower() == "keep" else escaped(in_use.name)
    if first == "what is deployed" and in_use.rule is None:
        first = _all(in_use.runs)
    words = _words(of) | {"first": first, "best": best, "others": "; ".join(told)}
    words["beats"] = ", and none of the others beats it" if len(of.names) > 2 else ""
    reason, to_do = (one.format(**words) for one in _OPTIONS[verdict])
    return _paragraphs(reason, f"{to_do} {_to_do(of)}", *_evidence(of, tables))


def of_drop(of: RunsDropped, tables: Tables) -> str:
    """The answer on which deployed run can go."""
    parts: list[str] = []
    found = of.gain
    for grade, sentence in _DROP.items():
        rows = [i for i, one in enumerate(of.grades) if one == grade]
        losses = [
            f"{escaped(of.dropped[i])} ({_ends(-found.difference, -found.upper, -found.lower, i)})"
            for i in rows
        ]
        if rows and not parts:  # what the numbers are, once
            losses[0] = losses[0].replace(" (", f" ({of.settings.by} loss ", 1)[:-1] + f"{_allowing(of)})"
        more = [f"{len(rows) - 3} more in the table"] if len(rows) > 3 else []
        runs = few(escaped(of.dropped[i]) for i in rows)
        words = _words(of) | {"runs": runs, "losses": "; ".join([*losses[:3], *more])}
        parts += [sentence.format(**words)] if rows else []
    if not parts[0].startswith("**"):
        parts.insert(0, "**No run is safe to drop.**")
    fewer = ""
    if "fewer" in tables:
        row = tables["fewer"].iloc[0]
        fewer = (
            f"Fewer runs: {row['runs']}. On topics that were not used to choose them, the loss against all "
            f"{len(of.dropped)} is {number(row['loss'])} ({number(row['ci_lower'])} to {number(row['ci_upper'])})."
        )
    return _paragraphs(" ".join(parts), _to_do(of), fewer, *_evidence(of, tables))


# ---- what to do


def _to_do(of: Compared) -> str:
    """What settles an open verdict."""
    parts = []
    if not of.values.bounded:
        parts.append(
            f"This takes the judgments as they are: {of.settings.by} has no bounds for unjudged documents."
        )
    missing = of.missing or ""
    if missing and of.topics < FEWEST_DIFFERING:
        return " ".join([*parts, f"Judge more topics: {of.topics} cannot show how topics vary."])
    if "judgments" in missing:
        n = len(of.judge)
        which = "the unjudged document" if n == 1 else f"the {n} unjudged documents"
        parts.append(
            f"Judge {which} that can change the verdict, in the order of the table judge."
            if n
            else "More judgments may settle this; which, is not known."
        )
    if missing == "judgments":
        stands = "" if of.stands is None else f", and stays so with a probability of {of.stands:.2f}"
        parts.append(f"By the judgments as they are the verdict is {of.word(as_judged=True)}{stands}.")
    if "topics" in missing:
        parts.append(topics_advice(of.topics_needed, of.topics, of.settings.margin))
    return " ".join(parts)


def topics_advice(needed: TopicsNeeded | None, topics: int, margin: float) -> str:
    """How many topics would settle an open question."""
    if needed is not None and needed.possible and needed.fewest == needed.most:
        return (
            f"{topics} topics are too few: were the difference the same on others, about {needed.needed} would settle "
            "it."
        )
    if needed is None or not needed.possible:
        if topics < 2 * FEWEST_DIFFERING:
            return f"Judge more topics: {topics} are too few to say how many would settle it."
        larger = f"a margin= above {margin:g}" if margin else "margin=, the smallest difference that matters"
        return f"More topics will not settle this: the difference is too close to {margin:g}. Set {larger}."
    few_, about, most = (f"{round(n, 2 - len(str(n))) if n > 99 else n:,}" for n in sorted(needed))
    return f"About {about} topics would settle it with 80 % power ({few_} to {most}); there are {topics}."


# ---- evidence


def _why(of: CandidateCompared, tables: Tables) -> str:
    """What the candidate brings, and what further documents of the deployed runs, or others in its place, would."""
    new, page = (number(tables["why"]["mean"].iloc[i]) for i in (0, 1))
    one, many = (_all(of.deployed),) * 2 if len(of.deployed) == 1 else ("any deployed run", "these runs")
    sentences = [
        f"Why: {escaped(of.candidate)} retrieves {new} relevant documents per topic that are not in the top "
        f"{value_of(of.settings.by, 'cutoff') or 10} of {one}. As many further documents of {many} hold {page}."
    ]
    for row in _rows(tables, "instead"):
        lead = f"{number(row['lead'])}, {number(row['ci_lower'])} to {number(row['ci_upper'])}"
        sentences.append(
            f"With {escaped(row['instead'])} in its place, {escaped(row['option'])} would gain "
            f"{number(row['gain'])} (the candidate's lead: {lead})."
        )
    return " ".join(sentences)


def _evidence(of: Compared, tables: Tables) -> list[str]:
    """What the other tables say."""
    parts = []
    for row in of.table.iloc[1:4].to_dict("records"):
        topics = "topic" if row["won"] == 1 else "topics"
        parts.append(f"{escaped(row['option'])} wins {row['won']} {topics} and loses {row['lost']}")
    per_cent = 100 * float(of.values.unjudged().max())
    shown = f"{per_cent:.2g}" if per_cent < 10 else f"{per_cent:.0f}"
    unjudged = f"up to {shown} % of a list is unjudged" if per_cent else "all lists are fully judged"
    sentences = [f"{'; '.join(parts)}; {unjudged}."]
    if of.unlike_lengths:
        sentences.insert(0, f"{of.unlike_lengths[0].upper()}{of.unlike_lengths[1:]}.")
    if "groups" in tables:
        might = tables["groups"][~tables["groups"]["safe"]]
        than = f" more than {of.settings.margin:g}" if of.settings.margin else ""
        named = few(f"{escaped(str(row.group))} ({escaped(row.option)})" for row in might.itertuples())
        told = (
            f"These groups of topics might lose{than}: {named}."
            if named
            else f"No group of topics loses{than}."
        )
        sentences.append(told)
    for row in _rows(tables, "routers"):
        if np.isnan(row["single"]):
            sentences.append(
                f"{escaped(row['option'])} has {number(row['mean'])}; what its runs alone have is not known, for the "
                "reranker did not score them on every topic."
            )
            continue
        sentences.append(
            f"{escaped(row['option'])} has {number(row['mean'])}; the best single run, chosen on other topics, has "
            f"{number(row['single'])}, and the best run of each topic {number(row['best_of_each'])}."
        )
    for row in _rows(tables, "pools"):
        sentences.append(
            f"{escaped(row['option'])} shows {row['shown']} relevant documents; {row['not_shown']} more are in its "
            f"pool, {row['outside_pool']} outside, and {row['never_retrieved']} are never retrieved. The best order of "
            f"its pool has {number(row['ceiling'])}."
        )
    return sentences


def _rows(tables: Tables, name: str) -> list[dict[Any, Any]]:
    return tables[name].to_dict("records") if name in tables else []


# ---- words


def number(value: float) -> str:
    """A number with two decimals; with three where these say nothing; and never "-0"."""
    text = f"{value:.2f}" if abs(value) >= 0.005 else f"{value:.3f}"
    return "0" if float(text) == 0 else text.replace("-", "−")


def _ends(mean: Any, lower: Any, upper: Any, row: int, interval: str = "") -> str:
    """A difference with its interval."""
    sign = "+" if mean[row] > 0 and number(mean[row]) != "0" else ""
    return f"{sign}{number(mean[row])}, {interval}{number(lower[row])} to {number(upper[row])}"


def _gain(of: Compared, option: int, full: bool = False) -> str:
    """The gain of an option with its interval; in full it says of which measure, and what the interval is."""
    interval = f"{100 * of.settings.test.confidence:g} % interval "
    ends = _ends(of.gain.difference, of.gain.lower, of.gain.upper, option - 1, interval if full else "")
    return f"{of.settings.by} {ends}{_allowing(of)}" if full else ends


def _allowing(of: Compared) -> str:
    moved = bool((of.gain.best - of.gain.worst > LABELED_ALIKE).any())
    return ", allowing for unjudged documents" if moved else ""


def _words(of: Compared) -> dict[str, str]:
    """How long the lists are, and what counts as a gain."""
    how, margin = of.settings.how, of.settings.margin
    return {
        "at": f"In the top {how.ends}, " if how.budget is None else f"Within {how.budget} tokens, ",
        "any": f"more than your margin of {margin:g}" if margin else "anything",
        "is_gain": f"gains more than your margin of {margin:g}" if margin else "is a gain",
        "margin": f"your margin of {margin:g}",
    }


def _all(names: Sequence[str], word: str = "and") -> str:
    """Names as prose."""
    shown = [escaped(name) for name in names]
    if len(shown) > 4:
        return few(shown, 3)
    return f" {word} ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def _paragraphs(*parts: str) -> str:
    return "\n\n".join(stripped for part in parts if (stripped := part.strip()))
