"""The sentences of a decision: the verdict and its reason, what to do, then the evidence; a paragraph each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..measures.parameters import value_of
from ..messages import escaped, few
from ..options import LABELED_ALIKE
from ..stats.power import TopicsNeeded

if TYPE_CHECKING:
    from .compared import Compared
    from .drop import RunsDropped
    from .worth import CandidateCompared

#: Tables of evidence by name.
Tables = Mapping[str, pd.DataFrame]


# ---- worth


def of_worth(of: CandidateCompared, tables: Tables) -> str:
    """The answer on a candidate."""
    new, deployed = escaped(of.candidate), _all(of.deployed)
    replaces = range(2, len(of.names))
    best = max(replaces, key=lambda i: float(of.gain.difference[i - 1]))
    adding, replacing = (
        f"adding {new} ({_gain(of, 1, True)})",
        f"replacing {_replaced(of, best)} by it ({_gain(of, best)})",
    )
    if len(of.deployed) > 1:
        replacing = f"{replacing[:-1]}, the best of {len(of.deployed)} replacements)"
    gains, is_gain = _more_than(of), _is_gain(of)
    match of.overall:
        case _ if of.copy_of is not None:
            reason = f"**Keep {deployed}.** {new} ranks every topic exactly as {escaped(of.copy_of)} does."
        case 0:
            reason = f"**Keep {deployed}.** {_at(of)}neither {adding} nor {replacing} gains {gains}."
        case -1:
            reason = f"**Open: keep {deployed} for now.** {_at(of)}{adding} or {replacing} may or may not gain {gains}."
        case -2:
            reason = (
                f"**Add {new}, or replace {_replaced(of, best)} by it.** {_at(of)}{adding} or {replacing} "
                f"{is_gain}, and which of the two to do is open ({_rival(of, best)})."
            )
        case 1:
            closest = 2 + int(np.argmin(of.between.lower))
            reason = (
                f"**Add {new} to {deployed}.** {_at(of)}{adding} {is_gain}, and it {is_gain} over replacing "
                f"{_replaced(of, closest)} by {new} as well ({_rival(of, closest)})."
            )
        case chosen:
            reason = (
                f"**Replace {_replaced(of, chosen)} by {new}.** {_at(of)}replacing {_replaced(of, chosen)} by {new} "
                f"({_gain(of, chosen, True)}) {is_gain}. Adding it instead does not gain {gains} over that "
                f"({_rival(of, chosen)})."
            )
    return _paragraphs(reason, _to_do(of), _why(of, tables["why"]), *_evidence(of, tables))


def _replaced(of: CandidateCompared, option: int) -> str:
    return escaped(of.deployed[option - 2])


def _rival(of: CandidateCompared, option: int) -> str:
    """Adding less a replacement."""
    row, found = option - 2, of.between
    return f"adding less replacing: {_ends(found.difference[row], found.lower[row], found.upper[row])}"


def _why(of: CandidateCompared, why: pd.DataFrame) -> str:
    """What the candidate brings, and what as many further documents would have."""
    rows = {row["what"].partition("@")[0]: row for row in why.to_dict("records")}
    k = value_of(of.settings.by, "cutoff") or 10
    new, deployed = escaped(of.candidate), _all(of.deployed)
    one = len(of.deployed) == 1
    return (
        f"Why: {new} retrieves {number(rows['new relevant']['mean'])} relevant documents per topic that are not in the "
        f"top {k} of {deployed if one else 'any deployed run'}. As many further documents of "
        f"{deployed if one else 'these'} hold {number(rows['next page']['mean'])}."
    )


# ---- decide


def of_options(of: Compared, tables: Tables) -> str:
    """The answer on any options."""
    first = escaped(of.names[0])
    told = [f"{escaped(name)} ({_gain(of, i, i == 1)})" for i, name in enumerate(of.names) if i]
    gains, is_gain, others = _more_than(of), _is_gain(of), "; ".join(told)
    match of.overall:
        case 0:
            reason = f"**Keep {first}.** {_at(of)}no other option gains {gains}: {others}."
        case -1:
            reason = f"**Open: keep {first} for now.** {_at(of)}the other options may or may not gain {gains}: {others}."
        case -2:
            names = _all([of.names[i] for i in of.may_be_best()], "or")
            reason = (
                f"**{names}.** {_at(of)}{first} is not the best; which of these is best is open: {others}."
            )
        case chosen:
            reason = (
                f"**{escaped(of.names[chosen])}.** {_at(of)}it {is_gain} over {first}, and no other option beats it "
                f"by as much: {others}."
            )
    return _paragraphs(reason, _to_do(of), *_evidence(of, tables))


# ---- drop


def of_drop(of: RunsDropped, tables: Tables) -> str:
    """The answer on which deployed run can go."""
    grades = of.grades if of.values.bounded else of.grades_as_judged
    by_grade: dict[str, list[str]] = {}
    for name, grade in zip(of.names[1:], grades, strict=True):
        by_grade.setdefault(grade, []).append(name.removeprefix("drop "))
    rows = of.table.set_index("run")

    def told(name: str, first: bool) -> str:
        row = rows.loc[name]
        ends = _ends(row["loss"], *_shown_ends(of, row))
        return f"{escaped(name)} ({f'{of.settings.by} loses ' if first else ''}{ends}{_allowing(of) if first else ''})"

    margin = f"your margin of {of.settings.margin:g}"
    sentences = {
        "safe": f"**Safe to drop, one at a time: {{}}.** {_at(of)}the loss is at most {margin}: {{}}.",
        "needed": f"Needed: {{}}. {_at(of)}the loss is above {margin}: {{}}.",
        "open": f"Open: {{}}. {_at(of)}the loss may be above {margin}: {{}}.",
        "not graded": "**Not graded: set margin=, the largest loss that you accept.** Without each run: {1}.",
    }
    parts = []
    for grade, sentence in sentences.items():
        names = by_grade.get(grade, [])
        if names:
            losses = "; ".join(told(name, not i) for i, name in enumerate(names[:3]))
            more = f"; {len(names) - 3} more in the table" if len(names) > 3 else ""
            parts.append(sentence.format(few(map(escaped, names)), losses + more))
    if not parts[0].startswith("**"):
        parts[0] = f"**No run is safe to drop.** {parts[0]}"
    fewer = ""
    if "fewer" in tables:
        row = tables["fewer"].iloc[0]
        fewer = (
            f"Fewer runs: {row['runs']}. On topics that were not used to choose them, the loss against all "
            f"{len(of.names) - 1} is {_ends(row['loss'], row['ci_lower'], row['ci_upper'])}."
        )
    return _paragraphs(" ".join(parts), _to_do(of), fewer, *_evidence(of, tables))


# ---- what to do


def _to_do(of: Compared) -> str:
    """What settles an open verdict."""
    parts = []
    if not of.values.bounded:
        parts.append(
            f"This is by the judgments as they are: it is not known how far unjudged documents move {of.settings.by}."
        )
    if of.missing is None:
        return " ".join(parts)
    if of.topics < 5:
        return " ".join([*parts, f"Judge more topics: {of.topics} cannot show how topics vary."])
    if "judgments" in of.missing:
        documents = f"Judge the documents in judge, in that order ({len(of.judge)} matter)."
        if of.missing == "judgments":
            documents += f" By the judgments as they are, the verdict is {of.word(as_judged=True)}"
            documents += (
                "." if of.stands is None else f", and it stays so with a probability of {of.stands:.2f}."
            )
        parts.append(documents)
    if "topics" in of.missing:
        parts.append(topics_advice(of.topics_needed, of.topics, of.settings.margin))
    return " ".join(parts)


def topics_advice(needed: TopicsNeeded | None, topics: int, margin: float) -> str:
    """How many topics would settle an open question."""
    if needed is None or not needed.possible:
        larger = f"a margin= above {margin:g}" if margin else "margin=, the smallest difference that matters"
        return f"More topics will not settle this: the difference is too close to {margin:g}. Set {larger}."
    return (
        f"About {_about(needed.needed)} topics would settle it with 80 % power ({_about(needed.fewest)} to "
        f"{_about(needed.most)}, since the spread is an estimate); there are {topics}."
    )


# ---- evidence


def _evidence(of: Compared, tables: Tables) -> list[str]:
    """What the other tables say."""
    return [
        _unjudged(of),
        _groups(of, tables.get("groups")),
        _routers(tables.get("routers")),
        _pools(tables.get("pools")),
    ]


def _unjudged(of: Compared) -> str:
    share = float(of.values.unjudged().max())
    return f"At most {100 * share:.2g} % of a list is unjudged." if share else "All lists are fully judged."


def _groups(of: Compared, groups: pd.DataFrame | None) -> str:
    if groups is None:
        return ""
    might = groups[~groups["safe"]]
    than = f" more than {of.settings.margin:g}" if of.settings.margin else ""
    if not len(might):
        return f"No group of topics loses{than}, by any option."
    named = few(
        f"{escaped(str(g))} ({escaped(o)})" for o, g in zip(might["option"], might["group"], strict=True)
    )
    return f"These groups of topics might lose{than}: {named}."


def _routers(routers: pd.DataFrame | None) -> str:
    if routers is None:
        return ""
    return " ".join(
        f"{escaped(row['option'])} has {number(row['mean'])}; the best single run, chosen on other topics, has "
        f"{number(row['single'])}, and the best run of each topic {number(row['best_of_each'])}."
        for row in routers.to_dict("records")
    )


def _pools(pools: pd.DataFrame | None) -> str:
    if pools is None:
        return ""
    total = int(pools.iloc[0][["never_retrieved", "outside_pool", "not_shown", "shown"]].sum())
    shown = "; ".join(
        f"{escaped(row['option'])} shows {row['shown']}, does not show {row['not_shown']} of its pool, leaves "
        f"{row['outside_pool']} outside, and never retrieves {row['never_retrieved']} (best order of its pool: "
        f"{number(row['ceiling'])})"
        for row in pools.to_dict("records")
    )
    return f"Of {total} relevant documents: {shown}."


# ---- words


def number(value: float) -> str:
    """A number with two decimals; with three where these say nothing; and never "-0"."""
    text = f"{value:.2f}" if abs(value) >= 0.005 else f"{value:.3f}"
    return "0" if float(text) == 0 else text.replace("-", "−")


def _ends(mean: float, lower: float, upper: float) -> str:
    return f"{_signed(mean)}, {number(lower)} to {number(upper)}"


def _signed(value: float) -> str:
    return f"+{number(value)}" if value > 0 and number(value) != "0" else number(value)


def _gain(of: Compared, option: int, first: bool = False) -> str:
    """The gain of an option with its interval; the first one says of which measure, and what the interval is."""
    row = option - 1
    ends = number(of.gain.lower[row]), number(of.gain.upper[row])
    mean = _signed(float(of.gain.difference[row]))
    if not first:
        return f"{mean}, {ends[0]} to {ends[1]}"
    confidence = f"{100 * of.settings.test.confidence:g} % interval"
    return f"{of.settings.by} {mean}, {confidence} {ends[0]} to {ends[1]}{_allowing(of)}"


def _shown_ends(of: Compared, row: Any) -> tuple[float, float]:
    columns = ("lower", "upper") if of.values.bounded else ("ci_lower", "ci_upper")
    return float(row[columns[0]]), float(row[columns[1]])


def _allowing(of: Compared) -> str:
    moved = bool((of.gain.best - of.gain.worst > LABELED_ALIKE).any())
    return ", allowing for unjudged documents" if moved else ""


def _at(of: Compared) -> str:
    """How long the lists are."""
    if of.settings.how.budget is not None:
        return f"Within {of.settings.how.budget} tokens, "
    length = of.settings.how.length
    return "" if length is None else f"In the top {length}, "


def _is_gain(of: Compared) -> str:
    return f"gains more than your margin of {of.settings.margin:g}" if of.settings.margin else "is a gain"


def _more_than(of: Compared) -> str:
    return f"more than your margin of {of.settings.margin:g}" if of.settings.margin else "anything"


def _all(names: Sequence[str], word: str = "and") -> str:
    shown = [escaped(name) for name in names]
    if len(shown) > 4:
        return few(shown, 3)
    return f" {word} ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def _about(n: int) -> str:
    """Two digits of a number of topics."""
    digits = max(len(str(n)) - 2, 0)
    return f"{round(n, -digits):,}"


def _paragraphs(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


# ---- formats


def markdown_table(table: pd.DataFrame) -> list[str]:
    """A table in Markdown."""
    cells = [
        [f"{v:.3f}" if isinstance(v, float) else str(v) for v in row] for row in table.itertuples(index=False)
    ]
    rows = [list(map(str, table.columns)), ["---"] * table.shape[1], *cells]
    return ["| " + " | ".join(escaped(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]


def junit(name: str, verdict: str, kind: str | None, text: str) -> str:
    """One test case; ``kind`` is failure or skipped, or None where it passes."""
    from xml.etree import ElementTree

    counts = {"tests": 1, "failures": int(kind == "failure"), "skipped": int(kind == "skipped"), "errors": 0}
    counted = {key: str(count) for key, count in counts.items()}
    root = ElementTree.Element("testsuites", counted)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "decision", **counted})
    case = ElementTree.SubElement(suite, "testcase", {"classname": "decision", "name": _xml(name)})
    message = {} if kind is None else {"message": _xml(verdict)}
    ElementTree.SubElement(case, kind or "system-out", message).text = _xml(text)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode")


def _xml(text: str) -> str:
    """Without what no XML document can hold."""
    return re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", lambda m: escaped(m[0]), text)
