"""The ir_measures Provider and Evaluator. They know no measure by name."""

from __future__ import annotations

import multiprocessing
import threading
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import ir_measures
from ir_measures.providers import Evaluator, Provider

from .comparison import Comparison, JudgedContext
from .context import Active, RunContext, active
from .judgments import Qrels, qrels_columns
from .measures.base import RelativeMeasure
from .rankings import Rankings, Run, read_run


def is_relative(measure: object) -> bool:
    """Whether a measure is one of this package's."""
    return isinstance(measure, RelativeMeasure)


class RelativeProvider(Provider):  # type: ignore[misc]
    """Computes the measures of this package, relative to the active :class:`RunContext`."""

    NAME = "relative"

    def supports(self, measure: ir_measures.Measure) -> bool:
        measure.validate_params()
        return is_relative(measure)

    def _evaluator(self, measures: Iterable[RelativeMeasure], qrels: Qrels) -> RelativeEvaluator:
        return RelativeEvaluator(list(measures), qrels)


class RelativeEvaluator(Evaluator):  # type: ignore[misc]
    """Scores runs relative to the context that is active when the evaluator is created.

    Raises:
        ValueError: a measure that needs a context, and there is none.
    """

    def __init__(self, measures: list[RelativeMeasure], qrels: Qrels) -> None:
        for measure in measures:
            measure.validate_params()
        self.active = active() or Active(RunContext({}), None)
        if active() is None:
            needing = [str(m) for m in measures if m.NEEDS_CONTEXT]
            if needing:
                raise ValueError(
                    f"{', '.join(needing)} needs the runs to compare with, and no RunContext is active; write\n"
                    "    with RunContext({'BM25': bm25_run}):\n"
                    "        …  # evaluate here\n"
                    "(RunContext({}) is a context without prior runs)" + _elsewhere()
                )
        columns = qrels_columns(qrels)
        if not len(columns[0]):
            # PyTerrier passes an empty frame for a batch of topics without judgments; a dict is a mistake.
            if not hasattr(qrels, "columns"):
                raise ValueError("the qrels hold no judgment, so there is no query to score")
            warnings.warn("the qrels hold no judgment, so there is no query to score", stacklevel=2)
        self.judged = self.active.context.judged_columns(columns)
        _check_topics_of_runs(self.judged)
        super().__init__(measures, set(self.judged.judgments.query_ids))

    def _iter_calc(self, run: Run) -> Iterator[ir_measures.Metric]:
        rankings = read_run(run)
        check_queries(self.judged, rankings, may_be_batch=True)
        comparison = Comparison(self.judged, rankings, self._identify(rankings))
        query_ids = self.judged.judgments.query_ids
        for measure in self.measures:
            for query_id, value in zip(query_ids, measure.score(comparison).tolist(), strict=True):
                yield ir_measures.Metric(query_id=query_id, measure=measure, value=value)

    def _identify(self, rankings: Rankings) -> str | None:
        """The name of the member that is evaluated; None for a newcomer."""
        context = self.active.context
        now = active()
        member = now.member if now is not None and now.context is context and now.member else self.active.member
        if member is None and rankings.tag in context.runs:
            member = rankings.tag
        if not (self.judged.judgments.queries_of(rankings) >= 0).any():
            return member  # no judged query: nothing to tell runs apart by, and nothing that could mislead
        if member is None:
            # Relative to a reference alone, it is all the same who else is in the context.
            by_systems = any(m.NEEDS_CONTEXT and "ref" not in m.SUPPORTED_PARAMS for m in self.measures)
            for name in context.names if by_systems else ():
                if self.judged.same_rankings(rankings, name):
                    warnings.warn(
                        f"the evaluated run ranks exactly as the context's run {name!r}, but is taken for a "
                        f"newcomer, with {name!r} as a prior: if it is that run, say so with a column "
                        f"name='{name}' (pipeline >> pt.apply.name(lambda row: {name!r})) or "
                        f"context.evaluating({name!r})",
                        stacklevel=4,
                    )
                    break
        elif not self.judged.same_heads(rankings, member):
            warnings.warn(
                f"the evaluated run is named {member!r}, but ranks otherwise than the context's run of that name; "
                "it is scored without that one as its prior: give it another name if it is another run",
                stacklevel=4,
            )
        return member


def check_queries(judged: JudgedContext, rankings: Rankings, *, may_be_batch: bool) -> None:
    """Raises ValueError where a run that holds queries shares none with the judgments.

    An empty run is legal. Where the run may be one batch of PyTerrier's, so is one whose ids and the qrels' are
    both known to the context: the judged topics of the batch got no results. That draws a warning.
    """
    judgments = judged.judgments
    if not len(rankings) or not judgments.n_queries or (judgments.queries_of(rankings) >= 0).any():
        return
    known = {q for run in judged.context.runs.values() for q in run.query_ids} if may_be_batch else set()
    ours, theirs = list(rankings.query_ids[:3]), list(judgments.query_ids[:3])
    message = (
        f"{rankings.name} has no query in common with the qrels: the run has {ours}{_dots(rankings.query_ids)}, "
        f"the qrels have {theirs}{_dots(judgments.query_ids)}"
    )
    if known.intersection(rankings.query_ids) and known.intersection(judgments.query_ids):
        warnings.warn(message + "; its rankings count as empty", stacklevel=4)
    else:
        raise ValueError(message + "; is one of them numbered otherwise, or for other topics?")


def _elsewhere() -> str:
    """Why a context that is entered may not be seen here."""
    if multiprocessing.parent_process() is None and threading.current_thread() is threading.main_thread():
        return ""
    return (
        "\nA context does not reach the threads and processes that are started inside it: enter it there as well. "
        "pt.GridSearch and pt.GridScan need jobs=1."
    )


def _check_topics_of_runs(judged: JudgedContext) -> None:
    """Warns of a run of the context that is for other topics altogether: none of its queries is known elsewhere."""
    runs = judged.context.runs
    counts = Counter(q for run in runs.values() for q in run.query_ids)
    for run in runs.values():
        unknown = not (judged.judgments.queries_of(run) >= 0).any() and all(counts[q] == 1 for q in run.query_ids)
        if len(run) and unknown:
            warnings.warn(
                f"{run.name} of the context has no query in common with the qrels: it has "
                f"{list(run.query_ids[:3])}{_dots(run.query_ids)}, the qrels have "
                f"{list(judged.judgments.query_ids[:3])}{_dots(judged.judgments.query_ids)}; it counts as empty "
                "rankings: is one of them numbered otherwise?",
                stacklevel=5,
            )


def _dots(ids: Any) -> str:
    return " …" if len(ids) > 3 else ""
