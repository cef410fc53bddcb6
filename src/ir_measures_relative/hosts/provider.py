"""ir_measures' door: its Provider. What evaluates is imported when there is something to evaluate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import ir_measures
from ir_measures.providers import Evaluator, Provider, registry

from ..context.measure_strings import is_relative, registered
from ..measures.measure import RelativeMeasure
from ..messages import warn
from . import compat


class RelativeProvider(Provider):  # type: ignore[misc]
    """Computes the measures of this package, relative to the active :class:`RunContext`."""

    NAME = "relative"
    PRIORITY = compat.PRIORITY

    @property
    def SUPPORTED_MEASURES(self) -> list[RelativeMeasure]:
        """The measures that are registered."""
        return list(registered().values())

    def supports(self, measure: ir_measures.Measure) -> bool:
        """Whether it is a measure of this package, or one that has its values already."""
        measure.validate_params()
        return is_relative(measure) or isinstance(measure, Answered)

    def run_inputs(self, measures: Iterable[RelativeMeasure]) -> list[str]:
        """The columns of a run that the measures need; ValueError where PyTerrier asks and a context is missing.

        It asks before it retrieves, unless it is told ``validate="ignore"``: there is no other place to say so in time.
        """
        answered = next((m for m in measures if isinstance(m, Answered)), None)
        if answered is not None:
            return list(answered.inputs)
        if compat.asked_by_pyterrier():
            from .evaluator import check_context

            check_context(measures)
        columns: list[str] = super().run_inputs(measures)
        return columns

    def _evaluator(self, measures: Iterable[RelativeMeasure], qrels: Any) -> Evaluator:
        from .evaluator import RelativeEvaluator

        answered = next((m for m in measures if isinstance(m, Answered)), None)
        return RelativeEvaluator(list(measures), qrels) if answered is None else _Answer(answered, qrels)


#: From judgments and a run, as a host has them, to the values of several measures.
Answer: TypeAlias = Callable[[Any, Any], Iterable[ir_measures.Metric]]


class Answered(ir_measures.Measure):  # type: ignore[misc]
    """A measure that has its values already, under any name: what ``pt.Experiment`` gets to evaluate from us."""

    NAME = "answered"  # which no provider takes for one of its own

    def __init__(self, name: str, answer: Answer, inputs: Iterable[str] = ()) -> None:
        super().__init__()
        self._name, self.answer, self.inputs = name, answer, inputs

    def __repr__(self) -> str:
        return self._name

    __str__ = __repr__

    def __hash__(self) -> int:
        return hash(self._name)


class _Answer(Evaluator):  # type: ignore[misc]
    def __init__(self, measure: Answered, qrels: Any) -> None:
        super().__init__([measure], ())
        self._qrels = qrels

    def iter_calc(self, run: Any) -> Iterator[ir_measures.Metric]:
        yield from self.measures[0].answer(self._qrels, run)


#: The one provider; :func:`registered_provider` makes it known to ir_measures.
relative = RelativeProvider()


def registered_provider() -> RelativeProvider:
    """The provider, known to ir_measures: in its registry, and in its default pipeline. May be called again."""
    known = registry.get(relative.NAME, relative)
    if _is_ours(known):
        registry[relative.NAME] = relative
    else:
        warn(
            f"ir_measures has a provider {relative.NAME!r} of {type(known).__module__} already, which stays: give that "
            "one another name"
        )
    providers = compat.default_providers()
    providers[:] = [*(p for p in providers if not _is_ours(p)), relative]
    return relative


def _is_ours(provider: Provider) -> bool:
    """Whether it is a provider of this module, also one from before the module was reloaded."""
    return type(provider).__module__ == __name__
