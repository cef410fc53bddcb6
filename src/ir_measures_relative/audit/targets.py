"""What an audit estimates: differences of runs as weights of labels, and the documents whose labels matter."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import ir_measures
import numpy as np

from ..bounding.bounds import model_of
from ..bounding.err import Cascade
from ..bounding.model import Model
from ..bounding.ndcg import Normalized
from ..bounding.nrg import Residual
from ..bounding.sums import SumModel
from ..bounding.verdicts import pairs_of
from ..context.evaluate import check_runs, why_incomparable
from ..context.measure_strings import parse_measures, value_of
from ..context.priors import Members, policy_of, priors_chosen_by_means, replaced
from ..context.run_context import RunContext
from ..context.view import View, check_is_context
from ..data.arrays import BoolArray, FloatArray, IntArray, object_array, ratio
from ..data.documents import Documents, Judgments
from ..io.qrels import Qrels, QrelsColumns, qrels_columns
from ..io.qrels import judge as judge_columns
from ..measures.bases.gains import discount, grades_between, ideal_dcg, reciprocal
from ..messages import few_quoted
from ..tolerances import ROUNDED
from .sampling import sums_by_query

#: Labels of a language model: qrels, or from query id and document id to a grade, or None for none.
Judge: TypeAlias = "Qrels | Callable[[str, str], int | None]"
#: Which comparisons: a pair of runs, a run and the list of its priors, or several of these; None for all pairs.
Between: TypeAlias = "Sequence[Any] | None"

# So many cells of predictions at most: a judge that knows more grades has them put together.
_MOST_CELLS = 6
# About how large ideals are beside the greatest there could be.
_OF_MOST = 0.75
# The chance that a reader goes on after a document, where ERR is made linear.
_GOES_ON = 0.7


class Asked(NamedTuple):
    """A measure as it was asked for."""

    name: str  #: as it is printed
    measure: ir_measures.Measure
    as_dcg: bool  #: whether it is DCG over a constant: nDCG stands in for it


class Versus(NamedTuple):
    """A comparison: of two runs, or a run by itself relative to fixed priors."""

    name: str
    other: str
    priors: tuple[str, ...] | None  #: the fixed priors, where there is no other run


class Target(NamedTuple):
    """A measure of every comparison as sums of labels, over the documents of a campaign."""

    asked: Asked
    linear: bool  #: whether the sums are the differences, and not what stands in for them
    weight: FloatArray  #: of gains from 0 to 1, in the mean over queries; shape (comparisons, documents)
    offset: FloatArray  #: what the sums have where all gains are 0; shape (comparisons, queries)
    gain: FloatArray  #: of each grade from the lowest up, from 0 to 1
    grades: tuple[int, int]  #: the lowest and the highest grade

    def differences(self, grade: IntArray) -> FloatArray:
        """The means over queries of every comparison, where the documents have these grades."""
        result: FloatArray = self.weight @ self.gain[grade - self.grades[0]] + self.offset.sum(axis=1)
        return result


def read_measures(measures: Sequence[ir_measures.Measure | str]) -> list[Asked]:
    """The measures; DCG, which ir_measures does not know, over the DCG of k documents of the highest grade."""
    given = [measures] if isinstance(measures, (str, ir_measures.measures.Measure)) else list(measures)
    dcg = [isinstance(m, str) and m.startswith("DCG") for m in given]
    parsed = [parse_measures([f"n{m}" if own else m])[0] for m, own in zip(given, dcg, strict=True)]
    if not parsed:
        raise ValueError("measures is empty; give at least one, such as P(rel=2)@10")
    found = [Asked(str(m)[own:], m, own) for m, own in zip(parsed, dcg, strict=True)]
    return list({asked.name: asked for asked in found}.values())


def read_between(context: Members, between: Between) -> list[Versus]:
    """The comparisons; ValueError for what is none."""
    names = context.names
    if between is None:
        return [Versus(names[a], names[b], None) for a, b in zip(*pairs_of(context), strict=True)]  # type: ignore[arg-type]
    several = isinstance(between, (list, tuple)) and not (len(between) == 2 and isinstance(between[0], str))
    found = []
    for pair in between if several else [between]:
        right = isinstance(pair, (list, tuple)) and len(pair) == 2 and isinstance(pair[0], str)
        if not right or not isinstance(pair[1], (str, list, tuple)):
            raise ValueError(
                f"between={between!r} must be the names of two runs, a run and its priors, or a list of these"
            )
        name, other = pair
        fixed = None if isinstance(other, str) else tuple(other)
        unknown = [n for n in (name, *(fixed or [other])) if n not in names]
        if unknown or fixed == () or name in (fixed or [other]):
            what = (
                f"names {unknown}, not runs of the context" if unknown else f"compares {name!r} with itself"
            )
            raise ValueError(
                f"between {what if fixed != () else 'has no prior'}; its runs are {few_quoted(names)}"
            )
        found.append(Versus(name, other if fixed is None else ",".join(fixed), fixed))
    if not found:
        raise ValueError("between is empty; leave it out for all pairs of runs")
    return found


class Audited:
    """The runs of an audit, the labels of a judge, and what each label counts for; ideal rankings go down to ``depth``.

    ``docs`` have the judge's grades, and 0 where it gives none, as ``known`` says; ``versus`` are the comparisons.
    """

    def __init__(
        self,
        context: RunContext,
        judge: Judge,
        measures: Sequence[ir_measures.Measure | str],
        between: Between = None,
        depth: int = 0,
    ) -> None:
        check_is_context(context)
        self.context, self.depth = context, depth
        self.asked, self.versus = read_measures(measures), read_between(context, between)
        if callable(judge):
            query_ids = dict.fromkeys(q for run in context.runs.values() for q in run.query_ids)
            judged = Judgments.none_of(object_array(query_ids))
        else:
            judged = judge_columns(qrels_columns(judge), once=True)
        any_grade = replaced(context, grades=None)
        check_runs(View.on(any_grade, judged))
        empty = View.on(any_grade, Judgments.none_of(judged.query_ids))
        deepest = None if None in self.cutoffs else max(c or 0 for c in self.cutoffs)
        found = empty.with_open(None if deepest is None else max(deepest, depth)).documents
        if not len(found):
            raise ValueError("no run ranks a document of the judge's topics: nothing to judge")
        if callable(judge):
            every = zip(found.query_ids[found.query], found.doc_ids, strict=True)
            rows = [(*ids, grade) for ids in every if (grade := judge(*ids)) is not None]
            columns = map(object_array, zip(*rows, strict=True))
            judged = judge_columns(QrelsColumns(*columns)) if rows else judged
        row = rows_in(judged, found)
        self.known: BoolArray = row >= 0
        grade = np.where(self.known, judged.grade[row], 0) if len(judged) else np.zeros_like(row)
        self.check_known(grade, "judge")
        self.docs = Judgments(found.query_ids, found.query, found.ids, grade)

    def without_judge(self) -> Audited:
        """The same, where nothing is known of the labels but by people."""
        plain = copy.copy(self)
        for computed in ("cell", "share"):
            plain.__dict__.pop(computed, None)
        plain.docs, plain.known = self.labelled(np.zeros_like(self.docs.grade)), np.ones_like(self.known)
        return plain

    @property
    def cutoffs(self) -> list[int | None]:
        """How deep each measure looks."""
        return [value_of(asked.measure, "cutoff") for asked in self.asked]

    @property
    def n_queries(self) -> int:
        """How many topics there are."""
        return self.docs.n_queries

    def check_known(self, grade: IntArray, whose: str) -> None:
        """Raises ValueError for a grade that the context does not know."""
        low, high = self.context.grades or (-np.inf, np.inf)
        unknown = grade[(grade < min(low, 0)) | (grade > max(high, 1))]
        if len(unknown):
            raise ValueError(
                f"the judgments of the {whose} hold the grade {unknown[0]}, and RunContext(grades=) has {low} to {high}"
            )

    @cached_property
    def cell(self) -> IntArray:
        """The documents by the judge's grade, numbered from 0; those without one are a cell of their own."""
        grades = np.unique(self.docs.grade[self.known])
        if len(grades) > _MOST_CELLS:
            ends = np.quantile(self.docs.grade[self.known], np.arange(1, _MOST_CELLS) / _MOST_CELLS)
            grades = np.unique(ends)
        return np.where(self.known, 1 + np.searchsorted(grades, self.docs.grade), 0)

    @cached_property
    def share(self) -> FloatArray:
        """The judge's grade of each document as a share of its scale, NaN for none."""
        grades = self.docs.grade[self.known]
        low, high = grades.min(initial=0), grades.max(initial=0)
        return np.where(self.known, (self.docs.grade - low) / max(int(high - low), 1), np.nan)

    @cached_property
    def in_full(self) -> BoolArray:
        """What to label where a topic is labelled in full: what a run of the context has in its first ``depth``."""
        positions = View.on(self.context, self.docs).at(self.depth).positions_of_runs(self.docs)
        pooled: BoolArray = np.any(positions > 0, axis=0)
        return pooled

    def grades(self, labels: IntArray | None = None) -> tuple[int, int]:
        """The lowest and the highest grade: the context's, or all that judge, labels and measures name."""
        if self.context.grades is not None:
            low, high = self.context.grades
            return min(low, 0), max(high, 1)
        every = np.concatenate([self.docs.grade, [0, 1] if labels is None else labels])
        named = [
            int(value_of(asked.measure, name) or 0) for asked in self.asked for name in ("rel", "max_rel")
        ]
        return int(every.min(initial=0)), int(max([every.max(initial=1), *named]))

    def with_priors(self, priors: tuple[str, ...] | None, grades: tuple[int, int]) -> Members:
        """The context, with fixed priors where a comparison has them."""
        if priors is None:
            return replaced(self.context, grades=grades)
        policy = policy_of(list(priors), self.context.names, self.context.groups)
        return replaced(self.context, priors=list(priors), policy=policy, grades=grades)

    def targets(self, topics: bool, grades: tuple[int, int]) -> list[Target]:
        """What is to be estimated; with ``topics`` in full, measures need not be linear."""
        levels = grades_between(*grades)
        models: dict[Any, tuple[bool, FloatArray, FloatArray]] = {}
        views: dict[Any, list[View]] = {}
        for priors in dict.fromkeys(v.priors for v in self.versus):
            context, n = self.with_priors(priors, grades), max(len(self.docs), 1)
            # Every grade stands at some document, so that the model says what each gains; mostly one model is enough.
            views[priors] = [
                View.on(context, self.labelled(levels[(start + np.arange(len(self.docs))) % len(levels)]))
                for start in range(0, len(levels), n)
            ]
            _check_priors(views[priors][0])
        targets = []
        for asked in self.asked:
            for priors, of_grades in views.items():
                made = [_model(asked, one) for one in of_grades]
                gain = np.concatenate([model.known_gain for model in made])[: len(levels)]
                models[priors] = *self._weights(asked, made[0], of_grades[0], gain), gain
            linear = all(model[0] for model in models.values())
            if not linear and not topics and not asked.as_dcg:
                raise ValueError(
                    f"{asked.name}: a sample of documents is not enough, because topics differ in their ideal; set "
                    f"topics=5 or more, to have some topics judged in full"
                    + (f", or use {asked.name[1:]}" if asked.name.startswith("nDCG") else "")
                )
            rows = [self._weight_of(versus, asked, models, views) for versus in self.versus]
            weight = np.array(rows).reshape(len(rows), len(self.docs)) / max(self.n_queries, 1)
            weight[np.abs(weight) <= ROUNDED * np.abs(weight).max()] = 0.0
            gain = next(iter(models.values()))[2]
            low, high = gain.min(), gain.max()
            scaled = ratio(gain - low, np.full(len(gain), high - low))
            targets.append(
                Target(
                    asked,
                    linear or asked.as_dcg,
                    weight * (high - low),
                    sums_by_query(weight * low, self.docs.query, self.n_queries),
                    scaled,
                    grades,
                )
            )
        return targets

    def labelled(self, grade: IntArray) -> Judgments:
        """The documents with other grades."""
        return Judgments(self.docs.query_ids, self.docs.query, self.docs.ids, grade)

    def _weight_of(self, versus: Versus, asked: Asked, models: Any, views: Any) -> FloatArray:
        """What the gain of each document counts in one comparison on its topic."""
        names, (_, weight, _) = self.context.names, models[versus.priors]
        if versus.priors is not None:
            return np.asarray(weight[names.index(versus.name)])
        why_not = why_incomparable(views[None][0], asked.measure, versus.name, versus.other)
        if why_not is not None:
            raise ValueError(
                f"{asked.name} of {versus.name!r} and {versus.other!r} are different quantities: {why_not}"
            )
        return np.asarray(weight[names.index(versus.name)] - weight[names.index(versus.other)])

    def _weights(self, asked: Asked, model: Model, view: View, gain: FloatArray) -> tuple[bool, FloatArray]:
        """Whether a measure is linear in the gains; and the weights of these in every run, or in what is near it."""
        if isinstance(model, SumModel):
            return True, model.weight
        docs, depth = self.docs, value_of(asked.measure, "cutoff")

        def ideal(survival: FloatArray | float = 1.0) -> float:
            """About how large ideals are: a good part of the greatest there could be."""
            most = ideal_dcg(gain.max() * survival * np.ones(len(docs)), docs.query, self.n_queries, depth)
            return float(_OF_MOST * most.mean()) or 1.0

        if asked.as_dcg and isinstance(model, Normalized):
            if depth is None:
                raise ValueError(f"{asked.name} needs a cutoff: write {asked.name}@10")
            return True, model.weight / (discount.up_to(depth).sum() * gain.max())
        deep = model.cutoff if isinstance(model, (Normalized, Residual)) else depth
        if self.depth and (deep is None or deep > self.depth):
            raise ValueError(
                f"{asked.name} cannot be audited: it looks at {deep or 'all'} documents, and depth={self.depth}"
            )
        if isinstance(model, Normalized):
            return False, model.weight / ideal()
        if isinstance(model, Residual):
            return False, model.weight / np.array([[ideal(row)] for row in model.survival])
        if isinstance(model, Cascade) and not any(map(len, model.priors)):
            position = view.at(depth).positions_of_runs(view.documents)
            return False, reciprocal(position) * _GOES_ON ** (position - 1.0)
        raise ValueError(
            f"{asked.name} cannot be audited: it is not a sum over documents; use P, RBP, SDCG, DCG, UniqueRel, NRG, "
            "nDCG or Shapley(base='P')"
        )


def _model(asked: Asked, view: View) -> Model:
    if value_of(asked.measure, "judged_only", False):
        raise ValueError(f"{asked.name} leaves out documents without a judgment; drop judged_only")
    try:
        return model_of(asked.measure, view.of_each(), closed=True)
    except ValueError as error:
        raise ValueError(f"{asked.name} cannot be audited: {error}") from None


def _check_priors(view: View) -> None:
    if priors_chosen_by_means(view.members.policy, view) is not None:
        raise ValueError(
            "the judgments decide which runs are whose priors, and an audit has few; give the context the dict that "
            "BestOfOtherGroups.choose(means, groups) makes as its priors"
        )


def rows_in(judgments: Documents, docs: Documents) -> IntArray:
    """The row in some judgments of each document, -1 for one that is not there."""
    code = np.array([judgments.query_code.get(q, -1) for q in docs.query_ids], dtype=np.int64)[docs.query]
    row = np.full(len(docs), -1, dtype=np.int64)
    some = np.flatnonzero(code >= 0)
    row[some] = judgments.rows_of(code[some], docs.ids.take(some))
    return row
