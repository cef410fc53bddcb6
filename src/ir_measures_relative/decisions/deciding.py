"""Is a candidate worth adding to what is deployed? One answer, made of what the other functions find out."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd

from ..arguments import check_count, is_number
from ..audit.targets import Judge
from ..bounding.model import share
from ..context.checks import warn_of_last_labels
from ..context.measure_strings import is_relative, parse_measures, value_of, value_range
from ..context.priors import Others, fitting
from ..context.run_context import RunContext
from ..context.view import check_is_context
from ..data.rankings import Rankings
from ..further_measures.alpha_nrg import NewAspects
from ..further_measures.fusion_gain import FusionGain
from ..io.qrels import Qrels
from ..io.runs import Run, name_runs, read_run
from ..measures.nrg import NRG
from ..messages import few_quoted, warn
from ..stats.paired_tests import PairedTestOptions
from ..stats.pairs_and_ties import topic_counts
from ..work import Work
from . import wording
from .auditing import audit_of_worth, can_be_audited, plan_of_worth
from .findings import (
    Candidacy,
    Resamples,
    aspects_row,
    depth_of,
    documents,
    finding,
    probability,
    rows_of,
    table_of,
)

# How deep rankings are looked at where the first measure has no cutoff.
_CUTOFF = 10


@dataclass(frozen=True, eq=False)
class Worth:
    """What :func:`worth` answers. ``print`` shows the text and the table, and so does a notebook."""

    candidate: str  #: what the candidate is called
    deployed: tuple[str, ...]  #: the names of the deployed runs
    verdict: str  #: ``"adds"``, ``"adds nothing"`` or ``"open"``
    #: What an open verdict lacks, ``"topics"``, ``"labels"``, ``"topics and labels"``, or ``"judgments"`` where there
    #: are none at all; None where the verdict is not open.
    missing: str | None
    text: str  #: the answer in three to six sentences
    table: pd.DataFrame  #: a row a finding; :func:`worth` says what its columns are
    judge: pd.DataFrame  #: ``query_id`` and ``doc_id`` of what to judge next, in that order
    settings: Mapping[str, Any] = field(default_factory=dict)  #: ``by``, ``margin`` and ``confidence``
    #: Of :func:`.audit.plan`: what people should label; None where there is none.
    plan: pd.DataFrame | None = None
    audit: pd.DataFrame | None = None  #: of :func:`.audit.estimate`, where a plan was given

    @property
    def adds(self) -> bool:
        """Whether the verdict is "adds"."""
        return self.verdict == "adds"

    def __str__(self) -> str:
        if not len(self.table):
            return self.text
        shown = self.table.drop(columns=["name", "other"]).dropna(axis=1, how="all")
        return f"{self.text}\n\n{shown.to_string(index=False, float_format='%.3f', na_rep='')}"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        table = self.table.dropna(axis=1, how="all").to_html(
            index=False, float_format="%.3f", na_rep="", border=0
        )
        return f"<p>{escape(self.text)}</p>{table if len(self.table) else ''}"

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it; what is not a number, or infinite, is None."""
        plain: dict[str, Any] = {
            "candidate": self.candidate,
            "deployed": list(self.deployed),
            **self.settings,
            "verdict": self.verdict,
            "adds": self.adds,
            "missing": self.missing,
            "text": self.text,
        }
        for name in ("table", "judge", "plan", "audit"):
            table = getattr(self, name)
            plain[name] = table
            if table is not None:
                plain[name] = json.loads(table.to_json(orient="records", double_precision=15))
        return plain


