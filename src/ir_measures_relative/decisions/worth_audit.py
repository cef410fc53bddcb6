"""Is a candidate worth it, with LLM judgments of the documents and human judgments of a sample?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import Any, TypeAlias

import ir_measures
import numpy as np
import pandas as pd

from ..audit import estimate, plan
from ..audit.targets import Judge
from ..context.run_context import RunContext
from ..context.view import View, check_is_context
from ..data.arrays import object_array
from ..data.documents import Judgments
from ..data.rankings import Rankings
from ..io.qrels import Qrels, QrelsColumns, qrels_columns
from ..io.qrels import judge as judge_columns
from ..io.runs import Run
from ..messages import escaped
from ..stats.intervals import FEWEST_DIFFERING
from ..stats.paired_tests import PairedTestOptions
from .compared import candidate_options, copy_of
from .decision import Decision, number, paragraphs
from .decision_rule import KEEP, CandidateDecided, Intervals
from .decision_text import reason_of_worth
from .options import OptionLists, Settings, combination_of, deciding_measure
from .worth import candidate_of, deployed_runs

#: Each two options, as places.
Pairs: TypeAlias = Sequence[tuple[int, int]]

#: What settles an open verdict, and what the answer rests on.
AUDIT = {
    "judgments": "Label more documents: a plan with a larger budget and the same seed asks for these and for more.",
    "topics": "Label documents of more topics. On these {topics} alone the verdict is {here}.",
    "evidence": "This rests on {labels} human judgments on {topics} topics. By LLM judgments alone: {alone}.",
}

# Where the lists of two options differ on fewer topics, an interval over topics says nothing.
_FEWEST_TOPICS = 2 * FEWEST_DIFFERING


class WorthAudit:
    """:func:`worth` by P@k, with LLM judgments, and human judgments of a sample that a plan asks for.

    The difference of two options by P@k is a sum of judgments, so ``audit.plan`` and ``audit.estimate`` hold for it.

    Args:
        context: the runs, and ``grades=``.
        judge: the LLM judgments, as for ``audit.plan``.
        by: P@k, such as ``"P(rel=2)@10"``.

    The other arguments are those of :func:`worth`.

    Raises:
        ValueError: a measure that is not P@k; a candidate that ranks every topic as a deployed run does; what
            :func:`worth` raises.
    """

    def __init__(
        self,
        context: RunContext,
        judge: Judge,
        candidate: str | Run,
        deployed: str | Sequence[str] | None = None,
        by: ir_measures.Measure | str = "P@10",
        method: str = "rrf",
        margin: float = 0.0,
        *,
        k: int = 60,
        depth: int = 1000,
        confidence: float = 0.95,
    ) -> None:
        check_is_context(context)
        measure = deciding_measure(by)
        how = combination_of(context, measure, method, k=k, depth=depth)
        settings = Settings(measure, how, PairedTestOptions(confidence=confidence), margin=margin)
        if settings.by.NAME != "P" or settings.how.length is None:
            raise ValueError(
                f"by={str(by)!r} cannot be audited here; set by='P@10', or judge what worth() asks for"
            )
        self.settings = settings
        name, run, member = candidate_of(context, candidate)
        names = deployed_runs(context, deployed, member)
        self.candidate, self.deployed = f"{name} (candidate)" if name in names else name, tuple(names)
        # Asked once for a document, or read once.
        self._judge = cache(judge) if callable(judge) else qrels_columns(judge)
        runs = {one: context.runs[one] for one in names} | {self.candidate: run}
        view = View.on(RunContext(runs), _topics(self._judge, list(runs.values())))
        self.options, self.rivals = candidate_options(names, self.candidate)
        self.gains: Pairs = [(i, 0) for i in range(1, len(self.options))]
        self.between_rivals: Pairs = [(pair.more, pair.less) for pair in self.rivals]
        self.topics = view.n_queries
        lists = OptionLists(view, self.options, settings.how)
        self._shown = [[set(rows.tolist()) for rows in of] for of in lists.lists]
        alike = copy_of(view, names, self.candidate) is not None
        if alike or not any(self._differing(*two) for two in self.gains):
            raise ValueError(
                f"nothing to judge: all options show the same documents; {self.candidate!r} is nearly a copy"
            )
        named = zip(self.options, lists.rankings(), strict=True)
        self._lists = RunContext({option.name: one for option, one in named}, grades=context.grades)

    def _between(self, pairs: Pairs) -> list[tuple[str, str]]:
        return [(self.options[a].name, self.options[b].name) for a, b in pairs]

    def plan(self, budget: int, *, seed: int = 0, path: str | os.PathLike[str] | None = None) -> pd.DataFrame:
        """Which documents assessors should judge, at most ``budget``; arguments and result as for ``audit.plan``."""
        between, by = self._between([*self.gains, *self.between_rivals]), [self.settings.by]
        return plan(self._lists, self._judge, by, budget, between=between, seed=seed, path=path)

    def estimate(self, plan: pd.DataFrame | str | os.PathLike[str], labels: Qrels) -> Decision:
        """The verdict by the judgments that the plan asked for, by the rule of :func:`worth`.

        Args:
            plan: what :meth:`plan` gave, or the path that it wrote to.
            labels: the human judgments, as qrels, of just the documents that the plan asks for.

        Returns:
            a :class:`Decision`. Its table has ``option``, ``runs``, ``difference``; ``ci_lower``, ``ci_upper``: what
            all human judgments would say on these topics; ``lower``, ``upper``: the same on topics like these, by which
            the verdict goes, for all options by Bonferroni's rule, and the whole range where two lists differ on fewer
            than ten topics; ``labels`` and ``judge_alone`` as ``audit.estimate`` has them.

        Raises:
            ValueError: what ``audit.estimate`` raises, such as for missing judgments.
        """
        return CandidateAudited(self, plan, qrels_columns(labels)).decision()

    def intervals(self, pairs: Pairs, plan: Any, labels: QrelsColumns) -> tuple[Intervals, pd.DataFrame]:
        """The differences of some options, with what ``audit.estimate`` says of them."""
        by, between, confidence = [self.settings.by], self._between(pairs), self.settings.test.confidence
        asked = self._lists, plan, labels, self._judge, by, between, confidence
        here = estimate(*asked, simultaneous=True)
        least, most = np.full(len(pairs), -1.0), np.full(len(pairs), 1.0)
        if self.topics > 1:
            like_these = estimate(*asked, simultaneous=True, like_these=True)
            differing = np.array([self._differing(a, b) for a, b in pairs])
            few = (differing > 0) & (differing < _FEWEST_TOPICS)
            least, most = np.where(few, (least, most), (like_these["ci_lower"], like_these["ci_upper"]))
        difference, low, high = (here[name].to_numpy() for name in ("difference", "ci_lower", "ci_upper"))
        lower, upper = np.minimum(least, low), np.maximum(most, high)
        return Intervals(difference, low, high, low, high, lower, upper), here

    def _differing(self, a: int, b: int) -> int:
        """On how many topics two options show other documents."""
        return sum(one != other for one, other in zip(self._shown[a], self._shown[b], strict=True))


class CandidateAudited(CandidateDecided):
    """The options with a candidate, by the labels of an audit."""

    def __init__(self, audit: WorthAudit, plan: Any, labels: QrelsColumns) -> None:
        self.options, self.rivals, self.topics = audit.options, audit.rivals, audit.topics
        self.names = [option.name for option in audit.options]
        self.candidate, self.deployed, settings = audit.candidate, audit.deployed, audit.settings
        self.margin, self.by, self.confidence = settings.margin, str(settings.by), settings.test.confidence
        self.where = f"In the top {settings.how.length}"
        self.shown = {"candidate": self.candidate, "deployed": list(self.deployed), **settings.shown()}
        self.labels = len(judge_columns(labels))
        self.gain, self.told = audit.intervals(audit.gains, plan, labels)
        self.between, _ = audit.intervals(audit.between_rivals, plan, labels)

    @property
    def missing(self) -> str | None:
        """What an open verdict needs: topics where these are settled, else judgments."""
        if self.overall >= KEEP:
            return None
        return "topics" if self.as_judged >= KEEP or self.topics < 2 else "judgments"

    def decision(self) -> Decision:
        """The answer."""
        reason, to_do = reason_of_worth(self)
        told = self.told.assign(lower=self.gain.lower, upper=self.gain.upper)
        columns = ["difference", "ci_lower", "ci_upper", "lower", "upper", "labels", "judge_alone"]
        table = pd.DataFrame(dict.fromkeys(columns, 0.0), index=[0]).astype({"labels": int})
        table = pd.concat([table, told[columns]], ignore_index=True)
        table.insert(0, "option", self.names)
        table.insert(1, "runs", [", ".join(option.runs) for option in self.options])
        alone = ", ".join(
            f"{escaped(row.option)} {number(row.judge_alone)}" for row in table[1:].itertuples()
        )
        words = {
            "topics": self.topics,
            "labels": self.labels,
            "alone": alone,
            "here": self.word(as_judged=True),
        }
        missing = AUDIT[self.missing].format(**words) if self.missing else ""
        return Decision(
            tuple(self.names),
            self.word(),
            self.word(),
            tuple(self.names[i] for i in self.may_be_best()),
            self.missing,
            paragraphs(reason, f"{to_do} {missing}", AUDIT["evidence"].format(**words)),
            table,
            pd.DataFrame({"query_id": [], "doc_id": []}, dtype=str),
            settings=self.shown,
        )


def _topics(judge: Judge, runs: Sequence[Rankings]) -> Judgments:
    if callable(judge):
        return Judgments.none_of(object_array(dict.fromkeys(q for run in runs for q in run.query_ids)))
    return judge_columns(qrels_columns(judge), once=True)
