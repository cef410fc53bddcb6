"""ir_measures' Evaluator: runs in, values of the relative measures out. It knows no measure by name."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import ir_measures
import numpy as np
from ir_measures.providers import Evaluator

from .context import ActiveContext, RunContext, active, evaluated_run
from .io.frames import is_frame
from .io.qrels import Qrels, qrels_columns
from .io.runs import Run, read_run
from .measures.declaration import RelativeMeasure
from .messages import warn
from .priors import Members, priors_chosen_by_means
from .rankings import Rankings
from .scoring import warn_if_empty, warn_if_strange, warn_of_last_labels
from .view import View, check_queries, some, view_of

#: The variable of the environment that holds the folder of the runs to compare with, where no context is active.
CONTEXT = "IR_MEASURES_RELATIVE_CONTEXT"


class RelativeEvaluator(Evaluator):  # type: ignore[misc]
    """Scores runs relative to the context that is active when the evaluator is created.

    Raises:
        ValueError: a measure that needs a context, and there is none.
    """

    def __init__(self, measures: list[RelativeMeasure], qrels: Qrels) -> None:
        for measure in measures:
            measure.validate_params()
        check_context(measures)
        said = None if active() is not None else os.environ.get(CONTEXT)
        self.active = active() or ActiveContext(_context_of(said) if said else RunContext({}), None)
        #: Whether nobody can say which of the context's runs is evaluated: it is the one that ranks alike.
        self._is_of_environment = bool(said)
        context, columns = self.active.context, qrels_columns(qrels)
        self._is_frame = is_frame(qrels)
        self._may_be_batch = self._is_frame and not _counts_from_zero(qrels)
        self.view = view_of(context, columns)
        if not columns.n_rows:  # as ir_measures' own measures do: no value, so that the mean is NaN
            warn("the qrels hold no judgment, so there is no query to score", context)
        else:
            _warn_of_runs_of_context(self.view, may_be_batch=self._may_be_batch)
            warn_of_last_labels(self.view, measures)
            if not self._may_be_batch:
                warn_if_strange(self.view)
            if self._is_frame:
                low, high = (any(m.asks_for_grades[end] for m in measures) for end in (0, 1))
                _seen.setdefault(context, _PartsSeen()).check_grades(
                    self.view, not self._may_be_batch, (low, high)
                )
        super().__init__(measures, set(self.view.query_ids))

    def _iter_calc(self, run: Run) -> Iterator[ir_measures.Metric]:
        rankings = self._rankings(run)
        if not self._may_be_batch:  # PyTerrier has an empty frame for the queries that are in no batch
            warn_if_empty(rankings, self.active.context)
            if not self.active.context.runs:
                warn_if_strange(self.view, rankings)
        check_queries(self.view, rankings, may_be_batch=True)
        member, group = self._identify(rankings)
        by_policy = any(m.RELATIVE_TO == "priors" and m.get("prior") is None for m in self.measures)
        if self._is_frame and by_policy and (member is not None or group is not None):
            seen = _seen.setdefault(self.active.context, _PartsSeen())
            seen.check_choice(self.view, not self._may_be_batch)
        view = self.view.with_run(rankings, group=group, member=member)
        query_ids = self.view.query_ids
        for measure in self.measures:
            values = dict(zip(query_ids, measure.score(view).tolist(), strict=True))
            if self.active.replayed is not None and member is not None:
                self.active.replayed.setdefault(measure, {}).setdefault(member, {}).update(values)
            for query_id, value in values.items():
                yield ir_measures.Metric(query_id=query_id, measure=measure, value=value)

    def _rankings(self, run: Run) -> Rankings:
        """The run, read; as it was read before where ``pt.relative.Experiment`` replays one, all queries of it."""
        if self.active.replayed is not None and is_frame(run) and len(run) and "name" in run.columns:
            known = self.active.context.runs.get(run["name"].iloc[0])
            if known is not None and len(known) == len(run):
                return known
        return read_run(run)

    def _identify(self, rankings: Rankings) -> tuple[str | None, str | None]:
        """The name of the member that is evaluated, None for a newcomer; and the group of a newcomer."""
        member, group = evaluated_run(self.active, rankings)
        context, evaluated = self.active.context, self.view.with_run(rankings)
        if not (self.view.documents.queries_of(rankings) >= 0).any():
            # No judged query: nothing to tell runs apart by, and nothing that could mislead.
            return member, group
        if member is None:
            # Relative to a reference alone, it does not matter who else is in the context; and relative to the priors
            # not who is of its own group.
            relative_to = {m.RELATIVE_TO for m in self.measures}
            for name in context.names if relative_to & {"priors", "systems"} else ():
                if group is not None and context.groups.get(name) == group and "systems" not in relative_to:
                    continue
                if evaluated.ranks_as(name):
                    if self._is_of_environment:
                        return name, None
                    warn(
                        f"the evaluated run ranks exactly as the context's run {name!r}, but is taken for a newcomer, "
                        f"with {name!r} as a prior: if it is that run, say so with a column name='{name}' "
                        f"(pt.relative.named({{{name!r}: pipeline}})) or context.evaluating({name!r})",
                        context,
                    )
                    break
        elif not evaluated.starts_as(member):
            warn(
                f"the evaluated run is named {member!r}, but ranks differently from the context's run of that name; "
                "it is scored without that one as its prior: give it another name if it is another run",
                context,
            )
        return member, group


@cache
def _context_of(path: str) -> RunContext:
    """The context of the files that the environment names; raises as :meth:`RunContext.from_files` does."""
    return RunContext.from_files(path)


def check_context(measures: Iterable[RelativeMeasure]) -> None:
    """Raises ValueError where measures need a context and none is active; says how to get one."""
    needing = [str(m) for m in measures if m.needs_context]
    if not needing or active() is not None or os.environ.get(CONTEXT):
        return
    listed = ", ".join(needing)
    raise ValueError(
        f"{listed} needs the runs to compare with, and no RunContext is active. In PyTerrier, write\n"
        f"    pt.relative.Experiment(pipelines, topics, qrels, [{listed}])\n"
        "which scores each pipeline against the others. Or give the runs yourself:\n"
        "    with RunContext({'BM25': bm25_run}):\n"
        "        …  # evaluate here\n"
        "(RunContext({}) is a context without prior runs)" + _elsewhere()
    )


def _elsewhere() -> str:
    """Why a context that is entered may not be seen here, or what to do where none can be."""
    if getattr(sys.modules.get("__main__"), "__package__", None) == "ir_measures":  # its own command
        return f"\nIn ir_measures' own command set {CONTEXT} to a folder of runs in the environment."
    if multiprocessing.parent_process() is None and threading.current_thread() is threading.main_thread():
        return ""
    return (
        "\nA context does not reach the threads and processes that are started inside it: enter it there as well. "
        "pt.GridSearch and pt.GridScan need jobs=1."
    )


def _warn_of_runs_of_context(view: View, *, may_be_batch: bool) -> None:
    """Warns of a run without rankings, and of one for other topics, which a batch of PyTerrier's may be for it."""
    runs = view.runs
    counts = Counter(q for run in runs.values() for q in run.query_ids)
    for run in runs.values():
        warn_if_empty(run, view.members)
        unknown = not (view.documents.queries_of(run) >= 0).any() and all(
            counts[q] == 1 for q in run.query_ids
        )
        if len(run) and unknown and not may_be_batch:
            warn(
                f"{run.name} of the context has no query in common with the qrels: it has {some(run.query_ids)}, the "
                f"qrels have {some(view.query_ids)}; it counts as empty rankings: is one of them numbered "
                "differently?",
                view.members,
            )


