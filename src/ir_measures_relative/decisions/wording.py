"""The answer of :func:`worth` in sentences, for readers who know nDCG and nothing of this package."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import ir_measures

from ..context.evaluate import FEWEST_TOPICS, LARGE_SHARE
from ..context.measure_strings import is_relative, value_of
from ..further_measures.fusion_gain import FusionGain
from ..measures.med import MED
from ..measures.nrg import UniqueRel
from ..messages import escaped
from ..stats.bootstrap import FEWEST_DIFFERING
from ..tolerances import LABELED_ALIKE
from .auditing import AuditOfWorth
from .findings import Candidacy, Finding, TopicDocuments

#: What a candidate without a name is called.
UNNAMED = "candidate"
# From which RBO on a text says that two runs rank alike.
_ALIKE = 0.9
# More topics than this are not counted.
_MOST_TOPICS = 10_000


def answer(
    campaign: Candidacy,
    findings: Sequence[Finding],
    aspects: Sequence[dict[str, Any]],
    cutoff: int,
    wanted: int,
    n: int,
) -> str:
    """Three to six sentences: the verdict, what the candidate is on its own and fused, the labels, what to do.

    Args:
        findings: the first decides.
        aspects: the rows of NewAspects.
        cutoff: how deep the rankings are looked at.
        wanted: how many unjudged documents can move the first finding.
        n: how many of them are named at most.
    """
    first = findings[0]
    sentences = [_verdict(campaign, first), _one_topic(campaign, first), _lacking(campaign)]
    sentences += _others(campaign, findings, aspects)
    sentences += [_labels(first, cutoff), _to_do(campaign, first, wanted, n)]
    return _joined(filter(None, sentences))


def _others(campaign: Candidacy, findings: Sequence[Finding], aspects: Sequence[dict[str, Any]]) -> list[str]:
    """What the measures beside the first say."""
    alone = next((f for f in findings[1:] if not is_relative(f.measure)), None)
    fused = next((f for f in findings[1:] if f.measure.NAME == FusionGain.NAME), None)
    sentences = [_nuggets(campaign, row, findings[0]) for row in aspects]
    if alone is not None:
        sentences.append(_alone(campaign, alone))
    if fused is not None and not campaign.is_copy:
        gain = _gain(campaign, fused)
        sentences.append(f"{gain[0].upper()}{gain[1:]}.")
    return sentences


def _nuggets(campaign: Candidacy, row: dict[str, Any], first: Finding) -> str:
    """The aspects that only the candidate shows."""
    ends = f"{_confidence(first)} {number(row['ci_lower'])} to {number(row['ci_upper'])}"
    if not math.isfinite(row["ci_upper"]):
        ends = f"{_count(campaign.topics, 'topic')}, too few for an interval"
    return (
        f"It brings {_count(number(row['mean']), 'nugget')} a topic that {_shows(campaign)} (by {row['measure']}, "
        f"{ends}, for the labels as they are)."
    )


def planned(asked: int) -> str:
    """The advice to follow a plan, of so many documents."""
    return (
        f"A language model's labels can help: people label the {_count(asked, 'document')} of the plan, and with "
        "plan= the answer is about these topics, with human labels as truth."
    )


def no_plan(measure: ir_measures.Measure) -> str:
    """Why there is no plan."""
    return f"There is no plan by {measure}: what a run adds by it is no sum of labels. Give UniqueRel first."


def audited(
    campaign: Candidacy,
    findings: Sequence[Finding],
    aspects: Sequence[dict[str, Any]],
    found: AuditOfWorth,
) -> str:
    """The verdict by the labels of a plan, and about what it is."""
    first = findings[0]
    claim = _claim(campaign, found.verdict, first.margin)
    mean, k = number(found.cell("difference")), first.measure["cutoff"]
    ends = f"{_confidence(first)} {number(found.cell('ci_lower'))} to {number(found.cell('ci_upper'))}"
    new_topics = {"adds": "it adds", "adds nothing": "it does not add that", "open": "this is open"}
    sentences = [
        f"On these {_count(found.topics, 'topic')}, with human labels as truth, {claim}.",
        f"On average it has {_count(mean, 'relevant document')} a topic that {_shows(campaign)} in its top {k} "
        f"({_from_label(campaign, first)}{ends}, from {_count(int(found.cell('labels')), 'label')} by people).",
        f"The language model alone says {number(found.cell('judge_alone'))}.",
        f"For new topics, whatever the labels that are missing, {new_topics[first.verdict]}.",
        *_others(campaign, findings, aspects),
    ]
    if found.verdict == "open":
        sentences.append(
            "Labels are missing: a plan with a larger budget asks for the same documents, and more."
        )
    return _joined(sentences)


def without_judgments(campaign: Candidacy, unseen: TopicDocuments, cutoff: int) -> str:
    """What can be said where there are no judgments."""
    name, near = _name(campaign), _near(campaign)
    likeness = number(campaign.likeness[campaign.nearest])
    sentences = [f"It is open whether {name} adds to {_all(campaign)}: there are no judgments."]
    if campaign.is_copy:
        sentences.append(
            f"It ranks exactly as {near} does (RBO {likeness}), so no judgments can show that it adds."
        )
        return _joined(sentences)
    most = MED(base="nDCG", judged=False) @ cutoff
    sentences += [
        f"Of the deployed runs, {near} ranks most like it (RBO {likeness}, where 1 is the same ranking)."
        if len(campaign.deployed) > 1
        else f"It and {near} have an RBO of {likeness}, where 1 is the same ranking.",
        f"Whatever judgments say, the two differ by at most {number(campaign.largest_difference(most))} nDCG@{cutoff} "
        "on average.",
        f"Its top {cutoff} holds {_count(len(unseen), 'document')} that {_shows(campaign)} in its top {cutoff}, on "
        f"{_count(len({query for query, _ in unseen}), 'topic')} of {campaign.topics}.",
        "Judge these to learn what it adds."
        if unseen
        else "So it can add nothing there, whatever the judgments.",
    ]
    return _joined(sentences)


def number(value: float) -> str:
    """A number with two decimals; with three, or one digit that is not 0, where these say nothing; and never "-0"."""
    if abs(value) < 5e-7:
        return "0"
    if abs(value) < 0.0005:
        return f"{value:.1g}"
    text = f"{value:.2f}" if abs(value) >= 0.005 else f"{value:.3f}"
    return text.removesuffix(".00")


def _verdict(campaign: Candidacy, found: Finding) -> str:
    name, deployed, near = _name(campaign), _all(campaign), _near(campaign)
    if found.verdict == "adds nothing" and campaign.is_copy:
        return f"{name} adds nothing to {deployed}: it ranks exactly as {near} does."
    if found.verdict == "adds nothing" and found.parts[0].always_0:
        return f"{name} adds nothing to {deployed}: {_shows_nothing_new(campaign, found)}."
    if found.nothing_here:
        text = f"{name} adds nothing to {deployed}: "
        new = f"New topics may have up to {number(found.upper)} on average."
        if found.measure.NAME != UniqueRel.NAME:
            return f"{text}{found.measure} is 0 on each of the {campaign.topics} topics. {new}"
        k, shown = found.measure["cutoff"], "no deployed run" if len(campaign.deployed) > 1 else deployed
        verb = "shows" if len(campaign.deployed) > 1 else "does not show"
        return (
            f"{text}on none of the {campaign.topics} topics does its top {k} hold a relevant document that {shown} "
            f"{verb} there. {new}"
        )
    return f"{_claim(campaign, found.verdict, found.margin)}: {_quantity(campaign, found)}."


def _claim(campaign: Candidacy, verdict: str, margin: float) -> str:
    """What a verdict says of the candidate and the deployed runs."""
    name, deployed = _name(campaign), _all(campaign)
    asked = f"more than {margin:g} " if margin else ""
    if verdict == "open":
        return f"it is open whether {name} adds {asked}to {deployed}"
    if verdict == "adds":
        return f"{name} adds {asked}to {deployed}"
    return f"{name} does not add {asked}to {deployed}" if margin else f"{name} adds nothing to {deployed}"


def _quantity(campaign: Candidacy, found: Finding) -> str:
    """What the verdict goes by, with its interval."""
    ends = _interval(campaign, found, found.lower, found.upper)
    mean, copy = number(found.row["mean"]), number(found.row["copy"])
    if found.measure.NAME == UniqueRel.NAME:
        k = found.measure["cutoff"]
        ends = _from_label(campaign, found) + ends
        return f"on average {_count(mean, 'relevant document')} a topic that {_shows(campaign)} in its top {k} ({ends})"
    if found.measure.NAME == FusionGain.NAME:
        return _gain(campaign, found)
    difference = number(found.row["difference"])
    return f"by {found.measure} it has {mean}, and a copy of {_near(campaign)} {copy} (difference {difference}, {ends})"


def _from_label(campaign: Candidacy, found: Finding) -> str:
    """From which label on a document is relevant, where labels have grades."""
    graded = campaign.view.grades[1] > 1
    return f"label {value_of(found.measure, 'rel')} or higher; " if graded else ""


def _gain(campaign: Candidacy, found: Finding) -> str:
    """What it gains when fused; beside several runs a copy of one of them can gain as well."""
    base, mean = found.measure.base_measure(), found.row["mean"]
    does = "gains" if mean >= 0 else "loses"
    text = f"fused with {_all(campaign)} it {does} {number(abs(mean))} {base}"
    text += f" ({_interval(campaign, found, *found.own_ends)})"
    if len(campaign.deployed) == 1:
        return text
    copy = found.row["copy"]
    would = "gain" if copy >= 0 else "lose"
    text += f", where a second copy of {_near(campaign)} would {would} {number(abs(copy))}"
    if found.lead is None or campaign.topics < FEWEST_DIFFERING:
        return text
    return f"{text} (lead over that copy: {number(found.lead[0])} to {number(found.lead[1])})"


def _one_topic(campaign: Candidacy, found: Finding) -> str:
    """Where one topic makes much of the mean."""
    topic, share = found.largest_topic()
    if not share > LARGE_SHARE or campaign.topics < FEWEST_TOPICS:
        return ""
    return f"Topic {escaped(topic)} alone makes {_percent(share)} of that mean."


def _lacking(campaign: Candidacy) -> str:
    """Topics without a ranking, which count as empty ones."""
    runs = {"it": campaign.lacking(campaign.name)}
    runs |= {escaped(name): campaign.lacking(name) for name in campaign.deployed}
    lacking = [f"{run} has no ranking on {_count(count, 'topic')}" for run, count in runs.items() if count]
    if not lacking:
        return ""
    more = f", nor have {len(lacking) - 2} other runs on some" if len(lacking) > 2 else ""
    return f"Mind that {' and '.join(lacking[:2])} of {campaign.topics}{more}."


def _interval(campaign: Candidacy, found: Finding, lower: float, upper: float) -> str:
    if campaign.topics < FEWEST_DIFFERING:
        return f"{_count(campaign.topics, 'topic')}, too few for an interval"
    ends = f"{_confidence(found)} {number(lower)} to {number(upper)}"
    return f"{ends}, whatever the labels" if found.row["best"] - found.row["worst"] > LABELED_ALIKE else ends


def _confidence(found: Finding) -> str:
    return f"{100 * found.resamples.confidence:g} % interval"


def _alone(campaign: Candidacy, found: Finding) -> str:
    row = found.row
    words = {"better": "better than", "worse": "worse than", "open": "not clearly better or worse than"}
    told = found.verdict
    if row["ci_lower"] == row["ci_upper"] == 0:
        return f"On its own it is as good as {escaped(row['other'])}: {found.measure} {number(row['mean'])}."
    return (
        f"On its own it is {words[told]} {escaped(row['other'])}: {found.measure} {number(row['mean'])} against "
        f"{number(row['other_mean'])} (difference: {_interval(campaign, found, row['lower'], row['upper'])})."
    )


def _labels(found: Finding, cutoff: int) -> str:
    """What the unjudged documents could change."""
    unjudged = found.row["unjudged"]
    if not unjudged:
        others = ", but not all that the others show" if "labels" in (found.missing() or "") else ""
        return f"All of its top {cutoff} is judged{others}."
    share = f"{_percent(unjudged)} of its top {cutoff} is not judged"
    share = share[0].upper() + share[1:]
    if found.verdict != "open":
        kind = "the labels least kind to it" if found.verdict == "adds" else "the kindest labels"
        return f"{share}; it {found.verdict} under {kind} as well."
    if not found.labels_matter and not found.labels_may_decide:
        return f"{share}; neither the kindest labels of these documents nor the least kind would settle it."
    ends = f"{number(found.row['worst'])} to {number(found.row['best'])}"
    what = "the mean" if len(found.parts) == 1 else "its gain, or its lead over a copy if that is less,"
    probability = found.row["probability"]
    chance = f' The probability that they settle it as "adds" is {_percent(probability)}.'
    return f"{share}; their labels can put {what} anywhere from {ends}.{'' if math.isnan(probability) else chance}"


def _to_do(campaign: Candidacy, found: Finding, wanted: int, n: int) -> str:
    missing = found.missing()
    near, likeness = _near(campaign), campaign.likeness[campaign.nearest]
    if missing is None:
        if found.verdict == "adds nothing" and not campaign.is_copy and likeness >= _ALIKE:
            return f"There is nothing to do: it ranks as {near} does (RBO {number(likeness)})."
        return ""
    to_do = []
    if "labels" in missing:
        which = "this document" if wanted == 1 else f"these {wanted} documents"
        to_do.append(
            f"Labels are missing: judge {which}."
            if wanted <= n
            else f"Labels are missing: {wanted} documents matter, and these {n} are the first to judge."
        )
    if "topics" in missing:
        to_do.append(_more_topics(campaign, found))
    if likeness >= _ALIKE:
        to_do.append(f"It ranks much as {near} does (RBO {number(likeness)}).")
    return " ".join(to_do)


def _more_topics(campaign: Candidacy, found: Finding) -> str:
    if campaign.topics < FEWEST_DIFFERING:
        there = "there is" if campaign.topics == 1 else "there are"
        return f"Topics are missing: an interval needs {FEWEST_DIFFERING} at least, and {there} {campaign.topics}."
    needed = found.topics_needed()
    goal = number(found.margin)
    end = "lower end to pass" if found.mean(0) > found.margin else "upper end to come down to"
    if needed is not None and needed <= _MOST_TOPICS:
        return (
            f"Topics are missing: at this spread about {_rounded(needed)} for the {end} {goal}, and there are "
            f"{campaign.topics}."
        )
    if found.upper > found.margin and found.mean(2) <= found.margin:
        return (
            f"Topics are missing, but no number of them shows that a mean is exactly {goal}: give margin= the least "
            "mean that is worth having."
        )
    return f"Topics are missing: more than {_MOST_TOPICS:,}, for a mean so near to {goal}."


def _rounded(count: int) -> int:
    """To two digits, upwards."""
    unit: int = 10 ** max(len(str(count)) - 2, 0)
    return -(-count // unit) * unit


def _shows_nothing_new(campaign: Candidacy, found: Finding) -> str:
    k = found.measure["cutoff"]
    return f"its top {k} holds no document that {_shows(campaign)} in its top {k}"


def _shows(campaign: Candidacy) -> str:
    """Who does not show a document."""
    one = len(campaign.deployed) == 1
    return f"{escaped(campaign.deployed[0])} does not show" if one else "no deployed run shows"


def _name(campaign: Candidacy) -> str:
    return "the candidate" if campaign.name == UNNAMED else escaped(campaign.name)


def _near(campaign: Candidacy) -> str:
    """The deployed run that ranks most as the candidate does."""
    return escaped(campaign.deployed[campaign.nearest])


def _joined(sentences: Iterable[str]) -> str:
    """The sentences, of which the first begins with a capital where it begins with no name."""
    text = " ".join(sentences)
    return text[0].upper() + text[1:] if text.startswith(("the candidate", "it is open")) else text


def _all(campaign: Candidacy) -> str:
    """The deployed runs."""
    names = [escaped(name) for name in campaign.deployed]
    return " and ".join(names) if len(names) < 3 else f"the {len(names)} deployed runs"


def _count(count: int | str, what: str) -> str:
    """So many of it; a number that is no whole one as it is written."""
    return f"{count} {what}" if str(count) == "1" else f"{count} {what}s"


def _percent(share: float) -> str:
    return "under 1 %" if 0 < share < 0.005 else "over 99 %" if 0.995 < share < 1 else f"{100 * share:.0f} %"
