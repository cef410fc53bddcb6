"""The audit behind a verdict of :func:`.worth`: which documents people should label, and what they then say."""

from __future__ import annotations

from typing import Any, NamedTuple

import ir_measures
import pandas as pd

from ..audit.estimating import estimate
from ..audit.planning import plan, read_plan
from ..audit.targets import Judge
from ..context.run_context import RunContext
from ..measures.nrg import UniqueRel
from .findings import Candidacy, verdict_of_ends


class AuditOfWorth(NamedTuple):
    """What people's labels of a plan say of a candidate."""

    table: pd.DataFrame  #: the row of :func:`.estimate`
    verdict: str  #: ``"adds"``, ``"adds nothing"`` or ``"open"``
    topics: int  #: those of the judge

    def cell(self, column: str) -> Any:
        """A cell of the row."""
        return self.table[column].iloc[0]


def can_be_audited(measure: ir_measures.Measure) -> bool:
    """Whether what a run adds by this measure is a sum of labels that is 0 for a copy."""
    return bool(measure.NAME == UniqueRel.NAME)


def plan_of_worth(
    campaign: Candidacy, measure: ir_measures.Measure, judge: Judge, budget: int, seed: int
) -> pd.DataFrame:
    """The plan: the candidate by itself, relative to the deployed runs."""
    return plan(_context(campaign), judge, [measure], budget, between=_between(campaign), seed=seed)


def audit_of_worth(
    campaign: Candidacy, measure: ir_measures.Measure, judge: Judge, given: Any, margin: float, level: float
) -> AuditOfWorth:
    """The verdict by the labels that a plan asked for; others do not count.

    Raises:
        ValueError: labels of the plan are missing, with their number; what :func:`.estimate` raises.
    """
    asked = {pair for pair, (_, asks) in read_plan(given).rows.items() if asks}
    judged, labels = campaign.view.documents, dict[str, dict[str, int]]()
    rows = zip(judged.query_ids[judged.query], judged.doc_ids, judged.grade, strict=True)
    for query, doc, grade in rows:
        if (str(query), str(doc)) in asked:
            labels.setdefault(str(query), {})[str(doc)] = int(grade)
    table = estimate(_context(campaign), given, labels, judge, [measure], _between(campaign), level)
    verdict = verdict_of_ends(table["ci_lower"].iloc[0], table["ci_upper"].iloc[0], margin)
    return AuditOfWorth(table, verdict, table.attrs["topics"])


def _context(campaign: Candidacy) -> RunContext:
    """The candidate and the deployed runs."""
    context = campaign.view.members
    return RunContext(context.runs, grades=context.grades)


def _between(campaign: Candidacy) -> tuple[str, list[str]]:
    return campaign.name, campaign.deployed