def worth(
    context: RunContext,
    qrels: Qrels | None,
    candidate: str | Run,
    deployed: str | Sequence[str] | None = None,
    by: Sequence[ir_measures.Measure | str] = ("UniqueRel@10", "FusionGain(base='nDCG@10')"),
    margin: float = 0.0,
    confidence: float = 0.95,
    *,
    n: int = 20,
    unretrieved_relevant: int | None = None,
    resamples: int = 9999,
    seed: int = 0,
    time_limit: float | None = 10.0,
    judge: Judge | None = None,
    budget: int | None = None,
    plan: pd.DataFrame | str | os.PathLike[str] | None = None,
) -> Worth:
    """Is a candidate worth adding to the runs that are deployed? A verdict, a text, and the numbers behind it.

    The verdict is about new topics like these, and about all labels that the unjudged documents could have. It goes by
    the first measure of ``by``:

    - ``"adds"``: the interval of its mean is above ``margin``, even under the labels that are least kind;
    - ``"adds nothing"``: the interval is not above ``margin``, even under the kindest labels; or ``margin`` is 0,
      and no topic has anything under any labels;
    - ``"open"``: neither. The text says whether topics or labels are missing, and which documents to judge.

    The documents whose labels count are the unjudged ones in the top k of any of these runs, as for :func:`bounds`. The
    interval is the widest of three, as ``cautious_interval`` says. It is two-sided, so a verdict "adds" should be
    wrong in 2.5 % of the cases at most; the page "Is it worth adding?" has what was measured.

    Some measures are above 0 for a copy of a deployed run. By these the candidate must be above ``margin`` itself,
    and by as much above a copy of its nearest deployed run, which is the one with the highest RBO.

    Args:
        context: the runs. Its ``priors``, groups and reference do not count here; ``deployed`` does.
        qrels: the judgments, as for :meth:`RunContext.evaluate`. Without any, the answer is what the rankings say.
        candidate: the name of a run of the context, or any other run: a dict, a DataFrame, the path of a file.
        deployed: the names of the deployed runs, or globs; all other runs of the context if not given.
        by: measures that are relative to prior runs, the first of which decides; and absolute ones.
        margin: the mean of the first measure that would be worth having, in its unit; that of UniqueRel is relevant
            documents a topic. The other measures are compared with 0.
        confidence: of the intervals.
        n: how many documents to name that should be judged next.
        unretrieved_relevant: as for :func:`bounds`.
        resamples, seed: of the bootstrap, of the labels that are drawn for ``probability``, and of the plan.
        time_limit: seconds for the bounds; what is not finished has wider bounds.
        judge: the labels of a language model, as for :func:`.audit.plan`, with ``budget`` or ``plan``.
        budget: how many labels people can give. Where the verdict is open and labels are missing, the answer's
            ``plan`` says of which documents. The first measure must be UniqueRel, which is a sum of labels.
        plan: that plan, or the path of its file, once the qrels hold the labels that it asks for. The verdict is then
            that of the audit: about the topics of the judge, with human labels as truth, and not about new topics.

    Returns:
        a :class:`Worth`. Its table has a row for each measure of ``by``, one for ``NRG(norm='ideal')`` on the scale of
        nDCG, and one for the effectiveness of the candidate beside the best deployed run's, by the base of
        FusionGain, else nDCG@10. Where the qrels name aspects, the last row has NewAspects, without bounds and
        verdict: it holds for the labels as they are. The columns:

        - ``name``, ``other``: the candidate, and what it stands against: the deployed runs, or the best of them;
        - ``measure``;
        - ``mean``: the candidate's, by the judgments as they are;
        - ``copy``: what a copy of the nearest deployed run has in the candidate's place;
        - ``other_mean``: of the best deployed run, where the measure is absolute;
        - ``difference``: what the verdict is about: the mean; the mean less ``copy`` where that is less; the mean less
          ``other_mean``;
        - ``ci_lower``, ``ci_upper``: its interval over topics, by the judgments as they are;
        - ``worst``, ``best``: what it could be on these topics, over all judgments of the unjudged documents;
        - ``lower``, ``upper``: both together: the interval over topics in the worst case and in the best;
        - ``verdict``: as above; ``"better"``, ``"worse"`` or ``"open"`` of an absolute measure;
        - ``probability``: where labels are missing for the verdict, and there are four runs: the chance that it is
          "adds" once the unjudged documents are judged. Their labels are drawn as for :func:`verdicts`;
        - ``unjudged``: the share of the candidate's top k that is not judged;
        - ``topics``: how many.

    Raises:
        ValueError: no deployed run, or the candidate among them; a measure that does not say what a run adds; a run
            that shares no query with the judgments; a budget or a plan without a judge; what :func:`.audit.plan` and
            :func:`.audit.estimate` raise.

    Example:
        >>> from ir_measures_relative import RunContext, worth
        >>> qrels = {f"q{i}": {"A": 1, "B": 1, "C": 0} for i in range(12)}
        >>> old, new = ({q: {d: 1.0 for d in docs} for q in qrels} for docs in ("AC", "AB"))
        >>> answer = worth(RunContext({"BM25": old}), qrels, new, by=["UniqueRel@2"])
        >>> answer.verdict, answer.candidate, answer.deployed
        ('adds', 'candidate', ('BM25',))
        >>> print(answer.text.partition(" (95")[0])
        The candidate adds to BM25: on average 1 relevant document a topic that BM25 does not show in its top 2
    """
    check_is_context(context)
    measures = _measures(by)
    _check_margin(margin, measures[0])
    check_count("n", n, 1)
    PairedTestOptions(confidence=confidence, resamples=resamples, seed=seed)  # which checks them
    _check_audit(measures[0], judge, budget, plan)
    work = Work(time_limit=time_limit)
    name, against, run = _runs(context, candidate, deployed)
    campaign = Candidacy.of(context, qrels, name, against, run)
    _check_rel(measures, campaign)
    settings = {"by": [str(m) for m in measures], "margin": float(margin), "confidence": confidence}
    cutoff = depth_of(measures[0]) or _CUTOFF
    if not len(campaign.view.documents) and plan is None:
        unseen = campaign.unseen(cutoff)
        text = wording.without_judgments(campaign, unseen, cutoff)
        made, advice = _plan(campaign, measures[0], judge, budget if unseen else None, seed)
        text = f"{text} {advice}".strip()
        table = table_of(unseen[:n])
        return Worth(name, against, "open", "judgments", text, pd.DataFrame(), table, settings, made)
    of_people = None
    if plan is not None and judge is not None:  # before the rest: labels may be missing
        of_people = audit_of_worth(campaign, measures[0], judge, plan, float(margin), confidence)
    of_aspects = _of_aspects(campaign, measures, cutoff)
    shown = [m for m in _with_others(measures, cutoff) if m not in of_aspects]
    warn_of_last_labels(campaign.view, shown)
    drawn = Resamples(confidence, topic_counts(resamples, campaign.topics, seed))
    findings = []
    for done, measure in enumerate(shown):
        threshold = 0.0 if done else float(margin)
        left = share(work, len(shown) - done)
        findings.append(finding(campaign, measure, threshold, drawn, unretrieved_relevant, left))
    first, wanted = findings[0], []
    verdict, missing = first.verdict, first.missing()
    if missing in ("labels", "topics and labels"):
        wanted = documents(campaign, first)
    if missing == "labels":
        first.row["probability"] = probability(campaign, first, seed)
    aspects = [aspects_row(campaign, measure, drawn) for measure in of_aspects]
    table = rows_of([found.row for found in findings] + aspects)
    if of_people is not None:
        text = wording.audited(campaign, findings, aspects, of_people)
        verdict, missing = of_people.verdict, "labels" if of_people.verdict == "open" else None
        return Worth(
            name, against, verdict, missing, text, table, table_of([]), settings, audit=of_people.table
        )
    text = wording.answer(campaign, findings, aspects, cutoff, len(wanted), n)
    made = None
    if wanted:
        made, advice = _plan(campaign, first.measure, judge, budget, seed)
        text = f"{text} {advice}".strip()
    return Worth(name, against, verdict, missing, text, table, table_of(wanted[:n]), settings, made)


