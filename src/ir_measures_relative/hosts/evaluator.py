"""ir_measures' Evaluator: runs in, values of the relative measures out. It knows no measure by name."""

from __future__ import annotations

import multiprocessing
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import ir_measures
from ir_measures.providers import Evaluator

from ..context.checks import (
    check_queries,
    warn_if_nothing_is_relevant,
    warn_of_empty_runs,
    warn_of_similar_ids,
    warn_of_unjudged_runs,
)
from ..context.evaluate import warn_if_strange, warn_of_last_labels
from ..context.odd_runs import warn_of_odd_runs
from ..context.priors import Members, priors_chosen_by_means
from ..context.run_context import ActiveContext, RunContext, active, evaluated_run
from ..context.view import View, some, view_of
from ..data.rankings import Rankings
from ..io.frames import is_frame
from ..io.qrels import Qrels, qrels_columns
from ..io.runs import Run, read_run
from ..measures.measure import RelativeMeasure
from ..messages import few, warn
from .compat import may_be_batch


class RelativeEvaluator(Evaluator):  # type: ignore[misc]
    """Scores runs relative to the context that is active when the evaluator is created."""

    def __init__(self, measures: list[RelativeMeasure], qrels: Qrels) -> None:
        for measure in measures:
            measure.validate_params()
        check_context(measures)
        self.active = active() or ActiveContext(RunContext({}), None)
        context, columns = self.active.context, qrels_columns(qrels)
        self._is_frame = is_frame(qrels)
        self._may_be_batch = may_be_batch(qrels)
        self.view = view_of(context, columns)
        if not self.view.n_queries:  # as ir_measures' own measures do: no value, so that the mean is NaN
            warn("the qrels hold no judgment, so there is no query to score; give other qrels", context)
        else:
            _warn_of_runs_of_context(self.view, may_be_batch=self._may_be_batch)
            warn_of_similar_ids(self.view, context.runs.values())
            warn_of_last_labels(self.view, measures)
            if not self._may_be_batch:
                warn_if_nothing_is_relevant(self.view, measures)
                warn_if_strange(self.view, context.runs.values())
                warn_of_odd_runs(self.view, list(self.view.runs.values()))
            if self._is_frame:
                self._parts_seen.check_grades(self.view, not self._may_be_batch, measures)
        super().__init__(measures, set(self.view.query_ids))

    def iter_calc(self, run: Run) -> Iterator[ir_measures.Metric]:
        """A value for each measure and query: there is none for which ir_measures would have to put its default."""
        rankings = self._taken(read_run(run, kept=False))
        if not self._may_be_batch:  # PyTerrier has an empty frame for the queries that are in no batch
            warn_of_empty_runs([rankings], self.active.context)
            check = warn_of_unjudged_runs if self.active.context.runs else warn_if_strange
            check(self.view, [rankings])
        check_queries(self.view, rankings, may_be_batch=True)
        warn_of_similar_ids(self.view, [rankings])
        member, group = self._identify(rankings)
        by_policy = any(m.RELATIVE_TO == "priors" and m.get("prior") is None for m in self.measures)
        if self._is_frame and by_policy and (member is not None or group is not None):
            self._parts_seen.check_choice(self.view, not self._may_be_batch)
        view = self.view.with_run(rankings, group=group, member=member)
        if member is None:
            warn_of_odd_runs(view, [rankings])
        query_ids = self.view.query_ids
        values = [measure.score(view).tolist() for measure in self.measures]
        for measure, of_measure in zip(self.measures, values, strict=True):
            for query_id, value in zip(query_ids, of_measure, strict=True):
                yield ir_measures.Metric(query_id=query_id, measure=measure, value=value)

    def _taken(self, given: Rankings) -> Rankings:
        """Return a run as the context takes its own; warn where that is not what ir_measures sees of it."""
        rankings = given.without_self() if self.active.context.drop_self else given
        if rankings is not given:
            warn(
                "drop_self=True removes the query from the run for relative measures alone, since ir_measures computes "
                "its own measures of the run as it is: use context.evaluate or pt.relative.Experiment for both",
                self.active.context,
            )
        return rankings

    @property
    def _parts_seen(self) -> _PartsSeen:
        return _seen.setdefault(self.active.context, _PartsSeen())

    def _identify(self, rankings: Rankings) -> tuple[str | None, str | None]:
        """The name of the run in the context that is evaluated, None for a new one; and the group of a new one."""
        member, group = evaluated_run(self.active, rankings)
        evaluated = self.view.with_run(rankings)
        if not (self.view.documents.queries_of(rankings) >= 0).any():
            pass  # nothing to tell runs apart by, and nothing that could mislead
        elif member is None:
            self._warn_of_duplicate(evaluated, group)
        elif not evaluated.starts_as(member):
            warn(
                f"the evaluated run is named {member!r}, but ranks differently from the context's run of that name: "
                "give it another name if it is another run",
                self.active.context,
            )
        return member, group

    def _warn_of_duplicate(self, evaluated: View, group: str | None) -> None:
        """Warns where a new run ranks exactly as a run of the context that its values are relative to."""
        context, relative_to = self.active.context, {m.RELATIVE_TO for m in self.measures}
        if "systems" in relative_to:
            names = context.names
        elif "priors" in relative_to:
            names = [name for name in context.names if group is None or context.groups.get(name) != group]
        else:
            return
        name = evaluated.twin(names, partly=True)
        if name is not None:
            whole = evaluated.twin(names)
            name = whole or name
            alike = "ranks exactly as" if whole else "ranks the judged topics that it has as does"
            warn(
                f"the evaluated run {alike} the context's run {name!r}, its prior: if it is that run, name it "
                f"with a column name='{name}' (pt.relative.named({{{name!r}: pipeline}})) or "
                f"context.evaluating({name!r})",
                context,
            )


