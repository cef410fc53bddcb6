"""The evaluator of relative measures for ir_measures; it knows no measure by name."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import ir_measures
from ir_measures.providers import Evaluator

from ..context.active import ActiveContext, active
from ..context.checks import check_collection, check_host_run, resolve_group
from ..context.collection import Collection, judged_collection
from ..context.evaluated import Evaluated
from ..context.priors import priors_chosen_by_means
from ..context.run_context import RunContext
from ..data.rankings import Rankings
from ..io.frames import is_frame
from ..io.qrels import Qrels, qrels_columns
from ..io.runs import Run, read_run
from ..measures.measure import RelativeMeasure
from ..messages import warn
from .compat import may_be_batch


class RelativeEvaluator(Evaluator):  # type: ignore[misc]
    """Evaluator of relative measures, in the context that is active when it is created."""

    def __init__(self, measures: list[RelativeMeasure], qrels: Qrels) -> None:
        for measure in measures:
            measure.validate_params()
        check_context(measures)
        self.active = active() or ActiveContext(RunContext({}), None)
        context, columns = self.active.context, qrels_columns(qrels)
        self._is_frame = is_frame(qrels)
        self._may_be_batch = may_be_batch(qrels)
        self._by_policy = any(m.RELATIVE_TO == "priors" and m.get("prior") is None for m in measures)
        self.collection = judged_collection(context, columns)
        query_ids = self.collection.documents.query_ids
        if not len(query_ids):  # no value, so the mean is NaN, as for ir_measures' own measures
            warn("the qrels hold no judgment, so there is no query to score", context)
        else:
            check_collection(self.collection, measures, may_be_batch=self._may_be_batch)
            if self._is_frame:
                _check_grades_of_parts(self.collection, not self._may_be_batch, measures)
        super().__init__(measures, set(query_ids))

    def iter_calc(self, run: Run) -> Iterator[ir_measures.Metric]:
        """Yield a value for each measure and query, so that ir_measures never adds its default."""
        evaluated = self._find_run(read_run(run, copy=False))
        check_host_run(evaluated, self.measures, may_be_batch=self._may_be_batch)
        if self._is_frame and self._by_policy and not (evaluated.index is None and evaluated.group is None):
            _check_choice_of_parts(self.collection, not self._may_be_batch)
        query_ids = self.collection.documents.query_ids
        scores = [measure.score(evaluated).tolist() for measure in self.measures]
        for measure, values in zip(self.measures, scores, strict=True):
            for query_id, value in zip(query_ids, values, strict=True):
                yield ir_measures.Metric(query_id=query_id, measure=measure, value=value)

    def _find_run(self, given: Rankings) -> Evaluated:
        """Return the run in the collection, as one of the context's runs or as a new run.

        A name or group set by :meth:`RunContext.evaluating` (now, or when the evaluator was created) goes before the
        run's own ``name``.
        """
        context, now = self.active.context, active()
        run = given.without_self() if context.drop_self else given
        if run is not given:
            warn(
                "drop_self=True removes the query from the run for relative measures alone, since ir_measures computes "
                "its own measures of the run as it is: use context.evaluate or pt.relative.Experiment for both",
                context,
            )
        names_run = now is not None and now.context is context and (now.name or now.group)
        source = now if now is not None and names_run else self.active
        name, group = source.name, source.group
        if name is None and run.tag in context.runs:
            name = run.tag
        if name is None:
            if group is not None or run.group is not None:
                group = resolve_group(self.collection, run, group, self.measures)
        elif group is not None and context.groups.get(name) != group:
            raise ValueError(
                f"the evaluated run is named {name!r}, which is a run of the context and of the group "
                f"{context.groups.get(name)!r}, not a new run of {group!r}: give it another name, or leave group out"
            )
        return Evaluated.of(self.collection, run, group=None if name else group, name=name)


def check_context(measures: Iterable[RelativeMeasure]) -> None:
    """Raise ValueError, with the fix, where measures need a context and none is active."""
    measures = [m for m in measures if m.RELATIVE_TO != "chance"]
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


# PyTerrier splits qrels by topics, and from one part an evaluator knows neither the grades of the other parts nor means
# over all topics. So each context has the parts that its evaluators have seen; weak keys, so that none outlives it.
_parts: WeakKeyDictionary[RunContext, dict[str, list[_Part]]] = WeakKeyDictionary()
_MAX_PARTS = 10_000  # stored per context and kind of value


class _Part(NamedTuple):
    is_whole: bool  #: whether its rows count from 0, so that it is no part of another frame
    query_ids: frozenset[str]
    value: Any


def _record_part(kind: str, collection: Collection, is_whole: bool, value: Any) -> list[Any]:
    """Record a value of this part of the qrels; return those of parts of the same qrels, for other topics.

    A frame whose rows count from 0 is whole: two of these are different qrels.
    """
    context: Any = collection.context
    seen = _parts.setdefault(context, {}).setdefault(kind, [])
    part = _Part(is_whole, frozenset(collection.documents.query_ids), value)
    rest = [p.value for p in seen if not (is_whole and p.is_whole) and not part.query_ids & p.query_ids]
    if part not in seen:
        seen.append(part)
        del seen[:-_MAX_PARTS]
    return rest


def _check_grades_of_parts(
    collection: Collection, is_whole: bool, measures: Iterable[RelativeMeasure]
) -> None:
    """Raise ValueError if a measure needs the grades, and these qrels have other grades than an earlier part."""
    is_needed = [any(m.asks_for_grades[end] for m in measures) for end in (0, 1)]
    if collection.grades_known or not any(is_needed):
        return
    low, high = here = collection.grades
    for grades in _record_part("grades", collection, is_whole, here):
        if any(needed and g != h for needed, g, h in zip(is_needed, grades, here, strict=True)):
            raise ValueError(
                f"the grades are {low} to {high} in these qrels, and {grades[0]} to {grades[1]} in those of other "
                "topics, so documents would be rated on two scales: where the qrels come in batches or folds, set "
                "RunContext(…, grades=(lowest, highest)), or max_grade="
            )


def _check_choice_of_parts(collection: Collection, is_whole: bool) -> None:
    """Raise ValueError if means choose the priors, and the means of an earlier part chose other runs."""
    policy = collection.policy
    if not getattr(policy, "needs_groups", False):
        return
    choice = collection.memoize("choice", lambda: priors_chosen_by_means(policy, collection) or {})
    if choice and any(other != choice for other in _record_part("choice", collection, is_whole, choice)):
        raise ValueError(
            "the means over these topics make other runs the priors than those over other topics; where the qrels "
            "come in parts, such as PyTerrier's batches or folds, choose the priors by the whole, "
            "RunContext(…, priors=BestOfOtherGroups.choose(means, groups)), or leave batch_size out"
        )