def _plan(
    campaign: Candidacy, measure: ir_measures.Measure, judge: Judge | None, budget: int | None, seed: int
) -> tuple[pd.DataFrame | None, str]:
    """What people should label, and the advice to do so."""
    if judge is None or budget is None:
        return None, ""
    if not can_be_audited(measure):
        return None, wording.no_plan(measure)
    made = plan_of_worth(campaign, measure, judge, budget, seed)
    return made, wording.planned(int(made["ask"].sum()))


def _check_audit(first: ir_measures.Measure, judge: Any, budget: Any, plan: Any) -> None:
    if budget is not None:
        check_count("budget", budget, 1)
    if budget is not None and plan is not None:
        raise ValueError("give budget= to make a plan, or plan= once people have labelled it, and not both")
    if judge is None and (budget is not None or plan is not None):
        given = "budget" if plan is None else "plan"
        raise ValueError(f"{given}= needs judge=, the labels of a language model for all documents")
    if judge is not None and budget is None and plan is None:
        raise ValueError(
            "judge= needs budget=, how many labels people can give, or plan=, what they have labelled"
        )
    if plan is not None and not can_be_audited(first):
        raise ValueError(f"plan= was given. {wording.no_plan(first)}")


def _of_aspects(
    campaign: Candidacy, measures: Sequence[ir_measures.Measure], cutoff: int
) -> list[ir_measures.Measure]:
    """NewAspects as it was asked for after the first measure; else to the cutoff, where there are aspects."""
    asked = [m for m in measures[1:] if m.NAME == NewAspects.NAME]
    if asked or not campaign.view.judgments.has_aspects:
        return asked
    rel = measures[0].params.get("rel")
    return [(NewAspects if rel is None else NewAspects(rel=rel)) @ cutoff]