def check_context(measures: Iterable[RelativeMeasure]) -> None:
    """Raises ValueError where measures need a context and none is active; says how to get one."""
    measures = [m for m in measures if m.needs_context]
    needing = list(map(str, measures))
    if not needing or active() is not None:
        return
    listed, to_one = ", ".join(needing), any(m.RELATIVE_TO == "reference" for m in measures)
    pipelines = "{'BM25': bm25, 'mine': mine}" if to_one else "pipelines"
    reference = ", reference='BM25'" if to_one else ""
    message = (
        f"{listed} needs {'a run' if to_one else 'the runs'} to compare with, and no RunContext is active. In "
        f"PyTerrier, write\n    pt.relative.Experiment({pipelines}, topics, qrels, [{listed}]{reference})\n"
        f"or give the runs yourself:\n    with RunContext({{'BM25': bm25_run}}{reference}):\n        …  # evaluate here"
    )
    main = threading.current_thread() is threading.main_thread()
    if multiprocessing.parent_process() is not None or not main:
        message += (
            "\nA context does not reach the threads and processes that are started inside it: enter it there as well. "
            "pt.GridSearch and pt.GridScan need jobs=1."
        )
    raise ValueError(message)


def _warn_of_runs_of_context(view: View, *, may_be_batch: bool) -> None:
    """Warns of a run without rankings, and of one for other topics, which a batch of PyTerrier's may be for it."""
    runs = view.runs.values()
    known = view.documents.queries_of
    unknown = view.cached(("unknown",), lambda: [run for run in runs if not (known(run) >= 0).any()])
    warn_of_empty_runs(unknown, view.members)
    counts = Counter(q for other in (runs if unknown else ()) for q in other.query_ids)
    own = [run for run in unknown if len(run) and all(counts[q] == 1 for q in run.query_ids)]
    if own and not may_be_batch:
        warn(
            f"{few(run.name for run in own)} of the context {'has' if len(own) == 1 else 'have'} no query in common "
            f"with the qrels: {own[0].name} has {some(own[0].query_ids)}, the qrels have {some(view.query_ids)}; check "
            "whether one of them is numbered differently",
            view.members,
        )


_KEPT = 10_000  # how many parts of the qrels are remembered of a context


class _Part(NamedTuple):
    whole: bool  #: whether its rows count from 0
    query_ids: frozenset[str]
    value: Any


class _PartsSeen:
    """What evaluators have seen of qrels that come in parts: PyTerrier cuts one frame of qrels by topics.

    A part does not know the grades of the others, nor the means over all topics. Two whole frames have rows from 0.
    """

    def __init__(self) -> None:
        self._grades: list[_Part] = []
        self._choices: list[_Part] = []

    def check_grades(self, view: View, whole: bool, measures: Iterable[RelativeMeasure]) -> None:
        """Raises ValueError where a measure asks for grades, and these qrels have others than those of other topics."""
        asked = [any(m.asks_for_grades[end] for m in measures) for end in (0, 1)]
        if view.members.grades is not None or not any(asked):
            return
        for grades in _of_other_topics(self._grades, view, whole, view.grades):
            if any(a and g != h for a, g, h in zip(asked, grades, view.grades, strict=True)):
                raise ValueError(
                    f"the grades are {view.grades[0]} to {view.grades[1]} in these qrels, and {grades[0]} to "
                    f"{grades[1]} in those of other topics, so documents would be rated on two scales: where the qrels "
                    "come in batches or folds, set RunContext(…, grades=(lowest, highest)), or max_grade="
                )

    def check_choice(self, view: View, whole: bool) -> None:
        """Where means over the queries choose the priors: raises ValueError if other topics' chose others."""
        policy = view.members.policy
        if not getattr(policy, "needs_groups", False):
            return
        choice = view.cached(("choice",), lambda: priors_chosen_by_means(policy, view))
        if choice is None:
            return
        if any(other != choice for other in _of_other_topics(self._choices, view, whole, choice)):
            raise ValueError(
                "the means over these topics make other runs the priors than those over other topics; where the qrels "
                "come in parts, such as PyTerrier's batches or folds, choose the priors by the whole, "
                "RunContext(…, priors=BestOfOtherGroups.choose(means, groups)), or leave batch_size out"
            )


def _of_other_topics(seen: list[_Part], view: View, whole: bool, value: Any) -> list[Any]:
    """What was computed of parts with other topics than these; what is computed of these is remembered."""
    part = _Part(whole, frozenset(view.query_ids), value)
    others = [p.value for p in seen if not (whole and p.whole) and not part.query_ids & p.query_ids]
    if part not in seen:
        seen.append(part)
        del seen[:-_KEPT]
    return others


#: What is remembered of a context, as long as the context is there.
_seen: WeakKeyDictionary[Members, _PartsSeen] = WeakKeyDictionary()