# How many parts of the qrels are remembered of a context.
_KEPT = 10_000

#: Of each part: whether the rows of its qrels count from 0, its topics, and what was found for it.
_OfParts: TypeAlias = list[tuple[bool, frozenset[str], Any]]


class _PartsSeen:
    """What evaluators have seen of qrels that come in parts: PyTerrier cuts one frame of qrels by topics.

    A part does not know the grades of the others, and means over its topics are not those over all; a table must not
    stand on two scales, nor on two choices of priors. Parts of one frame hold other topics, and rows with other labels
    in its index; two whole frames both count their rows from 0.
    """

    def __init__(self) -> None:
        self._grades: _OfParts = []
        self._choices: _OfParts = []

    def check_grades(self, view: View, whole: bool, asked: tuple[bool, bool]) -> None:
        """Raises ValueError where these qrels are graded on another scale than those of other topics.

        Args:
            whole: whether the rows of the qrels count from 0.
            asked: whether a measure asks for the lowest, and for the highest grade of all the qrels.
        """
        if view.members.grades is not None or not any(asked):
            return
        queries = frozenset(view.query_ids)
        for grades in _of_other_topics(self._grades, queries, whole):
            if any(a and g != h for a, g, h in zip(asked, grades, view.grades, strict=True)):
                raise ValueError(
                    f"the grades are {view.grades[0]} to {view.grades[1]} in these qrels, and {grades[0]} to "
                    f"{grades[1]} in those of other topics that the context was used with: open documents would be "
                    "rated on two scales. Where the qrels come in parts, such as PyTerrier's batches or folds, say "
                    "RunContext(…, grades=(lowest, highest)), or max_grade= in the measure"
                )
        if not any(w == whole and q == queries for w, q, _ in self._grades):
            self._grades.append((whole, queries, view.grades))
            del self._grades[:-_KEPT]

    def check_choice(self, view: View, whole: bool) -> None:
        """Where means over the queries choose the priors: raises ValueError if other topics' chose others."""
        policy = view.members.policy
        if not getattr(policy, "needs_groups", False):
            return
        choice = view.cached(("choice",), lambda: priors_chosen_by_means(policy, view))
        if choice is None:
            return
        queries = frozenset(view.query_ids)
        if any(other != choice for other in _of_other_topics(self._choices, queries, whole)):
            raise ValueError(
                "the means over these topics make other runs the priors than those over other topics that the "
                "context was used with. Where the qrels come in parts, such as PyTerrier's batches or folds, "
                "choose the priors by the whole, RunContext(…, priors=BestOfOtherGroups.choose(means, groups)), or "
                "leave batch_size out"
            )
        if (whole, queries, choice) not in self._choices:
            self._choices.append((whole, queries, choice))
            del self._choices[:-_KEPT]


def _of_other_topics(seen: _OfParts, queries: frozenset[str], whole: bool) -> list[Any]:
    """What was found for parts that hold other topics than these."""
    return [found for w, others, found in seen if not (whole and w) and not queries & others]


#: What is remembered of a context, as long as the context is there.
_seen: WeakKeyDictionary[Members, _PartsSeen] = WeakKeyDictionary()


def _counts_from_zero(frame: Any) -> bool:
    """Whether the index of a frame is 0, 1, 2 …; that of a frame cut out of another has gaps, or starts later."""
    index = frame.index.to_numpy()
    return bool(len(index) and np.array_equal(index, np.arange(len(index))))