def _measures(by: Sequence[ir_measures.Measure | str]) -> list[ir_measures.Measure]:
    """The measures; ValueError where the first does not say what a run adds, or one says against whom."""
    measures = parse_measures(by, "by")
    first = measures[0]
    if not is_relative(first) or first.RELATIVE_TO != "priors":
        raise ValueError(
            f"the verdict goes by the first measure of by=, and {first} does not say what a run adds to others: give "
            "UniqueRel@10, or FusionGain(base='nDCG@10'); compare() says which of two runs is better"
        )
    if first.NAME == NewAspects.NAME:
        raise ValueError(
            f"the verdict holds whatever labels are missing, and {first} has no such bounds: give UniqueRel@10 first, "
            "and NewAspects after it"
        )
    for measure in measures:
        if is_relative(measure) and measure.RELATIVE_TO != "priors":
            raise ValueError(
                f"{measure} is not relative to prior runs; give UniqueRel, NRG, TaSC or FusionGain, or an absolute "
                "measure after the first"
            )
        if measure.params.get("prior") is not None:
            raise ValueError(
                f"{measure}: deployed= says what the candidate is compared with; leave prior= out"
            )
    return measures


def _with_others(measures: Sequence[ir_measures.Measure], cutoff: int) -> list[ir_measures.Measure]:
    """The measures; NRG on the scale of nDCG, if none is NRG; and the effectiveness, each once."""
    bases = [m.base_measure() for m in measures if m.NAME == FusionGain.NAME]
    scale = [] if any(m.NAME == NRG.NAME for m in measures) else [NRG(norm="ideal") @ cutoff]
    effectiveness = (
        [] if any(not is_relative(m) for m in measures) else [*bases, ir_measures.nDCG @ _CUTOFF][:1]
    )
    return [*measures, *scale, *effectiveness]


def _check_rel(measures: Sequence[ir_measures.Measure], campaign: Candidacy) -> None:
    """ValueError where no document can be relevant: ``rel=`` above the highest label."""
    highest = campaign.view.grades[1]
    for measure in measures:
        rel = value_of(measure, "rel", 1)
        if is_number(rel) and rel > highest and len(campaign.view.documents):
            raise ValueError(
                f"{measure}: no label is {rel} or higher, so nothing is relevant; the highest is {highest}: lower "
                f"rel=, or say how high labels can be with RunContext(…, grades=(0, {rel}))"
            )


def _check_margin(margin: Any, first: ir_measures.Measure) -> None:
    high = value_range(first)[1]
    if not is_number(margin) or not 0 <= margin < high:
        raise ValueError(
            f"margin={margin!r} is not allowed; it is the least mean of {first} that is worth having, from 0 to "
            f"below {high:g}"
        )


def _runs(
    context: RunContext, candidate: str | Run, deployed: str | Sequence[str] | None
) -> tuple[str, tuple[str, ...], Rankings]:
    """The candidate's name, the deployed runs, and the candidate."""
    names = context.names
    text = candidate if isinstance(candidate, str) else None
    same = next((n for n, run in context.runs.items() if run is candidate or n == text), None)
    if same is not None:
        name, run = same, context.runs[same]
    elif text is not None and not Path(text).exists():
        raise ValueError(
            f"candidate={text!r} is neither a run of the context nor a file; its runs are {few_quoted(names)}"
        )
    else:
        run = read_run(candidate, "the candidate")
        name = run.tag or wording.UNNAMED
        if isinstance(candidate, (str, os.PathLike)):
            name = name_runs([Path(candidate)], [run])[0]
    if deployed is None:
        if not isinstance(context.policy, Others):
            warn(
                f"worth() holds the candidate against all other runs of the context, whatever its priors="
                f"{context.priors!r} are; name the deployed runs, deployed=[…], if it should not",
                context,
            )
        against = [n for n in names if n != same]
    else:
        against = _named(deployed, names, same)
    if not against and deployed is not None:
        raise ValueError(
            f"deployed={deployed!r} names no run besides the candidate; name the runs that you have, or leave it out: "
            "all other runs are then deployed"
        )
    if not against:
        raise ValueError(
            f"there is no deployed run to compare {name!r} with: the context holds {few_quoted(names)}; add the runs "
            "that are deployed to the RunContext"
        )
    if name in against:
        name = f"{name} (candidate)"
    return name, tuple(against), run


def _named(deployed: str | Sequence[str], names: Sequence[str], member: str | None) -> list[str]:
    """The runs that names or globs stand for, but for a candidate that a glob finds."""
    if not isinstance(deployed, Iterable):
        raise ValueError(f"deployed={deployed!r} must be a name or glob of deployed runs, or a list of these")
    asked = [deployed] if isinstance(deployed, str) else list(deployed)
    found: list[str] = []
    for pattern in asked:
        if pattern == member:
            raise ValueError(
                f"the candidate {member!r} is among the deployed runs; leave it out of deployed= to ask what it adds "
                "to the others"
            )
        fit = fitting(str(pattern), names)
        if not fit:
            raise ValueError(
                f"deployed={deployed!r}: {pattern!r} fits no run of the context; its runs are {few_quoted(names)}"
            )
        found += fit
    return [n for n in names if n in set(found) and n != member]
